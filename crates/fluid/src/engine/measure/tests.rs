//! What is measured of samples that are known.

use super::super::sampled::{Sample, Sampled, network};
use super::*;
use sojourn_records::FlowRow;

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "{got} {want}");
}

/// The integral of `a + b t` from `from` to `to`.
fn integral(a: f64, b: f64, from: f64, to: f64) -> f64 {
    (a + 0.5 * b * (from + to)) * (to - from)
}

#[test]
fn a_loss_is_what_neither_the_law_nor_the_buffer_lets_through() {
    for (law, overflow) in [(0.0, 0.0), (0.1, 0.0), (0.0, 0.3), (0.02, 0.5), (0.6, 0.9)] {
        let loss = 1.0 - (1.0 - law) * (1.0 - overflow);
        assert!((law_share(loss, overflow) - law).abs() < 1e-12, "{law} {overflow}");
    }
    assert_eq!(law_share(1.0, 1.0), 0.0, "nothing is left for the law");
}

#[test]
fn what_a_queue_gets_drops_and_marks_is_the_integral_over_the_window() {
    let mut run = Sampled::new(&[]);
    run.follow(10.0, |t| Sample {
        inflows: [1000.0 + 100.0 * t, 3000.0 - 50.0 * t],
        laws: [0.1, 0.05],
        overflows: [0.2, 0.5],
        ..Sample::default()
    });
    let arrived = |from| [integral(1000.0, 100.0, from, 10.0), integral(3000.0, -50.0, from, 10.0)];
    for (number, meter) in run.measure.queues.iter().enumerate() {
        for (flow, from) in [(&meter.window, 2.0), (&meter.total, 0.0)] {
            let arrived = arrived(from)[number];
            near(flow.arrived, arrived);
            // The first law drops, so that a tenth never comes to the buffer; the second one marks.
            let [early, marked, overflow] =
                [[0.1, 0.0, 0.9 * 0.2], [0.0, 0.05, 0.5]][number].map(|share| share * arrived);
            near(flow.early, early);
            near(flow.marked, marked);
            near(flow.overflow, overflow);
            near(flow.dropped(), early + overflow);
        }
    }
}

#[test]
fn a_length_has_its_area_and_a_value_for_each_sample_of_the_window() {
    let mut run = Sampled::new(&[("probes.standing_window", "505ms")]);
    run.follow(10.0, |t| Sample { lengths: [10.0 + 2.0 * t, 50.0 - 3.0 * t], ..Sample::default() });
    let [rising, falling] = &run.measure.queues[..] else { panic!() };
    near(rising.area, integral(10.0, 2.0, 2.0, 10.0));
    near(falling.area, integral(50.0, -3.0, 2.0, 10.0));
    for (meter, [start, end]) in [(rising, [14.0, 30.0]), (falling, [44.0, 20.0])] {
        near(meter.at_start, start);
        near(meter.length, end);
        assert_eq!(meter.lengths.len(), 801, "every 10 ms from 2 s to 10 s");
        near(meter.lengths[0], start);
        near(meter.lengths[800], end);
    }
    // The least of the last half second is its first where the queue grows, its last where it
    // shrinks.
    near(rising.standing_area, integral(9.0, 2.0, 2.0, 10.0));
    near(rising.standing_most, 29.0);
    near(falling.standing_area, integral(50.0, -3.0, 2.0, 10.0));
}

#[test]
fn the_least_length_is_that_of_the_sliding_window() {
    let mut meter = QueueMeter::default();
    let lengths = [5.0, 7.0, 3.0, 6.0, 6.0, 8.0, 4.0, 9.0, 9.0, 9.0];
    for (number, length) in lengths.into_iter().enumerate() {
        // A window of two seconds holds the sample at its beginning.
        let window = &lengths[number.saturating_sub(2)..=number];
        let least = window.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(meter.least(number as f64, length, 2.0), least, "{number}");
        assert!(meter.recent.len() <= 3, "what is out of the window is forgotten");
    }
    // Of values that are alike the last one is enough.
    assert_eq!(meter.recent.len(), 1);
}

#[test]
fn lengths_below_zero_are_rounding() {
    let mut run = Sampled::new(&[]);
    run.follow(10.0, |_| Sample { lengths: [-1e-9, 3.0], ..Sample::default() });
    assert_eq!((run.measure.queues[0].area, run.measure.queues[0].length), (0.0, 0.0));
}

#[test]
fn a_flow_delivers_what_neither_laws_that_drop_nor_buffers_lose() {
    let mut run = Sampled::new(&[]);
    let lengths = [80.0, 60.0];
    run.follow(10.0, |t| Sample {
        rates: [100.0 + 20.0 * t, 400.0 - 10.0 * t],
        lengths,
        laws: [0.1, 0.05],
        overflows: [0.2, 0.5],
        ..Sample::default()
    });
    let sent = [integral(100.0, 20.0, 2.0, 10.0), integral(400.0, -10.0, 2.0, 10.0)];
    let passed = [0.9 * 0.8 * 0.5, 0.5];
    let round_trips = run.round_trips(lengths);
    for (class, meter) in run.measure.classes.iter().enumerate() {
        near(meter.sent, sent[class]);
        near(meter.passed, sent[class] * passed[class]);
        assert_eq!(meter.round_trips.len(), 801);
        meter.round_trips.iter().for_each(|time| near(*time, round_trips[class]));
    }
    near(run.measure.classes[0].fastest, 300.0);
    near(run.measure.classes[1].fastest, 400.0);
}

#[test]
fn what_a_link_lets_go_arrives_from_those_that_fill_it_or_did() {
    let mut run = Sampled::new(&[]);
    // From 6 s on nobody sends, and 1200 packets go that waited.
    run.follow(10.0, |t| {
        let sending = if t < 6.0 { 1.0 } else { 0.0 };
        let waiting = if t < 6.0 { 1200.0 } else { 1200.0 - 300.0 * (t - 6.0) };
        Sample {
            rates: [200.0 * sending, 500.0 * sending],
            inflows: [0.0, 1600.0 * sending],
            lengths: [0.0, waiting],
            ..Sample::default()
        }
    });
    let [long, short] = &run.measure.classes[..] else { panic!() };
    // Three flows of 200 and two of 500 a second; the step at 6 s is one sample wide.
    let whole = 4.0 * 1600.0 + 1200.0;
    assert!((long.delivered - whole * 200.0 / 1600.0).abs() < 2.0, "{}", long.delivered);
    assert!((short.delivered - whole * 500.0 / 1600.0).abs() < 5.0, "{}", short.delivered);
}

#[test]
fn flows_that_are_not_there_send_nothing_and_have_no_round_trip() {
    let mut run = Sampled::new(&[("traffic.short.start", "6s")]);
    let at = |_| Sample { rates: [100.0, 500.0], lengths: [0.0, 40.0], ..Sample::default() };
    run.follow(5.999, at);
    run.stop(0);
    run.follow(10.0, at);
    let [long, short] = &run.measure.classes[..] else { panic!() };
    near(long.sent, 800.0);
    assert_eq!(long.round_trips.len(), 801);
    // Between the last sample without them and the first with them half of it is counted.
    near(short.sent, 500.0 * 4.005);
    assert_eq!(short.round_trips.len(), 401);
}

#[test]
fn samples_are_fine_enough_for_the_run_and_no_more_than_a_table_needs() {
    let of = |changes: &[(&str, &str)]| {
        let measure = Sampled::new(changes).measure;
        (measure.step(), measure.every, measure.stride)
    };
    let lasting = |duration| of(&[("duration", duration), ("warmup", "1s")]);
    assert_eq!(lasting("10s"), (0.01, u64::MAX, 1));
    assert_eq!(lasting("2s"), (0.002, u64::MAX, 1));
    assert_eq!(lasting("100s"), (0.01, u64::MAX, 1));
    // 800 000 samples, of which 200 000 are kept; at most 2 000 000.
    assert_eq!(lasting("8000s"), (0.01, u64::MAX, 4));
    assert_eq!(lasting("30000s"), (0.015, u64::MAX, 10));
    let table = |interval, duration| {
        let (step, every, _) =
            of(&[("probes.queues", "true"), ("probes.interval", interval), ("duration", duration)]);
        (step, every)
    };
    assert_eq!(table("10ms", "10s"), (0.01, 1));
    assert_eq!(table("25ms", "10s"), (0.025 / 3.0, 3));
    assert_eq!(table("1s", "10s"), (0.01, 100));
    assert_eq!(table("15ms", "15000s"), (0.0075, 2));
    // With two samples a row there would be too many.
    assert_eq!(table("15ms", "15015s"), (0.015, 1));
    let traced = of(&[("probes.traces", r#"["long.1"]"#), ("probes.interval", "40ms")]);
    assert_eq!(traced, (0.01, 4, 1));
}

#[test]
fn of_many_samples_each_so_many_th_is_kept() {
    let mut run = Sampled::new(&[("duration", "8000s")]);
    run.follow(4.0, |t| Sample { lengths: [t, 0.0], ..Sample::default() });
    let lengths = &run.measure.queues[0].lengths;
    assert_eq!(lengths.len(), 51);
    near(lengths[0], 2.0);
    near(lengths[1], 2.04);
    assert_eq!(run.measure.classes[0].round_trips.len(), 51);
}

/// The columns of a table's rows.
fn columns<const N: usize>(run: &mut Sampled, table: &str) -> [Vec<f64>; N] {
    let values = run.measure.recorder().take(table).unwrap();
    let rows = values.len() / N;
    std::array::from_fn(|column| values[column * rows..][..rows].to_vec())
}

#[test]
fn a_row_of_a_queue_has_what_happened_since_the_one_before() {
    let changes = [("probes.queues", "true"), ("probes.interval", "500ms")];
    let mut run = Sampled::new(&changes);
    // At first queues are empty.
    run.follow(10.0, |t| Sample {
        lengths: [20.0 * t, 8.0 * t],
        inflows: [1000.0, 4000.0],
        laws: [0.1, 0.05],
        overflows: [0.2, 0.25],
        ..Sample::default()
    });
    let found: [Vec<f64>; 16] = columns(&mut run, "queues");
    assert_eq!(found[0].len(), 40, "two links every half second from 0.5 s on");
    let rows = (0..40).map(|row| (row, found.each_ref().map(|column| column[row])));
    for (row, at) in rows {
        let (number, time) = (row % 2, 0.5 * (1 + row / 2) as f64);
        let length = [20.0, 8.0][number] * time;
        // Of 500 that arrive 50 and 90 are dropped; of 2000 100 are marked and 500 dropped.
        let [entered, dropped, marked] = [[360.0, 140.0, 0.0], [1500.0, 500.0, 100.0]][number];
        let sent = entered - [10.0, 4.0][number];
        // RED says what it has before drops are spaced: 2 p/(1 + p) is 0.1.
        let probability = [0.1 / 1.9, 0.05][number];
        let standing = [20.0, 8.0][number] * (time - 0.1_f64);
        let rest = standing / [1000.0, 2000.0][number];
        let want = [
            time,
            number as f64,
            length.round(),
            (500.0 * length).round(),
            probability,
            entered,
            dropped,
            marked,
            sent,
            500.0 * sent,
            [4e6, 8e6][number],
            standing.round(),
            rest,
        ];
        for (column, want) in want.into_iter().enumerate() {
            // Times are whole nanoseconds.
            assert!((at[column] - want).abs() < 1.1e-9, "{row} {column}: {} {want}", at[column]);
        }
        assert_eq!(at[13..], [0.0; 3]);
    }
}

#[test]
fn a_trace_has_the_window_and_the_round_trip_while_its_flow_is_there() {
    let changes = [
        ("probes.traces", r#"["short.1", "long.0"]"#),
        ("probes.interval", "1s"),
        ("traffic.short.start", "6s"),
    ];
    let mut run = Sampled::new(&changes);
    let lengths = [80.0, 60.0];
    let at = |t: f64| Sample { rates: [10.0 * t, 20.0 * t], lengths, ..Sample::default() };
    run.follow(5.999, at);
    run.stop(0);
    run.follow(10.0, at);
    let round_trips = run.round_trips(lengths);
    let [times, flows, windows, thresholds, srtts, in_flight, acked]: [Vec<f64>; 7] =
        columns(&mut run, "traces");
    let wanted = (1..=10).flat_map(|t| if t < 6 { vec![(t, 1)] } else { vec![(t, 0), (t, 1)] });
    let wanted: Vec<(i32, i32)> = wanted.collect();
    assert_eq!(times.len(), wanted.len());
    for (row, (time, flow)) in wanted.into_iter().enumerate() {
        let time = f64::from(time);
        assert_eq!((times[row], flows[row]), (time, f64::from(flow)));
        // The first trace is of the second class.
        let class = 1 - flow as usize;
        let window = [10.0, 20.0][class] * time * round_trips[class] * 460.0;
        assert_eq!(windows[row], window.round());
        assert_eq!(in_flight[row], windows[row]);
        assert!((srtts[row] - round_trips[class]).abs() <= 1e-9);
        assert!(thresholds[row].is_nan() && acked[row].is_nan());
    }
}

#[test]
fn no_table_is_recorded_that_nobody_asked_for() {
    let mut run = Sampled::new(&[("probes.traces", r#"["long.0"]"#), ("probes.flows", "true")]);
    let recorder = run.measure.recorder();
    assert!(recorder.wants::<TraceRow>() && recorder.wants::<FlowRow>());
    assert!(!recorder.wants::<QueueRow>());
    let mut run = Sampled::new(&[("probes.queues", "true")]);
    let recorder = run.measure.recorder();
    assert!(recorder.wants::<QueueRow>());
    assert!(!recorder.wants::<TraceRow>() && !recorder.wants::<FlowRow>());
    let names = run.measure.recorder().names();
    assert_eq!(names.links, ["first", "second"]);
    assert_eq!(names.groups, ["long", "short"]);
}

#[test]
fn private_links_may_carry_a_hundredth_more_than_they_can() {
    let check = |rate: f64| {
        let changes = [("access.rate", "1mbit")];
        let mut run = Sampled::new(&changes);
        // 250 packets of 500 bytes a second.
        assert_eq!(run.measure.plan.members[0].access, 250.0);
        run.follow(1.0, |_| Sample { rates: [0.0, rate], ..Sample::default() });
        run.measure.check_access()
    };
    assert!(check(252.4).is_ok());
    let why = check(252.6).unwrap_err().to_string();
    assert!(
        why.contains("would send 253 packets per second, its private link carries 250;"),
        "{why}"
    );
    assert!(network(&[]).groups[0].access_rate.is_none());
}

#[test]
fn without_a_warm_up_the_window_begins_with_the_run() {
    let mut run = Sampled::new(&[("warmup", "0s")]);
    run.follow(10.0, |t| Sample {
        lengths: [10.0 + 2.0 * t, 0.0],
        inflows: [1000.0, 0.0],
        rates: [100.0, 0.0],
        ..Sample::default()
    });
    let meter = &run.measure.queues[0];
    near(meter.at_start, 10.0);
    near(meter.area, integral(10.0, 2.0, 0.0, 10.0));
    near(meter.window.arrived, 10_000.0);
    near(run.measure.classes[0].sent, 1000.0);
    assert_eq!(meter.lengths.len(), 1001);
}
