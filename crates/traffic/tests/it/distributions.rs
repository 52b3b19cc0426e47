//! Samplers against the distribution functions they are the inverse of, and known answers.

use libm::{erf, exp, log, pow, sqrt};
use sojourn_base::{Kind, Size, Stream, Time};
use sojourn_traffic::{Character, Count, Distribution, Interpolate, Part, Sampler, Unit};

const N: usize = 100_000;

/// Largest difference between a distribution function and the draws' (Kolmogorov-Smirnov); beyond
/// 1.95/√N once in a thousand correct samplers. Only where the function is continuous.
fn distance(draws: &mut [f64], cdf: &dyn Fn(f64) -> f64) -> f64 {
    draws.sort_by(f64::total_cmp);
    let n = draws.len() as f64;
    let at = |(i, x): (usize, &f64)| {
        let p = cdf(*x);
        (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
    };
    draws.iter().enumerate().map(at).fold(0.0, f64::max)
}

/// Draws in seconds.
fn draws(spec: &Distribution<Time>) -> Vec<f64> {
    let sampler = spec.sampler("x").unwrap();
    let mut stream = Stream::new(3, Kind::Test, 0, 0);
    (0..N).map(|_| sampler.sample(&mut stream) as f64 / 1e9).collect()
}

/// A distribution and its distribution function.
type Case = (Distribution<Time>, Box<dyn Fn(f64) -> f64>);

fn continuous() -> Vec<Case> {
    let s = Time::from_secs;
    let point = |p, ms| (p, Time::from_millis(ms));
    vec![
        (Distribution::Uniform { min: s(1), max: s(3), step: None }, Box::new(|x| (x - 1.0) / 2.0)),
        (Distribution::Exponential { mean: s(2) }, Box::new(|x| 1.0 - exp(-x / 2.0))),
        (
            Distribution::Pareto { shape: 1.5, min: s(1), max: None },
            Box::new(|x| 1.0 - pow(x, -1.5)),
        ),
        (
            Distribution::BoundedPareto { shape: 1.1, min: s(1), max: s(50) },
            Box::new(|x| (1.0 - pow(x, -1.1)) / (1.0 - pow(50.0, -1.1))),
        ),
        (
            Distribution::Lomax { shape: 1.2, scale: s(2), max: None },
            Box::new(|x| 1.0 - pow(1.0 + x / 2.0, -1.2)),
        ),
        (
            Distribution::Lognormal { mean: s(3), sd: s(4), min: Some(s(1)), max: Some(s(20)) },
            Box::new(|x| {
                let sigma = sqrt(log(1.0 + 16.0 / 9.0));
                let mu = log(3.0) - sigma * sigma / 2.0;
                let phi = |x: f64| 0.5 + 0.5 * erf((log(x) - mu) / sigma / sqrt(2.0));
                (phi(x) - phi(1.0)) / (phi(20.0) - phi(1.0))
            }),
        ),
        (
            Distribution::Weibull { shape: 0.6, scale: s(2), max: None },
            Box::new(|x| 1.0 - exp(-pow(x / 2.0, 0.6))),
        ),
        (
            Distribution::InverseWeibull { shape: 0.8, scale: s(2), max: None },
            Box::new(|x| exp(-pow(x / 2.0, -0.8))),
        ),
        (
            Distribution::Quantiles {
                points: vec![point(0.0, 1000), point(0.25, 2000), point(1.0, 9000)],
                interpolate: Interpolate::Linear,
                file: None,
            },
            Box::new(|x| if x < 2.0 { (x - 1.0) / 4.0 } else { 0.25 + 0.75 * (x - 2.0) / 7.0 }),
        ),
        (
            Distribution::Quantiles {
                points: vec![point(0.0, 10), point(0.5, 100), point(1.0, 100_000)],
                interpolate: Interpolate::Log,
                file: None,
            },
            Box::new(|x| {
                let tens = log(x) / log(10.0);
                if x < 0.1 { (tens + 2.0) / 2.0 } else { 0.5 + (tens + 1.0) / 6.0 }
            }),
        ),
        (
            Distribution::Mixture {
                parts: vec![
                    Part { weight: 3.0, value: Distribution::Exponential { mean: s(1) } },
                    Part { weight: 1.0, value: Distribution::Exponential { mean: s(10) } },
                ],
            },
            Box::new(|x| 1.0 - 0.75 * exp(-x) - 0.25 * exp(-x / 10.0)),
        ),
    ]
}

#[test]
fn draws_follow_their_distribution_function() {
    for (spec, cdf) in continuous() {
        let distance = distance(&mut draws(&spec), &cdf);
        assert!(distance < 1.95 / sqrt(N as f64), "{spec:?}: {distance}");
    }
}

#[test]
fn the_means_are_those_of_the_draws() {
    let s = Time::from_secs;
    let caps = [
        Distribution::Pareto { shape: 1.1, min: s(2), max: Some(s(55)) },
        Distribution::Pareto { shape: 1.0, min: s(2), max: Some(s(55)) },
        Distribution::Lomax { shape: 0.7, scale: s(2), max: Some(s(53)) },
        Distribution::Weibull { shape: 0.6, scale: s(2), max: Some(s(5)) },
        Distribution::InverseWeibull { shape: 0.6, scale: s(2), max: Some(s(100)) },
        Distribution::BoundedPareto { shape: 1.0, min: s(1), max: s(50) },
        Distribution::Uniform { min: s(1), max: s(10), step: Some(s(2)) },
        Distribution::Constant(s(4)),
    ];
    let heavy = |spec: &Distribution<Time>| {
        matches!(
            spec,
            Distribution::Pareto { max: None, .. }
                | Distribution::Lomax { max: None, .. }
                | Distribution::InverseWeibull { max: None, .. }
        )
    };
    let specs = continuous().into_iter().map(|case| case.0).filter(|spec| !heavy(spec));
    for spec in specs.chain(caps) {
        let draws = draws(&spec);
        let n = N as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let expected = spec.sampler("x").unwrap().mean() / 1e9;
        assert!(
            (mean - expected).abs() <= 4.0 * sqrt(variance / n) + 1e-9,
            "{spec:?}: {mean} {expected}"
        );
    }
}

#[test]
fn closed_forms_of_heavy_means() {
    let s = Time::from_secs;
    let mean = |spec: Distribution<Time>| spec.sampler("x").unwrap().mean() / 1e9;
    let pareto = |shape| mean(Distribution::Pareto { shape, min: s(2), max: None });
    assert!((pareto(1.5) - 6.0).abs() < 1e-9);
    assert_eq!(pareto(1.0), f64::INFINITY);
    assert!((mean(Distribution::Lomax { shape: 3.0, scale: s(2), max: None }) - 1.0).abs() < 1e-9);
    let frechet = |shape| mean(Distribution::InverseWeibull { shape, scale: s(1), max: None });
    assert!((frechet(2.0) - sqrt(std::f64::consts::PI)).abs() < 1e-9);
    assert_eq!(frechet(0.9), f64::INFINITY);
}

#[test]
fn a_capped_pareto_has_the_mass_of_its_tail_at_the_cap() {
    let spec = Distribution::Pareto {
        shape: 1.1,
        min: Time::from_secs(2),
        max: Some(Time::from_secs(55)),
    };
    let at_cap = draws(&spec).iter().filter(|x| **x == 55.0).count() as f64 / N as f64;
    let expected = pow(2.0 / 55.0, 1.1);
    assert!((at_cap - expected).abs() < 4.0 * sqrt(expected / N as f64), "{at_cap}");
}

#[test]
fn residual_times_have_the_equilibrium_distribution() {
    let s = Time::from_secs;
    let cases: Vec<Case> = vec![
        (Distribution::Constant(s(4)), Box::new(|x| x / 4.0)),
        (Distribution::Exponential { mean: s(2) }, Box::new(|x| 1.0 - exp(-x / 2.0))),
        (Distribution::Uniform { min: s(0), max: s(2), step: None }, Box::new(|x| x - x * x / 4.0)),
        (
            Distribution::Pareto { shape: 1.5, min: s(1), max: None },
            Box::new(|x| if x < 1.0 { x / 3.0 } else { 1.0 - 2.0 / 3.0 / sqrt(x) }),
        ),
        (
            Distribution::Mixture {
                parts: vec![
                    Part { weight: 0.9, value: Distribution::Constant(s(1)) },
                    Part { weight: 0.1, value: Distribution::Constant(s(11)) },
                ],
            },
            Box::new(|x| if x < 1.0 { x / 2.0 } else { 0.5 + 0.05 * (x - 1.0) }),
        ),
    ];
    for (spec, cdf) in cases {
        let residual = spec.sampler("x").unwrap().residual();
        let mut stream = Stream::new(4, Kind::Test, 0, 0);
        let mut draws: Vec<f64> =
            (0..N).map(|_| residual.sample(None, &mut stream) as f64 / 1e9).collect();
        let distance = distance(&mut draws, &cdf);
        assert!(distance < 1.95 / sqrt(N as f64), "{spec:?}: {distance}");
    }
}

/// Sums over 400 000 periods of a member, or of one for each: of their lengths, their squares, and
/// as many residual times, in seconds.
fn periods(sampler: &Sampler, member: Option<Character>, stream: &mut Stream) -> [f64; 3] {
    let residual = sampler.residual();
    let mut sums = [0.0; 3];
    for _ in 0..400_000 {
        let period = sampler.sample_as(member, stream) as f64 / 1e9;
        sums[0] += period;
        sums[1] += period * period;
        sums[2] += residual.sample(member, stream) as f64 / 1e9;
    }
    sums
}

#[test]
fn a_members_residual_time_is_that_of_its_own_periods() {
    let spec: Distribution<Time> = Distribution::Packmime {
        location: 3.22,
        location_variance: 0.73,
        shape: 1.85,
        variance: 1.21,
    };
    let sampler = spec.sampler("think").unwrap();
    let mut stream = Stream::new(4, Kind::Test, 0, 0);
    // E(residual) = E(T²)/2E(T), member by member.
    for _ in 0..3 {
        let member = Some(sampler.character(&mut stream).unwrap());
        let [first, second, left] = periods(&sampler, member, &mut stream);
        let expected = second / first / 2.0;
        assert!((left / 400_000.0 / expected - 1.0).abs() < 0.05, "{member:?}");
    }
}

#[test]
fn even_members_are_spread_over_the_range_ends_included() {
    let spec = Distribution::Even { min: Time::from_millis(50), max: Time::from_millis(150) };
    let sampler = spec.member_sampler("rtt").unwrap();
    let mut stream = Stream::new(1, Kind::Delay, 0, 0);
    let mut member = |i, n| sampler.sample_member(i, n, &mut stream);
    assert_eq!([member(0, 5), member(1, 5), member(4, 5)], [50_000_000, 75_000_000, 150_000_000]);
    assert_eq!(member(0, 1), 100_000_000);
}

#[test]
fn every_draw_takes_one_number_from_the_stream() {
    for (spec, _) in continuous() {
        let (mut a, mut b) = (Stream::new(1, Kind::Test, 0, 0), Stream::new(1, Kind::Test, 0, 0));
        spec.sampler("x").unwrap().sample(&mut a);
        b.next_u64();
        assert_eq!(a, b, "{spec:?}");
    }
}

#[test]
fn constants_come_to_the_last_digit() {
    // One more than the whole numbers that a float tells apart.
    let value = (1 << 53) + 1;
    let mut stream = Stream::new(1, Kind::Test, 0, 0);
    assert_eq!(Sampler::constant(value).sample(&mut stream), value);
}

#[test]
fn discrete_values_are_all_there_and_equally_likely() {
    let spec = Distribution::Uniform {
        min: Time::from_millis(10),
        max: Time::from_millis(150),
        step: Some(Time::from_millis(20)),
    };
    let mut seen = std::collections::BTreeMap::new();
    for x in draws(&spec) {
        *seen.entry((x * 1e3 + 0.5) as u64).or_insert(0) += 1;
    }
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [10, 30, 50, 70, 90, 110, 130, 150]);
    let share = N as f64 / 8.0;
    assert!(seen.values().all(|&n| (f64::from(n) - share).abs() < 5.0 * sqrt(share)));
}

/// FNV-1a over a thousand draws.
fn fingerprint<U: Unit>(spec: &Distribution<U>) -> u64 {
    let sampler = spec.sampler("x").unwrap();
    let mut stream = Stream::new(1, Kind::Test, 2, 3);
    (0..1000).fold(0xcbf2_9ce4_8422_2325, |hash, _| {
        (hash ^ sampler.sample(&mut stream)).wrapping_mul(0x100_0000_01b3)
    })
}

#[test]
fn samplers_give_known_answers() {
    let mut found: Vec<u64> = continuous().iter().map(|case| fingerprint(&case.0)).collect();
    found.push(fingerprint::<Time>(&Distribution::Packmime {
        location: -4.15,
        location_variance: 3.12,
        shape: 0.9,
        variance: 1.57,
    }));
    found.push(fingerprint(&Distribution::Pareto { shape: 1.2, min: Size(1000), max: None }));
    found.push(fingerprint(&Distribution::Exponential { mean: Count(1.578) }));
    assert_eq!(found, KNOWN, "{found:#x?}");
}

/// In the order of [`continuous`], then PackMime, a size and a count: the same on every machine.
const KNOWN: [u64; 14] = [
    0x007e_462d_cfdc_b7ce,
    0xec97_6f9a_6b83_ae37,
    0xa8d3_9768_1830_eb9e,
    0xffea_0298_97e9_e9d2,
    0x9a25_37fe_12ef_ada2,
    0xde5d_4f8c_95b1_0070,
    0x731a_8fef_ec61_a03c,
    0x9b8a_f527_991b_df6d,
    0x6065_6331_24fa_feee,
    0xd544_7c26_52d2_1efc,
    0x7410_5f06_c254_5e22,
    0xd1cd_76c4_19b9_ce95,
    0x344d_ebab_9947_5a81,
    0xd5f9_19cd_189c_e4ee,
];

#[test]
fn nonsense_is_refused_by_name() {
    let s = Time::from_secs;
    let field = |spec: Distribution<Time>| spec.sampler("think").unwrap_err().field;
    assert_eq!(field(Distribution::Exponential { mean: s(0) }), "think.mean");
    assert_eq!(field(Distribution::Uniform { min: s(2), max: s(1), step: None }), "think");
    let nan = f64::NAN;
    assert_eq!(field(Distribution::Pareto { shape: nan, min: s(1), max: None }), "think.shape");
    assert_eq!(field(Distribution::Pareto { shape: 1.5, min: s(2), max: Some(s(1)) }), "think.max");
    let far = Distribution::Lognormal { mean: s(1), sd: s(1), min: Some(s(1_000_000)), max: None };
    assert_eq!(field(far), "think");
    assert_eq!(field(Distribution::Mixture { parts: vec![] }), "think.parts");
    let inner = Part { weight: 1.0, value: Distribution::Exponential { mean: s(0) } };
    assert_eq!(field(Distribution::Mixture { parts: vec![inner] }), "think.parts[0].value.mean");
    let count = Distribution::Constant(Count(-1.0)).sampler("embedded").unwrap_err();
    assert_eq!(count.to_string(), "embedded = -1: must be a number of at least 0");
}

#[test]
fn tables_come_from_files() {
    let mut spec = Distribution::<Size>::Quantiles {
        points: vec![],
        interpolate: Interpolate::Linear,
        file: Some("sizes.csv".into()),
    };
    assert!(spec.sampler("size").is_err());
    let error = spec.load_files("size", &mut |_| Err("no such file".into())).unwrap_err();
    assert_eq!(error.to_string(), "size.file = sizes.csv: no such file");
    let error = spec.load_files("size", &mut |_| Ok("0,1\n1,x".into())).unwrap_err();
    assert!(error.remedy.starts_with("line 2"), "{error}");
    spec.load_files("size", &mut |path| Ok(format!("0,{}\n1,2kB", path.len()))).unwrap();
    assert_eq!(spec.sampler("size").unwrap().mean(), (9.0 + 2000.0) / 2.0);
}

#[test]
fn a_two_level_distribution_that_nobody_has_draws_a_member_for_each_value() {
    let (location, location_variance, shape, variance) = (1.0, 0.3, 8.0, 0.2);
    let own = || Distribution::Packmime { location, location_variance, shape, variance };
    let part = |value| Part { weight: 1.0, value };
    let nested: Distribution<Time> =
        Distribution::Mixture { parts: vec![part(own()), part(own())] };
    let mut stream = Stream::new(5, Kind::Test, 0, 0);
    for spec in [own(), nested] {
        let sampler = spec.sampler("off").unwrap();
        let [first, second, left] = periods(&sampler, None, &mut stream);
        let mean = sampler.mean() / 1e9;
        assert!((first / 400_000.0 / mean - 1.0).abs() < 0.01, "{spec:?}");
        assert!((left / (second / first / 2.0) - 400_000.0).abs() < 4_000.0, "{spec:?}");
    }
}
