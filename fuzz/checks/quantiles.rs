//! Any text as a table of quantiles: refused by one error, or a distribution that can be sampled
//! and stays within its table.

use sojourn_base::{Kind, Size, Stream, Time};
use sojourn_traffic::{Distribution, Interpolate, Unit};

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for interpolate in [Interpolate::Log, Interpolate::Linear] {
        within::<Size>(text, interpolate);
        within::<Time>(text, interpolate);
    }
}

fn within<U: Unit>(text: &str, interpolate: Interpolate) {
    let file = Some("fuzzed.csv".to_string());
    let mut distribution = Distribution::<U>::Quantiles { points: Vec::new(), interpolate, file };
    if let Err(error) = distribution.load_files("size", &mut |_| Ok(text.to_string())) {
        assert_eq!(error.to_string().lines().count(), 1, "more than a line: {error}");
        return;
    }
    let Ok(sampler) = distribution.sampler("size") else { return };
    let Distribution::Quantiles { points, .. } = &distribution else { unreachable!() };
    let (low, high) = (points[0].1.base(), points[points.len() - 1].1.base());
    let mut stream = Stream::new(1, Kind::Test, 0, 0);
    for _ in 0..8 {
        // Rounded, and a logarithm forgets the last digits.
        let value = sampler.sample(&mut stream) as f64;
        let (least, most) = (low * (1.0 - 1e-9) - 1.0, high * (1.0 + 1e-9) + 1.0);
        assert!((least..=most).contains(&value), "{value}: {points:?}");
    }
}
