//! BBR over a small closed model of a path: one bottleneck with a buffer, and a fixed delay.

use super::machine::Mode;
use super::model::NO_RATE;
use super::*;
use crate::congestion::Rate;
use crate::congestion::rounds::sample;
use alloc::collections::VecDeque;
use std::vec::Vec;

const MSS: u32 = 1000;

/// A segment under way: what the sampler noted when it was sent.
#[derive(Clone, Copy)]
struct Sent {
    n: u64,
    at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    flight: u32,
    lost: u64,
}

struct Path {
    rate: u64,
    delay: Time,
    buffer: usize,
    /// Departures from the bottleneck, of those still in it.
    queue: VecDeque<Time>,
    free_at: Time,
    under_way: VecDeque<(Time, Sent)>,
    dropped: VecDeque<Sent>,
    tuning: Tuning,
    state: State,
    window: Window,
    now: Time,
    next_send: Time,
    sent: u64,
    flight: u32,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    round_end: u64,
    srtt: Time,
    recover_until: Option<u64>,
    /// Share of arrivals above which segments are marked: queue of this many.
    mark_above: usize,
    app_limited: bool,
    modes: Vec<(Time, Mode)>,
    longest: usize,
}

impl Path {
    fn new(megabits: u64, millis: u64, buffer: usize) -> Self {
        let tuning = State::tune(&Settings::default()).unwrap();
        Self {
            rate: megabits * 125_000,
            delay: Time::from_millis(millis),
            buffer,
            queue: VecDeque::new(),
            free_at: Time::ZERO,
            under_way: VecDeque::new(),
            dropped: VecDeque::new(),
            tuning,
            state: State::new(&tuning),
            window: Window { cwnd: 10 * MSS, ssthresh: u32::MAX },
            now: Time::ZERO,
            next_send: Time::ZERO,
            sent: 0,
            flight: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            round_end: 0,
            srtt: Time::ZERO,
            recover_until: None,
            mark_above: usize::MAX,
            app_limited: false,
            modes: Vec::new(),
            longest: 0,
        }
    }

    fn send(&mut self) {
        let pace = self.state.pace(&self.tuning, &self.window, self.srtt);
        if self.flight == 0 {
            (self.first_sent, self.delivered_at) = (self.now, self.now);
        }
        self.flight += MSS;
        let packet = Sent {
            n: self.sent,
            at: self.now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            flight: self.flight,
            lost: self.lost,
        };
        self.sent += 1;
        while self.queue.front().is_some_and(|&gone| gone <= self.now) {
            self.queue.pop_front();
        }
        self.longest = self.longest.max(self.queue.len());
        if self.queue.len() < self.buffer {
            let took = Time(u64::from(MSS) * 1_000_000_000 / self.rate);
            self.free_at = self.free_at.max(self.now) + took;
            self.queue.push_back(self.free_at);
            self.under_way.push_back((self.free_at + self.delay, packet));
        } else {
            self.dropped.push_back(packet);
        }
        if let Some(gap) = (u64::from(MSS) * 1_000_000_000).checked_div(pace) {
            self.next_send = self.next_send.max(self.now) + Time(gap);
        }
    }

    /// An acknowledgement: segments before it that did not come are lost at once.
    fn ack(&mut self, packet: Sent) {
        self.flight -= MSS;
        self.delivered += u64::from(MSS);
        let mut missing = 0;
        while let Some(lost) = self.dropped.pop_front_if(|lost| lost.n < packet.n) {
            missing += MSS;
            self.flight -= MSS;
            self.lost += u64::from(MSS);
            let lost = Lost {
                now: self.now,
                bytes: MSS,
                start: lost.n,
                end: lost.n + 1,
                flight_then: lost.flight,
                lost_since: (self.lost - lost.lost) as u32,
                app_limited: self.app_limited,
                delivered: self.delivered,
            };
            self.state.on_lost(&self.tuning, &self.window, &lost);
        }
        self.delivered_at = self.now;
        self.first_sent = packet.at;
        let rtt = self.now - packet.at;
        self.srtt = if self.srtt == Time::ZERO { rtt } else { (self.srtt * 7 + rtt) / 8 };
        let round = packet.delivered >= self.round_end;
        if round {
            self.round_end = self.delivered;
        }
        if self.recover_until.is_some_and(|end| packet.n >= end) {
            self.recover_until = None;
        }
        let interval = (packet.at - packet.first_sent).max(self.now - packet.delivered_at);
        let s = Sample {
            now: self.now,
            rtt: Some(rtt),
            srtt: self.srtt,
            mss: MSS,
            acked: MSS,
            lost: missing,
            marked: if self.queue.len() > self.mark_above { MSS } else { 0 },
            flight: self.flight,
            delivered: self.delivered,
            round,
            recovering: self.recover_until.is_some(),
            rate: Some(Rate {
                delivered: (self.delivered - packet.delivered) as u32,
                interval,
                app_limited: self.app_limited,
                flight_then: packet.flight,
                lost_since: (self.lost - packet.lost) as u32,
            }),
        };
        self.state.on_sample(&self.tuning, &mut self.window, &s);
        if missing > 0 && self.recover_until.is_none() {
            self.recover_until = Some(self.sent);
            let at = Congested { now: self.now, srtt: self.srtt, flight: self.flight, mss: MSS };
            self.state.on_loss(&self.tuning, &mut self.window, at);
        }
        if self.modes.last().is_none_or(|&(_, mode)| mode != self.state.mode) {
            self.modes.push((self.now, self.state.mode));
        }
    }

    /// Runs for so long; returns the share of the rate that was delivered.
    fn run(&mut self, time: Time) -> f64 {
        let (end, before, begun) = (self.now + time, self.delivered, self.now);
        loop {
            let may_send = self.flight + MSS <= self.window.cwnd;
            let send_at = if may_send { self.next_send.max(self.now) } else { Time::MAX };
            let ack_at = self.under_way.front().map_or(Time::MAX, |&(at, _)| at);
            let at = send_at.min(ack_at);
            if at > end {
                self.now = end;
                break;
            }
            assert!(at < Time::MAX, "stuck");
            self.now = at;
            if ack_at <= send_at {
                let (_, packet) = self.under_way.pop_front().unwrap();
                self.ack(packet);
            } else {
                self.send();
            }
        }
        let sent = (self.delivered - before) as f64;
        sent / ((end - begun).as_secs_f64() * self.rate as f64)
    }

    fn times_in(&self, mode: Mode) -> usize {
        self.modes.iter().filter(|&&(_, m)| m == mode).count()
    }
}

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
    path.state.on_restart(&path.tuning, &mut path.window);
    assert_eq!(path.window.cwnd, idle);
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

/// MinRTTFilterLen, section 5.5.7.2.
#[test]
fn min_rtt_is_forgotten_after_ten_seconds() {
    let mut path = Path::new(100, 40, 1000);
    let model = &mut path.state.model;
    let mut least = |at: u64, rtt: u64| {
        model.round_trip(&sample(Time::from_millis(at), Time::from_millis(rtt)));
        model.min_rtt
    };
    let ms = Time::from_millis;
    assert_eq!(least(1000, 50), ms(50));
    assert_eq!(least(2000, 80), ms(50));
    assert_eq!(least(9000, 70), ms(50));
    assert_eq!(least(11_000, 90), ms(50));
    assert_eq!(least(11_001, 90), ms(70));
    assert_eq!(least(11_002, 60), ms(60));
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

/// BBRUpdateMaxBw, section 5.5.5: what the application limited counts only if it is more.
#[test]
fn application_limited_samples_count_if_they_are_the_greatest() {
    let mut path = Path::new(100, 40, 1000);
    let see = |model: &mut Model, rate, app_limited| {
        let s = sample(Time::ZERO, Time::from_millis(40));
        model.bandwidth(&s, &Reading { rate, app_limited, ..Reading::new(&s) });
        model.max_bw
    };
    let model = &mut path.state.model;
    assert_eq!(see(model, 1000, true), [1000, 0]);
    assert_eq!(see(model, 2000, false), [2000, 0]);
    model.advance();
    assert_eq!(see(model, 500, true), [0, 2000]);
    assert_eq!(see(model, 500, false), [500, 2000]);
    assert_eq!(see(model, 3000, true), [3000, 2000]);
}

/// A sample of a rate over the round trip that began when `prior` bytes were delivered.
fn reading(rate: u64, delivered: u32, prior: u64) -> Reading {
    let of = sample(Time::ZERO, Time::from_millis(40));
    Reading { rate, delivered, prior: Some(prior), ..Reading::new(&of) }
}

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

/// BBRUpdateACKAggregation, section 5.5.9: what comes beyond the rate in an interval, which begins
/// anew when the rate has caught up.
#[test]
fn aggregation_is_what_comes_beyond_the_rate() {
    let mut model = Path::new(100, 40, 1000).state.model;
    model.bw = 1_000_000;
    model.restart(Time::ZERO);
    let mut comes = |at: u64, acked: u32, cwnd: u32| {
        let s = Sample { acked, ..sample(Time::from_millis(at), Time::from_millis(40)) };
        model.aggregation(&s, cwnd, true);
        model.extra_acked()
    };
    assert_eq!(comes(10, 15_000, 100_000), 15_000, "10 kB were expected, and none had come");
    assert_eq!(comes(15, 10_000, 100_000), 20_000, "25 kB less 5");
    assert_eq!(comes(16, 1000, 100_000), 20_000, "26 less 6: no more than before");
    assert_eq!(comes(17, 9000, 25_000), 25_000, "a window at most");
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
