//! What window follows from a probability of loss (or of marks), for each algorithm that has a law,
//! and the ratio to that law. Segments per round trip of 100 ms; no queue.
//!
//! Run: `cargo run --release -p sojourn-tcp --example response`

#[path = "../tests/it/common/closed.rs"]
mod closed;

use closed::{Closed, Fate, law};
use sojourn_base::Time;
use sojourn_tcp::Algorithm;

const RTT: Time = Time::from_millis(100);
const PROBABILITIES: [f64; 9] = [1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1];

fn row(label: &str, name: &str, fate: Fate, timeouts: bool, law: impl Fn(f64) -> f64) {
    let algorithm = Algorithm::named(name).expect("known");
    print!("{label:<24}");
    for p in PROBABILITIES {
        // A window of 2/p that grows by a segment per round trip takes 2/p² acknowledgements.
        if fate == Fate::Marked && p < 3e-3 {
            print!(" {:>8} {:>5}", "-", "-");
            continue;
        }
        let mut sender = Closed::new(&algorithm, 20, RTT, 2003);
        sender.timeouts = timeouts;
        let rate = sender.run(p, if p < 1e-4 { 300 } else { 3000 }, fate).rate;
        print!(" {rate:8.1} {:5.2}", rate / law(p));
    }
    println!();
}

fn main() {
    print!("{:<24}", "window, ratio at p =");
    PROBABILITIES.iter().for_each(|p| print!(" {p:>14.0e}"));
    println!();
    row("reno / sqrt(3/2p)", "reno", Fate::Lost, false, law::square_root);
    row("reno, timeouts / PFTK", "reno", Fate::Lost, true, law::pftk);
    row("aimd / Yang-Lam", "aimd", Fate::Lost, false, |p| law::aimd(1.0, 0.5, p));
    row("highspeed / RFC 3649", "highspeed", Fate::Lost, false, law::highspeed);
    row("cubic / RFC 9438", "cubic", Fate::Lost, false, |p| law::cubic(0.1, p));
    row("scalable / a/bp", "scalable", Fate::Lost, false, |p| law::scalable(0.01, 0.125, p));
    row("dctcp, marks / 2/p", "dctcp", Fate::Marked, false, law::marks);
    row("prague, marks / 2/p", "prague", Fate::Marked, false, law::marks);
}
