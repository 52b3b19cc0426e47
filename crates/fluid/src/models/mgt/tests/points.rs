//! Where the model stands still, by the equations that hold there.

use super::super::*;
use crate::integrate::{Settings, Solver};
use crate::queues::{Ared, DelayPi, Droptail, Law, Pi, Pie, Proportional, Rate, Red, Rem};
use crate::{Price, QueueLaw};

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-8 * want.abs().max(1e-3), "{got} {want}");
}

fn pi(qref: f64) -> Pi {
    Pi::sampled(1.822e-5, 1.816e-5, 160.0, qref)
}

fn one(law: impl Into<QueueLaw>) -> Parameters {
    Parameters {
        classes: vec![Class::reno(60.0, 0.1, vec![0])],
        queues: vec![Queue::new(3750.0, law)],
    }
}

#[test]
fn what_enters_a_busy_queue_is_what_its_link_sends() {
    let droptail = Queue { buffer: 200.0, ..Queue::new(3750.0, Droptail) };
    let thinned = Queue { thins: true, ..Queue::new(3750.0, Red::GENTLE) };
    let marked = Queue::new(3750.0, Red::GENTLE);
    for (queue, enters) in [(droptail, true), (thinned, true), (marked, false)] {
        let parameters = Parameters { queues: vec![queue.clone()], ..one(Red::GENTLE) };
        let point = parameters.equilibrium(0.0).unwrap();
        let (p, window, length) = (point.losses[0], point.windows[0], point.queues[0]);
        near(point.round_trips[0], 0.1 + length / 3750.0);
        near(window, libm::sqrt(2.0 / p));
        near(point.arrivals[0], 60.0 * window / point.round_trips[0]);
        near(point.arrivals[0] * if enters { 1.0 - p } else { 1.0 }, 3750.0);
        if let QueueLaw::Red(red) = &queue.law {
            near(p, red.loss(length));
        } else {
            assert_eq!(length, 200.0);
        }
    }
}

#[test]
fn a_queue_behind_another_gets_what_that_one_lets_pass() {
    for thins in [false, true] {
        let queue = |capacity, buffer| Queue { thins, buffer, ..Queue::new(capacity, Red::GENTLE) };
        let queues = vec![queue(3750.0, 400.0), queue(3000.0, 400.0), queue(9000.0, 400.0)];
        let mut classes = vec![
            Class::reno(30.0, 0.1, vec![0, 1, 2]),
            Class::reno(60.0, 0.2, vec![0]),
            Class::reno(20.0, 0.05, vec![1]),
        ];
        classes[1].back = vec![1];
        classes[2].spread = 1.1658;
        let parameters = Parameters { classes, queues };
        let point = parameters.equilibrium(0.0).unwrap();
        let [p, q, none] = point.losses[..] else { panic!() };
        let rates: Vec<f64> =
            point.windows.iter().zip(&point.round_trips).map(|(w, r)| w / r).collect();
        let [one, two] = [point.queues[0] / 3750.0, point.queues[1] / 3000.0];
        near(point.round_trips[0], 0.1 + one + two);
        near(point.round_trips[1], 0.2 + one + two);
        near(point.round_trips[2], 0.05 + two);
        near(point.windows[0], libm::sqrt(2.0 / (1.0 - (1.0 - p) * (1.0 - q))));
        near(point.windows[2], libm::sqrt(2.0 / (1.1658 * q)));
        let [kept, further] = if thins { [1.0 - p, 1.0 - q] } else { [1.0, 1.0] };
        near(point.arrivals[0], 30.0 * rates[0] + 60.0 * rates[1]);
        near(point.arrivals[1], kept * 30.0 * rates[0] + 20.0 * rates[2]);
        near(point.arrivals[2], kept * further * 30.0 * rates[0]);
        near(point.arrivals[0] * kept, 3750.0);
        near(point.arrivals[1] * further, 3000.0);
        // The third link has time left.
        assert_eq!((none, point.queues[2]), (0.0, 0.0));
        // A run that begins there stays there, and with it what comes where.
        let (past, state) = (parameters.past_at(&point), parameters.state_at(&point, 0.0));
        let start = state.clone();
        let model = Mgt::new(parameters, &state);
        let mut solver = Solver::new(model, 0.0, &past, state, Settings::default());
        while solver.time() < 1.0 {
            solver.advance(1.0).unwrap();
        }
        for (now, then) in solver.state().iter().zip(&start) {
            assert!((now - then).abs() < 1e-6 * then.abs().max(1e-2), "{now} {then}");
        }
    }
}

#[test]
fn windows_at_rest_are_those_of_their_class() {
    let mut parameters = one(Red::GENTLE);
    parameters.classes[0].timeouts = true;
    let point = parameters.equilibrium(0.0).unwrap();
    // A packet a round trip is what losses take: half, or all but one in 3/W of them.
    let (w, p) = (point.windows[0], point.losses[0]);
    let q = f64::min(3.0 / w, 1.0);
    near(w * p * ((1.0 - q) * 0.5 * w + q * (w - 1.0)), 1.0);
    parameters.classes[0].timeouts = false;
    parameters.classes[0].max_window = 5.0;
    let point = parameters.equilibrium(0.0).unwrap();
    assert_eq!((point.windows[0], point.losses[0], point.queues[0]), (5.0, 0.0, 0.0));
    near(point.arrivals[0], 60.0 * 5.0 / 0.1);
}

#[test]
fn a_point_is_that_of_the_flows_that_are_there() {
    let mut parameters = one(pi(200.0));
    parameters.classes[0].flows = vec![(1.0, 60.0), (5.0, 30.0)];
    let window = |flows: f64| 3750.0 * (0.1 + 200.0 / 3750.0) / flows;
    assert_eq!(parameters.equilibrium(0.9).unwrap().arrivals, [0.0]);
    for (time, flows) in [(1.0, 60.0), (4.9, 60.0), (5.0, 30.0), (100.0, 30.0)] {
        let point = parameters.equilibrium(time).unwrap();
        near(point.windows[0], window(flows));
        near(point.arrivals[0], 3750.0);
    }
}

#[test]
fn a_price_is_charged_for_the_load_that_it_leaves() {
    for weight in [1.0, 0.5] {
        let price = Price::Power { exponent: 2.0 };
        let mut parameters = one(Rate { price, averaging: 0.1, capacity: 3750.0 });
        parameters.queues[0].weight = weight;
        let point = parameters.equilibrium(0.0).unwrap();
        let load = point.arrivals[0] / 3750.0;
        near(point.losses[0], weight * load * load);
        near(point.windows[0], libm::sqrt(2.0 / point.losses[0]));
        assert_eq!(point.queues[0], 0.0);
        let state = parameters.state_at(&point, 0.25);
        near(state[0], 1.25 * point.windows[0]);
        assert_eq!((state[1], state[2]), (0.0, load));
    }
}

#[test]
fn the_state_of_a_point_is_in_the_units_of_its_law() {
    let of = |law: QueueLaw| {
        let mut parameters = one(law);
        (parameters.queues[0].unit, parameters.queues[0].weight) = (2.0, 0.5);
        let point = parameters.equilibrium(0.0).unwrap();
        let state = parameters.state_at(&point, 0.0);
        assert_eq!((state[0], state[1]), (point.windows[0], point.queues[0]));
        (point.queues[0], point.losses[0], state[2])
    };
    let (length, loss, average) = of(Red::GENTLE.into());
    near(average, 2.0 * length);
    near(loss, 0.5 * Red::GENTLE.loss(average));
    let (length, loss, own) = of(pi(300.0).into());
    near(length, 150.0);
    near(own, 2.0 * loss);
    let pie = Pie(DelayPi { target: 0.02, alpha: 0.125, beta: 1.25, period: 0.015 });
    let (length, ..) = of(pie.into());
    // 20 ms are 75 of 3750 packets a second.
    near(length, 75.0);
    let (period, capacity) = (0.2, 7500.0);
    let rem = Rem { gamma: 0.018, alpha: 0.1, phi: 1.001, qref: 200.0, period, capacity };
    let (length, loss, price) = of(rem.into());
    near(length, 100.0);
    near(loss, 0.5 * (1.0 - libm::pow(1.001, -price)));
}

#[test]
fn the_past_of_a_point_is_what_is_lost_there() {
    let droptail = Queue { buffer: 100.0, ..Queue::new(3000.0, Droptail) };
    let parameters = Parameters {
        classes: vec![Class::reno(30.0, 0.1, vec![0, 1]), Class::reno(60.0, 0.2, vec![1])],
        queues: vec![droptail, Queue::new(3750.0, Red::GENTLE)],
    };
    let layout = parameters.layout();
    let point = parameters.equilibrium(0.0).unwrap();
    let past = parameters.past_at(&point);
    assert_eq!(past[..layout.states()], parameters.state_at(&point, 0.0));
    assert_eq!(past.len(), layout.states() + layout.signals());
    for queue in 0..2 {
        assert_eq!(past[layout.loss(queue)], point.losses[queue]);
        assert_eq!(past[layout.inflow(queue)], point.arrivals[queue]);
    }
    // What drop-tail loses is what does not fit; RED's loss is no such thing.
    assert_eq!(past[layout.overflow(0)], point.losses[0]);
    assert_eq!(past[layout.overflow(1)], 0.0);
    let [p, q] = [point.losses[0], point.losses[1]];
    let rates = [0, 1].map(|class: usize| point.windows[class] / point.round_trips[class]);
    near(past[layout.hits(0)], rates[0] * (1.0 - (1.0 - p) * (1.0 - q)));
    near(past[layout.hits(1)], rates[1] * q);
    let mut parameters = parameters;
    parameters.classes[1].initial_window = 3.0;
    let empty = [1.0, 3.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(parameters.empty(), empty);
    assert_eq!(parameters.empty_past(), [&empty[..], &[0.0; 8]].concat());
}

#[test]
fn where_there_is_no_point_it_is_said_why() {
    let why = |parameters: &Parameters| parameters.equilibrium(0.0).unwrap_err().to_string();
    let ared =
        Ared { red: Red::GENTLE, bottom: 0.01, top: 0.5, alpha: 0.01, beta: 0.9, interval: 0.5 };
    assert!(why(&one(ared)).starts_with("queues[0].qdisc = ared: ARED has no single"));
    // A setpoint of 300 of the packets that the law counts is one of 150.
    let mut short = one(pi(300.0));
    (short.queues[0].unit, short.queues[0].buffer) = (2.0, 149.0);
    assert!(why(&short).starts_with("queues[0].buffer = 149: the setpoint of 300.000"));
    short.queues[0].buffer = 150.0;
    assert!(short.equilibrium(0.0).is_ok());
    // 4000 flows have 0.9 packets each, and 0.1 is the most that the profile says.
    let mut steep = one(Red { gentle: false, ..Red::GENTLE });
    steep.classes[0].flows[0].1 = 4000.0;
    let found = why(&steep);
    assert!(
        found.starts_with("queues[0]") && found.contains("(p = 0.1000 at 150.0 packets)"),
        "{found}"
    );
    let mut crowded = one(pi(200.0));
    crowded.classes[0].flows[0].1 = 4000.0;
    assert!(why(&crowded).contains("even if all is lost more arrives than the link sends"));
}

#[test]
fn every_parameter_has_bounds() {
    type Change = fn(&mut Parameters, f64);
    type Case = (&'static str, Change, &'static [f64], &'static [f64]);
    let infinite = f64::INFINITY;
    let cases: [Case; 9] = [
        ("classes[0].rtt", |p, x| p.classes[0].rtt = x, &[1e-9, 1e6], &[0.0, 1.1e6]),
        ("classes[0].flows", |p, x| p.classes[0].flows[0].1 = x, &[1e-9, 1e12], &[0.0, 1.1e12]),
        ("classes[0].spread", |p, x| p.classes[0].spread = x, &[1.0, 2.0], &[0.99, 2.01]),
        ("classes[0].initial_window", |p, x| p.classes[0].initial_window = x, &[1.0, 9.0], &[0.9]),
        ("classes[0].max_window", |p, x| p.classes[0].max_window = x, &[1.0, 9.0], &[0.9]),
        ("queues[0].capacity", |p, x| p.queues[0].capacity = x, &[1e-9, 1e12], &[0.0, 1.1e12]),
        ("queues[0].buffer", |p, x| p.queues[0].buffer = x, &[1e-9, 1e12], &[0.0, -1.0]),
        ("queues[0].unit", |p, x| p.queues[0].unit = x, &[1e-9, 1e12], &[0.0]),
        ("queues[0].weight", |p, x| p.queues[0].weight = x, &[1e-9, 1e12], &[0.0]),
    ];
    for (field, change, right, wrong) in cases {
        let with = |value| {
            let mut parameters = one(Red::GENTLE);
            change(&mut parameters, value);
            parameters.validate().map_err(|error| error.to_string())
        };
        right.iter().for_each(|value| assert_eq!(with(*value), Ok(()), "{field} = {value}"));
        for value in wrong {
            let why = with(*value).unwrap_err();
            assert!(why.starts_with(&format!("{field} = {value}: ")), "{field} = {value}: {why}");
        }
        // Flows that are no number are none.
        assert!(with(f64::NAN).unwrap_err().starts_with(field), "{field}");
        let limits = ["classes[0].max_window", "queues[0].buffer"];
        assert_eq!(with(infinite).is_ok(), limits.contains(&field), "{field}");
    }
}

#[test]
fn flows_paths_and_laws_have_to_fit() {
    let why = |change: fn(&mut Parameters)| {
        let mut parameters = one(Red::GENTLE);
        change(&mut parameters);
        parameters.validate().unwrap_err().to_string()
    };
    let order = "times must be in order, each once";
    let times = why(|p| p.classes[0].flows = vec![(0.0, 3.0), (5.0, 4.0), (5.0, 6.0)]);
    assert_eq!(times, format!("classes[0].flows = 5: {order}"));
    for (flows, value) in [
        (vec![(0.0, 3.0), (f64::NAN, 6.0)], "NaN"),
        (vec![(f64::NEG_INFINITY, 3.0)], "-inf"),
        (vec![(5.0, -1.0)], "-1"),
    ] {
        let mut parameters = one(Red::GENTLE);
        parameters.classes[0].flows = flows;
        let said = parameters.validate().unwrap_err().to_string();
        let wanted = "must be a time and a number of flows, at least 0";
        assert_eq!(said, format!("classes[0].flows = {value}: {wanted}"));
    }
    assert!(why(|p| p.classes[0].path.clear()).starts_with("classes[0].path = []: "));
    let back = why(|p| p.classes[0].back = vec![1]);
    assert_eq!(back, "classes[0].path = 1: there are 1 queues, from 0");
    assert!(why(|p| p.classes.clear()).starts_with("classes = []: "));
    let endless = why(|p| p.queues[0].law = Droptail.into());
    assert!(endless.starts_with("queues[0].buffer = inf: a queue without"), "{endless}");
    // A price on the present rate cannot thin it; one on an average can, and so can a law without a
    // state that does not look at it.
    let price = Price::Power { exponent: 2.0 };
    let thins = |law: QueueLaw| {
        let mut parameters = one(law);
        parameters.queues[0].thins = true;
        parameters.validate().is_ok()
    };
    assert!(!thins(Rate { price, averaging: 0.0, capacity: 3750.0 }.into()));
    assert!(thins(Rate { price, averaging: 0.1, capacity: 3750.0 }.into()));
    assert!(thins(Proportional { slope: 1e-3, offset: 40.0 }.into()) && thins(pi(200.0).into()));
}

#[test]
fn a_class_is_read_with_the_values_of_the_papers_where_none_are_given() {
    let read = |text: &str| sojourn_scenario::from_json::<Class>(text).unwrap();
    let bare = r#""flows": [[0, 60]], "rtt": 0.1, "path": [0], "law": "reno""#;
    let class = read(&format!("{{{bare}}}"));
    assert_eq!(class, Class::reno(60.0, 0.1, vec![0]));
    assert_eq!((class.spread, class.initial_window, class.timeouts), (1.0, 1.0, false));
    assert_eq!(class.max_window, f64::INFINITY);
    let more = r#""back": [1], "timeouts": true, "spread": 1.2, "initial_window": 2,
        "max_window": 30"#;
    let wanted = Class {
        back: vec![1],
        timeouts: true,
        spread: 1.2,
        initial_window: 2.0,
        max_window: 30.0,
        ..class
    };
    assert_eq!(read(&format!("{{{bare}, {more}}}")), wanted);
}

#[test]
fn windows_that_are_bounded_leave_a_queue_below_where_it_is_held() {
    // Ten flows with 40 packets each under way: 375 are on the path, 25 in the queue.
    let mut parameters = one(Droptail);
    parameters.queues[0] = Queue { buffer: 100.0, ..Queue::new(3750.0, Droptail) };
    parameters.classes = vec![Class { max_window: 40.0, ..Class::reno(10.0, 0.1, vec![0]) }];
    for (law, thins) in
        [(QueueLaw::from(Droptail), false), (pi(50.0).into(), false), (pi(50.0).into(), true)]
    {
        (parameters.queues[0].law, parameters.queues[0].thins) = (law, thins);
        let point = parameters.equilibrium(0.0).unwrap();
        assert!((point.queues[0] - 25.0).abs() < 1e-9, "{point:?}");
        assert_eq!((point.losses[0], point.windows[0]), (0.0, 40.0));
        // Fewer flows leave it empty, more are held back.
        for (flows, queue) in
            [(9.0, 0.0), (12.0, parameters.queues[0].law.setpoint(1.0).unwrap_or(100.0))]
        {
            let mut other = parameters.clone();
            other.classes[0].flows = vec![(0.0, flows)];
            let point = other.equilibrium(0.0).unwrap();
            assert!((point.queues[0] - queue).abs() < 1e-9, "{flows}: {point:?}");
            assert_eq!(point.losses[0] > 0.0, flows > 10.0);
        }
    }
}
