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
