use super::*;
use sojourn_base::{Kind, Rate};

const MS: u64 = 1_000_000;
const ONE: u64 = 1 << Probability::BITS;

/// A controller on a link at 100 Mb/s.
fn core(params: &Control) -> Core {
    Core::new(params, &Env { rate: Rate(100_000_000), mean_packet: 1000 }).expect("valid")
}

fn coin() -> Stream {
    Stream::new(1, Kind::Test, 0, 0)
}

fn standing(bytes: u64) -> Standing {
    Standing { packets: bytes.div_ceil(1000) as u32, bytes }
}

/// p that nothing but its guards keeps from hitting a packet, in a queue of 100 packets.
fn at(core: &Core, p: u64) -> State {
    State { probability: Probability::of(p), delay_old: 100 * MS, burst: 0, ..core.start() }
}

#[test]
fn changes_are_rounded_to_the_nearest_in_every_band() {
    let core = core(&Control { alpha: 3.0, beta: 0.0, ..Default::default() });
    let bands = [(0, 11), (ONE / 500_000, 9), (ONE / 50_000, 7), (ONE / 5000, 5), (ONE / 500, 3)];
    for (p, shift) in bands.into_iter().chain([(ONE / 50, 1), (ONE / 5, 0)]) {
        for n in -300..300i64 {
            let full = i128::from(core.alpha) * i128::from(n);
            let unit = 1i128 << (24 + shift);
            let (change, low, high) = core.change(p, (15 * MS as i64 + n) as u64, 0);
            assert_eq!(change, (2 * full + unit).div_euclid(2 * unit), "{p} {n}");
            assert!(low <= p && p < high);
        }
    }
}

#[test]
fn bands_of_p_meet_at_the_bounds_of_the_rfc() {
    let core = core(&Control { max_probability: 2.0, ..Default::default() });
    let mut below = 0;
    for (bound, one_in) in BOUNDS.into_iter().zip([1_000_000, 100_000, 10_000, 1000, 100, 10]) {
        assert!(bound.abs_diff(ONE / one_in) <= 10);
        let limits = |p| {
            let (_, low, high) = core.change(p, 0, 0);
            (low, high)
        };
        assert_eq!([limits(below), limits(bound - 1)], [(below, bound); 2]);
        below = bound;
    }
    let (_, low, high) = core.change(ONE, 0, 0);
    assert_eq!((low, high), (BOUNDS[5], 2 * ONE));
}

#[test]
fn from_one_tenth_on_p_rises_by_two_hundredths_at_most_but_for_a_high_delay() {
    let high_delay = Some(Time::from_millis(250));
    let core = core(&Control { high_delay, ..Default::default() });
    let change = |p, delay| core.change(p, delay, 0).0;
    let percent = i128::from(PERCENT);
    assert_eq!(change(10 * PERCENT, 200 * MS), 2 * percent);
    assert!(change(10 * PERCENT - 1, 200 * MS) > 2 * percent);
    // Only above it.
    assert_eq!(change(50 * PERCENT, 250 * MS), 2 * percent);
    assert_eq!(change(50 * PERCENT, 250 * MS + 1), 4 * percent);
}

#[test]
fn p_decays_where_no_delay_was_found_twice_and_only_there() {
    let core = core(&Control { alpha: 0.0, beta: 0.0, decay: 0.75, ..Default::default() });
    for (delay, old, idle, left) in
        [(0, 0, true, 30), (0, 0, false, 40), (1, 0, true, 40), (0, 1, true, 40)]
    {
        assert_eq!(core.step(40 * PERCENT, delay, old, idle), left * PERCENT);
    }
    // Clamped to its range.
    let steep = self::core(&Control { alpha: 32.0, ..Default::default() });
    assert_eq!(steep.step(PERCENT, 0, 0, false), 0);
    let high_delay = Some(Time::from_millis(15));
    let high = self::core(&Control { high_delay, max_probability: 1.5, ..Default::default() });
    assert_eq!(high.step(149 * PERCENT, 1000 * MS, 0, false), ONE + ONE / 2);
}

#[test]
fn what_is_above_one_is_kept_apart() {
    let core = core(&Control { max_probability: 2.0, ..Default::default() });
    let mut s = State { above: 0, ..at(&core, ONE) };
    s.delay = 100 * MS;
    core.update(&mut s, standing(9000), 1);
    // 0.125 (0.1 − 0.015) is less than 0.02.
    let rise = 0.125 * 0.085;
    assert_eq!(s.probability, Probability::ONE);
    assert!((s.above as f64 / ONE as f64 - rise).abs() < 1e-12);
    assert_eq!((s.steps, s.delay_old), (1, 100 * MS));
    core.update(&mut s, standing(9000), 1);
    assert!((s.above as f64 / ONE as f64 - 2.0 * rise).abs() < 1e-12);
    let before = s.clone();
    core.update(&mut s, standing(9000), 0);
    assert_eq!(s, before);
}

#[test]
fn an_update_takes_its_period_off_the_burst() {
    let core = core(&Control { max_burst: Time::from_millis(100), ..Default::default() });
    let mut s = core.start();
    assert_eq!(s.burst, 100 * MS);
    core.update(&mut s, standing(9000), 1);
    assert_eq!(s.burst, 85 * MS);
    core.update(&mut s, standing(9000), 5);
    assert_eq!(s.burst, 10 * MS);
    core.update(&mut s, standing(9000), 1);
    assert_eq!(s.burst, 0);
}

#[test]
fn linux_renews_the_allowance_where_p_is_zero_and_two_delays_were_below_half_of_the_target() {
    let core = core(&Control { linux_guards: true, ..Default::default() });
    for (delay, old, renewed) in [
        (7 * MS, 7 * MS, true),
        (7_500_000, 7 * MS, false),
        (7 * MS, 7_500_000, false),
        (7_499_999, 7_499_999, true),
    ] {
        let left = Some(Time(3));
        let mut s = State { delay, delay_old: old, left, accumulated: 9, ..at(&core, 0) };
        core.update(&mut s, standing(9000), 1);
        let wanted = if renewed { (150 * MS, None, 0) } else { (0, left, 9) };
        assert_eq!((s.burst, s.left, s.accumulated), wanted, "{delay} {old}");
    }
    // Several updates have all but the first the same delay before them.
    let mut s = State { delay: 7 * MS, delay_old: 400 * MS, ..at(&core, 0) };
    core.update(&mut s, standing(9000), 2);
    assert_eq!(s.burst, 150 * MS);
    // Not while p is above 0.
    let mut s = State { delay: 7 * MS, delay_old: 7 * MS, ..at(&core, ONE / 2) };
    core.update(&mut s, standing(9000), 1);
    assert_eq!(s.burst, 0);
}

#[test]
fn linux_forgets_a_rate_when_it_renews_the_allowance_and_renews_it_with_a_rate_alone() {
    let core = core(&Control { linux_guards: true, delay: Delay::Rate, ..Default::default() });
    let cycle = Some((5, Time(3)));
    // 2000 bytes take 6 ms.
    let rate = ((6 * MS) << 16) * CYCLE / 2000;
    let quiet = |cycle_time| State { cycle_time, cycle, accumulated: 9, ..at(&core, 0) };
    let renewed = |s: &State| (s.burst, s.accumulated, s.cycle_time, s.cycle);
    let mut s = State { delay_old: 0, ..quiet(0) };
    core.update(&mut s, standing(2000), 5);
    assert_eq!(renewed(&s), (0, 9, 0, cycle));
    let mut s = State { delay_old: 7 * MS, ..quiet(rate) };
    core.update(&mut s, standing(2000), 1);
    assert_eq!(renewed(&s), (150 * MS, 0, 0, None));
    assert!(s.delay_old.abs_diff(6 * MS) <= 1);
    // However many updates are one call.
    for (p, old) in [(0, 0), (0, 7 * MS), (0, 8 * MS), (PERCENT / 100, 8 * MS)] {
        let begin = || State { delay_old: old, ..State { accumulated: 9, ..at(&core, p) } };
        let begin = || State { cycle_time: rate, cycle, ..begin() };
        let mut each = begin();
        for n in 1..300 {
            core.update(&mut each, standing(2000), 1);
            let mut all = begin();
            core.update(&mut all, standing(2000), n);
            assert_eq!(State { steps: 0, ..all }, State { steps: 0, ..each.clone() }, "{p} {n}");
        }
        assert_eq!((each.cycle_time, each.delay_old), (0, 0));
    }
    // Not so the RFC.
    let rfc = self::core(&Control { delay: Delay::Rate, ..Default::default() });
    let mut s = State { delay_old: 0, ..quiet(rate) };
    rfc.update(&mut s, standing(2000), 5);
    assert_eq!((s.cycle_time, s.cycle), (rate, cycle));
}

#[test]
fn packets_pass_by_each_guard_up_to_its_bound() {
    let core = core(&Control { derandomize: false, ..Default::default() });
    let half = 7_500_000;
    let signal = |s: State, bytes| core.arrival(&mut s.clone(), 1000, standing(bytes), &mut coin());
    let certain = at(&core, ONE);
    // p is above `mark_ecn_th`.
    assert_eq!(signal(certain.clone(), 2001), Signal::Drop);
    assert_eq!(signal(certain.clone(), 2000), Signal::Pass);
    assert_eq!(signal(State { burst: 1, ..certain.clone() }, 9000), Signal::Pass);
    assert_eq!(signal(State { delay_old: 0, ..certain }, 9000), Signal::Drop);
    // Of 400 packets at a fifth some are hit, if any may be.
    let hits = |p, delay_old| {
        let (mut s, mut coin) = (State { delay_old, ..at(&core, p) }, coin());
        let all = (0..400).map(|_| core.arrival(&mut s, 1000, standing(9000), &mut coin));
        all.filter(|signal| *signal != Signal::Pass).count()
    };
    assert_eq!(hits(20 * PERCENT - 1, half - 1), 0);
    assert!(hits(20 * PERCENT - 1, half) > 0 && hits(20 * PERCENT, half - 1) > 0);
}

#[test]
fn a_quiet_queue_has_its_allowance_back() {
    let core = core(&Control::default());
    for (delay_old, delay, burst) in
        [(7 * MS, 7 * MS, 150 * MS), (7_500_000, 7 * MS, 0), (7 * MS, 7_500_000, 0)]
    {
        let mut s = State { delay_old, delay, accumulated: 5, ..at(&core, 0) };
        assert_eq!(core.arrival(&mut s, 1000, standing(9000), &mut coin()), Signal::Pass);
        assert_eq!((s.burst, s.accumulated), (burst, 0));
    }
    // Linux forgets what has accumulated while p is 0, but does not renew it here.
    let linux = self::core(&Control { linux_guards: true, ..Default::default() });
    let mut s = State { accumulated: 5, delay: 100 * MS, ..at(&linux, 0) };
    assert_eq!(linux.arrival(&mut s, 1000, standing(9000), &mut coin()), Signal::Pass);
    assert_eq!((s.burst, s.accumulated), (0, 0));
}

#[test]
fn marks_go_up_to_their_threshold_and_drops_beyond() {
    let core = core(&Control { mark_ecn_th: 0.5, derandomize: false, ..Default::default() });
    let first = |p| {
        let (mut s, mut coin) = (at(&core, p), coin());
        let mut all = (0..100).map(|_| core.arrival(&mut s, 1000, standing(9000), &mut coin));
        all.find(|signal| *signal != Signal::Pass)
    };
    assert_eq!(first(ONE / 2), Some(Signal::Notify));
    assert_eq!(first(ONE / 2 + 1), Some(Signal::Drop));
}

#[test]
fn hits_come_from_85_hundredths_accumulated_on_and_at_eight_and_a_half_at_the_latest() {
    let core = core(&Control::default());
    // What is added is next to nothing, and so is the chance of a hit.
    let signal = |accumulated| {
        let mut s = State { accumulated, delay_old: 100 * MS, ..at(&core, 1) };
        let signal = core.arrival(&mut s, 1000, standing(9000), &mut coin());
        (signal, s.accumulated)
    };
    assert_eq!(signal(ONE_AT - 1), (Signal::Notify, 0));
    assert_eq!(signal(ONE_AT - 2), (Signal::Pass, ONE_AT - 1));
    // A certain hit waits for it.
    let mut s = State { accumulated: 0, ..at(&core, ONE) };
    assert_eq!(core.arrival(&mut s, 1000, standing(9000), &mut coin()), Signal::Drop);
    let mut s = at(&core, 42 * PERCENT + PERCENT / 2);
    let (mut gap, mut coin) = (0, coin());
    for _ in 0..1000 {
        gap += 1;
        if core.arrival(&mut s, 1000, standing(9000), &mut coin) != Signal::Pass {
            assert!((2..=20).contains(&gap), "{gap}");
            gap = 0;
        }
    }
    assert!(gap <= 20);
}

#[test]
fn a_rate_is_measured_in_cycles_of_16384_bytes() {
    let core = core(&Control { delay: Delay::Rate, ..Default::default() });
    let mut s = core.start();
    let mut leaves = |ms: u64, bytes: u32, behind: u64| {
        core.departure(&mut s, Time(ms * MS), Time::ZERO, bytes, standing(behind));
        (s.cycle, s.cycle_time)
    };
    // None begins with fewer bytes behind.
    assert_eq!(leaves(1, 1000, 16_383), (None, 0));
    assert_eq!(leaves(2, 1000, 16_384), (Some((1000, Time(2 * MS))), 0));
    assert_eq!(leaves(3, 15_383, 0), (Some((16_383, Time(2 * MS))), 0));
    assert_eq!(leaves(4, 1, 0), (Some((16_384, Time(2 * MS))), 0));
    // It ends at the start of the packet after, which belongs to none.
    let time = |ms: u64| (ms * MS) << 16;
    assert_eq!(leaves(8, 1000, 0), (None, time(6)));
    assert_eq!(leaves(10, 20_000, 20_000), (Some((20_000, Time(10 * MS))), time(6)));
    // The average moves by a quarter, and the next begins at once.
    let next = Some((500, Time(12 * MS)));
    assert_eq!(leaves(12, 500, 20_000), (next, time(6) * 3 / 4 + time(2) / 4));
    assert_eq!(s.delay, 0);
    // Twice the bytes of a cycle take twice its time.
    assert_eq!(core.delay(&s, standing(32_768)), 10 * MS);
    s.cycle_time = u64::MAX;
    assert_eq!(core.delay(&s, standing(1 << 40)), DELAY_MOST);
}

#[test]
fn a_cycle_takes_some_time_and_a_day_at_most() {
    let core = core(&Control { delay: Delay::Rate, ..Default::default() });
    let measured = |cycle_time, now| {
        let cycle = Some((CYCLE, Time::from_secs(1)));
        let mut s = State { cycle, cycle_time, ..core.start() };
        core.departure(&mut s, now, Time::ZERO, 1, standing(0));
        s.cycle_time
    };
    assert_eq!(measured(0, Time::from_secs(1)), 1);
    assert_eq!(measured(1, Time::from_secs(1)), 1);
    assert_eq!(measured(0, Time(u64::MAX)), 1 << 62);
}

#[test]
fn with_a_rate_linux_takes_the_time_of_each_cycle_off_the_allowance() {
    for (linux_guards, took) in [(true, 30 * MS), (false, 0)] {
        let core = core(&Control { linux_guards, delay: Delay::Rate, ..Default::default() });
        let mut s = core.start();
        let mut leaves = |ms: u64, behind: u64| {
            core.departure(&mut s, Time(ms * MS), Time::ZERO, 10_000, standing(behind));
            s.burst
        };
        // No cycle yet, one of 30 ms, and one that has not ended.
        assert_eq!([leaves(10, 0), leaves(20, 20_000), leaves(40, 0)], [150 * MS; 3]);
        assert_eq!([leaves(50, 20_000), leaves(60, 0)], [150 * MS - took; 2]);
    }
}

#[test]
fn a_delay_is_that_of_the_packet_that_left_last_and_none_of_an_empty_queue() {
    for linux_guards in [false, true] {
        let core = core(&Control { linux_guards, ..Default::default() });
        let mut s = core.start();
        core.departure(&mut s, Time(50 * MS), Time(20 * MS), 1000, standing(1000));
        assert_eq!((s.delay, core.delay(&s, standing(1000))), (30 * MS, 30 * MS));
        assert_eq!(s.burst, 150 * MS);
        core.departure(&mut s, Time(60 * MS), Time(20 * MS), 1000, standing(0));
        assert_eq!(s.delay, 0);
        // The time since the departure before.
        let (burst, left) =
            if linux_guards { (140 * MS, Some(Time(60 * MS))) } else { (150 * MS, None) };
        assert_eq!((s.burst, s.left), (burst, left));
    }
}

#[test]
fn parameters_are_refused_beyond_their_bounds() {
    let env = Env { rate: Rate(100_000_000), mean_packet: 1000 };
    let refused = |params: Control| Core::new(&params, &env).err().map(|error| error.field);
    let longest = Time::from_secs(1000);
    let target = Time::from_millis(20);
    for (params, field) in [
        (Control { max_burst: longest, ..Default::default() }, None),
        (Control { max_burst: longest + Time(1), ..Default::default() }, Some("max_burst")),
        (Control { target, high_delay: Some(target), ..Default::default() }, None),
        (
            Control { target, high_delay: Some(Time(20 * MS - 1)), ..Default::default() },
            Some("high_delay"),
        ),
        (Control { max_probability: 4.0, alpha: 32.0, beta: 32.0, ..Default::default() }, None),
        (Control { max_probability: 4.01, ..Default::default() }, Some("max_probability")),
        (Control { alpha: 32.1, ..Default::default() }, Some("alpha")),
        (Control { decay: 0.4, ..Default::default() }, Some("decay")),
        (Control { first_update: Some(Time(999)), ..Default::default() }, Some("first_update")),
        (Control { tupdate: Time::from_micros(1), ..Default::default() }, None),
    ] {
        assert_eq!(refused(params.clone()).as_deref(), field, "{params:?}");
    }
}

#[test]
fn a_drop_by_the_limit_ends_what_has_accumulated() {
    use crate::managed::Law as _;
    let env = Env { rate: Rate(100_000_000), mean_packet: 1000 };
    let mut law = super::super::Pie::new(&super::super::Params::default(), &env).expect("valid");
    law.state.accumulated = NONE_BEFORE;
    law.overflowed();
    assert_eq!(law.state.accumulated, 0);
}

#[test]
fn updates_at_once_meet_the_edges_of_bands_as_single_ones_do() {
    let core = core(&Control { max_probability: 1.5, ..Default::default() });
    // Delays above the target and below it.
    for delay in [40 * MS, 3 * MS] {
        for bound in BOUNDS {
            let (change, low, high) = core.change(bound / 2, delay, delay);
            assert_eq!(high, bound);
            let (up, size) = (change > 0, change.unsigned_abs() as u64);
            for (steps, off) in [2u64, 3, 5].into_iter().flat_map(|n| [(n, 0), (n, 1)]) {
                // So many steps end at the edge of the band, or next to it.
                let Some(p) = (if up {
                    high.checked_sub(steps * size + off)
                } else {
                    Some(low + steps * size + off)
                }) else {
                    continue;
                };
                if !(low..high).contains(&p) {
                    continue;
                }
                for n in 1..=7 {
                    let start = State { delay, delay_old: delay, ..at(&core, p) };
                    let (mut once, mut single) = (start.clone(), start);
                    core.update(&mut once, standing(9000), n);
                    (0..n).for_each(|_| core.update(&mut single, standing(9000), 1));
                    let found = [&once, &single].map(|s| (s.probability, s.above));
                    assert_eq!(found[0], found[1], "{delay} {bound} {steps} {off} {n}");
                }
            }
        }
    }
}
