use super::*;
use crate::Discipline as _;
use sojourn_base::{Kind, Rate};

const ONE: u64 = 1 << Probability::BITS;
const ENV: Env = Env { rate: Rate(100_000_000), mean_packet: 1000 };

#[derive(Clone, Copy, Debug)]
struct Plain(Ecn);

impl Packet for Plain {
    fn bytes(&self) -> u32 {
        1000
    }
    fn ecn(&self) -> Ecn {
        self.0
    }
    fn set_ce(&mut self) {
        self.0 = Ecn::Ce;
    }
    fn flow_hash(&self) -> u32 {
        0
    }
}

fn build(params: &Params) -> Discipline<Plain> {
    Discipline::new(params, &ENV, Stream::new(1, Kind::Test, 0, 0)).expect("valid")
}

/// Queues in overload: p' is a half, k·p' is 1 and p'² a quarter.
fn overloaded(decision: Decision, drop_on_overload: bool) -> Discipline<Plain> {
    let mut q = build(&Params { decision, drop_on_overload, ..Params::default() });
    q.base = Probability::of(ONE / 2);
    q.coupled = Probability::ONE;
    q.squared = Probability::of(ONE / 4);
    q
}

fn near(hits: usize, of: usize, p: f64) -> bool {
    let deviation = libm::sqrt(of as f64 * p * (1.0 - p));
    (hits as f64 - of as f64 * p).abs() <= 5.0 * deviation
}

#[test]
fn in_overload_l_loses_packets_with_the_square_and_marks_all_others() {
    let mut q = overloaded(Decision::Random, true);
    let judged = (0..4000).map(|_| q.judge_low(0, 1));
    let dropped = judged.inspect(|(_, mark)| assert!(mark)).filter(|(drop, _)| *drop).count();
    assert!(near(dropped, 4000, 0.25), "{dropped}");
    // Spaced by what has added up: more than 1, so each fourth but for the first.
    let mut q = overloaded(Decision::Recur, true);
    let judged: alloc::vec::Vec<_> = (0..9).map(|_| q.judge_low(0, 1)).collect();
    let dropped = judged.iter().map(|(drop, _)| u8::from(*drop));
    assert_eq!(dropped.collect::<alloc::vec::Vec<_>>(), [0, 0, 0, 0, 1, 0, 0, 0, 1]);
    assert!(judged.iter().all(|(_, mark)| *mark));
    // Where nothing is to be dropped all are marked still.
    let mut q = overloaded(Decision::Random, false);
    assert!((0..100).all(|_| q.judge_low(0, 1) == (false, true)));
}

#[test]
fn c_is_hit_with_the_square_and_marks_what_may_be_but_in_overload() {
    for (drops, capable, dropped) in
        [(true, true, true), (false, true, false), (false, false, true), (true, false, true)]
    {
        let mut q = overloaded(Decision::Random, drops);
        let judged: alloc::vec::Vec<_> = (0..4000).map(|_| q.judge_classic(capable)).collect();
        let hits = judged.iter().filter(|(_, hit)| *hit).count();
        assert!(near(hits, 4000, 0.25), "{hits}");
        assert!(judged.iter().all(|(drop, hit)| *drop == (*hit && dropped)));
    }
    // Short of overload marks stay marks.
    let mut q = overloaded(Decision::Recur, true);
    q.coupled = Probability::of(ONE - 1);
    let hits = (0..9).filter(|_| q.judge_classic(true) == (false, true)).count();
    assert_eq!(hits, 2);
}

#[test]
fn l_marks_with_the_larger_of_its_own_probability_and_the_coupled_one() {
    let ms = |n| Time::from_millis(n);
    let ramp = Params { marking: Marking::Ramp, min_th: ms(1), max_th: ms(3), ..Params::default() };
    let rules = build(&ramp).rules;
    let standing = rules.min_packets + 1;
    let native = |sojourn| rules.native(sojourn, standing).as_f64();
    assert_eq!([0, 1_000_000].map(native), [0.0; 2]);
    assert!((native(2_000_000) - 0.5).abs() < 1e-9 && native(1_000_001) > 0.0);
    assert!((native(3_000_000) - 1.0).abs() < 1e-9);
    assert_eq!(native(9_000_000), 1.0);
    assert_eq!(rules.native(9_000_000, rules.min_packets), Probability::ZERO);
    let step = Params { marking: Marking::Step, step_th: ms(1), ..ramp };
    let rules = build(&step).rules;
    assert_eq!(rules.native(1_000_000, standing), Probability::ZERO);
    assert_eq!(rules.native(1_000_001, standing), Probability::ONE);
    let mut q = build(&Params { decision: Decision::Recur, ..step });
    q.coupled = Probability::of(ONE / 2);
    let marks = |q: &mut Discipline<Plain>, sojourn| {
        (0..8).filter(|_| q.judge_low(sojourn, standing) == (false, true)).count()
    };
    // Every second one but for the first two, and all.
    assert_eq!((marks(&mut q, 0), marks(&mut q, 2_000_000)), (3, 8));
}

#[test]
fn probabilities_add_up_to_a_hit_beyond_one() {
    let mut lane = Lane::<Plain>::new();
    let third = Probability::of(ONE / 3 + 1);
    let hits = [(); 7].map(|()| lane.recurs(third));
    assert_eq!(hits, [false, false, true, false, false, true, false]);
    let mut lane = Lane::<Plain>::new();
    let half = Probability::of(ONE / 2);
    // Exactly one is none yet.
    assert_eq!([(); 4].map(|()| lane.recurs(half)), [false, false, true, false]);
}

#[test]
fn l_is_served_by_credit_or_by_a_time_shift() {
    let at = |ecn, ms| Stamped { packet: Plain(ecn), at: Time::from_millis(ms) };
    let now = Time::from_millis(100);
    let mut q = build(&Params { scheduler: Scheduler::Wrr, ..Params::default() });
    assert!(!q.serves_low(now));
    q.low.ring.push(at(Ecn::Ect1, 90));
    q.credit = 5;
    assert!(q.serves_low(now), "C is empty");
    q.classic.ring.push(at(Ecn::Ect0, 10));
    assert!(!q.serves_low(now));
    q.credit = 0;
    assert!(q.serves_low(now));
    for (shift, low) in [(80, true), (79, false)] {
        let time_shift = Some(Time::from_millis(shift));
        let scheduler = Scheduler::TimeShifted;
        let mut q = build(&Params { scheduler, time_shift, ..Params::default() });
        q.low.ring.push(at(Ecn::Ect1, 90));
        q.classic.ring.push(at(Ecn::Ect0, 10));
        // L has waited 10 ms and C 90.
        assert_eq!(q.serves_low(now), low, "{shift}");
        q.low.ring.pop();
        assert!(!q.serves_low(now), "L is empty");
    }
}

#[test]
fn service_while_the_other_waits_is_a_debt_to_it() {
    let params = Params { scheduler: Scheduler::Wrr, classic_weight: 0.25, ..Params::default() };
    let mut q = build(&params);
    let (classic, low) = (1 << 14, 3 << 14);
    assert_eq!(q.rules.weights, (classic, low));
    assert_eq!(q.credit, 1000 * (classic - low));
    for ecn in [Ecn::Ect1, Ecn::Ect1, Ecn::Ect0] {
        let _ = q.enqueue(Time::ZERO, Plain(ecn), &mut ());
    }
    q.credit = 0;
    let mut serve = |class: usize, credit: i64| {
        let packet = q.dequeue(Time::ZERO, &mut ()).expect("one stands");
        assert_eq!((q.class_of(&packet), q.credit), (class, credit));
    };
    serve(0, 1000 * classic);
    serve(1, 1000 * classic - 1000 * low);
    // The last leaves nobody behind: as at the start.
    serve(0, 1000 * (classic - low));
}
