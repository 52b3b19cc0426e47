/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AIMD(a, b): a segments more per round trip, a share b less per loss (Chiu and Jain, Computer
 * Networks and ISDN Systems 17, 1989; Yang and Lam, ICNP 2000).
 *
 * NAME, A: segments per round trip, and KEEP: the share that a loss leaves, both of 2^32.
 */
#include "sojourn.h"

struct state {
	u64 credit;
};

SEC("struct_ops/ssthresh") u32 ssthresh(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);

	state_of(tp)->credit = 0;
	return share_of(tp->snd_cwnd, KEEP);
}

SEC("struct_ops/cong_avoid") int cong_avoid(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	u32 acked = context[2], window;

	if (!may_grow(tp))
		return 0;
	acked = slow_start(tp, acked);
	window = tp->snd_cwnd;
	if (acked && window)
		grow(tp, &state_of(tp)->credit, A * acked / window);
	return 0;
}

SEC(".struct_ops") struct tcp_congestion_ops congestion = {
	.ssthresh = (void *)ssthresh,
	.cong_avoid = (void *)cong_avoid,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME,
};
