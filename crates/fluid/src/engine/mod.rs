//! The fluid engine: a scenario of long flows, as classes and queues of the model of Misra, Gong
//! and Towsley.
//!
//! It takes the same normal form as the packet engine and gives the same summary and tables, as far
//! as a model without packets knows them: what it does not know, such as retransmissions, is left
//! out. `docs/explanation/fluid.md` says what is modelled and what is not.

mod classes;
mod error;
mod links;
mod measure;
mod read;
#[cfg(test)]
mod sampled;
mod summary;

use sojourn_records::{Clock, Recorder, Summary};
use sojourn_scenario::Network;

use crate::course::follow;
use crate::integrate::{Settings, Solver};
use crate::mgt::Mgt;
use measure::Measure;

pub use error::Error;
pub use read::{Member, Plan, read};

/// What a run has to do with whoever waits for it.
pub struct Control<'a> {
    /// Called now and then with the time reached, in seconds. If it says so, the run ends early; it
    /// still gives its summary.
    pub look: &'a dyn Fn(f64) -> bool,
    /// Times the run.
    pub clock: Clock,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Self { look: &|_| false, clock: Clock::default() }
    }
}

/// Runs a network to its end, or until `control` ends it. Records go to `recorder`, which is the
/// caller's to finish.
///
/// # Errors
/// If the scenario has something that the model cannot represent, or cannot be followed.
pub fn run(
    network: &Network,
    control: &Control<'_>,
    recorder: &mut Recorder,
) -> Result<Summary, Error> {
    let begun = control.clock.now();
    let plan = read(network)?;
    let mut measure = Measure::new(network, &plan, std::mem::take(recorder))?;
    let started = control.clock.now();
    let state = plan.parameters.empty();
    let start = plan.parameters.empty_past();
    let model = Mgt::new(plan.parameters.clone(), &state);
    let mut solver = Solver::new(model, 0.0, &start, state, Settings::default());
    let end = network.duration.as_secs_f64();
    let step = measure.step();
    let reached = follow(&mut solver, &start, step, end, control.look, |number, time, row, at| {
        measure.sample(number, time, row, at);
    });
    let reached = reached.map_err(|failure| {
        Error(format!(
            "the fluid engine stopped: {failure}; use fewer flows for the rate, or --engine packets"
        ))
    })?;
    measure.check_access()?;
    let engine = control.clock.now() - started;
    let mut summary = measure.summarise(network, reached, solver.work());
    *recorder = measure.into_recorder();
    summary.engine_seconds = engine;
    summary.wall_s = control.clock.now() - begun;
    Ok(summary)
}
