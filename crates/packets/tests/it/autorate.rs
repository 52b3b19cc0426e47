//! A shaper whose rate follows the delay of pings, where the link behind it becomes slower.

use crate::common::{records, simulate, some, unfused};

/// A shaper of 40 Mb/s before a modem with a buffer of a second, whose rate falls from 50 to
/// 10 Mb/s at 40 s; pings as cake-autorate has them, and a download.
fn line(autorate: bool, end: u32, warmup: u32) -> String {
    let control = if autorate { "autorate = { pings = \"pings\" }" } else { "" };
    format!(
        r#"
        duration = "{end}s"
        warmup = "{warmup}s"
        [tcp]
        profile = "modern"
        [[links]]
        name = "shaper"
        from = "internet"
        to = "router"
        rate = "20mbit"
        qdisc = "fq_codel"
        {control}
        [[links]]
        name = "modem"
        from = "router"
        to = "home"
        rate = "50mbit"
        delay = "10ms"
        qdisc = {{ kind = "droptail", limit = 4000 }}
        schedule = {{ kind = "steps", steps = [["40s", "10mbit"]] }}
        [[links]]
        name = "up"
        from = "home"
        to = "internet"
        rate = "20mbit"
        delay = "10ms"
        [[traffic]]
        name = "pings"
        kind = "ping"
        flows = 6
        interval = "300ms"
        from = "internet"
        to = "home"
        start = {{ even = "0s..250ms" }}
        [[traffic]]
        kind = "bulk"
        flows = 2
        from = "internet"
        to = "home"
        start = "1s"
        tcp = {{ congestion = "cubic" }}
        "#
    )
}

#[test]
fn rate_rises_to_the_link_and_follows_it_down() {
    // Before the step: 20 Mb/s is the shaper's own rate.
    let fixed = simulate(&line(false, 40, 25));
    let follows = simulate(&line(true, 40, 25));
    let shaper = &follows.links[0];
    assert_eq!(fixed.links[0].rate_bps, Some(20_000_000));
    assert!(shaper.rate_bps.unwrap() > 35_000_000, "{:?}", shaper.rate_bps);
    assert!(some(shaper.throughput_bps) > 1.5 * some(fixed.links[0].throughput_bps));
    // After it: the modem's buffer fills behind a fixed shaper; not behind one that follows.
    let fixed = simulate(&line(false, 90, 50));
    let follows = simulate(&line(true, 90, 50));
    let delay = |summary: &sojourn_packets::Summary| some(summary.links[1].sojourn_s.mean);
    assert!(delay(&fixed) > 0.5, "{}", delay(&fixed));
    assert!(delay(&follows) < 0.1, "{}", delay(&follows));
    let rate = follows.links[0].rate_bps.unwrap();
    assert!((6_000_000..13_000_000).contains(&rate), "{rate}");
    let sent = some(follows.links[1].throughput_bps);
    assert!(sent > 7e6, "{sent}");
}

#[test]
fn fused_and_unfused_runs_with_autorate_agree() {
    let text = line(true, 60, 10);
    let (a, files) = records(&text);
    let (b, others) = records(&unfused(&text));
    assert_eq!(crate::common::difference(&a, &b), None);
    assert_eq!(files.len(), others.len());
}
