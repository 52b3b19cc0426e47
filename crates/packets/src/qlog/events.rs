//! Events of qlog: where those of an end go, and what all protocols have in common.

use serde::Serialize;
use sojourn_base::{Ecn, Time};
use sojourn_records::{LogId, Recorder};

/// Where the events of an end go.
pub(super) struct Events<'a> {
    pub recorder: &'a mut Recorder,
    pub id: LogId,
    pub connection: u64,
    pub at: Time,
}

impl Events<'_> {
    pub(super) fn add(&mut self, name: &str, data: &impl Serialize) {
        self.recorder.log(self.id, self.at, name, self.connection, data);
    }
}

/// An ECN field as the drafts write it.
pub(super) fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ce => "CE",
    }
}

/// `congestion_state_updated`.
#[derive(Serialize)]
pub(super) struct StateUpdated {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<&'static str>,
    pub new: &'static str,
}

/// Bytes of something on the wire: `RawInfo` of draft-ietf-quic-qlog-main-schema.
#[derive(Serialize)]
pub(super) struct Raw {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_length: Option<u64>,
}

impl Raw {
    pub(super) fn whole(length: impl Into<u64>) -> Self {
        Self { length: Some(length.into()), payload_length: None }
    }

    pub(super) fn payload(length: impl Into<u64>) -> Self {
        Self { length: None, payload_length: Some(length.into()) }
    }
}
