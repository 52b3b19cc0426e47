//! Events of TCP. There is no draft for them: docs/reference/qlog.md defines them, after those of
//! QUIC.

use super::endpoint::Subject;
use super::events::{Events, Raw, ecn_name};
use crate::group::Group;
use serde::Serialize;
use sojourn_base::Ecn;
use sojourn_tcp::congestion::CongestionState;
use sojourn_tcp::{Flags, HEADERS, Params, SackBlock, Segment};

/// Bytes of an IPv4 header.
const IP_HEADER: u32 = 20;

/// `tcp:parameters_set`.
#[derive(Serialize)]
struct ParametersSet {
    congestion_control: &'static str,
    max_segment_size: u32,
    initial_congestion_window: u32,
    receive_window: u32,
    selective_acknowledgements: bool,
    timestamps: bool,
    ecn: bool,
}

/// The fields of a header, and its options.
#[derive(Serialize)]
struct Header {
    sequence_number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledgement_number: Option<u32>,
    flags: Vec<&'static str>,
    window: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp_value: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp_echo_reply: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sack_blocks: Vec<[u32; 2]>,
}

/// `tcp:packet_sent`, `tcp:packet_received` and `tcp:packet_lost`.
#[derive(Serialize)]
struct Moved {
    header: Header,
    raw: Raw,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecn: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_retransmission: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger: Option<&'static str>,
}

/// `tcp:connection_closed`.
#[derive(Serialize)]
struct Closed {
    trigger: &'static str,
}

impl Header {
    fn new(params: &Params, segment: &Segment, blocks: &[SackBlock]) -> Self {
        const NAMES: [(Flags, &str); 8] = [
            (Flags::FIN, "FIN"),
            (Flags::SYN, "SYN"),
            (Flags::RST, "RST"),
            (Flags::PSH, "PSH"),
            (Flags::ACK, "ACK"),
            (Flags::AE, "AE"),
            (Flags::ECE, "ECE"),
            (Flags::CWR, "CWR"),
        ];
        let set = NAMES.iter().filter(|(flag, _)| segment.flags.has(*flag));
        let acknowledges = segment.flags.has(Flags::ACK);
        let (_, blocks) = segment.split_counters(blocks);
        Self {
            sequence_number: segment.seq,
            acknowledgement_number: acknowledges.then_some(segment.ack),
            flags: set.map(|(_, name)| *name).collect(),
            window: segment.window,
            timestamp_value: params.timestamps.then_some(segment.tsval),
            timestamp_echo_reply: params.timestamps.then_some(segment.tsecr),
            sack_blocks: blocks.iter().map(|block| [block.start, block.end]).collect(),
        }
    }
}

impl Moved {
    fn new(params: &Params, segment: &Segment, blocks: &[SackBlock]) -> Self {
        Self {
            header: Header::new(params, segment, blocks),
            raw: Raw {
                length: Some(u64::from(segment.ip_bytes() - IP_HEADER)),
                payload_length: Some(u64::from(segment.len)),
            },
            ecn: (segment.ecn != Ecn::NotEct).then(|| ecn_name(segment.ecn)),
            is_retransmission: false,
            trigger: None,
        }
    }
}

pub(super) fn begins(events: &mut Events<'_>, params: &Params) {
    let set = ParametersSet {
        congestion_control: params.tuning.name(),
        max_segment_size: params.payload,
        initial_congestion_window: params.initial_cwnd,
        receive_window: params.rcv_window,
        selective_acknowledgements: params.sack,
        timestamps: params.timestamps,
        ecn: params.ecn,
    };
    events.add("tcp:parameters_set", &set);
}

pub(super) fn received(
    events: &mut Events<'_>,
    group: &Group,
    segment: &Segment,
    blocks: &[SackBlock],
) {
    events.add("tcp:packet_received", &Moved::new(&group.tcp, segment, blocks));
}

/// A segment goes out. What was sent before is a loss first, unless it is a probe for one;
/// `sent_to` is where all that was sent before ends.
pub(super) fn sent(
    events: &mut Events<'_>,
    of: Subject<'_>,
    segment: &Segment,
    blocks: &[SackBlock],
    sent_to: &mut Option<u32>,
) {
    let params = &of.group.tcp;
    let end = segment.seq.wrapping_add(segment.span());
    let ahead = |to: u32| end.wrapping_sub(to) as i32 > 0;
    let mut moved = Moved::new(params, segment, blocks);
    if segment.span() > 0 {
        moved.is_retransmission = !sent_to.is_none_or(ahead);
        *sent_to = Some(sent_to.map_or(end, |to| if ahead(to) { end } else { to }));
    }
    let why = match of.endpoint.congestion_state() {
        _ if !moved.is_retransmission => None,
        CongestionState::Recovery => Some("fast_retransmit"),
        CongestionState::Loss => Some("retransmission_timeout"),
        // Before the connection is established nothing is told of a recovery.
        _ if segment.flags.has(Flags::SYN) => Some("retransmission_timeout"),
        _ => None,
    };
    if why.is_some() {
        let mut lost = Moved::new(params, segment, &[]);
        (lost.ecn, lost.trigger) = (None, why);
        events.add("tcp:packet_lost", &lost);
    }
    events.add("tcp:packet_sent", &moved);
}

pub(super) fn closed(events: &mut Events<'_>, well: bool) {
    let trigger = if well { "application" } else { "timeout" };
    events.add("tcp:connection_closed", &Closed { trigger });
}

// An IPv4 header is what a segment's bytes have more than TCP's own.
const _: () = assert!(HEADERS == IP_HEADER + 20);
