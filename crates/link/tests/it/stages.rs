//! What lies around the queue: a device's queue, a wire that loses and delays, a rate that changes,
//! a discipline that holds back, and classes.

use crate::host::{Datagram, Offer, Outcome, Plan, Way, network, run};
use sojourn_base::{Ecn, Rate, Time};
use sojourn_link::{Dropped, Fate, Link, Wake};
use sojourn_qdisc::{DropReason, Sink};

const MS: Time = Time::from_millis(1);

/// So many packets of 1500 bytes at once, each of which takes 1 ms.
fn burst(packets: u32) -> Vec<Offer> {
    (0..packets).map(|_| Offer::new(Time::ZERO, 1500)).collect()
}

/// What a link of 12 Mb/s makes of that, all of it.
fn of_burst(packets: u32, more: &str) -> Outcome {
    let network = network(&format!("rate = \"12mbit\"\n{more}"));
    run(&network, Way::Unfused, &burst(packets), Plan::until(MS * 200))
}

/// In milliseconds.
fn through(outcome: &Outcome) -> Vec<Option<f64>> {
    outcome.through.iter().map(|at| at.map(|at| at.0 as f64 / 1e6)).collect()
}

fn one_by_one(packets: u32) -> Vec<Option<f64>> {
    (1..=packets).map(|n| Some(f64::from(n))).collect()
}

fn near(found: Option<f64>, exact: f64) {
    assert!(found.is_some_and(|found| (found - exact).abs() < 1e-9), "{found:?}, not {exact}");
}

#[test]
fn a_device_takes_over_part_of_the_wait() {
    for (device, holds) in
        [("{ packets = 4 }", 4), ("{ bytes = \"4501B\" }", 4), ("{ bytes = \"4500B\" }", 3)]
    {
        let outcome = of_burst(20, &format!("device = {device}"));
        assert_eq!(through(&outcome), one_by_one(20), "{device}");
        let row = &outcome.summaries[0];
        let below = row.device.as_ref().unwrap();
        assert_eq!((below.sent, below.sent_bytes, below.limit_bytes), (20, 30_000, None));
        assert_eq!(below.queue_packets.max, Some(f64::from(holds)));
        assert_eq!(below.queue_bytes.max, Some(f64::from(holds * 1500)));
        // Packet n waits n ms in all: above until there is room, then below.
        let above: f64 = (0..20).map(|n| f64::from((n - holds).max(0))).sum();
        let in_all = 190.0;
        near(row.sojourn_s.mean, above / 20.0 / 1e3);
        near(below.sojourn_s.mean, (in_all - above) / 20.0 / 1e3);
        // Little's law, over 200 ms.
        near(row.queue_packets.mean, above / 200.0);
        near(below.queue_packets.mean, (in_all - above) / 200.0);
        near(below.queue_bytes.mean, (in_all - above) * 1500.0 / 200.0);
    }
}

#[test]
fn the_window_of_a_device_begins_with_what_stands_there() {
    let network = network("rate = \"12mbit\"\ndevice = { packets = 4 }");
    let (from, to) = (Time(2_500_000), Time(12_500_000));
    let plan = Plan { from, to, every: Some(from), change: None };
    let outcome = run(&network, Way::Unfused, &burst(20), plan);
    let row = &outcome.summaries[0];
    let below = row.device.as_ref().unwrap();
    // Three have begun before 2.5 ms, thirteen before 12.5 ms, and four are ahead of the queue.
    assert_eq!((below.sent, below.queued_at_start, below.queued_at_end), (10, 4, 4));
    assert_eq!((below.queued_at_start_bytes, below.queued_at_end_bytes), (6000, 6000));
    let counts = &row.counts;
    assert_eq!((counts.dequeued, counts.queued_at_start, counts.queued_at_end), (10, 13, 3));
    near(row.utilisation, 1.0);
    let sample = &outcome.rows[0];
    assert_eq!((sample.packets, sample.device_packets, sample.device_bytes), (13, 4, 6000));
}

#[test]
fn byte_queue_limits_keep_a_device_busy_and_short() {
    let free = of_burst(150, "device = { packets = 256 }");
    let prompt = of_burst(150, "device = { packets = 256, bql = true }");
    assert_eq!(through(&prompt), one_by_one(150), "each is reported at once");
    let late = of_burst(150, "device = { packets = 256, bql = true, interrupts = \"2500us\" }");
    let longest = |outcome: &Outcome| {
        let device = outcome.summaries[0].device.clone().unwrap();
        (device.queue_packets.max.unwrap(), device.limit_bytes)
    };
    assert_eq!(longest(&free), (149.0, None));
    let ((prompt, limit), (late_most, late_limit)) = (longest(&prompt), longest(&late));
    assert!(prompt <= 3.0 && limit.unwrap() <= 3000, "{prompt} {limit:?}");
    // Three end between two reports; the limit is what keeps the device busy till then, or twice.
    assert!((3.0..=7.0).contains(&late_most), "{late_most}");
    assert!((3000..=9000).contains(&late_limit.unwrap()), "{late_limit:?}");
    let times = through(&late);
    // It starves before the limit has grown, not after.
    assert!(times[0] == Some(1.0) && times[149] > Some(150.0));
    assert_eq!(times[149].unwrap() - times[49].unwrap(), 100.0);
}

#[test]
fn what_the_wire_loses_has_been_sent() {
    let outcome = of_burst(100, "loss = 0.3");
    let lost = outcome.through.iter().filter(|at| at.is_none()).count() as u64;
    let row = &outcome.summaries[0];
    assert_eq!((row.lost, row.lost_bytes, row.counts.dequeued), (lost, lost * 1500, 100));
    // Four standard deviations.
    assert!((12..=48).contains(&lost), "{lost}");
    near(row.utilisation, 0.5);
    for (at, n) in through(&outcome).into_iter().zip(1..) {
        assert!(at.is_none_or(|at| at == f64::from(n)));
    }
    // Only what is lost in the window counts.
    let network = network("rate = \"12mbit\"\nloss = 0.3");
    let (from, to) = (Time(50_500_000), MS * 200);
    let plan = Plan { from, to, every: Some(from), change: None };
    let outcome = run(&network, Way::Unfused, &burst(100), plan);
    let later = outcome.through[51..].iter().filter(|at| at.is_none()).count() as u64;
    assert_eq!((outcome.summaries[0].lost, outcome.rows[0].lost), (later, lost - later));
}

#[test]
fn jitter_comes_after_the_transmission() {
    let outcome = of_burst(10, "jitter = \"7ms\"");
    let later: Vec<_> = (1..=10).map(|n| Some(f64::from(n + 7))).collect();
    assert_eq!(through(&outcome), later);
    near(outcome.summaries[0].sojourn_s.max, 0.009);
}

#[test]
fn a_transmission_under_way_ends_as_it_was_to_when_the_rate_changes() {
    let network = network("rate = \"12mbit\"");
    let plan = Plan {
        from: Time(500_000),
        to: MS * 10,
        every: Some(MS),
        change: Some((Time(1_500_000), Rate(6_000_000))),
    };
    for way in [Way::Unfused, Way::Resting] {
        let outcome = run(&network, way, &burst(4), plan);
        assert_eq!(through(&outcome), [1.0, 2.0, 4.0, 6.0].map(Some));
        let row = &outcome.summaries[0];
        // The mean of 1 ms and 8.5 ms, in which three packets begin.
        assert_eq!(row.rate_bps, Some(6_631_579));
        near(row.utilisation, 36_000.0 / 63_000.0);
        let rates: Vec<_> = outcome.rows.iter().map(|row| row.rate_bps).collect();
        assert_eq!((rates[0], rates[1]), (12_000_000, 6_000_000));
    }
}

#[test]
fn a_queue_that_shrinks_stands_at_its_present_length() {
    // Slices of 100/64 ms: at the end of the first one packet of 150 is through.
    let row = &of_burst(150, "").summaries[0];
    near(row.standing_packets.max, 148.0);
    // Up to 100 ms the first packet, which did not wait, is in the window; when the last one
    // leaves, that of 50 ms is the least.
    let longest = row.standing_s.max.unwrap();
    assert!((0.047..0.051).contains(&longest), "{longest}");
    assert!(row.standing_s.mean.unwrap() < longest / 4.0);
}

#[test]
fn what_a_token_bucket_holds_back_leaves_when_its_tokens_are_there() {
    let outcome = of_burst(5, "qdisc = { kind = \"tbf\", rate = \"4mbit\", burst = \"3000B\" }");
    // Two for the burst; then each takes 3 ms of tokens, counted from the start.
    assert_eq!(through(&outcome), [1.0, 2.0, 4.0, 7.0, 10.0].map(Some));
}

#[test]
fn who_has_served_his_time_unseen_leaves_at_the_next_instant() {
    // A tenth of 12 Mb/s: 10 ms for the first packet, rounded down, and more by the average, but
    // only until the class is found waiting.
    let qdisc = "qdisc = { kind = \"cbq\", borrowing = \"none\", classes = \
                 [{ name = \"slow\", share = 0.1 }, { name = \"fast\", share = 0.9 }], \
                 default = \"slow\" }";
    let network = network(&format!("rate = \"12mbit\"\n{qdisc}"));
    for (second, sent) in [(MS * 5, MS * 10 - Time(1)), (MS * 15, MS * 15 + Time(1))] {
        let offers = [Offer::new(Time::ZERO, 1500), Offer::new(second, 1500)];
        let outcome = run(&network, Way::Fused, &offers, Plan::until(MS * 100));
        assert_eq!(outcome.through, [Some(MS), Some(sent + MS)]);
    }
}

#[test]
fn a_fused_queue_marks_what_may_be_marked() {
    let network = network("rate = \"12mbit\"\nqdisc = { kind = \"pi\", ecn = true, qref = 20 }");
    let fates = |ecn| {
        let mut link: Link<Datagram> = Link::all(&network, true).unwrap().remove(0);
        let mut fates = [0; 3];
        // Twice as many as the link can send.
        for n in 0..400 {
            fates[match link.pass(Time(n * 500_000), 1500, ecn) {
                Fate::Departs(_, marked) => usize::from(marked),
                Fate::Dropped => 2,
            }] += 1;
        }
        fates
    };
    let [unmarked, marked, dropped] = fates(Ecn::Ect0);
    assert!(unmarked > 0 && marked > 0 && dropped == 0, "{marked} {dropped}");
    let [unmarked, marked, dropped] = fates(Ecn::NotEct);
    assert!(unmarked > 0 && marked == 0 && dropped > 0, "{marked} {dropped}");
}

#[test]
fn packets_overtake_one_another_only_on_a_wire_that_may_reorder_them() {
    let reorders = |wire: &str| {
        let network = network(&format!("rate = \"12mbit\"\n{wire}"));
        Link::<Datagram>::all(&network, true).unwrap()[0].reorders()
    };
    assert!(reorders("jitter = \"7ms\"\nreorder = true"));
    assert!(!reorders("jitter = \"7ms\"") && !reorders(""));
}

#[test]
fn a_sample_has_the_probability_of_the_discipline() {
    let network = network("rate = \"12mbit\"\nqdisc = { kind = \"pi\", qref = 20 }");
    for way in [Way::Fused, Way::Unfused] {
        let plan = Plan { every: Some(MS), ..Plan::until(MS * 50) };
        let outcome = run(&network, way, &burst(200), plan);
        let found: Vec<_> = outcome.rows.iter().map(|row| row.probability).collect();
        assert!(found.iter().all(|p| (0.0..=1.0).contains(p)) && found[5] > 0.0, "{found:?}");
    }
}

#[test]
fn classes_have_rows_of_their_own() {
    let network = network(
        "rate = \"12mbit\"\nqdisc = { kind = \"prio\", classes = [{ name = \"urgent\", labels = \
         [\"bulk1\"] }, { name = \"rest\" }], default = \"rest\" }",
    );
    let offer = |at: u64, label| Offer { label, ..Offer::new(Time(at), 1500) };
    let offers = [offer(0, ""), offer(0, ""), offer(200_000, "bulk1"), offer(300_000, "")];
    let (from, to) = (Time(100_000), MS * 10);
    let plan = Plan { from, to, every: None, change: None };
    let outcome = run(&network, Way::Fused, &offers, plan);
    assert_eq!(through(&outcome), [1.0, 3.0, 2.0, 4.0].map(Some));
    let [all, urgent, rest] = &outcome.summaries[..] else { panic!("three rows") };
    assert_eq!(urgent.name, "bottleneck/urgent");
    assert_eq!(rest.name, "bottleneck/rest");
    let counts = |row: &sojourn_records::LinkSummary| {
        (row.counts.arrived, row.counts.dequeued, row.counts.queued_at_start)
    };
    assert_eq!([all, urgent, rest].map(|row| row.loss), [Some(0.0); 3]);
    assert_eq!([all, urgent, rest].map(counts), [(2, 3, 1), (1, 1, 0), (1, 2, 1)]);
    near(urgent.sojourn_s.mean, 0.0008);
    near(rest.sojourn_s.mean, (0.002 + 0.0027) / 2.0);
    // In the window from 0.1 ms on, 9.9 ms long.
    near(urgent.queue_packets.mean, 0.8 / 9.9);
    near(rest.queue_packets.mean, (1.9 + 2.7) / 9.9);
    near(rest.queue_bytes.max, 3000.0);
    near(urgent.throughput_bps, 12_000.0 / 9.9e-3);
    // A packet or two stand up to 3 ms, so in the first of six slices of 100/64 ms.
    near(rest.standing_packets.max, 1.0);
    near(rest.standing_packets.mean, 1.0 / 6.0);
    near(urgent.standing_packets.max, 0.0);
    assert_eq!((urgent.rate_bps, urgent.utilisation), (None, None));
}

#[test]
fn what_a_discipline_drops_can_be_collected() {
    let mut dropped = Dropped::default();
    for packet in [7, 9] {
        dropped.dropped(MS, packet, DropReason::Early);
    }
    assert_eq!(dropped.0, [7, 9]);
}

#[test]
fn the_end_of_a_transmission_without_an_event_is_seen_by_who_comes_then_or_later() {
    let mut link = Link::<Datagram>::all(&network("rate = \"12mbit\""), false).unwrap().remove(0);
    link.rest();
    let mut dropped = Dropped::default();
    let cases = [(MS, None), (MS - Time(1), Some(MS)), (MS * 2, None)];
    for (from, (at, ends)) in (0..).map(|n| MS * 10 * n).zip(cases) {
        assert!(link.arrive(from, Offer::new(from, 1500).packet(0), &mut dropped));
        let sent = link.serve(from, &mut dropped, |_, _| panic!("it rests")).unwrap();
        assert_eq!(sent.ends, from + MS);
        assert_eq!(link.look_back(from + at), ends.map(|after| from + after));
        link.woken(from + MS, Wake::Transmitted);
    }
}
