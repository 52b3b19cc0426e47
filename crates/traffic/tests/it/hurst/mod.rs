//! Long-range dependence: what theory says of known sources is what the estimators find, and what
//! the on/off sources give.

mod estimators;

use estimators::{ccdf_slope, hill, rescaled_range, variance_time, wavelet};
use sojourn_base::{Kind, Rate, Size, Stream, Time};
use sojourn_traffic::{Codepoint, Distribution, OnOff, OnOffSource};

/// Number of sessions under way, once a bin of 1 s, in the M/G/infinity queue in its steady state.
fn sessions(length: &Distribution<Time>, bins: usize, seed: u64) -> Vec<f64> {
    let sampler = length.sampler("length").unwrap();
    let residual = sampler.residual();
    let mut stream = Stream::new(seed, Kind::Test, 0, 0);
    let gap = Distribution::Exponential { mean: Time::from_millis(300) }.sampler("gap").unwrap();
    let mut change = vec![0i64; bins + 1];
    let bin = |t: u64| (t.div_ceil(1_000_000_000) as usize).min(bins);
    // At the start a Poisson number, whose mean is that of Little's law.
    let (mut now, span) = (0, sampler.mean() as u64);
    loop {
        now += gap.sample(&mut stream);
        if now > span {
            break;
        }
        change[0] += 1;
        change[bin(residual.sample(None, &mut stream))] -= 1;
    }
    let mut now = 0;
    while bin(now) < bins {
        change[bin(now)] += 1;
        change[bin(sampler.sample(&mut stream).saturating_add(now))] -= 1;
        now += gap.sample(&mut stream);
    }
    let running = change.iter().scan(0, |sum, change| {
        *sum += change;
        Some(*sum as f64)
    });
    running.take(bins).collect()
}

fn pareto(shape: f64) -> Distribution<Time> {
    Distribution::Pareto { shape, min: Time::from_secs(1), max: None }
}

#[test]
fn pareto_sessions_have_the_hurst_parameter_of_their_tail() {
    for alpha in [1.3, 1.5, 1.7] {
        let counts = sessions(&pareto(alpha), 1 << 18, 1);
        let expected = (3.0 - alpha) / 2.0;
        let fits = [
            ("variance-time", variance_time(&counts, 32, 1 << 13)),
            ("wavelet", wavelet(&counts, 32, 1 << 13)),
            ("R/S", rescaled_range(&counts, 128, 1 << 14)),
        ];
        for (name, fit) in fits {
            let hurst = fit.unwrap().hurst;
            assert!((hurst - expected).abs() < 0.1, "{name}, alpha {alpha}: {hurst}");
        }
    }
}

#[test]
fn exponential_sessions_have_no_long_memory() {
    let length = Distribution::Exponential { mean: Time::from_secs(3) };
    let counts = sessions(&length, 1 << 18, 2);
    let fits = [
        ("variance-time", variance_time(&counts, 64, 1 << 13)),
        ("wavelet", wavelet(&counts, 64, 1 << 13)),
        ("R/S", rescaled_range(&counts, 512, 1 << 14)),
    ];
    for (name, fit) in fits {
        let hurst = fit.unwrap().hurst;
        assert!((hurst - 0.5).abs() < 0.08, "{name}: {hurst}");
    }
}

/// Packets per second of 100 on/off flows that send 20 packets a second while on. Periods are
/// short against the scales that are fitted: the power law of on/off sources sets in slowly, at
/// ten mean periods the wavelets still see 0.86 where 0.75 is the limit.
fn packets(period: Distribution<Time>) -> Vec<f64> {
    let group = OnOff {
        flows: 100,
        rate: Rate(20 * 12_000),
        packet: Size(1500),
        on: period.clone(),
        off: period,
        ecn: Codepoint::NotEct,
    };
    let model = group.compile().unwrap();
    let mut counts = vec![0.0; 32_768];
    for index in 0..100 {
        let mut source = OnOffSource::new(5, 0, index);
        let mut now = Time::ZERO;
        loop {
            now = now.saturating_add(source.next_packet(&model).0);
            match counts.get_mut((now.0 / 1_000_000_000) as usize) {
                Some(count) => *count += 1.0,
                None => break,
            }
        }
    }
    counts
}

#[test]
fn on_off_sources_are_long_range_dependent_exactly_if_their_periods_are_heavy_tailed() {
    let ms = Time::from_millis;
    let periods = [
        (Distribution::Pareto { shape: 1.5, min: ms(100), max: None }, 0.75),
        (Distribution::Exponential { mean: ms(300) }, 0.5),
    ];
    for (period, expected) in periods {
        let counts = packets(period);
        let fits = [
            ("variance-time", variance_time(&counts, 16, 2048)),
            ("wavelet", wavelet(&counts, 16, 2048)),
            ("R/S", rescaled_range(&counts, 128, 4096)),
        ];
        for (name, fit) in fits {
            let hurst = fit.unwrap().hurst;
            assert!((hurst - expected).abs() < 0.1, "{name}, {expected}: {hurst}");
        }
    }
}

#[test]
fn tail_indices_are_found() {
    let draws = |spec: Distribution<Time>| -> Vec<f64> {
        let sampler = spec.sampler("x").unwrap();
        let mut stream = Stream::new(1, Kind::Test, 0, 0);
        (0..200_000).map(|_| sampler.sample(&mut stream) as f64).collect()
    };
    for alpha in [1.1, 1.5, 2.5] {
        let values = draws(pareto(alpha));
        let found = hill(&values, 5000).unwrap();
        assert!((found / alpha - 1.0).abs() < 0.05, "{found}");
        let (found, points) = ccdf_slope(&values, 0.1, 0.001).unwrap();
        assert!((found / alpha - 1.0).abs() < 0.08, "{found}");
        assert!(points.len() > 15);
    }
    // An exponential has no such tail: the further out, the steeper.
    let values = draws(Distribution::Exponential { mean: Time::from_secs(1) });
    assert!(hill(&values, 200).unwrap() > 5.0);
}

#[test]
fn constant_series_have_no_estimate() {
    assert_eq!(variance_time(&[1.0; 4096], 1, 1024), None);
    assert_eq!(rescaled_range(&[1.0; 4096], 1, 1024), None);
    assert_eq!(wavelet(&[1.0; 4096], 1, 1024), None);
    assert_eq!(variance_time(&[1.0, 2.0], 1, 1024), None);
    assert_eq!(hill(&[1.0, 2.0], 2), None);
    assert_eq!(hill(&[1.0; 100], 10), None);
    assert_eq!(ccdf_slope(&[], 0.1, 0.01), None);
}
