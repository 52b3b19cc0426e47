//! Calls over a link.

use crate::common::{difference, simulate, some, unfused};
use sojourn_packets::{CallSummary, Summary};

/// Calls over a link of this rate, 40 ms there and back, from 60 s to 160 s.
fn calls(rate: &str, qdisc: &str, rest: &str) -> String {
    format!(
        "duration = \"160s\"\nwarmup = \"60s\"\n[bottleneck]\nrate = \"{rate}\"\ndelay = \"20ms\"\n\
         qdisc = {qdisc}\n[[traffic]]\nkind = \"call\"\n{rest}\n"
    )
}

const LONG: &str = "{ kind = \"droptail\", limit = 1000 }";

fn heard(summary: &Summary) -> &CallSummary {
    summary.groups[0].call.as_ref().unwrap()
}

#[test]
fn call_with_room_has_its_rate_and_no_delay() {
    for control in ["gcc", "scream", "fixed"] {
        let text = calls("20mbit", LONG, &format!("flows = 2\ncontrol = \"{control}\""));
        let summary = simulate(&text);
        let call = heard(&summary);
        let goodput = some(summary.groups[0].goodput_bps);
        assert!((goodput / 5e6 - 1.0).abs() < 0.01, "{control}: {goodput}");
        // 100 s at 30 frames a second, each of nine packets, paced.
        assert!(call.frames.abs_diff(6000) <= 4, "{}", call.frames);
        assert_eq!((call.late, call.loss), (Some(0.0), Some(0.0)), "{control}");
        let delay = some(call.delay_s.quantiles.max);
        assert!((0.02..0.025).contains(&delay), "{delay}");
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{control}");
    }
}

#[test]
fn control_fills_a_slow_link_and_leaves_its_queue_short() {
    let summary = simulate(&calls("1mbit", LONG, ""));
    let call = heard(&summary);
    assert!(some(summary.links[0].utilisation) > 0.75, "{:?}", summary.links[0].utilisation);
    assert!(some(call.delay_s.quantiles.p50) < 0.08, "{:?}", call.delay_s);
    assert_eq!(call.loss, Some(0.0));
    // One that does not heed fills the thousand packets, and every frame is late.
    let summary = simulate(&calls("1mbit", LONG, "control = \"fixed\""));
    let call = heard(&summary);
    assert_eq!(call.late, Some(1.0));
    assert!(some(call.delay_s.quantiles.p50) > 5.0 && some(call.loss) > 0.5, "{call:?}");
}

/// Frames of many groups are noise to the draft's filter, and a line goes through their delays.
#[test]
fn trendline_sees_the_queue_of_a_call_of_three_megabits() {
    let call = |filter: &str| {
        let rest = format!("filter = \"{filter}\"\nmax_rate = \"10mbit\"");
        simulate(&calls("3mbit", LONG, &rest))
    };
    let p50 = |summary: &Summary| some(heard(summary).delay_s.quantiles.p50);
    let (draft, line) = (call("kalman"), call("trendline"));
    assert!(p50(&draft) > 1.0, "{}", p50(&draft));
    assert!(p50(&line) < 0.15, "{}", p50(&line));
    assert!(some(line.links[0].utilisation) > 0.75, "{:?}", line.links[0].utilisation);
}

/// By delay alone, by marks of classic ECN, and by those of L4S.
#[test]
fn scream_fills_a_slow_link_and_leaves_its_queue_short() {
    let scream = |qdisc: &str, ecn: &str| {
        let rest = format!("control = \"scream\"\nmax_rate = \"10mbit\"\necn = \"{ecn}\"");
        simulate(&calls("3mbit", qdisc, &rest))
    };
    for (qdisc, ecn) in [(LONG, "not-ect"), ("{ kind = \"codel\", ecn = true }", "ect0")] {
        let summary = scream(qdisc, ecn);
        let call = heard(&summary);
        assert!(some(summary.links[0].utilisation) > 0.95, "{:?}", summary.links[0].utilisation);
        assert_eq!(call.late, Some(0.0), "{ecn}");
        // 20 ms of the path, and half of the 60 ms that it grants the queue.
        assert!(some(call.delay_s.quantiles.p50) < 0.055, "{:?}", call.delay_s);
        assert_eq!(summary.links[0].counts.marked > 0, ecn == "ect0");
    }
    let summary = scream("\"dualpi2\"", "ect1");
    let call = heard(&summary);
    assert!((0.5..0.9).contains(&some(summary.links[0].utilisation)));
    assert!(some(call.delay_s.quantiles.p99) < 0.03, "{:?}", call.delay_s);
    assert_eq!((call.late, call.loss), (Some(0.0), Some(0.0)));
    assert!(summary.links[0].counts.marked > 100);
}

/// A thousand calls at once are no burst: they need half of the link, and each gets its rate.
#[test]
fn calls_do_not_march_in_step() {
    let text = calls("5gbit", "{ kind = \"droptail\", limit = 100 }", "flows = 1000");
    let text = text.replace("160s", "4s").replace("60s", "2s");
    let summary = simulate(&text.replace("flows", "control = \"fixed\"\nflows"));
    assert_eq!((heard(&summary).late, heard(&summary).loss), (Some(0.0), Some(0.0)));
    assert!(some(summary.groups[0].jain) > 0.99);
}

/// Beside a long flow through a deep queue a call that goes by delay gets next to nothing; a queue
/// of its own gives it its share.
#[test]
fn queues_of_their_own_protect_a_call() {
    let rest = "[[traffic]]\nkind = \"bulk\"\nrtt = \"60ms\"";
    let [shared, own] = ["{ kind = \"droptail\", limit = 300 }", "\"fq_codel\""].map(|qdisc| {
        let summary = simulate(&calls("5mbit", qdisc, rest));
        (some(summary.groups[0].goodput_bps), heard(&summary).clone())
    });
    assert!(own.0 > 2.0 * shared.0, "{} {}", own.0, shared.0);
    assert!(some(own.1.late) < 0.1 && some(shared.1.late) > 0.5, "{own:?} {shared:?}");
    assert!(some(own.1.delay_s.quantiles.p50) < 0.06 && some(shared.1.delay_s.quantiles.p50) > 0.2);
}
