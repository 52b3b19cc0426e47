/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HighSpeed TCP (RFC 3649): AIMD whose increase grows and whose decrease falls with the window;
 * Reno up to LOW segments.
 *
 * NAME, LOW, and POINTS: a, in 2^-16 segments per round trip, and b, in 2^-16 of the window, at
 * 2^(i/8 rounded down)·(1 + (i mod 8)/8) segments for i from 0 to COUNT - 1; between them a
 * straight line.
 */
#include "sojourn.h"

struct state {
	u64 credit;
};

struct point {
	u32 a, b;
};

static const struct point points[COUNT] = { POINTS };

/* a and b for a window. */
static inline struct point at(u32 window)
{
	/* The window in 2^-8 segments; its octave, found by halving the bits that it may have. */
	u64 w = (u64)(window ? window : 1) << 8, rest = w >> 8, within, part, i;
	u32 octave = 0, step;
	struct point one, next, made;

#pragma unroll
	for (step = 16; step; step >>= 1) {
		if (rest >> step) {
			rest >>= step;
			octave += step;
		}
	}
	within = w - (1ULL << (octave + 8));
	part = (within << 3) >> octave;
	i = octave * 8 + (part >> 8);
	part &= 255;
	if (i > COUNT - 2)
		i = COUNT - 2;
	/* The register that was compared is the one that counts: the verifier follows no copies. */
	asm volatile("" : "+r"(i));
	one = points[i];
	next = points[i + 1];
	made.a = (one.a * (256 - part) + next.a * part) >> 8;
	made.b = (one.b * (256 - part) + next.b * part) >> 8;
	return made;
}

SEC("struct_ops/ssthresh") u32 ssthresh(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	u32 window = tp->snd_cwnd;

	state_of(tp)->credit = 0;
	if (window <= LOW)
		return share_of(window, ONE / 2);
	return share_of(window, ONE - ((u64)at(window).b << 16));
}

SEC("struct_ops/cong_avoid") int cong_avoid(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	u32 acked = context[2], window;
	u64 share = ONE;

	if (!may_grow(tp))
		return 0;
	acked = slow_start(tp, acked);
	window = tp->snd_cwnd;
	if (!acked || !window)
		return 0;
	if (window > LOW)
		share = (u64)at(window).a << 16;
	grow(tp, &state_of(tp)->credit, share * acked / window);
	return 0;
}

SEC(".struct_ops") struct tcp_congestion_ops congestion = {
	.ssthresh = (void *)ssthresh,
	.cong_avoid = (void *)cong_avoid,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME,
};
