/* The classifier that marks, before a queue in BPF: a discipline in BPF may not write into packets,
 * a classifier at the device's egress may, and it is what a packet passes just before. So here the
 * law decides on every packet, once: one that it hits is marked if it can be, and the decision goes
 * with the packet for the queue to carry out.
 *
 * What cannot be marked is dropped there; what comes marked already passes (RFC 3168, section 5).
 * With MARKS_ECT1 = 0 packets of ECT(1) count as what cannot be marked. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>

#include "state.h"

/* What the field of ECN says. */
enum { ECT1 = 1, CE = 3 };

/* That field in the header of IP at `ip`, of either version. */
static __always_inline __u8 ecn(const __u8 ip[2])
{
	return (ip[0] >> 4 == 4 ? ip[1] : ip[1] >> 4) & 3;
}

SEC("tc")
int mark(struct __sk_buff *skb)
{
	__u64 decision = PASSES;
	__u8 ip[2] = {};

	if (state.seal == 0)
		return TC_ACT_UNSPEC;
	/* Its length as the queue has it. */
	if (arrives(skb->wire_len)) {
		bpf_skb_load_bytes_relative(skb, 0, ip, sizeof(ip), BPF_HDR_START_NET);
		/* The latter is true also of what was marked before, and never if it is not IP. */
		if ((ecn(ip) == ECT1 && !MARKS_ECT1) || !bpf_skb_ecn_set_ce(skb))
			decision = IS_HIT;
		else if (ecn(ip) != CE)
			decision = IS_MARKED;
	}
	*(__u64 *)skb->cb = state.seal | decision;
	return TC_ACT_UNSPEC;
}
