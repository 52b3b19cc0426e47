//! A simulation taken step by step is the run as a whole; what is set by hand can be replayed; a
//! copy goes the same way as its original.

use crate::common::difference;
use crate::fused::scenario;
use proptest::prelude::*;
use sojourn_base::{Time, Value};
use sojourn_packets::{Clock, Control, Observation, Recorder, Simulation, Summary, run};
use sojourn_scenario::Scenario;
use std::cell::Cell;
use std::path::Path;

fn read(text: &str) -> Scenario {
    Scenario::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn started(scenario: &Scenario) -> Simulation {
    Simulation::new(scenario, Path::new("."), Recorder::none()).unwrap()
}

fn whole(scenario: &Scenario) -> Summary {
    let network = scenario.network(Path::new(".")).unwrap();
    run(network, &Control::default(), &mut Recorder::none()).unwrap()
}

fn until(simulation: &mut Simulation, at: Time) {
    assert_eq!(simulation.run_until(at, &Control::default()), Ok(at.min(simulation.duration())));
}

fn finished(mut simulation: Simulation) -> Summary {
    let end = simulation.duration();
    until(&mut simulation, end);
    simulation.finish().0
}

/// What a change may be on the link of [`BENCH`] with this discipline.
fn changes() -> impl Strategy<Value = (&'static str, Vec<(u64, &'static str, Value)>)> {
    let kinds = [
        ("droptail", "limit", 5i64..200),
        ("codel", "limit", 5i64..200),
        ("pi", "qref", 1..60),
        ("red", "max_th", 20..90),
        ("ared", "limit", 20..200),
        ("rem", "qref", 1..60),
        ("pie", "limit", 5i64..200),
    ];
    (0..kinds.len()).prop_flat_map(move |at| {
        let (kind, field, range) = kinds[at].clone();
        let value = prop_oneof![
            range.prop_map(Value::Integer),
            (300i64..20_000).prop_map(|k| Value::Text(format!("{k}kbit"))),
        ];
        // Whole milliseconds make ties; others avoid them.
        let time = prop_oneof![(0u64..6000).prop_map(|t| t * 1_000_000), 0..6_000_000_000u64];
        prop::collection::vec((time, value), 1..5).prop_map(move |mut all| {
            all.sort_by_key(|(at, _)| *at);
            let named = all.into_iter().map(|(at, value)| match value {
                Value::Integer(_) => (at, field, value),
                _ => (at, "rate", value),
            });
            (kind, named.collect())
        })
    })
}

fn bench(kind: &str, seed: u64) -> Scenario {
    read(&format!(
        "duration = \"6s\"\nwarmup = \"2s\"\nseed = {seed}\n\
         [bottleneck]\nrate = \"4mbit\"\ndelay = \"5ms\"\nqdisc = \"{kind}\"\n\
         [[traffic]]\nkind = \"bulk\"\nflows = 5\nrtt = \"20ms..60ms\"\n\
         [[traffic]]\nkind = \"web\"\nusers = 20\n"
    ))
}

fn path(field: &str) -> String {
    if field == "rate" { "bottleneck.rate".into() } else { format!("bottleneck.qdisc.{field}") }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40),
        max_shrink_iters: 100,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn steps_come_to_the_same_as_one_run(
        text in scenario(),
        pauses in prop::collection::vec(0u64..20_000_000_000, 0..30),
    ) {
        let scenario = read(&text);
        let mut simulation = started(&scenario);
        let mut pauses = pauses;
        pauses.sort_unstable();
        for pause in pauses {
            until(&mut simulation, Time(pause));
            simulation.observe();
        }
        prop_assert_eq!(difference(&finished(simulation), &whole(&scenario)), None);
    }

    #[test]
    fn a_copy_goes_the_same_way(text in scenario(), at in 0u64..20_000_000_000) {
        let mut one = started(&read(&text));
        until(&mut one, Time(at));
        let mut other = one.fork().unwrap();
        prop_assert_eq!(one.observe(), other.observe());
        prop_assert_eq!(difference(&finished(one), &finished(other)), None);
    }

    #[test]
    fn what_was_set_by_hand_is_replayed_to_the_bit((kind, all) in changes(), seed in 1u64..100) {
        let mut simulation = started(&bench(kind, seed));
        let mut copied: Option<Simulation> = None;
        for (at, field, value) in all {
            for simulation in copied.iter_mut().chain([&mut simulation]) {
                until(simulation, Time(at));
                simulation.set(&path(field), value.clone()).unwrap();
            }
            copied = copied.or_else(|| Some(simulation.fork().unwrap()));
        }
        let saved = read(&simulation.scenario().unwrap().to_toml());
        let by_hand = finished(simulation);
        prop_assert_eq!(difference(&by_hand, &whole(&saved)), None);
        prop_assert_eq!(difference(&by_hand, &finished(started(&saved))), None);
        prop_assert_eq!(difference(&by_hand, &finished(copied.unwrap())), None);
        let unfused = read(&format!("{}\n[packets]\nunfused = true\n", saved.to_toml()));
        prop_assert_eq!(difference(&by_hand, &whole(&unfused)), None);
    }
}

const CONTROLS: &str = "duration = \"5s\"\nwarmup = \"1s\"\n\
    bottleneck = { rate = \"4mbit\", delay = \"5ms\", qdisc = \"codel\" }\n\
    [[traffic]]\nkind = \"bulk\"\nflows = 3\nrtt = \"20ms..60ms\"\ndirection = \"both\"\n\
    tcp = { congestion = \"CONTROL\" }\n\
    [[traffic]]\nkind = \"web\"\nusers = 10\n";

#[test]
fn settings_of_congestion_controls_are_replayed_to_the_bit() {
    for (control, path, values) in [
        ("scalable", "a", [Value::Number(0.05), Value::Number(0.001)]),
        ("reno", "beta_ecn", [Value::Number(0.6), Value::Number(0.9)]),
        ("ledbat", "target", [Value::Text("5ms".into()), Value::Text("60ms".into())]),
        ("constant", "cwnd", [Value::Text("3kB".into()), Value::Text("40kB".into())]),
        ("constant", "pacing_rate", [Value::Text("1mbit".into()), Value::Text("9mbit".into())]),
    ] {
        let scenario = read(&CONTROLS.replace("CONTROL", control));
        let mut simulation = started(&scenario);
        for (at, value) in [1_500_000_000, 3_000_000_000].into_iter().zip(values) {
            until(&mut simulation, Time(at));
            simulation.set(&format!("traffic.0.tcp.congestion.{path}"), value).unwrap();
        }
        let changed = simulation.scenario().unwrap().clone();
        assert_eq!(changed.changes.len(), 2);
        let by_hand = finished(simulation);
        assert_eq!(difference(&by_hand, &whole(&changed)), None, "{control}");
        let same = difference(&by_hand, &whole(&scenario)).is_none();
        assert!(!same || control == "reno", "{control}: {path} changes what happens");
    }
}

#[test]
fn a_window_set_by_hand_is_what_is_in_flight() {
    let scenario = read(
        "duration = \"9s\"\nbottleneck = { rate = \"1gbit\", delay = \"5ms\" }\n\
         [[traffic]]\nkind = \"bulk\"\nrtt = \"100ms\"\ntcp = { congestion = \"constant\" }\n",
    );
    let mut simulation = started(&scenario);
    for (second, bytes) in [(1, 30_000u32), (3, 90_000), (5, 14_480)] {
        until(&mut simulation, Time::from_secs(second));
        let value = Value::Text(format!("{bytes}B"));
        simulation.set("traffic.0.tcp.congestion.cwnd", value).unwrap();
        until(&mut simulation, Time::from_secs(second + 1));
        simulation.observe();
        until(&mut simulation, Time::from_secs(second + 2));
        let flow = simulation.observe().groups[0].flows[0];
        assert_eq!(flow.cwnd_bytes, Some(bytes));
        let filled = f64::from(flow.in_flight_bytes) / f64::from(bytes);
        assert!((0.5..=1.0).contains(&filled), "{bytes}: {}", flow.in_flight_bytes);
        // Whole segments of 1448 bytes, a window a round trip, which delayed acknowledgements and
        // pacing make a little longer.
        let most = f64::from(bytes / 1448 * 1448) * 8.0 / 0.1;
        let throughput = flow.throughput_bps.unwrap();
        assert!((0.8 * most..=1.01 * most).contains(&throughput), "{bytes}: {throughput} {most}");
    }
}

#[test]
fn what_is_set_by_hand_stands_beside_the_changes_of_the_scenario() {
    let text = format!(
        "changes = [{}, {}]\n{}",
        "{ at = \"1s\", set = { \"bottleneck.rate\" = \"3mbit\" } }",
        "{ at = \"4s\", set = { \"bottleneck.qdisc.limit\" = 30 } }",
        bench("codel", 3).to_toml()
    );
    let scenario = read(&text);
    let mut simulation = started(&scenario);
    for (at, limit) in [(2, 60), (3, 20), (5, 90)] {
        until(&mut simulation, Time::from_secs(at));
        simulation.set("bottleneck.qdisc.limit", Value::Integer(limit)).unwrap();
    }
    let saved = simulation.scenario().unwrap().clone();
    let times: Vec<u64> = saved.changes.iter().map(|change| change.at.0 / 1_000_000_000).collect();
    assert_eq!(times, [1, 2, 3, 4, 5]);
    assert_eq!(difference(&finished(simulation), &whole(&saved)), None);
}

#[test]
fn the_time_that_steps_take_adds_up() {
    thread_local! { static NOW: Cell<f64> = const { Cell::new(0.0) }; }
    // It goes on by a second whenever it is read, which is at the ends of each step.
    let clock = Clock(|| NOW.replace(NOW.get() + 1.0));
    let control = Control { clock, ..Control::default() };
    let mut simulation = started(&bench("codel", 1));
    for second in 1..=6 {
        simulation.run_until(Time::from_secs(second), &control).unwrap();
    }
    assert_eq!(simulation.finish().0.engine_seconds, 6.0);
}

fn looked(mut simulation: Simulation, at: u64) -> Observation {
    until(&mut simulation, Time::from_millis(at));
    simulation.observe()
}

/// Whatever the rate follows, and wherever the measured window begins.
#[test]
fn mean_rate_of_link_is_that_since_the_last_look() {
    let half = "schedule = { kind = \"steps\", steps = [[\"1500ms\", \"2mbit\"]] }";
    let change = "[[changes]]\nat = \"1500ms\"\nset = { \"bottleneck.rate\" = \"2mbit\" }";
    for (link, changes) in [(half, ""), ("", change)] {
        let mut simulation = started(&read(&format!(
            "duration = \"9s\"\nwarmup = \"1200ms\"\n[bottleneck]\nrate = \"8mbit\"\n{link}\n\
             [[traffic]]\nkind = \"bulk\"\nrtt = \"60ms\"\n{changes}\n"
        )));
        let mut rates = Vec::new();
        for at in [0, 1000, 2000, 2500, 3000] {
            until(&mut simulation, Time::from_millis(at));
            rates.push(simulation.observe().links[0].mean_rate_bps);
        }
        assert_eq!(rates, [None, Some(8e6), Some(5e6), Some(2e6), Some(2e6)]);
    }
}

#[test]
fn a_lower_limit_shortens_the_queue_and_a_higher_rate_carries_more() {
    let mut simulation = started(&read(
        "duration = \"60s\"\n[bottleneck]\nrate = \"10mbit\"\ndelay = \"5ms\"\n\
         qdisc = { kind = \"droptail\", limit = 60 }\n\
         [[traffic]]\nkind = \"bulk\"\nflows = 20\nrtt = \"60ms\"\n",
    ));
    until(&mut simulation, Time::from_millis(30_000));
    simulation.observe();
    let mean = |simulation: &mut Simulation| {
        let lengths = (0..100).map(|_| {
            let at = simulation.now() + Time::from_millis(100);
            until(simulation, at);
            simulation.observe().links[0].queue_packets as f64
        });
        lengths.sum::<f64>() / 100.0
    };
    let mut other = simulation.fork().unwrap();
    other.set("bottleneck.qdisc.limit", Value::Integer(15)).unwrap();
    let (high, low) = (mean(&mut simulation), mean(&mut other));
    assert!(high > 25.0 && low < 15.0, "{high} {low}");
    let mut faster = simulation.fork().unwrap();
    faster.set("bottleneck.rate", Value::Text("20mbit".into())).unwrap();
    let (slow, fast) = (looked(simulation, 50_000), looked(faster, 50_000));
    let rate = |seen: &Observation| seen.links[0].throughput_bps.unwrap();
    assert_eq!((slow.links[0].rate_bps, fast.links[0].rate_bps), (10_000_000, 20_000_000));
    assert!(rate(&fast) > 1.6 * rate(&slow), "{} {}", rate(&fast), rate(&slow));
    assert_eq!(fast.groups[0].flows.len(), 20);
    assert!(fast.groups[0].flows.iter().all(|flow| flow.srtt_s.is_some_and(|s| s > 0.06)));
}

#[test]
fn what_cannot_change_is_refused_and_changes_nothing() {
    let scenario = bench("fq_codel", 1);
    let mut simulation = started(&scenario);
    until(&mut simulation, Time::from_millis(2500));
    let mut refused = |path: &str, value| simulation.set(path, value).unwrap_err().to_string();
    let text = |text: &str| Value::Text(text.into());
    assert!(refused("traffic.0.flows", Value::Integer(9)).contains("does not change during a run"));
    assert!(refused("bottleneck.qdisc.kind", text("pi")).contains("does not change during a run"));
    assert!(refused("bottleneck.qdisc.target", text("9ms")).contains("fq_codel cannot change"));
    assert!(refused("bottleneck.qdisc.targte", text("9ms")).contains("unknown field"));
    assert!(refused("bottleneck.rate", text("0bit")).contains("rate"));
    assert_eq!(difference(&finished(simulation), &whole(&scenario)), None);
}

/// Every packet of a queue has a flow; what becomes of a flow's packets is what the link counts.
#[test]
fn packets_of_a_queue_are_told_by_flow() {
    let mut simulation = started(&read(
        "duration = \"20s\"\nwarmup = \"10s\"\n[tcp]\necn = true\n\
         [bottleneck]\nrate = \"10mbit\"\ndelay = \"5ms\"\n\
         qdisc = { kind = \"red\", ecn = true, limit = 45 }\n\
         [[traffic]]\nkind = \"bulk\"\nflows = 2\nrtt = \"40ms\"\ntcp = { ecn = false }\n\
         [[traffic]]\nkind = \"bulk\"\nflows = 3\nrtt = \"60ms\"\n\
         [[traffic]]\nkind = \"udp\"\nrate = \"600kbit\"\n",
    ));
    let (mut dropped, mut marked) = ([0; 2], [0; 2]);
    let (mut link, mut groups, mut carried) = ([0; 2], [0; 3], 0);
    for step in 1..=100 {
        until(&mut simulation, Time::from_millis(200 * step));
        let packets = simulation.queued("bottleneck", usize::MAX).unwrap();
        let seen = simulation.observe();
        let queue = &seen.links[0];
        assert_eq!(packets.len() as u64, queue.queue_packets);
        assert_eq!(packets.iter().map(|p| u64::from(p.bytes)).sum::<u64>(), queue.queue_bytes);
        let head = simulation.queued("bottleneck", 7).unwrap();
        assert_eq!(head, packets[..packets.len().min(7)]);
        for packet in packets {
            groups[packet.group] += 1;
            assert!(packet.flow < [2, 3, 1][packet.group]);
            assert!(!packet.marked || packet.group == 1);
            carried += u64::from(packet.marked);
        }
        link = [link[0] + queue.dropped, link[1] + queue.marked];
        for (group, seen) in seen.groups[..2].iter().enumerate() {
            dropped[group] += seen.flows.iter().map(|flow| flow.dropped).sum::<u64>();
            marked[group] += seen.flows.iter().map(|flow| flow.marked).sum::<u64>();
        }
    }
    assert!(groups.iter().all(|&n| n > 5) && carried > 0, "{groups:?} {carried}");
    // Datagrams are dropped too; marks may still be on their way.
    assert!(dropped[0] > 20 && link[0] >= dropped[0] + dropped[1], "{dropped:?} {link:?}");
    assert!(link[0] - dropped[0] - dropped[1] < 40, "{dropped:?} {link:?}");
    assert!(marked[0] == 0 && marked[1] > 20, "{marked:?} {link:?}");
    assert!(marked[1] <= link[1] && link[1] - marked[1] <= 45, "{marked:?} {link:?}");
    let refused = simulation.queued("nowhere", 1).unwrap_err().to_string();
    assert!(refused.contains("no queue named nowhere"), "{refused}");
}
