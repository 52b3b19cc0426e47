//! FQ-CoDel against a plain reading of RFC 8290 section 4: lists of queues, each with the
//! pseudocode of CoDel.

use super::codel::Pseudocode;
use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;
use std::collections::VecDeque;

struct Naive {
    flows: Vec<Pseudocode>,
    deficits: Vec<i64>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    quantum: i64,
}

impl Naive {
    fn enqueue(&mut self, at: usize, id: u64, now: u64, bytes: u32) {
        self.flows[at].queue.push_back((id, now as f64, bytes));
        self.flows[at].bytes += u64::from(bytes);
        if !self.new.contains(&at) && !self.old.contains(&at) {
            self.deficits[at] = self.quantum;
            self.new.push_back(at);
        }
    }

    /// Section 4.2.
    fn dequeue(&mut self, now: u64, sizes: &[u32]) -> Option<u64> {
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let at = list.pop_front()?;
            if self.deficits[at] <= 0 {
                self.deficits[at] += self.quantum;
                self.old.push_back(at);
                continue;
            }
            match self.flows[at].dequeue(now as f64) {
                Some(id) => {
                    self.deficits[at] -= i64::from(sizes[id as usize]);
                    let list = if from_new { &mut self.new } else { &mut self.old };
                    list.push_front(at);
                    return Some(id);
                }
                None if from_new && !self.old.is_empty() => self.old.push_back(at),
                None => {}
            }
        }
    }

    fn dropped(&self) -> usize {
        self.flows.iter().map(|flow| flow.dropped.len()).sum()
    }
}

fn compare(seed: u64, quantum: u32, rounds: u64) -> usize {
    let mut random = Stream::new(seed, Kind::Test, 1, 0);
    let flows = 16;
    let params = fq_codel::Params {
        flows,
        quantum: Some(quantum),
        whole_backlog: false,
        limit: 1_000_000,
        memory_limit: sojourn_base::Size(1 << 40),
        ..Default::default()
    };
    let mut ours: Qdisc<Token> = queue(&Config::FqCodel(params), &env(12, 1500));
    let law = Pseudocode::new(Time::from_millis(5), Time::from_millis(100));
    let n = flows as usize;
    let mut naive = Naive {
        flows: vec![law; n],
        deficits: vec![0; n],
        new: VecDeque::new(),
        old: VecDeque::new(),
        quantum: i64::from(quantum),
    };
    let (mut bin, mut sizes, mut now, mut load) = (Bin::default(), vec![], 1u64, 1.0);
    for _ in 0..rounds {
        if random.below(200) == 0 {
            load = 0.6 + 0.8 * random.uniform();
        }
        now += 900_000 + random.below(200_000);
        while random.uniform() < load / (1.0 + load) {
            let id = sizes.len() as u64;
            let bytes = 40 + random.below(1461) as u32;
            // Few of the forty flows send most.
            let flow = (random.uniform() * random.uniform() * random.uniform() * 40.0) as u32;
            let packet = Token { flow, ..token(id, bytes, Ecn::NotEct) };
            sizes.push(bytes);
            let at = match &mut ours {
                Qdisc::FqCodel(q) => q.queue(flow).0,
                _ => unreachable!(),
            };
            let _ = ours.enqueue(Time(now), packet, &mut bin);
            naive.enqueue(at, id, now, bytes);
        }
        let id = naive.dequeue(now, &sizes);
        assert_eq!(ours.dequeue(Time(now), &mut bin).map(|packet| packet.id), id, "at {now}");
        assert_eq!(bin.packets.len(), naive.dropped(), "at {now}");
    }
    assert!(naive.flows.iter().all(|flow| flow.most_at_once < 30), "the bound would show");
    naive.dropped()
}

#[test]
fn fq_codel_equals_plain_implementation_of_rfc() {
    let mut drops = 0;
    for seed in 0..10 {
        for quantum in [300, 1500, 9000] {
            drops += compare(seed, quantum, 10_000);
        }
    }
    assert!(drops > 1000, "{drops} drops");
}
