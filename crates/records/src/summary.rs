//! The summary of a run: the same document from every engine.
//!
//! Names carry their unit (`_s` seconds, `_bps` bits per second, `_bytes` bytes of IP packets);
//! counts have none. A quantity that is undefined (the loss of a link that saw no packet, the
//! quantiles of nothing, a rate over an empty window) is `None`, in JSON `null`: the document
//! never holds NaN or an infinity.

use crate::{CoarseHistogram, Histogram, Imbalance, LinkCounts};
use serde::{Deserialize, Serialize};
use sojourn_base::Time;
use sojourn_traffic::Viewed;

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

/// Real hosts: in what they differ from the scenario, and what their kernels counted in the whole
/// run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostsSummary {
    /// The kernel's release.
    pub kernel: String,
    /// One line for each setting that the kernel does not follow.
    pub differences: Vec<String>,
    /// Segments sent again, SYNs included.
    pub retransmitted_segments: u64,
    /// Packets with the mark CE that arrived.
    pub ce_packets: u64,
    /// Packets that arrived.
    pub received: u64,
    /// Duplicates that receivers told of.
    pub duplicates: u64,
}

impl Summary {
    /// The summary as one line of JSON.
    ///
    /// # Errors
    /// If a mandatory number is NaN or infinite, which is a fault of the engine.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// A copy with the wall-clock times at zero: equal for two runs of the same scenario and
    /// seed.
    #[must_use]
    pub fn without_wall_time(&self) -> Self {
        Self { wall_s: 0.0, engine_seconds: 0.0, ..self.clone() }
    }
}

/// One direction of one link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// The link's name.
    pub name: String,
    /// Its rate in bits per second, the mean over the window if it changes; `None` for an ideal
    /// link without one.
    pub rate_bps: Option<u64>,
    /// Bytes sent over those that the rate allowed in the window, 0 to 1; `None` without a rate.
    pub utilisation: Option<f64>,
    /// Bytes of IP packets sent in the window, as bits per second.
    pub throughput_bps: Option<f64>,
    /// Packets and bytes.
    #[serde(flatten)]
    pub counts: LinkCounts,
    /// `dropped` / `arrived`, 0 to 1.
    pub loss: Option<f64>,
    /// `marked` / `arrived`, 0 to 1.
    pub mark_fraction: Option<f64>,
    /// Length of the queue over time, in packets, without the packet in transmission.
    pub queue_packets: Quantiles,
    /// Length of the queue over time, in bytes, without the packet in transmission.
    pub queue_bytes: Quantiles,
    /// Waiting time in the queue of packets that were sent, in seconds.
    pub sojourn_s: Quantiles,
    /// The least length of the queue in a sliding window, in packets: its mean over time, and its
    /// maximum. What stands there however traffic comes and goes.
    #[serde(default)]
    pub standing_packets: Quantiles,
    /// The least waiting time in a sliding window, in seconds: mean over time, and maximum.
    #[serde(default)]
    pub standing_s: Quantiles,
    /// Packets lost on the wire, after their transmission; they are no drops of the queue.
    #[serde(default)]
    pub lost: u64,
    /// Bytes of those packets.
    #[serde(default)]
    pub lost_bytes: u64,
    /// The queue of the device below the discipline, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceSummary>,
}

impl LinkSummary {
    /// Checks that no packet and no byte appeared or vanished, at the queue, in the device and on
    /// the wire.
    ///
    /// # Errors
    /// The first law that does not hold.
    pub fn check_conservation(&self) -> Result<(), Imbalance> {
        let LinkCounts { dequeued, dequeued_bytes, .. } = self.counts;
        self.counts.check_conservation()?;
        let (mut sent, mut sent_bytes) = (dequeued, dequeued_bytes);
        if let Some(device) = &self.device {
            Imbalance::unless_equal(
                "packets in the device: queued at start + dequeued = sent + queued at end",
                [device.queued_at_start, dequeued],
                [device.sent, device.queued_at_end],
            )?;
            Imbalance::unless_equal(
                "bytes in the device: queued at start + dequeued = sent + queued at end",
                [device.queued_at_start_bytes, dequeued_bytes],
                [device.sent_bytes, device.queued_at_end_bytes],
            )?;
            (sent, sent_bytes) = (device.sent, device.sent_bytes);
        }
        Imbalance::unless_at_most("packets: lost <= sent", self.lost, sent)?;
        Imbalance::unless_at_most("bytes: lost <= sent", self.lost_bytes, sent_bytes)
    }
}

/// The queue of a device, between a link's discipline and its transmitter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Packets whose transmission began.
    pub sent: u64,
    /// Bytes of those packets.
    pub sent_bytes: u64,
    /// Packets in it when the window began.
    pub queued_at_start: u64,
    /// Bytes of those packets.
    pub queued_at_start_bytes: u64,
    /// Packets in it when the window ended.
    pub queued_at_end: u64,
    /// Bytes of those packets.
    pub queued_at_end_bytes: u64,
    /// Its length over time, in packets, without the packet in transmission.
    pub queue_packets: Quantiles,
    /// Its length over time, in bytes, without the packet in transmission.
    pub queue_bytes: Quantiles,
    /// Waiting time in it of packets that were sent, in seconds.
    pub sojourn_s: Quantiles,
    /// What stands in it, in packets: see the link's.
    pub standing_packets: Quantiles,
    /// What stands in it, as waiting time in seconds: see the link's.
    pub standing_s: Quantiles,
    /// The limit in bytes that byte queue limits had reached at the end; `None` without them.
    pub limit_bytes: Option<u64>,
}

/// Mean, quantiles and maximum of a distribution, in the unit its owner names; all `None` if
/// there were no values. Quantiles are within [`Histogram::ERROR`] (or
/// [`CoarseHistogram::ERROR`]); mean and maximum are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// 90 % of all values are no larger.
    pub p90: Option<f64>,
    /// 99 % of all values are no larger.
    pub p99: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
}

/// Nanoseconds in a second, the `unit` for histograms of nanoseconds.
const SECOND: f64 = 1e9;

impl Quantiles {
    /// The statistics of `histogram`, each divided by `unit`: 1 for packets and bytes, 1e9 for
    /// seconds from nanoseconds.
    #[must_use]
    pub fn of(histogram: &Histogram, unit: f64) -> Self {
        let at = |p| histogram.quantile(p);
        Self::from(histogram.mean(), at, histogram.max(), unit)
    }

    fn from(
        mean: Option<f64>,
        quantile: impl Fn(f64) -> Option<u64>,
        max: Option<u64>,
        unit: f64,
    ) -> Self {
        let at = |p| quantile(p).map(|v| v as f64 / unit);
        Self {
            mean: mean.map(|v| v / unit),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: max.map(|v| v as f64 / unit),
        }
    }

    /// The statistics of a histogram of nanoseconds, in seconds.
    #[must_use]
    pub fn seconds(histogram: &Histogram) -> Self {
        Self::of(histogram, SECOND)
    }

    /// The statistics of a coarse histogram of nanoseconds, in seconds.
    #[must_use]
    pub fn seconds_coarse(histogram: &CoarseHistogram) -> Self {
        let at = |p| histogram.quantile(p);
        Self::from(histogram.mean(), at, histogram.max(), SECOND)
    }
}

/// A distribution with its curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Mean, quantiles and maximum.
    #[serde(flatten)]
    pub quantiles: Quantiles,
    /// The distribution function as pairs (value, fraction of values at or below it), from
    /// (minimum, 0) to (maximum, 1); empty if there were no values.
    pub cdf: Vec<(f64, f64)>,
}

impl Distribution {
    /// Points of the curve that are kept: enough for a smooth figure, a few kilobytes.
    pub const POINTS: usize = 200;

    /// The distribution in a histogram of nanoseconds, in seconds.
    #[must_use]
    pub fn seconds(histogram: &Histogram) -> Self {
        let point = |(value, fraction)| (value as f64 / SECOND, fraction);
        Self {
            count: histogram.count(),
            quantiles: Quantiles::seconds(histogram),
            cdf: histogram.cdf(Self::POINTS).into_iter().map(point).collect(),
        }
    }
}

/// The router that real packets went through. Counts are of the whole run:
/// `received = delivered + refused + dropped + lost + held`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RouterSummary {
    /// Packets that hosts sent into it.
    pub received: u64,
    /// Packets that it handed to hosts.
    pub delivered: u64,
    /// Of those: together with the one before, as one.
    #[serde(default)]
    pub merged: u64,
    /// Packets that went no further, for one of the reasons below.
    pub refused: u64,
    /// Of those: no IP packet, or one whose lengths are wrong.
    pub malformed: u64,
    /// Of those: longer than the devices' MTU.
    pub too_long: u64,
    /// Of those: of or to an address that has no path here.
    pub unroutable: u64,
    /// Of those: no buffer was free.
    pub no_buffer: u64,
    /// Of those: the receiving host's kernel would not have it.
    pub undeliverable: u64,
    /// Packets that queues dropped.
    pub dropped: u64,
    /// Packets that wires lost.
    pub lost: u64,
    /// Packets that were under way at the end.
    pub held: u64,
    /// Packets delivered in the measuring window, and how much later than they should have been,
    /// in seconds.
    pub lateness_s: Distribution,
    /// The lateness that the 99th percentile must not exceed for the run to be trusted, in
    /// seconds.
    #[serde(serialize_with = "finite")]
    pub lateness_limit_s: f64,
    /// Whether it did: the machine was too busy, and delays may be wrong by that much.
    pub late: bool,
    /// Processor time of the router's thread, in seconds.
    #[serde(serialize_with = "finite")]
    pub cpu_s: f64,
}

/// One traffic group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The group's name.
    pub name: String,
    /// Its kind of traffic: `bulk`, `web`, `transfers`, `udp`, `onoff`, `replay`,
    /// `ping`, `video` or `call`.
    pub kind: String,
    /// Number of flows or users.
    pub members: u64,
    /// Bytes that reached their applications in the window, in order and once, as bits per
    /// second, over all members.
    pub goodput_bps: Option<f64>,
    /// Jain's fairness index of the members' goodputs, 1/n to 1; see [`jain`].
    pub jain: Option<f64>,
    /// Segments sent again; `None` from an engine without segments.
    pub retransmissions: Option<u64>,
    /// Expiries of the retransmission timer; `None` likewise.
    pub timeouts: Option<u64>,
    /// Exchanges or transfers that began in the window.
    pub started: u64,
    /// Exchanges or transfers that were complete at some time in the window.
    pub finished: u64,
    /// Exchanges or transfers whose connection gave up.
    pub failed: u64,
    /// Exchanges or transfers still under way at the end.
    pub censored: u64,
    /// Response times of those that finished, in seconds.
    pub response_time_s: Distribution,
    /// Times to the first byte of the same exchanges, in seconds: from when the request could be
    /// sent, its connection being open, to the first byte of the response; `None` if the group
    /// fetches no pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_s: Option<Distribution>,
    /// Round-trip times that the members' senders measured, in seconds.
    pub rtt_s: Quantiles,
    /// The pages that its users fetched; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PagesSummary>,
    /// How its calls went; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallSummary>,
    /// What its viewers saw; `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoSummary>,
}

/// How the calls of a group went in the window, together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallSummary {
    /// Frames whose time came.
    pub frames: u64,
    /// Of those, the share that was not there whole, 0 to 1.
    pub late: Option<f64>,
    /// Packets sent and not received, of those sent, 0 to 1.
    pub loss: Option<f64>,
    /// One-way delay of packets, in seconds.
    pub delay_s: Distribution,
}

/// The pages that began in the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PagesSummary {
    /// How many.
    pub begun: u64,
    /// Those that ended without all of their objects, as connections gave up.
    pub incomplete: u64,
    /// Those still under way at the end.
    pub censored: u64,
    /// Page load times of the others, in seconds: from the request of the first object (or the SYN
    /// of its connection) to the last byte of the last.
    pub load_time_s: Distribution,
    /// Times to the first byte of the same pages, in seconds: from the request of the document (or
    /// the SYN of its connection) to the document's first byte.
    #[serde(default)]
    pub first_byte_s: Distribution,
    /// Byte indices of the same pages, in seconds: the mean over a page's bytes of the time from
    /// its request to when the object that they belong to came whole.
    #[serde(default)]
    pub byte_index_s: Distribution,
}

/// What the viewers of a group saw in the window, together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VideoSummary {
    /// Seconds of playing.
    #[serde(serialize_with = "finite")]
    pub played_s: f64,
    /// Seconds of stalls; the wait for the beginning is none.
    #[serde(serialize_with = "finite")]
    pub stalled_s: f64,
    /// `stalled_s` / (`played_s` + `stalled_s`), 0 to 1.
    pub stalled: Option<f64>,
    /// Stalls that began.
    pub stalls: u64,
    /// Segments that came.
    pub segments: u64,
    /// The mean of their bit rates, in bits per second.
    pub bitrate_bps: Option<f64>,
    /// Segments whose bit rate was not that of the one before.
    pub switches: u64,
    /// Viewers for whom playing has begun since the start of the run.
    pub begun: u64,
    /// How long they waited for that, their mean in seconds.
    pub startup_s: Option<f64>,
}

impl VideoSummary {
    /// Of what viewers saw.
    #[must_use]
    pub fn of(viewed: &Viewed) -> Self {
        let watched = viewed.played + viewed.stalled;
        Self {
            played_s: viewed.played.as_secs_f64(),
            stalled_s: viewed.stalled.as_secs_f64(),
            stalled: ratio(viewed.stalled.0, watched.0),
            stalls: viewed.stalls,
            segments: viewed.segments,
            bitrate_bps: ratio(viewed.rates, viewed.segments),
            switches: viewed.switches,
            begun: viewed.begun,
            startup_s: ratio(viewed.startup.0, viewed.begun).map(|ns| ns / SECOND),
        }
    }
}

/// One flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSummary {
    /// Name of its group.
    pub group: String,
    /// Its number in the group, from 0.
    pub index: u64,
    /// Bytes that reached its application in the window, as bits per second.
    pub goodput_bps: Option<f64>,
    /// Mean one-way delay of its data packets, in seconds.
    pub delay_s: Option<f64>,
    /// Mean absolute difference of the one-way delays of successive data packets, in seconds (the
    /// packet delay variation of RFC 3393, with successive packets selected).
    pub jitter_s: Option<f64>,
    /// Dropped packets as a fraction of those sent, 0 to 1.
    pub loss: Option<f64>,
    /// Segments sent again; `None` from an engine without segments.
    pub retransmissions: Option<u64>,
    /// Expiries of the retransmission timer; `None` likewise.
    pub timeouts: Option<u64>,
    /// Round-trip times that its sender measured, in seconds.
    pub rtt_s: Quantiles,
}

/// `part / whole`, or `None` if `whole` is zero.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// `bytes` over `window` in bits per second, or `None` over no time.
#[must_use]
pub fn rate_bps(bytes: u64, window: Time) -> Option<f64> {
    (window > Time::ZERO).then(|| bytes as f64 * 8.0 / (window.0 as f64 / SECOND))
}

/// Jain's fairness index (Σx)² / (n·Σx²) of non-negative shares (Jain, Chiu, Hawe, DEC-TR-301,
/// 1984, equation 2): 1 if all are equal, 1/n if one has everything. `None` without shares or if
/// all are zero.
#[must_use]
pub fn jain(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        n += 1.0;
        sum += share;
        squares += share * share;
    }
    let index = sum * sum / (n * squares);
    (squares > 0.0 && index.is_finite()).then_some(index)
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

    #[test]
    fn ratios_over_nothing_are_undefined() {
        assert_eq!((ratio(1, 0), ratio(1, 4)), (None, Some(0.25)));
        assert_eq!(rate_bps(1000, Time::ZERO), None);
        assert_eq!(rate_bps(1_000, Time::from_millis(1)), Some(8_000_000.0));
    }

    #[test]
    fn jains_index_runs_from_one_over_n_to_one() {
        assert_eq!(jain([3.0, 3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain([8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!((jain([]), jain([0.0, 0.0])), (None, None));
    }
}
