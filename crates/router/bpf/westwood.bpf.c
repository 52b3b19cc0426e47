/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Westwood+ (Grieco and Mascolo, ACM CCR 34(2), 2004): Reno, but a loss sets the threshold to what
 * the path was seen to deliver in the least round trip.
 *
 * Once per round trip of length d a sample s is taken, the segments delivered by d, and filtered
 * (section 2.2): e <- ((2 TAU - d) e + d (s + s')) / (2 TAU + d), s' the sample before; where
 * d > 2 TAU the sample itself. On a loss the threshold is max(2, e · least round trip) segments
 * and the window at most that (section 2.1). Before the first sample a loss halves.
 *
 * With ESTIMATE_AFTER a loss halves, and the threshold and the window are what the path was seen to
 * deliver when the recovery is over, as Linux's module has it.
 *
 * NAME, TAU in µs, ESTIMATE_AFTER 0 or 1.
 */
#include "sojourn.h"

/* Rates are in segments per 2^36 µs, at most 2^34 of them, 250000 segments a second: with a filter
 * of 100 s at most (2 TAU < 2^28) no product below has more than 63 bits. */
#define RATE_BITS 36
#define RATE_MOST (1ULL << 34)

struct state {
	u64 credit;
	/* The estimate and the sample before; no estimate: 0. */
	u64 estimate, last;
	/* When the present sample began, µs, and what had been delivered by then. */
	u64 since;
	u32 delivered;
	/* The least round trip, µs; 0: none yet. */
	u32 least;
	/* The threshold that the last loss asked for. */
	u64 threshold;
};

/* What the path holds, segments; not known yet: 0. */
static inline u32 held(struct state *s)
{
	u64 left;

	if (!s->estimate || !s->least)
		return 0;
	/* 2^34 by 2^26 µs at most, a minute. */
	left = (s->estimate * (s->least < (1 << 26) ? s->least : (1 << 26))) >> RATE_BITS;
	return left > 2 ? (u32)left : 2;
}

static inline u32 threshold(struct tcp_sock *tp, struct state *s)
{
	u32 left = held(s);

	return left ? left : share_of(tp->snd_cwnd, ONE / 2);
}

SEC("struct_ops/ssthresh") u32 ssthresh(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	struct state *s = state_of(tp);
	u32 left = threshold(tp, s), window = tp->snd_cwnd;

	s->credit = 0;
	s->threshold = left;
	if (ESTIMATE_AFTER)
		return share_of(window, ONE / 2);
	/* The kernel ends a reduction at what is said here: it must not raise the window. */
	return left < window ? left : (window > 2 ? window : 2);
}

/* The threshold itself may lie above the window, which then grows up to it as in slow start. */
SEC("struct_ops/cwnd_event") int cwnd_event(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	struct state *s = state_of(tp);
	int event = (int)context[1];
	u32 left;

	if (ESTIMATE_AFTER && event == CA_EVENT_COMPLETE_CWR) {
		left = held(s);
		if (left) {
			tp->snd_ssthresh = left;
			set_window(tp, left);
		}
		s->threshold = 0;
		return 0;
	}
	if ((event == CA_EVENT_COMPLETE_CWR || event == CA_EVENT_LOSS) && s->threshold) {
		tp->snd_ssthresh = (u32)s->threshold;
		s->threshold = 0;
	}
	return 0;
}

SEC("struct_ops/pkts_acked") int pkts_acked(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	const struct ack_sample *sample = (const struct ack_sample *)context[1];
	struct state *s = state_of(tp);
	u64 now = tp->tcp_mstamp, past, rate, news, kept;
	s32 trip = sample->rtt_us;
	u32 count;

	if (trip > 0 && (!s->least || (u32)trip < s->least))
		s->least = trip;
	if (!s->since) {
		s->since = now;
		s->delivered = tp->delivered;
		return 0;
	}
	past = now - s->since;
	if (!past || past < tp->srtt_us >> 3)
		return 0;
	count = tp->delivered - s->delivered;
	/* A pause of more than a minute says nothing. */
	if (past < (1 << 26) && count < (1 << 20)) {
		rate = ((u64)count << RATE_BITS) / past;
		if (rate > RATE_MOST)
			rate = RATE_MOST;
		if (s->estimate && past <= 2 * TAU) {
			kept = (2 * TAU - past) * s->estimate;
			news = past * (rate + s->last);
			s->estimate = (kept + news) / (2 * TAU + past);
		} else {
			s->estimate = rate;
		}
		s->last = rate;
	}
	s->since = now;
	s->delivered = tp->delivered;
	return 0;
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
		grow(tp, &state_of(tp)->credit, ONE * acked / window);
	return 0;
}

SEC(".struct_ops") struct tcp_congestion_ops congestion = {
	.ssthresh = (void *)ssthresh,
	.cong_avoid = (void *)cong_avoid,
	.cwnd_event = (void *)cwnd_event,
	.pkts_acked = (void *)pkts_acked,
	.undo_cwnd = (void *)undo_cwnd,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = NAME,
};
