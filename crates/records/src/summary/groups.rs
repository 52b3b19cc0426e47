//! Of a group of traffic and its flows: what applications got.

use super::finite;
use super::statistics::{Distribution, Quantiles, SECOND, ratio};
use serde::{Deserialize, Serialize};
use sojourn_traffic::Viewed;

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
