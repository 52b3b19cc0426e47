//! A capture at a link: header fields become a packet with addresses, ports and options.

use crate::end_id::EndId;
use crate::packet::Packet;
use crate::quic::payload;
use sojourn_base::{Dscp, Time};
use sojourn_records::pcapng::{self, TCP, UDP};
use sojourn_records::{CaptureId, Recorder};
use sojourn_tcp::{COUNTER_BYTES, Ecn, Flags, Params, SackBlock, Segment};

/// A packet that leaves a link, with what its headers need.
pub(crate) struct Tapped<'a> {
    /// When its transmission begins; that of its last part, if a cable modem sends it in parts.
    pub at: Time,
    pub packet: &'a Packet,
    /// The end that the packet goes to.
    pub to: EndId,
    /// Tells connections apart that use the same place one after another.
    pub serial: u32,
    /// Of its connection.
    pub params: &'a Params,
    pub sacks: &'a [SackBlock],
    pub dscp: Dscp,
    /// Source and destination.
    pub addresses: (u32, u32),
}

/// Where servers listen.
const SERVER_PORT: u16 = 80;
/// Where servers listen for QUIC.
const QUIC_PORT: u16 = 443;
/// Where datagrams go: the discard service.
const DATAGRAM_PORT: u16 = 9;

impl Tapped<'_> {
    /// Adds the packet to a capture.
    pub(crate) fn write(&self, id: CaptureId, recorder: &mut Recorder) {
        let &Self { at, packet, to, serial, params, sacks, dscp, addresses: (src, dst) } = self;
        let segment = &packet.segment;
        let to_server = to.is_server();
        let datagram = packet.is_datagram();
        let quic = packet.is_quic();
        let port = if datagram { 40_000 } else { 1024 + (serial % 64_000) as u16 };
        let listens = match (datagram, quic) {
            (true, _) => DATAGRAM_PORT,
            (_, true) => QUIC_PORT,
            _ => SERVER_PORT,
        };
        let (sport, dport) = if to_server { (port, listens) } else { (listens, port) };
        let mut options = [0; 40];
        let over_udp = datagram || quic;
        let used = if over_udp { 0 } else { write_options(params, segment, sacks, &mut options) };
        debug_assert!(over_udp || used == usize::from(segment.options), "{used} {segment:?}");
        recorder.capture(
            id,
            &pcapng::Packet {
                time: at,
                src: src.to_be_bytes(),
                dst: dst.to_be_bytes(),
                sport,
                dport,
                protocol: if over_udp { UDP } else { TCP },
                tos: dscp.byte(segment.ecn),
                ident: 0,
                payload_len: if quic { payload(segment) } else { segment.len },
                seq: segment.seq,
                ack: segment.ack,
                flags: segment.flags.on_the_wire(),
                window: segment.window,
                options: &options[..used],
            },
        );
    }
}

/// The options of a segment as they stand in its header, in Linux's order; returns their length.
/// RFC 9293 section 3.2 (MSS), RFC 2018 (SACK), RFC 7323 (timestamps, window scale), RFC 9768
/// (AccECN).
fn write_options(
    params: &Params,
    segment: &Segment,
    blocks: &[SackBlock],
    out: &mut [u8; 40],
) -> usize {
    const NOP: u8 = 1;
    let mut used = 0;
    let mut put = |bytes: &[u8]| {
        out[used..used + bytes.len()].copy_from_slice(bytes);
        used += bytes.len();
    };
    let syn = segment.flags.has(Flags::SYN);
    if syn {
        let mss = (params.payload + u32::from(params.options)) as u16;
        put(&[2, 4]);
        put(&mss.to_be_bytes());
        match (params.sack, params.timestamps) {
            (true, true) => put(&[4, 2]),
            (true, false) => put(&[NOP, NOP, 4, 2]),
            (false, true) => put(&[NOP, NOP]),
            (false, false) => {}
        }
    } else if params.timestamps {
        put(&[NOP, NOP]);
    }
    if params.timestamps {
        put(&[8, 10]);
        put(&segment.tsval.to_be_bytes());
        put(&segment.tsecr.to_be_bytes());
    }
    if syn && params.window_scale > 0 {
        put(&[NOP, 3, 3, params.window_scale]);
    }
    let (counters, blocks) = segment.split_counters(blocks);
    if let Some(counters) = counters {
        // Order 1 begins with ECT(1), order 0 with ECT(0) (RFC 9768 section 3.2.3).
        let kind = if params.ect == Ecn::Ect1 { 174 } else { 172 };
        put(&[kind, COUNTER_BYTES]);
        put(&counters.start.to_be_bytes()[1..]);
        put(&counters.end.to_be_bytes()[1..]);
    }
    if !blocks.is_empty() {
        put(&[NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            put(&block.start.to_be_bytes());
            put(&block.end.to_be_bytes());
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_tcp::{Profile, Spec};

    fn params(sack: bool, timestamps: bool, kilobytes: u64) -> Params {
        let spec = Spec {
            profile: Some(Profile::Classic),
            sack: Some(sack),
            timestamps: Some(timestamps),
            receive_window: Some(sojourn_base::Size(kilobytes << 10)),
            ..Spec::default()
        };
        Spec::resolve(&[&spec]).unwrap()
    }

    fn written(params: &Params, segment: &Segment, blocks: &[SackBlock]) -> Vec<u8> {
        let mut out = [0; 40];
        let used = write_options(params, segment, blocks, &mut out);
        out[..used].to_vec()
    }

    #[test]
    fn a_syn_carries_what_its_end_can_do() {
        let syn = Segment { flags: Flags::SYN, tsval: 0x0102_0304, ..Segment::EMPTY };
        let mss = [2, 4, 0x05, 0xb4];
        let stamps = [8, 10, 1, 2, 3, 4, 0, 0, 0, 0];
        for (sack, timestamps, kilobytes, rest) in [
            (false, false, 32, vec![]),
            (true, false, 32, vec![1, 1, 4, 2]),
            (false, true, 32, [&[1, 1][..], &stamps].concat()),
            (true, true, 32, [&[4, 2][..], &stamps].concat()),
            // 128 kB take a shift of two.
            (false, false, 128, vec![1, 3, 3, 2]),
        ] {
            let params = params(sack, timestamps, kilobytes);
            let found = written(&params, &syn, &[]);
            assert_eq!(found, [&mss[..], &rest].concat());
            assert_eq!(found.len(), usize::from(params.syn_options));
        }
        // The scale is in a SYN only.
        let ack = Segment { flags: Flags::ACK, ..Segment::EMPTY };
        assert!(written(&params(false, false, 128), &ack, &[]).is_empty());
    }

    #[test]
    fn blocks_stand_behind_their_length() {
        let block = |start| SackBlock { start, end: start + 1 };
        let ack = Segment { flags: Flags::ACK, sacks: 2, ..Segment::EMPTY };
        let params = params(true, false, 32);
        let one = [1, 1, 5, 10, 0, 0, 0, 7, 0, 0, 0, 8];
        assert_eq!(written(&params, &ack, &[block(7)]), one);
        let two = [1, 1, 5, 18, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10];
        assert_eq!(written(&params, &ack, &[block(7), block(9)]), two);
    }
}
