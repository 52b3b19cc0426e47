//! An end of a connection, whatever protocol it speaks: what the event loop and applications ask of
//! it. A connection over QUIC has one stream, which the client opens and both ends write to.

mod calls;

use crate::group::Group;
use sojourn_base::Time;
use sojourn_quic::Endpoint as QuicEndpoint;
use sojourn_tcp::Endpoint as TcpEndpoint;
use sojourn_tcp::congestion::CongestionState;

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
use ask;

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

    /// Bytes written to a TCP connection here that have been sent at least once.
    pub(crate) fn bytes_sent(&self) -> u64 {
        match self {
            Self::Tcp(end) => end.bytes_acked() + u64::from(end.in_flight()),
            Self::Quic(_) => 0,
        }
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
