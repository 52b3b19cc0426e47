//! Response functions: what window follows from a loss probability, against the published laws; and
//! how much the window varies under random losses.

use crate::common::closed::{Closed, Fate, MSS, law};
use sojourn_base::{Kind, Stream, Time};
use sojourn_tcp::Algorithm;
use sojourn_tcp::congestion::{aimd, highspeed, scalable};

const RTT: Time = Time::from_millis(100);

fn rate(algorithm: &Algorithm, p: f64, fate: Fate) -> f64 {
    let events = if p < 5e-5 { 120 } else { 1000 };
    Closed::new(algorithm, 20, RTT, 2003).run(p, events, fate).rate
}

fn named(name: &str) -> Algorithm {
    Algorithm::named(name).unwrap()
}

/// Every ratio to its law lies in the band.
fn holds(what: &str, algorithm: &Algorithm, law: impl Fn(f64) -> f64, ps: &[f64], band: [f64; 2]) {
    for &p in ps {
        let ratio = rate(algorithm, p, Fate::Lost) / law(p);
        assert!((band[0]..=band[1]).contains(&ratio), "{what} at p = {p}: {ratio}");
    }
}

// Random losses leave a little more than the periodic ones of the laws: 1.31/√p, not 1.22/√p, for
// Reno (Ott, Kemperman, Mathis 1996).

#[test]
fn reno_follows_the_square_root_law() {
    holds("reno", &named("reno"), law::square_root, &[1e-5, 1e-4, 1e-3, 1e-2], [0.9, 1.15]);
}

#[test]
fn aimd_follows_its_law_for_any_terms() {
    for (a, b) in [(0.2, 0.125), (1.0, 0.5), (0.31, 0.2), (4.0, 0.5)] {
        let algorithm = Algorithm::Aimd(aimd::Settings { a, b });
        holds("aimd", &algorithm, |p| law::aimd(a, b, p), &[1e-4, 1e-3], [0.87, 1.15]);
    }
}

#[test]
fn reno_with_timeouts_follows_padhye() {
    for (p, band) in [(1e-3, 0.15), (1e-2, 0.2), (0.05, 0.35), (0.1, 0.4)] {
        let mut sender = Closed::new(&named("reno"), 20, RTT, 2003);
        sender.timeouts = true;
        let ratio = sender.run(p, 10_000, Fate::Lost).rate / law::pftk(p);
        assert!((ratio - 1.0).abs() < band, "{p}: {ratio}");
    }
}

#[test]
fn highspeed_follows_rfc_3649() {
    let ps = [1e-5, 1e-4, 1e-3, 1e-2];
    holds("highspeed", &named("highspeed"), law::highspeed, &ps, [0.85, 1.2]);
    let s = highspeed::Settings { high_decrease: 0.5, ..Default::default() };
    holds("b = 1/2", &Algorithm::Highspeed(s), law::highspeed, &[1e-4], [0.85, 1.25]);
}

#[test]
fn cubic_follows_rfc_9438() {
    let law = |p| law::cubic(0.1, p);
    holds("cubic", &named("cubic"), law, &[1e-5, 1e-4], [0.75, 1.3]);
    // Near the crossing either law is too low.
    holds("cubic", &named("cubic"), law, &[1e-3, 1e-2], [0.9, 1.45]);
}

#[test]
fn scalable_follows_its_law_and_is_reno_below_lwnd() {
    let algorithm = named("scalable");
    holds("scalable", &algorithm, |p| law::scalable(0.01, 0.125, p), &[1e-5, 1e-4], [0.85, 1.15]);
    holds("scalable", &algorithm, law::square_root, &[0.02, 0.03], [0.85, 1.25]);
}

#[test]
fn dctcp_and_prague_follow_two_over_p() {
    for name in ["dctcp", "prague"] {
        for p in [0.01, 0.1] {
            // Some windows are without marks, so there is a little more.
            let ratio = rate(&named(name), p, Fate::Marked) / law::marks(p);
            assert!((0.9..1.3).contains(&ratio), "{name} at {p}: {ratio}");
        }
    }
}

/// Coefficient of variation of the window per acknowledgement, each lost with probability `p` and
/// answered at once.
fn variation(a: f64, b: f64, mean: f64, acks: u64) -> (f64, f64) {
    let s = scalable::Settings { a, b, lwnd: Some(0), ..Default::default() };
    let mut sender = Closed::new(&Algorithm::Scalable(s), mean as u32, RTT, 7);
    let p = a / (b * mean);
    let threshold = (p * 2f64.powi(64)) as u64;
    let mut coin = Stream::new(7, Kind::Test, 1, 0);
    let (mut sum, mut squares) = (0.0, 0.0);
    for i in 0..acks + acks / 10 {
        if coin.next_u64() < threshold {
            sender.lose();
        } else {
            sender.ack(false, false);
        }
        if i >= acks / 10 {
            let w = f64::from(sender.window.cwnd) / f64::from(MSS);
            (sum, squares) = (sum + w, squares + w * w);
        }
    }
    let n = acks as f64;
    (sum / n, (squares / n - (sum / n) * (sum / n)).sqrt() / (sum / n))
}

#[test]
fn window_variation_under_random_losses_is_exact() {
    for (a, b) in [(0.04, 0.5), (0.02, 0.25), (0.01, 0.125), (0.005, 0.0625)] {
        let (mean, cov) = variation(a, b, 100.0, 8_000_000);
        let (exact, linearised) = ((b / (2.0 - b)).sqrt(), (b / 2.0).sqrt());
        assert!((mean / 100.0 - 1.0).abs() < 0.05, "{b}: mean {mean}");
        assert!((cov / exact - 1.0).abs() < 0.05, "{b}: {cov}, exact {exact} ({linearised})");
        // At b = 1/2 the two are apart enough to tell which it is.
        assert!(b < 0.5 || cov / linearised > 1.1, "{cov} {linearised}");
    }
}
