//! What all laws have in common: how they are made, where they bend, what they say of themselves.

use super::*;
use crate::Price;

/// A law whose probability follows from its own state, and where that bends.
fn profiles() -> Vec<(QueueLaw, Vec<f64>)> {
    let red = |gentle| {
        let (min_th, max_th, max_p, wq) = (5.0, 15.0, 0.1, 0.002);
        Red { min_th, max_th, max_p, wq, gentle, spacing: None, fastest: f64::INFINITY }
    };
    let rate = |price| QueueLaw::Rate(Rate { price, averaging: 0.1, capacity: 1000.0 });
    let ramp = Price::Ramp { start: 0.5, exponent: 1.0, clipped: true };
    let pie = DelayPi { target: 0.015, alpha: 0.125, beta: 1.25, period: 0.015 };
    vec![
        (red(false).into(), vec![5.0, 15.0]),
        (red(true).into(), vec![5.0, 15.0, 30.0]),
        (rate(Price::Power { exponent: 2.0 }), vec![1.0]),
        (rate(ramp), vec![0.5, 1.0]),
        (rate(Price::Exponential { price: 0.5 }), vec![]),
        (Pie(pie).into(), vec![1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1]),
    ]
}

/// A guard is what is left to the next bend, and crossing bend after bend leads from the piece
/// that fits one state to that which fits another.
#[test]
fn guards_lead_from_any_piece_to_the_one_that_fits() {
    let view = View { queue: 100.0, inflow: 1000.0, capacity: 1000.0, ..View::default() };
    for (law, bends) in profiles() {
        // In the middle of each piece, and beyond the last.
        let mut places: Vec<f64> =
            [0.0].iter().chain(&bends).zip(&bends).map(|(low, high)| 0.5 * (low + high)).collect();
        places.push(bends.last().map_or(0.7, |last| 1.3 * last));
        for (from, &start) in places.iter().enumerate() {
            for (to, &end) in places.iter().enumerate() {
                let mut mode = law.mode_at(start, &view);
                let mut crossings = 0;
                loop {
                    let guards = law.guards(&mode, end, &view);
                    let Some(guard) = guards.iter().position(|guard| *guard < 0.0) else {
                        assert!(guards.iter().all(|guard| *guard > 0.0), "{law:?}");
                        break;
                    };
                    assert_eq!(guard, usize::from(to > from), "{law:?}: {start} {end}");
                    law.crossed(&mut mode, guard, &mut end.clone(), &view);
                    crossings += 1;
                }
                assert_eq!(crossings, from.abs_diff(to), "{law:?}: from {start} to {end}");
                assert_eq!(mode.piece, law.mode_at(end, &view).piece, "{law:?}");
            }
        }
        for bend in bends {
            let close = |own: f64| {
                let guards = law.guards(&law.mode_at(own, &view), own, &view);
                guards.into_iter().fold(f64::INFINITY, |least, guard| least.min(guard.abs()))
            };
            assert!(close(bend * (1.0 - 1e-9)) < 1e-7 && close(bend * (1.0 + 1e-9)) < 1e-7);
            assert!(close(0.97 * bend) > 1e-3, "{law:?}: {bend}");
        }
    }
}

/// Packets of 500 bytes in frames of 625 on a link of 8 Mb/s, 1600 a second, where 1000 bytes are
/// the mean packet.
fn env() -> Env {
    Env {
        rate: 8e6,
        packet: 500.0,
        frame: 625.0,
        mean_packet: 1000,
        fastest: 7000.0,
        spaced: true,
        amplitude: None,
    }
}

fn of(text: &str) -> Made<QueueLaw> {
    let config: Config = sojourn_scenario::from_json(&format!("{{{text}}}")).unwrap();
    QueueLaw::of(&config, &env()).unwrap()
}

const BYTES: &str = r#""queue_in_bytes": true, "scale_by_size": true"#;

#[test]
fn laws_are_made_of_the_parameters_of_their_disciplines() {
    let delay = |target, alpha, beta, period| DelayPi { target, alpha, beta, period };
    let red = |min_th, max_th, max_p, wq| Red {
        min_th,
        max_th,
        max_p,
        wq,
        gentle: false,
        spacing: Some(sojourn_qdisc::Spacing::Altq),
        fastest: 7000.0,
    };
    let ramp = Price::Ramp { start: 0.25, exponent: 3.0, clipped: true };
    let power = Price::Power { exponent: 3.0 };
    let cases: Vec<(&str, QueueLaw)> = vec![
        (
            r#""kind": "red", "min_th": 6, "max_th": 18, "max_p": 0.2, "wq": 0.01,
               "gentle": false, "spacing": "altq""#,
            red(6.0, 18.0, 0.2, 0.01).into(),
        ),
        (
            r#""kind": "ared", "min_th": 6, "max_th": 18, "max_p": 0.2, "wq": 0.01,
               "gentle": false, "spacing": "altq", "bottom": 0.02, "top": 0.4, "alpha": 0.03,
               "beta": 0.8, "interval": "250ms""#,
            Ared {
                red: red(6.0, 18.0, 0.2, 0.01),
                bottom: 0.02,
                top: 0.4,
                alpha: 0.03,
                beta: 0.8,
                interval: 0.25,
            }
            .into(),
        ),
        (
            r#""kind": "proportional", "slope": 0.001, "offset": 40"#,
            Proportional { slope: 0.001, offset: 40.0 }.into(),
        ),
        (
            r#""kind": "pi", "a": 2e-5, "b": 1e-5, "frequency": 100, "qref": 70"#,
            Pi { integral: 1e-3, proportional: 1.5e-5, qref: 70.0, period: 0.01 }.into(),
        ),
        (
            r#""kind": "pi2", "target": "30ms", "alpha": 0.25, "beta": 2.5, "tupdate": "16ms""#,
            Pi2(delay(0.03, 0.25, 2.5, 0.016)).into(),
        ),
        (
            r#""kind": "pie", "target": "30ms", "alpha": 0.25, "beta": 2.5, "tupdate": "16ms""#,
            Pie(delay(0.03, 0.25, 2.5, 0.016)).into(),
        ),
        (
            r#""kind": "rem", "gamma": 0.01, "alpha": 0.2, "phi": 1.01, "qref": 70,
               "period": "5ms""#,
            Rem { gamma: 0.01, alpha: 0.2, phi: 1.01, qref: 70.0, period: 0.005, capacity: 1000.0 }
                .into(),
        ),
        (
            r#""kind": "rate", "exponent": 3, "start": 0.25, "averaging": "100ms",
               "period": "10ms""#,
            Rate { price: ramp, averaging: 0.11, capacity: 1000.0 }.into(),
        ),
        (
            r#""kind": "rate", "exponent": 3, "start": 0, "averaging": "0ms", "period": "10ms""#,
            Rate { price: power, averaging: 0.01, capacity: 1000.0 }.into(),
        ),
    ];
    for (text, law) in cases {
        let made = of(&format!(r#"{text}, "limit": 300"#));
        match (&made.law, &law) {
            (QueueLaw::Pi(got), QueueLaw::Pi(want)) => {
                for (got, want) in [
                    (got.integral, want.integral),
                    (got.proportional, want.proportional),
                    (got.qref, want.qref),
                    (got.period, want.period),
                ] {
                    assert!((got / want - 1.0).abs() < 1e-12, "{got} {want}");
                }
            }
            (got, want) => assert_eq!(got, want),
        }
        assert_eq!((made.buffer, made.unit, made.weight), (300.0, 1.0, 1.0), "{text}");
    }
}

#[test]
fn rem_and_rate_reckon_with_the_link_as_their_discipline_does() {
    let capacity = |text: &str| match of(text).law {
        QueueLaw::Rem(rem) => rem.capacity,
        QueueLaw::Rate(rate) => rate.capacity,
        other => panic!("{other:?}"),
    };
    assert_eq!(env().capacity(), 1600.0);
    for kind in ["rem", "rate"] {
        assert_eq!(capacity(&format!(r#""kind": "{kind}""#)), 1000.0);
        assert_eq!(capacity(&format!(r#""kind": "{kind}", "mean_packet": 250"#)), 4000.0);
    }
}

#[test]
fn bytes_are_counted_in_the_mean_packets_of_the_discipline_or_of_the_link() {
    for kind in ["red", "ared", "proportional", "pi", "rem", "rate"] {
        let size = |text: &str| {
            let made = of(&format!(r#""kind": "{kind}", {text}"#));
            (made.unit, made.weight)
        };
        assert_eq!(size(r#""queue_in_bytes": true"#), (0.5, 1.0), "{kind}");
        assert_eq!(size(r#""scale_by_size": true"#), (1.0, 0.5), "{kind}");
        assert_eq!(size(&format!(r#"{BYTES}, "mean_packet": 250"#)), (2.0, 2.0), "{kind}");
    }
    // PIE looks at the delay, whatever is counted.
    let pie = of(r#""kind": "pie", "scale_by_size": true, "mean_packet": 250"#);
    assert_eq!((pie.unit, pie.weight), (1.0, 2.0));
}

#[test]
fn an_average_without_a_weight_is_one_over_a_second_of_mean_packets() {
    let wq = |text: &str| match of(text).law {
        QueueLaw::Red(red) | QueueLaw::Ared(Ared { red, .. }) => red.wq,
        other => panic!("{other:?}"),
    };
    for kind in ["red", "ared"] {
        let per = |rate: f64| -libm::expm1(-1.0 / rate);
        assert_eq!(wq(&format!(r#""kind": "{kind}""#)), per(1000.0));
        assert_eq!(wq(&format!(r#""kind": "{kind}", "mean_packet": 250"#)), per(4000.0));
    }
    // ARED's thresholds follow from the rate: half of the delay of 5 ms, and three times that.
    let QueueLaw::Ared(ared) = of(r#""kind": "ared", "mean_packet": 100"#).law else { panic!() };
    assert_eq!((ared.red.min_th, ared.red.max_th), (25.0, 75.0));
}

#[test]
fn what_has_no_law_is_refused() {
    let why = |text: &str| {
        let config: Config = sojourn_scenario::from_json(&format!("{{{text}}}")).unwrap();
        QueueLaw::of(&config, &env()).unwrap_err().to_string()
    };
    let kind = why(r#""kind": "blue""#);
    assert!(kind.starts_with("kind = \"blue\": there is no law for it; use one of droptail, red,"));
    assert!(why(r#""kind": "rem", "alpha": 0"#).starts_with("alpha = 0: must be above 0"));
    // What is wrong with a discipline is wrong with its law.
    assert!(why(r#""kind": "red", "min_th": 15, "max_th": 5"#).contains("max_th"));
}

#[test]
fn laws_say_what_they_hold_sample_and_look_at() {
    let (mean, hold) = (of(r#""kind": "pi", "frequency": 100, "qref": 70"#).law, 0.01);
    assert_eq!((mean.setpoint(9.0), mean.setpoint_dropping(9.0, 0.5)), (Some(70.0), Some(70.0)));
    assert!((mean.hold() - hold).abs() < 1e-15 && mean.rises().is_none());
    assert_eq!(mean.between(3.0, 1.0), 2.0);
    let law = |text: &str| of(text).law;
    for kind in ["pi2", "pie"] {
        let law = law(&format!(r#""kind": "{kind}", "target": "30ms", "tupdate": "16ms""#));
        assert_eq!((law.setpoint(1000.0), law.hold()), (Some(30.0), 0.016), "{kind}");
        assert_eq!((law.between(3.0, 1.0), law.looks_at_rate()), (3.0, true));
    }
    let rem = law(r#""kind": "rem", "qref": 70, "alpha": 0.2, "period": "4ms""#);
    assert_eq!((rem.setpoint(1000.0), rem.hold()), (Some(70.0), 0.004));
    // It rests where what it drops of 1000, a tenth of the arrivals, makes up for what is missing.
    let rests = rem.setpoint_dropping(1000.0, 0.1).unwrap();
    assert!((rests - (70.0 - 1000.0 / 9.0 * 0.004 / 0.2)).abs() < 1e-12, "{rests}");
    let far = rem.setpoint_dropping(1e6, 0.5).unwrap();
    assert!(far < 0.0, "so little does not keep a queue: {far}");
    for (text, state, rate) in [
        (r#""kind": "droptail""#, false, false),
        (r#""kind": "red""#, true, false),
        (r#""kind": "ared""#, true, false),
        (r#""kind": "proportional""#, false, false),
        (r#""kind": "pi""#, true, true),
        (r#""kind": "rem""#, true, true),
        (r#""kind": "codel""#, true, false),
        (r#""kind": "rate""#, true, true),
    ] {
        let law = law(text);
        assert_eq!((law.has_state(), law.looks_at_rate()), (state, rate), "{text}");
        assert!(law.scale() > 0.0 && law.scale() <= 1.0, "{text}");
    }
    // An average rests at the queue, a probability at itself.
    for (kind, rests) in [("red", 9.0), ("ared", 9.0), ("pi", 0.25), ("pie", 0.25), ("rate", 1.0)] {
        assert_eq!(law(&format!(r#""kind": "{kind}""#)).state_at(9.0, 0.25, 7.0), rests, "{kind}");
    }
    // A window of 100 packets needs 2e-4 only, which has to count.
    for kind in ["pi", "pi2", "pie"] {
        let law = law(&format!(r#""kind": "{kind}""#));
        assert!(law.scale() <= law.state_at(9.0, 2e-4, 7.0), "{kind}");
    }
    let price = Price::Power { exponent: 2.0 };
    let now = Rate { price, averaging: 0.0, capacity: 1000.0 };
    assert!(!now.has_state() && now.hold() == 0.0 && now.setpoint(1.0).is_none());
}

#[test]
fn a_price_on_the_rate_follows_it_with_its_time_constant() {
    let price = Price::Power { exponent: 2.0 };
    let view = View { inflow: 600.0, capacity: 1000.0, ..View::default() };
    let averaged = Rate { price, averaging: 0.5, capacity: 1000.0 };
    let mode = averaged.mode_at(0.4, &view);
    assert!((averaged.slope(&mode, 0.4, &view) - 0.4).abs() < 1e-12);
    assert!((averaged.probability(&mode, 0.4, &view) - 0.16).abs() < 1e-12);
    assert_eq!(averaged.state_at(9.0, 0.5, 7.0), 1.0);
    let now = Rate { price, averaging: 0.0, capacity: 1000.0 };
    let mode = now.mode_at(0.4, &view);
    assert_eq!(now.slope(&mode, 0.4, &view), 0.0);
    assert!((now.probability(&mode, 0.4, &view) - 0.36).abs() < 1e-12);
    assert!((now.guards(&mode, 0.4, &view)[1] - 0.4).abs() < 1e-12);
    for (averaging, right) in [(0.0, true), (1e6, true), (-1e-9, false), (1.1e6, false)] {
        assert_eq!(Rate::made(price, averaging, 1000.0).is_ok(), right, "{averaging}");
    }
    assert!(Rate::made(Price::Power { exponent: 0.0 }, 0.1, 1000.0).is_err());
    let made = Rate::made(price, 0.1, 1000.0).unwrap();
    assert_eq!((made.unit, made.weight, made.buffer), (1.0, 1.0, f64::from(u32::MAX)));
}
