//! Whose turn it is at a node that sends to several others over one medium.
//!
//! Source: Høiland-Jørgensen, Kazior, Täht, Hurtig, Brunstrom: Ending the Anomaly: Achieving Low
//! Latency and Airtime Fairness in WiFi (USENIX ATC 2017), Algorithm 3, with the quantum of ath9k:
//! deficit round robin over airtime. A station that becomes busy comes before those that are; one
//! whose airtime is used up gets a quantum and waits behind the others.
//!
//! # Differences from the source
//!
//! 1. What a station sends to the access point is not charged to it.
//! 2. A station's deficit stays as it is while it has nothing to send.

use sojourn_base::Time;
use sojourn_scenario::Turns as Kind;
use std::collections::VecDeque;

/// The links of a node in the order of their turns.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    kind: Kind,
    quantum: i64,
    /// What each link may still use, ns.
    deficits: Vec<i64>,
    listed: Vec<bool>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

impl Turns {
    pub(super) fn new(kind: Kind, quantum: Time, links: usize) -> Self {
        Self {
            kind,
            quantum: quantum.0 as i64,
            deficits: vec![quantum.0 as i64; links],
            listed: vec![false; links],
            new: VecDeque::with_capacity(links),
            old: VecDeque::with_capacity(links),
        }
    }

    /// A link has something to send.
    pub(super) fn busy(&mut self, link: usize) {
        if !std::mem::replace(&mut self.listed[link], true) {
            self.new.push_back(link);
        }
    }

    /// Whose turn it is.
    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let link = *list.front()?;
            if self.kind == Kind::RoundRobin || self.deficits[link] > 0 {
                return Some(link);
            }
            self.deficits[link] += self.quantum;
            list.pop_front();
            self.old.push_back(link);
        }
    }

    /// The link whose turn it is has nothing to send.
    pub(super) fn empty(&mut self) {
        if let Some(link) = self.new.pop_front() {
            // It comes round once more, lest it be new again at once.
            self.old.push_back(link);
        } else if let Some(link) = self.old.pop_front() {
            self.listed[link] = false;
        }
    }

    /// The link whose turn it is has made an aggregate.
    pub(super) fn made(&mut self) {
        if self.kind == Kind::RoundRobin {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            if let Some(link) = list.pop_front() {
                self.old.push_back(link);
            }
        }
    }

    /// A link has used so much airtime.
    pub(super) fn charge(&mut self, link: usize, airtime: Time) {
        self.deficits[link] -= airtime.0 as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Airtime and aggregates of links that always have something, whose aggregates take so long.
    fn shares(kind: Kind, takes: &[u64]) -> Vec<(u64, u64)> {
        let mut turns = Turns::new(kind, Time::from_micros(300), takes.len());
        (0..takes.len()).for_each(|link| turns.busy(link));
        let mut used = vec![(0, 0); takes.len()];
        for _ in 0..100_000 {
            let link = turns.next().unwrap();
            turns.made();
            turns.charge(link, Time::from_micros(takes[link]));
            used[link] = (used[link].0 + takes[link], used[link].1 + 1);
        }
        used
    }

    #[test]
    fn airtime_is_shared_alike_whatever_aggregates_take() {
        let used = shares(Kind::Airtime, &[250, 4000, 1000]);
        let mean = used.iter().map(|(time, _)| time).sum::<u64>() as f64 / 3.0;
        for (time, _) in used {
            assert!((time as f64 / mean - 1.0).abs() < 0.001, "{time} of {mean}");
        }
    }

    #[test]
    fn round_robin_gives_everyone_as_many_aggregates() {
        let used = shares(Kind::RoundRobin, &[250, 4000, 1000]);
        assert!(used.iter().all(|&(_, count)| (33_333..=33_334).contains(&count)), "{used:?}");
    }

    #[test]
    fn who_becomes_busy_comes_before_those_that_are() {
        let mut turns = Turns::new(Kind::Airtime, Time::from_micros(300), 3);
        turns.busy(0);
        turns.busy(1);
        turns.charge(0, Time::from_millis(4));
        turns.charge(1, Time::from_millis(4));
        turns.next();
        turns.busy(2);
        assert_eq!(turns.next(), Some(2));
        // Empty twice: once as new, once as old.
        turns.empty();
        assert_ne!(turns.next(), Some(2));
    }
}
