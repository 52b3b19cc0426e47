/* A queue under a control law that shapes its own rate, as a queue discipline in BPF: Linux 6.16 or
 * later with CONFIG_NET_SCH_BPF. It stands at the root of a device.
 *
 *   clang-19 -O2 -g -target bpf -DLAW_FILE='"pi_law.h"' -DPI_A=... -c queue.bpf.c -o pi.bpf.o
 *   bpftool struct_ops register pi.bpf.o
 *   tc qdisc replace dev eth0 root sojourn_pi
 *
 * Beside the constants of the law and of draw.h it takes
 *
 *   RATE            bits per second
 *   LIMIT           most packets
 *   IN_BYTES        1 if the law counts bytes, 0 if packets
 *   OVERHEAD, MIN_FRAME  bytes on the wire beyond Linux's length of a packet, and the least
 *
 * It decides on a packet as it comes, unless the classifier before it has (mark.bpf.c), and then does
 * what that decided. One object serves one device: its state stands in global variables. */
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* What is used of the kernel's types; the loader finds where their members really are. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sk_buff {
	char cb[48];
};
struct qdisc_skb_head {
	__u32 qlen;
};
struct gnet_stats_queue {
	__u32 backlog;
	__u32 drops;
	__u32 overlimits;
};
struct Qdisc {
	__u32 limit;
	struct qdisc_skb_head q;
	struct gnet_stats_queue qstats;
};
struct qdisc_skb_cb {
	unsigned int pkt_len;
	unsigned char data[20];
};
#pragma clang attribute pop

struct bpf_sk_buff_ptr {
	struct sk_buff *skb;
};
struct nlattr {
	__u16 nla_len;
	__u16 nla_type;
};
struct netlink_ext_ack {
	const char *_msg;
};
struct bpf_spin_lock {
	__u32 value;
};
struct bpf_list_head {
	__u64 opaque[2];
} __attribute__((aligned(8)));
struct bpf_list_node {
	__u64 opaque[3];
} __attribute__((aligned(8)));
struct bpf_iter_num {
	__u64 opaque[1];
} __attribute__((aligned(8)));
struct Qdisc_ops {
	char id[16];
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	struct sk_buff *(*dequeue)(struct Qdisc *);
	int (*init)(struct Qdisc *, struct nlattr *, struct netlink_ext_ack *);
	void (*reset)(struct Qdisc *);
	void (*destroy)(struct Qdisc *);
};

extern void bpf_kfree_skb(struct sk_buff *) __ksym;
extern void bpf_qdisc_skb_drop(struct sk_buff *, struct bpf_sk_buff_ptr *) __ksym;
extern void bpf_qdisc_bstats_update(struct Qdisc *, const struct sk_buff *) __ksym;
extern void bpf_qdisc_watchdog_schedule(struct Qdisc *, __u64 expire, __u64 delta_ns) __ksym;
extern void *bpf_obj_new_impl(__u64 type, void *meta) __ksym;
extern void bpf_obj_drop_impl(void *object, void *meta) __ksym;
extern int bpf_list_push_back_impl(struct bpf_list_head *, struct bpf_list_node *, void *,
				   __u64) __ksym;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *) __ksym;
extern int bpf_iter_num_new(struct bpf_iter_num *, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *) __ksym;

#undef __kptr
#define __kptr __attribute__((btf_type_tag("kptr")))
#define CONTAINS(type, member) __attribute__((btf_decl_tag("contains:" #type ":" #member)))

#include "state.h"

/* What the kernel calls this discipline. */
#define DISCIPLINE JOINED(sojourn_, LAW)
#define PRIVATE SEC(".data.queue") HIDDEN

/* A packet that waits. */
struct waiting {
	struct sk_buff __kptr *skb;
	struct bpf_list_node node;
};

PRIVATE struct bpf_spin_lock lock;
PRIVATE struct bpf_list_head queue CONTAINS(waiting, node);

/* A packet may start this much before its time was due: timers come late. */
#define LATE_NS 1000000

static __always_inline __u32 length(const struct sk_buff *skb)
{
	return ((struct qdisc_skb_cb *)skb->cb)->pkt_len;
}

/* What is to become of a packet. Where a note might stand is garbage if no classifier wrote one, but
 * the seal is random, and none but the classifier knows it. */
static __always_inline __u64 decision(struct sk_buff *skb)
{
	__u64 *place = (__u64 *)((struct qdisc_skb_cb *)skb->cb)->data, note = *place;

	if ((note & ~(__u64)DECISIONS) != state.seal)
		return arrives(length(skb)) ? IS_HIT : PASSES;
	*place = 0;
	return note & DECISIONS;
}

static __always_inline struct sk_buff *first(void)
{
	struct sk_buff *skb = NULL;
	struct bpf_list_node *node;
	struct waiting *packet;

	bpf_spin_lock(&lock);
	node = bpf_list_pop_front(&queue);
	bpf_spin_unlock(&lock);
	if (!node)
		return NULL;
	packet = (void *)node - __builtin_offsetof(struct waiting, node);
	skb = bpf_kptr_xchg(&packet->skb, skb);
	bpf_obj_drop_impl(packet, NULL);
	return skb;
}

SEC("struct_ops/queue_enqueue")
int BPF_PROG(queue_enqueue, struct sk_buff *skb, struct Qdisc *sch, struct bpf_sk_buff_ptr *to_free)
{
	struct waiting *packet;
	__u32 bytes = length(skb);
	__u64 decided = decision(skb);

	if (decided == IS_HIT) {
		state.dropped++;
		goto drop;
	}
	if (sch->q.qlen >= LIMIT) {
		state.overflowed++;
		goto drop;
	}
	packet = bpf_obj_new_impl(bpf_core_type_id_local(struct waiting), NULL);
	if (!packet) {
		state.overflowed++;
		goto drop;
	}
	skb = bpf_kptr_xchg(&packet->skb, skb);
	if (skb)
		bpf_qdisc_skb_drop(skb, to_free);
	bpf_spin_lock(&lock);
	bpf_list_push_back_impl(&queue, &packet->node, NULL, 0);
	bpf_spin_unlock(&lock);
	sch->q.qlen++;
	sch->qstats.backlog += bytes;
	state.standing += units(bytes);
	state.entered++;
	state.marked += decided == IS_MARKED;
	return 0; /* NET_XMIT_SUCCESS */
drop:
	sch->qstats.drops++;
	bpf_qdisc_skb_drop(skb, to_free);
	return 1; /* NET_XMIT_DROP */
}

SEC("struct_ops/queue_dequeue")
struct sk_buff *BPF_PROG(queue_dequeue, struct Qdisc *sch)
{
	__u64 now = bpf_ktime_get_ns(), parts, wire;
	struct sk_buff *skb;
	__u32 bytes;

	if (now < state.free_at) {
		if (sch->q.qlen > 0)
			bpf_qdisc_watchdog_schedule(sch, state.free_at, 0);
		return NULL;
	}
	bpf_spin_lock(&law_lock);
	sample(now);
	bpf_spin_unlock(&law_lock);
	skb = first();
	if (!skb)
		return NULL;
	bytes = length(skb);
	wire = bytes + OVERHEAD;
	if (wire < MIN_FRAME)
		wire = MIN_FRAME;
	/* The schedule moves by its own time, so that the rate is exact though timers are late. */
	if (state.free_at + LATE_NS < now) {
		state.free_at = now;
		state.carry = 0;
	}
	parts = wire * 8000000000ULL + state.carry;
	state.free_at += parts / RATE;
	state.carry = parts % RATE;
	sch->qstats.backlog -= bytes;
	sch->q.qlen--;
	state.standing -= units(bytes);
	bpf_qdisc_bstats_update(sch, skb);
	return skb;
}

SEC("struct_ops/queue_init")
int BPF_PROG(queue_init, struct Qdisc *sch, struct nlattr *options, struct netlink_ext_ack *why)
{
	sch->limit = LIMIT;
	if (state.queues++ == 0)
		state.seal = (random64() | 1) << 2;
	return 0;
}

SEC("struct_ops/queue_reset")
void BPF_PROG(queue_reset, struct Qdisc *sch)
{
	struct bpf_iter_num all;
	struct sk_buff *skb;

	bpf_iter_num_new(&all, 0, LIMIT + 1);
	while (bpf_iter_num_next(&all)) {
		skb = first();
		if (!skb)
			break;
		bpf_kfree_skb(skb);
	}
	bpf_iter_num_destroy(&all);
	sch->q.qlen = 0;
	sch->qstats.backlog = 0;
	state.standing = 0;
}

/* Without a queue the classifier does nothing. */
SEC("struct_ops/queue_destroy")
void BPF_PROG(queue_destroy, struct Qdisc *sch)
{
	if (--state.queues == 0)
		state.seal = 0;
}

SEC(".struct_ops")
struct Qdisc_ops DISCIPLINE = {
	.enqueue = (void *)queue_enqueue,
	.dequeue = (void *)queue_dequeue,
	.init = (void *)queue_init,
	.reset = (void *)queue_reset,
	.destroy = (void *)queue_destroy,
	.id = STRING(DISCIPLINE),
};
