//! What a loop says of itself, and what is no loop.

use super::*;

#[test]
fn a_point_has_the_figures_of_its_flows() {
    let (n, c, r) = (60.0, 3750.0, 0.246);
    let w = r * c / n;
    for (congestion, [increase, decrease, rise, fall]) in [
        ("", [1.0, 0.5 * w, 0.0, 0.5]),
        (
            r#", "congestion": {"kind": "aimd", "a": 0.31, "b": 0.125}"#,
            [0.31, 0.125 * w, 0.0, 0.125],
        ),
        (r#", "congestion": {"kind": "scalable", "lwnd": 0}"#, [0.01 * w, 0.125 * w, 0.01, 0.125]),
    ] {
        let pi = r#""qdisc": {"kind": "pi", "qref": 175}"#;
        let point = found(&format!(r#"{PAPER}, {pi}{congestion}"#)).point;
        close(point.window, w);
        close(point.load, 1.0);
        close(point.queue, 175.0);
        close(point.rtt, r);
        close(point.propagation, r - 175.0 / c);
        close(point.p, increase / (decrease * w));
        assert_eq!((point.flows, point.capacity, point.branches), (n, c, 1));
        for (got, want) in [
            (point.increase, increase),
            (point.decrease, decrease),
            (point.increase_slope, rise),
            (point.decrease_slope, fall),
        ] {
            close(got, want);
        }
        let other = format!(
            r#""flows": 60, "capacity": 3750, "propagation": {}, {pi}{congestion}"#,
            r - 175.0 / c
        );
        let point = found(&other).point;
        close(point.window, w);
        close(point.rtt, r);
    }
}

#[test]
fn what_describes_no_loop_is_named() {
    let why = |text: &str| described(text).linearise().unwrap_err();
    let pi = r#""qdisc": "pi""#;
    for (text, wanted) in [
        (r#""flows": 0, "capacity": 3750, "rtt": 0.2"#, "flows = 0: must be above 0"),
        (r#""flows": 60, "capacity": -1, "rtt": 0.2"#, "capacity = -1: must be above 0"),
        (r#""flows": 60, "capacity": 3750, "rtt": 0"#, "rtt = 0: must be above 0"),
        (r#""flows": 60, "capacity": 3750, "propagation": 0"#, "propagation = 0: must be above 0"),
        (r#""flows": 60, "capacity": 3750"#, "rtt, propagation: exactly one of them must be given"),
        (
            r#""flows": 60, "capacity": 3750, "rtt": 0.2, "propagation": 0.1"#,
            "rtt, propagation: exactly one of them must be given",
        ),
        (
            r#""flows": 60, "capacity": 3750, "rtt": 0.2, "amplitude": 0"#,
            "amplitude = 0: must be above 0",
        ),
    ] {
        assert_eq!(why(&format!("{text}, {pi}")), wanted);
    }
    let one = "qdisc, price, queue: exactly one of them must be given";
    assert_eq!(why(PAPER), one);
    assert_eq!(why(&format!(r#"{PAPER}, {pi}, "queue": 10"#)), one);
    let price = |text: &str| why(&format!(r#"{PAPER}, "price": {text}"#));
    assert!(price(r#"{"kind": "power", "exponent": 0}"#).starts_with("exponent = 0: "));
    let averaging = r#"{"kind": "power", "exponent": 2}, "averaging": -1"#;
    assert!(price(averaging).starts_with("averaging = -1: "));
    let red = r#""qdisc": {"kind": "red", "min_th": 15, "max_th": 5}"#;
    assert!(why(&format!("{PAPER}, {red}")).contains("max_th"));
}

#[test]
fn a_price_that_never_gives_what_windows_need_has_no_point() {
    // 1000 times as many flows as packets in flight: at any load a window is below 1.
    let text = r#""flows": 1e6, "capacity": 10, "rtt": 0.1,
        "price": {"kind": "exponential", "price": 1}"#;
    let why = described(text).linearise().unwrap_err();
    assert_eq!(why, "no operating point: the price meets the law nowhere");
    let text = r#""flows": 60, "capacity": 3750, "rtt": 0.3, "branch": -2,
        "price": {"kind": "power", "exponent": 4}"#;
    let why = described(text).linearise().unwrap_err();
    assert_eq!(why, "branch = -2: there are 1 equilibria");
}

#[test]
fn many_points_of_a_price_that_rises_on_both_sides_are_all_found() {
    let point = |branch: i64| {
        let text = format!(
            r#""flows": 60, "capacity": 3750, "rtt": 0.3, "branch": {branch}, "form": "fluid",
               "price": {{"kind": "ramp", "start": 0.6, "exponent": 2, "clipped": false}}"#
        );
        found(&text).point
    };
    for branch in [1, 2] {
        let point = point(branch);
        let above = (point.load - 0.6) / 0.4;
        close(point.p, above * above);
        close(point.window * point.window * point.p, 2.0);
        close(point.load, 60.0 * point.window / 0.3 / 3750.0);
        assert_eq!(point.load > 0.6, branch == 2);
        assert_eq!((point.queue, point.propagation), (0.0, 0.3));
    }
}

#[test]
fn points_close_to_where_a_price_turns_are_found_on_both_sides() {
    // Windows of 6750 packets need 4e-8 only, which the parabola has close to its foot.
    for branch in [-2, -1] {
        let text = format!(
            r#""flows": 60, "capacity": 2.25e6, "rtt": 0.3, "branch": {branch}, "form": "fluid",
               "price": {{"kind": "ramp", "start": 0.6, "exponent": 2, "clipped": false}}"#
        );
        let point = found(&text).point;
        assert_eq!(point.load > 0.6, branch == -1, "{}", point.load);
        assert!((point.load - 0.6).abs() < 1e-4, "{}", point.load);
        let above = (point.load - 0.6) / 0.4;
        assert!((point.p / (above * above) - 1.0).abs() < 1e-6, "{} {above}", point.p);
        close(point.window * point.window * point.p, 2.0);
    }
}

#[test]
fn spaced_drops_are_almost_twice_their_probability() {
    let red = r#""qdisc": {"kind": "red", "min_th": 50, "max_th": 150, "max_p": 0.1}"#;
    for (more, spaced) in [("", false), (r#", "spaced": true"#, true)] {
        let point =
            found(&format!(r#""flows": 60, "capacity": 3750, "rtt": 0.246, {red}{more}"#)).point;
        let p = 0.1 * (point.queue - 50.0) / 100.0;
        close(point.p, if spaced { 2.0 * p / (1.0 + p) } else { p });
    }
}

#[test]
fn ared_in_bytes_rests_at_as_many_bytes_with_a_higher_gain() {
    let (gain, denominator) = plant();
    let text = format!(
        r#"{PAPER}, "mean_packet": 500, "qdisc": {{"kind": "ared", "min_th": 50, "max_th": 150,
           "bottom": 0.001, "queue_in_bytes": true, "scale_by_size": true, "mean_packet": 250}}"#
    );
    let derived = found(&text);
    // Packets of 500 bytes count as two of 250: 50 are 100, in the middle, where max_p is p.
    close(derived.point.queue, 50.0);
    let (slope, k) = (4.0 * derived.point.p / 100.0, 0.5);
    agree(&derived, &[gain * slope * k], &product(&denominator, &[1.0, k]));
}
