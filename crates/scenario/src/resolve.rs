//! From a scenario to the network that engines take, with all checks on the way.

mod changes;
mod links;
mod probes;
mod start;

use std::path::Path;

use crate::error::{Error, Fault};
use crate::network::Network;
use crate::scenario::Scenario;

impl Scenario {
    /// The normal form that engines take. Paths of files in the scenario are relative to
    /// `base_dir`.
    ///
    /// # Errors
    /// If a file that the scenario names cannot be used; if a web group still has a load instead
    /// of users; and, for a scenario that was built or changed in a program, whatever reading it
    /// from a file would have found.
    pub fn network(&self, base_dir: &Path) -> Result<Network, Error> {
        network(self, Some(base_dir)).map_err(|fault| self.locate(fault))
    }

    /// The same as far as the text alone says it: no file is read, what stands in it has values
    /// that mean nothing, and web groups may have a load.
    ///
    /// # Errors
    /// As for [`Scenario::network`], files and loads apart.
    pub fn outline(&self) -> Result<Network, Error> {
        network(self, None).map_err(|fault| self.locate(fault))
    }
}

/// Makes the normal form. Without `base_dir` files are not looked at and loads need not be
/// resolved yet: what can be said of the text alone.
pub(crate) fn network(scenario: &Scenario, base_dir: Option<&Path>) -> Result<Network, Fault> {
    let mut network = start::network(scenario, base_dir)?;
    network.changes = changes::resolve(scenario, &network.links, &network.groups, base_dir)?;
    // A mere check has no use for it.
    network.scenario = base_dir.map(|_| scenario.to_json()).unwrap_or_default();
    Ok(network)
}
