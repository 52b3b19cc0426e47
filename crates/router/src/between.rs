//! `sojourn-router between`: a bottleneck between two namespaces, for any program.
//!
//! The command runs in the left namespace, a server in the right one if it is given; both find each
//! other by the addresses in their environment. Whatever they send crosses the bottleneck.

mod arguments;
mod lines;
mod programs;
mod table;

pub use arguments::Arguments;

use crate::engine::talk;
use crate::forward::{Clock, Control, Foreign, Plan, Report, Router, Settings, Snapshot};
use crate::net::{Device, Lab, acquire};
use lines::Lines;
use programs::Programs;
use sojourn_base::Time;
use sojourn_records::{Provenance, Recorder, Summary};
use sojourn_scenario::Network;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::time::Instant;

/// Exit codes: of a run that failed, and of one that could not begin as it was written.
const FAILURE: u8 = 1;
const BAD_INPUT: u8 = 2;

/// Packets that may wait for the router on a side: few enough that they are still in the
/// processor's cache when they are read, which is worth a tenth of the throughput at full speed.
const QUEUE: u32 = 2000;

/// Why there is no result.
enum Failure {
    /// What was asked for cannot be.
    Input(String),
    /// It went wrong.
    Run(String),
}

/// Does it, and says what came of it, under the program's name.
pub fn main(arguments: &Arguments, name: &'static str) -> ExitCode {
    let lines = Lines::new(arguments.json, name);
    match run(arguments, &lines) {
        Ok(code) => ExitCode::from(code),
        Err(Failure::Input(what)) => lines.failure(&what, BAD_INPUT),
        Err(Failure::Run(what)) => lines.failure(&what, FAILURE),
    }
}

fn run(arguments: &Arguments, lines: &Lines) -> Result<u8, Failure> {
    let network = arguments.network().map_err(Failure::Input)?;
    let variables = arguments.variables().map_err(Failure::Input)?;
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let plan = Plan::new(network.clone(), Foreign::Like(0)).map_err(Failure::Input)?;
    let recorder = match &arguments.out {
        None => Recorder::none(),
        Some(folder) => Recorder::to_directory(folder)
            .map_err(|e| Failure::Input(e.to_string()))?
            .of_run(Provenance::of("router", &network)),
    };
    let other = |e: crate::net::Error| Failure::Run(e.to_string());
    acquire().map_err(other)?;
    talk::stop_on_signals();
    let device = Device { mtu: arguments.mtu, queue: QUEUE, ..Device::default() };
    let (lab, tuns) = Lab::new(&device, &variables).map_err(other)?;
    let settings = Settings {
        mtu: arguments.mtu,
        spin: arguments.spin,
        merge: arguments.merge,
        end: arguments.duration,
        look: arguments.json.then_some(Time::from_millis(100)),
        capture: [arguments.pcap && arguments.out.is_some(); 2],
        ..Settings::default()
    };
    let router = Router::new(&plan, tuns, recorder, settings).map_err(Failure::Input)?;
    let begun = Instant::now();
    let (report, records, code) = forward(router, &lab, arguments, lines)?;
    records.finish().map_err(|e| Failure::Run(e.to_string()))?;
    let summary = summary(&network, report, begun.elapsed().as_secs_f64());
    lines.summary(&summary).map_err(Failure::Run)?;
    Ok(code)
}

/// Runs router and programs until the command ends; its exit code.
fn forward(
    router: Router,
    lab: &Lab,
    arguments: &Arguments,
    lines: &Lines,
) -> Result<(Report, Recorder, u8), Failure> {
    let control = Control::default();
    let (sender, snapshots) = sync_channel::<Snapshot>(16);
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| router.run(Clock::start(), &control, Some(sender)));
        let code = Programs::start(lab, arguments).and_then(|mut programs| {
            programs.wait(|| {
                for snapshot in snapshots.try_iter() {
                    lines.snapshot(&snapshot);
                }
                !thread.is_finished() && !talk::stop_wanted()
            })
        });
        control.stop.store(true, Ordering::Relaxed);
        let (report, recorder) = match thread.join() {
            Ok(ended) => ended.map_err(|e| Failure::Run(format!("a device is gone: {e}")))?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        for snapshot in snapshots.try_iter() {
            lines.snapshot(&snapshot);
        }
        Ok((report, recorder, code.map_err(Failure::Run)?))
    })
}

fn summary(network: &Network, report: Report, wall: f64) -> Summary {
    Summary {
        version: env!("CARGO_PKG_VERSION").into(),
        engine: "router".into(),
        seed: network.seed,
        simulated_s: report.end_s,
        window_s: (network.warmup.as_secs_f64().min(report.end_s), report.end_s),
        wall_s: wall,
        engine_seconds: report.end_s,
        events: report.events,
        bottleneck_packets: report.bottleneck_packets,
        links: report.links,
        router: Some(report.router),
        ..Summary::default()
    }
}
