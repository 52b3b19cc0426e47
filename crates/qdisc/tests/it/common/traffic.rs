//! Packets that come and go at random, for laws that look at delays.
#![allow(dead_code)] // each test file uses its own part

use crate::common::{Bin, Token, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::{Discipline, Ecn, Verdict};
use std::collections::HashMap;

/// Sizes of packets, one in four each.
pub(crate) const SIZES: [u32; 4] = [40, 576, 1500, 1500];

/// What has come and is still there, and what is drawn next.
pub(crate) struct Traffic {
    pub random: Stream,
    pub now: Time,
    id: u64,
    came: HashMap<u64, Time>,
    /// Which ECN field the next packet has.
    pub ecn: fn(&mut Stream) -> Ecn,
}

impl Traffic {
    pub(crate) fn new() -> Self {
        Self {
            random: Stream::new(3, Kind::Test, 0, 0),
            now: Time::ZERO,
            id: 0,
            came: HashMap::new(),
            ecn: |_| Ecn::Ect0,
        }
    }

    /// Until `until`: `ops` operations at random instants, enqueues with the given odds in 256.
    /// `left` is told of each packet that leaves: the present, the packet and when it came.
    pub(crate) fn go<D: Discipline<Token>>(
        &mut self,
        q: &mut D,
        until: Time,
        ops: u64,
        odds: u64,
        mut left: impl FnMut(Time, Token, Time, &D),
    ) {
        let mut bin = Bin::default();
        let gap = (until.0 - self.now.0) / (ops + 1);
        for _ in 0..ops {
            self.now += Time(1 + self.random.below(gap - 1));
            if self.random.below(256) < odds {
                let bytes = SIZES[self.random.below(4) as usize];
                let ecn = (self.ecn)(&mut self.random);
                let verdict = q.enqueue(self.now, token(self.id, bytes, ecn), &mut bin);
                if !matches!(verdict, Verdict::Dropped(_)) {
                    self.came.insert(self.id, self.now);
                }
                self.id += 1;
            } else if let Some(p) = q.dequeue(self.now, &mut bin) {
                let came = self.came.remove(&p.id).expect("it came");
                left(self.now, p, came, q);
            }
            bin.packets.drain(..).for_each(|(packet, _)| {
                self.came.remove(&packet.id);
            });
        }
    }

    /// When the packet that has stood longest came.
    pub(crate) fn oldest(&self) -> Option<Time> {
        self.came.values().min().copied()
    }
}

/// Odds that hold the queue near `around`.
pub(crate) fn odds(queue: u32, around: u32) -> u64 {
    if queue < around { 160 } else { 96 }
}
