//! Self-configuring RED against the paper's rule in double precision.

use super::{Average, Traffic, coin, odds};
use crate::common::{Token, env, marking};
use sojourn_base::Time;
use sojourn_qdisc::*;
use std::cell::RefCell;

#[test]
fn feng_red_moves_max_p_as_the_paper_says() {
    let params =
        feng_red::Params { wq: Some(0.02), hits: marking(), gentle: true, ..Default::default() };
    let mut q = feng_red::Discipline::<Token>::new(&params, &env(10, 1500), coin()).unwrap();
    let average = RefCell::new(Average {
        average: 0.0,
        idle_since: Some(0.0),
        wq: 0.02,
        per_second: 1e7 / 12_000.0,
        rate: 1e7,
    });
    let (mut max_p, mut place, mut moves) = (0.1f64, 0, [0u64; 3]);
    let (mut worst, mut worst_max_p) = (0.0f64, 0.0f64);
    let mut traffic = Traffic::new();
    for k in 1..=100_000u64 {
        let around = [0, 22, 10, 3, 30][(k / 40) as usize % 5];
        let odds = odds(q.packets(), around, k);
        let until = Time(traffic.now.0 + 8 * 1_200_000);
        let seen = |now: Time, _: u32, before: Standing, q: &feng_red::Discipline<Token>| {
            let mut r = average.borrow_mut();
            r.arrival(now.as_secs_f64(), before.packets.into(), before.packets == 0);
            // 0 between, 1 below, 2 above.
            let at = if r.average < 5.0 { 1 } else { 2 * usize::from(r.average > 15.0) };
            if at != place {
                max_p = (max_p * [1.0, 1.0 / 3.0, 2.0][at]).clamp(1e-4, 1.0);
                moves[at] += 1;
                place = at;
            }
            worst_max_p = worst_max_p.max((q.law().red().state().max_p.as_f64() - max_p).abs());
            worst = worst.max((q.probability() - r.base(5.0, 15.0, max_p, true)).abs());
        };
        let emptied = |now: Time, bytes| average.borrow_mut().emptied(now.as_secs_f64(), bytes);
        traffic.go(&mut q, until, 8, odds, seen, emptied);
    }
    assert!(moves[1] > 200 && moves[2] > 200, "{moves:?}");
    assert_eq!(q.law().moves(), moves[1] + moves[2]);
    assert!(worst_max_p < 1e-12, "max_p off by {worst_max_p:e}");
    assert!(worst < 1e-6, "probability off by {worst:e}");
}
