//! What follows from losses: draft-ietf-ccwg-bbr-05 sections 5.3.1.3, 5.5.10 and 5.5.11.

use super::*;
use crate::congestion::bbr::model::NO_RATE;

/// The `n`-th segment is lost, sent with 100 in flight: the third since then.
fn lost(n: u64) -> Lost {
    Lost {
        now: Time::from_secs(9),
        bytes: MSS,
        start: n,
        end: n + 1,
        flight_then: 100 * MSS,
        lost_since: 3 * MSS,
        app_limited: false,
        delivered: 1_000_000,
    }
}

/// BBRAdaptLowerBoundsFromCongestion, section 5.5.10.3: beta is 0.7, and what was delivered in
/// spite of the losses stays allowed.
#[test]
fn losses_bound_rate_and_volume_by_beta_or_what_was_delivered() {
    let path = Path::new(100, 40, 1000);
    let mut model = path.state.model;
    let s = sample(Time::ZERO, Time::from_millis(40));
    model.max_bw = [100_000, 0];
    model.latest(&s, &reading(60_000, 3000, 0));
    model.lower_bounds(&path.tuning, 10_000);
    assert_eq!((model.bw_short, model.inflight_short), (NO_RATE, NO_BYTES), "nothing was lost");
    assert!(model.note_loss(&lost(0)), "the first of the round trip");
    assert!(!model.note_loss(&lost(1)));
    model.lower_bounds(&path.tuning, 10_000);
    assert!(model.bw_short.abs_diff(70_000) <= 1, "{}", model.bw_short);
    assert!(model.inflight_short.abs_diff(7000) <= 1, "{}", model.inflight_short);
    model.end_loss_round(&path.tuning);
    model.lower_bounds(&path.tuning, 10_000);
    assert!(model.bw_short.abs_diff(70_000) <= 1, "nothing more was lost");
    assert!(model.note_loss(&lost(9)), "another round trip");
    model.lower_bounds(&path.tuning, 10_000);
    assert_eq!(model.bw_short, 60_000);
    assert!(model.inflight_short.abs_diff(4900) <= 1, "{}", model.inflight_short);
}

/// BBRNoteLoss and section 5.3.1.3: ranges are counted, each once, until the round trip ends.
#[test]
fn losses_are_counted_in_ranges() {
    let path = Path::new(100, 40, 1000);
    let mut model = path.state.model;
    let ranges = [0, 1, 2, 5, 6, 4, 9].map(|n| {
        model.note_loss(&lost(n));
        model.ranges
    });
    assert_eq!(ranges, [1, 1, 1, 2, 2, 3, 4]);
    model.end_loss_round(&path.tuning);
    model.note_loss(&lost(10));
    assert_eq!(model.ranges, 1);
}

/// BBRHandleLostPacket and BBRInflightAtLoss, section 5.5.10.2: 98 segments before the packet, of
/// which 2 % are 1.96, less those lost already: the rest is that part of the packet whose loss
/// passes the threshold.
#[test]
fn a_loss_while_probing_bounds_what_was_in_flight_when_its_rate_passed_the_threshold() {
    for (lost_since, app_limited, bound) in [
        (2 * MSS, false, NO_BYTES),
        (3 * MSS, false, 99 * MSS),
        (9 * MSS, false, 99 * MSS),
        (3 * MSS, true, NO_BYTES),
    ] {
        let mut path = Path::new(100, 40, 1000);
        (path.state.mode, path.state.probe_samples) = (Mode::Up, true);
        let l = Lost { lost_since, app_limited, ..lost(0) };
        path.state.on_lost(&path.tuning, &path.window, &l);
        assert_eq!(path.state.model.inflight_long, bound, "{lost_since} {app_limited}");
        let ends = lost_since > 2 * MSS;
        assert_eq!((path.state.mode == Mode::Down, !path.state.probe_samples), (ends, ends));
    }
    let tuning = Path::new(100, 40, 1000).tuning;
    // Of 39 segments 0.78 may be lost, and of the 40th as much again: 0.78 / 0.98.
    let l = Lost { flight_then: 40 * MSS, lost_since: MSS, ..lost(0) };
    assert_eq!(flight_at_loss(&tuning, &l), 39 * MSS + 795);
}

/// BBRHandleSpuriousLossDetection, section 5.5.11.2.
#[test]
fn what_a_loss_took_that_was_none_comes_back() {
    let mut path = Path::new(10, 40, 1000);
    path.run(Time::from_secs(3));
    path.buffer = 1;
    let mut bounds = (0, 0, 0);
    while path.lost == 0 {
        let m = &path.state.model;
        bounds = (m.bw_short, m.inflight_short, m.inflight_long);
        path.run(Time::from_millis(1));
        assert!(path.now < Time::from_secs(20), "something is lost");
    }
    let before = path.state.before.unwrap();
    assert_eq!((before.bw_short, before.inflight_short, before.inflight_long), bounds);
    let m = &mut path.state.model;
    (m.bw_short, m.inflight_short, m.inflight_long) = (1, 1, 1);
    path.state.on_undo(&path.tuning, &mut path.window);
    let m = &path.state.model;
    assert_eq!((m.bw_short, m.inflight_short, m.inflight_long), bounds);
}

/// BBRSaveStateUponLoss, section 5.5.11.1: the loss that begins a recovery and ends a probe, taken
/// back, leaves the bound and the probe as they were (section 5.5.11.2).
#[test]
fn a_spurious_loss_gives_back_the_bound_and_the_probe() {
    let mut path = Path::new(100, 40, 1000);
    path.run(Time::from_secs(3));
    let (state, window) = (&mut path.state, &mut path.window);
    (state.mode, state.probe_samples) = (Mode::Up, true);
    state.model.inflight_long = 600_000;
    // A loss before, in the same round trip, that nothing followed from.
    state.on_lost(&path.tuning, window, &Lost { lost_since: MSS, now: path.now, ..lost(0) });
    let now = path.now + Time(1);
    state.on_lost(&path.tuning, window, &Lost { now, ..lost(1) });
    assert!(state.mode == Mode::Down && state.model.inflight_long < 600_000);
    let at = Congested { now, srtt: path.srtt, flight: path.flight, mss: MSS };
    state.on_loss(&path.tuning, window, at);
    state.on_undo(&path.tuning, window);
    assert_eq!((state.mode, state.acks), (Mode::Up, Acks::Starting));
    assert_eq!(state.model.inflight_long, 600_000);
}

/// BBRCheckStartupHighLoss, section 5.3.1.3, and its like for marks.
#[test]
fn startup_ends_at_six_ranges_lost_in_a_round_of_a_recovery_or_at_marks() {
    // A flight of 1 MB: 2 % of it lost, or half of it marked, is too much.
    for (recovering, ranges, lost, marked, round, ends) in [
        (true, 6, 40_000, 0, true, true),
        (true, 6, 40_000, 0, false, false),
        (true, 5, 40_000, 0, true, false),
        (false, 6, 40_000, 0, true, false),
        (true, 6, 10_000, 0, true, false),
        (false, 0, 0, 600_000, true, true),
        (false, 0, 0, 600_000, false, false),
        (false, 0, 0, 400_000, true, false),
        (false, 0, 40_000, 0, true, false),
    ] {
        let path = Path::new(100, 40, 1000);
        let mut state = path.state;
        state.recovering = recovering;
        state.model.ranges = ranges;
        (state.model.marked, state.model.loss_round_start) = (marked, round);
        let s = Sample { flight: u32::MAX / 2, ..sample(Time::ZERO, Time::from_millis(40)) };
        let r = Reading { lost, flight_then: 1_000_000, ..reading(1000, 0, 0) };
        state.startup_and_drain(&path.tuning, &s, &r);
        let what = (recovering, ranges, lost, marked, round);
        assert_eq!(state.mode == Mode::Drain, ends, "{what:?}");
    }
}

/// BBRAdaptLowerBoundsFromCongestion, section 5.5.10.3: losses bound rate and volume for a while,
/// but not where the bandwidth is probed for.
#[test]
fn losses_bound_the_short_term_only_where_nothing_is_probed() {
    let mut path = Path::new(100, 40, 50);
    path.run(Time::from_secs(3));
    // Half of the rate: what it sends at is lost until the two cycles of the filter are over.
    path.rate /= 2;
    let mut bounded = Vec::new();
    for _ in 0..20_000 {
        path.run(Time::from_millis(1));
        if path.state.model.bw_short != NO_RATE && !bounded.contains(&path.state.mode) {
            bounded.push(path.state.mode);
        }
    }
    assert!(bounded.contains(&Mode::Cruise) || bounded.contains(&Mode::Down), "{bounded:?}");
    assert!(!bounded.contains(&Mode::Refill), "{bounded:?}");
}
