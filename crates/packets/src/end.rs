//! An end of a connection, whatever protocol it speaks: what the event loop and applications ask of
//! it. A connection over QUIC has one stream, which the client opens and both ends write to.

use crate::group::Group;
use crate::net::Out;
use crate::packet::Packet;
use sojourn_base::Time;
use sojourn_quic::Endpoint as QuicEndpoint;
use sojourn_tcp::Endpoint as TcpEndpoint;
use sojourn_tcp::congestion::CongestionState;
use sojourn_traffic::Priority;

/// The stream of a connection over QUIC: the first that a client opens.
const STREAM: u32 = 0;

/// An end of a connection.
#[derive(Clone)]
pub(crate) enum End {
    Tcp(TcpEndpoint),
    Quic(Box<QuicEndpoint>),
}

/// Asks either protocol the same.
macro_rules! ask {
    ($end:expr, $e:ident => $tcp:expr, $quic:expr) => {
        match $end {
            End::Tcp($e) => $tcp,
            End::Quic($e) => $quic,
        }
    };
}

impl End {
    /// The two ends of a new connection; `isses` are the first sequence numbers of TCP.
    pub(crate) fn pair(group: &Group, isses: [u32; 2]) -> [Self; 2] {
        match &group.quic {
            None => [
                Self::Tcp(TcpEndpoint::client(&group.tcp, isses[0])),
                Self::Tcp(TcpEndpoint::server(&group.tcp, isses[1])),
            ],
            Some(params) => {
                let mut client = QuicEndpoint::client(params);
                client.open_stream(params);
                let server = QuicEndpoint::server(params);
                [Self::Quic(Box::new(client)), Self::Quic(Box::new(server))]
            }
        }
    }

    /// See the endpoints' own `deadline`.
    #[inline(always)]
    pub(crate) fn deadline(&self) -> Time {
        ask!(self, e => e.deadline(), e.deadline())
    }

    /// See the endpoints' own `sends_at`.
    pub(crate) fn sends_at(&self) -> Time {
        ask!(self, e => e.sends_at(), e.sends_at())
    }

    /// Packets sent.
    #[inline(always)]
    pub(crate) fn packets_sent(&self) -> u64 {
        ask!(self, e => e.segments_sent(), e.datagrams_sent())
    }

    /// Bytes given to the application.
    pub(crate) fn bytes_delivered(&self) -> u64 {
        ask!(self, e => e.bytes_delivered(), e.bytes_delivered())
    }

    /// Bytes written here that the peer has acknowledged.
    pub(crate) fn bytes_acked(&self) -> u64 {
        ask!(self, e => e.bytes_acked(), e.bytes_acked())
    }

    /// Packets whose data were sent again.
    pub(crate) fn retransmissions(&self) -> u64 {
        ask!(self, e => e.retransmissions(), e.retransmissions())
    }

    /// Timeouts of data: of the retransmission timer, or probe timeouts.
    pub(crate) fn timeouts(&self) -> u64 {
        ask!(self, e => e.timeouts(), e.timeouts())
    }

    /// Timeouts of the handshake.
    pub(crate) fn syn_retries(&self) -> u64 {
        ask!(self, e => e.syn_retries(), e.handshake_timeouts())
    }

    /// Congestion window in bytes.
    pub(crate) fn cwnd(&self) -> u32 {
        ask!(self, e => e.cwnd(), e.cwnd())
    }

    /// Slow-start threshold in bytes, once there was congestion.
    pub(crate) fn ssthresh(&self) -> Option<u32> {
        ask!(self, e => e.ssthresh(), e.ssthresh())
    }

    /// What it is doing about congestion.
    pub(crate) fn congestion_state(&self) -> CongestionState {
        ask!(self, e => e.congestion_state(), e.congestion_state())
    }

    /// Smoothed round trip, once there is a sample.
    pub(crate) fn srtt(&self) -> Option<Time> {
        ask!(self, e => e.srtt(), e.srtt())
    }

    /// Bytes taken to be in the network.
    pub(crate) fn in_network(&self) -> u32 {
        ask!(self, e => e.in_network(), e.in_flight())
    }

    /// Whether it is closed, as it should be.
    pub(crate) fn is_closed(&self) -> bool {
        ask!(self, e => e.is_closed(), e.is_closed())
    }
}

/// The settings of a group whose connections run over QUIC.
macro_rules! quic {
    ($group:expr) => {
        $group.quic.as_ref().expect("its connections run over QUIC")
    };
}

/// Calls, with the group's settings.
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

    /// Bytes written to a TCP connection here that have been sent at least once.
    pub(crate) fn bytes_sent(&self) -> u64 {
        match self {
            Self::Tcp(end) => end.bytes_acked() + u64::from(end.in_flight()),
            Self::Quic(_) => 0,
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
    /// TCP does not [expect](TcpEndpoint::expects) it.
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
