//! The log of a flow or a user: the events of its connections, over TCP or QUIC.

use super::endpoint::{Action, Arrival, Subject};
use super::events::Events;
use super::recovery::Recovery;
use super::{quic, tcp};
use crate::end::End;
use crate::group::Group;
use sojourn_base::Time;
use sojourn_records::qlog::{QUIC, TCP, Vantage};
use sojourn_records::{LogId, Recorder};
use std::collections::BTreeMap;

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
        actions: &[Action],
    ) {
        let (log, mut events) = self.of(recorder, at, of);
        for action in actions {
            match action {
                Action::SegmentSent(segment, blocks) => {
                    tcp::sent(&mut events, of, segment, blocks, &mut log.sent_to);
                }
                Action::DatagramSent(ecn, packets) => quic::sent(&mut events, *ecn, packets),
                Action::PacketReceived(packet) => quic::received(&mut events, packet),
                Action::PacketDropped(packet, why) => quic::dropped(&mut events, packet, *why),
                Action::PacketLost(lost) => quic::lost(&mut events, *lost),
                &Action::ConnectionClosed { well } => match of.endpoint {
                    End::Tcp(_) => tcp::closed(&mut events, well),
                    End::Quic(_) => quic::closed(&mut events, well, of.end == 0),
                },
            }
        }
        log.recovery.update(&mut events, of, round_trip);
    }
}
