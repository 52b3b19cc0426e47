//! What a table's file says of itself: the units of its columns, and the run that it is from.

use super::row::Row;
use parquet::file::metadata::KeyValue;
use serde_json::{Map, json};
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

/// The metadata of the file of table `R`. The same run has the same, so there is no date in it.
pub(super) fn metadata<R: Row>(run: Option<&Provenance>) -> Vec<KeyValue> {
    let pair = |key: &str, value: String| KeyValue::new(format!("sojourn.{key}"), value);
    let columns: Map<_, _> = R::COLUMNS
        .iter()
        .map(|column| {
            let about = json!({ "unit": column.unit, "meaning": column.about });
            (column.name.to_string(), about)
        })
        .collect();
    let mut pairs = vec![
        pair("version", env!("CARGO_PKG_VERSION").into()),
        pair("columns", json!(columns).to_string()),
    ];
    if let Some(run) = run {
        pairs.push(pair("engine", run.engine.clone()));
        pairs.push(pair("seed", run.seed.to_string()));
        pairs.push(pair("scenario", run.scenario.clone()));
    }
    pairs
}
