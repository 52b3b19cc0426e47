//! What every congestion control must hold to: random settings and random sequences of calls leave
//! a window of a segment at least, without overflow and without panic; and each says in its file
//! what it is and where it differs.

use proptest::prelude::*;
use sojourn_base::{Rate as BitRate, Size, Time};
use sojourn_tcp::Algorithm;
use sojourn_tcp::congestion::{
    Acked, Congested, Congestion, Lost, Rate, Sample, Tuning, Window, aimd, bbr, constant, cubic,
    dctcp, highspeed, ledbat, prague, reno, scalable, vegas, westwood,
};

/// All algorithms of this crate; a class from outside answers for itself.
fn names() -> impl Iterator<Item = &'static str> {
    Algorithm::NAMES.iter().copied().filter(|&name| name != "python")
}

/// The largest window that a sender lets an algorithm grow to (RFC 7323 section 2.3).
const LARGEST: u32 = 65535 << 14;

/// Logarithmically uniform.
fn over(least: f64, most: f64) -> impl Strategy<Value = f64> {
    (0.0..=1.0f64).prop_map(move |u| (least * (most / least).powf(u)).clamp(least, most))
}

fn span(least: u64, most: u64) -> impl Strategy<Value = Time> {
    over(least as f64, most as f64).prop_map(|t| Time(t as u64))
}

/// Any algorithm with any settings that validation lets through.
fn algorithm() -> impl Strategy<Value = Algorithm> {
    let scalable = (
        over(1e-6, 1.0),
        over(0.001, 0.9),
        prop::option::of(0..=1_000_000u32),
        (prop::option::of(any::<bool>()), prop::option::of(any::<bool>()), any::<bool>()),
        prop::option::of(span(1_000, 100_000_000_000)),
    )
        .prop_map(|(a, b, lwnd, switches, reference_rtt)| {
            let (at_least_reno, whole_segments, delayed_ack_correction) = switches;
            Algorithm::Scalable(scalable::Settings {
                a,
                b,
                lwnd,
                at_least_reno,
                whole_segments,
                delayed_ack_correction,
                reference_rtt,
            })
        });
    let highspeed = (2..=1_000_000u32, over(1e-6, 0.1), over(2.0, 1e7), over(1e-15, 0.5))
        .prop_flat_map(|(low_window, low_p, high, p)| {
            over(0.01, 0.5).prop_map(move |high_decrease| {
                let high_window = (high as u32).max(2 * low_window);
                let high_p = (p * low_p).max(1e-15);
                let s =
                    highspeed::Settings { low_window, low_p, high_window, high_p, high_decrease };
                Algorithm::Highspeed(s)
            })
        });
    let share = || 0.1..=0.95f64;
    let cubic = (over(0.001, 100.0), share(), share(), any::<bool>(), any::<bool>()).prop_map(
        |(c, beta, beta_ecn, fast_convergence, reno_friendly)| {
            let alpha_rises = Some(beta > 0.5);
            let whole_segments = Some(beta_ecn > 0.5);
            Algorithm::Cubic(cubic::Settings {
                c,
                beta,
                beta_ecn,
                fast_convergence,
                reno_friendly,
                alpha_rises,
                whole_segments,
            })
        },
    );
    let bbr = (over(0.001, 0.5), 0.1..=0.99f64, 0.0..=0.5f64, 0.0..=1.0f64, 0.01..=1.0f64)
        .prop_map(|(loss_threshold, beta, headroom, ecn_factor, ecn_threshold)| {
            let s = bbr::Settings { loss_threshold, beta, headroom, ecn_factor, ecn_threshold };
            Algorithm::Bbr(s)
        });
    prop_oneof![
        (0.5..=0.95f64).prop_map(|beta_ecn| Algorithm::Reno(reno::Settings { beta_ecn })),
        scalable,
        (over(0.001, 1000.0), over(0.001, 0.9))
            .prop_map(|(a, b)| Algorithm::Aimd(aimd::Settings { a, b })),
        highspeed,
        cubic,
        span(1_000_000, 100_000_000_000).prop_map(|tau| {
            let linux_filter = Some(tau.0 % 2 == 0);
            let estimate_after = Some(tau.0 % 3 == 0);
            Algorithm::Westwood(westwood::Settings { tau, linux_filter, estimate_after })
        }),
        (over(0.0001, 1.0), 0.0..=1.0f64).prop_map(|(g, initial_alpha)| {
            Algorithm::Dctcp(dctcp::Settings { g, initial_alpha })
        }),
        (
            over(0.0001, 1.0),
            0.0..=1.0f64,
            prop_oneof![Just(Time::ZERO), span(1, 10_000_000_000)],
            any::<bool>(),
        )
            .prop_map(|(g, initial_alpha, virtual_rtt, fallback)| {
                Algorithm::Prague(prague::Settings { g, initial_alpha, virtual_rtt, fallback })
            }),
        bbr,
        (1..=1000u32, 0..=1000u32, 1..=1000u32).prop_map(|(alpha, more, gamma)| {
            let beta = (alpha + more).min(1000);
            Algorithm::Vegas(vegas::Settings { alpha, beta, gamma })
        }),
        (span(1_000_000, 100_000_000), over(0.01, 1.0))
            .prop_map(|(target, gain)| Algorithm::Ledbat(ledbat::Settings { target, gain })),
        (1..=1_000_000_000u64, prop::option::of(1_000..=1_000_000_000_000u64)).prop_map(
            |(cwnd, rate)| {
                let (cwnd, pacing_rate) = (Size(cwnd), rate.map(BitRate));
                Algorithm::Constant(constant::Settings { cwnd, pacing_rate })
            }
        ),
    ]
}

#[derive(Clone, Debug)]
enum Call {
    Ack { bytes: u32, after_timeout: bool, smooth: bool },
    Loss { flight: u32 },
    Mark { flight: u32 },
    Timeout { flight: u32, first: bool },
    Undo,
    Restart,
    TxStart,
    Lost { bytes: u32, flight: u32, before: u32, place: u64 },
    Sample { acked: u32, lost: u32, marked: u32, rest: u64, rate: Option<(u32, Time)> },
}

fn call() -> impl Strategy<Value = Call> {
    let bytes = || prop_oneof![4 => 0..200_000u32, 1 => 0..=LARGEST];
    let rate = (bytes(), prop_oneof![Just(Time::ZERO), span(1, 1_000_000_000_000)]);
    prop_oneof![
        8 => (bytes(), any::<bool>(), any::<bool>())
            .prop_map(|(bytes, after_timeout, smooth)| Call::Ack { bytes, after_timeout, smooth }),
        2 => bytes().prop_map(|flight| Call::Loss { flight }),
        2 => bytes().prop_map(|flight| Call::Mark { flight }),
        1 => (bytes(), any::<bool>())
            .prop_map(|(flight, first)| Call::Timeout { flight, first }),
        1 => Just(Call::Undo),
        1 => Just(Call::Restart),
        1 => Just(Call::TxStart),
        2 => (0..9_000u32, bytes(), bytes(), any::<u64>())
            .prop_map(|(bytes, flight, before, place)| Call::Lost { bytes, flight, before, place }),
        8 => (bytes(), bytes(), bytes(), any::<u64>(), prop::option::of(rate)).prop_map(
            |(acked, lost, marked, rest, rate)| Call::Sample { acked, lost, marked, rest, rate }
        ),
    ]
}

struct Sender {
    tuning: Tuning,
    control: Congestion,
    window: Window,
    before: Window,
    mss: u32,
    now: Time,
    srtt: Time,
    delivered: u64,
}

impl Sender {
    fn at(&self, flight: u32) -> Congested {
        let flight = flight.min(self.window.cwnd);
        Congested { now: self.now, srtt: self.srtt, flight, mss: self.mss }
    }

    fn call(&mut self, call: &Call) {
        let (t, c, w) = (&self.tuning, &mut self.control, &mut self.window);
        let (now, srtt, mss) = (self.now, self.srtt, self.mss);
        match *call {
            Call::Ack { bytes, after_timeout, smooth } => {
                c.on_ack(t, w, Acked { now, srtt, bytes, mss, after_timeout, smooth });
            }
            Call::Loss { flight } => {
                let at = self.at(flight);
                self.before = self.window;
                self.control.on_loss(&self.tuning, &mut self.window, at);
            }
            Call::Mark { .. } if !c.answers_marks(now) => {}
            Call::Mark { flight } => {
                let at = self.at(flight);
                self.control.on_mark(&self.tuning, &mut self.window, at);
            }
            Call::Timeout { flight, first } => {
                let at = self.at(flight);
                self.before = self.window;
                self.control.on_timeout(&self.tuning, &mut self.window, at, first);
            }
            Call::Undo => {
                *w = self.before;
                c.on_undo(t, w);
            }
            Call::Restart => {
                w.cwnd = w.cwnd.min(10 * mss);
                c.on_restart(t, w, Congested { now, srtt, flight: 0, mss });
            }
            Call::TxStart => c.on_tx_start(t, w, now),
            Call::Lost { bytes, flight, before, place } => {
                let lost = Lost {
                    now,
                    bytes,
                    start: place >> 9,
                    end: (place >> 9) + 1,
                    flight_then: flight,
                    lost_since: before.saturating_add(bytes),
                    app_limited: place & 1 != 0,
                    delivered: self.delivered,
                };
                c.on_lost(t, w, &lost);
            }
            Call::Sample { acked, lost, marked, rest, rate } => {
                self.delivered += u64::from(acked);
                let sample = Sample {
                    now,
                    rtt: (rest & 1 != 0).then_some(Time((srtt.0 / 2).max(1))),
                    srtt,
                    mss,
                    acked,
                    lost: if rest & 2 != 0 { lost } else { 0 },
                    marked: if rest & 4 != 0 { marked } else { 0 },
                    flight: (rest >> 32) as u32 % (w.cwnd + 1),
                    delivered: self.delivered,
                    round: rest & 8 != 0,
                    recovering: rest & 16 != 0,
                    rate: rate.map(|(delivered, interval)| Rate {
                        delivered,
                        interval,
                        app_limited: rest & 32 != 0,
                        flight_then: (rest >> 8) as u32 % LARGEST,
                        lost_since: if rest & 64 != 0 { lost } else { 0 },
                    }),
                };
                c.on_sample(t, w, &sample);
            }
        }
        let _ = self.control.pace(&self.tuning, &self.window, srtt);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn controls_keep_window_under_any_calls(
        algorithm in algorithm(),
        mss in 88..9_000u32,
        calls in prop::collection::vec((call(), 0..10_000_000_000u64, 0..40u32), 1..60),
    ) {
        let tuning = algorithm.tune().expect("settings in their ranges");
        let mut sender = Sender {
            control: Congestion::new(&tuning),
            tuning,
            window: Window { cwnd: 10 * mss, ssthresh: u32::MAX },
            before: Window { cwnd: 10 * mss, ssthresh: u32::MAX },
            mss,
            now: Time::ZERO,
            srtt: Time::ZERO,
            delivered: 0,
        };
        for (call, gap, shift) in &calls {
            sender.now += Time(gap >> shift);
            sender.srtt = Time(gap >> (40 - shift));
            sender.call(call);
            let w = sender.window;
            prop_assert!(w.cwnd >= mss, "{} after {call:?}: {w:?}", algorithm.name());
            prop_assert!(w.ssthresh >= 2 * mss, "{} after {call:?}: {w:?}", algorithm.name());
            sender.window.cwnd = w.cwnd.min(LARGEST);
        }
    }
}

#[test]
fn random_settings_cover_every_control() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen: Vec<&str> =
        (0..400).map(|_| algorithm().new_tree(&mut runner).unwrap().current().name()).collect();
    seen.sort_unstable();
    seen.dedup();
    let mut names: Vec<&str> = names().collect();
    names.sort_unstable();
    assert_eq!(seen, names);
}

#[test]
fn controls_reduce_on_loss_and_collapse_on_timeout() {
    for name in names() {
        let tuning = Algorithm::named(name).unwrap().tune().unwrap();
        let mut control = Congestion::new(&tuning);
        let mut w = Window { cwnd: 100_000, ssthresh: u32::MAX };
        let at = Congested { now: Time(1), srtt: Time(1000), flight: 100_000, mss: 1000 };
        control.on_loss(&tuning, &mut w, at);
        assert!(w.cwnd <= 100_000, "{name}");
        control.on_timeout(&tuning, &mut w, at, true);
        assert_eq!(w.cwnd, 1000, "{name}");
    }
}

#[test]
fn only_controls_with_modes_beyond_slow_start_name_them() {
    for name in names() {
        let tuning = Algorithm::named(name).unwrap().tune().unwrap();
        let mode = Congestion::new(&tuning).mode();
        let named = match name {
            "bbr" => Some("startup"),
            "constant" => Some("constant"),
            _ => None,
        };
        assert_eq!(mode, named, "{name}");
    }
}

#[test]
#[cfg(feature = "schema")]
fn every_algorithm_says_what_it_is_and_where_it_differs() {
    for name in names() {
        let text = Algorithm::documentation(name).expect("known");
        let (summary, rest) = text.split_once("\n\n").expect("paragraphs");
        assert!(summary.contains(':'), "{name} begins with what it does: {summary}");
        for heading in ["# Differences from the source\n", "# Differences from Linux\n"] {
            let (_, part) = rest.split_once(heading).unwrap_or_else(|| panic!("{name}: {heading}"));
            let part = part.split("\n# ").next().unwrap();
            assert!(part.trim().len() > 20, "{name}: nothing under {heading}");
        }
        let sources = ["RFC ", "draft-", "ACM", "IEEE", "SIGCOMM", "ICNP", "PFLDnet"];
        assert!(sources.iter().any(|s| text.contains(s)), "{name} names no source");
    }
    assert_eq!(Algorithm::documentation("nonesuch"), None);
}

/// All properties of a schema but `kind`, wherever they stand.
#[cfg(feature = "schema")]
fn collect(schema: &serde_json::Value, found: &mut Vec<(String, serde_json::Value)>) {
    match schema {
        serde_json::Value::Object(map) => {
            for (key, value) in map {
                match (key.as_str(), value.as_object()) {
                    ("properties", Some(all)) => {
                        let named = all.iter().filter(|(name, _)| name.as_str() != "kind");
                        found.extend(named.map(|(name, p)| (name.clone(), p.clone())));
                    }
                    _ => collect(value, found),
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|v| collect(v, found)),
        _ => {}
    }
}

#[test]
#[cfg(feature = "schema")]
fn every_setting_says_its_range_its_default_and_the_default_s_source() {
    let schema = serde_json::to_value(schemars::schema_for!(Algorithm)).unwrap();
    let mut settings = Vec::new();
    collect(&schema, &mut settings);
    // Those of a class from outside have no ranges.
    for (field, property) in settings.iter().filter(|(f, _)| f != "class" && f != "with") {
        let text = property["description"].as_str().unwrap_or_default();
        let text = text.replace('\n', " ");
        assert!(text.contains("(default "), "{field}: {text:?}");
        let kind = &property["type"];
        let boolean = kind == "boolean" || kind[0] == "boolean";
        assert!(boolean || text.contains(" to "), "{field} has no range: {text:?}");
    }
    let count = settings.len();
    assert!(count >= 25, "{count} settings");
}

#[test]
fn invalid_setting_is_named_with_its_range() {
    use sojourn_tcp::Spec;
    let spec = |algorithm| Spec { congestion: Some(algorithm), ..Spec::default() };
    let s = scalable::Settings { a: 2.0, ..Default::default() };
    let error = Spec::resolve(&[&spec(Algorithm::Scalable(s))]).unwrap_err();
    assert_eq!((&*error.field, error.value.as_str()), ("congestion.a", "2"));
    assert!(error.remedy.contains("0.000001 to 1"), "{error}");
    let s = cubic::Settings { beta: f64::NAN, ..Default::default() };
    let error = Spec::resolve(&[&spec(Algorithm::Cubic(s))]).unwrap_err();
    assert_eq!(error.field, "congestion.beta");
}

#[test]
fn controls_that_need_ecn_enable_it_or_refuse() {
    use sojourn_tcp::Spec;
    for (name, needs) in [("reno", false), ("cubic", false), ("dctcp", true), ("prague", true)] {
        let congestion = Algorithm::named(name);
        let spec = Spec { congestion: congestion.clone(), ..Spec::default() };
        assert_eq!(Spec::resolve(&[&spec]).unwrap().ecn, needs, "{name}");
        let without = Spec { ecn: Some(false), congestion, ..Spec::default() };
        match Spec::resolve(&[&without]) {
            Ok(params) => assert!(!needs && !params.ecn, "{name}"),
            Err(error) => assert!(needs && error.field == "ecn", "{name}: {error}"),
        }
    }
}
