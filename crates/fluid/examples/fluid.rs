//! Runs scenario files with the fluid engine and prints what their links and groups did.
use sojourn_fluid::engine::{Control, run};
use sojourn_records::Recorder;
use sojourn_scenario::Scenario;
use std::path::Path;
use std::time::Instant;
fn main() {
    for file in std::env::args().skip(1) {
        let path = Path::new(&file);
        let network = Scenario::from_file(path).unwrap().network(path.parent().unwrap()).unwrap();
        let begun = Instant::now();
        match run(&network, &Control::default(), &mut Recorder::none()) {
            Ok(s) => {
                println!("{file}: {:.4} s, {} events", begun.elapsed().as_secs_f64(), s.events);
                for l in s.links {
                    println!(
                        "  {} util {:?} loss {:?} q {:?}",
                        l.name, l.utilisation, l.loss, l.queue_packets
                    );
                }
                for g in s.groups {
                    println!("  {} {:?} rtt {:?}", g.name, g.goodput_bps, g.rtt_s.mean);
                }
            }
            Err(e) => println!("{file}: {e}"),
        }
    }
}
