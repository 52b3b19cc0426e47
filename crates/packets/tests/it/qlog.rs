//! Logs of flows against what the run counts itself.

use crate::common::{difference, records, simulate, unfused};
use serde_json::Value;
use std::collections::BTreeSet;

/// A flow over a link that loses packets in its queue; the other way nothing is lost. Everything
/// has arrived before the run ends.
fn scenario(group: &str, probes: &str) -> String {
    format!(
        "duration = \"20s\"\n[bottleneck]\nrate = \"4mbit\"\n\
         qdisc = {{ kind = \"droptail\", limit = 20 }}\n\
         [[traffic]]\nkind = \"bulk\"\nname = \"flow\"\nrtt = \"50ms\"\nstop = \"15s\"\n{group}\n{probes}"
    )
}

const LOGGED: &str = "[probes]\nqlog = [\"flow.0\"]\nflows = true\n";

/// A log: what it is of, and its events.
struct Log {
    head: Value,
    events: Vec<Value>,
}

impl Log {
    fn of(files: &[(String, Vec<u8>)], end: &str) -> Self {
        Self::named(files, "flow.0", end)
    }

    fn named(files: &[(String, Vec<u8>)], flow: &str, end: &str) -> Self {
        let name = format!("{flow}.{end}.sqlog");
        let (_, bytes) = files.iter().find(|(file, _)| *file == name).expect("there is a log");
        let text = str::from_utf8(bytes).unwrap();
        let mut records = text.split('\u{1e}').skip(1).map(|r| serde_json::from_str(r).unwrap());
        Self { head: records.next().unwrap(), events: records.collect() }
    }

    /// The data of all events of a name.
    fn data(&self, name: &str) -> Vec<&Value> {
        self.events.iter().filter(|e| e["name"] == name).map(|e| &e["data"]).collect()
    }
}

/// What a packet that is lost goes by.
fn number(data: &Value) -> (String, u64) {
    let header = &data["header"];
    let space = header["packet_type"].as_str().unwrap().to_owned();
    (space, header["packet_number"].as_u64().unwrap())
}

#[test]
fn every_segment_of_tcp_is_in_the_logs_once() {
    for options in [
        "tcp = { profile = \"classic\", receive_window = \"256kB\", sack = false }",
        "tcp = { profile = \"classic\", receive_window = \"256kB\" }",
        "tcp = { profile = \"modern\" }",
        "tcp = { profile = \"modern\", congestion = \"bbr\" }",
    ] {
        let (summary, files) = records(&scenario(options, LOGGED));
        let (client, server) = (Log::of(&files, "client"), Log::of(&files, "server"));
        assert_eq!(client.head["trace"]["vantage_point"]["type"], "client", "{options}");
        let sent = client.data("tcp:packet_sent");
        let counts = &summary.links[0].counts;
        assert!(counts.dropped >= 10, "{options}: {counts:?}");
        assert_eq!(sent.len() as u64, counts.enqueued + counts.dropped, "{options}");
        let received = server.data("tcp:packet_received").len() as u64;
        assert_eq!(received, counts.dequeued, "{options}");
        assert_eq!(server.data("tcp:packet_lost").len(), 0, "{options}");
        let again = sent.iter().filter(|data| data["is_retransmission"] == true).count() as u64;
        assert_eq!(summary.groups[0].retransmissions, Some(again), "{options}");
        assert_eq!(summary.flows[0].retransmissions, Some(again), "{options}");
        let lost = client.data("tcp:packet_lost").len() as u64;
        assert!(lost <= again && lost > 0, "{options}: {lost} of {again}");
        // The classic sender probes for nothing.
        assert!(lost == again || options.contains("modern"), "{options}: {lost} of {again}");
        let acknowledgements = server.data("tcp:packet_sent").len() as u64;
        assert_eq!(acknowledgements, summary.links[1].counts.enqueued, "{options}");
        assert_eq!(acknowledgements, client.data("tcp:packet_received").len() as u64, "{options}");
    }
}

#[test]
fn what_is_sent_again_says_so() {
    // Short transfers, whose last segment is lost at times.
    let text = scenario("size = \"3kB\"\nrepeat = true", LOGGED)
        .replace("[bottleneck]", "[bottleneck]\nloss = 0.1\nreverse = \"ideal\"");
    let (summary, files) = records(&text);
    let again = |end: &str| {
        let sent = Log::of(&files, end);
        let again = sent.data("tcp:packet_sent").into_iter().filter(|data| {
            let syn = data["header"]["flags"].as_array().unwrap().iter().any(|flag| flag == "SYN");
            data["is_retransmission"] == true && !syn
        });
        again.count() as u64
    };
    let (client, server) = (again("client"), again("server"));
    assert!(client > 10 && server > 0, "{client} {server}");
    assert_eq!(summary.groups[0].retransmissions, Some(client + server));
}

#[test]
fn every_packet_of_quic_is_in_the_logs_once() {
    for settings in ["", "quic.congestion = \"bbr\"", "quic.zero_rtt = true"] {
        let group = format!("transport = \"quic\"\n{settings}");
        let (summary, files) = records(&scenario(&group, LOGGED));
        let (client, server) = (Log::of(&files, "client"), Log::of(&files, "server"));
        let datagrams = client.data("quic:udp_datagrams_sent").len() as u64;
        let counts = &summary.links[0].counts;
        assert!(counts.dropped > 10, "{settings}: {counts:?}");
        assert_eq!(datagrams, counts.enqueued + counts.dropped, "{settings}");
        let received = server.data("quic:udp_datagrams_received").len() as u64;
        assert_eq!(received, counts.dequeued, "{settings}");
        // Packets by number: none twice, and none lost or received that was not sent.
        let numbers =
            |log: &Log, name| -> Vec<_> { log.data(name).into_iter().map(number).collect() };
        let sent = numbers(&client, "quic:packet_sent");
        let set: BTreeSet<_> = sent.iter().cloned().collect();
        assert_eq!(set.len(), sent.len(), "{settings}");
        let received = numbers(&server, "quic:packet_received");
        let lost = numbers(&client, "quic:packet_lost");
        assert!(received.iter().chain(&lost).all(|packet| set.contains(packet)), "{settings}");
        let arrived: BTreeSet<_> = received.into_iter().collect();
        let wrongly = lost.iter().filter(|packet| arrived.contains(packet)).count();
        assert_eq!(wrongly, 0, "{settings}: nothing is reordered here");
        // The first datagram is filled up, and nothing is where there is nothing to fill.
        let sent = client.data("quic:packet_sent");
        let frames = sent.iter().flat_map(|data| data["frames"].as_array().unwrap());
        let padding: Vec<_> =
            frames.filter(|frame| frame["frame_type"] == "padding").map(|f| &f["raw"]).collect();
        assert!(!padding.is_empty() && padding.len() < 10, "{settings}: {padding:?}");
        assert!(padding.iter().all(|raw| raw["length"].as_u64() > Some(0)), "{padding:?}");
        let flow = &summary.flows[0];
        assert_eq!(flow.timeouts, Some(0), "{settings}: or packets are sent again as probes");
        assert_eq!(flow.retransmissions, Some(lost.len() as u64), "{settings}");
    }
}

#[test]
fn connections_of_a_user_are_in_one_log_with_a_number_each() {
    let user = "[[traffic]]\nkind = \"web\"\nname = \"flow\"\nmodel = \"httparchive\"\nusers = 1\n\
                think = \"1s\"\nservers = 3\nstop = \"15s\"\nrtt = \"50ms\"\n";
    let line = "duration = \"60s\"\n[bottleneck]\nrate = \"4mbit\"\n\
                qdisc = { kind = \"droptail\", limit = 20 }\n[bottleneck.reverse]\nrate = \"4mbit\"\n";
    for version in ["1.1", "2", "3"] {
        let text = format!("{line}{user}http = \"{version}\"\n[probes]\nqlog = [\"flow.0\"]\n");
        let (summary, files) = records(&text);
        assert!(files == records(&unfused(&text)).1, "{version}: unfused, other bytes");
        let (client, server) = (Log::of(&files, "client"), Log::of(&files, "server"));
        let protocol = if version == "3" { "quic:udp_datagrams_sent" } else { "tcp:packet_sent" };
        // Nobody else is on the line: down is the first link.
        let counts = &summary.links[0].counts;
        assert!(counts.dropped > 10, "{version}: {counts:?}");
        let sent = server.data(protocol).len() as u64;
        assert_eq!(sent, counts.enqueued + counts.dropped, "{version}");
        // Both ends give a connection the same number, and each begins once.
        let numbers = |log: &Log| -> Vec<String> {
            let begun = log.events.iter().filter(|event| {
                event["name"].as_str().is_some_and(|name| name.ends_with(":parameters_set"))
            });
            begun.map(|event| event["group_id"].as_str().unwrap().to_owned()).collect()
        };
        let (ours, theirs) = (numbers(&client), numbers(&server));
        let distinct: BTreeSet<_> = ours.iter().collect();
        assert!(distinct.len() == ours.len() && ours.len() >= 3, "{version}: {ours:?}");
        assert!(theirs.iter().all(|number| distinct.contains(number)), "{version}: {theirs:?}");
    }
}

#[test]
fn metrics_follow_the_endpoint_as_traces_do() {
    for group in ["", "transport = \"quic\""] {
        let (_, files) = records(&scenario(group, LOGGED));
        let client = Log::of(&files, "client");
        let protocol = if group.is_empty() { "tcp" } else { "quic" };
        let metrics = client.data(&format!("{protocol}:recovery_metrics_updated"));
        // Two ways of at least 25 ms each, whatever the queue adds.
        let all = |field: &str| -> Vec<f64> {
            metrics.iter().filter_map(|data| data[field].as_f64()).collect()
        };
        assert!(all("latest_rtt").iter().all(|&rtt| rtt > 50.0), "{protocol}");
        // What is told is other than before, and what is in flight is about a window at its most.
        assert!(metrics.iter().all(|data| data.as_object().is_some_and(|data| !data.is_empty())));
        let most = |field| all(field).into_iter().fold(0.0, f64::max);
        let filled = most("bytes_in_flight") / most("congestion_window");
        assert!((0.5..1.2).contains(&filled), "{protocol}: {filled}");
        let least = all("latest_rtt").into_iter().reduce(f64::min);
        assert_eq!(all("min_rtt").into_iter().reduce(f64::min), least, "{protocol}");
        // Every reduction to a threshold is in a recovery.
        let states: Vec<_> = client.data(&format!("{protocol}:congestion_state_updated"));
        assert_eq!(states[0]["new"], "slow_start", "{protocol}");
        assert!(states.windows(2).all(|two| two[1]["old"] == two[0]["new"]), "{protocol}");
        let names: BTreeSet<_> = states.iter().map(|data| data["new"].as_str().unwrap()).collect();
        assert!(names.contains("recovery") && names.contains("congestion_avoidance"), "{names:?}");
    }
}

#[test]
fn logs_are_in_the_order_of_time_and_do_not_depend_on_how_the_engine_works() {
    for group in ["", "transport = \"quic\"", "size = \"100kB\"\nrepeat = true\ngap = \"100ms\""] {
        let text = scenario(group, LOGGED);
        let (_, files) = records(&text);
        assert!(files == records(&text).1, "{group}: another run, other bytes");
        assert!(files == records(&unfused(&text)).1, "{group}: unfused, other bytes");
        for end in ["client", "server"] {
            let log = Log::of(&files, end);
            let times: Vec<_> = log.events.iter().map(|e| e["time"].as_f64().unwrap()).collect();
            assert!(times.is_sorted() && times.len() > 1000, "{group}: {end}");
        }
    }
}

#[test]
fn connections_of_a_flow_are_numbered_and_end() {
    for transport in ["", "transport = \"quic\"\n"] {
        let group = format!("{transport}size = \"100kB\"\nrepeat = true\ngap = \"100ms\"");
        let (summary, files) = records(&scenario(&group, LOGGED));
        let client = Log::of(&files, "client");
        let ids: BTreeSet<u64> = client
            .events
            .iter()
            .map(|event| event["group_id"].as_str().unwrap().parse().unwrap())
            .collect();
        let protocol = if transport.is_empty() { "tcp" } else { "quic" };
        let ended = client.data(&format!("{protocol}:connection_closed")).len() as u64;
        let begun = client.data(&format!("{protocol}:parameters_set")).len() as u64;
        assert_eq!((*ids.first().unwrap(), *ids.last().unwrap() + 1), (0, begun), "{protocol}");
        assert!(ended + 1 >= begun && begun > 10, "{protocol}: {begun} begun, {ended} ended");
        assert!(summary.groups[0].finished.abs_diff(ended) <= 1, "{protocol}: {ended}");
    }
}

#[test]
fn a_log_changes_no_result() {
    for group in ["", "transport = \"quic\"", "size = \"100kB\"\nrepeat = true\ngap = \"100ms\""] {
        let (logged, _) = records(&scenario(group, "[probes]\nqlog = [\"flow.0\"]\n"));
        assert_eq!(difference(&logged, &simulate(&scenario(group, ""))), None, "{group}");
    }
}

#[test]
fn every_packet_of_a_call_is_in_the_logs_once() {
    let line = "duration = \"20s\"\n[bottleneck]\nrate = \"1500kbit\"\n";
    for (control, queue) in [
        ("gcc", "kind = \"droptail\", limit = 1"),
        ("scream", "kind = \"droptail\", limit = 8"),
        ("scream", "kind = \"codel\", ecn = true"),
        ("fixed", "kind = \"droptail\", limit = 3"),
    ] {
        let ecn = if queue.contains("ecn") { "ect1" } else { "not-ect" };
        let text = format!(
            "{line}qdisc = {{ {queue} }}\n[[traffic]]\nkind = \"call\"\nname = \"flow\"\nflows = 2\n\
             control = \"{control}\"\necn = \"{ecn}\"\nrtt = \"50ms\"\nstop = \"18s\"\n\
             [probes]\nqlog = [\"flow.0\", \"flow.1\"]\n"
        );
        let (summary, files) = records(&text);
        assert!(files == records(&unfused(&text)).1, "{control}: unfused, other bytes");
        let (mut sent, mut received, mut fed) = (0, 0, 0);
        for flow in ["flow.0", "flow.1"] {
            let (client, server) =
                (Log::named(&files, flow, "client"), Log::named(&files, flow, "server"));
            let numbers = |data: Vec<&Value>| -> Vec<u64> {
                data.iter()
                    .map(|data| data["header"]["sequence_number"].as_u64().unwrap())
                    .collect()
            };
            let ours = numbers(client.data("rtp:packet_sent"));
            assert!(ours.iter().copied().eq(0..ours.len() as u64), "{control}: each once");
            let theirs: BTreeSet<u64> =
                numbers(server.data("rtp:packet_received")).into_iter().collect();
            // What the sender takes for lost did not come, and of what it heard nothing else did
            // not: nothing is reordered here.
            let heard = client.data("rtp:feedback_received");
            let told: BTreeSet<u64> = heard
                .iter()
                .flat_map(|data| data["packets"].as_array().unwrap())
                .map(|packet| packet["sequence_number"].as_u64().unwrap())
                .collect();
            let last = *told.last().unwrap();
            let lost: BTreeSet<u64> = client
                .data("rtp:packet_lost")
                .iter()
                .map(|data| data["sequence_number"].as_u64().unwrap())
                .collect();
            assert_eq!(told, theirs.range(..=last).copied().collect(), "{control}");
            assert_eq!(lost, (0..last).filter(|number| !theirs.contains(number)).collect());
            sent += ours.len() as u64;
            received += theirs.len() as u64;
            fed += server.data("rtp:feedback_sent").len() as u64;
            let metrics = client.data("rtp:recovery_metrics_updated");
            assert!(metrics[0]["target_bitrate"].is_u64(), "{control}");
            assert_eq!(metrics.len() > 10, control != "fixed", "{control}: {}", metrics.len());
            let windows = metrics.iter().any(|data| data["congestion_window"].is_u64());
            assert_eq!(windows, control == "scream");
            // Nothing is lost on the way back, which takes half of the round trip.
            let times = |log: &Log, name: &str| -> Vec<f64> {
                let of = log.events.iter().filter(|event| event["name"] == name);
                of.map(|event| event["time"].as_f64().unwrap()).collect()
            };
            let told = times(&server, "rtp:feedback_sent");
            let heard = times(&client, "rtp:feedback_received");
            // A window that feedback opens is used at once.
            let at_once = times(&client, "rtp:packet_sent").iter().any(|at| heard.contains(at));
            assert!(at_once || control != "scream", "{control}");
            assert!(told.len() - heard.len() < 20 && heard.len() > 20, "{control}");
            assert!(heard.iter().zip(&told).all(|(heard, told)| heard - told > 24.9), "{control}");
            let states = client.data("rtp:congestion_state_updated");
            assert_eq!(states.is_empty(), control != "gcc", "{control}");
            let marked = server.data("rtp:packet_received").iter().any(|data| data["ecn"] == "CE");
            assert_eq!(marked, ecn == "ect1", "{control}");
        }
        let counts = &summary.links[0].counts;
        assert_eq!(sent, counts.enqueued + counts.dropped, "{control}");
        assert_eq!(received, counts.dequeued, "{control}");
        assert_eq!(fed, summary.links[1].counts.enqueued, "{control}");
        assert!(counts.dropped > 0 || ecn == "ect1", "{control}: {counts:?}");
    }
}
