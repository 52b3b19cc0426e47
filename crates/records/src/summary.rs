//! The summary of a run: the same document from every engine.
//!
//! Names carry their unit (`_s` seconds, `_bps` bits per second, `_bytes` bytes of IP packets);
//! counts have none. A quantity that is undefined (the loss of a link that saw no packet, the
//! quantiles of nothing, a rate over an empty window) is `None`, in JSON `null`: the document
//! never holds NaN or an infinity.

mod groups;
mod lines;
mod links;
mod real;
mod statistics;

pub use groups::{CallSummary, FlowSummary, GroupSummary, PagesSummary, VideoSummary};
pub use links::{DeviceSummary, LinkSummary};
pub use real::{HostsSummary, RouterSummary};
use serde::{Deserialize, Serialize};
pub use statistics::{Distribution, Quantiles, jain, rate_bps, ratio};

/// What a run measured. Counts and quantiles cover the measuring window [`window_s`] only, which
/// begins after the warm-up; what is otherwise is said.
///
/// [`window_s`]: Self::window_s
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of Sojourn that made the run.
    pub version: String,
    /// The engine: `packets`, `fluid` or `linux`.
    pub engine: String,
    /// The scenario's name, possibly empty.
    pub name: String,
    /// The scenario's seed.
    pub seed: u64,
    /// Simulated time that was reached, in seconds since the start of the run.
    #[serde(serialize_with = "finite")]
    pub simulated_s: f64,
    /// Start and end of the measuring window, in seconds since the start of the run.
    #[serde(serialize_with = "both_finite")]
    pub window_s: (f64, f64),
    /// Wall-clock time of the whole run, set-up and files included, in seconds.
    #[serde(serialize_with = "finite")]
    pub wall_s: f64,
    /// Wall-clock time of the event loop alone, in seconds.
    #[serde(serialize_with = "finite")]
    pub engine_seconds: f64,
    /// Events handled in the whole run.
    pub events: u64,
    /// Packets that left the bottleneck links in the whole run: the numerator of the engine's
    /// speed.
    pub bottleneck_packets: u64,
    /// Whether the run was stopped before its scenario's end.
    pub stopped_early: bool,
    /// One entry per link, in the scenario's order; after all links, one per class of those whose
    /// discipline has classes, called LINK/CLASS.
    pub links: Vec<LinkSummary>,
    /// One entry per traffic group, in the scenario's order.
    pub groups: Vec<GroupSummary>,
    /// One entry per flow, when the scenario asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowSummary>,
    /// The real hosts; `None` from engines that compute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsSummary>,
    /// The router that real packets went through; `None` from engines without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub router: Option<RouterSummary>,
}

impl Summary {
    /// The summary as one line of JSON.
    ///
    /// # Errors
    /// If a mandatory number is NaN or infinite, which is a fault of the engine.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The summary as JSON with a line for each field.
    ///
    /// # Errors
    /// As for [`Self::to_json`].
    pub fn to_lines(&self) -> Result<String, serde_json::Error> {
        lines::of(self)
    }

    /// A copy with the wall-clock times at zero: equal for two runs of the same scenario and
    /// seed.
    #[must_use]
    pub fn without_wall_time(&self) -> Self {
        Self { wall_s: 0.0, engine_seconds: 0.0, ..self.clone() }
    }
}

fn finite<S: serde::Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if !value.is_finite() {
        return Err(serde::ser::Error::custom(format!("{value} in a summary")));
    }
    serializer.serialize_f64(*value)
}

fn both_finite<S: serde::Serializer>(value: &(f64, f64), serializer: S) -> Result<S::Ok, S::Error> {
    if !(value.0.is_finite() && value.1.is_finite()) {
        return Err(serde::ser::Error::custom(format!("{value:?} in a summary")));
    }
    value.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Histogram;

    fn sample() -> Summary {
        let mut times = Histogram::new();
        for ms in 1..=1000u64 {
            times.record(ms * 1_000_000);
        }
        Summary {
            version: "0.1.0".into(),
            simulated_s: 120.0,
            window_s: (20.0, 120.0),
            links: vec![LinkSummary { rate_bps: Some(100), ..LinkSummary::default() }],
            groups: vec![GroupSummary {
                response_time_s: Distribution::seconds(&times),
                ..GroupSummary::default()
            }],
            flows: vec![FlowSummary::default()],
            ..Summary::default()
        }
    }

    #[test]
    fn json_is_flat_and_reads_back_to_the_same_summary() {
        let summary = sample();
        let json = summary.to_json().unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["links"][0]["dropped_early_bytes"], 0);
        assert_eq!(value["links"][0]["queue_packets"]["p99"], serde_json::Value::Null);
        assert_eq!(value["groups"][0]["response_time_s"]["max"], 1.0);
        assert_eq!(value["groups"][0]["response_time_s"]["cdf"][0][1], 0.0);
        assert_eq!(value["window_s"], serde_json::json!([20.0, 120.0]));
    }

    #[test]
    fn undefined_numbers_become_null_or_an_error_but_never_nan() {
        let mut summary = sample();
        summary.links[0].loss = Some(f64::NAN);
        let json = summary.to_json().unwrap();
        assert!(json.contains("\"loss\":null") && !json.contains("NaN"));
        summary.simulated_s = f64::INFINITY;
        assert!(summary.to_json().unwrap_err().to_string().contains("inf in a summary"));
        for window_s in [(f64::NAN, 120.0), (20.0, f64::NAN)] {
            let error = Summary { window_s, ..sample() }.to_json().unwrap_err().to_string();
            assert!(error.contains("NaN") && error.contains("in a summary"), "{error}");
        }
    }

    #[test]
    fn quantiles_come_in_the_named_unit() {
        let d = &sample().groups[0].response_time_s;
        assert_eq!((d.count, d.quantiles.mean), (1000, Some(0.5005)));
        for (got, exact) in
            [(d.quantiles.p50, 0.5), (d.quantiles.p90, 0.9), (d.quantiles.p99, 0.99)]
        {
            assert!((got.unwrap() - exact).abs() <= exact * Histogram::ERROR);
        }
        assert!(d.cdf.len() <= Distribution::POINTS);
    }
}
