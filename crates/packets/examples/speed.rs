//! Runs a scenario several times and prints how fast: `cargo run --release -p sojourn-packets
//! --example speed -- FILE [TIMES]`.

use sojourn_packets::{Clock, Control, Recorder, run};
use sojourn_scenario::Scenario;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Instant;

// As in the extension of the Python package.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("the scenario's file");
    let times: u32 = arguments.next().map_or(5, |n| n.parse().expect("how many times"));
    let scenario = Scenario::from_file(Path::new(&file)).unwrap_or_else(|e| panic!("{e}"));
    let folder = Path::new(&file).parent().unwrap_or(Path::new("."));
    let network = scenario.network(folder).unwrap_or_else(|e| panic!("{e}"));
    let clock = Clock(|| START.elapsed().as_secs_f64());
    let control = Control { clock, ..Control::default() };
    for _ in 0..times {
        let summary = run(network.clone(), &control, &mut Recorder::none()).unwrap();
        let sent: u64 = summary.bottleneck_packets;
        let link = &summary.links[0];
        let pages = summary.groups.iter().filter_map(|group| group.pages.as_ref());
        let pages: u64 = pages.map(|pages| pages.load_time_s.count).sum();
        let pages = if pages > 0 { format!(", {pages} pages") } else { String::new() };
        println!(
            "{:.4} s, {:.0} ms of it loop, {:.2} M packets/s, {:.1} ns a packet, {:.2} events a packet, {sent} packets{pages}; utilisation {:.4} queue {:.1} loss {:.4} jain {:.3}",
            summary.wall_s,
            summary.engine_seconds * 1e3,
            sent as f64 / summary.engine_seconds / 1e6,
            summary.engine_seconds * 1e9 / sent as f64,
            summary.events as f64 / sent as f64,
            link.utilisation.unwrap_or(0.0),
            link.queue_packets.mean.unwrap_or(0.0),
            link.loss.unwrap_or(0.0),
            summary.groups[0].jain.unwrap_or(0.0),
        );
    }
}
