//! Counters of a connection, a member or a group.

use std::ops::AddAssign;

/// Sums since the start of the run, or of its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Payload bytes that reached their applications.
    pub delivered: u64,
    /// Packets sent.
    pub sent: u64,
    /// Datagrams received; 0 for TCP.
    pub received: u64,
    /// Segments sent again, SYNs not counted.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer, those of SYNs not counted.
    pub timeouts: u64,
    /// SYN and SYN-ACK segments sent again.
    pub syn_retries: u64,
}

impl Totals {
    /// What came since `start`; a counter that went back counts nothing.
    #[must_use]
    pub fn since(&self, start: &Self) -> Self {
        Self {
            delivered: self.delivered.saturating_sub(start.delivered),
            sent: self.sent.saturating_sub(start.sent),
            received: self.received.saturating_sub(start.received),
            retransmissions: self.retransmissions.saturating_sub(start.retransmissions),
            timeouts: self.timeouts.saturating_sub(start.timeouts),
            syn_retries: self.syn_retries.saturating_sub(start.syn_retries),
        }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.delivered += other.delivered;
        self.sent += other.sent;
        self.received += other.received;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.syn_retries += other.syn_retries;
    }
}
