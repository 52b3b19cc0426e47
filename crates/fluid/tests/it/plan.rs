//! What becomes of a scenario: classes, queues, and what is refused.

use std::path::Path;

use sojourn_base::Time;
use sojourn_fluid::engine::{Plan, read};
use sojourn_fluid::windows::{Aimd, Reno, WindowLaw};
use sojourn_scenario::{Network, Scenario};

/// A ring of three links with rates, of which data cross two and acknowledgements come back over
/// the third, where data of others wait; and one that nobody uses.
const RING: &str = r#"
duration = "60s"
[tcp]
profile = "classic"
mss = 460
[[links]]
name = "spare"
from = "a"
to = "d"
rate = "1mbit"
[[links]]
name = "ab"
from = "a"
to = "b"
rate = "4mbit"
delay = "10ms"
[[links]]
name = "bc"
from = "b"
to = "c"
rate = "8mbit"
delay = "20ms"
frame_overhead = 38
[[links]]
name = "ca"
from = "c"
to = "a"
rate = "2mbit"
delay = "30ms"
min_frame = 84
[[traffic]]
kind = "bulk"
name = "there"
flows = 3
from = "a"
to = "c"
[[traffic]]
kind = "bulk"
name = "back"
flows = 2
from = "c"
to = "a"
"#;

fn network(changes: &[(&str, &str)]) -> Network {
    let scenario = Scenario::from_toml(RING, "ring").unwrap().with(changes).unwrap();
    scenario.network(Path::new(".")).unwrap()
}

fn plan(changes: &[(&str, &str)]) -> Plan {
    read(&network(changes)).unwrap()
}

fn refused(changes: &[(&str, &str)]) -> String {
    read(&network(changes)).unwrap_err().to_string()
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{got} {want}");
}

#[test]
fn queues_are_those_links_that_data_cross() {
    let plan = plan(&[]);
    assert_eq!((plan.links, plan.ip_bytes), (vec![1, 2, 3], vec![500; 3]));
    assert_eq!(plan.rates, [4_000_000, 8_000_000, 2_000_000]);
    let [there, back] = &plan.parameters.classes[..] else { panic!() };
    assert_eq!((there.path.as_slice(), there.back.as_slice()), (&[0, 1][..], &[2][..]));
    assert_eq!((back.path.as_slice(), back.back.as_slice()), (&[2][..], &[0, 1][..]));
    // Packets of 500 bytes, and of 538 where a frame has 38 more.
    let capacities = plan.parameters.queues.iter().map(|queue| queue.capacity);
    for (got, want) in capacities.zip([1000.0, 8e6 / 8.0 / 538.0, 500.0]) {
        near(got, want);
    }
    assert!(plan.parameters.queues.iter().all(|queue| queue.buffer == 1000.0 && queue.thins));
    let members: Vec<_> =
        plan.members.iter().map(|m| (m.group, m.flows.clone(), m.payload, m.access)).collect();
    let wanted = [(0, vec![0, 1, 2], 460, f64::INFINITY), (1, vec![0, 1], 460, f64::INFINITY)];
    assert_eq!(members, wanted);
}

#[test]
fn a_round_trip_is_what_is_left_of_it_without_queues() {
    let rtt = |changes: &[(&str, &str)]| plan(changes).parameters.classes[0].rtt;
    // 60 ms of propagation; 500 bytes, 538, and an acknowledgement in a frame of 84.
    let bare = 0.06 + 4000.0 / 4e6 + 4304.0 / 8e6 + 672.0 / 2e6;
    near(rtt(&[]), bare);
    // Half of the longest time at either end.
    near(rtt(&[("access.processing", "4ms")]), bare + 0.004);
    // 500 and 40 bytes over a private link at either end.
    near(rtt(&[("access.rate", "1mbit")]), bare + 16.0 * 540.0 / 1e6);
    // Timestamps are 12 bytes, of the segment in data and more in an acknowledgement.
    let stamped = [("access.rate", "1mbit"), ("tcp.timestamps", "true")];
    near(rtt(&stamped), bare + 16.0 * 552.0 / 1e6);
    let member = plan(&stamped).members.remove(0);
    assert_eq!((member.access, member.payload), (250.0, 448));
}

#[test]
fn a_window_begins_and_ends_as_its_sender_says() {
    let windows = |changes: &[(&str, &str)]| {
        let class = plan(changes).parameters.classes.remove(0);
        (class.initial_window, class.max_window)
    };
    let (initial, _) = windows(&[("tcp.initial_window", "3")]);
    assert_eq!(initial, 3.0);
    // As much as the receiver has room for, from the beginning.
    let (initial, end) = windows(&[("tcp.initial_window", "3"), ("tcp.receive_window", "920B")]);
    assert_eq!((initial, end), (2.0, 2.0));
    let class = plan(&[]).parameters.classes.remove(0);
    assert_eq!((class.spread, class.timeouts), (1.0, true));
}

#[test]
fn flows_come_and_go_at_their_times() {
    let flows = |changes: &[(&str, &str)]| -> Vec<_> {
        plan(changes).parameters.classes.into_iter().map(|class| class.flows).collect()
    };
    assert_eq!(flows(&[]), [vec![(0.0, 3.0)], vec![(0.0, 2.0)]]);
    let times = [("traffic.there.start", "5s"), ("traffic.there.stop", "20s")];
    assert_eq!(flows(&times), [vec![(5.0, 3.0), (20.0, 0.0)], vec![(0.0, 2.0)]]);
    // Those that would only begin after the end of all are no flows.
    let changes = [
        ("traffic.there.flows", "40"),
        ("traffic.there.start", "0s..10s"),
        ("traffic.there.stop", "6s"),
    ];
    let network = network(&changes);
    let early: Vec<u32> = (0..40)
        .filter(|flow| {
            network.groups[0].start_of(network.seed, u64::from(*flow)) < Time::from_secs(6)
        })
        .collect();
    assert!(early.len() > 10 && early.len() < 35, "{early:?}");
    let members = read(&network).unwrap().members;
    let mut found: Vec<u32> =
        members.iter().filter(|m| m.group == 0).flat_map(|m| m.flows.clone()).collect();
    found.sort_unstable();
    assert_eq!(found, early);
}

#[test]
fn flows_that_are_put_together_have_the_means_of_their_round_trips_and_starts() {
    let changes = [("traffic.there.flows", "1000"), ("traffic.there.rtt", "100ms..300ms")];
    let starts = ("traffic.there.start", "0s..5s");
    let fixed = plan(&[]).parameters.classes[0].rtt - 0.06;
    for (more, rtts) in [(None, 64), (Some(starts), 8)] {
        let changes: Vec<_> = changes.into_iter().chain(more).collect();
        let network = network(&changes);
        let group = &network.groups[0];
        let plan = read(&network).unwrap();
        let all = plan.members.iter().zip(&plan.parameters.classes);
        let classes: Vec<_> = all.filter(|(member, _)| member.group == 0).collect();
        assert_eq!(classes.len(), 64);
        let mut longest = 0;
        for part in classes.chunks(64 / rtts) {
            let mut latest = 0.0;
            let mut within = (u64::MAX, 0);
            for (member, class) in part {
                let times: Vec<u64> = member
                    .flows
                    .iter()
                    .map(|flow| {
                        group.propagation.0 + group.private_delay(network.seed, u64::from(*flow))
                    })
                    .collect();
                let starts: Vec<f64> = member
                    .flows
                    .iter()
                    .map(|flow| group.start_of(network.seed, u64::from(*flow)).as_secs_f64())
                    .collect();
                let count = times.len() as f64;
                assert!((15..=16).contains(&times.len()), "{}", times.len());
                near(class.rtt, fixed + times.iter().sum::<u64>() as f64 * 1e-9 / count);
                let start = starts.iter().sum::<f64>() / count;
                assert!((class.flows[0].0 - start).abs() < 1e-9, "{:?} {start}", class.flows);
                assert_eq!(class.flows[0].1, count);
                // Within a part by start, part by part by round trip.
                assert!(starts.iter().all(|start| *start >= latest));
                latest = starts.iter().copied().fold(latest, f64::max);
                within.0 = times.iter().copied().fold(within.0, u64::min);
                within.1 = times.iter().copied().fold(within.1, u64::max);
            }
            assert!(within.0 >= longest);
            longest = within.1;
        }
    }
}

#[test]
fn classes_are_by_start_where_all_round_trips_are_alike() {
    let changes = [("traffic.there.flows", "130"), ("traffic.there.start", "0s..5s")];
    let plan = plan(&changes);
    let starts: Vec<_> = plan.parameters.classes.iter().map(|class| class.flows[0]).collect();
    assert_eq!(starts.len(), 65, "64 of the first group");
    assert!(starts[..64].windows(2).all(|two| two[0].0 < two[1].0));
    assert!(starts[..64].iter().all(|(_, flows)| (2.0..=3.0).contains(flows)));
    let flows: f64 = starts[..64].iter().map(|(_, flows)| flows).sum();
    assert_eq!(flows, 130.0);
}

#[test]
fn a_law_that_marks_what_all_over_its_link_let_be_marked_drops_nothing() {
    let pi = r#"{ kind = "pi", ecn = true }"#;
    let thins = |changes: &[(&str, &str)]| {
        let parameters = plan(changes).parameters;
        let thins: Vec<_> = parameters.queues.iter().map(|queue| queue.thins).collect();
        (thins, parameters.classes[0].timeouts, parameters.classes[1].timeouts)
    };
    let marks = [("links.ab.qdisc", pi), ("links.bc.qdisc", pi)];
    assert_eq!(thins(&marks), (vec![true; 3], true, true));
    let asked = [marks[0], marks[1], ("tcp.ecn", "true")];
    assert_eq!(thins(&asked), (vec![false, false, true], false, true));
    let one = [marks[0], ("tcp.ecn", "true")];
    assert_eq!(thins(&one), (vec![false, true, true], true, true));
    // A mark leaves more of a window than a loss, if that is what the sender is told.
    let abe = [
        marks[0],
        marks[1],
        ("tcp.ecn", "true"),
        ("tcp.congestion", r#"{ kind = "reno", beta_ecn = 0.75 }"#),
    ];
    let laws: Vec<_> = plan(&abe).parameters.classes.iter().map(|class| class.law).collect();
    assert_eq!(laws, [Aimd { a: 1.0, b: 0.25 }.into(), WindowLaw::from(Reno)]);
    // Flows that differ only matter where they meet.
    let apart = [marks[0], marks[1], ("traffic.there.tcp.ecn", "true")];
    assert_eq!(thins(&apart).0, [false, false, true]);
    let meet =
        [("traffic.there.tcp.ecn", "true"), ("traffic.back.from", "b"), ("traffic.back.to", "c")];
    assert!(refused(&meet).starts_with("traffic.back.tcp.ecn = false: others on link bc differ"));
}

#[test]
fn all_that_has_no_place_in_the_model_is_refused_by_its_name() {
    for (field, value, message) in [
        ("links.ab.schedule", r#"{ kind = "steps", steps = [["20s", "1mbit"]] }"#, "ab.schedule: "),
        ("links.ab.loss", "0.01", "ab.loss, jitter: "),
        ("links.ab.jitter", r#""1ms..2ms""#, "ab.loss, jitter: "),
        ("links.ab.device", "{ packets = 10 }", "ab.device: "),
        ("links.ab.docsis", "{}", "ab.docsis: "),
        ("links.spare.device", "{ packets = 10 }", "spare.device: "),
        ("probes.pcap", r#"["ab"]"#, "probes.pcap: "),
        ("probes.qlog", r#"["there.0"]"#, "probes.qlog: "),
        ("probes.packet_counts", "1ms", "probes.packet_counts: "),
        ("traffic.there.rate", "1mbit", "traffic.there.rate: "),
        ("traffic.there.size", "1MB", "traffic.there.size: "),
    ] {
        let why = refused(&[(field, value)]);
        assert!(why.starts_with(message), "{field}: {why}");
        assert!(why.contains("the fluid engine cannot do that"), "{why}");
    }
    let access = |field| refused(&[("access.rate", "100mbit"), (field, "10")]);
    assert!(access("access.queue").starts_with("access.queue: "));
    assert!(access("access.hosts").starts_with("access.hosts: "));
    let quic = refused(&[("traffic.there.transport", "quic")]);
    assert!(quic.starts_with("traffic.there.transport = \"quic\": "), "{quic}");
    let mss =
        [("traffic.back.tcp.mss", "960"), ("traffic.back.from", "b"), ("traffic.back.to", "c")];
    let why = refused(&mss);
    let wanted = "traffic.back.tcp.mss: packets of 1000 bytes, but those of there have 500, on the \
                  same link bc: ";
    assert!(why.starts_with(wanted), "{why}");
    // On links of their own sizes may differ.
    assert_eq!(plan(&[("traffic.back.tcp.mss", "960")]).ip_bytes, [500, 500, 1000]);
}

#[test]
fn flows_that_meet_no_queue_are_refused_by_the_way_that_they_go() {
    let dumbbell = |direction: &str| {
        let text = format!(
            r#"
duration = "10s"
[bottleneck]
rate = "20mbit"
delay = "10ms"
reverse = "ideal"
qdisc = "pi"
[tcp]
congestion = "reno"
[[traffic]]
kind = "bulk"
name = "down"
[[traffic]]
kind = "bulk"
name = "flows"
direction = "{direction}"
"#
        );
        let scenario = Scenario::from_toml(&text, "both").unwrap();
        read(&scenario.network(Path::new(".")).unwrap()).map_err(|error| error.to_string())
    };
    assert!(dumbbell("forward").is_ok());
    for direction in ["both", "reverse"] {
        let why = dumbbell(direction).unwrap_err();
        assert!(
            why.starts_with("traffic.flows.direction: its data cross only reverse, which is ideal"),
            "{why}"
        );
        assert!(why.ends_with("or use --engine packets"), "{why}");
    }
}

#[test]
fn a_network_without_a_queue_or_without_a_round_trip_is_refused() {
    let bare = |rate: &str, delay: &str| {
        let text = format!(
            r#"
duration = "10s"
[tcp]
profile = "classic"
[[links]]
name = "there"
from = "a"
to = "b"
{rate}
{delay}
[[links]]
name = "back"
from = "b"
to = "a"
[[traffic]]
kind = "bulk"
name = "flows"
from = "a"
to = "b"
"#
        );
        let scenario = Scenario::from_toml(&text, "bare").unwrap();
        read(&scenario.network(Path::new(".")).unwrap()).map_err(|error| error.to_string())
    };
    let why = bare("", "delay = \"10ms\"").unwrap_err();
    assert!(why.starts_with("traffic: no flow crosses a link that has a rate"), "{why}");
    // The transmission is a round trip, if there is nothing else.
    let plan = bare("rate = \"8mbit\"", "").unwrap();
    near(plan.parameters.classes[0].rtt, f64::from(plan.ip_bytes[0]) * 1e-6);
}
