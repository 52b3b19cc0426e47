//! The equations at one moment, term by term.

use super::super::*;
use crate::integrate::{Settings, Solver, System};
use crate::queues::{Droptail, Pi, Proportional, Rate, Red};
use crate::windows::{Aimd, Reno, Scalable};
use crate::{Price, QueueLaw};

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-11 * want.abs().max(1.0), "{got} {want}");
}

/// 2 % at a queue of 60, 5 % at one of 90.
fn proportional() -> Proportional {
    Proportional { slope: 1e-3, offset: 40.0 }
}

/// Two queues of 1000 and 2000 packets a second, and six classes: over the first, over both, over
/// the second with acknowledgements through the first, and like ones that make more than four.
fn six(thins: bool, buffer: f64) -> Parameters {
    let queue = |capacity, buffer| Queue { thins, buffer, ..Queue::new(capacity, proportional()) };
    let class = |number: usize, path: Vec<usize>, back: Vec<usize>| Class {
        back,
        ..Class::reno(1.0 + number as f64, 0.1 * (1 + number) as f64, path)
    };
    let paths: [(Vec<usize>, Vec<usize>); 6] = [
        (vec![0], vec![]),
        (vec![0, 1], vec![]),
        (vec![1], vec![0]),
        (vec![0], vec![1]),
        (vec![0, 1], vec![]),
        (vec![1], vec![]),
    ];
    let classes = paths.into_iter().enumerate().map(|(n, (path, back))| class(n, path, back));
    Parameters {
        classes: classes.collect(),
        queues: vec![queue(1000.0, 300.0), queue(2000.0, buffer)],
    }
}

/// Windows 10, 11, ..., and queues of 60 and 90.
fn state() -> Vec<f64> {
    let mut state: Vec<f64> = (0..6).map(|class| 10.0 + f64::from(class)).collect();
    state.extend([60.0, 90.0, 0.0, 0.0]);
    state
}

/// What each class of [`six`] waits and sends in [`state`], and what is brought to both queues.
fn flows(thins: bool) -> ([f64; 6], [f64; 6], [f64; 2]) {
    let waits = [0.06, 0.06 + 0.045, 0.06 + 0.045, 0.06 + 0.045, 0.06 + 0.045, 0.045];
    let round_trips: [f64; 6] = std::array::from_fn(|i| 0.1 * (1 + i) as f64 + waits[i]);
    let rates: [f64; 6] = std::array::from_fn(|i| (10 + i) as f64 / round_trips[i]);
    let all: [f64; 6] = std::array::from_fn(|i| (1 + i) as f64 * rates[i]);
    let passed = if thins { 0.98 } else { 1.0 };
    let first = all[0] + all[1] + all[3] + all[4];
    let second = all[2] + all[5] + passed * (all[1] + all[4]);
    (round_trips, rates, [first, second])
}

#[test]
fn signals_are_what_flows_lose_and_what_comes_to_the_queues() {
    for thins in [false, true] {
        let parameters = six(thins, 300.0);
        let layout = parameters.layout();
        let model = Mgt::new(parameters, &state());
        let mut signals = vec![f64::NAN; layout.signals()];
        model.signal(0.0, &state(), true, &mut signals);
        let at = |place: usize| signals[place - layout.states()];
        let (round_trips, rates, inflows) = flows(thins);
        for queue in 0..2 {
            near(at(layout.loss(queue)), [0.02, 0.05][queue]);
            near(at(layout.inflow(queue)), inflows[queue]);
            assert_eq!(at(layout.overflow(queue)), 0.0);
        }
        let both = 1.0 - 0.98 * 0.95;
        for (class, lost) in [0.02, both, 0.05, 0.02, both, 0.05].into_iter().enumerate() {
            near(model.round_trip_in(class, &state()), round_trips[class]);
            near(at(layout.hits(class)), rates[class] * lost);
        }
        // What flows lose is looked up; arrivals only if somebody reads them.
        let mut kept = vec![f64::NAN; layout.signals()];
        model.signal(0.0, &state(), false, &mut kept);
        assert_eq!(kept[..model.kept()], signals[..model.kept()]);
        assert!(kept[layout.inflow(0) - layout.states()].is_nan());
    }
}

#[test]
fn a_full_buffer_adds_to_what_is_lost() {
    for thins in [false, true] {
        let parameters = six(thins, 90.0);
        let layout = parameters.layout();
        let model = Mgt::new(parameters, &state());
        let (_, rates, [_, inflow]) = flows(thins);
        // With windows fifty times as large as much more comes as 2000 packets a second.
        let mut full = state();
        full[..6].iter_mut().for_each(|window| *window *= 50.0);
        let entering = 50.0 * inflow * if thins { 0.95 } else { 1.0 };
        let overflow = 1.0 - 2000.0 / entering;
        let mut signals = vec![f64::NAN; layout.signals()];
        model.signal(0.0, &full, false, &mut signals);
        let at = |place: usize| signals[place - layout.states()];
        near(at(layout.overflow(1)), overflow);
        near(at(layout.loss(1)), 1.0 - 0.95 * (1.0 - overflow));
        near(at(layout.hits(2)), 50.0 * rates[2] * (1.0 - 0.95 * (1.0 - overflow)));
        near(at(layout.hits(1)), 50.0 * rates[1] * (1.0 - 0.98 * 0.95 * (1.0 - overflow)));
        near(at(layout.inflow(1)), 50.0 * inflow);
    }
}

/// How fast all states change at the start, `past` being that of all states and signals.
fn slopes(parameters: &Parameters, state: &[f64], past: &[f64]) -> Vec<f64> {
    let model = Mgt::new(parameters.clone(), state);
    let mut solver = Solver::new(model, 0.0, past, state.to_vec(), Settings::default());
    solver.advance(1e-4).unwrap();
    let (start, length, rows) = solver.last_step().unwrap();
    assert_eq!(start, 0.0);
    rows[..state.len()].iter().map(|row| row[1] / length).collect()
}

/// The past of a state in which each flow of a class has lost so many packets a second.
fn losing(parameters: &Parameters, state: &[f64], hits: impl Fn(usize) -> f64) -> Vec<f64> {
    let layout = parameters.layout();
    let mut past = state.to_vec();
    past.resize(layout.states() + layout.signals(), 0.0);
    (0..layout.classes).for_each(|class| past[layout.hits(class)] = hits(class));
    past
}

#[test]
fn windows_grow_by_a_packet_a_round_trip_and_lose_half_with_each_hit() {
    for thins in [false, true] {
        let mut parameters = six(thins, 300.0);
        parameters.classes[4].spread = 1.2;
        parameters.classes[2].flows[0].1 = 0.0;
        parameters.classes[2].flows.push((9.0, 3.0));
        let past = losing(&parameters, &state(), |class| 0.1 * (1 + class) as f64);
        let found = slopes(&parameters, &state(), &past);
        let (round_trips, rates, [first, second]) = flows(thins);
        for class in [0, 1, 3, 4, 5] {
            let window = (10 + class) as f64;
            let spread = if class == 4 { 1.2 } else { 1.0 };
            let hits = 0.1 * (1 + class) as f64;
            near(found[class], 1.0 / round_trips[class] - hits * spread * 0.5 * window);
        }
        // Of the third class nobody is there yet.
        assert_eq!(found[2], 0.0);
        let [first, second] = [first, second - 3.0 * rates[2]];
        let [one, other] = if thins { [0.98, 0.95] } else { [1.0, 1.0] };
        near(found[6], one * first - 1000.0);
        near(found[7], other * second - 2000.0);
        assert_eq!(found[8..], [0.0, 0.0], "the law has no state");
    }
}

#[test]
fn other_laws_grow_as_they_say() {
    let mut parameters = six(false, 300.0);
    let scalable = Scalable { a: 0.01, b: 0.125, lwnd: 0.0, at_least_reno: false };
    parameters.classes[0].law = scalable.into();
    parameters.classes[1].law = Aimd { a: 0.3, b: 0.2 }.into();
    parameters.classes[1].spread = 1.5;
    parameters.classes[3].timeouts = true;
    // Within the last hundredth below the greatest window growth is tapered; losses are not.
    parameters.classes[5].max_window = 15.05;
    let mut past = losing(&parameters, &state(), |class| 0.1 * (1 + class) as f64);
    // What was sent a round trip ago: windows twice as large, and a queue half as long.
    past[..6].iter_mut().for_each(|window| *window *= 2.0);
    past[6] = 30.0;
    let found = slopes(&parameters, &state(), &past);
    let (round_trips, ..) = flows(false);
    near(found[0], 0.01 * 20.0 / (0.1 + 0.03) - 0.1 * 0.125 * 10.0);
    near(found[1], 0.3 / round_trips[1] - 0.2 * 1.5 * 0.2 * 11.0);
    near(found[2], 1.0 / round_trips[2] - 0.3 * 0.5 * 12.0);
    // Three of thirteen losses are timeouts, which leave a window of 1.
    let cut = 10.0 / 13.0 * 6.5 + 3.0 / 13.0 * 12.0;
    near(found[3], 1.0 / round_trips[3] - 0.4 * cut);
    let taper = (15.05 - 15.0) / 0.1505;
    near(found[5], taper / round_trips[5] - 0.6 * 7.5);
}

#[test]
fn what_was_lost_before_a_class_was_there_is_not_its_loss() {
    let mut parameters = Parameters {
        classes: vec![Class::reno(20.0, 0.2, vec![0]), Class::reno(20.0, 0.2, vec![0])],
        queues: vec![Queue::new(2000.0, proportional())],
    };
    let point = parameters.equilibrium(0.0).unwrap();
    // The second class is away for a moment, and flows of the first come and go.
    parameters.classes[1].flows = vec![(0.0, 20.0), (5.0, 0.0), (5.05, 20.0)];
    parameters.classes[0].flows = vec![(0.0, 20.0), (5.05, 30.0)];
    let (past, state) = (parameters.past_at(&point), parameters.state_at(&point, 0.0));
    let settings = Settings { longest: 0.01, ..Settings::default() };
    let model = Mgt::new(parameters, &state);
    let mut solver = Solver::new(model, 0.0, &past, state, settings);
    let mut seen = 0;
    while solver.time() < 5.4 {
        let before = (solver.system().flows(1), solver.state()[1]);
        solver.advance(5.4).unwrap();
        let (start, length, rows) = solver.last_step().unwrap();
        let round_trip = 0.2 + rows[2][0] / 2000.0;
        let [first, second] = [0, 1].map(|class: usize| rows[class][1] / length);
        if before.0 == 0.0 {
            assert_eq!(second, 0.0, "nobody is there");
        } else if start > 5.05 && start < 5.05 + round_trip - 1e-6 {
            near(second, 1.0 / round_trip);
            // Those that stayed lose what they sent while all were there.
            assert!(start > 5.0 + round_trip || first < 0.9 / round_trip, "{start}: {first}");
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

#[test]
fn flows_that_come_begin_with_their_window_and_others_keep_theirs() {
    let class = |flows: Vec<(f64, f64)>, initial_window| Class {
        flows,
        initial_window,
        ..Class::reno(1.0, 0.1, vec![0])
    };
    let parameters = Parameters {
        classes: vec![
            class(vec![(0.0, 10.0), (5.0, 30.0), (7.0, 5.0)], 2.0),
            class(vec![(5.0, 20.0), (9.0, 0.0)], 3.0),
            class(vec![(0.0, 4.0), (7.0, 4.0)], 1.0),
            class(vec![(-1.0, 6.0), (12.0, 1.0)], 1.0),
        ],
        queues: vec![Queue::new(1000.0, proportional())],
    };
    let mut state = vec![16.0, 8.0, 5.0, 6.0, 0.0, 0.0];
    let mut model = Mgt::new(parameters, &state);
    assert_eq!(model.stops(), [5.0, 7.0, 9.0, 12.0]);
    let flows = |model: &Mgt| [0, 1, 2, 3].map(|class| model.flows(class));
    assert_eq!(flows(&model), [10.0, 0.0, 4.0, 6.0]);
    model.stop(0, 5.0, &mut state);
    assert_eq!(flows(&model), [30.0, 20.0, 4.0, 6.0]);
    // Ten with a window of 16 and twenty with one of 2.
    assert_eq!(state[..4], [200.0 / 30.0, 3.0, 5.0, 6.0]);
    model.stop(1, 7.0, &mut state);
    assert_eq!(flows(&model), [5.0, 20.0, 4.0, 6.0]);
    model.stop(2, 9.0, &mut state);
    assert_eq!(flows(&model), [5.0, 0.0, 4.0, 6.0]);
    assert_eq!(state, [200.0 / 30.0, 3.0, 5.0, 6.0, 0.0, 0.0]);
    // A class without flows has no window that a stop could make of nothing.
    model.stop(3, 12.0, &mut state);
    assert_eq!(state[1], 3.0);
    assert_eq!(flows(&model), [5.0, 0.0, 4.0, 1.0]);
}

#[test]
fn guards_and_modes_are_those_of_each_queue() {
    let price = Price::Power { exponent: 1.0 };
    let parameters = Parameters {
        classes: vec![Class::reno(10.0, 0.1, vec![0, 1]), Class::reno(20.0, 0.1, vec![1, 2])],
        queues: vec![
            Queue { buffer: 300.0, ..Queue::new(1000.0, Red::GENTLE) },
            Queue { buffer: 200.0, ..Queue::new(2000.0, Droptail) },
            Queue::new(4000.0, Rate { price, averaging: 0.0, capacity: 4000.0 }),
        ],
    };
    // Windows, queues, an average in RED's first piece.
    let state = vec![10.0, 20.0, 60.0, 0.0, 30.0, 90.0, 0.0, 0.0];
    let mut model = Mgt::new(parameters, &state);
    let [long, short] = [10.0 * 10.0 / 0.16, 20.0 * 20.0 / 0.1075];
    let mut guards = vec![f64::NAN; 12];
    model.guard(0.0, &state, &mut guards);
    // The second queue is empty, and what comes to it is less than its link sends, or more.
    let wanted = [
        [60.0, 240.0, 40.0, 60.0],
        [1.0 - (long + short) / 2000.0, 1.0, 1.0, 1.0],
        [30.0, f64::INFINITY, short / 4000.0, 1.0 - short / 4000.0],
    ];
    for (got, want) in guards.iter().zip(wanted.as_flattened()) {
        assert!(got == want || (got - want).abs() < 1e-9, "{guards:?} {wanted:?}");
    }
    let mut moved = state.clone();
    // The third guard of the first queue: its average falls below the first threshold.
    model.crossed(2, 0.0, &mut moved);
    model.guard(0.0, &moved, &mut guards);
    assert_eq!(guards[2..4], [1.0, -40.0]);
    model.crossed(3, 0.0, &mut moved);
    // The second queue leaves 0, and fills up.
    model.crossed(4, 0.0, &mut moved);
    model.guard(0.0, &moved, &mut guards);
    assert_eq!(guards[4..6], [0.0, 200.0]);
    model.crossed(5, 0.0, &mut moved);
    assert_eq!(moved[3], 200.0);
    // The price has reached 1.
    model.crossed(11, 0.0, &mut moved);
    model.guard(0.0, &moved, &mut guards);
    assert_eq!(guards[11], 1.0);
    assert_eq!(model.lags(), 2);
    assert_eq!((model.states(), model.signals(), model.kept(), model.guards()), (8, 11, 2, 12));
    let mut scales = vec![0.0; 8];
    model.scales(&mut scales);
    assert_eq!(scales, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.01, 0.01]);
    near(model.past_time(1, 3.0, &state), 3.0 - 0.1075);
}

#[test]
fn no_guard_is_looked_at_where_no_queue_is_near_one() {
    let queue = |law: QueueLaw| Queue { buffer: 100.0, ..Queue::new(1000.0, law) };
    let clear = |laws: [QueueLaw; 2], reach: f64| {
        let parameters = Parameters {
            classes: vec![Class::reno(10.0, 0.1, vec![0, 1])],
            queues: laws.map(queue).to_vec(),
        };
        let state = [10.0, 50.0, 20.0, 0.0, 0.0];
        Mgt::new(parameters, &state).clear(&state, &[1.0, reach, reach, 0.0, 0.0])
    };
    let pi = Pi { integral: 1e-3, proportional: 2e-3, qref: 100.0, period: 0.01 };
    assert!(clear([Droptail.into(), Droptail.into()], 19.0));
    assert!(!clear([Droptail.into(), Droptail.into()], 21.0));
    assert!(!clear([Droptail.into(), pi.into()], 1.0));
}

#[test]
fn only_reno_alone_is_computed_in_fours() {
    let lane = |class: Class| {
        let queues = [Queue::new(1000.0, proportional())];
        lane::Lane::new(class, &queues, Layout { classes: 1, queues: 1 })
    };
    let plain = Class::reno(10.0, 0.1, vec![0]);
    let slopes = |classes: &[Class], window: f64| {
        let lanes: Vec<_> = classes.iter().cloned().map(lane).collect();
        let quads = quad::Quad::all(&lanes);
        quads[0].slopes(&[window, 10.0, 10.0, 10.0], &[5.0; 4], &[0.2; 4])
    };
    let limited = Class { max_window: 20.0, ..plain.clone() };
    let away = Class { flows: vec![(3.0, 10.0)], ..plain.clone() };
    let found = slopes(&[limited.clone(), away, plain.clone()], 19.7).unwrap();
    assert_eq!(found[..3], [5.0 - 0.2 * 0.5 * 19.7, 0.0, 4.0]);
    assert!(slopes(&[limited], 19.9).is_none(), "its growth is tapered");
    assert!(slopes(&[plain.clone(), Class { timeouts: true, ..plain.clone() }], 10.0).is_none());
    let aimd = Class { law: Aimd { a: 1.0, b: 0.5 }.into(), ..plain.clone() };
    assert!(slopes(&[plain.clone(), aimd], 10.0).is_none());
    assert!(slopes(&[Class { law: Reno.into(), ..plain }], 10.0).is_some());
}
