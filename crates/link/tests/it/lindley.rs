//! A queue with a limit before a constant rate, against Lindley's recursion ("The theory of queues
//! with a single server", Mathematical Proceedings of the Cambridge Philosophical Society 48,
//! 1952): a packet begins when it comes or when the one before is through, whichever is later.

use crate::host::{Offer, Outcome, Plan, Way, network, run};
use proptest::prelude::*;
use sojourn_base::Time;

/// What each packet does: none if it finds the queue full.
struct Course {
    offer: Offer,
    /// When its transmission begins and ends, ns.
    sent: Option<(u64, u64)>,
    wire: u64,
}

impl Course {
    /// How long of the time from `from` to `to` it waits, ns.
    fn waits(&self, from: u64, to: u64) -> u64 {
        let (starts, _) = self.sent.unwrap_or_default();
        starts.min(to).saturating_sub(self.offer.at.0.max(from))
    }

    fn waits_at(&self, now: u64) -> bool {
        self.sent.is_some_and(|(starts, _)| self.offer.at.0 <= now && now < starts)
    }

    fn starts_within(&self, from: u64, to: u64) -> bool {
        // A packet that comes just then comes after the window's beginning.
        let from = if self.offer.at.0 < from { from + 1 } else { from };
        self.sent.is_some_and(|(starts, _)| (from..=to).contains(&starts))
    }
}

fn lindley(line: &Line, offers: &[Offer]) -> Vec<Course> {
    let rate = u128::from(line.rate);
    // In parts of a nanosecond: a packet need not take whole ones.
    let mut free = 0u128;
    let mut all: Vec<Course> = Vec::new();
    for &offer in offers {
        let wire = u64::from((offer.bytes + line.overhead).max(line.min_frame));
        let standing = all.iter().filter(|course| course.waits_at(offer.at.0)).count();
        let sent = (standing < line.limit).then(|| {
            let starts = (free / rate).max(offer.at.0.into()) as u64;
            free = free.max(u128::from(offer.at.0) * rate) + u128::from(wire) * 8_000_000_000;
            (starts, (free / rate) as u64)
        });
        all.push(Course { offer, sent, wire });
    }
    all
}

/// A link of a rate.
#[derive(Clone, Copy, Debug)]
struct Line {
    rate: u64,
    overhead: u32,
    min_frame: u32,
    limit: usize,
}

impl Line {
    fn text(&self) -> String {
        let Self { rate, overhead, min_frame, limit } = self;
        format!(
            "rate = \"{rate}bit\"\nframe_overhead = {overhead}\nmin_frame = {min_frame}\n\
             qdisc = {{ kind = \"droptail\", limit = {limit} }}"
        )
    }
}

fn close(found: Option<f64>, exact: f64) -> bool {
    found.is_some_and(|found| (found - exact).abs() <= 1e-9 * exact.abs())
}

/// Holds what a run gave against the courses of its packets.
fn agree(line: &Line, courses: &[Course], plan: Plan, found: &Outcome) {
    let through: Vec<_> =
        courses.iter().map(|course| course.sent.map(|(_, ends)| Time(ends))).collect();
    // What had not begun at the end of the run is still in the queue.
    for ((course, exact), found) in courses.iter().zip(&through).zip(&found.through) {
        if course.sent.is_none_or(|(starts, _)| starts <= plan.to.0) {
            assert_eq!(found, exact);
        }
    }
    let (from, to) = (plan.from.0, plan.to.0);
    let span = (to - from) as f64;
    let row = &found.summaries[0];
    let counts = &row.counts;
    let came = |course: &&Course| (from..=to).contains(&course.offer.at.0);
    let arrived = courses.iter().filter(came);
    assert_eq!(counts.arrived, arrived.clone().count() as u64);
    let bytes = arrived.clone().map(|course| u64::from(course.offer.bytes)).sum::<u64>();
    assert_eq!(counts.arrived_bytes, bytes);
    let full = arrived.filter(|course| course.sent.is_none());
    assert_eq!(counts.dropped_overflow, full.clone().count() as u64);
    let bytes = full.map(|course| u64::from(course.offer.bytes)).sum::<u64>();
    assert_eq!((counts.dropped_bytes, counts.dropped_early), (bytes, 0));
    let standing = courses.iter().filter(|c| c.offer.at.0 < from && c.waits_at(from));
    assert_eq!(counts.queued_at_start, standing.count() as u64);

    let begun: Vec<_> = courses.iter().filter(|course| course.starts_within(from, to)).collect();
    let bytes = begun.iter().map(|course| u64::from(course.offer.bytes)).sum::<u64>();
    assert_eq!((counts.dequeued, counts.dequeued_bytes), (begun.len() as u64, bytes));
    assert!(close(row.throughput_bps, bytes as f64 * 8e9 / span));
    let wire = begun.iter().map(|course| course.wire).sum::<u64>();
    assert!(close(row.utilisation, (wire as f64 * 8e9 / span / line.rate as f64).min(1.0)));
    let waited = begun.iter().map(|course| course.sent.unwrap().0 - course.offer.at.0);
    if !begun.is_empty() {
        let mean = waited.clone().sum::<u64>() as f64 / begun.len() as f64 / 1e9;
        assert!(close(row.sojourn_s.mean, mean));
        assert!(close(row.sojourn_s.max, waited.max().unwrap() as f64 / 1e9));
    }

    let waits = |course: &Course| u128::from(course.waits(from, to));
    let packets = courses.iter().map(waits).sum::<u128>();
    assert!(close(row.queue_packets.mean, packets as f64 / span));
    let bytes = courses.iter().map(|c| waits(c) * u128::from(c.offer.bytes)).sum::<u128>();
    assert!(close(row.queue_bytes.mean, bytes as f64 / span));

    // Samples are of the instant, and of what has happened since the one before.
    let mut last = 0;
    for sample in &found.rows {
        let now = sample.time_s.0;
        let standing = courses.iter().filter(|course| {
            course.offer.at.0 < now && course.sent.is_some_and(|(starts, _)| now < starts)
        });
        assert_eq!(sample.packets, standing.clone().count() as u64);
        assert_eq!(sample.bytes, standing.map(|c| u64::from(c.offer.bytes)).sum::<u64>());
        let since = |at: u64| (last..now).contains(&at);
        let entered = courses.iter().filter(|c| c.sent.is_some() && since(c.offer.at.0));
        let dropped = courses.iter().filter(|c| c.sent.is_none() && since(c.offer.at.0));
        assert_eq!(sample.entered, entered.count() as u64);
        assert_eq!(sample.dropped, dropped.count() as u64);
        let begun = courses.iter().filter(|c| {
            c.sent.is_some_and(|(starts, _)| {
                (c.offer.at.0 < now && starts <= now)
                    && !(last > 0 && c.offer.at.0 < last && starts <= last)
            })
        });
        let bytes = begun.clone().map(|c| u64::from(c.offer.bytes)).sum::<u64>();
        assert_eq!((sample.dequeued, sample.dequeued_bytes), (begun.count() as u64, bytes));
        assert_eq!((sample.lost, sample.rate_bps), (0, line.rate));
        last = now;
    }
}

/// The time of a packet of 1500 bytes is about that between two arrivals.
fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let gap = prop_oneof![Just(0u64), 1..3_000_000u64];
    prop::collection::vec((gap, 40..1500u32), 1..120).prop_map(|gaps| {
        let mut at = 0;
        let offer = |(gap, bytes)| {
            at += gap;
            Offer::new(Time(at), bytes)
        };
        gaps.into_iter().map(offer).collect()
    })
}

fn line() -> impl Strategy<Value = Line> {
    (2_000_000..20_000_000u64, 0..50u32, 0..100u32, 1..20usize)
        .prop_map(|(rate, overhead, min_frame, limit)| Line { rate, overhead, min_frame, limit })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_way_follows_lindley_s_recursion(
        line in line(),
        offers in offers(),
        from in 0..20_000_000u64,
        span in 1..100_000_000u64,
        every in 500_000..30_000_000u64,
    ) {
        let network = network(&line.text());
        let courses = lindley(&line, &offers);
        let (from, to) = (Time(from), Time(from + span));
        let plan = Plan { from, to, every: Some(Time(every)), change: None };
        let unfused = run(&network, Way::Unfused, &offers, plan);
        agree(&line, &courses, plan, &unfused);
        let resting = run(&network, Way::Resting, &offers, plan);
        prop_assert_eq!(&resting, &unfused);
        let fused = run(&network, Way::Fused, &offers, plan);
        agree(&line, &courses, plan, &fused);
        prop_assert_eq!(&fused.summaries, &unfused.summaries);
        prop_assert_eq!(&fused.rows, &unfused.rows);
    }
}

#[test]
fn who_comes_as_the_one_before_ends_goes_on_with_its_fraction() {
    // 1000 bytes take 2 424 242 and 14/33 ns. With a second packet at the start one waits always,
    // and finds room as the one before begins.
    for (limit, waiting) in [(10, 0), (1, 1)] {
        let line = Line { rate: 3_300_000, overhead: 0, min_frame: 0, limit };
        let mut offers = vec![Offer::new(Time(5), 1000); 1 + waiting];
        for before in 0..100 {
            let ends = lindley(&line, &offers)[before].sent.unwrap().1;
            offers.push(Offer::new(Time(ends), 1000));
        }
        let network = network(&line.text());
        let plan = Plan::until(Time(1_000_000_000));
        let courses = lindley(&line, &offers);
        assert!(courses.iter().all(|course| course.sent.is_some()));
        for way in [Way::Fused, Way::Unfused, Way::Resting] {
            agree(&line, &courses, plan, &run(&network, way, &offers, plan));
        }
    }
}
