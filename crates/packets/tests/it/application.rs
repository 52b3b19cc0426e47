//! Applications that write at a rate.

use crate::common::{difference, simulate, simulate_into, some, unfused};
use sojourn_packets::Recorder;

/// One flow over 10 Mbit/s and 40 ms.
fn flow(rest: &str) -> String {
    format!(
        "duration = \"22s\"\nwarmup = \"2s\"\n[bottleneck]\nrate = \"10mbit\"\n\
         qdisc = {{ kind = \"droptail\", limit = 60 }}\n[tcp]\nprofile = \"classic\"\nreceive_window = \"1MiB\"\n\
         [[traffic]]\nkind = \"bulk\"\nrtt = \"40ms\"\n{rest}\n"
    )
}

#[test]
fn a_flow_carries_what_its_application_writes_and_leaves_the_queue_empty() {
    for extra in ["", "chunk = \"10kB\"", "tcp.profile = \"modern\"", "tcp.congestion = \"bbr\""] {
        let text = flow(&format!("rate = \"3mbit\"\n{extra}"));
        let summary = simulate(&text);
        let goodput = some(summary.groups[0].goodput_bps);
        assert!((goodput / 3e6 - 1.0).abs() < 0.01, "{extra}: {goodput}");
        assert_eq!(summary.links[0].counts.dropped_overflow, 0, "{extra}");
        assert!(some(summary.links[0].queue_packets.p99) <= 7.0, "{extra}");
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{extra}");
    }
}

#[test]
fn excess_data_wait_at_sender() {
    // Written within 10 s at 12 Mbit/s, 15 MB take 12.3 s at the 9.73 Mbit/s that are left of ten.
    let text = flow("flows = 1\nrate = \"12mbit\"\nsize = \"15MB\"");
    let summary = simulate_into(&text, &mut Recorder::none());
    let group = &summary.groups[0];
    assert_eq!((group.started, group.finished), (0, 1));
    let greedy = simulate(&flow("size = \"15MB\""));
    let took = |s: &sojourn_packets::Summary| s.links[0].counts.dequeued;
    assert!(took(&summary).abs_diff(took(&greedy)) < took(&greedy) / 4);
}

#[test]
fn a_finite_transfer_takes_as_long_as_it_takes_to_write() {
    let text =
        flow("rate = \"2mbit\"\nsize = \"500kB\"\nrepeat = true\ngap = \"1s\"\ntcp.ecn = true");
    let summary = simulate(&text);
    let group = &summary.groups[0];
    // 2 s of writing, a second of rest, and the opening.
    assert!((6..=7).contains(&group.finished), "{}", group.finished);
    let response = some(group.response_time_s.quantiles.p50);
    assert!((2.0..2.15).contains(&response), "{response}");
    assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
}

#[test]
fn a_failed_transfer_has_one_successor() {
    // Every SYN is given up after a millisecond, long before its answer, by both ends.
    let hasty = "flows = 3\nsize = \"100kB\"\nrepeat = true\n\
                 tcp = { profile = \"classic\", initial_rto = \"1ms\", syn_retries = 0 }";
    for writing in ["", "rate = \"3mbit\""] {
        let text = flow(&format!("{hasty}\n{writing}"));
        let summary = simulate(&text);
        let failed = summary.groups[0].failed;
        assert!((59_000..=60_003).contains(&failed), "20 s of a millisecond each: {failed}");
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
    }
}

#[test]
fn an_application_stops_with_its_group() {
    let summary = simulate(&flow("rate = \"1mbit\"\nstop = \"12s\""));
    let goodput = some(summary.groups[0].goodput_bps);
    assert!((goodput / 0.5e6 - 1.0).abs() < 0.02, "{goodput}");
}

#[test]
fn every_answered_ping_is_a_row_of_the_whole_run() {
    let folder = std::env::temp_dir().join(format!("sojourn-pings-{}", std::process::id()));
    // The first 12 s of 20 are not measured: their pings are rows all the same. The link is
    // overloaded for 13 s, so that some have no answer.
    let text = "duration = \"20s\"\nwarmup = \"12s\"\n[bottleneck]\nrate = \"1mbit\"\n\
         qdisc = { kind = \"droptail\", limit = 12 }\n[probes]\nexchanges = true\n\
         [[traffic]]\nkind = \"ping\"\nflows = 2\ninterval = \"100ms\"\nrtt = \"30ms\"\n\
         [[traffic]]\nkind = \"udp\"\nrate = \"1500kbit\"\npacket = \"1250B\"\nstop = \"13s\"\n";
    let mut recorder = Recorder::to_directory(&folder).unwrap();
    let summary = simulate_into(text, &mut recorder);
    let written = recorder.finish().unwrap();
    let rows =
        |name: &str| written.iter().find(|file| file.path.ends_with(name)).map(|file| file.rows);
    let pings = rows("transfers.parquet").unwrap();
    let measured = summary.groups[0].finished;
    std::fs::remove_dir_all(&folder).unwrap();
    // 140 are asked after the overload has ended; of the 260 before some are answered, not all.
    assert!(measured > 130 && pings > measured, "{pings} rows, {measured} measured");
    assert!(pings < 395, "{pings} rows of 400 asked");
    assert_eq!(rows("exchanges.parquet"), Some(0));
}
