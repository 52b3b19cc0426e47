//! CAKE in a run: machines share a line evenly, and acknowledgements give way.

use crate::common::simulate;

/// One flow to a machine and eight to another, each enough to fill a line of 9 Mb/s under
/// `isolation`: what either gets.
fn household(isolation: &str, direction: &str) -> [f64; 2] {
    let text = format!(
        r#"
        duration = "40s"
        warmup = "10s"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = {{ kind = "cake", bandwidth = "9mbit", isolation = "{isolation}" }}
        [[traffic]]
        kind = "udp"
        name = "one"
        host = "laptop"
        rate = "9mbit"
        rtt = "30ms"
        direction = "{direction}"
        [[traffic]]
        kind = "udp"
        name = "eight"
        host = "console"
        flows = 8
        rate = "9mbit"
        rtt = "30ms"
        direction = "{direction}"
        "#
    );
    let groups = simulate(&text).groups;
    [0, 1].map(|at| groups[at].goodput_bps.unwrap())
}

#[test]
fn machines_share_evenly_whatever_the_number_of_their_flows() {
    for (isolation, direction) in
        [("dual_dsthost", "forward"), ("dual_srchost", "reverse"), ("triple_isolate", "forward")]
    {
        let [one, eight] = household(isolation, direction);
        assert!((one / eight - 1.0).abs() < 0.02, "{isolation} {direction}: {one} {eight}");
    }
    // Here every server is a machine of its own, or no machine counts.
    for isolation in ["dual_srchost", "flows"] {
        let [one, eight] = household(isolation, "forward");
        assert!((8.0 * one / eight - 1.0).abs() < 0.02, "{isolation}: {one} {eight}");
    }
}

/// What the first group gets, in Mb/s, of a line of 9 Mb/s under CAKE that it shares with `others`.
fn beside(others: &str) -> f64 {
    let text = format!(
        r#"
        duration = "30s"
        warmup = "10s"
        [tcp]
        profile = "modern"
        [bottleneck]
        rate = "10mbit"
        qdisc = {{ kind = "cake", bandwidth = "9mbit" }}
        [[traffic]]
        kind = "udp"
        name = "one"
        rate = "9mbit"
        rtt = "30ms"
        {others}
        "#
    );
    simulate(&text).groups[0].goodput_bps.unwrap() / 1e6
}

#[test]
fn each_member_has_a_machine_of_its_own() {
    // Datagrams and connections are counted apart, and the first of either are two machines: a
    // third of the line each, and what TCP leaves. On one machine it would be a quarter.
    let third = beside("[[traffic]]\nkind = \"bulk\"\nflows = 2\nrtt = \"30ms\"");
    assert!((2.9..3.8).contains(&third), "{third}");
    // All connections of a user are the user's: half of the line, but for the moments at which a
    // page is asked for. Six machines would leave a seventh.
    let half = beside(
        "[[traffic]]\nkind = \"web\"\nmodel = \"httparchive\"\nusers = 1\nthink = \"10ms\"\n\
         rtt = \"30ms\"",
    );
    assert!((4.2..5.8).contains(&half), "{half}");
}

#[test]
fn fewer_acknowledgements_let_a_thin_way_back_carry_a_fast_download() {
    let run = |filter: &str| {
        let summary = simulate(&format!(
            r#"
            duration = "30s"
            warmup = "10s"
            [tcp]
            congestion = "cubic"
            [bottleneck]
            rate = "50mbit"
            delay = "5ms"
            qdisc = "fq_codel"
            [bottleneck.reverse]
            rate = "400kbit"
            qdisc = {{ kind = "cake", bandwidth = "380kbit", ack_filter = "{filter}" }}
            [[traffic]]
            kind = "bulk"
            flows = 1
            rtt = "30ms"
            "#
        ));
        let back = summary.links.iter().find(|link| link.name == "reverse").unwrap();
        (summary.groups[0].goodput_bps.unwrap(), back.counts.dropped_early)
    };
    let [(off, _), (normal, some), (aggressive, most)] = ["off", "normal", "aggressive"].map(run);
    assert!(normal > 1.1 * off && aggressive > 1.1 * off, "{off} {normal} {aggressive}");
    assert!(some > 1000 && most > 1000, "{some} {most}");
}
