//! BLUE against its rule in double precision, millisecond by millisecond.

use super::{coin, odds};
use crate::common::{Token, env, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;

#[test]
fn blue_follows_its_rule_millisecond_by_millisecond() {
    let params = blue::Params {
        freeze_time: Time::from_millis(10),
        limit: 30,
        high_water: Some(25),
        ecn: EcnMarking::On,
        ..Default::default()
    };
    let mut q = blue::Discipline::<Token>::new(&params, &env(12, 1500), coin()).unwrap();
    let mut random = Stream::new(3, Kind::Test, 0, 0);
    let (mut p, mut last, mut idle_from, mut worst) = (0.0f64, None::<u64>, 0, 0.0f64);
    let (mut grown, mut shrunk) = (0, 0);
    // A packet of 1500 bytes takes 1 ms: one may leave each millisecond.
    for ms in 1..=400_000u64 {
        let now = Time::from_millis(ms);
        let free = |last: Option<u64>| last.is_none_or(|at| ms >= at + 10);
        if q.packets() == 0 && ms >= idle_from && free(last) {
            (p, last) = ((p - 0.002).max(0.0), Some(ms));
            shrunk += 1;
        }
        // Idle much of the time, full, above the mark, idle again.
        let (offers, around) = [(1, 0), (2, 40), (2, 28), (1, 0)][(ms / 5000) as usize % 4];
        for _ in 0..offers {
            if random.below(256) < odds(q.packets(), around, ms) {
                let before = q.packets();
                let verdict = q.enqueue(now, token(ms, 1500, Ecn::Ect0), &mut ());
                let full = verdict == Verdict::Dropped(DropReason::Overflow);
                if (full || before > 25) && free(last) {
                    (p, last) = ((p + 0.02).min(1.0), Some(ms));
                    grown += 1;
                }
            }
        }
        if q.packets() > 0 && random.below(256) < 220 {
            let _ = q.dequeue(now, &mut ());
            if q.packets() == 0 {
                idle_from = ms + 1;
            }
        }
        q.advance(now);
        // The same instant may have emptied the queue, but not made the link idle.
        worst = worst.max((q.probability() - p).abs());
    }
    assert!(grown > 500 && shrunk > 1000, "{grown} {shrunk}");
    assert!(worst < 1e-12, "off by {worst:e}");
}

#[test]
fn blue_crosses_an_hour_of_idleness_at_once() {
    let params = blue::Params { limit: 1, decrement: 1e-5, ..Default::default() };
    let mut q = blue::Discipline::<Token>::new(&params, &env(12, 1500), coin()).unwrap();
    for ms in 1..=2000 {
        let _ = q.enqueue(Time::from_millis(ms), token(ms, 1500, Ecn::NotEct), &mut ());
    }
    let now = Time::from_secs(2);
    assert!(q.dequeue(now, &mut ()).is_some());
    let before = q.probability();
    assert!((0.2..0.5).contains(&before), "{before}");
    let mut each = q.clone();
    q.advance(now + Time::from_secs(3600));
    (0..=360_000).for_each(|k| each.advance(now + Time::from_millis(10 * k)));
    assert_eq!(q.probability().to_bits(), each.probability().to_bits());
    assert!((q.probability() - (before - 0.36)).abs() < 1e-3 || q.probability() == 0.0);
}
