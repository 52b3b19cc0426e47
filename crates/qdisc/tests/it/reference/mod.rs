//! Each law against its formula in double precision, driven with the integer version's own
//! arrivals and queue lengths. Probabilities are compared, at every step, over a million of them.

mod avq;
mod blue;
mod choke;
mod cobalt;
mod codel;
mod feng_red;
mod fq_codel;
mod proportional;
mod rate;
mod spacing;

use crate::common::{Token, env, marking, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::managed::Law;
use sojourn_qdisc::*;

/// Packets come and go so that the queue wanders; between two packets, `look` sees the queue.
struct Traffic {
    random: Stream,
    now: Time,
    id: u64,
}

const SIZES: [u32; 4] = [40, 576, 1500, 1500];

impl Traffic {
    fn new() -> Self {
        Self { random: Stream::new(3, Kind::Test, 0, 0), now: Time::ZERO, id: 0 }
    }

    /// Until `until`: `ops` operations at random instants, enqueues with the given odds in 256.
    fn go<L: Law>(
        &mut self,
        q: &mut managed::Managed<Token, L>,
        until: Time,
        ops: u64,
        odds: u64,
        mut arrived: impl FnMut(Time, u32, Standing, &managed::Managed<Token, L>),
        mut emptied: impl FnMut(Time, u32),
    ) {
        let gap = (until.0 - self.now.0) / (ops + 1);
        for _ in 0..ops {
            self.now += Time(1 + self.random.below(gap));
            if self.random.below(256) < odds {
                let bytes = SIZES[self.random.below(4) as usize];
                let before = Standing { packets: q.packets(), bytes: q.bytes() };
                let _ = q.enqueue(self.now, token(self.id, bytes, Ecn::Ect0), &mut ());
                self.id += 1;
                arrived(self.now, bytes, before, q);
            } else if let Some(p) = q.dequeue(self.now, &mut ())
                && q.packets() == 0
            {
                emptied(self.now, p.bytes);
            }
        }
    }
}

/// Odds of an enqueue in 256 that let the queue swing about: more arrivals while it is short.
fn odds(queue: u32, around: u32, step: u64) -> u64 {
    let swing = if (step / 5000).is_multiple_of(2) { 8 } else { 0 };
    if queue < around { 150 + swing } else { 106 + swing }
}

fn coin() -> Stream {
    Stream::new(1, Kind::Qdisc, 0, 0)
}

fn length(q: &managed::Managed<Token, impl Law>, in_bytes: bool, mean: f64) -> f64 {
    if in_bytes { q.bytes() as f64 / mean } else { f64::from(q.packets()) }
}

#[test]
fn pi_follows_its_formula_for_a_million_instants() {
    for (in_bytes, hertz, bound) in [(false, 170.0, 1e-11), (true, 160.0, 1e-10)] {
        let params = pi::Params {
            qref: 100.0,
            frequency: hertz,
            ecn: EcnMarking::On,
            byte_mode: ByteMode {
                queue_in_bytes: in_bytes,
                mean_packet: Some(500),
                ..Default::default()
            },
            ..Default::default()
        };
        let mut q = pi::Discipline::<Token>::new(&params, &env(15, 500), coin()).unwrap();
        let period = (1e9 / hertz).round() as u64;
        let (mut p, mut old, mut worst, mut inside) = (0.0f64, None, 0.0f64, 0);
        let mut traffic = Traffic::new();
        for k in 1..=1_000_000 {
            let instant = Time(k * period);
            let odds = odds(q.packets(), 100, k);
            traffic.go(&mut q, instant, 4, odds, |_, _, _, _| (), |_, _| ());
            let now = length(&q, in_bytes, 500.0);
            q.advance(instant);
            let before = old.unwrap_or(now);
            p = (p + params.a * (now - params.qref) - params.b * (before - params.qref))
                .clamp(0.0, 1.0);
            old = Some(now);
            worst = worst.max((q.probability() - p).abs());
            inside += u32::from(p > 0.0 && p < 1.0);
            traffic.now = instant;
        }
        assert!(inside > 100_000, "the controller was in its range at {inside} instants only");
        assert!(worst < bound, "bytes {in_bytes}: off by {worst:e}");
        assert_eq!(q.law().statistics().instants, 1_000_000);
    }
}

#[test]
fn rem_follows_its_formula_for_a_million_instants() {
    for (in_bytes, bound) in [(false, 1e-10), (true, 1e-9)] {
        let params = rem::Params {
            qref: 20.0,
            ecn: EcnMarking::On,
            byte_mode: ByteMode {
                queue_in_bytes: in_bytes,
                mean_packet: Some(1000),
                ..Default::default()
            },
            ..Default::default()
        };
        // 16 Mb/s and 1000-byte packets: C·T is 4 packets.
        let mut q = rem::Discipline::<Token>::new(&params, &env(16, 1000), coin()).unwrap();
        let (mut price, mut worst, mut inside) = (0.0f64, 0.0f64, 0);
        let mut traffic = Traffic::new();
        for k in 1..=1_000_000 {
            let instant = Time(k * 2_000_000);
            let (mut count, mut bytes) = (0.0, 0.0);
            let odds = odds(q.packets(), 20, k) + 8;
            let seen = |_: Time, b: u32, _: Standing, _: &_| {
                count += 1.0;
                bytes += f64::from(b);
            };
            traffic.go(&mut q, instant, 9, odds, seen, |_, _| ());
            let now = length(&q, in_bytes, 1000.0);
            q.advance(instant);
            let arrivals = if in_bytes { bytes / 1000.0 } else { count };
            price += params.gamma * (arrivals + params.alpha * (now - params.qref) - 4.0);
            price = price.max(0.0);
            let p = 1.0 - libm::pow(params.phi, -price);
            worst = worst.max((q.probability() - p).abs());
            inside += u32::from(p > 0.0 && p < 1.0);
            traffic.now = instant;
        }
        assert!(inside > 100_000, "the price was in its range at {inside} instants only");
        assert!(worst < bound, "bytes {in_bytes}: off by {worst:e}");
    }
}

/// RED's average and p_b in double precision.
struct Average {
    average: f64,
    idle_since: Option<f64>,
    wq: f64,
    per_second: f64,
    rate: f64,
}

impl Average {
    fn at(&self, now: f64) -> f64 {
        match self.idle_since {
            Some(since) if now > since => {
                self.average * libm::pow(1.0 - self.wq, (now - since) * self.per_second)
            }
            _ => self.average,
        }
    }
    fn arrival(&mut self, now: f64, queue: f64, empty: bool) {
        if empty {
            self.average = self.at(now);
            self.idle_since = self.idle_since.map(|since| since.max(now));
        }
        self.average += self.wq * (queue - self.average);
    }
    fn emptied(&mut self, now: f64, bytes: u32) {
        self.idle_since = Some(now + f64::from(bytes) * 8.0 / self.rate);
    }
    fn base(&self, min_th: f64, max_th: f64, max_p: f64, gentle: bool) -> f64 {
        let x = self.average;
        if x < min_th {
            0.0
        } else if x < max_th {
            max_p * (x - min_th) / (max_th - min_th)
        } else if gentle && x < 2.0 * max_th {
            max_p + (1.0 - max_p) * (x - max_th) / max_th
        } else {
            1.0
        }
    }
}

#[test]
fn red_follows_its_formula_for_a_million_arrivals() {
    for (in_bytes, wq, gentle, idle_decay) in [
        (false, None, true, true),
        (false, Some(0.002), false, true),
        (false, Some(0.002), true, false),
        (true, Some(0.002), true, true),
        (true, Some(1e-6), true, true),
    ] {
        let params = red::Params {
            idle_decay,
            min_th: 5.0,
            max_th: 15.0,
            wq,
            gentle,
            hits: red::Hits {
                byte_mode: ByteMode {
                    queue_in_bytes: in_bytes,
                    mean_packet: Some(1000),
                    ..Default::default()
                },
                ..marking()
            },
            ..Default::default()
        };
        let mut q = red::Discipline::<Token>::new(&params, &env(10, 1000), coin()).unwrap();
        let per_second = 1250.0;
        let reference = std::cell::RefCell::new(Average {
            average: 0.0,
            idle_since: Some(0.0),
            wq: wq.unwrap_or_else(|| -libm::expm1(-1.0 / per_second)),
            per_second: if idle_decay { per_second } else { 0.0 },
            rate: 1e7,
        });
        let (mut worst, mut worst_average, mut inside, mut idle) = (0.0f64, 0.0f64, 0, 0);
        let mut traffic = Traffic::new();
        for k in 1..=250_000u64 {
            // Now and then the queue drains and the link rests.
            let around = if k % 1000 < 300 { 0 } else { 12 };
            let odds = odds(q.packets(), around, k);
            let until = Time(traffic.now.0 + 8 * 800_000);
            let seen = |now: Time, _: u32, before: Standing, q: &red::Discipline<Token>| {
                let queue =
                    if in_bytes { before.bytes as f64 / 1000.0 } else { before.packets.into() };
                let mut r = reference.borrow_mut();
                idle += u32::from(before.packets == 0);
                r.arrival(now.as_secs_f64(), queue, before.packets == 0);
                let p = r.base(5.0, 15.0, 0.1, gentle);
                let average = q.law().state().average as f64 / (1u64 << 36) as f64;
                worst_average = worst_average.max((average - r.average).abs());
                // Beside a jump of p the two may stand on different sides.
                let beside = !gentle && (r.average - 15.0).abs() < 1e-6;
                if !beside {
                    worst = worst.max((q.probability() - p).abs());
                }
                inside += u32::from(p > 0.0 && p < 1.0);
            };
            let emptied =
                |now: Time, bytes| reference.borrow_mut().emptied(now.as_secs_f64(), bytes);
            traffic.go(&mut q, until, 8, odds, seen, emptied);
        }
        assert!(idle > 1000, "only {idle} arrivals found the queue empty");
        if wq != Some(1e-6) {
            assert!(inside > 100_000, "only {inside} arrivals saw a probability inside (0, 1)");
        }
        assert!(worst_average < 1e-6, "wq {wq:?}: average off by {worst_average:e}");
        assert!(worst < 1e-8, "wq {wq:?}: probability off by {worst:e}");
    }
}

#[test]
fn ared_follows_its_formula_for_a_million_instants() {
    let params = ared::Params {
        min_th: Some(5.0),
        max_th: Some(15.0),
        interval: Time::from_millis(10),
        wq: Some(0.01),
        hits: marking(),
        ..Default::default()
    };
    let mut q = ared::Discipline::<Token>::new(&params, &env(12, 1500), coin()).unwrap();
    let reference = std::cell::RefCell::new(Average {
        average: 0.0,
        idle_since: Some(0.0),
        wq: 0.01,
        per_second: 1000.0,
        rate: 1.2e7,
    });
    let (mut max_p, mut worst, mut worst_max_p, mut moves) = (0.1f64, 0.0f64, 0.0f64, [0; 2]);
    let mut traffic = Traffic::new();
    for k in 1..=1_000_000u64 {
        let instant = Time(k * 10_000_000);
        let odds = odds(q.packets(), [0, 16, 9, 12][(k / 400) as usize % 4], k);
        let seen = |now: Time, _: u32, before: Standing, q: &ared::Discipline<Token>| {
            let mut r = reference.borrow_mut();
            r.arrival(now.as_secs_f64(), before.packets.into(), before.packets == 0);
            worst = worst.max((q.probability() - r.base(5.0, 15.0, max_p, true)).abs());
        };
        let emptied = |now: Time, bytes| reference.borrow_mut().emptied(now.as_secs_f64(), bytes);
        traffic.go(&mut q, instant, 6, odds, seen, emptied);
        q.advance(instant);
        let r = reference.borrow();
        let average = if q.packets() == 0 { r.at(instant.as_secs_f64()) } else { r.average };
        if average > 11.0 && max_p < 0.5 {
            max_p = (max_p + f64::min(0.01, max_p / 4.0)).min(0.5);
            moves[0] += 1;
        } else if average < 9.0 && max_p > 0.01 {
            max_p = (max_p * 0.9).max(0.01);
            moves[1] += 1;
        }
        worst_max_p = worst_max_p.max((q.law().red().state().max_p.as_f64() - max_p).abs());
        traffic.now = instant;
    }
    assert!(moves[0] > 10_000 && moves[1] > 10_000, "{moves:?}");
    assert!(worst_max_p < 1e-12, "max_p off by {worst_max_p:e}");
    assert!(worst < 1e-6, "probability off by {worst:e}");
}

#[test]
fn red_spaces_its_hits_uniformly() {
    // p_b = 0.05 for ever: gaps uniform on 1..=20 (Floyd and Jacobson, section VII, method 2).
    let params = red::Params {
        min_th: 0.0,
        max_th: 20.0,
        max_p: 0.1,
        wq: Some(1.0),
        hits: red::Hits { ecn: EcnMarking::On, ..Default::default() },
        ..Default::default()
    };
    let mut q = red::Discipline::<Token>::new(&params, &env(100, 1500), coin()).unwrap();
    let mut gaps = [0u32; 32];
    let (mut gap, mut now) = (0, Time::ZERO);
    while q.packets() < 10 {
        let _ = q.enqueue(now, token(0, 1500, Ecn::Ect0), &mut ());
    }
    let _ = q.dequeue(now, &mut ());
    let rounds = 2_000_000u32;
    for _ in 0..rounds {
        now += Time::from_micros(120);
        while q.packets() < 10 {
            let verdict = q.enqueue(now, token(0, 1500, Ecn::Ect0), &mut ());
            gap += 1;
            if verdict == Verdict::Marked {
                gaps[gap] += 1;
                gap = 0;
            }
        }
        let _ = q.dequeue(now, &mut ());
    }
    // The average is 9 (wq = 1, the queue before the arrival): p_b = 0.045, 1/p_b = 22.2.
    let hits: u32 = gaps.iter().sum();
    let mean = f64::from(rounds) / f64::from(hits);
    assert!((mean - (1.0 / 0.045 + 1.0) / 2.0).abs() < 0.1, "mean gap {mean}");
    for (gap, &n) in gaps.iter().enumerate() {
        let expected = match gap {
            1..=22 => 0.045,
            23 => 1.0 - 22.0 * 0.045,
            _ => 0.0,
        } * f64::from(hits);
        assert!(
            (f64::from(n) - expected).abs() <= 5.0 * expected.sqrt(),
            "gap {gap}: {n} {expected}"
        );
    }
}
