//! Logs of connections in the format of qlog (draft-ietf-quic-qlog-main-schema): a JSON text
//! sequence (RFC 7464), whose first record says what the log is of; every other is an event.
//!
//! Times are milliseconds since the start of the run, on its own clock. No date, no host name: the
//! same events give the same bytes.

use serde::{Serialize, Serializer};
use sojourn_base::Time;
use std::io::{Result, Write};

/// The event schema of QUIC (draft-ietf-quic-qlog-quic-events).
pub const QUIC: &str = "urn:ietf:params:qlog:events:quic";
/// The event schema of TCP: ours, as there is no draft for it. docs/reference/qlog.md has it.
pub const TCP: &str = "urn:sojourn:qlog:events:tcp";
/// The event schema of calls: ours, for the same reason.
pub const RTP: &str = "urn:sojourn:qlog:events:rtp";

/// Begins a record (RFC 7464 section 2.2).
const RECORD_SEPARATOR: u8 = 0x1e;

/// Whose log it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vantage {
    /// Of the end that opens connections.
    Client,
    /// Of the other.
    Server,
}

impl Vantage {
    /// As the draft has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// Writes one log.
pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins the log of an end of the flow called `flow`, with events of `schema`. `out` should be
    /// buffered.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(out: W, flow: &str, end: Vantage, schema: &str) -> Result<Self> {
        let mut writer = Self { out };
        writer.record(&LogFile {
            file_schema: "urn:ietf:params:qlog:file:sequential",
            serialization_format: "application/qlog+json-seq",
            trace: Trace {
                title: flow,
                common_fields: CommonFields {
                    time_format: "relative_to_epoch",
                    reference_time: ReferenceTime { clock_type: "monotonic", epoch: "unknown" },
                },
                vantage_point: VantagePoint { name: "sojourn", r#type: end.name() },
                event_schemas: [schema],
            },
        })?;
        Ok(writer)
    }

    /// Adds an event of the flow's connection of this number.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn event(
        &mut self,
        time: Time,
        name: &str,
        connection: u64,
        data: &impl Serialize,
    ) -> Result<()> {
        let group_id = Text(connection);
        self.record(&Event { time: milliseconds(time), name, group_id, data })
    }

    fn record(&mut self, record: &impl Serialize) -> Result<()> {
        self.out.write_all(&[RECORD_SEPARATOR])?;
        serde_json::to_writer(&mut self.out, record)?;
        self.out.write_all(b"\n")
    }

    /// What it writes to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// A time in the unit of all times in a log.
#[must_use]
pub fn milliseconds(time: Time) -> f64 {
    time.0 as f64 / 1e6
}

/// `QlogFileSeq` of the draft.
#[derive(Serialize)]
struct LogFile<'a> {
    file_schema: &'a str,
    serialization_format: &'a str,
    trace: Trace<'a>,
}

/// `TraceSeq`.
#[derive(Serialize)]
struct Trace<'a> {
    title: &'a str,
    common_fields: CommonFields,
    vantage_point: VantagePoint,
    event_schemas: [&'a str; 1],
}

#[derive(Serialize)]
struct CommonFields {
    time_format: &'static str,
    reference_time: ReferenceTime,
}

#[derive(Serialize)]
struct ReferenceTime {
    clock_type: &'static str,
    epoch: &'static str,
}

#[derive(Serialize)]
struct VantagePoint {
    name: &'static str,
    r#type: &'static str,
}

#[derive(Serialize)]
struct Event<'a, D> {
    time: f64,
    name: &'a str,
    group_id: Text,
    data: &'a D,
}

/// A number that the format wants as text.
struct Text(u64);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_a_sequence_of_json_texts() {
        let mut writer = Writer::new(Vec::new(), "bulk1.0", Vantage::Server, QUIC).unwrap();
        writer.event(Time::from_micros(1500), "quic:packet_lost", 7, &["data"]).unwrap();
        let text = String::from_utf8(writer.into_inner()).unwrap();
        let records: Vec<_> = text.split('\u{1e}').collect();
        assert_eq!((records.len(), records[0]), (3, ""));
        assert!(records[1..].iter().all(|record| record.ends_with('\n')));
        let head: serde_json::Value = serde_json::from_str(records[1]).unwrap();
        assert_eq!(head["trace"]["vantage_point"]["type"], "server");
        assert_eq!(head["trace"]["event_schemas"], serde_json::json!([QUIC]));
        assert_eq!(
            records[2],
            "{\"time\":1.5,\"name\":\"quic:packet_lost\",\"group_id\":\"7\",\"data\":[\"data\"]}\n"
        );
    }
}
