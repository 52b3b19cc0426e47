//! Scenarios with real TCP, through the command as it is shipped. They need root and `/dev/net/tun`
//! and say loudly when they are skipped.

use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sojourn-router");

/// Whether real packets are possible here; says so if not.
fn possible(test: &str) -> bool {
    let made = sojourn_router::net::Namespace::new()
        .and_then(|space| sojourn_router::net::Tun::new(&space, "probe").map(drop));
    if let Err(error) = &made {
        eprintln!("SKIPPED: {test}: because {error}");
    }
    made.is_ok()
}

/// A scenario in a file of its own.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("scenario.toml");
    std::fs::write(&path, text).unwrap();
    path
}

fn start(name: &str, text: &str) -> Child {
    Command::new(PROGRAM)
        .args(["run", "--scenario"])
        .arg(file(name, text))
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the command says at the end.
fn last_line(child: &mut Child) -> Value {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let last = lines.map(Result::unwrap).last().unwrap_or_default();
    serde_json::from_str(&last).unwrap_or_else(|error| panic!("{last:?}: {error}"))
}

/// The summary of a run.
fn summary(name: &str, text: &str) -> Value {
    let mut child = start(name, text);
    let last = last_line(&mut child);
    assert!(child.wait().unwrap().success(), "{last}");
    last["summary"].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// No packet appeared or vanished in the router, and its queues agree with it.
fn check_router(summary: &Value) {
    let router = &summary["router"];
    let count = |name: &str| router[name].as_u64().unwrap();
    assert_eq!(
        count("received"),
        count("delivered") + count("refused") + count("dropped") + count("lost") + count("held"),
        "{router}"
    );
    assert_eq!(count("refused"), 0, "{router}");
    // Every packet that it delivered has reached a host.
    let received = summary["hosts"]["received"].as_u64().unwrap();
    assert!(received.abs_diff(count("delivered")) <= 20, "{received} {router}");
}

#[test]
fn viewers_play_what_comes() {
    if !possible("viewers_play_what_comes") {
        return;
    }
    let summary = summary(
        "viewers",
        r#"
        duration = "9s"
        warmup = "3s"
        [tcp]
        profile = "modern"
        congestion = "cubic"
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        [[traffic]]
        kind = "video"
        users = 2
        ladder = ["1mbit"]
        segment = "1s"
        buffer = "4s"
        [[traffic]]
        kind = "video"
        ladder = ["2mbit"]
        segment = "1s"
        buffer = "4s"
        stop = "6s"
        "#,
    );
    check_router(&summary);
    let [two, one] = [0, 1].map(|group| &summary["groups"][group]["video"]);
    for (video, users, seconds) in [(two, 2.0, 6.0), (one, 1.0, 3.0)] {
        assert_eq!((number(&video["begun"]), number(&video["stalls"])), (users, 0.0), "{video}");
        // The window begins and ends when the thread that counts gets round to it.
        assert!((number(&video["played_s"]) - users * seconds).abs() < 0.5, "{video}");
        assert!((number(&video["segments"]) - users * seconds).abs() <= users + 1.0, "{video}");
    }
    assert_eq!(number(&two["bitrate_bps"]), 1e6);
}

#[test]
fn long_flows_fill_their_bottleneck() {
    if !possible("long_flows_fill_their_bottleneck") {
        return;
    }
    let summary = summary(
        "long-flows",
        r#"
        duration = "5s"
        warmup = "2s"
        [tcp]
        profile = "modern"
        congestion = "cubic"
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 60 }
        [[traffic]]
        kind = "bulk"
        flows = 2
        rtt = "20ms..40ms"
        [[traffic]]
        kind = "ping"
        interval = "20ms"
        [probes]
        flows = true
        "#,
    );
    check_router(&summary);
    let link = &summary["links"][0];
    assert!(number(&link["utilisation"]) > 0.9, "{link}");
    let bulk = &summary["groups"][0];
    let goodput = number(&bulk["goodput_bps"]);
    // 1448 bytes of payload in 1500 of a packet; what the queue held at either end aside.
    let throughput = number(&link["throughput_bps"]);
    assert!((goodput / throughput - 1448.0 / 1500.0).abs() < 0.03, "{goodput} {throughput}");
    assert_eq!(summary["flows"].as_array().unwrap().len(), 2);
    assert!(number(&summary["flows"][0]["rtt_s"]["mean"]) > 0.02);
    let ping = &summary["groups"][1];
    assert!(number(&ping["finished"]) > 100.0, "{ping}");
    // Two links of 5 ms, and no more queue than there is: 60 packets are 36 ms.
    let p50 = number(&ping["response_time_s"]["p50"]);
    assert!((0.01..0.08).contains(&p50), "{ping}");
}

#[test]
fn quic_flows_fill_their_bottleneck_and_transfers_over_quic_finish() {
    if !possible("quic_flows_fill_their_bottleneck_and_transfers_over_quic_finish") {
        return;
    }
    let summary = summary(
        "quic",
        r#"
        duration = "6s"
        warmup = "2s"
        [quic]
        congestion = "cubic"
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 60 }
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        flows = 3
        rtt = "20ms..40ms"
        transport = "quic"
        [[traffic]]
        kind = "transfers"
        rate = 5.0
        size = "20kB"
        stop = "4s"
        rtt = "40ms"
        transport = "quic"
        [[traffic]]
        kind = "bulk"
        transport = "quic"
        stop = "4s"
        [probes]
        flows = true
        "#,
    );
    check_router(&summary);
    let link = &summary["links"][0];
    assert!(number(&link["utilisation"]) > 0.7, "{link}");
    let [long, short, stopped] = [0, 1, 2].map(|at| &summary["groups"][at]);
    assert_eq!(summary["flows"].as_array().unwrap().len(), 4);
    for flow in summary["flows"].as_array().unwrap() {
        assert!(number(&flow["goodput_bps"]) > 5e5, "{flow}");
    }
    // Propagation is 30 ms on the mean; the queue adds 36 ms at most.
    let rtt = number(&long["rtt_s"]["mean"]);
    assert!((0.02..0.09).contains(&rtt), "{long}");
    assert!(number(&link["dropped"]) > 5.0, "{link}");
    let lost = number(&long["retransmissions"]) + number(&stopped["retransmissions"]);
    assert!(lost > 5.0, "{long} {stopped}");
    assert_eq!(long["timeouts"], Value::Null);
    assert_eq!((&short["failed"], &short["censored"]), (&0.into(), &0.into()), "{short}");
    assert!(number(&short["finished"]) > 4.0, "{short}");
    // A handshake and a transfer of two windows or so.
    assert!(number(&short["response_time_s"]["p50"]) > 0.1, "{short}");
    let told = summary["hosts"]["differences"].to_string();
    assert!(told.contains("bulk1: quic.congestion.alpha_rises = true; quinn: never"), "{told}");
    assert!(!told.contains("tcp."), "no group runs over TCP: {told}");
}

#[test]
fn quic_without_round_trip_saves_one_and_sees_marks() {
    if !possible("quic_without_round_trip_saves_one_and_sees_marks") {
        return;
    }
    let text = r#"
        duration = "5s"
        [quic]
        ecn = true
        [bottleneck]
        rate = "20mbit"
        delay = "50ms"
        qdisc = { kind = "red", min_th = 3, max_th = 60, max_p = 0.5, ecn = true, limit = 300 }
        reverse = "ideal"
        [[traffic]]
        kind = "transfers"
        name = "first"
        rate = 10.0
        size = "2kB"
        stop = "3s"
        transport = "quic"
        [[traffic]]
        kind = "transfers"
        name = "again"
        rate = 10.0
        size = "2kB"
        stop = "3s"
        transport = "quic"
        quic = { zero_rtt = true }
        [[traffic]]
        kind = "bulk"
        transport = "quic"
        size = "1MB"
        [[traffic]]
        kind = "bulk"
        dscp = "ef"
        transport = "quic"
        quic = { ecn = false }
        size = "20kB"
    "#;
    let summary = summary("quic-early", text);
    check_router(&summary);
    let [first, again, marked, plain] = [0, 1, 2, 3].map(|at| &summary["groups"][at]);
    for (group, least) in [(first, 10), (again, 10), (marked, 1), (plain, 1)] {
        assert_eq!((&group["failed"], &group["censored"]), (&0.into(), &0.into()), "{group}");
        assert!(group["finished"].as_u64().unwrap() >= least, "{group}");
    }
    // 50 ms there: a round trip for the handshake, and half a one for the data.
    let p50 = |group: &Value| number(&group["response_time_s"]["p50"]);
    assert!((0.145..0.25).contains(&p50(first)), "{first}");
    assert!((0.045..0.14).contains(&p50(again)), "{again}");
    let marks = summary["links"][0]["marked"].as_u64().unwrap();
    assert!(marks > 5, "{marks}");
    assert_eq!(summary["hosts"]["ce_packets"].as_u64().unwrap(), marks);
}

#[test]
fn web_users_get_their_pages_over_quic() {
    if !possible("web_users_get_their_pages_over_quic") {
        return;
    }
    let summary = summary(
        "quic-web",
        r#"
        duration = "6s"
        warmup = "1s"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "pi", qref = 24 }
        [[traffic]]
        kind = "web"
        users = 20
        model = "custom"
        transport = "quic"
        think = { dist = "exponential", mean = "500ms" }
        response = { dist = "exponential", mean = "20kB" }
        rtt = "20ms..60ms"
        [[traffic]]
        kind = "video"
        transport = "quic"
        ladder = ["1mbit"]
        segment = "1s"
        buffer = "4s"
        "#,
    );
    check_router(&summary);
    let [web, video] = [0, 1].map(|group| &summary["groups"][group]);
    assert!(number(&web["finished"]) > 50.0, "{web}");
    assert_eq!(web["failed"], 0, "{web}");
    assert!(number(&web["response_time_s"]["p50"]) > 0.03, "{web}");
    assert_eq!(video["video"]["stalls"], 0, "{video}");
    assert!(number(&video["video"]["played_s"]) > 3.5, "{video}");
}

#[test]
fn pages_come_whole_over_http_2_and_3() {
    if !possible("pages_come_whole_over_http_2_and_3") {
        return;
    }
    let group = |name: &str, more: &str| {
        format!(
            r#"
        [[traffic]]
        kind = "web"
        name = "{name}"
        users = 3
        model = "custom"
        think = {{ dist = "exponential", mean = "300ms" }}
        embedded = 12.0
        request = "700B"
        response = {{ dist = "exponential", mean = "20kB" }}
        server_delay = "5ms"
        rtt = "40ms"
        {more}
        "#
        )
    };
    let groups = group("secured", "http = \"2\"")
        + &group("bare", "http = \"2\"\ntls = false")
        + &group("quinn", "http = \"3\"\npriorities = \"rfc9218\"");
    let summary = summary(
        "pages",
        &format!(
            "duration = \"6s\"\n[tcp]\nprofile = \"modern\"\n[bottleneck]\nrate = \"30mbit\"\n\
             delay = \"5ms\"\nqdisc = {{ kind = \"fq_codel\" }}\n{groups}"
        ),
    );
    check_router(&summary);
    let [secured, bare, quinn] = [0, 1, 2].map(|at| &summary["groups"][at]);
    for group in [secured, bare, quinn] {
        assert_eq!((&group["failed"], &group["pages"]["incomplete"]), (&0.into(), &0.into()));
        let pages = number(&group["pages"]["load_time_s"]["count"]);
        assert!(pages > 9.0, "{group}");
        // Of three users each may be in the midst of a page.
        let objects = number(&group["finished"]);
        assert!((13.0 * pages..=13.0 * (pages + 3.0)).contains(&objects), "{group}");
        assert!(number(&group["goodput_bps"]) > 1e6, "{group}");
    }
    // A round trip for TCP, one for TLS, one for the document; QUIC's handshake is one.
    let first = |group: &Value| number(&group["pages"]["first_byte_s"]["p50"]);
    assert!(first(bare) > 0.08, "{bare}");
    assert!(first(secured) > first(bare) + 0.03, "{secured} {bare}");
    assert!((0.08..first(secured) - 0.01).contains(&first(quinn)), "{quinn} {secured}");
    let told = summary["hosts"]["differences"].to_string();
    assert!(told.contains("quinn: priorities = "), "{told}");
    assert!(!told.contains("bare: priorities"), "{told}");
}

#[test]
fn hosts_retransmit_dropped_packets() {
    if !possible("hosts_retransmit_dropped_packets") {
        return;
    }
    // All transfers are done long before the end: nothing is under way at the last look.
    let summary = summary(
        "drops",
        r#"
        duration = "6s"
        [tcp]
        profile = "modern"
        congestion = "cubic"
        [bottleneck]
        rate = "50mbit"
        delay = "2ms"
        qdisc = { kind = "droptail", limit = 20 }
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        flows = 6
        size = "2MB"
        rtt = "10ms..30ms"
        "#,
    );
    check_router(&summary);
    assert_eq!(summary["groups"][0]["finished"], 6, "{}", summary["groups"][0]);
    let dropped = number(&summary["links"][0]["dropped"]);
    let hosts = &summary["hosts"];
    let again = number(&hosts["retransmitted_segments"]) - number(&hosts["duplicates"]);
    assert!(dropped > 20.0, "{dropped}");
    // A bare acknowledgement that was dropped is not sent again.
    assert!((again - dropped).abs() <= 3.0 + 0.02 * dropped, "{again} of {dropped}: {hosts}");
    let own = number(&summary["groups"][0]["retransmissions"]);
    assert!((own - number(&hosts["retransmitted_segments"])).abs() <= 2.0, "{own} {hosts}");
}

#[test]
fn hosts_see_marks() {
    if !possible("hosts_see_marks") {
        return;
    }
    let summary = summary(
        "marks",
        r#"
        duration = "6s"
        [tcp]
        profile = "modern"
        congestion = "reno"
        ecn = true
        [bottleneck]
        rate = "50mbit"
        delay = "2ms"
        qdisc = { kind = "codel", ecn = true }
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        flows = 6
        size = "2MB"
        rtt = "10ms..30ms"
        "#,
    );
    check_router(&summary);
    assert_eq!(summary["groups"][0]["finished"], 6);
    let marked = summary["links"][0]["marked"].as_u64().unwrap();
    assert!(marked > 20, "{marked}");
    assert_eq!(summary["hosts"]["ce_packets"].as_u64().unwrap(), marked);
}

#[test]
fn web_users_get_their_pages() {
    if !possible("web_users_get_their_pages") {
        return;
    }
    let summary = summary(
        "web",
        r#"
        duration = "6s"
        warmup = "1s"
        [tcp]
        profile = "classic"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "pi", qref = 24 }
        [[traffic]]
        kind = "web"
        users = 40
        model = "custom"
        think = { dist = "exponential", mean = "500ms" }
        response = { dist = "exponential", mean = "20kB" }
        rtt = "20ms..60ms"
        "#,
    );
    check_router(&summary);
    let web = &summary["groups"][0];
    assert!(number(&web["finished"]) > 100.0, "{web}");
    assert_eq!(web["failed"], 0, "{web}");
    // Two round trips at least, and a window of 16 KiB.
    assert!(number(&web["response_time_s"]["p50"]) > 0.03, "{web}");
    let told = summary["hosts"]["differences"].to_string();
    assert!(told.contains("tcp.initial_rto = 3s; Linux: 1s"), "{told}");
}

#[test]
fn two_thousand_connections_leave_no_descriptor() {
    if !possible("two_thousand_connections_leave_no_descriptor") {
        return;
    }
    let mut child = start(
        "connections",
        r#"
        duration = "6s"
        [tcp]
        profile = "modern"
        [bottleneck]
        rate = "100mbit"
        delay = "1ms"
        qdisc = { kind = "droptail", limit = 1000 }
        [[traffic]]
        kind = "transfers"
        rate = 500.0
        size = "2kB"
        stop = "4200ms"
        "#,
    );
    let descriptors = format!("/proc/{}/fd", child.id());
    let count = || std::fs::read_dir(&descriptors).map_or(0, Iterator::count);
    let begun = Instant::now();
    let mut most = 0;
    while begun.elapsed() < Duration::from_millis(5700) {
        std::thread::sleep(Duration::from_millis(100));
        most = most.max(count());
    }
    let left = count();
    let last = last_line(&mut child);
    assert!(child.wait().unwrap().success(), "{last}");
    let summary = &last["summary"];
    check_router(summary);
    let group = &summary["groups"][0];
    let (started, finished) = (number(&group["started"]), number(&group["finished"]));
    assert!(started > 1900.0 && started == finished, "{group}");
    assert_eq!((&group["failed"], &group["censored"]), (&0.into(), &0.into()));
    assert!(left < 60 && left <= most, "{left} descriptors after, {most} at most");
}

/// The network namespaces that any process is in.
fn namespaces() -> BTreeSet<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let tasks = processes.filter_map(|process| std::fs::read_dir(process.path().join("task")).ok());
    tasks
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|task| std::fs::read_link(task.path().join("ns/net")).ok())
        .collect()
}

#[test]
fn killed_run_leaves_nothing_behind() {
    if !possible("killed_run_leaves_nothing_behind") {
        return;
    }
    let devices = || std::fs::read_to_string("/proc/self/net/dev").unwrap().lines().count();
    let had = devices();
    let text = r#"
        duration = "30s"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 50 }
        [[traffic]]
        kind = "bulk"
        flows = 3
    "#;
    let mut child = start("killed", text);
    let tasks = format!("/proc/{}/task", child.id());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains("now_s"), "{line}");
    }
    let own: BTreeSet<PathBuf> = std::fs::read_dir(tasks)
        .unwrap()
        .filter_map(|task| std::fs::read_link(task.unwrap().path().join("ns/net")).ok())
        .collect();
    assert!(own.len() >= 3, "two namespaces of its own, and the one it came from: {own:?}");
    let outside = std::fs::read_link("/proc/self/ns/net").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let left: Vec<_> =
        namespaces().intersection(&own).filter(|space| **space != outside).cloned().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(devices(), had);
}

#[test]
fn early_stop_gives_partial_summary() {
    if !possible("early_stop_gives_partial_summary") {
        return;
    }
    let text = r#"
        duration = "60s"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 50 }
        [[traffic]]
        kind = "bulk"
    "#;
    let mut child = Command::new(PROGRAM)
        .args(["run", "--stop-with-input", "--scenario"])
        .arg(file("early", text))
        .stdout(Stdio::piped())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    drop(child.stdin.take());
    let asked = Instant::now();
    let last = last_line(&mut child);
    assert!(asked.elapsed() < Duration::from_secs(5));
    let summary = &last["summary"];
    assert_eq!(summary["stopped_early"], true, "{last}");
    assert!((0.2..10.0).contains(&number(&summary["simulated_s"])), "{last}");
    assert!(number(&summary["links"][0]["dequeued"]) > 10.0, "{last}");
}

/// The kernel's congestion controls that belong to a process.
fn programs_of(process: u32) -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let known = std::fs::read_to_string(path).unwrap();
    let of = format!("{process:07x}");
    known
        .split_whitespace()
        .filter(|n| n.starts_with("sj") && n.contains(&of))
        .map(Into::into)
        .collect()
}

#[test]
fn missing_kernel_controls_run_as_bpf() {
    if !possible("missing_kernel_controls_run_as_bpf") {
        return;
    }
    let text = r#"
        duration = "5s"
        warmup = "2s"
        [tcp]
        profile = "modern"
        congestion = { kind = "scalable", a = 0.02 }
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 60 }
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        rtt = "30ms"
        [[traffic]]
        kind = "bulk"
        rtt = "30ms"
        tcp = { congestion = "aimd" }
        [probes]
        traces = ["bulk1.0"]
    "#;
    let mut child = start("program", text);
    let process = child.id();
    let last = last_line(&mut child);
    assert_eq!(programs_of(process), Vec::<String>::new(), "nothing stays behind");
    if let Some(error) = last["error"].as_str() {
        let missing = ["needs clang", "needs libbpf", "the kernel refuses"];
        assert!(missing.iter().any(|part| error.contains(part)), "{error}");
        eprintln!("SKIPPED: missing_kernel_controls_run_as_bpf: because {error}");
        return;
    }
    let summary = &last["summary"];
    check_router(summary);
    assert!(number(&summary["links"][0]["utilisation"]) > 0.9, "{}", summary["links"][0]);
    for group in summary["groups"].as_array().unwrap() {
        assert!(number(&group["goodput_bps"]) > 1e6, "{group}");
    }
    assert!(!summary["hosts"]["differences"].to_string().contains("congestion"));
}

#[test]
fn killed_run_unloads_bpf_program() {
    if !possible("killed_run_unloads_bpf_program") {
        return;
    }
    let text = r#"
        duration = "30s"
        [tcp]
        congestion = "westwood"
        [bottleneck]
        rate = "10mbit"
        qdisc = { kind = "droptail", limit = 50 }
        [[traffic]]
        kind = "bulk"
    "#;
    let mut child = start("killed-program", text);
    let process = child.id();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        let line = lines.next().unwrap().unwrap();
        if line.contains("error") {
            eprintln!("SKIPPED: killed_run_unloads_bpf_program: because {line}");
            child.wait().unwrap();
            return;
        }
    }
    assert_eq!(programs_of(process).len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel clears up after its last socket, a little later.
    let begun = Instant::now();
    while !programs_of(process).is_empty() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(programs_of(process), Vec::<String>::new());
}

#[test]
fn unsupported_scenario_is_one_line_error() {
    let text = |tcp: &str| {
        format!(
            "duration = \"5s\"\n[tcp]\n{tcp}\n[bottleneck]\nrate = \"10mbit\"\ndelay = \"5ms\"\n\
             qdisc = {{ kind = \"droptail\", limit = 50 }}\n[[traffic]]\nkind = \"bulk\"\n"
        )
    };
    for (name, tcp, said) in [
        (
            "vegas",
            "congestion = { kind = \"vegas\", alpha = 3 }",
            "bulk1: tcp.congestion = vegas has settings of its own",
        ),
        ("window", "max_window = 7", "bulk1: tcp.max_window"),
        ("quinn", "[quic]\ncongestion = \"vegas\"", "bulk1: quic.congestion = vegas: quinn has"),
        ("quinn-window", "[quic]\nmax_window = 7", "bulk1: quic.max_window"),
    ] {
        let over_quic = if tcp.starts_with("[quic]") { "transport = \"quic\"\n" } else { "" };
        let mut child = start(name, &(text(tcp) + over_quic));
        let last = last_line(&mut child);
        assert_eq!(child.wait().unwrap().code(), Some(2));
        assert!(last["error"].as_str().unwrap().starts_with(said), "{last}");
        assert_eq!(last["kind"], "scenario");
    }
}
