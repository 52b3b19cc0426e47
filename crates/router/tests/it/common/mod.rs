//! A router between two namespaces, for tests that need root.
#![allow(dead_code, reason = "each test uses a part")]

use sojourn_records::Recorder;
use sojourn_router::forward::{Clock, Control, Foreign, Plan, Report, Router, Settings};
use sojourn_router::net::address::Side;
use sojourn_router::net::{Device, Error, Lab};
use sojourn_scenario::{Network, Scenario};
use std::path::Path;
use std::sync::atomic::Ordering;

/// The network of a scenario's text.
pub(crate) fn network(text: &str) -> Network {
    let scenario = Scenario::from_toml(text, "test").unwrap_or_else(|e| panic!("{e}"));
    scenario.network(Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
}

/// A dumbbell with the given lines in `[bottleneck]`, for one bulk flow.
pub(crate) fn dumbbell(bottleneck: &str) -> Network {
    network(&format!(
        "duration = \"1h\"\n[bottleneck]\n{bottleneck}\n[[traffic]]\nkind = \"bulk\"\n"
    ))
}

/// Both sides, or none, said loudly, where namespaces cannot be had.
pub(crate) fn lab(
    test: &str,
    variables: &[(&str, &str)],
) -> Option<(Lab, [sojourn_router::net::Tun; 2])> {
    match Lab::new(&Device::default(), variables) {
        Ok(lab) => Some(lab),
        Err(why @ (Error::System { .. } | Error::Tun { .. } | Error::Privilege { .. })) => {
            // Straight to the terminal: the harness keeps what succeeding tests print.
            let line = format!("\nSKIPPED: {test} because {why}\n");
            let _ = std::fs::write("/dev/stderr", line);
            None
        }
    }
}

/// Runs `work` with a router of this network between the sides. Packets of devices and endpoints
/// take the first group's path.
pub(crate) fn with_router<T: Send>(
    network: Network,
    tuns: [sojourn_router::net::Tun; 2],
    work: impl FnOnce() -> T + Send,
) -> (T, Report) {
    with_settings(network, tuns, Settings::default(), work)
}

/// The same with a router that runs as `settings` say.
pub(crate) fn with_settings<T: Send>(
    network: Network,
    tuns: [sojourn_router::net::Tun; 2],
    settings: Settings,
    work: impl FnOnce() -> T + Send,
) -> (T, Report) {
    let plan = Plan::new(network, Foreign::Like(0)).unwrap();
    let router = Router::new(&plan, tuns, Recorder::none(), settings).unwrap();
    let control = Control::default();
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| router.run(Clock::start(), &control, None).unwrap().0);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        control.stop.store(true, Ordering::Relaxed);
        let report = thread.join().unwrap();
        match result {
            Ok(result) => (result, report),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The address that servers of tests listen at.
pub(crate) fn server() -> std::net::Ipv4Addr {
    Side::Right.device()
}
