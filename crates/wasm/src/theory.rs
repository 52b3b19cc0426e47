//! Loops about their operating points.

use crate::words;
use serde_json::json;
use sojourn_fluid::linear::{Bottleneck, Columns};
use sojourn_scenario::Scenario;

fn asked(description: &str) -> Result<Bottleneck, String> {
    sojourn_scenario::from_json(description).map_err(|error| error.to_string())
}

/// A loop about its operating point, as JSON.
///
/// # Errors
/// What is wrong with the description.
pub fn linearise(description: &str) -> Result<String, String> {
    let found = asked(description)?.linearise()?;
    serde_json::to_string(&found).map_err(|error| error.to_string())
}

/// The loop of a scenario's long flows over its bottleneck, in the complex plane: JSON with its
/// `point`, margins and words, and frequencies, real and imaginary parts, one after another.
///
/// # Errors
/// What is wrong with the scenario, or that there is no linear model of it.
pub fn nyquist(toml: &str) -> Result<(String, Vec<f64>), String> {
    let scenario = Scenario::from_toml(toml, "scenario").map_err(words)?;
    let (found, curve) = Bottleneck::of(&scenario.outline().map_err(words)?)?.nyquist()?;
    let mut about = serde_json::to_value(&curve).map_err(words)?;
    about["point"] = serde_json::to_value(&found.point).map_err(words)?;
    Ok((about.to_string(), [curve.omega, curve.real, curve.imaginary].concat()))
}

/// Phase margins of many loops. `asking` is JSON with the `description` that they share and the
/// names of `columns`, whose `values` follow one another. Returns JSON with name and length of each
/// column of the answer, and their values, likewise.
///
/// # Errors
/// What is wrong with the description or the columns.
pub fn margins(asking: &str, values: &[f64]) -> Result<(String, Vec<f64>), String> {
    let asking: serde_json::Value =
        serde_json::from_str(asking).map_err(|error| error.to_string())?;
    let names = asking["columns"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<&str> = names.iter().filter_map(|name| name.as_str()).collect();
    if names.is_empty() || !values.len().is_multiple_of(names.len()) || values.is_empty() {
        return Err("columns: there must be some, of one length above 0".into());
    }
    let columns = names.iter().copied().zip(values.chunks_exact(values.len() / names.len()));
    let columns = Columns::new(columns.collect())?;
    let rows = asked(&asking["description"].to_string())?.margins(&columns)?;
    let (mut names, mut found) = (Vec::new(), Vec::new());
    for (name, values) in rows.arrays() {
        names.push((name, values.len()));
        found.extend(values);
    }
    Ok((json!(names).to_string(), found))
}
