//! What an endpoint has counted, and its present state.

use super::{Endpoint, RoundTrip, State};
use crate::params::Params;
use crate::rtt::Rtt;
use sojourn_base::Time;
use sojourn_tcp::congestion::CongestionState;

impl Endpoint {
    /// Bytes of streams given to the application.
    #[must_use]
    pub fn bytes_delivered(&self) -> u64 {
        self.streams.delivered
    }
    /// Bytes written here that the peer has acknowledged.
    #[must_use]
    pub fn bytes_acked(&self) -> u64 {
        self.streams.acked
    }
    /// Datagrams sent.
    #[must_use]
    pub fn datagrams_sent(&self) -> u64 {
        self.counters.datagrams
    }
    /// Packets whose frames were taken for lost, or sent again as a probe.
    #[must_use]
    pub fn retransmissions(&self) -> u64 {
        self.counters.retransmissions
    }
    /// How often the probe timeout ran out after the handshake.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        self.counters.timeouts
    }
    /// How often it ran out before.
    #[must_use]
    pub fn handshake_timeouts(&self) -> u64 {
        self.counters.handshake_timeouts
    }
    /// Congestion window in bytes.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.control.window.cwnd
    }
    /// Slow-start threshold in bytes, once there was congestion.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        let ssthresh = self.control.window.ssthresh;
        (ssthresh != u32::MAX).then_some(ssthresh)
    }
    /// Smoothed round-trip time, once there is a sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Time> {
        self.rtt.known()
    }
    /// All that is known of the round trip, once there is a sample.
    #[must_use]
    pub fn round_trip(&self) -> Option<RoundTrip> {
        let Rtt { latest, min, .. } = self.rtt;
        let variation = self.rtt.variation();
        self.rtt.known().map(|smoothed| RoundTrip { latest, min, smoothed, variation })
    }
    /// What it is doing about congestion.
    #[must_use]
    pub fn congestion_state(&self) -> CongestionState {
        self.control.state()
    }
    /// Probe timeouts in a row without an answer.
    #[must_use]
    pub fn timeouts_in_a_row(&self) -> u32 {
        self.backoff
    }
    /// The probe timeout that is in force (RFC 9002 section 6.2.1).
    #[must_use]
    pub fn probe_timeout(&self, params: &Params) -> Time {
        self.backed_off(self.rtt.probe_timeout() + params.max_ack_delay)
    }
    /// Bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.control.in_flight
    }
    /// Whether the handshake is complete and the connection not over.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.progress.complete && self.state == State::Open
    }
    /// Whether the connection is closed, as it should be.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }
    /// Whether the connection was given up.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.state == State::Failed
    }
}
