//! How long a packet takes to cross the wire, exactly in the long run.

use sojourn_base::{NANOS_PER_BYTE, Time};

/// Packets up to this length have their time in a table.
const TABLE: usize = 2048;

/// Serialisation at a constant rate. A packet seldom takes whole nanoseconds: the fraction left
/// over is carried to the next packet of a busy period, so that the long-run rate is exact.
#[derive(Clone)]
pub struct Serialiser {
    rate: u64,
    overhead: u32,
    min_frame: u32,
    /// Nanoseconds of a byte, if they are whole, as at 100 Mb/s; else 0. Then there are no
    /// fractions to carry, and no table is needed.
    byte: u64,
    /// Else whole nanoseconds and the remainder (in 1/rate ns) for each IP length.
    table: Vec<(u64, u64)>,
}

impl Serialiser {
    /// `rate` in bits per second, above zero; `overhead` bytes beyond each IP packet; at least
    /// `min_frame` bytes on the wire.
    pub fn new(rate: u64, overhead: u32, min_frame: u32) -> Self {
        assert!(rate > 0, "a link's rate is above zero");
        let byte = if NANOS_PER_BYTE.is_multiple_of(rate) { NANOS_PER_BYTE / rate } else { 0 };
        let mut new = Self { rate, overhead, min_frame, byte, table: Vec::new() };
        if byte == 0 {
            new.table = (0..TABLE as u32).map(|bytes| new.divide(bytes)).collect();
        }
        new
    }

    /// Bits per second.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Bytes on the wire for an IP packet.
    #[inline]
    pub fn wire_bytes(&self, ip_bytes: u32) -> u32 {
        (ip_bytes + self.overhead).max(self.min_frame)
    }

    #[cold]
    fn divide(&self, ip_bytes: u32) -> (u64, u64) {
        // At most (65 575 + 2³²) bytes · 8 · 10⁹: overhead is validated far below 2³¹.
        let parts = u128::from(self.wire_bytes(ip_bytes)) * u128::from(NANOS_PER_BYTE);
        let rate = u128::from(self.rate);
        ((parts / rate) as u64, (parts % rate) as u64)
    }

    /// Whole nanoseconds of an IP packet, and the remainder in 1/rate ns.
    #[inline(always)]
    fn takes(&self, ip_bytes: u32) -> (u64, u64) {
        match self.table.get(ip_bytes as usize) {
            Some(&entry) => entry,
            None => self.divide(ip_bytes),
        }
    }

    /// When a transmission that starts at `start` ends. `carry` is the link's fraction; it is
    /// dropped when the link was idle before.
    #[inline(always)]
    pub fn end(&self, start: Time, ip_bytes: u32, idle_before: bool, carry: &mut u64) -> Time {
        if self.byte > 0 {
            return start + Time(u64::from(self.wire_bytes(ip_bytes)) * self.byte);
        }
        let (whole, rest) = self.takes(ip_bytes);
        let sum = rest + if idle_before { 0 } else { *carry };
        let more = sum >= self.rate;
        *carry = if more { sum - self.rate } else { sum };
        start + Time(whole + u64::from(more))
    }

    /// When a transmission began that ends at `end` and has left `carry`.
    #[cold]
    pub fn start(&self, end: Time, ip_bytes: u32, carry: u64) -> Time {
        if self.byte > 0 {
            return end - Time(u64::from(self.wire_bytes(ip_bytes)) * self.byte);
        }
        let (whole, rest) = self.takes(ip_bytes);
        // A sum of fractions that came round is less than either of them.
        end - Time(whole + u64::from(carry < rest))
    }

    /// When a packet that comes at `now` has crossed an interface on which nothing is ever lost and
    /// that is free from `free` on.
    #[inline(always)]
    pub fn cross(&self, now: Time, ip_bytes: u32, free: &mut Time, carry: &mut u64) -> Time {
        *free = self.end(now.max(*free), ip_bytes, *free < now, carry);
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_long_run_rate_is_exact_for_awkward_rates() {
        for rate in [15_000_000, 16_000_000, 99_999_999, 3, 100_000_000_000, 1_000_000_007] {
            let serialiser = Serialiser::new(rate, 0, 0);
            let (mut now, mut carry, mut bits) = (Time::ZERO, 0, 0u128);
            for i in 0..100_000u32 {
                let bytes = 40 + i * 7 % 3000;
                let start = now;
                now = serialiser.end(start, bytes, i == 0, &mut carry);
                assert_eq!(serialiser.start(now, bytes, carry), start);
                bits += u128::from(bytes) * 8;
            }
            assert_eq!(u128::from(now.0), bits * 1_000_000_000 / u128::from(rate));
        }
    }

    #[test]
    fn an_interface_is_free_when_all_before_has_crossed() {
        // 1000 bytes take 2666⅔ ns.
        let serialiser = Serialiser::new(3_000_000_000, 0, 0);
        let (mut free, mut carry) = (Time::ZERO, 0);
        let mut cross = |now| serialiser.cross(Time(now), 1000, &mut free, &mut carry).0;
        // What comes just then follows, with the fraction; what comes later finds none.
        assert_eq!([cross(100), cross(2766), cross(5000)], [2766, 5433, 8100]);
        assert_eq!([cross(8100), cross(20_000), cross(20_000)], [10_766, 22_666, 25_333]);
    }

    #[test]
    fn ethernet_costs_its_framing_and_small_packets_their_padding() {
        let ethernet = Serialiser::new(100_000_000, 38, 84);
        assert_eq!(ethernet.wire_bytes(1500), 1538);
        assert_eq!(ethernet.wire_bytes(40), 84);
        assert_eq!(ethernet.end(Time::ZERO, 40, true, &mut 0), Time(6720));
    }
}
