//! The run that tables are from.

use sojourn_scenario::Network;

/// The run that tables are from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provenance {
    /// The engine's name.
    pub engine: String,
    /// The seed.
    pub seed: u64,
    /// The scenario as JSON, every field said.
    pub scenario: String,
}

impl Provenance {
    /// A run of the network by an engine.
    #[must_use]
    pub fn of(engine: &str, network: &Network) -> Self {
        Self { engine: engine.into(), seed: network.seed, scenario: network.scenario.clone() }
    }
}
