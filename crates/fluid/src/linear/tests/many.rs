//! Margins of many loops against those of each.

use super::*;

fn rows(text: &str, columns: Vec<(&str, &[f64])>) -> Vec<(&'static str, Vec<f64>)> {
    described(text).margins(&Columns::new(columns).unwrap()).unwrap().arrays().collect()
}

#[test]
fn a_row_has_the_margin_and_the_point_of_its_loop() {
    let bytes = r#""scale_by_size": true, "mean_packet": 250"#;
    let both = format!(r#""queue_in_bytes": true, {bytes}"#);
    let disciplines = [
        r#""kind": "proportional", "slope": 1e-4, "offset": 20"#.to_string(),
        format!(r#""kind": "proportional", "slope": 1e-4, "offset": 20, {both}"#),
        format!(r#""kind": "pi", "qref": 175, {both}"#),
        format!(r#""kind": "rem", {both}"#),
        r#""kind": "pie""#.to_string(),
        // Half of the probability, for which PIE has other gains.
        format!(r#""kind": "pie", {bytes}"#),
        r#""kind": "pi2""#.to_string(),
        format!(r#""kind": "red", "min_th": 5, "max_th": 400, {both}"#),
    ];
    for qdisc in disciplines {
        let text = |flows: f64, rtt: f64| {
            format!(
                r#""flows": {flows}, "capacity": 3750, "rtt": {rtt}, "mean_packet": 500,
                   "qdisc": {{{qdisc}}}"#
            )
        };
        let (flows, times) = ([60.0, 60.0, 40.0, 100.0], [0.246, 0.207, 0.3, 0.5]);
        let found = rows(&text(1.0, 1.0), vec![("flows", &flows), ("rtt", &times)]);
        let names: Vec<_> = found.iter().map(|(name, _)| *name).collect();
        let wanted = ["phase", "crossover", "window", "p", "rtt", "queue", "hold"];
        assert_eq!(names[..7], wanted);
        assert!(found[7].1.is_empty() && found[8].1.is_empty(), "nobody asked for polynomials");
        for i in 0..4 {
            let one = described(&text(flows[i], times[i])).linearise().unwrap();
            let nyquist = one.nyquist().unwrap();
            let wanted = [
                nyquist.phase_margin_deg.unwrap_or(f64::INFINITY),
                nyquist.gain_crossover.unwrap_or(0.0),
                one.point.window,
                one.point.p,
                one.point.rtt,
                one.point.queue,
                one.hold,
            ];
            for ((name, values), want) in found.iter().zip(wanted) {
                let got = values[i];
                assert!(
                    got == want || (got - want).abs() < 1e-6 * want.abs().max(1e-3),
                    "{qdisc} {name}: {got} {want}"
                );
            }
        }
    }
}

#[test]
fn what_is_held_loses_half_a_period_of_phase() {
    let text = format!(r#"{PAPER}, "qdisc": {{"kind": "pi", "frequency": 10}}"#);
    let held = format!(r#"{text}, "held": true"#);
    let [plain, held] = [text, held].map(|text| rows(&text, vec![("flows", &[60.0])]));
    close(held[1].1[0], plain[1].1[0]);
    assert_eq!(plain[6].1, [0.1]);
    close(plain[0].1[0] - held[0].1[0], (0.05 * plain[1].1[0]).to_degrees());
}

#[test]
fn gains_exponents_and_capacities_take_their_places() {
    let pi = r#""flows": 60, "capacity": 3750, "rtt": 0.246, "qdisc": "pi""#;
    let found = rows(pi, vec![("gain", &[1.0, 0.25]), ("capacity", &[3750.0, 5000.0])]);
    for (i, (gain, capacity)) in [(1.0, 3750.0), (0.25, 5000.0)].into_iter().enumerate() {
        let one = format!(
            r#""flows": 60, "capacity": {capacity}, "rtt": 0.246, "gain": {gain}, "qdisc": "pi""#
        );
        let nyquist = self::found(&one).nyquist().unwrap();
        close(found[0].1[i], nyquist.phase_margin_deg.unwrap());
        close(found[1].1[i], nyquist.gain_crossover.unwrap());
    }
    let price = r#""flows": 60, "capacity": 3750, "rtt": 0.3,
        "price": {"kind": "power", "exponent": 1}"#;
    for (i, window) in rows(price, vec![("exponent", &[2.0, 8.0])])[2].1.iter().enumerate() {
        let b = [2.0, 8.0][i];
        close(*window, libm::pow(2.0 * libm::pow(0.3 * 3750.0 / 60.0, b), 1.0 / (2.0 + b)));
    }
}

#[test]
fn a_loop_without_a_point_has_no_margin() {
    // A queue of 175 packets is longer than a round trip of 40 ms; windows of less than 1 are none.
    let text = r#""flows": 60, "capacity": 3750, "rtt": 1, "coefficients": true,
        "qdisc": {"kind": "pi", "qref": 175}"#;
    let columns: Vec<(&str, &[f64])> =
        vec![("rtt", &[0.04, 0.246, 0.246]), ("flows", &[60.0, 60.0, 1000.0])];
    let found = rows(text, columns.clone());
    let there: Vec<bool> = found[0].1.iter().map(|phase| !phase.is_nan()).collect();
    assert_eq!(there, [false, true, false]);
    // Every power's three, the highest first.
    let denominator = &found[8].1;
    assert_eq!(denominator.len(), 12);
    for power in denominator.chunks(3) {
        assert_eq!(power.iter().map(|c| !c.is_nan()).collect::<Vec<_>>(), there);
    }
    close(denominator[1], 1.0);
    // A greater least window may be asked for.
    let large = format!(r#"{text}, "window": 15.4"#);
    assert!(rows(&large, columns.clone())[0].1[1].is_nan());
    let enough = format!(r#"{text}, "window": 15.3"#);
    assert!(!rows(&enough, columns)[0].1[1].is_nan());
}

#[test]
fn columns_have_names_and_one_length() {
    let why = Columns::new(vec![("window", &[1.0])]).unwrap_err();
    assert!(why.starts_with("window: loops go over flows, capacity, rtt, "), "{why}");
    let margins = |text: &str, columns: Vec<(&str, &[f64])>| {
        described(text).margins(&Columns::new(columns).unwrap()).unwrap_err()
    };
    let pi = format!(r#"{PAPER}, "qdisc": "pi""#);
    let sizes = "columns: there must be some, of one length above 0";
    assert_eq!(margins(&pi, vec![]), sizes);
    assert_eq!(margins(&pi, vec![("flows", &[])]), sizes);
    assert_eq!(margins(&pi, vec![("flows", &[1.0, 2.0]), ("gain", &[1.0])]), sizes);
    let exponent = "exponent: there is none but a power's";
    let ramp = format!(r#"{PAPER}, "price": {{"kind": "ramp", "start": 0.5, "exponent": 1}}"#);
    assert_eq!(margins(&ramp, vec![("exponent", &[1.0])]), exponent);
    assert!(margins(&pi, vec![("flows", &[-1.0])]).starts_with("flows = -1: "));
    let sampled = format!(r#"{pi}, "sampled": true"#);
    assert!(margins(&sampled, vec![("flows", &[60.0])]).starts_with("sampled = true: "));
}
