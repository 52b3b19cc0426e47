//! Events of QUIC: draft-ietf-quic-qlog-quic-events.

use super::events::{Events, Raw, ecn_name};
use serde::{Serialize, Serializer};
use sojourn_base::Ecn;
use sojourn_quic::{
    Ack, GRANULARITY, LEAST_WINDOW, Lost, Overdue, PACKET_THRESHOLD, PERSISTENT, Packet, Params,
    Space, Unread,
};
use sojourn_records::qlog::milliseconds;

/// `kTimeThreshold` (RFC 9002 section 6.1.2).
const TIME_THRESHOLD: f64 = 9.0 / 8.0;
/// `ack_delay_exponent` (RFC 9000 section 18.2).
const ACK_DELAY_EXPONENT: u32 = 3;

/// `QUICParametersSet`.
#[derive(Serialize)]
struct ParametersSet {
    initiator: &'static str,
    max_idle_timeout: u64,
    ack_delay_exponent: u32,
    max_ack_delay: u64,
    initial_max_data: u64,
    initial_max_stream_data_bidi_local: u64,
    initial_max_stream_data_bidi_remote: u64,
    /// None; but a reader in use wants to see that.
    unknown_parameters: [u64; 0],
}

/// `QUICRecoveryParametersSet`.
#[derive(Serialize)]
struct RecoveryParametersSet {
    reordering_threshold: u64,
    time_threshold: f64,
    timer_granularity: u64,
    initial_rtt: f64,
    max_datagram_size: u32,
    initial_congestion_window: u32,
    minimum_congestion_window: u32,
    persistent_congestion_threshold: u64,
}

/// `PacketHeader`.
#[derive(Serialize)]
struct Header {
    packet_type: &'static str,
    packet_number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet_number_length: Option<u8>,
}

/// `QUICPacketSent` and `QUICPacketReceived`.
#[derive(Serialize)]
struct Moved {
    header: Header,
    frames: Vec<Frame>,
    raw: Raw,
}

/// `QUICPacketDropped`.
#[derive(Serialize)]
struct PacketDropped {
    header: Header,
    raw: Raw,
    trigger: &'static str,
}

/// `QUICUDPDatagramsSent` and `QUICUDPDatagramsReceived`.
#[derive(Serialize)]
struct Datagrams {
    count: u16,
    raw: [Raw; 1],
    ecn: [&'static str; 1],
}

/// `QUICPacketLost`.
#[derive(Serialize)]
struct PacketLost {
    header: Header,
    trigger: &'static str,
}

/// `QUICConnectionClosed`.
#[derive(Serialize)]
struct Closed {
    #[serde(skip_serializing_if = "Option::is_none")]
    initiator: Option<&'static str>,
    trigger: &'static str,
}

/// `QuicBaseFrames`, as far as packets have them here.
#[derive(Serialize)]
#[serde(tag = "frame_type", rename_all = "snake_case")]
enum Frame {
    Padding {
        raw: Raw,
    },
    Ping,
    Ack(AckFrame),
    Crypto {
        offset: u64,
        raw: Raw,
    },
    Stream {
        stream_id: u32,
        offset: u64,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        fin: bool,
        raw: Raw,
    },
    MaxData {
        maximum: u64,
    },
    MaxStreamData {
        stream_id: u32,
        maximum: u64,
    },
    ConnectionClose {
        error_space: &'static str,
        error: &'static str,
    },
    HandshakeDone,
    Datagram {
        raw: Raw,
    },
}

#[derive(Serialize)]
struct AckFrame {
    ack_delay: f64,
    acked_ranges: Vec<AckRange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ect1: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ect0: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ce: Option<u64>,
}

/// From the first to the last of a range, or the only one.
struct AckRange(u64, u64);

impl Serialize for AckRange {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let &Self(first, last) = self;
        if first == last { [first].serialize(to) } else { [first, last].serialize(to) }
    }
}

impl AckFrame {
    fn new(ack: &Ack) -> Self {
        let mut acked_ranges: Vec<_> =
            ack.ranges().map(|(start, end)| AckRange(start, end - 1)).collect();
        acked_ranges.reverse();
        Self {
            ack_delay: milliseconds(ack.delay),
            acked_ranges,
            ect1: ack.ecn().map(|counts| counts.ect1),
            ect0: ack.ecn().map(|counts| counts.ect0),
            ce: ack.ecn().map(|counts| counts.ce),
        }
    }
}

fn packet_type(space: Space, early: bool) -> &'static str {
    match space {
        Space::Initial => "initial",
        Space::Handshake => "handshake",
        Space::Data if early => "0RTT",
        Space::Data => "1RTT",
    }
}

fn frames(packet: &Packet) -> Vec<Frame> {
    let mut frames = Vec::new();
    frames.extend(packet.ack.as_ref().map(|ack| Frame::Ack(AckFrame::new(ack))));
    let rare = packet.rare().copied().unwrap_or_default();
    frames.extend(rare.crypto.map(|frame| Frame::Crypto {
        offset: u64::from(frame.offset),
        raw: Raw::payload(frame.len),
    }));
    frames.extend(packet.done.then_some(Frame::HandshakeDone));
    frames.extend(rare.max_data.map(|maximum| Frame::MaxData { maximum }));
    let grant = rare.max_stream_data;
    frames.extend(grant.map(|(stream_id, maximum)| Frame::MaxStreamData { stream_id, maximum }));
    frames.extend(rare.message.map(|len| Frame::Datagram { raw: Raw::payload(len) }));
    frames.extend(packet.streams().map(|frame| Frame::Stream {
        stream_id: frame.id,
        offset: frame.offset,
        fin: frame.fin,
        raw: Raw::payload(frame.len),
    }));
    frames.extend(packet.ping.then_some(Frame::Ping));
    frames.extend(
        packet
            .close
            .then_some(Frame::ConnectionClose { error_space: "transport", error: "no_error" }),
    );
    frames.extend((rare.padding > 0).then(|| Frame::Padding { raw: Raw::whole(rare.padding) }));
    frames
}

fn header(packet: &Packet) -> Header {
    Header {
        packet_type: packet_type(packet.space, packet.early),
        packet_number: packet.number,
        packet_number_length: Some(packet.number_bytes),
    }
}

fn raw(packet: &Packet) -> Raw {
    let bytes = packet.bytes();
    Raw { length: Some(u64::from(bytes)), payload_length: Some(u64::from(bytes - packet.around())) }
}

fn moved(packet: &Packet) -> Moved {
    Moved { header: header(packet), frames: frames(packet), raw: raw(packet) }
}

fn datagram(ecn: Ecn, packets: &[Packet]) -> Datagrams {
    let bytes: u32 = packets.iter().map(Packet::bytes).sum();
    Datagrams { count: 1, raw: [Raw::whole(bytes)], ecn: [ecn_name(ecn)] }
}

pub(super) fn begins(events: &mut Events<'_>, params: &Params) {
    let milliseconds_of = |time: sojourn_base::Time| time.0 / 1_000_000;
    let set = ParametersSet {
        initiator: "local",
        max_idle_timeout: milliseconds_of(params.idle_timeout),
        ack_delay_exponent: ACK_DELAY_EXPONENT,
        max_ack_delay: milliseconds_of(params.max_ack_delay),
        initial_max_data: params.max_data.0,
        initial_max_stream_data_bidi_local: params.max_stream_data.0,
        initial_max_stream_data_bidi_remote: params.max_stream_data.0,
        unknown_parameters: [],
    };
    events.add("quic:parameters_set", &set);
    let set = RecoveryParametersSet {
        reordering_threshold: PACKET_THRESHOLD,
        time_threshold: TIME_THRESHOLD,
        timer_granularity: milliseconds_of(GRANULARITY),
        initial_rtt: milliseconds(params.initial_rtt),
        max_datagram_size: params.max_udp_payload,
        initial_congestion_window: params.initial_cwnd,
        minimum_congestion_window: LEAST_WINDOW * params.max_udp_payload,
        persistent_congestion_threshold: PERSISTENT,
    };
    events.add("quic:recovery_parameters_set", &set);
}

/// A datagram has arrived.
pub(super) fn arrived(events: &mut Events<'_>, ecn: Ecn, packets: &[Packet]) {
    events.add("quic:udp_datagrams_received", &datagram(ecn, packets));
}

pub(super) fn received(events: &mut Events<'_>, packet: &Packet) {
    events.add("quic:packet_received", &moved(packet));
}

/// A packet has arrived and is not read.
pub(super) fn dropped(events: &mut Events<'_>, packet: &Packet, why: Unread) {
    let event = PacketDropped {
        header: header(packet),
        raw: raw(packet),
        trigger: match why {
            Unread::NoKeys => "key_unavailable",
            Unread::Duplicate => "duplicate",
        },
    };
    events.add("quic:packet_dropped", &event);
}

pub(super) fn sent(events: &mut Events<'_>, ecn: Ecn, packets: &[Packet]) {
    for packet in packets {
        events.add("quic:packet_sent", &moved(packet));
    }
    events.add("quic:udp_datagrams_sent", &datagram(ecn, packets));
}

pub(super) fn lost(events: &mut Events<'_>, lost: Lost) {
    let event = PacketLost {
        header: Header {
            packet_type: packet_type(lost.space, lost.early),
            packet_number: lost.number,
            packet_number_length: None,
        },
        trigger: match lost.why {
            Overdue::Overtaken => "reordering_threshold",
            Overdue::Late => "time_threshold",
        },
    };
    events.add("quic:packet_lost", &event);
}

/// The connection is over; the client closes it, if that is as it should be.
pub(super) fn closed(events: &mut Events<'_>, well: bool, client: bool) {
    let initiator = if client { "local" } else { "remote" };
    let event = Closed {
        initiator: well.then_some(initiator),
        trigger: if well { "application" } else { "idle_timeout" },
    };
    events.add("quic:connection_closed", &event);
}
