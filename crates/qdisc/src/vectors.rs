//! Test vectors: a sequence of operations on a discipline, and what it did with each, in integers,
//! so that an implementation in another language can be checked against this one.

use crate::{Config, Discipline, DropReason, Ecn, Env, Invalid, Packet, Qdisc, Sink, Verdict};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use sojourn_base::{Kind, Stream, Time};

/// The columns of the table that [`write()`] gives.
pub const COLUMNS: &str =
    "op,time_ns,packet,bytes,ecn,flow,result,packets,queue_bytes,p_q32,dropped";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    number: u32,
    bytes: u32,
    ecn: Ecn,
    flow: u32,
}

impl Packet for Numbered {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
}

#[derive(Default)]
struct Dropped(Vec<(u32, DropReason)>);

impl Sink<Numbered> for Dropped {
    fn dropped(&mut self, _: Time, packet: Numbered, reason: DropReason) {
        self.0.push((packet.number, reason));
    }
}

/// So often a text asks whether it is to end early.
const LOOK: u64 = 1024;

/// How long the link and all senders stand still, now and then.
const STALL: Time = Time::from_secs(20);

/// What the link and those who send over it do, one operation after the other: long and short
/// overload, a silence, bursts at one instant, a load below the rate, and standing still.
struct Work {
    draws: Stream,
    env: Env,
    operations: u64,
    /// When the next packet comes.
    arrival: Time,
    /// When the link is free again.
    free: Time,
    number: u32,
}

enum Operation {
    Enqueue(Time, Numbered),
    Dequeue(Time),
}

impl Work {
    /// The `n`th operation; `waiting` says when the discipline has a packet to give, if it has.
    fn next(&mut self, n: u64, now: Time, waiting: Option<Time>) -> Operation {
        if let Some(ready) = waiting {
            let at = ready.max(self.free).max(now);
            if at < self.arrival {
                return Operation::Dequeue(at);
            }
        }
        let stall = n > 0 && [15, 45, 75].iter().any(|p| n == self.operations * p / 100);
        if stall {
            // Nothing moves while much stands: controllers that sample, sample on.
            self.arrival += STALL;
            self.free = self.free.max(now) + STALL;
        }
        let at = self.arrival.max(now);
        let packet = self.packet();
        self.arrival = at + self.gap(n, packet.bytes);
        Operation::Enqueue(at, packet)
    }

    fn packet(&mut self) -> Numbered {
        let bytes = match self.draws.below(8) {
            0 => 40,
            1 => 64 + self.draws.below(1400) as u32,
            _ => 1500,
        };
        let ecn = Ecn::from_bits([0, 2, 2, 1, 2, 0, 3, 2][self.draws.below(8) as usize]);
        let flow = (self.draws.below(6) as u32).wrapping_mul(0x9e37_79b9);
        self.number += 1;
        Numbered { number: self.number, bytes, ecn, flow }
    }

    /// The time to the next arrival.
    fn gap(&mut self, n: u64, bytes: u32) -> Time {
        let service = self.env.rate.time_for(u64::from(bytes)).0.max(1);
        // Percent of the link's rate in each tenth of the work; 0 is bursts.
        const LOADS: [u64; 10] = [150, 150, 110, 70, 300, 0, 100, 130, 90, 200];
        let tenth = (n * 10 / self.operations.max(1)).min(9) as usize;
        let silence = n > 0 && n == self.operations * 4 / 10;
        if silence {
            return Time::from_secs(5);
        }
        match LOADS[tenth] {
            0 if self.draws.below(40) > 0 => Time::ZERO,
            0 => Time(service * 40),
            // Uniform from nothing to twice the mean.
            load => Time(self.draws.below(service * 200 / load + 1)),
        }
    }
}

/// Makes `operations` operations on the discipline, drawn with `seed`, and writes a table in CSV:
/// a head of lines that begin with `#`, the names of the columns, one line for each operation. It
/// ends early if `over` says so.
///
/// # Errors
/// If the discipline cannot be built on such a link.
pub fn write(
    config: &Config,
    env: &Env,
    seed: u64,
    operations: u64,
    over: &dyn Fn() -> bool,
) -> Result<String, Invalid> {
    let coin = Stream::new(seed, Kind::Qdisc, 0, 0);
    let mut text = String::new();
    let rate = env.rate.0;
    let _ = writeln!(text, "# sojourn test vectors, format 1: {}", config.name());
    let _ = writeln!(text, "# rate_bps {rate}, mean_packet {}, seed {seed}", env.mean_packet);
    let _ = writeln!(text, "# coin: squares64, key 0x{:016x}, counter from 0", coin.key());
    let mut queue = Qdisc::<Numbered>::new(config, env, coin)?;
    let mut work = Work {
        draws: Stream::new(seed, Kind::Test, 0, 0),
        env: *env,
        operations,
        arrival: Time::from_micros(1),
        free: Time::ZERO,
        number: 0,
    };
    let _ = writeln!(text, "{COLUMNS}");
    let mut now = Time::ZERO;
    let mut sink = Dropped::default();
    for n in 0..operations {
        if n % LOOK == 0 && over() {
            break;
        }
        let waiting = queue.next_ready(now.max(work.free));
        match work.next(n, now, waiting) {
            Operation::Enqueue(at, packet) => {
                now = at;
                let Numbered { number, bytes, ecn, flow } = packet;
                let result = match queue.enqueue(now, packet, &mut sink) {
                    Verdict::Queued => "queued",
                    Verdict::Marked => "marked",
                    Verdict::Dropped(DropReason::Early) => "early",
                    Verdict::Dropped(DropReason::Overflow) => "overflow",
                };
                sink.0.retain(|(dropped, _)| *dropped != number);
                let _ = write!(text, "e,{},{number},{bytes},{},{flow},{result}", now.0, ecn as u8);
            }
            Operation::Dequeue(at) => {
                now = at;
                match queue.dequeue(now, &mut sink) {
                    Some(p) => {
                        work.free = now + env.rate.time_for(u64::from(p.bytes));
                        let Numbered { number, bytes, ecn, flow } = p;
                        let _ =
                            write!(text, "d,{},{number},{bytes},{},{flow},sent", now.0, ecn as u8);
                    }
                    None => {
                        let _ = write!(text, "d,{},,,,,none", now.0);
                    }
                }
            }
        }
        let p = (queue.probability() * 4_294_967_296.0) as u64;
        let _ = write!(text, ",{},{},{p},", queue.packets(), queue.bytes());
        for (i, (number, _)) in sink.0.drain(..).enumerate() {
            let _ = write!(text, "{}{number}", if i > 0 { " " } else { "" });
        }
        text.push('\n');
    }
    Ok(text)
}

/// Steps of CoDel's control law: lines of an interval in nanoseconds, a count, and the interval
/// over the count's square root. Intervals are 1 µs to 100 s. It ends early if `over` says so.
#[must_use]
pub fn control_law(seed: u64, operations: u64, over: &dyn Fn() -> bool) -> String {
    let mut draws = Stream::new(seed, Kind::Test, 0, 0);
    let mut text = String::new();
    let _ = writeln!(text, "control_law {operations}");
    for n in 0..operations {
        if n % LOOK == 0 && over() {
            break;
        }
        let interval = [100_000_000, 1000 + draws.below(99_999_999_001)][draws.below(2) as usize];
        // Of every length; at times the ends and the neighbours of powers of 4.
        let bits = draws.below(33);
        let count = match draws.below(8) {
            0 => draws.below(3),
            1 => u64::from(u32::MAX),
            2 => (1 << (bits / 2 * 2)) - 1,
            _ => draws.below(1 << bits),
        };
        let count = count.min(u64::from(u32::MAX)) as u32;
        let step = crate::codel_law::interval_over_sqrt(interval, count);
        let _ = writeln!(text, "step {interval} {count} {step}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Rate;

    const ENV: Env = Env { rate: Rate(10_000_000), mean_packet: 1500 };

    fn rows(config: &Config) -> Vec<Vec<String>> {
        let text = write(config, &ENV, 1, 4000, &|| false).expect("valid");
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.map(|line| line.split(',').map(String::from).collect()).collect()
    }

    #[test]
    fn steps_of_the_control_law_have_counts_of_every_length() {
        let text = control_law(1, 2000, &|| false);
        let counts = text.lines().skip(1).map(|line| line.split(' ').nth(2).unwrap());
        let lengths: alloc::collections::BTreeSet<u32> =
            counts.map(|count| 32 - count.parse::<u32>().unwrap().leading_zeros()).collect();
        assert_eq!(lengths.len(), 33);
    }

    #[test]
    fn vectors_end_early_when_asked_to() {
        let config = Config::named("pi").expect("listed");
        let asked = core::cell::Cell::new(0);
        let over = || {
            asked.set(asked.get() + 1);
            asked.get() % 3 == 0
        };
        let text = write(&config, &ENV, 1, 1_000_000, &over).expect("valid");
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 1 + 2048);
        assert_eq!(control_law(1, 1_000_000, &over).lines().count(), 1 + 2048);
        assert_eq!(asked.get(), 6);
    }

    #[test]
    fn vectors_account_for_every_packet() {
        let config = Config::named("pi").expect("listed");
        let rows = rows(&config);
        assert_eq!(rows.len(), 4000);
        let count = |op: &str, result: &str| {
            rows.iter().filter(|row| row[0] == op && row[6] == result).count()
        };
        let standing: usize = rows[3999][7].parse().expect("a number");
        assert_eq!(count("e", "queued") + count("e", "marked"), count("d", "sent") + standing);
        assert!(count("e", "early") > 10, "the work makes the discipline act");
        assert!(rows.iter().all(|row| row.len() == 11));
    }

    #[test]
    fn probabilities_are_in_units_of_two_to_the_minus_32() {
        let rows = rows(&Config::named("pi").expect("listed"));
        let most = rows.iter().map(|row| row[9].parse::<u64>().unwrap()).max().unwrap();
        // The work drives it above one in a thousand.
        assert!((1 << 22..=1 << 32).contains(&most), "{most}");
    }

    #[test]
    fn vectors_of_a_seed_stay_as_others_have_them() {
        let stamp = |name: &str| {
            let config = Config::named(name).expect("listed");
            crate::label_hash(&write(&config, &ENV, 1, 4000, &|| false).expect("valid"))
        };
        let stamps = ["pi", "codel", "fq_codel"].map(stamp);
        assert_eq!(stamps, [1_070_808_975, 3_836_373_781, 25_090_879]);
        assert_eq!(crate::label_hash(&control_law(1, 2000, &|| false)), 255_119_724);
    }

    #[test]
    fn time_never_runs_backwards_and_the_same_seed_gives_the_same_text() {
        let config = Config::named("red").expect("listed");
        let times: Vec<u64> = rows(&config).iter().map(|row| row[1].parse().unwrap()).collect();
        assert!(times.is_sorted());
        let text = |seed| write(&config, &ENV, seed, 500, &|| false).expect("valid");
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }
}
