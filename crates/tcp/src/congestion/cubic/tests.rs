//! CUBIC against the equations of RFC 9438, in floating point.

use super::*;
use crate::congestion::rounds::{MSS, Rounds, acked};
use alloc::vec::Vec;

fn seconds_of(q: u64) -> f64 {
    q as f64 / f64::from(1 << T_BITS)
}

#[test]
fn the_cube_root_is_exact() {
    for root in (0..1000u128).chain([4095, 65_537, 1 << 21, (1 << 30) + 7, (1 << 32) - 1]) {
        let cube = root * root * root;
        assert_eq!(cube_root(cube), root as u64);
        assert_eq!(cube_root(cube + 3 * root * root + 3 * root), root as u64, "next below");
        assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1) as u64);
    }
}

#[test]
fn cubic_integers_agree_with_floating_point() {
    for c in [0.001, 0.04, 0.4, 4.0, 100.0] {
        let tuning = State::tune(&Settings { c, ..Settings::default() }).unwrap();
        for short in [1.0, 3.0, 300.0, 5_100.0, 49_800.0, 3_000_000.0] {
            let k = seconds_of(tuning.k((short * 1024.0) as u64));
            let exact = libm::cbrt(short / c);
            assert!((k - exact).abs() < 2e-6 + exact * 1e-7, "{c} {short}: {k} {exact}");
        }
        for t in [0.01, 0.5, 3.0, 9.1, 70.0, 900.0] {
            let w = tuning.cubed((t * f64::from(1 << T_BITS)) as u64) as f64 / 1024.0;
            let exact = c * t * t * t;
            assert!((w - exact).abs() < 2e-3 + exact * 1e-5, "{c} {t}: {w} {exact}");
        }
    }
}

#[test]
fn the_window_follows_the_cubic_of_the_rfc() {
    let settings = Settings { reno_friendly: false, ..Settings::default() };
    let mut r: Rounds<State> = Rounds::new(&settings, 1000);
    r.loss();
    assert_eq!(r.window.cwnd, 700 * MSS);
    let k = libm::cbrt(300.0 / 0.4);
    let start = r.now;
    let mut plateau = 0.0f64;
    while r.now < start + Time::from_secs(15) {
        r.round();
        let t = (r.now - start).as_secs_f64();
        // The target is a round trip ahead, and reached within one.
        let exact = 0.4 * libm::pow(t - k, 3.0) + 1000.0;
        let later = 0.4 * libm::pow(t + 0.2 - k, 3.0) + 1000.0;
        let w = r.segments();
        if t > 0.5 {
            assert!(w > exact - 3.0 && w < later + 1.0, "{t}: {exact} {w} {later}");
        }
        if (t - k).abs() < 0.5 {
            plateau = plateau.max((w - 1000.0).abs());
        }
    }
    assert!(plateau < 1.0, "flat at the last maximum: {plateau}");
}

#[test]
fn small_windows_are_those_of_reno_with_the_same_average() {
    // 10 ms, 20 segments: K is 2.5 s, Reno's period far less.
    let mut r: Rounds<State> = Rounds::new(&Settings::default(), 20);
    r.rtt = Time::from_millis(10);
    r.loss();
    let alpha = 3.0 * 0.3 / 1.7;
    for n in 1..=10 {
        r.round();
        let exact = 14.0 + alpha * f64::from(n);
        assert!((r.segments() - exact).abs() < 0.35, "{n}: {} {exact}", r.segments());
    }
}

#[test]
fn alpha_rises_to_one_from_prior_window() {
    for (alpha_rises, alpha) in [(None, 1.0), (Some(true), 1.0), (Some(false), 0.9 / 1.7)] {
        let settings = Settings { alpha_rises, ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 20);
        r.rtt = Time::from_millis(10);
        r.loss();
        while r.segments() < 20.0 {
            r.round();
        }
        let before = r.segments();
        for _ in 0..10 {
            r.round();
        }
        let grown = r.segments() - before;
        assert!((grown - 10.0 * alpha).abs() < 0.6, "{alpha_rises:?}: {grown}");
    }
}

#[test]
fn in_whole_segments_a_loss_rounds_down_and_growth_waits_for_a_segment() {
    let whole = |segments| {
        let settings = Settings {
            alpha_rises: Some(false),
            whole_segments: Some(true),
            ..Settings::default()
        };
        let mut r: Rounds<State> = Rounds::new(&settings, segments);
        r.rtt = Time::from_millis(10);
        r.loss();
        r
    };
    for (before, left) in [(2, 2), (3, 2), (4, 2), (5, 3), (10, 7), (1000, 700)] {
        assert_eq!(whole(before).window.cwnd, left * MSS, "{before}");
    }
    // 3(1 − β)/(1 + β) of a segment a round trip: one in two, 0.53 in the long run.
    let mut r = whole(5);
    let mut windows = Vec::new();
    for _ in 0..8 {
        r.round();
        assert_eq!(r.window.cwnd % MSS, 0);
        windows.push(r.window.cwnd / MSS);
    }
    assert_eq!(windows, [3, 4, 4, 5, 5, 6, 6, 7]);
    // What was outstanding does not count.
    let at = Congested { flight: 3 * MSS, ..r.at() };
    r.control.on_loss(&r.tuning, &mut r.window, at);
    assert_eq!(r.window.cwnd, 4 * MSS);
}

#[test]
fn in_whole_segments_slow_start_ends_at_the_threshold() {
    for (whole_segments, end) in [(true, 5), (false, 6)] {
        let settings = Settings { whole_segments: Some(whole_segments), ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 4);
        r.window.ssthresh = 5 * MSS;
        let a = Acked { bytes: 2 * MSS, ..acked(2 * MSS) };
        r.control.on_ack(&r.tuning, &mut r.window, a);
        assert_eq!(r.window.cwnd, end * MSS);
    }
}

#[test]
fn in_whole_segments_the_window_grows_by_a_twentieth_until_something_is_lost() {
    for (whole_segments, least, most) in [(true, 310, 318), (false, 300, 302)] {
        let settings = Settings {
            whole_segments: Some(whole_segments),
            reno_friendly: false,
            ..Settings::default()
        };
        let mut r: Rounds<State> = Rounds::new(&settings, 300);
        r.window.ssthresh = r.window.cwnd;
        r.rtt = Time::from_millis(10);
        r.round();
        let grown = r.window.cwnd / MSS;
        assert!((least..=most).contains(&grown), "{grown}");
        r.loss();
        let left = r.window.cwnd;
        r.round();
        assert!(r.window.cwnd <= left + 2 * MSS, "then it follows the cubic");
    }
}

#[test]
fn fast_convergence_gives_way_below_the_last_maximum() {
    for (fast_convergence, expected) in [(true, 0.85 * 700.0), (false, 700.0)] {
        let settings = Settings { fast_convergence, ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 1000);
        r.loss();
        r.loss();
        let w_max = r.control.epoch.w_max as f64 / 1024.0;
        assert!((w_max - expected).abs() < 0.01, "{w_max}");
        assert_eq!(r.window.cwnd, 490 * MSS);
    }
}

#[test]
fn timeout_resets_w_max_and_undo_restores_it() {
    let mut r: Rounds<State> = Rounds::new(&Settings::default(), 1000);
    r.loss();
    r.round();
    let (epoch, at) = (r.control.epoch, r.at());
    r.control.on_timeout(&r.tuning, &mut r.window, at, true);
    assert_eq!((r.window.cwnd, r.control.epoch.w_max), (MSS, 0));
    r.control.on_undo(&r.tuning, &mut r.window);
    assert_eq!(r.control.epoch.began, epoch.began);
    assert_eq!(r.control.epoch.w_max, epoch.w_max);
}

#[test]
fn idle_time_does_not_advance_epoch() {
    let settings = Settings { reno_friendly: false, ..Settings::default() };
    let mut busy: Rounds<State> = Rounds::new(&settings, 1000);
    let mut idle: Rounds<State> = Rounds::new(&settings, 1000);
    for r in [&mut busy, &mut idle] {
        r.loss();
        (0..10).for_each(|_| r.round());
    }
    idle.now += Time::from_secs(20);
    (0..10).for_each(|_| busy.round());
    (0..10).for_each(|_| idle.round());
    let apart = idle.segments() / busy.segments() - 1.0;
    assert!(apart.abs() < 0.02, "{apart}");
}

#[test]
fn a_mark_may_take_less_than_a_loss() {
    let mut r: Rounds<State> =
        Rounds::new(&Settings { beta_ecn: 0.85, ..Settings::default() }, 1000);
    let at = r.at();
    r.control.on_mark(&r.tuning, &mut r.window, at);
    assert_eq!(r.window.cwnd, 850 * MSS);
}
