//! The model without the state machine.

use super::*;

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
