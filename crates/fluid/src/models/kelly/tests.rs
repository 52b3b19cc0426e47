//! Against closed forms of points, boundaries and terms.

use super::*;
use crate::integrate::{Settings, Solver};

fn power(exponent: f64, rtt: f64) -> Parameters {
    Parameters {
        classes: vec![Class { flows: 60.0, rtt, law: crate::windows::Reno.into() }],
        capacity: 3750.0,
        price: Price::Power { exponent },
        averaging: 0.0,
    }
}

/// How many times larger the swing is after `round_trips` than after the first few.
fn growth(parameters: Parameters, round_trips: f64) -> f64 {
    let point = parameters.equilibrium().unwrap();
    let (w0, rtt) = (point.windows[0], parameters.classes[0].rtt);
    let (past, state) = (parameters.past_at(&point), parameters.state_at(&point, 1e-5));
    let model = Kelly::new(parameters, &state);
    let settings = Settings { tolerance: 1e-10, ..Settings::default() };
    let mut solver = Solver::new(model, 0.0, &past, state, settings);
    let end = round_trips * rtt;
    let (mut early, mut late) = (0.0_f64, 0.0_f64);
    while solver.time() < end {
        solver.advance(end).unwrap();
        let swing = (solver.state()[0] - w0).abs();
        if solver.time() < 12.0 * rtt {
            early = early.max(swing);
        } else if solver.time() > end - 12.0 * rtt {
            late = late.max(swing);
        }
    }
    late / early
}

#[test]
fn equilibria_are_those_of_the_closed_form() {
    for (exponent, rtt, utilisation) in [(1.0, 0.1, 0.371), (2.0, 0.3, 0.275), (4.0, 0.8, 0.305)] {
        let point = power(exponent, rtt).equilibrium().unwrap();
        assert!((point.load - utilisation).abs() < 5e-4, "{point:?}");
        let w0 = libm::pow(2.0 * libm::pow(rtt * 3750.0 / 60.0, exponent), 1.0 / (2.0 + exponent));
        assert!((point.windows[0] / w0 - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_boundary_is_where_the_closed_form_has_it() {
    // Stable iff W0 > sqrt((1 + B)² − 1)/arccos(−1/(1 + B)).
    let bound = |b: f64| libm::sqrt((1.0 + b) * (1.0 + b) - 1.0) / libm::acos(-1.0 / (1.0 + b));
    for exponent in [16.0, 32.0] {
        for rtt in [0.05, 0.1, 0.3, 0.8] {
            let w0 = power(exponent, rtt).equilibrium().unwrap().windows[0];
            let stable = w0 > bound(exponent);
            let growth = growth(power(exponent, rtt), 60.0);
            assert_eq!(growth < 1.0, stable, "B {exponent} R {rtt}: W0 {w0}, {growth}");
        }
    }
}

#[test]
fn a_ramp_that_starts_late_is_unstable_and_the_bend_is_sharp() {
    // With B = 1 and R = 0.3 s the linearisation turns at γ = 0.301.
    let ramp = |start| {
        let mut p = power(1.0, 0.3);
        p.price = Price::Ramp { start, exponent: 1.0, clipped: true };
        p
    };
    assert!(growth(ramp(0.28), 200.0) < 1.0);
    assert!(growth(ramp(0.32), 200.0) > 1.0);
}

#[test]
fn an_unclipped_parabola_has_three_operating_points() {
    let mut p = power(2.0, 0.3);
    p.price = Price::Ramp { start: 0.6, exponent: 2.0, clipped: false };
    assert_eq!(p.equilibria().unwrap().len(), 3);
    p.price = Price::Ramp { start: 0.3, exponent: 2.0, clipped: false };
    assert_eq!(p.equilibria().unwrap().len(), 1);
}

#[test]
fn averaging_the_rate_adds_a_state_and_keeps_the_point() {
    let mut p = power(16.0, 0.3);
    p.averaging = 0.05;
    let point = p.equilibrium().unwrap();
    let (past, state) = (p.past_at(&point), p.state_at(&point, 0.0));
    assert_eq!(state.len(), 2);
    let model = Kelly::new(p, &state);
    let mut solver = Solver::new(model, 0.0, &past, state, Settings::default());
    while solver.time() < 10.0 {
        solver.advance(10.0).unwrap();
    }
    assert!((solver.state()[0] - point.windows[0]).abs() < 1e-3);
}

#[test]
fn scalable_tcp_is_stable_as_vinnicombes_theorem_says() {
    // a < 1/B suffices. The linearisation s + κ + κ B e^(−sR) with κ = a/R turns where
    // a = arccos(−1/B)/√(B² − 1).
    let b: f64 = 16.0;
    let turn = libm::acos(-1.0 / b) / libm::sqrt(b * b - 1.0);
    assert!(turn > 1.0 / b);
    for (a, stable) in [(0.9 / b, true), (0.95 * turn, true), (1.05 * turn, false)] {
        let mut p = power(b, 0.1);
        p.classes[0].law =
            crate::windows::Scalable { a, b: 0.125, lwnd: 0.0, at_least_reno: false }.into();
        assert_eq!(growth(p, 100.0) < 1.0, stable, "a = {a}");
    }
}

#[test]
fn what_cannot_work_is_named() {
    let text = |p: Parameters| p.equilibrium().unwrap_err().to_string();
    let mut p = power(1.0, 0.1);
    p.classes[0].flows = 0.0;
    assert_eq!(text(p), "classes[0].flows = 0: must be above 0");
    let mut p = power(1.0, 0.0);
    assert!(text(p.clone()).starts_with("classes[0].rtt = 0: "));
    p.classes[0].rtt = 0.001;
    assert!(text(p).contains("no operating point"));
}

/// Two classes, with windows of 10 and 20 in state: 100 and 200 packets a second each.
fn two(price: Price, averaging: f64) -> Parameters {
    let class = |flows, rtt| Class { flows, rtt, law: crate::windows::Reno.into() };
    let classes = vec![class(3.0, 0.1), class(5.0, 0.1)];
    Parameters { classes, capacity: 2000.0, price, averaging }
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-11 * want.abs().max(1.0), "{got} {want}");
}

#[test]
fn the_load_is_what_all_flows_send_of_what_the_link_could_carry() {
    let price = Price::Power { exponent: 2.0 };
    let now = Kelly::new(two(price, 0.0), &[10.0, 20.0]);
    assert_eq!((now.states(), now.lags(), now.signals(), now.kept()), (2, 2, 1, 1));
    near(now.load(&[10.0, 20.0]), 0.65);
    near(now.measured(&[10.0, 20.0]), 0.65);
    near(now.past_time(1, 3.0, &[10.0, 20.0]), 2.9);
    let averaged = Kelly::new(two(price, 0.5), &[10.0, 20.0, 0.4]);
    assert_eq!((averaged.states(), averaged.lags()), (3, 2));
    near(averaged.load(&[10.0, 20.0, 0.4]), 0.65);
    near(averaged.measured(&[10.0, 20.0, 0.4]), 0.4);
    let mut signals = [f64::NAN];
    averaged.signal(0.0, &[10.0, 20.0, 0.4], true, &mut signals);
    near(signals[0], 0.16);
    let (mut scales, mut guards) = ([0.0; 3], [0.0; 2]);
    averaged.scales(&mut scales);
    assert_eq!(scales, [1.0, 1.0, 0.01]);
    averaged.guard(0.0, &[10.0, 20.0, 0.4], &mut guards);
    near(guards[0], 0.4);
    near(guards[1], 0.6);
    now.guard(0.0, &[10.0, 20.0], &mut guards);
    near(guards[1], 0.35);
}

#[test]
fn a_price_changes_its_piece_where_its_guards_fall() {
    let price = Price::Ramp { start: 0.5, exponent: 1.0, clipped: true };
    let mut model = Kelly::new(two(price, 0.5), &[10.0, 20.0, 0.6]);
    let state = |load| [10.0, 20.0, load];
    let at = |model: &Kelly, load: f64| {
        let (mut signals, mut guards) = ([f64::NAN], [0.0; 2]);
        model.signal(0.0, &state(load), true, &mut signals);
        model.guard(0.0, &state(load), &mut guards);
        (signals[0], guards.map(|guard| guard >= 0.0))
    };
    let (loss, guards) = at(&model, 0.75);
    near(loss, 0.5);
    assert_eq!(guards, [true, true]);
    assert_eq!(at(&model, 0.4).1, [false, true]);
    model.crossed(0, 0.0, &mut state(0.4));
    assert_eq!(at(&model, 0.4), (0.0, [true, true]));
    model.crossed(1, 0.0, &mut state(0.6));
    assert_eq!(at(&model, 1.1).1, [true, false]);
    model.crossed(1, 0.0, &mut state(1.1));
    assert_eq!(at(&model, 1.1), (1.0, [true, true]));
}

#[test]
fn windows_lose_what_they_sent_a_round_trip_ago() {
    for averaging in [0.0, 0.5] {
        let mut parameters = two(Price::Power { exponent: 2.0 }, averaging);
        parameters.classes[1].rtt = 0.2;
        parameters.classes[1].law = crate::windows::Aimd { a: 0.3, b: 0.2 }.into();
        let mut state = vec![10.0, 20.0];
        // A round trip ago windows were larger, and a tenth was marked.
        let mut past = vec![12.0, 30.0];
        if averaging > 0.0 {
            state.push(0.4);
            past.push(0.3);
        }
        past.push(0.1);
        let model = Kelly::new(parameters, &state);
        let load = (3.0 * 100.0 + 5.0 * 100.0) / 2000.0;
        let mut solver = Solver::new(model, 0.0, &past, state.clone(), Settings::default());
        solver.advance(1e-4).unwrap();
        let (_, length, rows) = solver.last_step().unwrap();
        let slopes: Vec<f64> = rows[..state.len()].iter().map(|row| row[1] / length).collect();
        near(slopes[0], 10.0 - 0.5 * 10.0 * 120.0 * 0.1);
        near(slopes[1], 0.3 / 0.2 - 0.2 * 20.0 * 150.0 * 0.1);
        if averaging > 0.0 {
            near(slopes[2], (load - 0.4) / 0.5);
        }
    }
}

#[test]
fn a_point_is_the_state_and_the_past_of_a_run_that_stands_there() {
    for averaging in [0.0, 0.05] {
        let mut parameters = two(Price::Power { exponent: 2.0 }, averaging);
        parameters.classes[1].rtt = 0.25;
        let point = parameters.equilibrium().unwrap();
        // What all send at that probability is the load that it is charged for.
        let window = libm::sqrt(2.0 / point.loss);
        assert_eq!(point.windows, [window, window]);
        near(point.loss, point.load * point.load);
        near((3.0 * window / 0.1 + 5.0 * window / 0.25) / 2000.0, point.load);
        let own = if averaging > 0.0 { vec![point.load] } else { Vec::new() };
        let kicked = [vec![1.1 * window, 1.1 * window], own.clone()].concat();
        for (got, want) in parameters.state_at(&point, 0.1).iter().zip(&kicked) {
            near(*got, *want);
        }
        let past = [vec![window, window], own, vec![point.loss]].concat();
        assert_eq!(parameters.past_at(&point), past);
    }
}

#[test]
fn the_point_of_a_price_with_several_is_the_one_with_the_highest_load() {
    let mut parameters = power(2.0, 0.3);
    parameters.price = Price::Ramp { start: 0.6, exponent: 2.0, clipped: false };
    let all = parameters.equilibria().unwrap();
    assert!(all.windows(2).all(|two| two[0].load < two[1].load));
    for point in &all {
        let window = libm::sqrt(2.0 / point.loss);
        near(60.0 * window / 0.3 / 3750.0, point.load);
    }
    assert_eq!(parameters.equilibrium().unwrap(), all[2]);
}

#[test]
fn every_parameter_has_bounds() {
    type Change = fn(&mut Parameters, f64);
    let cases: [(&str, Change, &[f64], &[f64]); 4] = [
        ("classes[1].flows", |p, x| p.classes[1].flows = x, &[1e-9, 1e12], &[0.0, 1.1e12]),
        ("classes[1].rtt", |p, x| p.classes[1].rtt = x, &[1e-9, 1e6], &[0.0, 1.1e6]),
        ("capacity", |p, x| p.capacity = x, &[1e-9, 1e12], &[0.0, 1.1e12]),
        ("averaging", |p, x| p.averaging = x, &[0.0, 1e6], &[-1e-9, 1.1e6]),
    ];
    for (field, change, right, wrong) in cases {
        let with = |value| {
            let mut parameters = two(Price::Power { exponent: 2.0 }, 0.0);
            change(&mut parameters, value);
            parameters.validate()
        };
        right.iter().for_each(|value| assert_eq!(with(*value), Ok(()), "{field} = {value}"));
        for value in wrong.iter().chain(&[f64::NAN]) {
            let why = with(*value).unwrap_err().to_string();
            assert!(why.starts_with(&format!("{field} = {value}: must be ")), "{why}");
        }
    }
    let none = Parameters { classes: Vec::new(), ..power(1.0, 0.1) };
    let why = none.validate().unwrap_err().to_string();
    assert!(why.starts_with("classes = []: there must be at least one"), "{why}");
    let price = Price::Power { exponent: 0.0 };
    assert!(two(price, 0.0).validate().is_err());
}
