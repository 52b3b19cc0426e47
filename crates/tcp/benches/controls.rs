//! Nanoseconds that each congestion control takes for an acknowledgement in congestion avoidance,
//! with the sample of the path where it wants one, and for a loss.
//!
//! Run by hand: `cargo bench -p sojourn-tcp --bench controls`.

use sojourn_base::Time;
use sojourn_tcp::Algorithm;
use sojourn_tcp::congestion::{Acked, Congested, Congestion, Rate, Sample, Tuning, Window};
use std::hint::black_box;
use std::time::Instant;

const MSS: u32 = 1448;
const CALLS: u32 = 100_000;
const RUNS: u32 = 30;

fn acknowledge(tuning: &Tuning, control: &mut Congestion, window: &mut Window, n: u32) {
    let (now, srtt) = (Time(u64::from(n) * 12_000), Time::from_millis(20));
    if tuning.samples() {
        let sample = Sample {
            now,
            rtt: Some(srtt),
            srtt,
            mss: MSS,
            acked: MSS,
            lost: 0,
            marked: 0,
            flight: 900 * MSS,
            delivered: u64::from(n) * u64::from(MSS),
            round: n.is_multiple_of(1000),
            recovering: false,
            rate: Some(Rate {
                delivered: 900 * MSS,
                interval: srtt,
                app_limited: false,
                flight_then: 900 * MSS,
                lost_since: 0,
            }),
        };
        control.on_sample(tuning, window, black_box(&sample));
    }
    let (bytes, mss, after_timeout, smooth) = (MSS, MSS, false, false);
    let acked = Acked { now, srtt, bytes, mss, after_timeout, smooth };
    control.on_ack(tuning, window, black_box(acked));
    window.cwnd = window.cwnd.min(1000 * MSS);
}

/// Nanoseconds a call, of the best of many runs.
fn best(mut call: impl FnMut(u32)) -> f64 {
    let mut n = 0;
    let mut run = || {
        let start = Instant::now();
        for _ in 0..CALLS {
            n += 1;
            call(n);
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("{:<12} {:>10} {:>10}", "", "ack, ns", "loss, ns");
    for name in Algorithm::NAMES.iter().filter(|&&name| name != "python") {
        let tuning = Algorithm::named(name).expect("known").tune().expect("valid");
        let start = Window { cwnd: 1000 * MSS, ssthresh: 500 * MSS };
        let (mut control, mut window) = (Congestion::new(&tuning), start);
        let ack = best(|n| acknowledge(&tuning, &mut control, &mut window, n));
        let loss = best(|n| {
            let now = Time(u64::from(n) * 1_000_000);
            let at = Congested { now, srtt: Time::from_millis(20), flight: 900 * MSS, mss: MSS };
            window.cwnd = 1000 * MSS;
            control.on_loss(&tuning, &mut window, black_box(at));
        });
        println!("{name:<12} {ack:>10.1} {loss:>10.1}");
    }
    println!("state in an endpoint: {} bytes", size_of::<Congestion>());
}
