//! The summary of samples that are known.

use super::super::measure::ClassMeter;
use super::super::sampled::{Sample, Sampled};
use super::*;
use crate::engine::Member;

fn near(got: Option<f64>, want: f64) {
    let got = got.unwrap();
    assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "{got} {want}");
}

/// Mean, median, 90 and 99 % and the most.
fn agree(found: &Quantiles, [mean, p50, p90, p99, max]: [f64; 5]) {
    near(found.mean, mean);
    near(found.p50, p50);
    near(found.p90, p90);
    near(found.p99, p99);
    near(found.max, max);
}

#[test]
fn a_link_sends_what_it_gets_and_neither_drops_nor_keeps() {
    let mut run = Sampled::new(&[("probes.standing_window", "105ms")]);
    run.follow(10.0, |t| Sample {
        inflows: [1000.0, 4000.0],
        laws: [0.1, 0.05],
        overflows: [0.2, 0.25],
        lengths: [10.0 + 2.0 * t, 60.0],
        ..Sample::default()
    });
    let summary = run.measure.summarise(&run.network, 10.0, Work::default());
    let [first, second] = &summary.links[..] else { panic!() };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("first", "second"));
    assert_eq!((first.rate_bps, second.rate_bps), (Some(4_000_000), Some(8_000_000)));
    // Of 8000 packets 28 % are dropped, and the queue grows by 16.
    let sent = 0.72 * 8000.0 - 16.0;
    near(first.throughput_bps, sent * 4000.0 / 8.0);
    near(first.utilisation, sent / 8000.0);
    assert_eq!(first.mark_fraction, Some(0.0));
    // Of 32 000 packets a quarter is dropped, and a twentieth marked; no more than 16 000 can go.
    near(second.throughput_bps, 24_000.0 * 4000.0 / 8.0);
    assert_eq!(second.utilisation, Some(1.0));
    near(second.loss, 0.25);
    near(second.mark_fraction, 0.05);
    let lengths = [22.0, 22.0, 28.4, 29.84, 30.0];
    agree(&first.queue_packets, lengths);
    agree(&second.queue_packets, [60.0; 5]);
    // The mean wait is Little's: what stood there over time, by what left.
    near(first.sojourn_s.mean, 22.0 * 8.0 / sent);
    let waits = &first.sojourn_s;
    for (wait, packets) in [waits.p50, waits.p90, waits.p99, waits.max].iter().zip(&lengths[1..]) {
        // To a sample: as much left with each of them.
        assert!((wait.unwrap() * 1000.0 - packets).abs() < 0.021, "{wait:?} {packets}");
    }
    agree(&second.sojourn_s, [60.0 * 8.0 / 24_000.0, 0.03, 0.03, 0.03, 0.03]);
    near(first.queue_bytes.mean, 22.0 * 500.0);
    near(first.queue_bytes.max, 30.0 * 500.0);
    assert_eq!(first.queue_bytes.p50, None);
    // Its least length of the last tenth of a second.
    near(first.standing_packets.mean, 21.8);
    near(first.standing_packets.max, 29.8);
    near(first.standing_s.mean, 0.0218);
    near(first.standing_s.max, 0.0298);
    assert_eq!(first.standing_s.p50, None);
    let counts = &first.counts;
    assert_eq!((counts.arrived, counts.dropped, counts.marked), (8000, 2240, 0));
    assert_eq!((counts.queued_at_start, counts.queued_at_end), (14, 30));
    assert_eq!(counts.arrived_bytes, 500 * 8000);
    // In the whole run: of 10 000 packets 28 % are dropped, and 30 stay.
    assert_eq!(summary.bottleneck_packets, 7170);
    assert!(summary.links.iter().all(|link| link.check_conservation().is_ok()));
}

#[test]
fn a_summary_says_what_was_run_and_has_nothing_of_an_empty_window() {
    let mut run = Sampled::new(&[("probes.flows", "true")]);
    run.follow(10.0, |_| Sample { rates: [100.0; 2], ..Sample::default() });
    let work = Work { steps: 70, rejected: 3, evaluations: 500, events: 5 };
    let of = |run: &mut Sampled, end| run.measure.summarise(&run.network, end, work);
    let whole = of(&mut run, 10.0);
    assert_eq!(whole.engine, "fluid");
    assert_eq!((whole.events, whole.simulated_s, whole.window_s), (75, 10.0, (2.0, 10.0)));
    assert!(!whole.stopped_early);
    assert_eq!(whole.flows.len(), 5);
    let groups: Vec<_> = whole.groups.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(groups, ["long", "short"]);
    let early = of(&mut run, 9.5);
    assert_eq!((early.simulated_s, early.window_s, early.links.len()), (9.5, (2.0, 9.5), 2));
    assert!(early.stopped_early);
    for end in [1.5, 2.0] {
        let mut run = Sampled::new(&[("probes.flows", "true")]);
        run.follow(end, |_| Sample { rates: [100.0; 2], ..Sample::default() });
        let before = of(&mut run, end);
        assert_eq!((before.simulated_s, before.window_s), (end, (end, end)));
        assert!(before.links.is_empty() && before.groups.is_empty() && before.flows.is_empty());
    }
    let mut quiet = Sampled::new(&[]);
    quiet.follow(10.0, |_| Sample::default());
    assert!(of(&mut quiet, 10.0).flows.is_empty(), "nobody asked for them");
}

#[test]
fn waits_are_those_of_the_packets_that_leave() {
    let mut run = Sampled::new(&[]);
    // For half of the window 100 packets stand there, and 1000 a second come and go; then nothing.
    run.follow(10.0, |t| {
        let busy = if t < 6.0 { 1.0 } else { 0.0 };
        Sample {
            inflows: [1000.0 * busy, 0.0],
            lengths: [100.0 * busy, 0.0],
            rates: [400.0 * busy, 0.0],
            ..Sample::default()
        }
    });
    let summary = run.measure.summarise(&run.network, 10.0, Work::default());
    let first = &summary.links[0];
    assert!((first.queue_packets.mean.unwrap() - 50.0).abs() < 0.1);
    assert!((first.sojourn_s.mean.unwrap() - 0.1).abs() < 0.003, "{:?}", first.sojourn_s);
    assert_eq!((first.queue_packets.p50, first.sojourn_s.p50), (Some(0.0), Some(0.1)));
    assert_eq!(summary.links[1].sojourn_s, Quantiles::default(), "nothing left there");
}

/// Two classes of the first group, of three flows and of one.
fn unlike() -> Sampled {
    let mut run = Sampled::new(&[("probes.flows", "true")]);
    run.follow(10.0, |_| Sample::default());
    let [long, short] = &run.measure.plan.members[..] else { panic!() };
    let members = [(long, vec![3, 0, 1]), (long, vec![2]), (short, vec![0])];
    let members: Vec<Member> =
        members.map(|(of, flows)| Member { flows, ..of.clone() }).into_iter().collect();
    run.measure.plan.members = members;
    let mut meter = run.measure.classes[0].clone();
    (meter.sent, meter.passed, meter.delivered) = (1000.0, 800.0, 800.0);
    meter.round_trips = vec![0.1, 0.3];
    let mut other = meter.clone();
    (other.sent, other.passed, other.delivered) = (3000.0, 1600.0, 1600.0);
    other.round_trips = vec![0.2, 0.4];
    let silent = ClassMeter::default();
    run.measure.classes = vec![meter, other, silent];
    run
}

#[test]
fn flows_have_the_goodput_the_loss_and_the_round_trips_of_their_class() {
    let mut run = unlike();
    let summary = run.measure.summarise(&run.network, 10.0, Work::default());
    let numbers: Vec<_> =
        summary.flows.iter().map(|flow| (flow.group.as_str(), flow.index)).collect();
    let wanted = [("long", 0), ("long", 1), ("long", 2), ("long", 3), ("short", 0)];
    assert_eq!(numbers, wanted);
    for flow in [0, 1, 3].map(|index: usize| &summary.flows[index]) {
        // 800 packets of 460 bytes in 8 s.
        near(flow.goodput_bps, 368_000.0);
        near(flow.loss, 0.2);
        agree(&flow.rtt_s, [0.2, 0.1, 0.3, 0.3, 0.3]);
    }
    near(summary.flows[2].goodput_bps, 736_000.0);
    near(summary.flows[2].loss, 1400.0 / 3000.0);
    agree(&summary.flows[2].rtt_s, [0.3, 0.2, 0.4, 0.4, 0.4]);
    assert_eq!((summary.flows[4].goodput_bps, summary.flows[4].loss), (Some(0.0), None));
    assert_eq!(summary.flows[4].rtt_s, Quantiles::default());
}

#[test]
fn a_group_is_all_of_its_flows() {
    let mut run = unlike();
    let summary = run.measure.summarise(&run.network, 10.0, Work::default());
    let [long, short] = &summary.groups[..] else { panic!() };
    near(long.goodput_bps, 3.0 * 368_000.0 + 736_000.0);
    // (1 + 1 + 1 + 2)² over 4 (1 + 1 + 1 + 4).
    near(long.jain, 25.0 / 28.0);
    // Three flows have 0.1 and 0.3 s, one has 0.2 and 0.4 s.
    agree(&long.rtt_s, [0.225, 0.2, 0.4, 0.4, 0.4]);
    assert_eq!((long.members, short.members), (3, 2), "as the scenario has it");
    assert_eq!((short.goodput_bps, short.jain), (Some(0.0), None));
    assert_eq!(short.rtt_s, Quantiles::default());
}

#[test]
fn quantiles_go_by_weight() {
    let q = quantiles(&mut [(3.0, 1.0), (1.0, 8.0), (2.0, 1.0)]);
    assert_eq!((q.p50, q.p90, q.max), (Some(1.0), Some(2.0), Some(3.0)));
    assert!((q.mean.unwrap() - 1.3).abs() < 1e-12);
    assert_eq!(quantiles(&mut []), Quantiles::default());
}

#[test]
fn shares_are_parts_of_something() {
    assert_eq!((share(1.0, 4.0), share(0.0, 4.0), share(1.0, 0.0)), (Some(0.25), Some(0.0), None));
    assert_eq!((share(4.1, 4.0), share(-0.1, 4.0)), (Some(1.0), Some(0.0)), "rounding");
}

#[test]
fn counts_of_expected_numbers_obey_conservation() {
    let mut meter = QueueMeter::default();
    (meter.at_start, meter.length) = (10.4, 3.6);
    meter.window.arrived = 1000.3;
    meter.window.early = 7.5;
    meter.window.overflow = 0.7;
    meter.window.marked = 20.2;
    let found = counts(&meter, 500);
    found.check_conservation().unwrap();
    let wanted = LinkCounts {
        arrived: 1000,
        enqueued: 991,
        dequeued: 997,
        dropped: 9,
        dropped_early: 8,
        dropped_overflow: 1,
        marked: 20,
        queued_at_start: 10,
        queued_at_end: 4,
        arrived_bytes: 500_000,
        enqueued_bytes: 495_500,
        dequeued_bytes: 498_500,
        dropped_bytes: 4500,
        dropped_early_bytes: 4000,
        dropped_overflow_bytes: 500,
        marked_bytes: 10_000,
        queued_at_start_bytes: 5000,
        queued_at_end_bytes: 2000,
    };
    assert_eq!(found, wanted);
    // Rounded one by one they might not add up: 1.4 and 0.6 dropped and a queue of 3.5.
    let mut short = QueueMeter::default();
    short.length = 3.5;
    (short.window.arrived, short.window.early, short.window.overflow) = (5.4, 1.4, 0.6);
    let found = counts(&short, 500);
    found.check_conservation().unwrap();
    assert_eq!((found.arrived, found.dropped, found.dequeued, found.queued_at_end), (6, 2, 0, 4));
    let mut rounding = QueueMeter::default();
    rounding.length = -1e-9;
    assert_eq!(counts(&rounding, 500), LinkCounts::default());
}

#[test]
fn a_steady_rate_is_measured_as_it_is_if_samples_do_not_divide_the_window_too() {
    for duration in ["7s", "9.3s", "10s"] {
        let mut run = Sampled::new(&[("duration", duration)]);
        let end = run.network.duration.as_secs_f64();
        run.follow(end, |_| Sample { inflows: [500.0; 2], ..Sample::default() });
        let summary = run.measure.summarise(&run.network, end, Work::default());
        near(summary.links[0].throughput_bps, 500.0 * 4000.0);
        near(summary.links[0].utilisation, 0.5);
    }
}
