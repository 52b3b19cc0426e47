//! The upstream of a cable modem: requests and grants.
//!
//! Source: DOCSIS 3.1 MAC and Upper Layer Protocols Interface Specification (CM-SP-MULPIv3.1), as
//! CableLabs' own model for ns-3 has it (docsis-ns3, `doc/source/model-overview.rst`), whose
//! defaults these are: MAP intervals of 2 ms, and 1.2 ms from a request to the first interval that
//! can grant it (half a round trip and three OFDMA frames to the head-end, its MAP 757 µs ahead).
//!
//! Time is cut into MAP intervals. A modem with packets and neither requests nor grants under way
//! sends a request for all that waits, at a random instant of the next interval. Any interval that
//! begins `request_delay` later, or after that, can grant it: as many bytes as a token bucket of
//! the link's `rate` and of depth `burst` has, and as fit into the interval at the rate of the
//! `channel`; the rest in the next. The grant lies at a random place of its interval. With it the
//! modem sends its packets back to back, and asks for all that waits and has not been asked for.
//! A packet that the grant is too short for is cut, and goes on with the next.
//!
//! So, on an idle line, a packet that comes at any time and takes s on the channel is through after
//! 2T + d + s/2 on average (T the interval, d the delay of requests): half an interval to the next,
//! half of one to the request, d, half of one to the beginning of an interval, (T − s)/2 to the
//! grant, and s. A modem that always has packets sends at `rate`.
//!
//! # Differences from the source
//!
//! 1. Requests do not collide, as in CableLabs' model: other modems are not there. What they leave
//!    of the channel is `rate`.
//! 2. Requests and grants count whole bytes, not minislots, so that up to a byte of each interval
//!    is lost; headers of segments are in the link's `frame_overhead`. Where some of the packets
//!    that wait are padded to `min_frame` and others are not, a little less is asked for at first.
//! 3. One service flow; no unsolicited or proactive grants, no peak rate.
//! 4. A modem with requests or grants under way does not use the contention area: what came after
//!    its last request is asked for with the next burst.
//! 5. Bytes that are granted and no longer there (an AQM has dropped them) are lost to the channel,
//!    though not to the token bucket's owner elsewhere.
//! 6. A packet that its discipline holds back (`tbf`, CAKE's own rate) and that becomes ready while
//!    a grant lasts waits for the next one.

use sojourn_base::{Kind, NANOS_PER_BYTE, Rate, Stream, Time};
use sojourn_scenario::Upstream;
use std::collections::VecDeque;

/// Of a link's random numbers, those of places in MAP intervals (0 is the rate's, 1 that of losses,
/// 2 that of jitter).
const PLACE_STREAM: u64 = 3;

const BYTE: u128 = NANOS_PER_BYTE as u128;

/// What the modem may send, once.
#[derive(Clone, Copy, Debug)]
struct Grant {
    starts: Time,
    ends: Time,
    /// Bytes left.
    bytes: u64,
    /// Whether it has begun, with a request for what it does not cover.
    begun: bool,
}

/// The modem's side and the head-end's.
#[derive(Clone)]
pub(crate) struct Docsis<S> {
    params: Upstream,
    rate: Rate,
    stream: Stream,
    /// When a request goes out in the contention area, if one does.
    contends: Option<Time>,
    /// Bytes asked for that an interval to come can grant, with its number; and those that any can.
    asked: VecDeque<(u64, u64)>,
    eligible: u64,
    grant: Option<Grant>,
    /// The interval whose grants were decided last.
    decided: Option<u64>,
    /// What the bucket holds, in bits times 10⁹, and the interval that it was filled for.
    tokens: u128,
    filled: u64,
    /// A packet that has been sent in part, and its bytes still to go.
    held: Option<(S, u64)>,
    /// The end of the last transmission, and the fraction of a nanosecond that it lacks.
    sent_until: Time,
    carry: u64,
    /// When an event comes.
    event_at: Time,
}

impl<S> Docsis<S> {
    /// The upstream of the link with this number, of which `rate` is granted.
    pub(crate) fn new(params: Upstream, rate: Rate, seed: u64, link: u32) -> Self {
        let ahead = params.request_delay.0 / params.map_interval.0 + 3;
        Self {
            params,
            rate,
            stream: Stream::new(seed, Kind::Link, link, PLACE_STREAM),
            contends: None,
            asked: VecDeque::with_capacity(ahead as usize),
            eligible: 0,
            grant: None,
            decided: None,
            tokens: u128::from(params.burst) * BYTE,
            filled: 0,
            held: None,
            sent_until: Time::ZERO,
            carry: 0,
            event_at: Time::MAX,
        }
    }

    /// Bytes of a packet that has been sent in part which are still to go.
    pub(crate) fn rest(&self) -> u64 {
        self.held.as_ref().map_or(0, |(_, rest)| *rest)
    }

    /// An event of `now` has come.
    pub(crate) fn fired(&mut self, now: Time) {
        if self.event_at <= now {
            self.event_at = Time::MAX;
        }
    }

    /// Does what is due by `now`: a request, the decision of an interval, the beginning of a grant.
    /// So many bytes wait.
    pub(crate) fn advance(&mut self, now: Time, backlog: u64) {
        if self.contends.is_some_and(|at| at <= now) {
            self.contends = None;
            self.ask(now, backlog);
        }
        let interval = now.0 / self.params.map_interval.0;
        if self.decided.is_none_or(|decided| decided < interval) {
            self.decide(interval);
        }
        let left = match &mut self.grant {
            Some(grant) if !grant.begun && grant.starts <= now => {
                grant.begun = true;
                (self.sent_until, self.carry) = (grant.starts, 0);
                Some(grant.bytes)
            }
            _ => None,
        };
        if let Some(granted) = left {
            self.ask(now, backlog.saturating_sub(granted));
        }
    }

    /// Bytes that have been asked for and not been granted.
    fn pending(&self) -> u64 {
        self.eligible + self.asked.iter().map(|(_, bytes)| bytes).sum::<u64>()
    }

    /// Asks at `now` for what of `backlog` has not been asked for.
    fn ask(&mut self, now: Time, backlog: u64) {
        let bytes = backlog.saturating_sub(self.pending());
        if bytes > 0 {
            let ready = now.0 + self.params.request_delay.0;
            self.asked.push_back((ready.div_ceil(self.params.map_interval.0), bytes));
        }
    }

    /// The head-end decides what interval `number`, which begins, grants.
    fn decide(&mut self, number: u64) {
        let interval = self.params.map_interval.0;
        while let Some(&(from, bytes)) = self.asked.front()
            && from <= number
        {
            self.eligible += bytes;
            self.asked.pop_front();
        }
        self.decided = Some(number);
        if self.eligible == 0 {
            return;
        }
        let accrued = u128::from(self.rate.0) * u128::from(interval);
        // Full when the interval begins, at most, and then what comes within it.
        let (full, spans) =
            (u128::from(self.params.burst) * BYTE, u128::from(number - self.filled));
        self.tokens = (self.tokens + accrued * spans).min(full + accrued);
        self.filled = number;
        let fits = u128::from(self.params.channel.0) * u128::from(interval) / BYTE;
        let most = (self.tokens / BYTE).min(fits);
        let bytes = u64::try_from(most).unwrap_or(u64::MAX).min(self.eligible);
        if bytes == 0 {
            return;
        }
        self.eligible -= bytes;
        self.tokens -= u128::from(bytes) * BYTE;
        let takes = (u128::from(bytes) * BYTE).div_ceil(u128::from(self.params.channel.0)) as u64;
        let place = self.stream.below(interval - takes + 1);
        let starts = Time(number * interval + place);
        let ends = starts + Time(takes);
        self.grant = Some(Grant { starts, ends, bytes, begun: false });
    }

    /// Bytes that can be sent from `now` on.
    fn room(&self, now: Time) -> u64 {
        let Some(Grant { ends, bytes, begun: true, .. }) = self.grant else { return 0 };
        if now == self.sent_until {
            return bytes;
        }
        // What nobody was there to send is lost.
        let time = u128::from(ends.saturating_sub(now).0);
        bytes.min((time * u128::from(self.params.channel.0) / BYTE) as u64)
    }

    /// Sends at `now` what the grant has room for, of the packet that was begun or of `next` with
    /// its bytes on the wire: the packet and the end of its transmission, if it is all of it.
    pub(crate) fn send(
        &mut self,
        now: Time,
        next: impl FnOnce() -> Option<(S, u64)>,
    ) -> Option<(S, Time)> {
        let room = self.room(now);
        if room == 0 {
            return None;
        }
        let (packet, rest) = self.held.take().or_else(next)?;
        let grant = self.grant.as_mut()?;
        if rest > room {
            grant.bytes = 0;
            self.held = Some((packet, rest - room));
            return None;
        }
        grant.bytes = room - rest;
        let carry = if now == self.sent_until { self.carry } else { 0 };
        let parts = u128::from(rest) * BYTE + u128::from(carry);
        let channel = u128::from(self.params.channel.0);
        self.carry = (parts % channel) as u64;
        self.sent_until = now + Time((parts / channel) as u64);
        Some((packet, self.sent_until))
    }

    /// When this link is to be looked at again, if no event for it is on its way: nothing is being
    /// sent at `now`, and so many bytes wait.
    pub(crate) fn wake_at(&mut self, now: Time, backlog: u64) -> Option<Time> {
        let interval = self.params.map_interval.0;
        let current = now.0 / interval;
        let unused = self.grant.filter(|grant| grant.ends > now && grant.bytes > 0);
        let under_way = self.eligible > 0 || !self.asked.is_empty() || unused.is_some();
        if backlog > 0 && !under_way && self.contends.is_none() {
            let place = self.stream.below(interval);
            self.contends = Some(Time((current + 1) * interval + place));
        }
        let decision = match (self.eligible, self.asked.front()) {
            (0, None) => None,
            (0, Some(&(from, _))) => Some(Time(from.max(current + 1) * interval)),
            _ => Some(Time((current + 1) * interval)),
        };
        // What a grant has left over may stand in the way of a request.
        let of_grant = unused.and_then(|grant| match grant.begun {
            false => Some(grant.starts),
            true => (backlog > 0).then_some(grant.ends),
        });
        let next = [self.contends, decision, of_grant].into_iter().flatten().min()?;
        (next < self.event_at).then(|| {
            self.event_at = next;
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000;

    fn upstream(channel: u64) -> Upstream {
        Upstream {
            map_interval: Time::from_millis(2),
            request_delay: Time::from_micros(1200),
            channel: Rate(channel),
            burst: 3044,
        }
    }

    /// When packets that come at these times are through, and the bytes of each.
    fn through(params: Upstream, rate: u64, packets: &[(Time, u64)]) -> Vec<(Time, u64)> {
        let mut docsis = Docsis::new(params, Rate(rate), 1, 0);
        let mut queue = VecDeque::new();
        let mut waits = 0u64;
        let (mut next, mut done) = (0, Vec::new());
        let mut events: Vec<Time> = Vec::new();
        let mut busy = Time::ZERO;
        loop {
            let event = events.iter().copied().min().unwrap_or(Time::MAX);
            let came = packets.get(next).map_or(Time::MAX, |&(at, _)| at);
            let now = event.min(came);
            if now == Time::MAX {
                assert!(queue.is_empty() && docsis.rest() == 0, "packets are left over");
                return done;
            }
            // As events are ordered: what leaves, before what comes.
            if event <= came {
                events.retain(|&at| at != now);
                docsis.fired(now);
            } else {
                queue.push_back(packets[next].1);
                waits += packets[next].1;
                next += 1;
            }
            if now < busy {
                continue;
            }
            docsis.advance(now, waits + docsis.rest());
            let next = || {
                let bytes = queue.pop_front()?;
                waits -= bytes;
                Some((bytes, bytes))
            };
            match docsis.send(now, next) {
                Some((bytes, ends)) => {
                    busy = ends;
                    events.push(ends);
                    done.push((ends, bytes));
                }
                None => events.extend(docsis.wake_at(now, waits + docsis.rest())),
            }
        }
    }

    #[test]
    fn a_grant_may_stand_anywhere_in_its_interval() {
        // All of 2 ms but one nanosecond: there are two places.
        let params = Upstream { burst: 100_000, ..upstream(400_000_201) };
        let mut docsis = Docsis::<u64>::new(params, Rate(1000 * MBIT), 1, 0);
        let mut places = [0; 2];
        for number in 1..65 {
            docsis.eligible = 100_000;
            docsis.decide(number);
            let grant = docsis.grant.unwrap();
            assert_eq!((grant.bytes, grant.ends - grant.starts), (100_000, Time(1_999_999)));
            places[(grant.starts.0 - number * 2_000_000) as usize] += 1;
        }
        assert!(places.iter().all(|&times| times > 16), "{places:?}");
    }

    #[test]
    fn a_packet_on_an_idle_line_is_through_after_two_intervals_the_delay_and_half_its_time() {
        for (delay, bytes) in [(1200, 1500), (0, 1500), (2000, 64), (7300, 1500)] {
            let params =
                Upstream { request_delay: Time::from_micros(delay), ..upstream(100 * MBIT) };
            // 50 ms and a fraction of an interval apart: at every phase, and nothing meets.
            let packets: Vec<_> = (0..20_000).map(|i| (Time(i * 50_123_457), bytes)).collect();
            let through = through(params, 10 * MBIT, &packets);
            let waits: Vec<u64> =
                packets.iter().zip(&through).map(|(p, t)| t.0.0 - p.0.0).collect();
            let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64 / 1e3;
            let sent = bytes as f64 * 8.0 / 100.0;
            let exact = 4000.0 + delay as f64 + sent / 2.0;
            // The deviation of one is below 1.2 ms: 20 000 tell the mean to 10 µs.
            assert!((mean - exact).abs() < 30.0, "{delay} {bytes}: {mean} µs, not {exact}");
            // To the next interval, to the request, to an interval's beginning, to the grant's end.
            let (least, most) = (delay as f64 + sent, delay as f64 + 8000.0);
            for wait in waits {
                assert!((least..=most).contains(&(wait as f64 / 1e3)), "{wait}");
            }
        }
    }

    #[test]
    fn a_modem_that_always_has_packets_sends_at_its_rate() {
        for (rate, channel) in [(10 * MBIT, 100 * MBIT), (9_999_991, 12 * MBIT), (MBIT, MBIT)] {
            let packets: Vec<_> = (0..20_000).map(|_| (Time::ZERO, 1500)).collect();
            let through = through(upstream(channel), rate, &packets);
            let (last, _) = through[through.len() - 1];
            let bits = 20_000.0 * 12_000.0;
            let found = bits / last.as_secs_f64();
            // It asks first, and is a burst ahead in the end.
            let slack = 4.0 * 0.002 / last.as_secs_f64() + 3044.0 * 8.0 / bits;
            assert!((found / rate as f64 - 1.0).abs() < slack, "{found} of {rate}");
        }
    }

    #[test]
    fn packets_leave_in_bursts_at_the_rate_of_the_channel() {
        let packets: Vec<_> = (0..5000).map(|_| (Time::ZERO, 1250)).collect();
        let through = through(upstream(100 * MBIT), 20 * MBIT, &packets);
        let gaps: Vec<u64> = through.windows(2).map(|pair| pair[1].0.0 - pair[0].0.0).collect();
        // 5000 bytes an interval: four packets of 100 µs, one interval after the other.
        let close = gaps.iter().filter(|&&gap| gap == 100_000).count();
        assert!(gaps.iter().all(|&gap| gap >= 100_000));
        assert!((3700..=3760).contains(&close), "{close} follow at once");
    }

    #[test]
    fn no_span_of_intervals_has_more_than_rate_and_burst() {
        let mut stream = Stream::new(7, Kind::Arrival, 0, 0);
        let mut at = 0;
        let packets: Vec<_> = (0..20_000)
            .map(|_| {
                // Pauses and trains.
                at += if stream.below(20) == 0 { stream.below(40_000_000) } else { 1000 };
                (Time(at), 40 + stream.below(1461))
            })
            .collect();
        let through = through(upstream(50 * MBIT), 5 * MBIT, &packets);
        assert_eq!(through.len(), packets.len());
        assert!(packets.iter().zip(&through).all(|(p, t)| p.1 == t.1), "out of order");
        let mut intervals = vec![0u64; through[through.len() - 1].0.0 as usize / 2_000_000 + 1];
        for (at, bytes) in &through {
            intervals[(at.0 - 1) as usize / 2_000_000] += bytes;
        }
        for from in 0..intervals.len() {
            let mut sum = 0;
            for (spans, bytes) in intervals[from..].iter().take(50).enumerate() {
                sum += bytes;
                // A packet that was cut counts where it ends.
                let most = (spans as u64 + 1) * 1250 + 3044 + 1500;
                assert!(sum <= most, "{sum} bytes in {} intervals", spans + 1);
            }
        }
    }

    #[test]
    fn packets_of_one_grant_lose_no_fraction_of_a_nanosecond() {
        // 800 bits at 300 Mb/s take 2666 ns and two thirds.
        let mut docsis = Docsis::new(upstream(300 * MBIT), Rate(10 * MBIT), 1, 0);
        let (starts, ends) = (Time(1_000_000), Time(2_000_000));
        docsis.grant = Some(Grant { starts, ends, bytes: 10_000, begun: true });
        docsis.sent_until = starts;
        let mut send = |now| docsis.send(now, || Some(((), 100))).unwrap().1;
        let mut now = starts;
        for after in [2666, 5333, 8000, 10_666] {
            now = send(now);
            assert_eq!(now - starts, Time(after));
        }
        // What follows a pause begins anew.
        assert_eq!(send(now + Time(1000)) - now, Time(1000 + 2666));
    }
    #[test]
    fn a_grant_is_its_bytes_until_nobody_sends() {
        let mut docsis = Docsis::<()>::new(upstream(8 * MBIT), Rate(MBIT), 1, 0);
        let (starts, ends) = (Time(2_000_000), Time(3_000_000));
        docsis.grant = Some(Grant { starts, ends, bytes: 900, begun: true });
        docsis.sent_until = Time(2_100_000);
        // A microsecond for each byte.
        let rooms = [2_100_000, 2_200_000, 2_999_000, 3_000_000].map(|at| docsis.room(Time(at)));
        assert_eq!(rooms, [900, 800, 1, 0]);
    }

    #[test]
    fn who_is_looked_at_when_it_can_do_something() {
        let docsis = || Docsis::<()>::new(upstream(8 * MBIT), Rate(MBIT), 1, 0);
        let interval = Time::from_millis(2);
        // What a grant has left over when it ends does not keep from asking in the next interval.
        let (starts, ends) = (Time(2_000_000), Time(3_000_000));
        let mut with = docsis();
        with.grant = Some(Grant { starts, ends, bytes: 900, begun: true });
        let at = with.wake_at(ends, 1000).unwrap();
        assert!((interval * 2..interval * 3).contains(&at), "{at}");
        assert_eq!(with.contends, Some(at));
        // It is looked at then, if something waits.
        let mut with = Docsis { grant: with.grant, ..docsis() };
        assert_eq!((with.wake_at(starts, 0), with.wake_at(starts, 1)), (None, Some(ends)));
        // A request that came when this interval had been decided is for the next.
        let mut asks = docsis();
        asks.asked.push_back((1, 100));
        assert_eq!(asks.wake_at(ends, 1000), Some(interval * 2));
    }
}
