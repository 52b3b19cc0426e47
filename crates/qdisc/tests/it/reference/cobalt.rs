//! COBALT against a plain telling of it in double precision, BLUE's coin included.

use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;
use std::collections::VecDeque;

struct Naive {
    queue: VecDeque<(u64, f64)>,
    limit: usize,
    target: f64,
    interval: f64,
    /// Until `count` has changed: CAKE keeps no root yet, and waits for nothing.
    rootless: bool,
    threshold: f64,
    coin: Stream,
    dropped: Vec<u64>,
    count: f64,
    drop_next: f64,
    dropping: bool,
    blue: f64,
    changed: f64,
    empty_since: f64,
    blue_drops: u32,
    decays: u32,
}

impl Naive {
    fn new(params: &cobalt::Params) -> Self {
        Self {
            queue: VecDeque::new(),
            limit: params.limit as usize,
            target: params.target.0 as f64,
            interval: params.interval.0 as f64,
            rootless: !params.first_interval,
            threshold: params.blue_threshold.0 as f64,
            coin: Stream::new(1, Kind::Qdisc, 0, 0),
            dropped: vec![],
            count: 0.0,
            drop_next: 0.0,
            dropping: false,
            blue: 0.0,
            changed: 0.0,
            empty_since: 0.0,
            blue_drops: 0,
            decays: 0,
        }
    }

    fn gap(&self) -> f64 {
        self.interval / self.count.max(1.0).sqrt()
    }

    fn up(&mut self, now: f64) {
        if now - self.changed > self.target {
            self.blue = (self.blue + 1.0 / 256.0).min(1.0);
            self.changed = now;
        }
    }

    /// An empty queue is looked at once each target.
    fn idle(&mut self, now: f64) {
        while self.queue.is_empty() && self.blue > 0.0 && now - self.empty_since >= self.target {
            self.empty_since += self.target;
            self.blue = (self.blue - 1.0 / 4096.0).max(0.0);
            self.changed = self.empty_since;
        }
    }

    fn enqueue(&mut self, id: u64, now: f64) {
        self.idle(now);
        if self.queue.len() < self.limit {
            self.queue.push_back((id, now));
            return;
        }
        self.dropped.push(id);
        self.up(now);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1.0);
    }

    /// Whether BLUE or CoDel says to drop.
    fn should_drop(&mut self, at: f64, now: f64) -> bool {
        let sojourn = now - at;
        let was_due = self.count > 0.0 && now >= self.drop_next;
        let mut overdue = now - self.drop_next;
        if sojourn > self.target {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = if self.rootless { now } else { now + self.gap() };
            }
            self.count = self.count.max(1.0);
        } else {
            self.dropping = false;
        }
        let mut drop = false;
        if was_due && self.dropping {
            drop = true;
            self.rootless = false;
            self.count += 1.0;
            self.drop_next += self.gap();
            overdue = now - self.drop_next;
        } else {
            let mut due = was_due;
            while due {
                self.decays += 1;
                self.rootless = false;
                self.count -= 1.0;
                self.drop_next += self.gap();
                overdue = now - self.drop_next;
                due = self.count > 0.0 && overdue >= 0.0;
            }
        }
        if sojourn > self.threshold {
            self.up(now);
        }
        if self.blue > 0.0 && self.blue < 1.0 {
            let u = (self.coin.next_u64() >> 4) as f64 / (1u64 << 60) as f64;
            self.blue_drops += u32::from(u < self.blue && !drop);
            drop |= u < self.blue;
        } else if self.blue >= 1.0 {
            drop = true;
        }
        if self.count == 0.0 {
            self.drop_next = now + self.interval;
        } else if overdue > 0.0 && !drop {
            self.drop_next = now;
        }
        drop
    }

    fn dequeue(&mut self, now: f64) -> Option<u64> {
        self.idle(now);
        let before = self.dropped.len();
        loop {
            let (id, at) = *self.queue.front()?;
            let drop = self.should_drop(at, now);
            self.queue.pop_front();
            // The bound on one call is the one thing taken over.
            if drop && !self.queue.is_empty() && self.dropped.len() < before + 64 {
                self.dropped.push(id);
                continue;
            }
            if self.queue.is_empty() {
                if self.blue > 0.0 && now - self.changed > self.target {
                    self.blue = (self.blue - 1.0 / 4096.0).max(0.0);
                    self.changed = now;
                }
                self.dropping = false;
                if self.count > 0.0 && now >= self.drop_next {
                    self.rootless = false;
                    self.count -= 1.0;
                    self.drop_next += self.gap();
                }
                self.empty_since = now;
            }
            return Some(id);
        }
    }
}

#[test]
fn cobalt_drops_same_packets_as_plain_implementation() {
    let (mut blue, mut drops, mut decays) = (0, 0, 0);
    for seed in 0..20u64 {
        let mut random = Stream::new(seed, Kind::Test, 2, 0);
        let limit = if seed % 2 == 0 { 60 } else { 100_000 };
        let first_interval = seed % 4 < 2;
        let params =
            cobalt::Params { ecn: EcnMarking::Off, limit, first_interval, ..Default::default() };
        let mut naive = Naive::new(&params);
        let mut ours: Qdisc<Token> = queue(&Config::Cobalt(params), &env(12, 1500));
        let (mut bin, mut next, mut now, mut load) = (Bin::default(), 0, 0u64, 1.0);
        for _ in 0..20_000 {
            if random.below(300) == 0 {
                load = 0.3 + 1.2 * random.uniform();
                now += random.below(4) * 300_000_000;
            }
            now += 900_000 + random.below(200_000);
            while random.uniform() < load / (1.0 + load) {
                let _ = ours.enqueue(Time(now), token(next, 1500, Ecn::NotEct), &mut bin);
                naive.enqueue(next, now as f64);
                next += 1;
            }
            let id = naive.dequeue(now as f64);
            assert_eq!(ours.dequeue(Time(now), &mut bin).map(|packet| packet.id), id, "{now}");
            assert_eq!(ours.probability(), naive.blue, "{now}");
        }
        let dropped: Vec<_> = bin.packets.iter().map(|(packet, _)| packet.id).collect();
        assert_eq!(dropped, naive.dropped);
        blue += naive.blue_drops;
        drops += naive.dropped.len();
        decays += naive.decays;
    }
    // The comparison is one of something.
    assert!(blue > 500 && drops > 5000 && decays > 100, "{blue} {drops} {decays}");
}

/// As in the second round trip of a flow: packets that follow each other well within an interval,
/// until they have to wait for too long.
#[test]
fn first_interval_delays_first_signal() {
    for (first_interval, at) in [(true, 150), (false, 60)] {
        let params = cobalt::Params { ecn: EcnMarking::Off, first_interval, ..Default::default() };
        let mut q: Qdisc<Token> = queue(&Config::Cobalt(params), &env(12, 1500));
        let (mut bin, mut drops) = (Bin::default(), vec![]);
        for ms in (0..300).step_by(10) {
            let now = Time::from_millis(ms);
            // What leaves at 50 ms is the first to have waited, for 10 ms; then it is 20 ms.
            let many = if ms == 40 { 3 } else { 1 };
            for id in 0..many {
                let _ = q.enqueue(now, token(id, 1500, Ecn::NotEct), &mut bin);
            }
            q.dequeue(now, &mut bin);
            if bin.packets.len() > drops.len() {
                drops.push(ms);
            }
        }
        assert_eq!(drops.first(), Some(&at), "{first_interval}");
    }
}
