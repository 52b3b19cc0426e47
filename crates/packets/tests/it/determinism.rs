//! Same scenario, same seed, same bytes; and what one changes changes nothing else.

use crate::common::{difference, records, simulate};

fn web(qdisc: &str, seed: u64) -> String {
    format!(
        r#"
        duration = "30s"
        seed = {seed}
        [bottleneck]
        rate = "5mbit"
        qdisc = {qdisc}
        [[traffic]]
        kind = "web"
        users = 100
        model = "packmime"
        rtt = "10ms..150ms"
        [probes]
        exchanges = true
        queues = true
        packet_counts = "1ms"
        traces = ["bulk1.0"]
        flows = true
        pcap = ["bottleneck"]
        [[traffic]]
        kind = "bulk"
        flows = 2
        "#
    )
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let (_, first) = records(&web("\"pi\"", 7));
    assert_eq!(first.len(), 8, "seven tables and a capture");
    assert!(first.iter().all(|(_, bytes)| !bytes.is_empty()));
    assert!(first == records(&web("\"pi\"", 7)).1);
    assert!(first != records(&web("\"pi\"", 8)).1);
}

#[test]
fn probes_do_not_change_results() {
    let text = web("\"red\"", 3);
    let start = text.find("[probes]").unwrap();
    let end = start + text[start..].find("[[traffic]]").unwrap();
    let bare = format!("{}{}", &text[..start], &text[end..]);
    let (mut probed, _) = records(&text);
    probed.flows.clear();
    assert_eq!(difference(&probed, &simulate(&bare)), None);
}

#[test]
fn added_group_leaves_random_draws_of_others() {
    // On a link that never queues, users do not notice one another.
    let scenario = |more: &str| {
        format!(
            "duration = \"60s\"\n[bottleneck]\nrate = \"1gbit\"\n[[traffic]]\nkind = \"web\"\nname = \"users\"\nusers = 50\nmodel = \"packmime\"\nrtt = \"10ms..150ms\"\n{more}"
        )
    };
    let alone = simulate(&scenario(""));
    let more = "[[traffic]]\nkind = \"web\"\nname = \"others\"\nusers = 50\nmodel = \"3gpp\"\n";
    let beside = simulate(&scenario(more));
    assert_eq!(alone.groups[0].started, beside.groups[0].started);
    assert!(alone.groups[0].started > 50);
}
