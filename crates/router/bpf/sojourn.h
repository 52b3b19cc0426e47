/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the congestion controls here have in common: as much of the kernel's structures as they
 * touch, growth in integers, and the hooks that are the same for all.
 *
 * The structures are found in the running kernel by the names of their members when a program is
 * loaded (CO-RE), so that no header of a kernel is needed.
 *
 * The growth of the window is reckoned here and not by the kernel's tcp_cong_avoid_ai: called from
 * a program it let windows grow without bound now and then. A window never exceeds the clamp.
 */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))
#define KERNEL __attribute__((preserve_access_index))
#define inline inline __attribute__((always_inline))

struct inet_connection_sock {
	u64 icsk_ca_priv[13];
} KERNEL;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u64 tcp_mstamp;
	u32 srtt_us;
	u32 prior_cwnd;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 max_packets_out;
	u32 delivered;
	u8 is_cwnd_limited : 1;
} KERNEL;

struct ack_sample {
	s32 rtt_us;
} KERNEL;

struct sock;

/* The members that are set; the others stay empty. */
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 flags;
	char name[16];
};

/* A program may be chosen by any socket, and by any namespace as its default. */
#define TCP_CONG_NON_RESTRICTED 1
/* enum tcp_ca_event: the end of a reduction; a timeout. */
#define CA_EVENT_COMPLETE_CWR 2
#define CA_EVENT_LOSS 3

/* One, where shares are fractions of 32 bits. */
#define ONE (1ULL << 32)

char _license[] SEC("license") = "GPL";

/* A program's arguments are words. */
#define SOCK(context) ((struct tcp_sock *)(context)[0])

/* What an algorithm keeps of a connection lies in its socket. */
struct state;
static inline struct state *state_of(struct tcp_sock *tp)
{
	return (struct state *)tp->inet_conn.icsk_ca_priv;
}

/* A bit that the kernel may keep anywhere within its structure. */
static inline int is_cwnd_limited(struct tcp_sock *tp)
{
	const void *place = (const char *)tp + __builtin_preserve_field_info(tp->is_cwnd_limited, 0);
	u64 value = 0;

	switch (__builtin_preserve_field_info(tp->is_cwnd_limited, 1)) {
	case 1:
		value = *(const u8 *)place;
		break;
	case 2:
		value = *(const u16 *)place;
		break;
	case 4:
		value = *(const u32 *)place;
		break;
	case 8:
		value = *(const u64 *)place;
		break;
	}
	value <<= __builtin_preserve_field_info(tp->is_cwnd_limited, 4);
	value >>= __builtin_preserve_field_info(tp->is_cwnd_limited, 5);
	return value != 0;
}

/* Whether the window is what limits the sender (tcp_is_cwnd_limited): one that has more than it
 * uses must not grow. */
static inline int may_grow(struct tcp_sock *tp)
{
	if (is_cwnd_limited(tp))
		return 1;
	if (tp->snd_cwnd < tp->snd_ssthresh)
		return tp->snd_cwnd < 2 * tp->max_packets_out;
	return 0;
}

static inline void set_window(struct tcp_sock *tp, u32 window)
{
	u32 clamp = tp->snd_cwnd_clamp;

	if (window > clamp)
		window = clamp;
	tp->snd_cwnd = window ? window : 1;
}

/* Slow start, up to the threshold; how many of the acknowledged segments it leaves over. */
static inline u32 slow_start(struct tcp_sock *tp, u32 acked)
{
	u32 window = tp->snd_cwnd, threshold = tp->snd_ssthresh, used;

	if (window >= threshold)
		return acked;
	used = threshold - window;
	if (used > acked)
		used = acked;
	set_window(tp, window + used);
	return acked - used;
}

/* The window grows by what is in `credit`, of which the fraction of a segment stays. */
static inline void grow(struct tcp_sock *tp, u64 *credit, u64 more)
{
	u64 sum = *credit + more, whole = sum >> 32;
	u32 window = tp->snd_cwnd;

	*credit = sum & (ONE - 1);
	if (!whole)
		return;
	/* An acknowledgement may double the window at most. */
	if (whole > window)
		whole = window;
	set_window(tp, window + (u32)whole);
}

/* A share of the window, rounded down, but two segments at least (RFC 5681 equation 4). */
static inline u32 share_of(u32 window, u64 share)
{
	u64 left = ((u64)window * share) >> 32;

	return left > 2 ? (u32)left : 2;
}

/* A reduction that turned out to be wrong is taken back, as tcp_reno_undo_cwnd does. */
SEC("struct_ops/undo_cwnd") u32 undo_cwnd(u64 *context)
{
	struct tcp_sock *tp = SOCK(context);
	u32 window = tp->snd_cwnd, before = tp->prior_cwnd;

	return window > before ? window : before;
}
