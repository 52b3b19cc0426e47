//! AVQ against its pseudocode (the paper's figure 1) in double precision: the same packets are hit.

use super::{Traffic, coin};
use crate::common::{Token, env, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::*;

#[test]
fn avq_follows_its_formula_for_a_million_arrivals() {
    let params =
        avq::Params { virtual_buffer: 20, alpha: 2.0, ecn: EcnMarking::On, ..Default::default() };
    let mut q = avq::Discipline::<Token>::new(&params, &env(10, 1000), coin()).unwrap();
    let capacity = 1e7 / 8.0;
    let (mut adapted, mut virtual_queue, mut last) = (capacity, 0.0f64, 0.0);
    let (mut worst, mut worst_queue, mut marks) = (0.0f64, 0.0f64, 0u64);
    let mut traffic = Traffic::new();
    for k in 1..=120_000u64 {
        // From a third of the link's rate to somewhat more than it, by stretches.
        let ops = [5, 15, 20][(k / 2000) as usize % 3];
        let until = Time(traffic.now.0 + 10_000_000);
        let seen = |now: Time, bytes: u32, _: Standing, q: &avq::Discipline<Token>| {
            let (t, b) = (now.as_secs_f64() - last, f64::from(bytes));
            last = now.as_secs_f64();
            virtual_queue = f64::max(virtual_queue - adapted * t, 0.0);
            let room = 20_000.0 - virtual_queue - b;
            // At the very edge the two may differ: follow the integers there.
            let hit = if room.abs() < 1e-3 {
                q.law().virtual_queue() < virtual_queue + b / 2.0
            } else {
                room < 0.0
            };
            marks += u64::from(hit);
            virtual_queue += if hit { 0.0 } else { b };
            adapted = f64::max((adapted + 2.0 * 0.98 * capacity * t).min(capacity) - 2.0 * b, 0.0);
            worst = worst.max((q.law().virtual_capacity() / 8.0 - adapted).abs() / capacity);
            worst_queue = worst_queue.max((q.law().virtual_queue() - virtual_queue).abs());
        };
        traffic.go(&mut q, until, ops, 230, seen, |_, _| ());
        // Room for the next: only arrivals matter here.
        while q.packets() > 0 {
            let _ = q.dequeue(traffic.now, &mut ());
        }
    }
    assert!(marks > 10_000, "{marks} hits");
    assert_eq!(q.counters().marked.packets, marks);
    assert!(worst < 1e-9, "capacity off by {worst:e} of the link's rate");
    assert!(worst_queue < 1e-2, "virtual queue off by {worst_queue:e} bytes");
}

#[test]
fn avq_lets_pass_what_gamma_asks_for() {
    // As long as C̃ need not exceed C for it: near 1 bursts alone fill the virtual buffer.
    for gamma in [0.7, 0.85] {
        let params = avq::Params { gamma, virtual_buffer: 20, ..Default::default() };
        let mut q = avq::Discipline::<Token>::new(&params, &env(10, 1000), coin()).unwrap();
        let mut random = sojourn_base::Stream::new(5, sojourn_base::Kind::Test, 0, 0);
        let mut now = Time::ZERO;
        // Poisson arrivals that answer at once: 2 % of the link more each second, 0.2 % less a hit.
        let (mut rate, mut bytes) = (0.5f64, 0.0);
        while now < Time::from_secs(4000) {
            let gap = -libm::log(random.uniform()) * 800_000.0 / rate;
            now += Time(gap as u64);
            rate += gap * 2e-11;
            let packet = crate::common::token(0, 1000, Ecn::NotEct);
            if let Verdict::Dropped(_) = q.enqueue(now, packet, &mut ()) {
                rate -= 0.002 * rate;
            }
            let _ = q.dequeue(now, &mut ());
            if now > Time::from_secs(2000) {
                bytes += 1000.0;
            }
        }
        let load = bytes * 8.0 / 2000.0 / 1e7;
        assert!((load - gamma).abs() < 0.02, "{load} instead of {gamma}");
    }
}

/// What is told as the probability is whether a mean packet that comes at once would be hit.
#[test]
fn avq_tells_whether_the_next_packet_would_be_hit() {
    let params = avq::Params { virtual_buffer: 20, ..Default::default() };
    let mut q = queue(&Config::Avq(params), &env(12, 1500));
    let (mut hits, mut id) = ([0, 0], 0);
    for ms in 0..2000 {
        for at in 0..3 {
            let told = q.probability();
            let verdict = q.enqueue(Time::from_millis(ms), token(id, 1500, Ecn::Ect0), &mut ());
            id += 1;
            // Before the first of this instant the virtual queue was served.
            if at > 0 {
                let hit = verdict != Verdict::Queued;
                assert_eq!(told, f64::from(u8::from(hit)), "{ms}");
                hits[usize::from(hit)] += 1;
            }
            q.dequeue(Time::from_millis(ms), &mut ());
        }
    }
    assert!(hits.iter().all(|&count| count > 10), "{hits:?}");
}
