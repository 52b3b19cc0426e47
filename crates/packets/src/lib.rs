#![doc = include_str!("../README.md")]
//!
//! A run is built from the scenario's normal form ([`sojourn_scenario::Network`]) and driven by a
//! queue of events. Disciplines, TCP and traffic are those of their own crates; what is here moves
//! packets between them in the right order and counts.
//!
//! Hops on which nothing can happen but waiting are not simulated as events of their own:
//! transmissions on links whose discipline decides at enqueue, private links, ideal links, and the
//! last hop into a host that is not about to do anything else. `packets.unfused = true` makes
//! events of all but the private and ideal ones; results are the same to the bit.

mod apps;
mod build;
mod connection;
mod end;
mod end_id;
mod error;
mod events;
mod group;
mod interface;
mod net;
mod observation;
mod out;
mod packet;
mod prefetch;
mod probes;
mod qlog;
mod quic;
mod room;
mod run;
mod side;
mod sim;
mod simulation;
mod starts;
mod summary;
mod tap;
mod timers;
mod tls;
mod wheel;

pub use error::Error;
pub use observation::{
    FlowObservation, GroupObservation, LinkObservation, Observation, QueuedPacket,
};
pub use simulation::Simulation;
pub use sojourn_records::{CallSummary, Clock, Provenance, Recorder, Summary, VideoSummary};

use sojourn_base::Time;
use sojourn_scenario::Network;

/// What a run has to do with whoever waits for it.
pub struct Control<'a> {
    /// Called every 16384 events with the simulated time reached and the packets that have left the
    /// bottleneck's queue. If it says so, the run ends early; it still gives its summary.
    pub look: &'a dyn Fn(Time, u64) -> bool,
    /// Times the run.
    pub clock: Clock,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Self { look: &|_, _| false, clock: Clock::default() }
    }
}

/// Runs a network to its end, or until `control` ends it. Records go to `recorder`, which is the
/// caller's to finish.
///
/// # Errors
/// If the network holds something that cannot be built. Everything that a scenario can get wrong
/// has been refused when the network was made, so this is rare.
pub fn run(
    network: Network,
    control: &Control<'_>,
    recorder: &mut Recorder,
) -> Result<Summary, Error> {
    let begun = control.clock.now();
    let duration = network.duration;
    let mut simulation = Simulation::fixed(network, std::mem::take(recorder))?;
    simulation.run_until(duration, control)?;
    let mut summary;
    (summary, *recorder) = simulation.finish();
    summary.wall_s = control.clock.now() - begun;
    Ok(summary)
}
