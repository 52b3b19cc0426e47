//! Machines whose interface several flows share.

use crate::common::{difference, simulate, some, unfused};
use sojourn_packets::Summary;

/// Four flows over a link that none of them fills, their interfaces being 10 Mbit/s.
fn flows(access: &str, rest: &str) -> String {
    format!(
        "duration = \"30s\"\nwarmup = \"10s\"\n[bottleneck]\nrate = \"1gbit\"\n\
         qdisc = {{ kind = \"droptail\", limit = 1000 }}\n[tcp]\nprofile = \"classic\"\nreceive_window = \"1MiB\"\n\
         [access]\nrate = \"10mbit\"\n{access}\n[[traffic]]\nkind = \"bulk\"\nflows = 4\n\
         rtt = \"40ms\"\nstart = \"0s..1s\"\n{rest}\n"
    )
}

fn goodput(summary: &Summary) -> f64 {
    some(summary.groups[0].goodput_bps)
}

#[test]
fn flows_on_one_machine_share_its_rate() {
    // 1460 of 1500 bytes.
    let share = |access| goodput(&simulate(&flows(access, ""))) / 10e6 / (1460.0 / 1500.0);
    for (access, machines) in [("", 4.0), ("hosts = 2", 2.0), ("hosts = 1", 1.0)] {
        let got = share(access);
        assert!((got / machines - 1.0).abs() < 0.01, "{access}: {got}");
    }
}

#[test]
fn a_machine_for_each_is_the_same_as_an_interface_for_each() {
    let web = "[[traffic]]\nkind = \"udp\"\nrate = \"1mbit\"\nflows = 3\n\
               [[traffic]]\nkind = \"ping\"\n";
    let private = simulate(&flows("queue = 30", web));
    let hosts = simulate(&flows("queue = 30\nhosts = 4", web));
    assert_eq!(difference(&private, &hosts), None);
}

#[test]
fn fused_hops_change_nothing_on_shared_hosts() {
    let more = "[[traffic]]\nkind = \"web\"\nusers = 20\nrtt = \"20ms..90ms\"\n\
                direction = \"both\"\n[[traffic]]\nkind = \"udp\"\nrate = \"2mbit\"\nflows = 5\n\
                [[traffic]]\nkind = \"ping\"\nflows = 3\n[[traffic]]\nkind = \"bulk\"\n\
                direction = \"reverse\"\nflows = 3\nrtt = \"10ms..50ms\"\n";
    for profile in ["classic", "modern"] {
        let text = flows("hosts = 2\nqueue = 50", more).replace("classic", profile);
        assert_eq!(difference(&simulate(&text), &simulate(&unfused(&text))), None, "{profile}");
    }
}

#[test]
fn a_full_interface_counts_as_congestion_and_loses_nothing() {
    let run = |queue: u32| simulate(&flows(&format!("hosts = 2\nqueue = {queue}"), ""));
    let (short, long) = (run(20), run(400));
    for summary in [&short, &long] {
        assert_eq!(summary.groups[0].retransmissions, Some(0));
        assert_eq!(summary.links[0].counts.dropped_overflow, 0);
    }
    // A packet takes 1.2 ms: the round trip is 40 ms and at most that of a full queue.
    let rtt = |summary: &Summary| some(summary.groups[0].rtt_s.p50);
    assert!((0.040..0.040 + 22.0 * 0.0012).contains(&rtt(&short)), "{}", rtt(&short));
    assert!(rtt(&long) > 0.15, "{}", rtt(&long));
    assert!(goodput(&short) > 0.85 * goodput(&long), "{} {}", goodput(&short), goodput(&long));
}

#[test]
fn autotuned_receive_window_limits_nobody() {
    let share = |autotune: bool| {
        let text = flows("", "")
            .replace("rate = \"10mbit\"", "rate = \"50mbit\"")
            .replace("profile = \"classic\"", &format!("autotune = {autotune}"));
        goodput(&simulate(&text.replace("40ms", "150ms")))
    };
    // A window of 0.9 MiB would do, and begins with 64 KiB.
    let (grown, given) = (share(true), share(false));
    assert!((grown / given - 1.0).abs() < 0.02, "{grown} {given}");
}

#[test]
fn small_queues_keep_fast_interface_empty() {
    let rtt = |switches: &str| {
        let text = flows("", "").replace("profile = \"classic\"", switches);
        let summary = simulate(&text);
        assert!(goodput(&summary) > 0.99 * 40e6 * 1448.0 / 1500.0, "{switches}");
        some(summary.groups[0].rtt_s.p50)
    };
    // The window grows for ever at the interface; with small queues three packets of 1.2 ms stand.
    assert!(rtt("small_queues = false") > 0.15);
    assert!(rtt("") < 0.049, "{}", rtt(""));
    // Paced, a millisecond's worth, which is again two packets.
    assert!(rtt("pacing = true") < 0.049);
    assert!(rtt("tso = true") < 0.055);
}
