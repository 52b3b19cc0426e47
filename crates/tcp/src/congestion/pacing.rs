//! Pacing: what the window allows is sent at a rate, in bursts of what a host hands down at once.
//! For every protocol that has a window.
//!
//! The rate is the algorithm's own, or the window over the round trip with the gains of Linux. As
//! there, a burst is what the rate sends in a millisecond, but two segments at least and the
//! largest that offloading takes at most (`tcp_tso_autosize`), and the first window goes unpaced.

use sojourn_base::Time;

/// A burst is what goes out in one part of this many of a second (`sk_pacing_shift`).
pub const BURSTS_A_SECOND: u64 = 1 << 10;

/// What a host hands down at once.
#[derive(Clone, Copy, Debug)]
pub struct Bursts {
    /// Payload bytes of a full packet.
    pub payload: u32,
    /// Most packets in a burst.
    pub packets: u32,
}

/// When more may be sent.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    next: Time,
    /// When the last burst began, and what is left of it.
    burst_at: Time,
    burst: u32,
    /// Bytes that still go unpaced.
    free: u32,
    /// What of the last gap was left of a nanosecond, in parts of the rate.
    carry: u64,
}

impl Pacer {
    /// A pacer that lets the first `free` bytes go unpaced.
    #[must_use]
    pub fn new(free: u32) -> Self {
        Self { next: Time::ZERO, burst_at: Time::MAX, burst: 0, free, carry: 0 }
    }

    /// When more may be sent, if not now.
    #[inline]
    #[must_use]
    pub fn wait(&self, now: Time) -> Option<Time> {
        let free = now >= self.next || self.burst_at == now && self.burst > 0;
        (!free).then_some(self.next)
    }

    /// `bytes` were sent; `rate` in bytes per second, 0 if there is none yet.
    #[inline]
    pub fn sent(&mut self, bursts: Bursts, now: Time, bytes: u32, rate: u64) {
        if self.free > 0 || rate == 0 {
            self.free = self.free.saturating_sub(bytes);
            return;
        }
        if now >= self.next {
            let most = bursts.packets * bursts.payload;
            let least = bursts.payload * bursts.packets.min(2);
            let burst = (rate / BURSTS_A_SECOND).min(u64::from(most)) as u32;
            (self.burst_at, self.burst) = (now, burst.max(least));
        }
        self.burst = self.burst.saturating_sub(bytes);
        if now > self.next {
            (self.next, self.carry) = (now, 0);
        }
        let parts = u64::from(bytes) * 1_000_000_000 + self.carry;
        self.next += Time(parts / rate);
        self.carry = parts % rate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts sent at 10 MB/s, in (time in µs, segments).
    fn bursts(segments: u32, count: usize) -> std::vec::Vec<(u64, u32)> {
        let bursts = Bursts { payload: 1000, packets: segments };
        let mut pacer = Pacer::new(10_000);
        let (mut now, mut found) = (Time::ZERO, std::vec::Vec::new());
        while found.len() < count {
            let mut n = 0;
            while pacer.wait(now).is_none() {
                pacer.sent(bursts, now, 1000, 10_000_000);
                n += 1;
            }
            found.push((now.0 / 1000, n));
            now = pacer.wait(now).unwrap();
        }
        found
    }

    #[test]
    fn pacer_keeps_rate_where_gap_is_no_whole_nanosecond() {
        let mut pacer = Pacer::new(0);
        let bursts = Bursts { payload: 1448, packets: 1 };
        let (mut now, rate) = (Time::ZERO, 125_000_000_000);
        for _ in 0..1_000_000 {
            now = pacer.wait(now).unwrap_or(now);
            pacer.sent(bursts, now, 1448, rate);
        }
        // A terabit per second: 11.584 ns a segment.
        assert!(now.0.abs_diff(11_584_000) < 50, "{now}");
    }

    #[test]
    fn pacer_spaces_segments_after_first_window() {
        assert_eq!(bursts(1, 4), [(0, 11), (100, 1), (200, 1), (300, 1)]);
    }

    #[test]
    fn pacer_burst_is_one_millisecond_up_to_burst_segments() {
        assert_eq!(bursts(45, 3), [(0, 20), (1000, 10), (2000, 10)]);
        assert_eq!(bursts(4, 3), [(0, 14), (400, 4), (800, 4)]);
    }
}
