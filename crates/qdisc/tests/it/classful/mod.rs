//! Disciplines with classes under load: who gets how much of a link, and when.

mod alone;
mod drr;
mod link_sharing;
mod ns2;
mod priority;
mod token_bucket;

use crate::common::{Token, env, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::{Config, Discipline, Ecn, Qdisc, droptail};

/// Traffic of one flow, labelled "flow0" to "flow6" by its number.
#[derive(Clone, Copy)]
struct Source {
    flow: u32,
    bytes: u32,
    /// Bits per second.
    rate: f64,
    /// When it sends, in seconds.
    from: f64,
    to: f64,
}

impl Source {
    fn new(flow: u32, bytes: u32, rate: f64) -> Self {
        Self { flow, bytes, rate, from: 0.0, to: f64::MAX }
    }

    fn between(self, from: f64, to: f64) -> Self {
        Self { from, to, ..self }
    }
}

/// What was sent: when each transmission began, of which flow, and how many bytes.
struct Sent(Vec<(Time, u32, u32)>);

impl Sent {
    /// Bits per second of a flow between two times in seconds.
    fn rate(&self, flow: u32, from: f64, to: f64) -> f64 {
        let within = |at: &Time| (from..to).contains(&(at.0 as f64 / 1e9));
        let of = self.0.iter().filter(|(at, other, _)| *other == flow && within(at));
        of.map(|(_, _, bytes)| f64::from(*bytes) * 8.0).sum::<f64>() / (to - from)
    }

    /// Each flow's part of all that was sent.
    fn shares<const N: usize>(&self, from: f64, to: f64) -> [f64; N] {
        let rates: [f64; N] = std::array::from_fn(|flow| self.rate(flow as u32, from, to));
        let sum: f64 = rates.iter().sum();
        rates.map(|rate| rate / sum)
    }
}

/// Runs a link of `mbit` with a discipline for `seconds`, and checks its books at the end.
fn run(config: &Config, mbit: u64, sources: &[Source], seconds: f64) -> Sent {
    let env = env(mbit, 1000);
    let mut q: Qdisc<Token> =
        Qdisc::new(config, &env, Stream::new(1, Kind::Qdisc, 0, 0)).expect("valid");
    // Gaps vary a little, so that sources do not march in step.
    let mut jitter = Stream::new(7, Kind::Start, 0, 0);
    let mut next: Vec<f64> = sources.iter().map(|source| source.from).collect();
    let (mut sent, mut free, mut id) = (Vec::new(), 0u64, 0);
    let mut wake = None;
    loop {
        let due = (0..sources.len()).min_by(|&a, &b| next[a].total_cmp(&next[b])).unwrap();
        let arrival = (next[due] * 1e9) as u64;
        let departure = wake.map_or(u64::MAX, |at: u64| at.max(free));
        let now = arrival.min(departure);
        if now as f64 > seconds * 1e9 {
            break;
        }
        if arrival < departure {
            let Source { flow, bytes, rate, to, .. } = sources[due];
            let packet = Token { flow, ..token(id, bytes, Ecn::NotEct) };
            id += 1;
            let _ = q.enqueue(Time(now), packet, &mut ());
            let gap = f64::from(bytes) * 8.0 / rate * (0.9 + 0.2 * jitter.uniform());
            next[due] += gap;
            if next[due] > to {
                next[due] = f64::MAX;
            }
        } else if let Some(packet) = q.dequeue(Time(now), &mut ()) {
            sent.push((Time(now), packet.flow, packet.bytes));
            free = now + env.rate.time_for(u64::from(packet.bytes)).0;
        }
        wake = q.next_ready(Time(now.max(free))).map(|at| at.0.max(now));
    }
    let mut sum = sojourn_qdisc::Count::default();
    let mut classes = 0;
    q.classes(&mut |counters| {
        sum = sum.plus(counters.arrived());
        classes += 1;
    });
    assert_eq!(classes, config.classes().len());
    let counters = q.counters();
    assert!(classes == 0 || sum == counters.arrived(), "a parent is the sum of its classes");
    let gone = counters.dequeued.plus(counters.dropped()).plus(counters.standing());
    assert_eq!(gone, counters.arrived());
    Sent(sent)
}

fn droptail(packets: u32) -> Config {
    Config::Droptail(droptail::Params::packets(packets))
}

fn assert_close(found: f64, wanted: f64, margin: f64, what: &str) {
    assert!((found - wanted).abs() <= margin, "{what}: {found}, not {wanted} ± {margin}");
}
