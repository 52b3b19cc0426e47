//! Random valid scenarios survive being written and read; random text never makes it panic.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sojourn_scenario::Scenario;

fn qdisc() -> impl Strategy<Value = Value> {
    prop_oneof![
        // One written in Python must name its class.
        prop::sample::select(sojourn_qdisc::Config::NAMES)
            .prop_filter("complete", |name| *name != "python")
            .prop_map(Value::from),
        (1u32..100_000).prop_map(|limit| json!({ "kind": "droptail", "limit": limit })),
        (1u64..100).prop_map(|kb| json!({
            "kind": "droptail",
            "limit_bytes": format!("{}kB", kb * 10),
        })),
        (0.0..500.0f64, prop::sample::select(vec![json!(false), json!(true), json!("ect0")]))
            .prop_map(|(qref, ecn)| json!({ "kind": "pi", "qref": qref, "ecn": ecn })),
        (1.0..50.0f64, 60.0..200.0f64)
            .prop_map(|(min, max)| json!({ "kind": "red", "min_th": min, "max_th": max })),
        (
            prop::sample::select(&["floyd", "ns2", "altq", "linux"][..]),
            prop::sample::select(&["uniform", "wait", "altq"][..]),
        )
            .prop_map(|(preset, spacing)| {
                json!({ "kind": "red", "preset": preset, "spacing": spacing, "gentle": true })
            }),
    ]
}

fn schedule() -> impl Strategy<Value = Value> {
    let rate = || (0u32..5000).prop_map(|rate| format!("{rate}kbit"));
    let steps = prop::collection::vec((1u64..10_000, rate()), 1..4);
    prop_oneof![
        (steps, any::<bool>()).prop_map(|(steps, repeats)| {
            let (mut at, mut list) = (0, Vec::new());
            for (span, rate) in steps {
                at += span;
                list.push(json!([format!("{at}ms"), rate]));
            }
            let mut schedule = json!({ "kind": "steps", "steps": list });
            if repeats {
                schedule["repeat"] = format!("{}ms", at + 7).into();
            }
            schedule
        }),
        Just(json!({ "kind": "trace", "file": "some.trace" })),
        (0.01..3.0f64, 1u64..1000).prop_map(|(sigma, every)| json!({
            "kind": "lognormal", "sigma": sigma, "every": format!("{every}ms"), "max": "10tbit",
            "min": "1bit",
        })),
        (rate(), 1u64..1000).prop_map(|(rate, hold)| json!({
            "kind": "markov", "rates": [rate, "1mbit"], "hold": format!("{hold}ms"),
        })),
        (prop::sample::select(&["lte", "5g", "starlink"][..]), prop::option::of(0.0..0.9f64))
            .prop_map(|(model, outage)| {
                let mut radio = json!({ "kind": "radio", "model": model });
                if let Some(outage) = outage {
                    radio["outage"] = outage.into();
                }
                radio
            }),
    ]
}

/// What happens below the queue.
fn wire() -> impl Strategy<Value = Value> {
    let jitter = prop_oneof![
        (0u64..10_000).prop_map(|us| json!(format!("{us}us"))),
        Just(json!({ "dist": "exponential", "mean": "3ms" })),
    ];
    let device = prop_oneof![
        (0u32..2000).prop_map(|packets| json!({ "packets": packets })),
        (1u64..1000).prop_map(|kb| json!({ "bytes": format!("{kb}kB"), "bql": true })),
    ];
    (
        prop::option::of((0.001..0.4f64, prop::option::of(1.0..9.0f64))),
        prop::option::of((jitter, any::<bool>())),
        prop::option::of(device),
    )
        .prop_map(|(loss, jitter, device)| {
            let mut fields = Map::new();
            if let Some((loss, burst)) = loss {
                fields.insert("loss".into(), loss.into());
                fields.extend(burst.map(|burst| ("loss_burst".into(), burst.into())));
            }
            if let Some((jitter, reorder)) = jitter {
                fields.insert("jitter".into(), jitter);
                fields.insert("reorder".into(), reorder.into());
            }
            fields.extend(device.map(|device| ("device".into(), device)));
            Value::Object(fields)
        })
}

/// The fields of a link, each there or not; a rate above 1 Mb/s.
fn link() -> impl Strategy<Value = Map<String, Value>> {
    (
        1_000_000u64..100_000_000_000,
        prop::option::of(0u64..20_000_000),
        prop::option::of(qdisc()),
        prop::option::of(0u32..100),
        prop::option::of(40u32..9000),
        prop::option::of(schedule()),
        wire(),
    )
        .prop_map(|(rate, delay, qdisc, overhead, mean, schedule, wire)| {
            let Value::Object(wire) = wire else { unreachable!() };
            let mut link = Map::new();
            link.insert("rate".into(), format!("{rate}bit").into());
            link.extend(delay.map(|ns| ("delay".into(), format!("{ns}ns").into())));
            link.extend(qdisc.map(|qdisc| ("qdisc".into(), qdisc)));
            link.extend(overhead.map(|bytes| ("frame_overhead".into(), bytes.into())));
            link.extend(mean.map(|bytes| ("mean_packet".into(), bytes.into())));
            link.extend(wire);
            link.extend(schedule.map(|schedule| ("schedule".into(), schedule)));
            link
        })
}

/// Times of at least 200 ms, in every form.
fn times() -> impl Strategy<Value = Value> {
    let least = 200_000_000u64..1_000_000_000;
    let range = (least.clone(), 0u64..1_000_000_000)
        .prop_map(|(from, width)| format!("{from}ns..{}ns", from + width));
    prop_oneof![
        least.clone().prop_map(|ns| format!("{ns}ns").into()),
        range.clone().prop_map(Value::from),
        range.prop_map(|range| json!({ "even": range })),
        (least, 1.05..3.0f64).prop_map(|(min, shape)| json!({
            "dist": "pareto", "min": format!("{min}ns"), "shape": shape,
        })),
    ]
}

fn group() -> impl Strategy<Value = Map<String, Value>> {
    let kind = prop_oneof![
        (1u32..1000).prop_map(|n| json!({ "kind": "bulk", "flows": n })),
        (1u64..1_000_000).prop_map(|n| json!({
            "kind": "bulk", "size": format!("{n}B"), "repeat": true,
        })),
        (1u32..1000).prop_map(|n| json!({ "kind": "web", "users": n })),
        (1u64..1_000_000, any::<bool>()).prop_map(|(rate, poisson)| json!({
            "kind": "udp", "rate": format!("{rate}kbit"), "poisson": poisson,
        })),
        (1u32..100, prop_oneof![Just("gcc"), Just("scream"), Just("fixed")])
            .prop_map(|(n, control)| json!({ "kind": "call", "flows": n, "control": control })),
        (1u32..1000, any::<bool>()).prop_map(|(n, bola)| json!({
            "kind": "video", "users": n, "adaptation": if bola { "bola" } else { "throughput" },
        })),
        (1u64..10_000).prop_map(|ms| json!({ "kind": "ping", "interval": format!("{ms}ms") })),
    ];
    (
        kind,
        prop::option::of(times()),
        prop::option::of(times()),
        prop::sample::select(&["forward", "reverse", "both"][..]),
        prop::option::of((40u32..2000, any::<bool>())),
        prop::option::of((1200u32..9000, any::<bool>())),
    )
        .prop_map(|(kind, rtt, start, direction, tcp, quic)| {
            let Value::Object(mut group) = kind else { unreachable!() };
            group.extend(rtt.map(|rtt| ("rtt".into(), rtt)));
            group.extend(start.map(|start| ("start".into(), start)));
            group.insert("direction".into(), direction.into());
            let connects = ["bulk", "web", "video"].iter().any(|kind| group["kind"] == *kind);
            let tcp = tcp.filter(|_| connects);
            if let Some((size, early)) = quic.filter(|_| connects && tcp.is_none()) {
                group.insert("transport".into(), "quic".into());
                let quic = json!({ "max_udp_payload": size, "zero_rtt": early });
                group.insert("quic".into(), quic);
            }
            group.extend(
                tcp.map(|(mss, sack)| ("tcp".into(), json!({ "mss": mss.max(88), "sack": sack }))),
            );
            group
        })
}

fn scenario() -> impl Strategy<Value = Value> {
    let reverse = prop_oneof![
        Just(None),
        Just(Some(json!("ideal"))),
        link().prop_map(|link| Some(Value::Object(link))),
    ];
    (
        1u64..100_000_000_000_000,
        any::<u64>(),
        prop::option::of(0u32..4),
        link(),
        reverse,
        prop::collection::vec(group(), 1..4),
        any::<[bool; 3]>(),
    )
        .prop_map(
            |(duration, seed, hops, mut link, reverse, groups, [queues, flows, unfused])| {
                link.extend(reverse.map(|reverse| ("reverse".into(), reverse)));
                let mut scenario = json!({
                    "duration": format!("{duration}ns"),
                    "seed": seed,
                    "traffic": groups,
                    "probes": { "queues": queues, "flows": flows },
                    "packets": { "unfused": unfused },
                });
                let form = match hops {
                    Some(hops) => {
                        link.insert("hops".into(), (hops + 1).into());
                        "parking_lot"
                    }
                    None => "bottleneck",
                };
                scenario[form] = Value::Object(link);
                scenario
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn written_scenario_reads_back(json in scenario()) {
        let scenario = match Scenario::from_json(&json.to_string()) {
            Ok(scenario) => scenario,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{json:#}"))),
        };
        let toml = scenario.to_toml();
        let again = Scenario::from_toml(&toml, "again");
        prop_assert_eq!(again.as_ref(), Ok(&scenario), "{}", toml);
        prop_assert_eq!(Scenario::from_json(&scenario.to_json()), Ok(scenario.clone()));
        // Nothing in the shortest form can be left out: writing it again is no shorter.
        prop_assert_eq!(again.unwrap().to_toml(), toml);
        // A variation to what is there already changes nothing.
        let seed = scenario.seed.to_string();
        prop_assert_eq!(scenario.with(&[("seed", &seed)]), Ok(scenario));
    }

    #[test]
    fn any_text_is_a_scenario_or_an_error_of_one_line(
        key in "[a-z_.]{1,12}",
        value in "[a-z0-9\"{}=,. -]{0,20}",
    ) {
        let text = format!("duration = \"1s\"\n{key} = {value}\n");
        if let Err(error) = Scenario::from_toml(&text, "f") {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
        let base = "duration = \"1s\"\n[bottleneck]\nrate = \"1mbit\"\n[[traffic]]\nkind = \"bulk\"\n";
        let base = Scenario::from_toml(base, "f").unwrap();
        if let Err(error) = base.with(&[(&key, &value)]) {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }
}
