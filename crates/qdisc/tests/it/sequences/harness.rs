//! The queue under test, a twin that is never looked at, a model of what must stand in it, and
//! what must be true after every call.

use super::case::Case;
use super::steps::Step;
use crate::common::{Bin, Token, looks, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;
use std::collections::{BTreeMap, VecDeque};

/// Packets that have been accepted and not yet given out or dropped.
#[derive(Default)]
struct Model {
    /// By number, as they stand in the queue.
    packets: BTreeMap<u64, Token>,
    /// The numbers of those whose order among each other must be kept.
    lines: BTreeMap<u64, VecDeque<u64>>,
    bytes: u64,
}

impl Model {
    fn insert(&mut self, line: u64, packet: Token) {
        self.bytes += u64::from(packet.bytes);
        self.lines.entry(line).or_default().push_back(packet.id);
        assert!(self.packets.insert(packet.id, packet).is_none());
    }

    /// Takes a packet out, wherever it stands in its line; whether it was the first.
    fn remove(&mut self, line: u64, id: u64) -> (Token, bool) {
        let packet = self.packets.remove(&id).unwrap_or_else(|| panic!("{id} does not stand here"));
        self.bytes -= u64::from(packet.bytes);
        let ids = self.lines.get_mut(&line).expect("a line it came in by");
        let at = ids.iter().position(|&n| n == id).expect("in its line");
        ids.remove(at);
        (packet, at == 0)
    }
}

struct Harness<'a> {
    case: &'a Case,
    limits: (u32, u64),
    queue: Qdisc<Token>,
    twin: Qdisc<Token>,
    model: Model,
    bin: Bin,
    twin_bin: Bin,
    arrived: Count,
    /// What the counters must be; `enqueued` and `evicted` only up to packets that were accepted
    /// and dropped within one call.
    expected: Counters,
    next: u64,
}

impl<'a> Harness<'a> {
    fn new(case: &'a Case, env: &Env) -> Self {
        let build =
            || Qdisc::new(&case.config, env, Stream::new(9, Kind::Qdisc, 0, 0)).expect("valid");
        Self {
            case,
            limits: case.limits.on(env),
            queue: build(),
            twin: build(),
            model: Model::default(),
            bin: Bin::default(),
            twin_bin: Bin::default(),
            arrived: Count::default(),
            expected: Counters::default(),
            next: 0,
        }
    }

    /// Looks at packets that the call just made may have taken; each drop costs a few more.
    fn work(&self, before: u64, drops: usize) {
        let looked = looks() - before;
        let swept = if self.case.sweeps { 4 * self.model.packets.len() as u64 } else { 0 };
        let most = 24 + 12 * drops as u64 + swept;
        assert!(looked <= most, "{looked} looks at packets in one call");
    }

    /// Books the drop of a packet that had been accepted.
    fn evicted(&mut self, packet: Token, reason: DropReason) {
        assert!(!self.case.config.decides_at_enqueue(), "dropped after it was accepted");
        let line = (self.case.line)(&packet);
        let (stood, _) = self.model.remove(line, packet.id);
        assert_eq!(packet, stood, "changed before it was dropped");
        self.expected.evicted.add(packet.bytes);
        self.dropped(packet, reason);
    }

    fn dropped(&mut self, packet: Token, reason: DropReason) {
        match reason {
            DropReason::Overflow => self.expected.overflow.add(packet.bytes),
            DropReason::Early => {
                // What could be marked, or is marked already, must not be dropped.
                let spared = self.case.ecn.applies(packet.ecn) && !self.case.drops_capable;
                assert!(!spared, "dropped {packet:?}");
                self.expected.early.add(packet.bytes);
            }
        }
    }

    fn enqueue(&mut self, now: Time, bytes: u32, ecn: Ecn, flow: u32) {
        let packet = Token { flow, ..token(self.next, bytes, ecn) };
        self.next += 1;
        self.arrived.add(bytes);
        let (from, looked) = (self.bin.packets.len(), looks());
        let full = self.queue.packets() >= self.limits.0
            || self.queue.bytes() + u64::from(bytes) > self.limits.1;
        let verdict = self.queue.enqueue(now, packet, &mut self.bin);
        self.work(looked, self.bin.packets.len() - from);
        assert_eq!(verdict, self.twin.enqueue(now, packet, &mut self.twin_bin));

        let drops = self.bin.packets[from..].to_vec();
        assert!(drops.len() <= self.case.most_drops.0 as usize, "{} drops", drops.len());
        let mut refused = None;
        for (gone, reason) in drops {
            assert!(full || self.case.inner_limits || reason == DropReason::Early, "not full");
            if gone.id == packet.id {
                assert_eq!((gone, refused), (packet, None));
                self.dropped(gone, reason);
                refused = Some(reason);
            } else {
                self.evicted(gone, reason);
            }
        }
        let stands = match verdict {
            Verdict::Dropped(reason) => {
                assert_eq!(refused, Some(reason));
                return;
            }
            Verdict::Queued => packet,
            Verdict::Marked => {
                assert!(self.case.ecn.applies(ecn) && ecn != Ecn::Ce);
                self.expected.marked.add(bytes);
                Token { ecn: Ecn::Ce, times_marked: 1, ..packet }
            }
        };
        assert_eq!(refused, None, "dropped, and said to be {verdict:?}");
        self.expected.enqueued.add(bytes);
        self.model.insert((self.case.line)(&packet), stands);
    }

    /// Whether there was a packet, sent or dropped.
    fn dequeue(&mut self, now: Time) -> bool {
        let ready = self.queue.next_ready(now);
        let (from, looked) = (self.bin.packets.len(), looks());
        let head = self.queue.peek().copied();
        let got = self.queue.dequeue(now, &mut self.bin);
        self.work(looked, self.bin.packets.len() - from);
        assert_eq!(got, self.twin.dequeue(now, &mut self.twin_bin));
        let drops = self.bin.packets[from..].to_vec();
        // Only what may drop without bound may drop all there is.
        let emptied = self.case.most_drops.1 == u32::MAX && !drops.is_empty() && got.is_none();
        assert!(!emptied || self.queue.packets() == 0);
        assert_eq!(got.is_some() || emptied, ready == Some(now), "ready {ready:?}");
        assert!(drops.len() <= self.case.most_drops.1 as usize, "{} drops", drops.len());
        for (gone, reason) in drops {
            self.evicted(gone, reason);
        }
        let Some(packet) = got else { return emptied };
        let first = self.model.packets.keys().next().copied();
        let (stood, was_first) = self.model.remove((self.case.line)(&packet), packet.id);
        assert!(was_first, "overtook a packet of its own flow");
        if packet != stood {
            // The one change there can be: a mark.
            assert!(!self.case.config.decides_at_enqueue());
            assert!(self.case.ecn.applies(stood.ecn) && stood.ecn != Ecn::Ce);
            assert_eq!(packet, Token { ecn: Ecn::Ce, times_marked: 1, ..stood });
            self.expected.marked.add(packet.bytes);
        }
        if self.case.config.decides_at_enqueue() {
            assert_eq!(first, Some(packet.id), "overtook another");
            assert_eq!(head, Some(packet));
        }
        if let Some(head) = head {
            assert_eq!(head.id, packet.id, "peek was wrong");
        }
        self.expected.dequeued.add(packet.bytes);
        true
    }

    /// Takes everything out, each packet as soon as it is ready; when the last one left.
    fn drain(&mut self, mut now: Time) -> Time {
        while let Some(ready) = self.queue.next_ready(now) {
            assert!(ready >= now);
            now = ready;
            assert!(self.dequeue(now), "nothing came when it was ready");
        }
        assert!(self.model.packets.is_empty());
        now
    }

    fn check(&self, now: Time) {
        let q = &self.queue;
        let stands = (self.model.packets.len(), self.model.bytes);
        assert_eq!((q.packets() as usize, q.bytes()), stands);
        assert!(q.packets() <= self.limits.0 && q.bytes() <= self.limits.1, "above the limit");
        match q.next_ready(now) {
            None => assert_eq!(stands.0, 0),
            Some(at) => {
                assert!(stands.0 > 0 && at >= now);
                assert!(at == now || self.case.holds_back);
            }
        }
        if self.case.config.decides_at_enqueue() {
            assert_eq!(q.peek(), self.model.packets.values().next());
        }
        let mut told = Vec::new();
        q.each(&mut |packet| told.push(*packet));
        if !self.case.config.decides_at_enqueue() {
            told.sort_by_key(|packet| packet.id);
        }
        assert!(told.iter().eq(self.model.packets.values()), "{told:?}");
        let c = q.counters();
        // Packets accepted and dropped again in one call may count as accepted and evicted.
        let both = c.evicted.minus(self.expected.evicted);
        assert!(both == Count::default() || !self.case.config.decides_at_enqueue());
        let expected = Counters {
            enqueued: self.expected.enqueued.plus(both),
            evicted: self.expected.evicted.plus(both),
            ..self.expected
        };
        assert_eq!(*c, expected);
        assert_eq!(c.arrived(), self.arrived);
        assert_eq!(c.standing(), Count { packets: stands.0 as u64, bytes: stands.1 });
        let mut classes = Vec::new();
        q.classes(&mut |counters| classes.push(counters.standing()));
        assert_eq!(classes.len(), self.case.config.classes().len());
        if !classes.is_empty() {
            let sum = classes.into_iter().fold(Count::default(), Count::plus);
            assert_eq!(sum, c.standing(), "each packet stands in one class");
        }
        let p = q.probability();
        assert!((0.0..=1.0).contains(&p), "{p}");
    }
}

/// Runs `steps` on the discipline of `case`.
pub(super) fn run(case: &Case, env: &Env, steps: &[(Time, Step)]) {
    let mut h = Harness::new(case, env);
    let mut now = Time::ZERO;
    for (gap, step) in steps {
        now += *gap;
        match step {
            Step::Enqueue(bytes, ecn, flow) => h.enqueue(now, *bytes, Ecn::from_bits(*ecn), *flow),
            Step::Dequeue => {
                h.dequeue(now);
            }
            Step::Advance => h.queue.advance(now),
            Step::Burst(n, flows) => {
                let flow = |i| u32::from(i % flows);
                (0..*n).for_each(|i| h.enqueue(now, 1500, Ecn::from_bits(i), flow(i)));
            }
            Step::Drain => now = h.drain(now),
        }
        h.check(now);
    }
    assert_eq!(h.bin.packets, h.twin_bin.packets);
    // Each packet went one way, once: what stands now comes out.
    h.drain(now);
    let gone = h.expected.dequeued.plus(h.expected.dropped());
    assert_eq!(gone, h.arrived);
}
