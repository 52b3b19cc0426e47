//! BBR over a small closed model of a path, and its steps one by one.

mod losses;
mod model;
mod path;

use super::machine::Mode;
use super::*;
use crate::congestion::rounds::sample;
use path::Path;
use std::vec::Vec;

const MSS: u32 = 1000;

#[test]
fn startup_finds_rate_and_probe_bw_cycles() {
    let mut path = Path::new(100, 40, 2000);
    path.run(Time::from_secs(2));
    let order: Vec<Mode> = path.modes.iter().map(|&(_, mode)| mode).collect();
    // Drained as it is, DOWN turns into CRUISE at once.
    assert_eq!(order[..3], [Mode::Startup, Mode::Drain, Mode::Cruise], "{order:?}");
    let found = path.state.model.greatest() as f64 / path.rate as f64;
    assert!((found - 1.0).abs() < 0.02, "{found}");
    assert!(path.state.model.min_rtt < Time::from_millis(41));
    path.longest = 0;
    let used = path.run(Time::from_secs(30));
    assert!(used > 0.95, "{used}");
    // 500 segments fill the path: UP adds at most 1.25 of that in the three round trips that it
    // takes to see that nothing is gained.
    assert!(path.longest < 625, "{}", path.longest);
    let (up, refill) = (path.times_in(Mode::Up), path.times_in(Mode::Refill));
    assert!(up >= 8 && up.abs_diff(refill) <= 1, "{up} {refill}");
}

#[test]
fn probe_rtt_starts_after_five_seconds_without_new_min_rtt() {
    let mut path = Path::new(20, 40, 1000);
    path.run(Time::from_secs(1));
    // The path becomes longer: what was the least is never seen again.
    path.delay = Time::from_millis(60);
    path.run(Time::from_secs(40));
    let n = path.times_in(Mode::ProbeRtt);
    assert!((3..=9).contains(&n), "{n}");
    let least = path.state.model.min_rtt;
    assert!(least >= Time::from_millis(60) && least < Time::from_millis(63), "{least:?}");
}

#[test]
fn shallow_buffer_bounds_inflight() {
    let mut path = Path::new(100, 40, 50);
    path.run(Time::from_secs(10));
    let (lost, sent) = (path.lost, path.sent);
    let used = path.run(Time::from_secs(30));
    assert!(path.state.model.inflight_long < 800 * MSS);
    let rate = (path.lost - lost) as f64 / f64::from(MSS) / (path.sent - sent) as f64;
    assert!(rate < 0.02, "losses {rate}");
    assert!(used > 0.85, "{used}");
}

#[test]
fn bandwidth_estimate_follows_rate_down_and_up() {
    let mut path = Path::new(100, 20, 1000);
    path.run(Time::from_secs(5));
    path.rate /= 4;
    path.run(Time::from_secs(8));
    let found = path.state.model.bw as f64 / path.rate as f64;
    assert!((0.9..1.1).contains(&found), "{found}");
    path.rate *= 4;
    path.run(Time::from_secs(15));
    assert!(path.run(Time::from_secs(10)) > 0.85);
}

#[test]
fn marks_keep_the_queue_shorter_and_can_be_ignored() {
    let standing = |ecn_factor| {
        let mut path = Path::new(100, 20, 3000);
        path.tuning = State::tune(&Settings { ecn_factor, ..Settings::default() }).unwrap();
        path.mark_above = 20;
        let used = path.run(Time::from_secs(10));
        assert!(used > 0.7, "{used}");
        path.longest = 0;
        path.run(Time::from_secs(10));
        path.longest
    };
    let (with, without) = (standing(1.0 / 3.0), standing(0.0));
    assert!(with < without, "{with} {without}");
}

#[test]
fn timeout_leaves_one_segment_and_recovery_restores_window() {
    let mut path = Path::new(10, 40, 100);
    path.run(Time::from_secs(3));
    let before = path.window.cwnd;
    let at = Congested { now: path.now, srtt: path.srtt, flight: path.flight, mss: MSS };
    path.state.on_timeout(&path.tuning, &mut path.window, at, true);
    assert_eq!(path.window.cwnd, MSS);
    path.recover_until = Some(path.sent);
    path.run(Time::from_secs(1));
    assert!(path.window.cwnd + 8 * MSS >= before, "{} {before}", path.window.cwnd);
    let idle = path.window.cwnd;
    path.window.cwnd = 10 * MSS;
    path.state.on_restart(&path.tuning, &mut path.window, at);
    assert_eq!(path.window.cwnd, idle);
}

/// BBRCheckStartupFullBandwidth, section 5.3.1.2: a rate that the application sets says nothing of
/// the path.
#[test]
fn application_limited_samples_do_not_end_startup() {
    for (app_limited, startup) in [(true, true), (false, false)] {
        let mut path = Path::new(100, 40, 100_000);
        path.app_limited = app_limited;
        path.run(Time::from_secs(1));
        assert_eq!(path.state.mode == Mode::Startup, startup);
    }
}

/// Section 5.3.4.3: ProbeRTTDuration and a round trip, whichever is longer.
#[test]
fn probe_rtt_lasts_200_ms_and_a_round_trip() {
    for millis in [20, 400] {
        let mut path = Path::new(20, millis, 1000);
        path.run(Time::from_secs(12));
        let at = path.modes.iter().position(|&(_, mode)| mode == Mode::ProbeRtt).unwrap();
        let lasted = path.modes[at + 1].0 - path.modes[at].0;
        assert!(lasted >= Time::from_millis(millis.max(200)), "{millis} ms: {lasted}");
        assert!(lasted < Time::from_millis(millis.max(200) + 3 * millis), "{millis} ms: {lasted}");
    }
}

/// BBRInitPacingRate, section 5.6.2: StartupPacingGain of the initial window over a round trip.
#[test]
fn first_pace_is_startup_gain_of_initial_window() {
    let mut path = Path::new(100, 100, 1000);
    let mut s = sample(Time::from_millis(100), Time::from_millis(100));
    s.delivered = u64::from(MSS);
    path.state.on_sample(&path.tuning, &mut path.window, &s);
    let pace = path.state.pace(&path.tuning, &path.window, s.srtt);
    assert_eq!(pace, 277_000);
}

/// A sample of a rate over the round trip that began when `prior` bytes were delivered.
fn reading(rate: u64, delivered: u32, prior: u64) -> Reading {
    let of = sample(Time::ZERO, Time::from_millis(40));
    Reading { rate, delivered, prior: Some(prior), ..Reading::new(&of) }
}

/// Section 5.3.4.3: it is over when its time has passed, not when it has come.
#[test]
fn probe_rtt_ends_after_its_last_instant() {
    let mut path = Path::new(20, 20, 1000);
    path.run(Time::from_secs(3));
    let done = path.now + Time::from_secs(1);
    let state = &mut path.state;
    (state.mode, state.probe_rtt_done, state.probe_rtt_round) = (Mode::ProbeRtt, Some(done), true);
    for (now, mode) in [(done, true), (done + Time(1), false)] {
        let s = sample(now, Time::from_millis(20));
        state.probe_rtt(&mut path.window, &s);
        assert_eq!(state.mode == Mode::ProbeRtt, mode);
    }
}

/// BBRHandleRestartFromIdle, section 5.4.1: a restart paces at the bandwidth in ProbeBW alone.
#[test]
fn restart_in_startup_keeps_its_pace() {
    let mut path = Path::new(100, 40, 100_000);
    path.app_limited = true;
    path.run(Time::from_secs(1));
    let (pace, bandwidth) = (path.state.pace, path.state.model.bw);
    assert!(path.state.mode == Mode::Startup && bandwidth > 0 && pace > 2 * bandwidth);
    path.state.on_tx_start(&path.tuning, &mut path.window, path.now);
    assert_eq!(path.state.pace, pace);
    path.app_limited = false;
    path.run(Time::from_secs(1));
    assert!(path.state.mode.in_probe_bw());
    path.state.pace = 0;
    path.state.on_tx_start(&path.tuning, &mut path.window, path.now);
    assert_eq!(path.state.pace, percent(path.state.model.bw, 99));
}

/// BBRHandleRestartFromIdle, section 5.4.1: a pause that outlasts ProbeRTT ends it before anything
/// is sent.
#[test]
fn a_pause_in_probe_rtt_ends_it_when_its_time_has_passed() {
    for (passed, over) in [(Time::ZERO, false), (Time(1), true)] {
        let mut path = Path::new(20, 20, 1000);
        path.run(Time::from_secs(3));
        let done = path.now + Time::from_secs(1);
        (path.state.mode, path.state.probe_rtt_done) = (Mode::ProbeRtt, Some(done));
        (path.state.prior_cwnd, path.window.cwnd) = (90_000, 25_000);
        assert!(path.state.is_app_limited());
        path.state.on_tx_start(&path.tuning, &mut path.window, done + passed);
        assert_eq!(path.state.mode == Mode::Cruise, over);
        assert_eq!(path.window.cwnd, if over { 90_000 } else { 25_000 });
        assert_eq!(path.state.is_app_limited(), !over);
    }
}

/// BBRIsTimeToCruise, section 5.3.3.6: against what the greatest rate fills, not the bounded one.
#[test]
fn down_ends_at_the_volume_of_the_greatest_rate() {
    for (flight, cruises) in [(500_000, true), (501_000, false)] {
        let path = Path::new(100, 40, 1000);
        let mut state = path.state;
        (state.mode, state.full_bw_reached, state.wait) = (Mode::Down, true, Time::from_secs(9));
        state.seen.mss = MSS;
        let model = &mut state.model;
        (model.max_bw, model.bw, model.bw_short) = ([12_500_000, 0], 5_000_000, 5_000_000);
        model.min_rtt = Time::from_millis(40);
        let s = Sample { flight, ..sample(Time::ZERO, Time::from_millis(40)) };
        let window = Window { cwnd: 600_000, ssthresh: u32::MAX };
        state.cycle(&path.tuning, &window, &s, &reading(1000, 0, 0));
        assert_eq!(state.mode == Mode::Cruise, cruises, "{flight}");
    }
}

/// BBRCheckFullBWReached, section 5.3.1.2: a quarter more counts as growth.
#[test]
fn startup_ends_after_three_rounds_with_less_than_a_quarter_more() {
    let path = Path::new(100, 40, 1000);
    let mut state = path.state;
    state.model.round_start = true;
    let s = Sample { flight: u32::MAX / 2, ..sample(Time::ZERO, Time::from_millis(40)) };
    let counts: Vec<u32> = [1000, 1250, 1562, 1562, 1953, 1954, 1955, 1956]
        .map(|rate| {
            assert_eq!(state.mode, Mode::Startup, "{rate}");
            let r = Reading { app_limited: false, ..reading(rate, 0, 0) };
            state.startup_and_drain(&path.tuning, &s, &r);
            u32::from(state.full_bw_count)
        })
        .to_vec();
    assert_eq!(counts, [0, 0, 1, 2, 0, 1, 2, 3]);
    assert_eq!(state.mode, Mode::Drain);
}

/// BBRCheckDrainDone, section 5.3.2: with the queue, or after three rounds.
#[test]
fn drain_ends_with_the_queue_or_after_three_rounds() {
    for (flight, rounds, ends) in
        [(0, 1, true), (u32::MAX / 2, 3, false), (u32::MAX / 2, 4, true), (0, 4, true)]
    {
        let path = Path::new(100, 40, 1000);
        let mut state = path.state;
        (state.mode, state.drain_from) = (Mode::Drain, 7);
        state.model.rounds = 7 + rounds;
        let s = Sample { flight, ..sample(Time::ZERO, Time::from_millis(40)) };
        state.startup_and_drain(&path.tuning, &s, &reading(1000, 0, 0));
        assert_eq!(state.mode != Mode::Drain, ends, "{flight} {rounds}");
    }
}

/// BBRInflightWithHeadroom, section 5.5.10.2: a share of the bound is left to others, a segment at
/// least, and no less than four are kept.
#[test]
fn headroom_is_a_share_of_the_bound() {
    let path = Path::new(100, 40, 1000);
    let mut state = path.state;
    state.seen.mss = MSS;
    let mut left = |bound: u32| {
        state.model.inflight_long = bound;
        state.with_headroom(&path.tuning)
    };
    assert_eq!(left(NO_BYTES), NO_BYTES);
    assert!(left(100_000).abs_diff(85_000) <= 1);
    assert_eq!((left(5500), left(4500)), (4500, 4 * MSS));
}

/// BBRProbeInflightLongUpward, section 5.3.3.6: while UP the bound rises with what is acknowledged,
/// if it is what holds the sender back.
#[test]
fn bound_rises_while_probing_where_it_is_the_limit() {
    for (cwnd, flight, mode, rises) in [
        (10_000, 8000, Mode::Up, true),
        // One segment more would fit.
        (10_000, 7000, Mode::Up, false),
        // The window is below the bound.
        (9999, 8000, Mode::Up, false),
        (10_000, 8000, Mode::Cruise, false),
    ] {
        let path = Path::new(100, 40, 1000);
        let mut state = path.state;
        (state.mode, state.full_bw_reached) = (mode, true);
        (state.up_count, state.model.inflight_long) = (10, 10_000);
        let window = Window { cwnd, ssthresh: u32::MAX };
        let s = Sample { flight, ..sample(Time::ZERO, Time::from_millis(40)) };
        state.cycle(&path.tuning, &window, &s, &reading(1000, 0, 0));
        // An MSS was acknowledged, a tenth of which counts.
        let bound = if rises { 10_000 + MSS / 10 } else { 10_000 };
        assert_eq!(state.model.inflight_long, bound, "{cwnd} {flight} {mode:?}");
    }
}
