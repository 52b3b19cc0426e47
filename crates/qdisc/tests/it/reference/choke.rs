//! CHOKe packet by packet against its rules, with the same random numbers.

use super::coin;
use crate::common::{Bin, Token, env, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::managed::{Law, Signal};
use sojourn_qdisc::*;
use std::collections::VecDeque;

const MIN_TH: u32 = 12;

/// An average that is the queue, and marks above it.
fn params() -> choke::Params {
    let hits = red::Hits { ecn: EcnMarking::On, ..Default::default() };
    let (min_th, max_th) = (f64::from(MIN_TH), 60.0);
    choke::Params { min_th, max_th, max_p: 0.05, wq: Some(1.0), hits, limit: 70 }
}

/// A queue with holes.
struct Model {
    red: red::Red,
    coin: Stream,
    places: VecDeque<Option<Token>>,
    matched: u64,
}

impl Model {
    fn new() -> Self {
        let choke::Params { min_th, max_th, max_p, wq, hits, limit } = params();
        let gentle = false;
        let red =
            red::Params { min_th, max_th, max_p, wq, hits, limit, gentle, ..Default::default() };
        let red = red::Red::new(&red, &env(100, 1500)).expect("valid");
        Self { red, coin: coin(), places: VecDeque::new(), matched: 0 }
    }

    fn standing(&self) -> Standing {
        let all = || self.places.iter().flatten();
        Standing {
            packets: all().count() as u32,
            bytes: all().map(|packet| u64::from(packet.bytes)).sum(),
        }
    }

    /// Up to eight draws look for a packet, then it is the one at the head.
    fn draw(&mut self) -> usize {
        let len = self.places.len() as u64;
        let mut draws = (0..8).map(|_| self.coin.below(len) as usize);
        draws.find(|&at| self.places[at].is_some()).unwrap_or(0)
    }

    fn uncover(&mut self) {
        while self.places.front().is_some_and(Option::is_none) {
            self.places.pop_front();
        }
    }

    /// What becomes of a packet, and the one that goes with it.
    fn enqueue(&mut self, packet: Token) -> (Verdict, Option<Token>) {
        let early = Verdict::Dropped(DropReason::Early);
        let queue = self.standing();
        if queue.packets >= MIN_TH {
            let at = self.draw();
            let drawn = self.places[at].expect("one stands");
            if drawn.flow == packet.flow {
                self.matched += 1;
                self.places[at] = None;
                self.uncover();
                let holes = self.places.iter().filter(|place| place.is_none()).count();
                if holes > self.places.len() / 2 {
                    self.places.retain(Option::is_some);
                }
                return (early, Some(drawn));
            }
        }
        let signal = self.red.arrival(Time::ZERO, packet.bytes, queue, &mut self.coin);
        let capable = packet.ecn != Ecn::NotEct;
        match signal {
            Signal::Drop => return (early, None),
            Signal::Notify if !capable => return (early, None),
            _ => (),
        }
        self.places.push_back(Some(packet));
        let mark = signal == Signal::Notify && packet.ecn != Ecn::Ce;
        (if mark { Verdict::Marked } else { Verdict::Queued }, None)
    }

    fn dequeue(&mut self) -> Option<u64> {
        let packet = self.places.pop_front().flatten();
        self.uncover();
        packet.map(|packet| packet.id)
    }
}

#[test]
fn choke_draws_and_closes_holes_by_its_rules() {
    let mut q = choke::Discipline::<Token>::new(&params(), &env(100, 1500), coin()).unwrap();
    let mut model = Model::new();
    let mut draws = Stream::new(5, Kind::Test, 0, 0);
    let (mut marks, mut closed) = (0, 0);
    for id in 0..60_000 {
        // In turns few flows, which match often, and many.
        let flows = if id / 3000 % 2 == 0 { 3 } else { 40 };
        let ecn = Ecn::from_bits(draws.below(4) as u8);
        let packet = Token { flow: draws.below(flows) as u32, ..token(id, 1500, ecn) };
        let mut bin = Bin::default();
        let verdict = q.enqueue(Time::ZERO, packet, &mut bin);
        let places = model.places.len();
        let (wanted, other) = model.enqueue(packet);
        closed += u32::from(places > model.places.len() + 4);
        assert_eq!(verdict, wanted, "packet {id}");
        let gone: Vec<u64> = bin.packets.iter().map(|(packet, _)| packet.id).collect();
        let dropped = matches!(wanted, Verdict::Dropped(_)).then_some(id);
        let all: Vec<u64> = other.map(|other| other.id).into_iter().chain(dropped).collect();
        assert_eq!(gone, all);
        marks += u32::from(verdict == Verdict::Marked);
        if draws.below(100) < 30 {
            assert_eq!(
                q.peek().map(|packet| packet.id),
                model.places.front().map(|p| p.unwrap().id)
            );
            assert_eq!(q.dequeue(Time::ZERO, &mut ()).map(|packet| packet.id), model.dequeue());
        }
        let Standing { packets, bytes } = model.standing();
        assert_eq!((q.packets(), q.bytes()), (packets, bytes));
        let mut seen = 0;
        q.each(&mut |_| seen += 1);
        assert_eq!(seen, packets);
    }
    assert_eq!(q.matched(), model.matched);
    assert!(q.red().statistics().forced > 100, "it was above max_th");
    assert!(q.matched() > 5000 && marks > 300 && closed > 20, "{} {marks} {closed}", q.matched());
}

#[test]
fn choke_drops_at_its_limit_and_marks_what_it_counts() {
    // Marked for certain from one packet on, and full with four.
    let params = choke::Params { min_th: 0.5, max_th: 1.0, max_p: 1.0, limit: 4, ..params() };
    let hits = red::Hits { ecn_drop_above_max: false, ..params.hits };
    let mut q =
        choke::Discipline::<Token>::new(&choke::Params { hits, ..params }, &env(100, 1500), coin())
            .unwrap();
    let of = |id: u32| Token { flow: id, ..token(id.into(), 1500, Ecn::Ect0) };
    let verdicts = [0, 1, 2, 3, 4].map(|id| q.enqueue(Time::ZERO, of(id), &mut ()));
    let marked = Verdict::Marked;
    let full = Verdict::Dropped(DropReason::Overflow);
    assert_eq!(verdicts, [Verdict::Queued, marked, marked, marked, full]);
    let c = q.counters();
    assert_eq!((c.marked.packets, c.marked.bytes), (3, 4500));
    assert_eq!((c.overflow.packets, c.early.packets, c.enqueued.packets), (1, 0, 4));
    // One that is marked already stays, and is not counted again.
    q.dequeue(Time::ZERO, &mut ());
    let ce = Token { ecn: Ecn::Ce, ..of(5) };
    assert_eq!(q.enqueue(Time::ZERO, ce, &mut ()), Verdict::Queued);
    assert_eq!(q.counters().marked.packets, 3);
    assert!((q.probability() - 1.0).abs() < 1e-15);
}
