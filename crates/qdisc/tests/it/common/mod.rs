//! A packet, a sink and a few shorthands for the tests.
#![allow(dead_code)] // each test file uses its own part

pub(crate) mod outside;
pub(crate) mod traffic;

use sojourn_base::{Kind, Rate, Stream, Time};
use sojourn_qdisc::{
    Ack, Config, Discipline, DropReason, Ecn, EcnMarking, Env, Packet, Qdisc, Sink, Verdict,
    label_hash, red,
};
use std::cell::Cell;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token {
    pub id: u64,
    pub bytes: u32,
    pub ecn: Ecn,
    pub times_marked: u8,
    pub flow: u32,
}

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// How often packets have been looked at: a measure of work.
pub(crate) fn looks() -> u64 {
    LOOKS.with(Cell::get)
}

fn look() {
    LOOKS.with(|n| n.set(n.get() + 1));
}

impl Packet for Token {
    fn bytes(&self) -> u32 {
        look();
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        look();
        self.ecn
    }
    fn set_ce(&mut self) {
        assert!(
            matches!(self.ecn, Ecn::Ect0 | Ecn::Ect1),
            "marked a packet that is {:?}",
            self.ecn
        );
        self.ecn = Ecn::Ce;
        self.times_marked += 1;
    }
    fn flow_hash(&self) -> u32 {
        look();
        self.flow
    }
    fn label(&self) -> u32 {
        LABELS[self.flow as usize % 7]
    }
    fn dscp(&self) -> u8 {
        8 * (self.flow % 7) as u8
    }
    fn ack(&self) -> Option<Ack> {
        // Short packets acknowledge their own number; some echo a mark, some carry data.
        let Self { id, bytes, .. } = *self;
        let echo = if id % 11 < 2 { 0x40 } else { 0 };
        let number = id as u32;
        (bytes < 80).then_some(Ack { number, echo, bare: bytes < 70, ..Ack::default() })
    }
    fn source(&self) -> u32 {
        self.flow % 3
    }
    fn destination(&self) -> u32 {
        self.flow % 2
    }
}

/// Flow 3 carries the label "flow3" and the codepoint cs3.
const LABELS: [u32; 7] = [
    label_hash("flow0"),
    label_hash("flow1"),
    label_hash("flow2"),
    label_hash("flow3"),
    label_hash("flow4"),
    label_hash("flow5"),
    label_hash("flow6"),
];

/// A packet of one of seven flows.
pub(crate) fn token(id: u64, bytes: u32, ecn: Ecn) -> Token {
    Token { id, bytes, ecn, times_marked: 0, flow: (id % 7) as u32 }
}

#[derive(Default)]
pub(crate) struct Bin {
    pub packets: Vec<(Token, DropReason)>,
}

impl Sink<Token> for Bin {
    fn dropped(&mut self, _: Time, packet: Token, reason: DropReason) {
        self.packets.push((packet, reason));
    }
}

pub(crate) fn env(mbit: u64, mean_packet: u32) -> Env {
    Env { rate: Rate(mbit * 1_000_000), mean_packet }
}

/// RED's hits as marks, however long the queue.
pub(crate) fn marking() -> red::Hits {
    red::Hits { ecn: EcnMarking::On, ecn_drop_above_max: false, ..Default::default() }
}

pub(crate) fn queue(config: &Config, env: &Env) -> Qdisc<Token> {
    Qdisc::new(config, env, Stream::new(1, Kind::Qdisc, 0, 0)).expect("valid parameters")
}

/// Offers `n` packets of 1500 bytes at `now`; how many were queued, marked, dropped early and
/// dropped by the limit.
pub(crate) fn offer(q: &mut Qdisc<Token>, now: Time, n: u32, ecn: Ecn) -> [u32; 4] {
    let mut counts = [0; 4];
    for id in 0..u64::from(n) {
        let at = match q.enqueue(now, token(id, 1500, ecn), &mut ()) {
            Verdict::Queued => 0,
            Verdict::Marked => 1,
            Verdict::Dropped(DropReason::Early) => 2,
            Verdict::Dropped(DropReason::Overflow) => 3,
        };
        counts[at] += 1;
    }
    counts
}

/// Takes packets out until `left` stand.
pub(crate) fn drain(q: &mut Qdisc<Token>, now: Time, left: u32) {
    while q.packets() > left {
        q.dequeue(now, &mut ());
    }
}
