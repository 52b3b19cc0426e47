//! CoDel against the pseudocode of RFC 8289 section 5, written down as it stands there, in double
//! precision and on a plain queue.

use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;
use std::collections::VecDeque;

#[derive(Clone, Default)]
pub(super) struct Pseudocode {
    pub queue: VecDeque<(u64, f64, u32)>,
    pub bytes: u64,
    pub dropped: Vec<u64>,
    first_above_time: f64,
    drop_next: f64,
    count: u64,
    lastcount: u64,
    dropping: bool,
    target: f64,
    interval: f64,
    pub most_at_once: usize,
}

impl Pseudocode {
    pub(super) fn new(target: Time, interval: Time) -> Self {
        Self { target: target.0 as f64, interval: interval.0 as f64, ..Self::default() }
    }

    fn do_dequeue(&mut self, now: f64) -> (Option<u64>, bool) {
        let Some((id, at, bytes)) = self.queue.pop_front() else {
            self.first_above_time = 0.0;
            return (None, false);
        };
        self.bytes -= u64::from(bytes);
        let mut ok = false;
        if now - at < self.target || self.bytes <= 1500 {
            self.first_above_time = 0.0;
        } else if self.first_above_time == 0.0 {
            self.first_above_time = now + self.interval;
        } else if now >= self.first_above_time {
            ok = true;
        }
        (Some(id), ok)
    }

    fn control_law(&self, t: f64) -> f64 {
        t + self.interval / (self.count as f64).sqrt()
    }

    pub(super) fn dequeue(&mut self, now: f64) -> Option<u64> {
        let before = self.dropped.len();
        let (mut packet, mut ok) = self.do_dequeue(now);
        if self.dropping {
            if !ok {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(packet);
                self.count += 1;
                (packet, ok) = self.do_dequeue(now);
                if ok {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok {
            self.dropped.extend(packet);
            (packet, _) = self.do_dequeue(now);
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16.0 * self.interval {
                self.count = delta;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        self.most_at_once = self.most_at_once.max(self.dropped.len() - before);
        packet
    }
}

/// Bursts and pauses around the capacity of the link, for `rounds` departures: load now below
/// it, now above, so that dropping begins and ends many times. Gives entries into dropping.
fn compare(target: Time, interval: Time, seed: u64, rounds: u64) -> (usize, u64) {
    let mut random = Stream::new(seed, Kind::Test, 0, 0);
    let params = codel::Params { target, interval, limit: 100_000, ..Default::default() };
    let mut ours: Qdisc<Token> = queue(&Config::Codel(params), &env(12, 1500));
    let mut naive = Pseudocode::new(target, interval);
    let (mut bin, mut next, mut begins) = (Bin::default(), 0, 0);
    // Time starts at 1: the pseudocode takes zero for "not above".
    let (mut now, mut load) = (1u64, 1.0);
    for _ in 0..rounds {
        if random.below(interval.0 / 1_000_000 + 1) == 0 {
            load = 0.6 + 0.8 * random.uniform();
        }
        now += 900_000 + random.below(200_000);
        while random.uniform() < load / (1.0 + load) {
            let bytes = 40 + random.below(1461) as u32;
            let _ = ours.enqueue(Time(now), token(next, bytes, Ecn::NotEct), &mut bin);
            naive.queue.push_back((next, now as f64, bytes));
            naive.bytes += u64::from(bytes);
            next += 1;
        }
        let before = naive.dropping;
        let id = naive.dequeue(now as f64);
        begins += u64::from(!before && naive.dropping);
        assert_eq!(ours.dequeue(Time(now), &mut bin).map(|packet| packet.id), id, "at {now}");
        assert_eq!(bin.packets.len(), naive.dropped.len(), "at {now}");
    }
    assert!(naive.most_at_once < 64, "the bound would show");
    let ours: Vec<_> = bin.packets.iter().map(|(packet, _)| packet.id).collect();
    assert_eq!(ours, naive.dropped);
    (ours.len(), begins)
}

#[test]
fn codel_drops_the_same_packets_as_the_pseudocode() {
    let (mut drops, mut begins) = (0, 0);
    for seed in 0..20 {
        for (target, interval) in [(5, 100), (1, 10), (20, 50)] {
            let (target, interval) = (Time::from_millis(target), Time::from_millis(interval));
            let (d, b) = compare(target, interval, seed, 20_000);
            drops += d;
            begins += b;
        }
    }
    // The comparison is one of something.
    assert!(drops > 20_000 && begins > 2_000, "{drops} drops, {begins} beginnings");
}
