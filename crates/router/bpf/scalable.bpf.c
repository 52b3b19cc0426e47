/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scalable TCP (Kelly, ACM CCR 33(2), 2003): a segment's share a more per acknowledged segment, a
 * share b less per loss; Reno up to LWND segments (section 3.1).
 *
 * NAME, A and KEEP, the share that a loss leaves, of 2^32, LWND. AT_LEAST_RENO: growth is Reno's
 * where that is faster. WHOLE: what a loss takes, not what it leaves, is rounded down. PER_ACK:
 * growth is counted by acknowledgements and not by what they acknowledge. REFERENCE: the round trip in µs at which the
 * share is A, being as much less as the round trip is shorter; 0: always A.
 */
#include "sojourn.h"

struct state {
	u64 credit;
};

static inline u64 gain(struct tcp_sock *tp)
{
	u64 trip = tp->srtt_us >> 3, share = A;

	if (REFERENCE && trip) {
		/* At most the round trip of a minute, and a segment per segment. */
		if (trip > 60000000)
			trip = 60000000;
		share = (A * trip) / (REFERENCE ? REFERENCE : 1);
		if (share > ONE)
			share = ONE;
	}
	return share;
}

SEC("struct_ops/ssthresh") u32 ssthresh(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	u32 window = tp->snd_cwnd, left;
	u64 keep = window > LWND ? KEEP : ONE / 2;

	state_of(tp)->credit = 0;
	if (!WHOLE)
		return share_of(window, keep);
	left = window - (u32)((window * (ONE - keep)) >> 32);
	return left > 2 ? left : 2;
}

SEC("struct_ops/cong_avoid") int cong_avoid(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	u32 acked = context[2], window;
	u64 more;

	if (!may_grow(tp))
		return 0;
	acked = slow_start(tp, acked);
	window = tp->snd_cwnd;
	if (!acked || !window)
		return 0;
	more = ONE / window;
	if (window <= LWND)
		more = ONE * acked / window;
	else if (AT_LEAST_RENO && more > gain(tp))
		more *= PER_ACK ? 1 : acked;
	else
		more = gain(tp) * (PER_ACK ? 1 : acked);
	grow(tp, &state_of(tp)->credit, more);
	return 0;
}

SEC(".struct_ops") struct tcp_congestion_ops congestion = {
	.ssthresh = (void *)ssthresh,
	.cong_avoid = (void *)cong_avoid,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME,
};
