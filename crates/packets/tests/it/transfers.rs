//! Rows of transfers, and how long each takes to the nanosecond.

use crate::common::simulate;
use sojourn_base::Time;
use sojourn_packets::{Control, Recorder, Simulation};
use sojourn_scenario::Scenario;
use std::path::Path;

/// The columns of the table of transfers, of 10 kB one after another over 40 ms.
fn transfers(rest: &str) -> Vec<Vec<f64>> {
    columns(&format!(
        "duration = \"10s\"\n[probes]\nexchanges = true\n\
         [bottleneck]\nrate = \"100mbit\"\n{rest}\n\
         [[traffic]]\nkind = \"bulk\"\nrtt = \"40ms\"\nsize = \"10kB\"\nrepeat = true\n\
         gap = \"100ms\"\n"
    ))
}

fn columns(text: &str) -> Vec<Vec<f64>> {
    let scenario = Scenario::from_toml(text, "test.toml").unwrap();
    let recorder = Recorder::in_memory();
    let mut simulation = Simulation::new(&scenario, Path::new("."), recorder).unwrap();
    simulation.run_until(Time::from_secs(10), &Control::default()).unwrap();
    let values = simulation.recorder().take("transfers").unwrap();
    values.chunks(values.len() / 10).map(<[f64]>::to_vec).collect()
}

const DURATION: usize = 5;
const SYN_RETRIES: usize = 8;

#[test]
fn a_handshake_that_is_sent_again_is_told() {
    let none = transfers("[tcp]\nprofile = \"classic\"");
    assert!(none[SYN_RETRIES].len() > 30 && none[SYN_RETRIES].iter().all(|&n| n == 0.0));
    // After 30 ms and before the answer at 40 ms the SYN goes out again, and so does its answer,
    // which the last part of the handshake reaches as late.
    let hasty = transfers("[tcp]\nprofile = \"classic\"\ninitial_rto = \"30ms\"");
    let retries = &hasty[SYN_RETRIES];
    assert!(retries.len() > 20 && retries.iter().all(|&n| n == 2.0), "{retries:?}");
}

#[test]
fn a_host_may_take_the_longest_time_it_is_given() {
    // Of a nanosecond it takes all or nothing.
    let plain = transfers("");
    let busy = transfers("[access]\nprocessing = \"1ns\"");
    let later = plain[DURATION].iter().zip(&busy[DURATION]);
    let later: Vec<f64> = later.map(|(plain, busy)| ((busy - plain) * 1e9).round()).collect();
    assert!(later.iter().all(|&ns| (0.0..10.0).contains(&ns)), "{later:?}");
    assert!(later.iter().any(|&ns| ns > 0.0), "{later:?}");
}

#[test]
fn hosts_take_times_of_their_own() {
    let text = "duration = \"10s\"\n[probes]\nexchanges = true\n[bottleneck]\nrate = \"100gbit\"\n\
                [access]\nprocessing = \"10ms\"\n[[traffic]]\nkind = \"bulk\"\nflows = 4\n\
                rtt = \"40ms\"\nsize = \"10kB\"\nrepeat = true\ngap = \"1s\"\n";
    // The first four begin together.
    let mut durations = columns(text)[DURATION][..4].to_vec();
    durations.sort_by(f64::total_cmp);
    assert!(durations.windows(2).all(|pair| pair[1] - pair[0] > 1e-5), "{durations:?}");
}

#[test]
fn what_starts_at_the_instant_of_the_window_is_counted() {
    let flows = "[bottleneck]\nrate = \"100mbit\"\n[[traffic]]\nkind = \"bulk\"\nflows = 4\n\
                 rtt = \"40ms\"\nsize = \"100kB\"\n";
    for start in ["", "start = \"2s\"\n"] {
        let warmup = start.replace("start", "warmup");
        let summary = simulate(&format!("duration = \"10s\"\n{warmup}{flows}{start}"));
        let group = &summary.groups[0];
        let counts = (group.started, group.finished, group.response_time_s.count);
        assert_eq!(counts, (4, 4, 4), "{start}");
    }
}

#[test]
fn a_transfer_that_is_cut_by_its_groups_stop_is_censored() {
    for rest in ["", "transport = \"quic\"\n", "rate = \"300kbit\"\n"] {
        let text = format!(
            "duration = \"10s\"\n[probes]\nexchanges = true\n[bottleneck]\nrate = \"1mbit\"\n\
             [[traffic]]\nkind = \"bulk\"\nflows = 3\nrtt = \"40ms\"\nsize = \"10MB\"\n\
             stop = \"5s\"\n{rest}"
        );
        let summary = simulate(&text);
        let group = &summary.groups[0];
        let counts = (group.started, group.finished, group.failed, group.censored);
        assert_eq!(counts, (3, 0, 0, 3), "{rest}");
        let durations = &columns(&text)[DURATION];
        assert!(durations.len() == 3 && durations.iter().all(|d| d.is_nan()), "{durations:?}");
    }
}
