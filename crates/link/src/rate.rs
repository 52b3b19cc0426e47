//! A rate that changes in time: constant pieces, one after another, known as far ahead as anyone
//! asks; and how long a packet takes to cross a wire of such a rate.

use crate::lognormal::{MOST_RATE, Process, rate_at};
use crate::radio::Radio;
use sojourn_base::{Kind, NANOS_PER_BYTE, Rate, Stream, Time};
use sojourn_scenario::{Lognormal, Markov, RateSchedule};
use std::sync::Arc;

/// Later than the end of any run: a transmission that an endless outage holds up.
const NEVER: u64 = 1 << 62;

/// Of a link's random numbers, those of its rate.
const RATE_STREAM: u64 = 0;

/// Walks through the pieces of a link's rate, from the start of the run on.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    source: Source,
    /// The present piece: its rate in bits per second, and when it ends, ns.
    rate: u64,
    end: u64,
}

#[derive(Clone, Debug)]
enum Source {
    /// A rate that stays.
    Constant,
    /// The pieces, which of them comes next, and when their cycle began.
    Listed { pieces: Arc<[(Time, Rate)]>, next: usize, base: u64, repeats: bool },
    /// A Gaussian process of the first order, in equal steps: its state.
    Lognormal { process: Box<LogProcess>, stream: Stream },
    /// Jumps between rates: where it is.
    Markov { process: Markov, at: usize, stream: Stream },
    /// Level, fading and outages.
    Radio { radio: Box<Radio>, stream: Stream },
}

/// A rate whose logarithm is a Gaussian process.
#[derive(Clone, Debug)]
struct LogProcess {
    params: Lognormal,
    median: f64,
    log: Process,
}

impl Pieces {
    /// The rate of the link with this number, whose `rate` is `rate`.
    pub(crate) fn new(schedule: &RateSchedule, rate: Rate, seed: u64, link: u32) -> Self {
        let mut stream = Stream::new(seed, Kind::Link, link, RATE_STREAM);
        let source = match schedule {
            RateSchedule::Pieces { pieces, repeats } => {
                Source::Listed { pieces: pieces.clone(), next: 0, base: 0, repeats: *repeats }
            }
            RateSchedule::Lognormal(params) => {
                let &Lognormal { sigma, every, memory, .. } = params;
                let log = Process::new(sigma, every, memory, &mut stream);
                let process = LogProcess { params: params.clone(), median: rate.as_f64(), log };
                Source::Lognormal { process: Box::new(process), stream }
            }
            RateSchedule::Markov(process) => {
                let at = stream.below(process.rates.len() as u64) as usize;
                Source::Markov { process: process.clone(), at, stream }
            }
            RateSchedule::Radio(process) => {
                let radio = Box::new(Radio::new(process, rate, &mut stream));
                Source::Radio { radio, stream }
            }
        };
        let mut new = Self { source, rate: 0, end: 0 };
        new.step();
        new
    }

    /// A rate that stays.
    fn constant(rate: u64) -> Self {
        Self { source: Source::Constant, rate, end: u64::MAX }
    }

    /// On to the next piece.
    fn step(&mut self) {
        let begins = self.end;
        match &mut self.source {
            Source::Constant => self.end = u64::MAX,
            Source::Listed { pieces, next, base, repeats } => {
                if *next == pieces.len() {
                    if !*repeats {
                        self.end = u64::MAX;
                        return;
                    }
                    (*next, *base) = (0, begins);
                }
                let (end, rate) = pieces[*next];
                *next += 1;
                (self.rate, self.end) = (rate.0, base.saturating_add(end.0));
            }
            Source::Lognormal { process, stream } => {
                let LogProcess { params, median, log } = &mut **process;
                if begins > 0 {
                    log.step(stream);
                }
                let max = params.max.map_or(MOST_RATE, |max| max.0);
                self.rate = rate_at(*median, log.x).clamp(params.min.0, max);
                self.end = begins.saturating_add(params.every.0);
            }
            Source::Markov { process, at, stream } => {
                if begins > 0 {
                    // Any of the others.
                    let other = stream.below(process.rates.len() as u64 - 1) as usize;
                    *at = other + usize::from(other >= *at);
                }
                self.rate = process.rates[*at].0;
                let hold = -libm::log(stream.uniform()) * process.hold.0 as f64;
                self.end = begins.saturating_add((hold as u64).max(1));
            }
            Source::Radio { radio, stream } => {
                (self.rate, self.end) = radio.step(begins, stream);
            }
        }
    }

    /// The rate at `now`, which must not lie before the last question.
    pub(crate) fn at(&mut self, now: u64) -> u64 {
        while self.end <= now {
            self.step();
        }
        self.rate
    }

    /// Bits times 10⁹ that can be sent from `from` to `to`. Neither must lie before the last
    /// question.
    pub(crate) fn offered(&mut self, from: u64, to: u64) -> u128 {
        let (mut now, mut sum) = (from, 0);
        while now < to {
            let rate = self.at(now);
            let until = self.end.min(to);
            sum += u128::from(rate) * u128::from(until - now);
            now = until;
        }
        sum
    }

    /// When a transmission of `bytes` on the wire that starts at `start` ends: the integral of the
    /// rate from there, exact in bits times 10⁹. Ends are whole nanoseconds, rounded down; what is
    /// then still to send is `carry`, and it is sent before the next packet, unless the link was
    /// idle in between. So the long-run rate is exact.
    pub(crate) fn end(
        &mut self,
        start: u64,
        bytes: u32,
        idle_before: bool,
        carry: &mut u64,
    ) -> u64 {
        // At most 2¹⁷ bytes · 8 · 10⁹, and a carry below 10¹³.
        let mut left = u64::from(bytes) * NANOS_PER_BYTE + if idle_before { 0 } else { *carry };
        let mut now = start;
        while left > 0 {
            let rate = self.at(now);
            let whole = left.checked_div(rate).unwrap_or(u64::MAX);
            let span = self.end - now;
            if whole < span {
                *carry = left - whole * rate;
                return now + whole;
            }
            if self.end >= NEVER {
                *carry = 0;
                return NEVER;
            }
            left -= span * rate;
            now = self.end;
        }
        *carry = 0;
        now
    }
}

/// The changing rate of a link: one walk for the transmitter, one for whoever measures.
#[derive(Clone, Debug)]
pub(crate) struct Varying {
    pub sending: Pieces,
    metered: Pieces,
    since: Time,
    /// Bits times 10⁹ that could have been sent since the start of the run, and up to where
    /// measuring began.
    offered: u128,
    before: u128,
}

impl Varying {
    pub(crate) fn new(pieces: Pieces) -> Self {
        Self { metered: pieces.clone(), sending: pieces, since: Time::ZERO, offered: 0, before: 0 }
    }

    /// A rate that has been constant since measuring began at `since`, and may change from now on.
    pub(crate) fn constant(rate: u64, since: Time) -> Self {
        let offered = u128::from(rate) * u128::from(since.0);
        Self { since, offered, before: offered, ..Self::new(Pieces::constant(rate)) }
    }

    /// From `now` on, up to which everything is measured, the rate is another and stays. A
    /// transmission under way ends as it was to.
    pub(crate) fn change(&mut self, rate: u64) {
        (self.sending, self.metered) = (Pieces::constant(rate), Pieces::constant(rate));
    }

    /// Brings what is measured up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        self.offered += self.metered.offered(self.since.0, now.0);
        self.since = now;
    }

    /// Measuring begins at the present.
    pub(crate) fn start(&mut self) {
        self.before = self.offered;
    }

    /// The rate at the present.
    pub(crate) fn rate(&mut self) -> u64 {
        self.metered.at(self.since.0)
    }

    /// Bits that could have been sent since the start.
    pub(crate) fn bits(&self) -> f64 {
        (self.offered - self.before) as f64 / 1e9
    }

    /// Bits times 10⁹ that could have been sent since the start of the run.
    pub(crate) fn offered(&self) -> u128 {
        self.offered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serialiser::Serialiser;

    const MS: u64 = 1_000_000;

    fn listed(pieces: &[(u64, u64)], repeats: bool) -> Pieces {
        let pieces = pieces.iter().map(|&(end, rate)| (Time(end), Rate(rate))).collect();
        Pieces::new(&RateSchedule::Pieces { pieces, repeats }, Rate(1), 1, 0)
    }

    #[test]
    fn a_constant_schedule_is_a_constant_link_to_the_nanosecond() {
        for rate in [15_000_000, 99_999_999, 3_000, 100_000_000_000, 1_000_000_007] {
            let constant = Serialiser::new(rate, 0, 0);
            // Cut into pieces of a length that no packet takes.
            let mut pieces = listed(&[(777_777, rate), (1_000_003, rate)], true);
            let (mut a, mut b) = ((0, 0), (0, 0));
            for i in 0..3000u32 {
                let bytes = 40 + i * 7 % 3000;
                let idle = i % 50 == 0;
                let pause = if idle { 1234 } else { 0 };
                a.0 = constant.end(Time(a.0 + pause), bytes, idle, &mut a.1).0;
                b.0 = pieces.end(b.0 + pause, bytes, idle, &mut b.1);
                assert_eq!(a, b, "{rate} {i}");
            }
        }
    }

    #[test]
    fn transmissions_follow_rate_integral_to_a_nanosecond() {
        let cycle = [(3 * MS + 1, 7_000_003), (4 * MS, 0), (9 * MS + 17, 99_999_989)];
        let mut pieces = listed(&cycle, true);
        let mut meter = pieces.clone();
        let (mut now, mut carry, mut bits, mut offered) = (0, 0, 0u128, 0u128);
        for i in 0..20_000u32 {
            let bytes = 40 + i * 7 % 3000;
            let before = now;
            now = pieces.end(now, bytes, i == 0, &mut carry);
            bits += u128::from(bytes) * 8;
            offered += meter.offered(before, now);
            assert_eq!(bits * 1_000_000_000, offered + u128::from(carry), "{i}");
            assert!(carry < 99_999_989);
        }
    }

    #[test]
    fn what_is_left_where_a_piece_ends_is_sent_at_the_next_rate() {
        // 8000 bits are 2666 ns at 3 Gb/s, and 2 bits more: 2 ns at 1 Gb/s.
        let mut pieces = listed(&[(2666, 3_000_000_000), (u64::MAX, 1_000_000_000)], false);
        let mut carry = 0;
        assert_eq!((pieces.end(0, 1000, true, &mut carry), carry), (2668, 0));
    }

    #[test]
    fn outage_delays_transmission() {
        let mut pieces = listed(&[(MS, 8_000_000), (5 * MS, 0), (u64::MAX, 8_000_000)], false);
        // 1000 bytes take 1 ms; the second half waits for the end of the outage.
        assert_eq!(pieces.end(MS / 2, 1000, true, &mut 0), 5 * MS + MS / 2);
        let mut dead = listed(&[(MS, 8_000_000), (u64::MAX, 0)], false);
        assert_eq!(dead.end(0, 1000, true, &mut 0), MS);
        assert_eq!(dead.end(MS, 1, true, &mut 0), NEVER);
        assert_eq!(dead.offered(2 * MS, 3 * MS), 0);
    }

    #[test]
    fn a_lognormal_rate_has_its_median_and_spread_and_remembers() {
        let process = Lognormal { memory: Time::from_secs(1), ..Lognormal::default() };
        let schedule = RateSchedule::Lognormal(process);
        let mut pieces = Pieces::new(&schedule, Rate(10_000_000), 3, 1);
        let n = 200_000;
        let logs: Vec<f64> =
            (0..n).map(|i| libm::log(pieces.at(i * 100 * MS) as f64 / 10_000_000.0)).collect();
        let mean = logs.iter().sum::<f64>() / n as f64;
        let variance = logs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n as f64;
        let lag = logs.windows(11).map(|w| (w[0] - mean) * (w[10] - mean)).sum::<f64>() / n as f64;
        // Correlated draws: about 200 000 / 20 independent ones.
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((variance - 0.25).abs() < 0.02, "{variance}");
        assert!((lag / variance - libm::exp(-1.0)).abs() < 0.04, "{}", lag / variance);
    }

    #[test]
    fn jumps_visit_all_rates_alike_for_the_time_they_should() {
        let rates = vec![Rate(0), Rate(1_000_000), Rate(5_000_000)];
        let hold = Time::from_millis(50);
        let mut pieces =
            Pieces::new(&RateSchedule::Markov(Markov { rates, hold }), Rate(1_000_000), 3, 1);
        let span = 5_000_000 * MS;
        let mean = pieces.offered(0, span) / u128::from(span);
        assert!((1_950_000..2_050_000).contains(&mean), "{mean}");
        // Holding times are exponential: e⁻² of them are longer than twice their mean.
        let mut longer = 0;
        for _ in 0..10_000 {
            let begins = pieces.end;
            pieces.step();
            longer += u32::from(pieces.end - begins > 2 * hold.0);
        }
        assert!((1210..1500).contains(&longer), "{longer}");
    }

    #[test]
    fn the_same_name_gives_the_same_rate_and_another_seed_another() {
        let schedule = RateSchedule::Lognormal(Lognormal::default());
        let trace = |seed, link| {
            let mut pieces = Pieces::new(&schedule, Rate(1_000_000), seed, link);
            (0..50).map(|i| pieces.at(i * 100 * MS)).collect::<Vec<_>>()
        };
        assert_eq!(trace(1, 0), trace(1, 0));
        assert_ne!(trace(1, 0), trace(2, 0));
        assert_ne!(trace(1, 0), trace(1, 1));
    }
}
