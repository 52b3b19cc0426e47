//! What stands in the queues of a link.

use sojourn_base::{Ecn, Time};
use sojourn_qdisc::Packet;

/// A packet in a queue, with the time it came there.
pub trait Waiting: Packet {
    /// When it came to the queue it stands in.
    fn enqueued(&self) -> Time;
    /// The same packet, which comes to a queue at `now`.
    #[must_use]
    fn came(self, now: Time) -> Self;
}

/// What stands in the queue of a link whose discipline decides at enqueue: the packet itself is
/// on its way already, with the time of its departure known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// When its transmission starts.
    pub starts: Time,
    /// When it came.
    pub enqueued: Time,
    /// Length of the IP packet.
    pub bytes: u32,
    /// The ECN field as it came.
    pub ecn: Ecn,
}

impl Packet for Token {
    #[inline]
    fn bytes(&self) -> u32 {
        self.bytes
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        0 // a discipline that looks at flows does not decide at enqueue alone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_24_bytes() {
        assert_eq!(size_of::<Token>(), 24);
    }

    #[test]
    fn a_token_is_marked_as_its_packet_is() {
        let (starts, enqueued) = (Time::ZERO, Time::ZERO);
        let mut token = Token { starts, enqueued, bytes: 1500, ecn: Ecn::Ect0 };
        token.set_ce();
        assert_eq!(token.ecn, Ecn::Ce);
    }
}
