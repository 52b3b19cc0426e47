//! Logs of flows in the format of qlog: what each end of a connection or of a call sends, receives
//! and takes for lost, and what that means for its window or its rate. Nothing here changes a
//! decision.
//!
//! While an endpoint is called, what it does is noted; once the call is over, the notes become
//! events, and after them what has changed of the endpoint.

mod quic;
mod recovery;
mod rtp;
mod tcp;

pub(crate) use rtp::{CallEvents, CallLog};

use crate::end::End;
use crate::group::Group;
use recovery::Recovery;
use sojourn_base::{Ecn, Time};
use sojourn_quic::{Packet as QuicPacket, Unread};
use sojourn_records::qlog::{QUIC, TCP, Vantage};
use sojourn_records::{LogId, Recorder};
use sojourn_tcp::{SackBlock, Segment};
use std::collections::BTreeMap;

/// What an endpoint does during a call.
#[derive(Clone)]
pub(crate) enum Doing {
    /// Sends a segment of TCP.
    Segment(Segment, Vec<SackBlock>),
    /// Sends a datagram of QUIC.
    Datagram(Ecn, Vec<QuicPacket>),
    /// Reads a packet of QUIC that has come.
    Reads(QuicPacket),
    /// Does not.
    Drops(QuicPacket, Unread),
    /// Takes a packet of QUIC for lost.
    Lost(sojourn_quic::Lost),
    /// Closes the connection as it should be, or gives it up.
    Ends { well: bool },
}

/// A packet that has arrived.
pub(crate) enum Arrival<'a> {
    Segment(&'a Segment, &'a [SackBlock]),
    Datagram(Ecn, &'a [QuicPacket]),
}

/// The log of a flow or a user: one file for either end, with all its connections.
#[derive(Clone)]
pub(crate) struct FlowLog {
    ids: [LogId; 2],
    /// The connections by their generations, and their numbers from 0, which both ends give them.
    connections: BTreeMap<u32, (u64, [ConnectionLog; 2])>,
}

/// What is known of a connection at one end, so that only what changes is written down.
#[derive(Clone, Default)]
struct ConnectionLog {
    /// Its settings have been told.
    begun: bool,
    recovery: Recovery,
    /// What was sent ends here, of TCP.
    sent_to: Option<u32>,
}

/// An endpoint that is logged.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// 0, the client, or 1, the server.
    pub end: usize,
    /// Of its connection.
    pub generation: u32,
    pub endpoint: &'a End,
    pub group: &'a Group,
}

/// Where the events of an end go.
struct Events<'a> {
    recorder: &'a mut Recorder,
    id: LogId,
    connection: u64,
    at: Time,
}

impl Events<'_> {
    fn add(&mut self, name: &str, data: &impl serde::Serialize) {
        self.recorder.log(self.id, self.at, name, self.connection, data);
    }
}

impl FlowLog {
    /// Opens the logs of a flow, if the recorder keeps files.
    pub(crate) fn open(recorder: &mut Recorder, flow: &str, group: &Group) -> Option<Self> {
        let schema = if group.quic.is_some() { QUIC } else { TCP };
        let mut end = |end| recorder.open_log(flow, end, schema);
        let ids = [end(Vantage::Client)?, end(Vantage::Server)?];
        Some(Self { ids, connections: BTreeMap::new() })
    }

    /// What is known of a connection at an end, and where its events go. Says with what settings
    /// a new one begins.
    fn of<'a>(
        &mut self,
        recorder: &'a mut Recorder,
        at: Time,
        of: Subject<'_>,
    ) -> (&mut ConnectionLog, Events<'a>) {
        let number = self.connections.len() as u64;
        let (connection, ends) =
            self.connections.entry(of.generation).or_insert_with(|| (number, Default::default()));
        let log = &mut ends[of.end];
        let mut events = Events { recorder, id: self.ids[of.end], connection: *connection, at };
        if !log.begun {
            log.begun = true;
            match &of.group.quic {
                Some(params) => quic::begins(&mut events, params),
                None => tcp::begins(&mut events, &of.group.tcp),
            }
        }
        (log, events)
    }

    /// A packet reaches an end, before that is called.
    pub(crate) fn arrived(
        &mut self,
        recorder: &mut Recorder,
        at: Time,
        of: Subject<'_>,
        arrival: &Arrival<'_>,
    ) {
        let (_, mut events) = self.of(recorder, at, of);
        match arrival {
            Arrival::Segment(segment, blocks) => {
                tcp::received(&mut events, of.group, segment, blocks);
            }
            Arrival::Datagram(ecn, packets) => quic::arrived(&mut events, *ecn, packets),
        }
    }

    /// An end was called and has done this; it may have measured a round trip.
    pub(crate) fn called(
        &mut self,
        recorder: &mut Recorder,
        at: Time,
        of: Subject<'_>,
        round_trip: Option<Time>,
        doings: &[Doing],
    ) {
        let (log, mut events) = self.of(recorder, at, of);
        for doing in doings {
            match doing {
                Doing::Segment(segment, blocks) => {
                    tcp::sent(&mut events, of, segment, blocks, &mut log.sent_to);
                }
                Doing::Datagram(ecn, packets) => quic::sent(&mut events, *ecn, packets),
                Doing::Reads(packet) => quic::received(&mut events, packet),
                Doing::Drops(packet, why) => quic::dropped(&mut events, packet, *why),
                Doing::Lost(lost) => quic::lost(&mut events, *lost),
                &Doing::Ends { well } => match of.endpoint {
                    End::Tcp(_) => tcp::closed(&mut events, well),
                    End::Quic(_) => quic::closed(&mut events, well, of.end == 0),
                },
            }
        }
        log.recovery.update(&mut events, of, round_trip);
    }
}

/// An ECN field as the drafts write it.
fn ecn_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ce => "CE",
    }
}

/// `congestion_state_updated`.
#[derive(serde::Serialize)]
struct StateUpdated {
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<&'static str>,
    new: &'static str,
}

/// Bytes of something on the wire: `RawInfo` of draft-ietf-quic-qlog-main-schema.
#[derive(serde::Serialize)]
struct Raw {
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload_length: Option<u64>,
}

impl Raw {
    fn whole(length: impl Into<u64>) -> Self {
        Self { length: Some(length.into()), payload_length: None }
    }

    fn payload(length: impl Into<u64>) -> Self {
        Self { length: None, payload_length: Some(length.into()) }
    }
}
