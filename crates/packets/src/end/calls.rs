//! Calls of an end, with its group's settings.

use super::{End, ask};
use crate::group::Group;
use crate::out::Out;
use crate::packet::Packet;
use sojourn_base::Time;
use sojourn_traffic::Priority;

/// The stream of a connection over QUIC: the first that a client opens.
const STREAM: u32 = 0;

/// The settings of a group whose connections run over QUIC.
macro_rules! quic {
    ($group:expr) => {
        $group.quic.as_ref().expect("its connections run over QUIC")
    };
}

impl End {
    pub(crate) fn open(&mut self, group: &Group, now: Time, out: &mut Out<'_>) {
        ask!(self, e => e.open(&group.tcp, now, out), e.open(quic!(group), now, out));
    }

    pub(crate) fn write(&mut self, group: &Group, now: Time, bytes: u64, out: &mut Out<'_>) {
        ask!(self, e => e.write(&group.tcp, now, bytes, out),
            e.write(quic!(group), now, STREAM, bytes, out));
    }

    /// Opens a stream of a QUIC connection; its ID. The first is there from the start.
    pub(crate) fn open_stream(&mut self, group: &Group) -> u32 {
        match self {
            Self::Tcp(_) => STREAM,
            Self::Quic(end) => end.open_stream(quic!(group)),
        }
    }

    /// Says when a stream of a QUIC connection is sent among others.
    pub(crate) fn prioritise(&mut self, group: &Group, stream: u32, priority: Priority) {
        if let Self::Quic(end) = self {
            let Priority { urgency, incremental } = priority;
            end.prioritise(quic!(group), stream, urgency, incremental);
        }
    }

    /// Writes all of some streams of a QUIC connection.
    pub(crate) fn write_all(
        &mut self,
        group: &Group,
        now: Time,
        whole: &[(u32, u64)],
        out: &mut Out<'_>,
    ) {
        if let Self::Quic(end) = self {
            end.write_all(quic!(group), now, whole, out);
        }
    }

    pub(crate) fn close(&mut self, group: &Group, now: Time, out: &mut Out<'_>) {
        ask!(self, e => e.close(&group.tcp, now, out), e.close(quic!(group), now, out));
    }

    pub(crate) fn cut(&mut self, group: &Group, now: Time, out: &mut Out<'_>) {
        ask!(self, e => e.cut(&group.tcp, now, out), e.cut(quic!(group), now, out));
    }

    pub(crate) fn on_timer(&mut self, group: &Group, now: Time, out: &mut Out<'_>) {
        ask!(self, e => e.on_timer(&group.tcp, now, out), e.on_timer(quic!(group), now, out));
    }

    /// A packet has come with what lies beside it: SACK blocks, or what is in a datagram of QUIC.
    /// TCP does not [expect](sojourn_tcp::Endpoint::expects) it.
    pub(crate) fn on_packet(
        &mut self,
        group: &Group,
        now: Time,
        packet: &Packet,
        out: &mut Out<'_>,
    ) {
        match self {
            Self::Tcp(end) => {
                let blocks = out.net.sacks.get(packet);
                out.net.sacks.release(packet);
                let blocks = &blocks[..packet.segment.blocks()];
                debug_assert!(end.expects(&group.tcp, &packet.segment).is_none());
                end.on_other(&group.tcp, now, &packet.segment, blocks, out);
            }
            Self::Quic(end) => {
                let ecn = packet.segment.ecn;
                if let Some(packet) = packet.stream_packet() {
                    end.on_stream_packet(quic!(group), now, ecn, packet, out);
                } else if let Some(only) = out.net.quic.lend(packet.sacks) {
                    let packets = std::slice::from_ref(&only.packet);
                    end.on_datagram(quic!(group), now, ecn, packets, out);
                    out.net.quic.take_back(packet.sacks, only);
                } else {
                    let (packets, count) = out.net.quic.take(packet.sacks);
                    end.on_datagram(quic!(group), now, ecn, &packets[..count], out);
                }
            }
        }
    }
}
