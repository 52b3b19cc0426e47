//! The model against closed forms.

mod equations;
mod points;
mod sampled;

use super::*;
use crate::integrate::{Settings, Solver};
use crate::linear::{Form, linearise, operating_point};
use crate::queues::{Ared, DelayPi, Droptail, Pi, Pi2, Pie, Proportional, Rate, Red, Rem};
use crate::windows::Scalable;
use crate::{Price, QueueLaw};

fn red(max_p: f64) -> QueueLaw {
    let (min_th, max_th, wq) = (150.0, 200.0, 1e-4);
    QueueLaw::Red(Red {
        min_th,
        max_th,
        max_p,
        wq,
        gentle: false,
        spacing: None,
        fastest: f64::INFINITY,
    })
}

fn pi2() -> Pi2 {
    Pi2(DelayPi { target: 0.02, alpha: 0.3125, beta: 3.125, period: 0.032 })
}

/// The validation set-up of the paper: two queues, three classes, one of them over both.
fn two_queues(rates: [f64; 2], bytes: f64, max_p: f64, flows: f64) -> Parameters {
    Parameters {
        classes: [vec![0], vec![0, 1], vec![1]].map(|path| Class::reno(flows, 0.2, path)).to_vec(),
        queues: rates.map(|rate| Queue::new(rate / (8.0 * bytes), red(max_p))).to_vec(),
    }
}

fn solve(parameters: Parameters, end: f64, tolerance: f64) -> Solver<Mgt> {
    let state = parameters.empty();
    let past = parameters.empty_past();
    let model = Mgt::new(parameters, &state);
    let settings = Settings { tolerance, ..Settings::default() };
    let mut solver = Solver::new(model, 0.0, &past, state, settings);
    while solver.time() < end {
        solver.advance(end).unwrap();
    }
    solver
}

#[test]
fn the_first_experiment_settles_where_the_closed_form_says() {
    let parameters = two_queues([5e6, 5e6], 500.0, 0.1, 40.0);
    let point = parameters.equilibrium(0.0).unwrap();
    // By hand: both queues are alike, W² p = 2 on one queue, W² (1 − (1 − p)²) = 2 on two, and what
    // 40 flows of either kind send fills the link.
    let (q, p) = (point.queues[0], point.losses[0]);
    assert!((point.queues[0] - point.queues[1]).abs() < 1e-6);
    assert!((p - 0.1 * (q - 150.0) / 50.0).abs() < 1e-9);
    let one = libm::sqrt(2.0 / p) / (0.2 + q / 1250.0);
    let two = libm::sqrt(2.0 / (1.0 - (1.0 - p) * (1.0 - p))) / (0.2 + 2.0 * q / 1250.0);
    assert!((40.0 * (one + two) / 1250.0 - 1.0).abs() < 1e-6);
    let solver = solve(parameters, 200.0, 1e-8);
    for (queue, want) in point.queues.iter().enumerate() {
        let got = solver.state()[solver.system().layout().queue(queue)];
        assert!((got / want - 1.0).abs() < 1e-6, "{got} {want}");
    }
}

#[test]
fn windows_that_differ_need_less_loss() {
    let mut parameters = two_queues([5e6, 5e6], 500.0, 0.1, 40.0);
    for class in &mut parameters.classes {
        class.spread = 1.1658;
    }
    let point = parameters.equilibrium(0.0).unwrap();
    let (w, p) = (point.windows[0], point.losses[0]);
    assert!((w * w * p * 1.1658 - 2.0).abs() < 1e-9, "{w} {p}");
    let solver = solve(parameters, 200.0, 1e-7);
    assert!((solver.state()[0] / w - 1.0).abs() < 1e-5, "{} {w}", solver.state()[0]);
}

/// REM that takes its link to send so many packets a second.
fn rem(capacity: f64) -> Rem {
    Rem { gamma: 0.018, alpha: 0.1, phi: 1.001, qref: 200.0, period: 0.2, capacity }
}

#[test]
fn rem_that_drops_stands_still_below_its_reference() {
    let mut queue = Queue::new(3750.0, rem(3750.0));
    queue.thins = true;
    let parameters =
        Parameters { classes: vec![Class::reno(60.0, 0.18, vec![0])], queues: vec![queue] };
    let point = parameters.equilibrium(0.0).unwrap();
    assert!(point.queues[0] < 190.0, "{:?}", point.queues);
    let solver = solve(parameters, 400.0, 1e-7);
    let (length, window) = (solver.state()[1], solver.state()[0]);
    assert!((length - point.queues[0]).abs() < 0.5, "{length} {:?}", point.queues);
    assert!((window / point.windows[0] - 1.0).abs() < 1e-3, "{window} {:?}", point.windows);
}

#[test]
fn rem_that_takes_its_link_for_another_rests_where_what_comes_is_what_it_reckons_with() {
    // Marks: a queue of α (q − qref)/T for what the link sends less than 4000; no queue, and a
    // part of the link, where that is more than it sends less.
    for (capacity, thins, queue, arrivals) in [
        (4000.0, false, Some(700.0), 3750.0),
        (3600.0, false, None, 3700.0),
        (3600.0, true, None, 3700.0),
    ] {
        let mut link = Queue::new(3750.0, rem(capacity));
        link.thins = thins;
        let parameters =
            Parameters { classes: vec![Class::reno(60.0, 0.18, vec![0])], queues: vec![link] };
        let point = parameters.equilibrium(0.0).unwrap();
        assert!((point.queues[0] - queue.unwrap_or(0.0)).abs() < 1e-9, "{:?}", point.queues);
        assert!((point.arrivals[0] / arrivals - 1.0).abs() < 1e-9, "{:?}", point.arrivals);
        let solver = solve(parameters, 400.0, 1e-7);
        assert!((solver.state()[1] - point.queues[0]).abs() < 0.5, "{:?}", solver.state());
        let window = solver.state()[0];
        assert!((window / point.windows[0] - 1.0).abs() < 1e-3, "{window} {:?}", point.windows);
    }
}

#[test]
fn pi_and_rem_hold_their_reference_whatever_the_load() {
    for flows in [30.0, 60.0, 90.0] {
        for controller in
            [QueueLaw::Pi(Pi::sampled(1.822e-5, 1.816e-5, 160.0, 200.0)), rem(3750.0).into()]
        {
            let parameters = Parameters {
                classes: vec![Class::reno(flows, 0.18, vec![0])],
                queues: vec![Queue::new(3750.0, controller)],
            };
            let point = parameters.equilibrium(0.0).unwrap();
            assert_eq!(point.queues[0], 200.0);
            // W² p = 2 and N W = C R.
            let w = 3750.0 * (0.18 + 200.0 / 3750.0) / flows;
            assert!((point.windows[0] / w - 1.0).abs() < 1e-9);
            assert!((point.losses[0] * w * w - 2.0).abs() < 1e-6);
            let solver = solve(parameters, 300.0, 1e-7);
            assert!((solver.state()[1] - 200.0).abs() < 0.5, "{:?}", solver.state());
        }
    }
}

#[test]
fn the_proportional_controller_leaves_an_error_that_grows_with_the_load() {
    let (slope, offset) = (5.88e-5, 50.0);
    for thins in [false, true] {
        let mut last = offset;
        for flows in [40.0, 60.0, 90.0] {
            let law = QueueLaw::Proportional(Proportional { slope, offset });
            let queue = Queue { thins, ..Queue::new(3750.0, law) };
            let class = Class::reno(flows, 0.2, vec![0]);
            let parameters = Parameters { classes: vec![class], queues: vec![queue] };
            let point = parameters.equilibrium(0.0).unwrap();
            let (queue, p, window) = (point.queues[0], point.losses[0], point.windows[0]);
            assert!((queue - offset - p / slope).abs() < 1e-6, "{point:?}");
            assert!((p * window * window - 2.0).abs() < 1e-6);
            assert!(queue > last, "{queue} {last}");
            last = queue;
            let solver = solve(parameters, 100.0, 1e-7);
            assert!((solver.state()[1] - queue).abs() < 0.5, "{:?} {queue}", solver.state());
        }
    }
}

#[test]
fn a_run_from_the_operating_point_stays_there() {
    let price = Price::Power { exponent: 4.0 };
    // Of a law that knows its link's capacity two that differ.
    let both = |law: &dyn Fn(f64) -> QueueLaw| [law(3000.0), law(3750.0)];
    for [near, far] in [
        both(&|_| red(0.1)),
        both(&|_| QueueLaw::Proportional(Proportional { slope: 5.88e-5, offset: 10.0 })),
        both(&|_| QueueLaw::Pi(Pi::sampled(1.822e-5, 1.816e-5, 160.0, 200.0))),
        both(&|_| QueueLaw::Pi2(pi2())),
        both(&|_| {
            QueueLaw::Pie(Pie(DelayPi { target: 0.02, alpha: 0.125, beta: 1.25, period: 0.015 }))
        }),
        both(&|capacity| rem(capacity).into()),
        both(&|capacity| Rate { price, averaging: 0.1, capacity }.into()),
    ] {
        let name = format!("{near:?}");
        let mut parameters = Parameters {
            classes: vec![Class::reno(30.0, 0.1, vec![0, 1]), Class::reno(60.0, 0.3, vec![1])],
            queues: vec![Queue::new(3000.0, near), Queue::new(3750.0, far)],
        };
        parameters.classes[0].law =
            Scalable { a: 0.01, b: 0.125, lwnd: 16.0, at_least_reno: false }.into();
        let point = parameters.equilibrium(0.0).unwrap();
        let (past, state) = (parameters.past_at(&point), parameters.state_at(&point, 0.0));
        let start = state.clone();
        let model = Mgt::new(parameters, &state);
        let mut solver = Solver::new(model, 0.0, &past, state, Settings::default());
        // Not for long: where the point is unstable rounding grows.
        while solver.time() < 5.0 {
            solver.advance(5.0).unwrap();
            for (now, then) in solver.state().iter().zip(&start) {
                let off = (now - then).abs() / then.abs().max(1e-2);
                assert!(off < 1e-9, "{name}: {now} {then} at {}", solver.time());
            }
        }
    }
}

#[test]
fn newton_returns_to_the_operating_point_of_a_network() {
    for thins in [false, true] {
        let mut parameters = two_queues([5e6, 4e6], 500.0, 0.1, 40.0);
        parameters.queues.iter_mut().for_each(|queue| queue.thins = thins);
        let point = parameters.equilibrium(0.0).unwrap();
        let exact = parameters.state_at(&point, 0.0);
        let mut state: Vec<f64> = exact.iter().map(|value| value * 1.002).collect();
        let model = Opened::new(parameters, &exact, &point.losses, Form::Fluid, false);
        let met = operating_point::<9>(&model, &mut state).unwrap();
        for (got, want) in state.iter().zip(&exact).chain(met.iter().zip(&point.losses)) {
            assert!((got / want - 1.0).abs() < 1e-9, "{thins}: {state:?} {exact:?}");
        }
        // Three windows, two queues and two averages; three delays beside the present.
        let system = linearise::<9>(&model, &state, &met);
        assert_eq!((system.c[0].len(), system.c.len()), (7, 2));
        assert_eq!(system.a.len(), 4);
    }
}

#[test]
fn a_jump_that_comes_back_a_round_trip_later_keeps_the_error_small() {
    // Three round trips, so that steps end at jumps only: the windows' kick at the start.
    let at = |tolerance| {
        let parameters = two_queues([5e6, 5e6], 500.0, 0.1, 40.0);
        let point = parameters.equilibrium(0.0).unwrap();
        let (past, state) = (parameters.past_at(&point), parameters.state_at(&point, 0.02));
        let model = Mgt::new(parameters, &state);
        let settings = Settings { tolerance, ..Settings::default() };
        let mut solver = Solver::new(model, 0.0, &past, state, settings);
        while solver.time() < 3.0 {
            solver.advance(3.0).unwrap();
        }
        solver.state()[0]
    };
    let exact = at(1e-12);
    for (tolerance, within) in [(1e-6, 2e-5), (1e-9, 2e-8)] {
        let error = (at(tolerance) / exact - 1.0).abs();
        assert!(error < within, "{tolerance}: {error}");
    }
}

#[test]
fn pi2_holds_its_delay_and_hits_with_a_square() {
    let parameters = Parameters {
        classes: vec![Class::reno(60.0, 0.1, vec![0])],
        queues: vec![Queue::new(3750.0, pi2())],
    };
    let w = 3750.0 * 0.12 / 60.0;
    let solver = solve(parameters, 100.0, 1e-7);
    let state = solver.state();
    assert!((state[1] / 75.0 - 1.0).abs() < 1e-3, "{state:?}");
    assert!((state[0] / w - 1.0).abs() < 1e-3, "{state:?}");
    assert!((state[2] * state[2] * w * w / 2.0 - 1.0).abs() < 1e-2, "{state:?}");
}

#[test]
fn ared_finds_the_max_p_that_keeps_its_average_in_the_middle() {
    let red = Red {
        min_th: 60.0,
        max_th: 180.0,
        max_p: 0.02,
        wq: 1e-3,
        gentle: true,
        spacing: Some(sojourn_qdisc::Spacing::Uniform),
        fastest: f64::INFINITY,
    };
    let make = |max_p| Ared {
        red: Red { max_p, ..red.clone() },
        bottom: 0.01,
        top: 0.5,
        alpha: 0.01,
        beta: 0.9,
        interval: 0.5,
    };
    for max_p in [0.02, 0.4] {
        let parameters = Parameters {
            classes: vec![Class::reno(60.0, 0.1, vec![0])],
            queues: vec![Queue::new(3750.0, make(max_p))],
        };
        assert!(parameters.equilibrium(0.0).unwrap_err().to_string().contains("no single"));
        let mut solver = solve(parameters, 60.0, 1e-6);
        let (mut sum, mut time) = (0.0, 0.0);
        while solver.time() < 90.0 {
            let (from, average) = (solver.time(), solver.state()[2]);
            solver.advance(90.0).unwrap();
            sum += 0.5 * (average + solver.state()[2]) * (solver.time() - from);
            time += solver.time() - from;
        }
        let mean = sum / time;
        assert!((100.0..=140.0).contains(&mean), "from {max_p}: {mean}");
    }
}

#[test]
fn queues_stay_between_zero_and_the_buffer_and_overflow_is_loss() {
    let mut queue = Queue::new(1000.0, Droptail);
    queue.buffer = 80.0;
    let parameters =
        Parameters { classes: vec![Class::reno(10.0, 0.1, vec![0])], queues: vec![queue] };
    let point = parameters.equilibrium(0.0).unwrap();
    assert_eq!(point.queues[0], 80.0);
    let mut solver = solve(parameters, 1.0, 1e-7);
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    while solver.time() < 60.0 {
        solver.advance(60.0).unwrap();
        least = least.min(solver.state()[1]);
        most = most.max(solver.state()[1]);
    }
    assert!(least >= -2e-9 && most <= 80.0 + 2e-9, "{least} {most}");
    assert!(most > 79.9, "the buffer fills: {most}");
    assert!(solver.work().events > 2);
}

#[test]
fn flows_that_leave_and_return_change_the_point_and_begin_small() {
    let mut parameters = two_queues([15e6, 5e6], 500.0, 0.1, 40.0);
    for class in &mut parameters.classes {
        class.flows = vec![(0.0, 40.0), (75.0, 10.0), (150.0, 40.0)];
    }
    let before = solve(parameters.clone(), 149.999, 1e-7);
    let window = before.state()[0];
    let after = solve(parameters, 150.0, 1e-7);
    let mixed = (10.0 * window + 30.0) / 40.0;
    assert!((after.state()[0] / mixed - 1.0).abs() < 1e-3, "{} {mixed}", after.state()[0]);
    assert_eq!(after.system().flows(0), 40.0);
}

#[test]
fn a_window_stops_at_its_limit() {
    let mut parameters = Parameters {
        classes: vec![Class::reno(5.0, 0.1, vec![0])],
        queues: vec![Queue::new(10_000.0, red(0.1))],
    };
    parameters.classes[0].max_window = 20.0;
    let solver = solve(parameters.clone(), 60.0, 1e-6);
    assert!((solver.state()[0] - 20.0).abs() < 0.01, "{}", solver.state()[0]);
    assert_eq!(parameters.equilibrium(0.0).unwrap().windows[0], 20.0);
}

#[test]
fn the_third_experiment_oscillates_and_the_others_settle() {
    let swing = |rates, bytes, max_p| {
        let mut solver = solve(two_queues(rates, bytes, max_p, 40.0), 150.0, 1e-6);
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        while solver.time() < 200.0 {
            solver.advance(200.0).unwrap();
            least = least.min(solver.state()[3]);
            most = most.max(solver.state()[3]);
        }
        most - least
    };
    assert!(swing([5e6, 5e6], 500.0, 0.1) < 5.0);
    assert!(swing([5e6, 2.5e6], 500.0, 0.1) < 5.0);
    assert!(swing([15e6, 15e6], 500.0, 0.1) > 300.0);
    assert!(swing([15e6, 15e6], 1500.0, 0.1) < 5.0);
}

#[test]
fn bad_parameters_and_points_that_do_not_exist_are_named() {
    let text = |p: &Parameters| p.equilibrium(0.0).unwrap_err().to_string();
    let good = two_queues([5e6, 5e6], 500.0, 0.1, 10.0);
    let mut p = good.clone();
    p.classes[1].flows = vec![(0.0, 0.0)];
    assert!(text(&p).starts_with("classes[1].flows = 0: must be above 0"), "{}", text(&p));
    let mut p = good.clone();
    p.classes[2].rtt = 0.0;
    assert!(text(&p).starts_with("classes[2].rtt = 0: must be above 0"));
    let mut p = good.clone();
    p.classes[0].path = vec![2];
    assert_eq!(text(&p), "classes[0].path = 2: there are 2 queues, from 0");
    let mut p = good.clone();
    p.classes[0].flows = vec![(0.0, 4000.0)];
    assert!(text(&p).contains("no operating point"), "{}", text(&p));
    let mut p = good;
    p.queues[0] = Queue::new(1250.0, Pi::sampled(2e-5, 1.9e-5, 160.0, 300.0));
    p.queues[0].buffer = 250.0;
    assert!(text(&p).starts_with("queues[0].buffer = 250: the setpoint of 300"), "{}", text(&p));
}

#[test]
fn a_law_may_count_in_other_packets_and_say_a_part_of_the_probability() {
    let red = |by: f64, weight: f64| {
        QueueLaw::Red(Red {
            min_th: 150.0 * by,
            max_th: 200.0 * by,
            max_p: 0.1 / weight,
            wq: 1e-4,
            gentle: false,
            spacing: None,
            fastest: f64::INFINITY,
        })
    };
    let pi = |by: f64, weight: f64| {
        let by = by * weight;
        QueueLaw::Pi(Pi::sampled(1.822e-5 / by, 1.816e-5 / by, 160.0, 200.0 * by / weight))
    };
    for law in [&red as &dyn Fn(f64, f64) -> QueueLaw, &pi] {
        let with = |unit: f64, weight: f64| {
            let mut queue = Queue::new(3750.0, law(unit, weight));
            (queue.unit, queue.weight) = (unit, weight);
            Parameters { classes: vec![Class::reno(60.0, 0.18, vec![0])], queues: vec![queue] }
        };
        let plain = with(1.0, 1.0).equilibrium(0.0).unwrap();
        for (unit, weight) in [(2.0, 1.0), (1.0, 2.0), (0.5, 4.0)] {
            let other = with(unit, weight).equilibrium(0.0).unwrap();
            assert!((other.queues[0] / plain.queues[0] - 1.0).abs() < 1e-6, "{unit} {weight}");
            assert!((other.windows[0] / plain.windows[0] - 1.0).abs() < 1e-6, "{unit} {weight}");
        }
    }
    // From where it rests, and from nothing.
    for (unit, weight) in [(2.0, 1.0), (1.0, 2.0), (0.5, 4.0)] {
        let mut queue = Queue::new(3750.0, pi(unit, weight));
        (queue.unit, queue.weight) = (unit, weight);
        let parameters =
            Parameters { classes: vec![Class::reno(60.0, 0.18, vec![0])], queues: vec![queue] };
        let point = parameters.equilibrium(0.0).unwrap();
        let (past, state) = (parameters.past_at(&point), parameters.state_at(&point, 0.0));
        let start = state.clone();
        let model = Mgt::new(parameters, &state);
        let mut solver = Solver::new(model, 0.0, &past, state, Settings::default());
        while solver.time() < 5.0 {
            solver.advance(5.0).unwrap();
        }
        for (now, then) in solver.state().iter().zip(&start) {
            assert!((now - then).abs() < 1e-9 * then.abs(), "{unit} {weight}: {now} {then}");
        }
    }
    for (unit, weight) in [(1.0, 1.0), (2.0, 1.0), (1.0, 2.0), (0.5, 4.0)] {
        let mut queue = Queue::new(3750.0, pi(unit, weight));
        (queue.unit, queue.weight) = (unit, weight);
        let parameters =
            Parameters { classes: vec![Class::reno(60.0, 0.18, vec![0])], queues: vec![queue] };
        let found = solve(parameters, 300.0, 1e-7).state()[1];
        assert!((found - 200.0).abs() < 0.5, "{unit} {weight}: {found}");
    }
}

#[test]
fn a_queue_is_read_with_a_discipline_or_a_price_and_not_with_both() {
    let read = |text: &str| sojourn_scenario::from_json::<Queue>(text);
    let charged =
        read(r#"{"capacity": 1000, "price": {"kind": "power", "exponent": 4}, "averaging": 0.1}"#)
            .unwrap();
    let price = Price::Power { exponent: 4.0 };
    let wanted = Rate { price, averaging: 0.1, capacity: 1000.0 };
    assert_eq!((charged.law, charged.buffer), (QueueLaw::Rate(wanted), f64::INFINITY));
    let tail = |more: &str| {
        read(&format!(
            r#"{{"capacity": 1000, "qdisc": {{"kind": "droptail", "limit": 70}}{more}}}"#
        ))
    };
    assert_eq!(tail("").unwrap().buffer, 70.0);
    assert_eq!(tail(r#", "buffer": 30"#).unwrap().buffer, 30.0);
    let both = tail(r#", "price": {"kind": "power", "exponent": 4}"#).unwrap_err().to_string();
    let neither = read(r#"{"capacity": 1000}"#).unwrap_err().to_string();
    for why in [both, neither] {
        assert!(why.contains("exactly one of them"), "{why}");
    }
    for capacity in ["0", "-1", "1e13"] {
        let text = format!(r#"{{"capacity": {capacity}, "qdisc": "pi"}}"#);
        let why = read(&text).unwrap_err().to_string();
        assert!(why.contains("must be above 0 packets per second"), "{why}");
    }
}
