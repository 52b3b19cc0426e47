//! What travels between two endpoints: the header fields that matter and a count of payload bytes.

use core::ops::{BitOr, BitOrAssign};
use sojourn_base::{Ecn, Time};

/// Bytes of an IPv4 and a TCP header without options.
pub const HEADERS: u32 = 40;

/// Option bytes of a segment with timestamps: ten and two of padding (RFC 7323 appendix A).
pub const TIMESTAMP_BYTES: u8 = 12;

/// Option bytes of AccECN with two counters (RFC 9768 section 3.2.3).
pub const COUNTER_BYTES: u8 = 8;

/// Most bytes of options in a segment (RFC 9293 section 3.1).
pub(crate) const MOST_OPTIONS: u8 = 40;

/// Flags of the TCP header (RFC 9293 section 3.1; ECE and CWR: RFC 3168 section 6.1), with their
/// bits on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Flags(pub u8);

impl Flags {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Opens a connection.
    pub const SYN: Self = Self(0x02);
    /// Refuses or breaks a connection.
    pub const RST: Self = Self(0x04);
    /// Push; never sent, as applications take everything at once.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field counts.
    pub const ACK: Self = Self(0x10);
    /// The highest bit of the counter of AccECN (RFC 9768 section 3.2). It is in the place of
    /// URG, which is never sent; on the wire it is 0x100.
    pub const AE: Self = Self(0x20);
    /// Echo of a congestion mark.
    pub const ECE: Self = Self(0x40);
    /// The congestion window was reduced.
    pub const CWR: Self = Self(0x80);

    /// As on the wire: nine bits.
    #[must_use]
    pub const fn on_the_wire(self) -> u16 {
        (self.0 & !Self::AE.0) as u16 | ((self.0 & Self::AE.0) as u16) << 3
    }

    /// Whether all of `other` are set.
    #[inline]
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is set.
    #[inline]
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// A TCP segment without its payload, and the ECN field of the IP packet around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Segment {
    /// Sequence number of the first payload byte, or of the SYN.
    pub seq: u32,
    /// Next byte expected from the peer; counts if [`Flags::ACK`] is set.
    pub ack: u32,
    /// Timestamp of the sender in microseconds (RFC 7323); 0 without timestamps.
    pub tsval: u32,
    /// The peer's timestamp, echoed.
    pub tsecr: u32,
    /// Receive window, in units of two to the power of the window scale; in a SYN, in bytes
    /// (RFC 7323 section 2.2).
    pub window: u16,
    /// Payload bytes.
    pub len: u16,
    /// Header flags.
    pub flags: Flags,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Bytes of TCP options, a multiple of four.
    pub options: u8,
    /// SACK blocks that travel with it; with [`Segment::COUNTERS`] the counters of AccECN's option
    /// travel behind them, in the place of one more.
    pub sacks: u8,
}

impl Segment {
    /// A segment of nothing, for places that need one.
    pub const EMPTY: Self = Self {
        seq: 0,
        ack: 0,
        tsval: 0,
        tsecr: 0,
        window: 0,
        len: 0,
        flags: Flags::NONE,
        ecn: Ecn::NotEct,
        options: 0,
        sacks: 0,
    };

    /// Set in `sacks` of a segment with AccECN's option (RFC 9768 section 3.2.3). Its block has in
    /// `start` the counter of unmarked bytes and in `end` that of marked ones.
    pub const COUNTERS: u8 = 0x80;

    /// How many blocks travel with it, the option's among them.
    #[inline]
    #[must_use]
    pub const fn blocks(&self) -> usize {
        (self.sacks & !Self::COUNTERS) as usize + (self.sacks >> 7) as usize
    }

    /// The option's counters, and the SACK blocks, of what travels with it.
    pub fn split_counters<'a>(
        &self,
        blocks: &'a [SackBlock],
    ) -> (Option<SackBlock>, &'a [SackBlock]) {
        match blocks.split_last() {
            Some((option, sacks)) if self.sacks & Self::COUNTERS != 0 => (Some(*option), sacks),
            _ => (None, blocks),
        }
    }

    /// Length of the IP packet in bytes: headers, options, payload.
    #[inline]
    #[must_use]
    pub const fn ip_bytes(&self) -> u32 {
        HEADERS + self.options as u32 + self.len as u32
    }

    /// Sequence numbers it takes: its payload, one for a SYN, one for a FIN (RFC 9293 section 3.4).
    #[inline]
    #[must_use]
    pub const fn span(&self) -> u32 {
        self.len as u32 + ((self.flags.0 & Flags::SYN.0) >> 1) as u32 + (self.flags.0 & 1) as u32
    }
}

/// A run of bytes that the receiver holds beyond a hole (RFC 2018 section 3): from `start` up to,
/// not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First byte held.
    pub start: u32,
    /// First byte not held.
    pub end: u32,
}

/// What an endpoint has to tell its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is over.
    Connected,
    /// The peer's FIN has arrived, and everything before it: no more data will come.
    PeerClosed,
    /// Both directions are finished and the own FIN is acknowledged.
    Closed,
    /// The peer does not answer; the connection is gone.
    Failed,
    /// Everything written so far has been acknowledged.
    AllAcked,
}

/// What an endpoint does to the world around it.
pub trait Output {
    /// Sends a segment, with its SACK blocks.
    fn send(&mut self, segment: Segment, sacks: &[SackBlock]);
    /// Whether the host's interface takes new data now. If it does not, and something is under way
    /// that will bring an acknowledgement, the sender waits for that and takes it for congestion.
    #[inline]
    fn has_room(&mut self) -> bool {
        true
    }
    /// When the last segment that was sent leaves the host's interface; in the past if nothing
    /// waits there.
    #[inline]
    fn leaves(&mut self) -> Time {
        Time::ZERO
    }
    /// `bytes` more bytes reach the application in order.
    fn deliver(&mut self, bytes: u32);
    /// Something happened that the application may wait for.
    fn event(&mut self, event: Event);
    /// A round trip was measured.
    #[inline]
    fn rtt(&mut self, sample: Time) {
        let _ = sample;
    }
}

/// Whether sequence number `a` comes before `b` (RFC 9293 section 3.4, RFC 1982 arithmetic).
#[inline]
#[must_use]
pub(crate) const fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// The later of two sequence numbers.
#[inline]
#[must_use]
pub(crate) const fn later(a: u32, b: u32) -> u32 {
    if before(a, b) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_is_24_bytes_and_counts_its_headers() {
        assert_eq!(size_of::<Segment>(), 24);
        let segment = Segment { len: 1448, options: TIMESTAMP_BYTES, ..Segment::EMPTY };
        assert_eq!(segment.ip_bytes(), 1500);
    }

    #[test]
    fn syn_and_fin_take_a_sequence_number_each() {
        let span = |flags, len| Segment { flags, len, ..Segment::EMPTY }.span();
        assert_eq!(span(Flags::SYN | Flags::ACK, 0), 1);
        assert_eq!(span(Flags::FIN | Flags::ACK, 7), 8);
        assert_eq!(span(Flags::ACK, 7), 7);
    }

    #[test]
    fn on_the_wire_the_nonce_s_bit_is_that_of_accecn_and_urg_is_never_set() {
        for flags in (0..=u8::MAX).map(Flags) {
            let wire = flags.on_the_wire();
            let accurate = if flags.has(Flags::AE) { 0x100 } else { 0 };
            assert_eq!((wire & 0x100, wire & 0x20), (accurate, 0));
            assert_eq!(wire & 0xdf, u16::from(flags.0 & 0xdf));
        }
    }

    #[test]
    fn sequence_order_survives_wrap() {
        assert!(before(u32::MAX - 3, 5));
        assert!(!before(5, u32::MAX - 3));
        assert!(!before(5, 5));
        assert_eq!(later(u32::MAX, 0), 0);
    }
}
