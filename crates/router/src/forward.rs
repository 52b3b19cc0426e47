//! The router: packets from one side through delays, queues and rate limiters to the other.
//!
//! It is a simulation of the network between the hosts in which real packets travel. Every packet
//! that is read becomes an event at that instant; events are handled in the order of their time,
//! each at *its* time however late the machine is awake; what comes out at the end of a path is
//! written when its time has come. So queues, limiters and disciplines see a network that is
//! exact, and being late costs delay and never rate. How late packets were is measured in each run.
//!
//! - [`Plan`]: what there is: links, and the path and delay of each endpoint.
//! - [`Core`]: the network itself, without sockets or clocks.
//! - [`Router`]: the thread that carries packets between the devices and the core.
//! - [`Report`]: what was counted and measured.

mod ack;
mod core;
mod held;
mod lateness;
mod parse;
mod plan;
mod probes;
mod report;
mod routes;
mod run;
mod slab;

pub use self::core::{Core, Output};
pub use lateness::Lateness;
pub use plan::{Block, Foreign, Plan, TRANSFERS};
pub use report::{Counts, LinkSnapshot, Report, Snapshot};
pub(crate) use run::prefer_this_thread;
pub use run::{Clock, Control, Router, Settings};

#[cfg(test)]
mod tests {
    use sojourn_scenario::{Network, Scenario};
    use std::path::Path;

    /// The network of a scenario's text.
    pub(super) fn network(text: &str) -> Network {
        let scenario = Scenario::from_toml(text, "test").unwrap_or_else(|e| panic!("{e}"));
        scenario.network(Path::new(".")).unwrap_or_else(|e| panic!("{e}"))
    }

    /// A dumbbell of this rate with one flow.
    pub(super) fn dumbbell(rate: &str) -> Network {
        network(&format!(
            "duration = \"10s\"\n[bottleneck]\nrate = \"{rate}\"\ndelay = \"1ms\"\n\
             [[traffic]]\nkind = \"bulk\"\n"
        ))
    }
}
