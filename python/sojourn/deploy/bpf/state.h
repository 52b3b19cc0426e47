/* The state of a queue under a control law, and what both programs do with it that know it: the
 * queue itself (queue.bpf.c) and, if packets are marked, the classifier before it (mark.bpf.c). Both
 * have the same map, .data.pi or .data.rem, which `bpftool map dump name .data.pi` shows. */
#include <linux/types.h>
#include <stdbool.h>

#include LAW_FILE

#define PASTED(a, b) a##b
#define JOINED(a, b) PASTED(a, b)
#define QUOTED(a) #a
#define STRING(a) QUOTED(a)
/* The law's own, such as pi_sample. */
#define law_sample JOINED(LAW, _sample)
#define law_arrives JOINED(LAW, _arrives)

char _license[] SEC("license") = "GPL";

/* Hidden, for memory with a lock in it must not be mapped by a process. */
#define HIDDEN __attribute__((visibility("hidden"), aligned(8)))
#define STATE SEC(".data." STRING(LAW)) HIDDEN

/* One piece, so that both programs have it alike; where the lock stands, the kernel checks. */
STATE struct {
	struct LAW law;
	__u64 standing;	      /* in the queue, in the law's unit */
	__u64 queues;	      /* that there are: two while one takes the place of the other */
	__u64 seal;	      /* what notes begin with; 0 while there is no queue */
	__u64 free_at;	      /* when the link has sent what it was given, ns */
	__u64 carry;	      /* the fraction of a nanosecond left over, times RATE */
	__u64 entered, marked;	    /* the latter are of the former */
	__u64 dropped, overflowed; /* by the law, and for want of room */
} state = { .law = LAW_BEGINNING };

/* Of the law, for the classifier runs without the queue's own lock. */
STATE struct bpf_spin_lock law_lock;

/* What the classifier notes in a packet for the queue, in the two lowest bits of the seal. */
enum { PASSES, IS_MARKED, IS_HIT, DECISIONS = 3 };

/* Bytes of a header that Linux counts with every packet. */
#define ETHERNET 14

/* What a packet of Linux's length is to the law. */
static __always_inline __u32 units(__u32 bytes)
{
	return IN_BYTES ? bytes - ETHERNET : 1;
}

static __always_inline __u64 random64(void)
{
	return (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
}

/* Before anything changes in the queue, with the lock held. */
static __always_inline void sample(__u64 now)
{
	if (state.law.next == 0)
		state.law.next = now + LAW_PERIOD_NS;
	law_sample(&state.law, now, state.standing);
}

/* A packet comes: whether the law hits it. What is due is sampled before. */
static __always_inline bool arrives(__u32 bytes)
{
	__u64 now = bpf_ktime_get_ns();
	__s64 p;

	bpf_spin_lock(&law_lock);
	sample(now);
	law_arrives(&state.law, units(bytes));
	p = state.law.p;
	bpf_spin_unlock(&law_lock);
	return hits(scaled(p, bytes - ETHERNET), random64());
}
