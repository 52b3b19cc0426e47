//! What is derived against the closed forms of the papers.

mod described;
mod many;
mod systems;

use super::*;
use crate::price::Price;

/// 60 flows on 15 Mb/s in packets of 500 bytes, 246 ms with the wait: the example of INFOCOM 2001.
const PAPER: &str = r#""flows": 60, "capacity": 3750, "rtt": 0.246"#;

fn described(text: &str) -> Bottleneck {
    sojourn_scenario::from_json(&format!("{{{text}}}")).unwrap()
}

fn found(text: &str) -> Loop {
    described(text).linearise().unwrap()
}

fn close(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-9 * want.abs(), "{got} {want}");
}

/// A loop's polynomials against those wanted, to 1e-9.
fn agree(found: &Loop, numerator: &[f64], denominator: &[f64]) {
    for (got, want) in [(&found.numerator, numerator), (&found.denominator, denominator)] {
        let got = got.as_ref().unwrap();
        assert_eq!(got.len(), want.len(), "{got:?} {want:?}");
        for (got, want) in got.iter().zip(want) {
            close(*got, *want);
        }
    }
}

fn product(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut found = vec![0.0; one.len() + other.len() - 1];
    for (i, a) in one.iter().enumerate() {
        for (j, b) in other.iter().enumerate() {
            found[i + j] += a * b;
        }
    }
    found
}

/// Hollot's plant: numerator C²/2N, denominator (s + 2N/(R²C))(s + 1/R).
fn plant() -> (f64, Vec<f64>) {
    let (n, c, r) = (60.0, 3750.0, 0.246);
    (c * c / (2.0 * n), product(&[1.0, 2.0 * n / (r * r * c)], &[1.0, 1.0 / r]))
}

#[test]
fn the_plant_of_reno_is_that_of_infocom_2001() {
    let (gain, denominator) = plant();
    agree(&found(&format!(r#"{PAPER}, "queue": 0"#)), &[gain], &denominator);
    agree(&found(&format!(r#"{PAPER}, "queue": 175"#)), &[gain], &denominator);
}

#[test]
fn the_proportional_controller_is_a_gain_on_the_plant() {
    let (gain, denominator) = plant();
    let proportional = |slope: f64, more: &str| {
        let kind = r#""kind": "proportional""#;
        found(&format!(r#"{PAPER}, "qdisc": {{{kind}, "slope": {slope}, "offset": 20}}{more}"#))
    };
    for slope in [1e-4, 5.88e-5, 1e-2] {
        let derived = proportional(slope, "");
        agree(&derived, &[gain * slope], &denominator);
        assert_eq!(derived.states, ["window", "queue"]);
        assert_eq!((derived.delay, derived.hold), (0.246, 0.0));
        // The error that it leaves: p/K above the offset.
        close(derived.point.queue, 20.0 + derived.point.p / slope);
        close(derived.point.window * derived.point.window * derived.point.p, 2.0);
    }
    let twice = proportional(1e-4, r#", "gain": 2"#);
    agree(&twice, &[2.0 * gain * 1e-4], &denominator);
}

#[test]
fn pi_adds_its_pole_and_zero() {
    let (gain, denominator) = plant();
    let (a, b, hz) = (1.822e-5, 1.816e-5, 160.0);
    let (k, proportional) = ((a - b) * hz, 0.5 * (a + b));
    let pi = format!(
        r#"{PAPER}, "qdisc": {{"kind": "pi", "a": {a}, "b": {b}, "frequency": {hz}, "qref": 175}}"#
    );
    let derived = found(&pi);
    agree(&derived, &[gain * proportional, gain * k], &product(&denominator, &[1.0, 0.0]));
    close(derived.point.window * derived.point.window * derived.point.p, 2.0);
    close(derived.point.propagation, 0.246 - 175.0 / 3750.0);
    assert_eq!((derived.delay, derived.hold), (0.246, 1.0 / 160.0));
    assert_eq!(derived.states, ["window", "queue", "law"]);
}

#[test]
fn red_is_a_pole_at_the_rate_of_its_average() {
    let (gain, denominator) = plant();
    let (l, k) = (0.1 / 550.0, -libm::log1p(-1.33e-6) * 3750.0);
    let red = format!(
        r#"{PAPER}, "qdisc": {{"kind": "red", "min_th": 150, "max_th": 700, "wq": 1.33e-6}}"#
    );
    agree(&found(&red), &[gain * l * k], &product(&denominator, &[1.0, k]));
}

#[test]
fn rem_pie_and_pi2_are_pi_with_gains_of_their_own() {
    let (gain, denominator) = plant();
    let p = 2.0 / (0.246_f64 * 3750.0 / 60.0).powi(2);
    let delay = |alpha: f64, beta: f64, t: f64, factor: f64| {
        (factor * beta / 3750.0, factor * alpha / t / 3750.0)
    };
    let rem = libm::log(1.001) * (1.0 - p) * 0.001;
    for (kind, (proportional, integral)) in [
        ("rem", (rem, rem * 0.1 / 0.002)),
        // p is 0.0085: an eighth.
        ("pie", delay(0.125, 1.25, 0.015, 1.0 / 8.0)),
        ("pi2", delay(0.3125, 3.125, 0.032, 2.0 * libm::sqrt(p))),
    ] {
        let derived = found(&format!(r#"{PAPER}, "qdisc": "{kind}""#));
        let wanted = [gain * proportional, gain * integral];
        agree(&derived, &wanted, &product(&denominator, &[1.0, 0.0]));
    }
}

#[test]
fn codel_is_an_integrator_behind_the_describing_function_of_a_relay() {
    let (gain, denominator) = plant();
    let amplitude = 0.02;
    let codel = found(&format!(r#"{PAPER}, "qdisc": "codel", "amplitude": {amplitude}"#));
    let ramp = 1.0 / (2.0 * 0.01 * 3750.0);
    let relay = 4.0 / (std::f64::consts::PI * amplitude * 3750.0);
    agree(&codel, &[gain * ramp * relay], &product(&denominator, &[1.0, 0.0]));
}

#[test]
fn ared_rests_with_the_max_p_that_keeps_its_average_in_the_middle() {
    let (gain, denominator) = plant();
    let text = format!(r#"{PAPER}, "qdisc": {{"kind": "ared", "min_th": 50, "max_th": 150}}"#);
    let derived = found(&text);
    assert!((derived.point.queue - 100.0).abs() < 1e-9);
    let (l, k) = (2.0 * derived.point.p / 100.0, 1.0);
    agree(&derived, &[gain * l * k], &product(&denominator, &[1.0, k]));
}

#[test]
fn other_windows_have_the_pole_and_the_gain_of_their_law() {
    for (congestion, law) in [
        (r#"{"kind": "aimd", "a": 0.31, "b": 0.125}"#, [0.31, 0.0]),
        (r#"{"kind": "scalable", "lwnd": 0}"#, [0.0, 0.01]),
    ] {
        let plant = found(&format!(r#"{PAPER}, "queue": 0, "congestion": {congestion}"#));
        let (n, r, w) = (60.0, 0.246, 0.246 * 3750.0 / 60.0);
        let increase = law[0] + law[1] * w;
        // λ = (I/W + D' I/D − I')/R, and N W D/R².
        let pole = (2.0 * increase / w - law[1]) / r;
        let gain = n * w * 0.125 * w / (r * r);
        agree(&plant, &[gain], &product(&[1.0, pole], &[1.0, 1.0 / r]));
    }
}

#[test]
fn the_whole_equation_of_misra_gong_and_towsley_has_the_late_window_and_the_change_of_the_round_trip()
 {
    // dW/dt = 1/R − W W(t−R)/(2R(t−R)) p(t−R), dq/dt = N W/R − C, about W0² p0 = 2.
    let (n, r, c) = (60.0, 0.246, 3750.0);
    let w = r * c / n;
    let plant = found(&format!(r#"{PAPER}, "queue": 175, "form": "fluid""#));
    assert_eq!(plant.delayed.len(), 1);
    let (delay, late) = &plant.delayed[0];
    assert_eq!(*delay, r);
    let want = [-1.0 / (w * r), -1.0 / (r * r * c), n / r, -1.0 / r];
    for (got, want) in plant.a0.iter().flatten().zip(want) {
        close(*got, want);
    }
    close(late[0][0], -1.0 / (w * r));
    close(late[0][1], 1.0 / (r * r * c));
    assert_eq!((late[1][0], late[1][1]), (0.0, 0.0));
    close(plant.b[0].1[0], -w * w / (2.0 * r));
}

#[test]
fn sampling_and_its_hold_are_a_second_delay() {
    let (a, b, hz) = (1.822e-5, 1.816e-5, 160.0);
    let pi = format!(
        r#"{PAPER}, "sampled": true, "qdisc": {{"kind": "pi", "a": {a}, "b": {b}, "frequency": {hz}}}"#
    );
    let derived = found(&pi);
    // dp/dt = (a q(t) − b q(t − T))/T.
    close(derived.a0[2][1], a * hz);
    assert_eq!(derived.a0[2][0], 0.0);
    let (_, late) = derived.delayed.iter().find(|(delay, _)| *delay == 1.0 / hz).unwrap();
    close(late[2][1], -b * hz);
    assert_eq!(derived.numerator, None);
    // The others add up the present excess and the change since the last instant.
    let pie = found(&format!(r#"{PAPER}, "sampled": true, "qdisc": "pie""#));
    let (proportional, integral) = (1.25 / 8.0 / 3750.0, 0.125 / 0.015 / 8.0 / 3750.0);
    close(pie.a0[2][1], (proportional + integral * 0.015) / 0.015);
    let (_, late) = pie.delayed.iter().find(|(delay, _)| (delay - 0.015).abs() < 1e-12).unwrap();
    close(late[2][1], -proportional / 0.015);
}

#[test]
fn rate_feedback_rests_at_the_window_of_its_closed_form_and_turns_where_that_says() {
    for b in [1.0, 2.0, 4.0, 16.0, 32.0] {
        for r in [0.05, 0.1, 0.3, 0.8] {
            let text = format!(
                r#""flows": 60, "capacity": 3750, "rtt": {r}, "form": "fluid",
                   "price": {{"kind": "power", "exponent": {b}}}"#
            );
            let derived = found(&text);
            let w = libm::pow(2.0 * libm::pow(r * 3750.0 / 60.0, b), 1.0 / (2.0 + b));
            close(derived.point.window, w);
            // s + κ + κ (1 + B) e^(−sR), κ = 1/(R W0).
            let kappa = 1.0 / (r * w);
            agree(&derived, &[kappa * (1.0 + b)], &[1.0, kappa]);
            // Stable iff W0 > sqrt((1 + B)² − 1)/arccos(−1/(1 + B)).
            let gain = 1.0 + b;
            let bound = libm::sqrt(gain * gain - 1.0) / libm::acos(-1.0 / gain);
            let [flows] = [60.0];
            let rows = described(&text).margins(&Columns::new(vec![("flows", &[flows])]).unwrap());
            let (_, phase) = rows.unwrap().arrays().next().unwrap();
            assert_eq!(phase[0] > 0.0, w > bound, "B = {b}, R = {r}: {phase:?}");
        }
    }
}

#[test]
fn scalable_turns_where_vinnicombes_loop_does() {
    // s + κ + κ B e^(−sR) with κ = a/R: growth is clocked by acknowledgements.
    let text = r#""flows": 60, "capacity": 3750, "rtt": 0.1, "form": "fluid",
        "congestion": {"kind": "scalable", "a": 0.05, "lwnd": 0},
        "price": {"kind": "power", "exponent": 16}"#;
    agree(&found(text), &[0.5 * 16.0], &[1.0, 0.5]);
}

#[test]
fn averaging_of_a_rate_is_one_more_pole() {
    let text = r#""flows": 60, "capacity": 3750, "rtt": 0.3, "averaging": 0.05,
        "price": {"kind": "power", "exponent": 4}"#;
    let derived = found(text);
    let kappa = 1.0 / (0.3 * derived.point.window);
    agree(&derived, &[kappa * 4.0 / 0.05], &product(&[1.0, 2.0 * kappa], &[1.0, 20.0]));
}

#[test]
fn other_prices_have_their_elasticity_in_the_place_of_b() {
    for (price, at) in [
        (
            r#"{"kind": "ramp", "start": 0.3, "exponent": 2, "clipped": true}"#,
            Price::Ramp { start: 0.3, exponent: 2.0, clipped: true },
        ),
        (r#"{"kind": "exponential", "price": 0.5}"#, Price::Exponential { price: 0.5 }),
    ] {
        let text = format!(
            r#""flows": 60, "capacity": 3750, "rtt": 0.3, "form": "fluid", "price": {price}"#
        );
        let derived = found(&text);
        let kappa = 1.0 / (0.3 * derived.point.window);
        let elasticity = at.elasticity(derived.point.load);
        agree(&derived, &[kappa * (1.0 + elasticity)], &[1.0, kappa]);
    }
    let branch = |branch: i64| {
        let text = format!(
            r#""flows": 60, "capacity": 3750, "rtt": 0.3, "branch": {branch}, "form": "fluid",
               "price": {{"kind": "ramp", "start": 0.6, "exponent": 2, "clipped": false}}"#
        );
        described(&text).linearise()
    };
    // In the first more than all would have to be marked.
    assert!(branch(0).unwrap_err().contains("must be at most 1"));
    let windows = [1, 2, -1].map(|n| branch(n).unwrap().point.window);
    assert!(windows[0] < windows[1] && windows[1] == windows[2], "{windows:?}");
    assert_eq!(branch(-1).unwrap().point.branches, 3);
    assert!(branch(3).unwrap_err().starts_with("branch = 3: there are 3 equilibria"));
}

#[test]
fn many_margins_are_those_of_each() {
    for qdisc in ["proportional", "pi", "rem", "pie", "pi2", "codel", "red", "ared"] {
        for round_trip in ["rtt", "propagation"] {
            let (flows, times) = ([20.0, 60.0, 200.0], [0.08, 0.246, 0.7]);
            let text = format!(
                r#""flows": 1, "capacity": 3750, "{round_trip}": 1, "qdisc": "{qdisc}",
                   "coefficients": true"#
            );
            let columns = Columns::new(vec![("flows", &flows), (round_trip, &times)]).unwrap();
            let rows: Vec<_> = described(&text).margins(&columns).unwrap().arrays().collect();
            for i in 0..3 {
                let one = format!(
                    r#""flows": {}, "capacity": 3750, "{round_trip}": {}, "qdisc": "{qdisc}""#,
                    flows[i], times[i]
                );
                let (_, phase) = &rows[0];
                match described(&one).linearise() {
                    Err(error) => assert!(phase[i].is_nan(), "{error}: {}", phase[i]),
                    Ok(one) => {
                        close(rows[2].1[i], one.point.window);
                        let denominator = one.denominator.unwrap();
                        let last = rows[8].1.len() / 3;
                        assert_eq!(last, denominator.len());
                        for (power, want) in denominator.iter().enumerate() {
                            close(rows[8].1[3 * power + i], *want);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_law_without_a_derivative_says_so() {
    let wrong = |text: &str| described(&format!("{PAPER}, {text}")).linearise().unwrap_err();
    assert!(wrong(r#""qdisc": "droptail""#).contains("no derivative"));
    // The profile bends at max_th, and max_p is what holds the window.
    let p = 2.0 / (0.246_f64 * 3750.0 / 60.0).powi(2);
    let kink = format!(r#""qdisc": {{"kind": "red", "min_th": 5, "max_th": 15, "max_p": {p}}}"#);
    assert!(
        wrong(&kink).contains("red: it has no derivative at its operating point"),
        "{}",
        wrong(&kink)
    );
    // What has none, drop-tail, is not proposed.
    let blue = wrong(r#""qdisc": "blue""#);
    let kinds = "red, ared, proportional, pi, pi2, rem, pie, codel, rate";
    assert!(blue.ends_with(&format!("there is no law for it; use one of {kinds}")), "{blue}");
    for kind in kinds.split(", ") {
        assert!(described(&format!(r#"{PAPER}, "qdisc": "{kind}""#)).linearise().is_ok(), "{kind}");
    }
    assert!(
        wrong(r#""qdisc": {"kind": "pi", "qref": 1000}"#).contains("longer than the whole round")
    );
    let text = r#""flows": 100, "capacity": 10, "rtt": 0.1, "qdisc": "pie""#;
    assert!(described(text).linearise().unwrap_err().contains("it must be at least 1"));
    let text = r#""flows": 60, "capacity": 3750, "rtt": 0.02, "qdisc": "pie""#;
    assert!(described(text).linearise().unwrap_err().contains("it must be at most 1"));
    let text = r#""flows": 400, "capacity": 3750, "rtt": 0.3,
        "qdisc": {"kind": "red", "max_p": 0.01, "gentle": false}"#;
    assert!(described(text).linearise().unwrap_err().contains("more than the profile gives"));
}

#[test]
fn a_law_that_counts_in_smaller_packets_rests_at_as_many_bytes_with_a_higher_gain() {
    // Packets of 500 bytes count as two of 250, in the queue and in the probability.
    let (gain, denominator) = plant();
    let count = r#""queue_in_bytes": true, "scale_by_size": true, "mean_packet": 250"#;
    let with = |qdisc: &str| {
        found(&format!(r#"{PAPER}, "mean_packet": 500, "qdisc": {{{qdisc}, {count}}}"#))
    };
    let pi = with(r#""kind": "pi", "a": 1.822e-5, "b": 1.816e-5, "frequency": 160, "qref": 350"#);
    close(pi.point.queue, 175.0);
    let (k, proportional) = (0.006e-5 * 160.0, 1.819e-5);
    agree(&pi, &[4.0 * gain * proportional, 4.0 * gain * k], &product(&denominator, &[1.0, 0.0]));
    let slope = with(r#""kind": "proportional", "slope": 1e-4, "offset": 20"#);
    close(slope.point.queue, 0.5 * (20.0 + 0.5 * slope.point.p / 1e-4));
    agree(&slope, &[4.0 * gain * 1e-4], &denominator);
    // 0.1/50 for each packet above 5 of the average.
    let red = with(r#""kind": "red", "min_th": 5, "max_th": 55, "wq": 1.33e-6"#);
    close(red.point.queue, 0.5 * (5.0 + 0.5 * red.point.p / 0.002));
    close(red.point.window * red.point.window * red.point.p, 2.0);
}

#[test]
fn laws_of_the_delay_hold_their_target_whatever_the_rate() {
    for capacity in [1000.0, 3750.0] {
        for (kind, target) in [("pie", 0.03), ("pi2", 0.03)] {
            let text = format!(
                r#""flows": 20, "capacity": {capacity}, "propagation": 0.2,
                   "qdisc": {{"kind": "{kind}", "target": "30ms"}}"#
            );
            let found = found(&text);
            close(found.point.queue, target * capacity);
            close(found.point.rtt, 0.2 + target);
        }
    }
}

#[test]
fn a_law_bends_at_its_bounds_and_nowhere_near_them() {
    // PIE's gains change at p = 0.01.
    let at = |p: f64| {
        let rtt = libm::sqrt(2.0 / p) * 60.0 / 3750.0;
        described(&format!(r#""flows": 60, "capacity": 3750, "rtt": {rtt}, "qdisc": "pie""#))
            .linearise()
    };
    assert!(at(0.01).unwrap_err().contains("it bends there"));
    for p in [0.01 * (1.0 - 1e-8), 0.01 * (1.0 + 1e-8)] {
        assert!(at(p).is_ok(), "{p}");
    }
}

#[test]
fn what_a_profile_lacks_is_told_at_its_end() {
    // At 15 packets the round trip is 0.304 s: W = 2.85.
    let text = r#""flows": 400, "capacity": 3750, "propagation": 0.3,
        "qdisc": {"kind": "red", "max_p": 0.01, "gentle": false}"#;
    let why = described(text).linearise().unwrap_err();
    assert!(why.contains("need a probability of 0.246,"), "{why}");
}
