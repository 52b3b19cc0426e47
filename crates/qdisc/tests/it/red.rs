//! RED's decisions and what it tells of them, with an average that is the queue.

use crate::common::{Token, env, marking, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::red::{Hits, Params, State, Statistics};
use sojourn_qdisc::*;

fn queue(params: &Params) -> red::Discipline<Token> {
    red::Discipline::new(params, &env(8, 1500), Stream::new(1, Kind::Qdisc, 0, 0)).unwrap()
}

fn offer(q: &mut red::Discipline<Token>, now: Time) -> Verdict {
    q.enqueue(now, token(0, 1500, Ecn::Ect0), &mut ())
}

/// Thresholds of four and eight packets.
fn following() -> Params {
    Params { min_th: 4.0, max_th: 8.0, wq: Some(1.0), hits: marking(), ..Default::default() }
}

#[test]
fn red_counts_what_it_hits_and_the_idle_times_it_sees() {
    let mut q = queue(&Params { max_p: 0.9, gentle: false, ..following() });
    let (mut random, mut forced) = (0, 0);
    for _ in 0..20 {
        let top = q.packets() >= 8;
        let hit = u64::from(offer(&mut q, Time::ZERO) == Verdict::Marked);
        *(if top { &mut forced } else { &mut random }) += hit;
    }
    assert_eq!(forced, 12);
    assert!(random > 0);
    let statistics = |q: &red::Discipline<Token>| q.law().statistics().clone();
    assert_eq!(statistics(&q), Statistics { random, forced, idle_periods: 0 });
    for _ in 0..20 {
        q.dequeue(Time::from_secs(1), &mut ());
    }
    // The last packet is on the wire for 1.5 ms.
    offer(&mut q, Time::from_micros(1_001_500));
    assert_eq!(statistics(&q).idle_periods, 0);
    q.dequeue(Time::from_secs(2), &mut ());
    offer(&mut q, Time(2_001_500_001));
    assert_eq!(statistics(&q), Statistics { random, forced, idle_periods: 1 });
}

#[test]
fn red_hits_from_its_top_on_and_drops_from_max_th_on_where_asked() {
    let early = Verdict::Dropped(DropReason::Early);
    for (gentle, ecn_drop_above_max, below, at, top) in [
        (false, true, Verdict::Queued, early, early),
        (false, false, Verdict::Queued, Verdict::Marked, Verdict::Marked),
        (true, true, Verdict::Queued, Verdict::Queued, early),
        (true, false, Verdict::Queued, Verdict::Queued, Verdict::Marked),
    ] {
        let hits = Hits { ecn_drop_above_max, ..marking() };
        // Next to nothing is hit below the top.
        let mut q = queue(&Params { max_p: 1e-15, gentle, hits, ..following() });
        let mut verdict = |n: u32| {
            while q.packets() > n {
                q.dequeue(Time::ZERO, &mut ());
            }
            // Filled with what nobody hits.
            while q.packets() < n {
                offer(&mut q, Time::ZERO);
                assert!(q.counters().arrived().packets < 10_000, "{n}");
            }
            let found = offer(&mut q, Time::ZERO);
            (found, q.probability())
        };
        assert_eq!(verdict(7).0, below);
        let (found, p) = verdict(8);
        assert_eq!((found, p == 1.0), (at, !gentle));
        if gentle {
            assert!((p - 1e-15).abs() < 1e-17, "{p}");
        }
        if gentle || !ecn_drop_above_max {
            for n in [12u32, 16] {
                let (found, p) = verdict(n);
                let rise = if gentle { f64::from(n - 8) / 8.0 } else { 1.0 };
                assert!((p - rise).abs() < 1e-12, "{p} at {n}");
                assert!(n == 12 || found == top);
            }
        }
    }
}

#[test]
fn reds_count_is_in_packets_or_in_bytes_and_starts_anew_below_min_th() {
    for (scale_by_size, worth) in [(false, 1 << 36), (true, 1 << 35)] {
        let byte_mode = ByteMode { scale_by_size, mean_packet: Some(3000), ..Default::default() };
        let hits = Hits { byte_mode, ..marking() };
        let mut q = queue(&Params { max_p: 1e-9, hits, ..following() });
        let count = |q: &red::Discipline<Token>| q.law().state().count;
        for n in 0..8 {
            assert_eq!(offer(&mut q, Time::ZERO), Verdict::Queued);
            // Arrivals that found four or more.
            assert_eq!(count(&q), worth * u64::saturating_sub(n, 3));
        }
        while q.packets() > 3 {
            q.dequeue(Time::ZERO, &mut ());
        }
        offer(&mut q, Time::ZERO);
        assert_eq!((count(&q), q.law().state().average), (0, 3 << 36));
    }
}

#[test]
fn red_starts_its_count_anew_with_a_drop_by_the_limit() {
    let mut q = queue(&Params { max_p: 1e-9, limit: 7, ..following() });
    for _ in 0..7 {
        offer(&mut q, Time::ZERO);
    }
    assert_eq!(q.law().state().count, 3 << 36);
    assert_eq!(offer(&mut q, Time::ZERO), Verdict::Dropped(DropReason::Overflow));
    assert_eq!(q.law().state().count, 0);
}

#[test]
fn red_spares_short_queues() {
    let hits = Hits { min_queue: 6, ..marking() };
    let mut q = queue(&Params { min_th: 0.0, max_th: 1.0, gentle: false, hits, ..following() });
    let verdicts: Vec<Verdict> = (0..8).map(|_| offer(&mut q, Time::ZERO)).collect();
    assert_eq!(verdicts[..6], [Verdict::Queued; 6]);
    assert_eq!(verdicts[6..], [Verdict::Marked; 2]);
}

#[test]
fn reds_average_falls_by_its_weight_for_each_packet_that_an_idle_link_could_send() {
    for (idle_decay, left) in [(true, 0.75f64.powi(3)), (false, 1.0)] {
        let mut q = queue(&Params { wq: Some(0.25), idle_decay, ..following() });
        for _ in 0..4 {
            offer(&mut q, Time::ZERO);
        }
        while q.packets() > 0 {
            q.dequeue(Time::from_secs(1), &mut ());
        }
        let State { average, idle_since, .. } = q.law().state().clone();
        // Averages of 0, 0.25, 0.6875 and 1.265625.
        assert_eq!(average, (1.265625 * (1u64 << 36) as f64) as i64);
        assert_eq!(idle_since, Time::from_micros(1_001_500));
        let empty = Standing { packets: 0, bytes: 0 };
        let at = |us| q.law().average_at(Time::from_micros(us), empty) as f64 / average as f64;
        assert!((at(1_006_000) - left).abs() < 1e-9, "{}", at(1_006_000));
        assert_eq!(at(1_001_500), 1.0);
        let one = Standing { packets: 1, bytes: 1500 };
        assert_eq!(q.law().average_at(Time::from_secs(9), one), average);
    }
}

#[test]
fn red_refuses_what_has_no_meaning() {
    let refused = |params: Params| {
        let error = params.validate(&env(8, 1500)).err();
        error.map_or(String::new(), |error| error.field.to_string())
    };
    for (params, field) in [
        (Params { min_th: 8.0, ..following() }, "min_th"),
        (Params { min_th: 7.99, ..following() }, ""),
        (Params { min_th: -0.01, ..following() }, "min_th"),
        (Params { max_th: 33_554_432.0, ..following() }, ""),
        (Params { max_th: 33_554_433.0, ..following() }, "max_th"),
        (Params { max_p: 0.0, ..following() }, "max_p"),
        (Params { max_p: 1.0, ..following() }, ""),
        (Params { max_p: 1.01, ..following() }, "max_p"),
        (Params { wq: Some(1e-9), ..following() }, ""),
        (Params { wq: Some(0.9e-9), ..following() }, "wq"),
        (Params { wq: Some(1.01), ..following() }, "wq"),
    ] {
        assert_eq!(refused(params.clone()), field, "{params:?}");
    }
    let weight = |rate| Params { wq: None, ..following() }.weight(rate);
    assert!((weight(1000.0) - (1.0 - (-1e-3f64).exp())).abs() < 1e-15);
}

#[test]
fn adaptive_red_is_gentle_or_not_as_it_is_told() {
    for (gentle, p) in [(true, 0.1), (false, 1.0)] {
        let params = ared::Params {
            min_th: Some(4.0),
            max_th: Some(8.0),
            wq: Some(1.0),
            gentle,
            hits: marking(),
            ..Default::default()
        };
        let coin = Stream::new(1, Kind::Qdisc, 0, 0);
        let mut q = ared::Discipline::<Token>::new(&params, &env(8, 1500), coin).unwrap();
        for id in 0..9 {
            let _ = q.enqueue(Time::ZERO, token(id, 1500, Ecn::Ect0), &mut ());
        }
        assert!((q.probability() - p).abs() < 1e-12, "{}", q.probability());
    }
}

#[test]
fn adaptive_red_starts_as_the_red_of_its_parameters() {
    let params = ared::Params { limit: 7, max_p: 0.3, wq: Some(0.01), ..Default::default() };
    // 5 ms at 10 000 packets a second are 50: half of it, and three times that.
    let wanted = Params {
        min_th: 25.0,
        max_th: 75.0,
        max_p: 0.3,
        wq: Some(0.01),
        limit: 7,
        ..Default::default()
    };
    assert_eq!(params.red_at(10_000.0), wanted);
    // Never below five packets, and what is given as it is.
    assert_eq!(params.red_at(1000.0).min_th, 5.0);
    let given = ared::Params { min_th: Some(9.0), max_th: Some(11.0), ..params };
    assert_eq!((given.red_at(1e4).min_th, given.red_at(1e4).max_th), (9.0, 11.0));
}

#[test]
fn a_preset_says_whose_it_is() {
    use red::Preset::{Altq, Floyd, Linux, Ns2};
    for preset in [Altq, Floyd, Linux, Ns2] {
        assert_eq!(preset.params().preset, Some(preset));
    }
}

#[test]
fn red_goes_on_from_all_of_its_state_with_other_parameters() {
    let hits = Hits { spacing: Spacing::Wait, ..marking() };
    let params = Params { hits, ..following() };
    let mut q = queue(&params);
    for _ in 0..7 {
        offer(&mut q, Time::ZERO);
    }
    let before = q.law().state().clone();
    assert!(!before.spares && before.count > 0);
    assert!(q.change(&Params { max_p: 0.2, ..params }, &env(8, 1500)).unwrap());
    let State { average, count, reach, spares, idle_since, max_p, .. } = q.law().state().clone();
    let kept = (average, count, reach, spares, idle_since);
    let had = (before.average, before.count, before.reach, before.spares, before.idle_since);
    assert_eq!((kept, max_p), (had, Probability::from_f64(0.2)));
}

#[test]
fn self_configuring_red_moves_beyond_its_thresholds_and_not_at_them() {
    let params = feng_red::Params {
        min_th: 4.0,
        max_th: 8.0,
        max_p: 0.1,
        wq: Some(1.0),
        hits: marking(),
        gentle: true,
        ..Default::default()
    };
    let coin = Stream::new(1, Kind::Qdisc, 0, 0);
    let mut q = feng_red::Discipline::<Token>::new(&params, &env(8, 1500), coin).unwrap();
    let mut told = Vec::new();
    for id in 0..10 {
        let _ = q.enqueue(Time::ZERO, token(id, 1500, Ecn::Ect0), &mut ());
        told.push((q.law().moves(), q.law().red().state().max_p.as_f64()));
    }
    // Below with the first, between from four on, above from nine on.
    let moves: Vec<u64> = told.iter().map(|(moves, _)| *moves).collect();
    assert_eq!(moves, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    let p = |n: usize| told[n].1;
    let alpha = 0.1 / p(0);
    assert!((alpha - 3.0).abs() < 1e-9 && (p(9) / p(8) - 2.0).abs() < 1e-9, "{told:?}");
}
