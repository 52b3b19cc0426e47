//! Histograms against the exact statistics of the same values.

use proptest::prelude::*;
use sojourn_records::{CoarseHistogram, Histogram};

/// Values of every magnitude: an octave is drawn first.
fn value() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0u32..64).prop_map(|(v, shift)| v >> shift)
}

/// The value of rank ⌈p·n⌉.
fn exact(sorted: &[u64], p: f64) -> u64 {
    let rank = (p * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}

fn within(got: u64, exact: u64, error: f64) -> bool {
    got.abs_diff(exact) as f64 <= error * exact as f64
}

proptest! {
    #[test]
    fn quantiles_stay_within_the_stated_error(
        mut values in prop::collection::vec(value(), 1..400),
        p in 0.0f64..=1.0,
    ) {
        let (mut fine, mut coarse) = (Histogram::new(), CoarseHistogram::new());
        for &v in &values {
            fine.record(v);
            coarse.record(v);
        }
        values.sort_unstable();
        for p in [p, 0.0, 0.5, 0.9, 0.99, 1.0] {
            let exact = exact(&values, p);
            prop_assert!(within(fine.quantile(p).unwrap(), exact, Histogram::ERROR));
            prop_assert!(within(coarse.quantile(p).unwrap(), exact, CoarseHistogram::ERROR));
        }
        let n = values.len();
        prop_assert_eq!((fine.count(), coarse.count()), (n as u64, n as u64));
        prop_assert_eq!((fine.min(), fine.max()), (Some(values[0]), Some(values[n - 1])));
        let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
        prop_assert_eq!(fine.mean(), Some(sum as f64 / n as f64));
        prop_assert_eq!(coarse.mean(), fine.mean());
    }

    #[test]
    fn merging_is_the_same_as_recording_everything_in_one(
        a in prop::collection::vec(value(), 0..100),
        b in prop::collection::vec(value(), 0..100),
    ) {
        let fill = |values: &[u64]| {
            let (mut fine, mut coarse) = (Histogram::new(), CoarseHistogram::new());
            for &v in values {
                fine.record(v);
                coarse.record(v);
            }
            (fine, coarse)
        };
        let (mut ab, ba, all) = (fill(&a), fill(&b), fill(&[a.clone(), b.clone()].concat()));
        ab.0.merge(&ba.0);
        ab.1.merge(&ba.1);
        prop_assert_eq!(ab, all);
    }

    #[test]
    fn weight_equals_repeated_values(
        pairs in prop::collection::vec((value(), 0u64..50), 1..40),
    ) {
        let (mut weighted, mut repeated) = (Histogram::new(), Histogram::new());
        for &(v, weight) in &pairs {
            weighted.record_n(v, weight);
            for _ in 0..weight {
                repeated.record(v);
            }
        }
        prop_assert_eq!(weighted, repeated);
    }

    #[test]
    fn points_of_the_curve_lie_on_the_exact_one_and_are_few(
        mut values in prop::collection::vec(value(), 1..400),
        points in 2usize..100,
    ) {
        let mut h = Histogram::new();
        values.iter().for_each(|&v| h.record(v));
        values.sort_unstable();
        let curve = h.cdf(points);
        prop_assert!(curve.len() <= points, "{} points of {points}", curve.len());
        prop_assert_eq!(curve[0], (values[0], 0.0));
        prop_assert_eq!(*curve.last().unwrap(), (values[values.len() - 1], 1.0));
        for &(v, fraction) in &curve[1..] {
            let below = values.partition_point(|&x| x <= v);
            prop_assert_eq!(fraction, below as f64 / values.len() as f64);
        }
        prop_assert!(curve.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 < w[1].1));
    }
}

#[test]
fn a_curve_of_few_values_keeps_them_all() {
    // 50 values near each other and one far away, whose buckets are almost all empty.
    let mut h = Histogram::new();
    (1..=50).chain([1_000_000]).for_each(|value| h.record(value));
    let steps = (1..=50).map(|value| (value, value as f64 / 51.0));
    let curve: Vec<_> = [(1, 0.0)].into_iter().chain(steps).chain([(1_000_000, 1.0)]).collect();
    assert_eq!(h.cdf(52), curve);
}

#[test]
fn a_thinned_curve_leaves_no_wide_gap_and_keeps_its_tail() {
    // Half of the values within 5 %, the other half a Pareto tail with exponent 1.
    let mut h = Histogram::new();
    for i in 0..100_000u64 {
        h.record(10_000_000 + i * 5);
        h.record(100_000_000_000_000 / (i + 1));
    }
    let curve = h.cdf(200);
    assert!(curve.len() > 100 && curve.len() <= 200, "{}", curve.len());
    let tail = curve.iter().filter(|p| p.1 > 0.999).count();
    assert!(tail >= 10, "{tail} points beyond p99.9");
    // A bucket holds a quarter of all values at most here.
    assert!(curve.windows(2).all(|w| w[1].1 - w[0].1 < 0.26));
}
