//! Logs of calls: media over RTP one way, feedback the other, what is lost of it and the rate that
//! follows. There is no draft for such events: docs/reference/qlog.md defines them.

use super::events::{Events, Raw, StateUpdated, ecn_name};
use crate::packet::{DATAGRAM_HEADER, RTP_HEADER};
use serde::Serialize;
use sojourn_base::{Ecn, Time};
use sojourn_records::qlog::{RTP, Vantage, milliseconds};
use sojourn_records::{LogId, Recorder};
use sojourn_traffic::{Arrival, Call, ControlState, Feedback, Media, Sender};

/// The log of a call: one file for the end that speaks, the client, and one for that which listens.
#[derive(Clone)]
pub(crate) struct CallLog {
    ids: [LogId; 2],
    /// What its settings are, until that is told.
    begins: Option<ParametersSet>,
    /// The packet behind the last that feedback has told of.
    next: u64,
    /// What was last written of the control.
    metrics: Metrics,
    state: Option<&'static str>,
}

/// `rtp:parameters_set`.
#[derive(Clone, Serialize)]
struct ParametersSet {
    congestion_control: &'static str,
    initial_bitrate: u64,
    min_bitrate: u64,
    max_bitrate: u64,
    frame_rate: u32,
    max_payload_length: u64,
}

#[derive(Serialize)]
struct Header {
    sequence_number: u64,
    frame: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    marker: bool,
}

/// `rtp:packet_sent` and `rtp:packet_received`.
#[derive(Serialize)]
struct Moved {
    header: Header,
    raw: Raw,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecn: Option<&'static str>,
}

/// A packet that feedback tells of.
#[derive(Serialize)]
struct Told {
    sequence_number: u64,
    arrival_time: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecn: Option<&'static str>,
}

/// `rtp:feedback_sent` and `rtp:feedback_received`.
#[derive(Serialize)]
struct FeedbackMoved {
    raw: Raw,
    packets: Vec<Told>,
}

/// `rtp:packet_lost`.
#[derive(Serialize)]
struct Lost {
    sequence_number: u64,
}

/// `rtp:recovery_metrics_updated`: what has changed.
#[derive(Clone, Copy, Default, PartialEq, Serialize)]
struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    target_bitrate: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u64>,
}

impl Metrics {
    fn of(state: &ControlState) -> Self {
        let whole = |value: f64| value.round() as u64;
        Self {
            target_bitrate: Some(whole(state.target)),
            smoothed_rtt: state.smoothed_rtt.map(|seconds| seconds * 1e3),
            congestion_window: state.window.map(whole),
            bytes_in_flight: state.in_flight.map(whole),
        }
    }

    /// What differs from `before`.
    fn since(&self, before: &Self) -> Self {
        fn changed<T: PartialEq>(now: Option<T>, before: Option<T>) -> Option<T> {
            if now == before { None } else { now }
        }
        Self {
            target_bitrate: changed(self.target_bitrate, before.target_bitrate),
            smoothed_rtt: changed(self.smoothed_rtt, before.smoothed_rtt),
            congestion_window: changed(self.congestion_window, before.congestion_window),
            bytes_in_flight: changed(self.bytes_in_flight, before.bytes_in_flight),
        }
    }
}

impl CallLog {
    /// Opens the logs of a call, if the recorder keeps files.
    pub(crate) fn open(recorder: &mut Recorder, flow: &str, call: &Call) -> Option<Self> {
        let mut end = |end| recorder.open_log(flow, end, RTP);
        Some(Self {
            ids: [end(Vantage::Client)?, end(Vantage::Server)?],
            begins: Some(ParametersSet {
                congestion_control: call.control.name(),
                initial_bitrate: call.initial_rate.0,
                min_bitrate: call.min_rate.0,
                max_bitrate: call.max_rate.0,
                frame_rate: call.frame_rate,
                max_payload_length: call.packet.0,
            }),
            next: 0,
            metrics: Metrics::default(),
            state: None,
        })
    }
}

/// The log of a call, and where it is written.
pub(crate) struct CallEvents<'a> {
    pub log: &'a mut CallLog,
    pub recorder: &'a mut Recorder,
}

impl CallEvents<'_> {
    /// Where the events of an end go. Says first with what settings the call begins.
    fn of(&mut self, at: Time, end: usize) -> Events<'_> {
        let ids = self.log.ids;
        let recorder = &mut *self.recorder;
        if let Some(settings) = self.log.begins.take() {
            for id in ids {
                Events { recorder, id, connection: 0, at }.add("rtp:parameters_set", &settings);
            }
        }
        Events { recorder, id: ids[end], connection: 0, at }
    }

    /// The sender sends a packet.
    pub(crate) fn sent(&mut self, at: Time, media: &Media, ecn: Ecn) {
        self.of(at, 0).add("rtp:packet_sent", &Moved::new(media, ecn));
    }

    /// It reaches the listener.
    pub(crate) fn received(&mut self, at: Time, media: &Media, ecn: Ecn) {
        self.of(at, 1).add("rtp:packet_received", &Moved::new(media, ecn));
    }

    /// The listener sends feedback.
    pub(crate) fn tells(&mut self, at: Time, feedback: &Feedback) {
        self.of(at, 1).add("rtp:feedback_sent", &FeedbackMoved::new(feedback));
    }

    /// The sender hears it: what it does not tell of is lost if it tells of later packets.
    pub(crate) fn hears(&mut self, at: Time, feedback: &Feedback) {
        let arrivals = &feedback.arrivals;
        let from = self.log.next;
        let to = arrivals.iter().map(|arrival| arrival.number + 1).fold(from, u64::max);
        self.log.next = to;
        let mut events = self.of(at, 0);
        events.add("rtp:feedback_received", &FeedbackMoved::new(feedback));
        for sequence_number in from..to {
            if !arrivals.iter().any(|arrival| arrival.number == sequence_number) {
                events.add("rtp:packet_lost", &Lost { sequence_number });
            }
        }
    }

    /// The sender was called: what has changed of its control.
    pub(crate) fn update(&mut self, at: Time, sender: &Sender) {
        let state = sender.control_state();
        let metrics = Metrics::of(&state);
        let changed = metrics.since(&self.log.metrics);
        if changed != Metrics::default() {
            self.log.metrics = metrics;
            self.of(at, 0).add("rtp:recovery_metrics_updated", &changed);
        }
        let old = std::mem::replace(&mut self.log.state, state.state);
        if let Some(new) = state.state.filter(|_| old != state.state) {
            self.of(at, 0).add("rtp:congestion_state_updated", &StateUpdated { old, new });
        }
    }
}

impl Moved {
    fn new(media: &Media, ecn: Ecn) -> Self {
        let length = media.ip_bytes - DATAGRAM_HEADER;
        Self {
            header: Header {
                sequence_number: media.number,
                frame: media.frame,
                marker: media.last,
            },
            raw: Raw {
                length: Some(u64::from(length)),
                payload_length: Some(u64::from(length - RTP_HEADER)),
            },
            ecn: (ecn != Ecn::NotEct).then(|| ecn_name(ecn)),
        }
    }
}

impl FeedbackMoved {
    fn new(feedback: &Feedback) -> Self {
        let told = |arrival: &Arrival| Told {
            sequence_number: arrival.number,
            arrival_time: milliseconds(arrival.at),
            ecn: arrival.marked.then(|| ecn_name(Ecn::Ce)),
        };
        Self {
            raw: Raw::whole(feedback.ip_bytes() - DATAGRAM_HEADER),
            packets: feedback.arrivals.iter().map(told).collect(),
        }
    }
}
