//! The tables: one struct per table, one field per column.

use super::FILES;
use super::cell::{Cell, Column, FlowId, GroupId, LinkId, Outcome};
use super::row::{Row, TableSchema};
use crate::FlowSummary;
use sojourn_base::Time;

macro_rules! optional {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

macro_rules! tables {
    ($(
        $(#[$outer:meta])*
        $slot:ident: $row:ident {
            $($(#[doc = $about:literal])+ $field:ident: $type:ty $(as $unit:literal)?,)*
        }
    )*) => {
        $(
            $(#[$outer])*
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $row {
                $($(#[doc = $about])+ pub $field: $type,)*
            }

            impl Row for $row {
                const NAME: &'static str = stringify!($slot);
                const COLUMNS: &'static [Column<Self>] = &[$(Column {
                    name: stringify!($field),
                    about: if FILES { concat!($($about),+).trim_ascii() } else { "" },
                    unit: optional!($($unit)?),
                    kind: <$type as Cell>::KIND,
                    optional: <$type as Cell>::OPTIONAL,
                    fill: |rows, out| {
                        for row in rows {
                            row.$field.put(out);
                        }
                    },
                }),*];
            }
        )*

        /// The schemas of all tables.
        #[must_use]
        pub fn table_schemas() -> Vec<TableSchema> {
            vec![$(TableSchema {
                name: $row::NAME,
                columns: $row::COLUMNS
                    .iter()
                    .map(|c| (c.name, c.kind, c.optional, c.about))
                    .collect(),
            }),*]
        }
    };
}

tables! {
    /// A link's queue at one sampling instant, with what happened since the one before.
    queues: QueueRow {
        /// The sampling instant, in seconds since the start of the run.
        time_s: Time as "s",
        /// The link.
        link: LinkId,
        /// Packets in the queue at that instant, without the one in transmission.
        packets: u64 as "packets",
        /// Bytes in the queue at that instant, without the packet in transmission.
        bytes: u64 as "B",
        /// The discipline's probability of dropping or marking at that instant, 0 to 1.
        probability: f64 as "1",
        /// Packets that entered the queue in the interval.
        entered: u64 as "packets",
        /// Packets dropped in the interval, for any reason.
        dropped: u64 as "packets",
        /// Packets marked CE in the interval.
        marked: u64 as "packets",
        /// Packets whose transmission began in the interval.
        dequeued: u64 as "packets",
        /// Bytes of those packets.
        dequeued_bytes: u64 as "B",
        /// The link's rate at that instant, in bits per second.
        rate_bps: u64 as "bit/s",
        /// The least length of the queue in the window before, in packets.
        standing_packets: u64 as "packets",
        /// The least waiting time in the window before, in seconds; null before the first.
        standing_s: Option<Time> as "s",
        /// Packets lost on the wire in the interval.
        lost: u64 as "packets",
        /// Packets in the device's queue at that instant.
        device_packets: u64 as "packets",
        /// Bytes in the device's queue at that instant.
        device_bytes: u64 as "B",
    }

    /// Arrivals at a link in one short interval. Intervals without arrivals have no row.
    packet_counts: PacketCountRow {
        /// Start of the interval, in seconds since the start of the run.
        time_s: Time as "s",
        /// The link.
        link: LinkId,
        /// Packets offered to the link's queue.
        packets: u64 as "packets",
        /// Their bytes.
        bytes: u64 as "B",
    }

    /// The state of a chosen flow's sender when it changed.
    traces: TraceRow {
        /// The instant, in seconds since the start of the run.
        time_s: Time as "s",
        /// The flow, as `group.index`.
        flow: FlowId,
        /// Congestion window in bytes.
        cwnd_bytes: u64 as "B",
        /// Slow-start threshold in bytes; null before the first congestion event.
        ssthresh_bytes: Option<u64> as "B",
        /// Smoothed round-trip time in seconds; null before the first sample.
        srtt_s: Option<Time> as "s",
        /// Bytes taken to be in the network: sent, neither known to have arrived nor lost (hosts
        /// of the packet engine without SACK, RACK and their like: all that is not acknowledged).
        in_flight_bytes: u64 as "B",
        /// Payload bytes of its connection acknowledged so far; null in the fluid engine. A flow
        /// that begins another transfer begins again at 0.
        acked_bytes: Option<u64> as "B",
    }

    /// One request of a web user and its response.
    exchanges: ExchangeRow {
        /// The traffic group.
        group: GroupId,
        /// The user's number in the group, from 0.
        user: u32,
        /// First SYN of the connection, or the request on an open one, in seconds since the start
        /// of the run.
        started_s: Time as "s",
        /// When the request could be sent, likewise: it was made, and its connection was open, the
        /// handshake of TLS included.
        requested_s: Time as "s",
        /// Arrival of the first byte of the response, likewise; null if there was none.
        first_byte_s: Option<Time> as "s",
        /// Arrival of the last byte of the response, likewise; null if there was none.
        finished_s: Option<Time> as "s",
        /// Size of the request in bytes.
        request_bytes: u64 as "B",
        /// Size of the whole response in bytes.
        response_bytes: u64 as "B",
        /// From start to finish in seconds; null unless it finished.
        response_time_s: Option<Time> as "s",
        /// From the request to the first byte of the response in seconds; null if there was none.
        time_to_first_byte_s: Option<Time> as "s",
        /// Expiries of the retransmission timer, both ends.
        timeouts: u32 as "timeouts",
        /// Segments sent again, both ends.
        retransmissions: u32 as "segments",
        /// SYN and SYN-ACK segments sent again.
        syn_retries: u32 as "segments",
        /// `finished`, `censored` (the run ended first) or `failed` (the connection gave up).
        outcome: Outcome,
    }

    /// One page of a web user that ended.
    pages: PageRow {
        /// The traffic group.
        group: GroupId,
        /// The user's number in the group, from 0.
        user: u32,
        /// First SYN of the document's connection, or its request on an open one, in seconds since
        /// the start of the run.
        started_s: Time as "s",
        /// Arrival of the first byte of the document, likewise; null if there was none.
        first_byte_s: Option<Time> as "s",
        /// Arrival of the last byte of the last object, likewise, or when the last was given up.
        finished_s: Time as "s",
        /// Objects that came.
        objects: u32 as "objects",
        /// Bytes of their responses.
        bytes: u64 as "B",
        /// From start to finish in seconds; null unless all objects came.
        load_time_s: Option<Time> as "s",
        /// From start to the first byte of the document in seconds; null if there was none.
        time_to_first_byte_s: Option<Time> as "s",
        /// The byte index in seconds; null unless all objects came.
        byte_index_s: Option<Time> as "s",
        /// `finished`, or `failed`: an object is missing, as its connection gave up.
        outcome: Outcome,
    }

    /// One finite transfer.
    transfers: TransferRow {
        /// The traffic group.
        group: GroupId,
        /// The transfer's number in the group, from 0, in the order of arrival.
        index: u64,
        /// First SYN of the connection, in seconds since the start of the run.
        started_s: Time as "s",
        /// Arrival of the last byte, likewise; null if it did not.
        finished_s: Option<Time> as "s",
        /// Size in bytes.
        bytes: u64 as "B",
        /// From start to finish in seconds; null unless it finished.
        duration_s: Option<Time> as "s",
        /// Expiries of the retransmission timer.
        timeouts: u32 as "timeouts",
        /// Segments sent again.
        retransmissions: u32 as "segments",
        /// SYN and SYN-ACK segments sent again.
        syn_retries: u32 as "segments",
        /// `finished`, `censored` (the run ended first) or `failed` (the connection gave up).
        outcome: Outcome,
    }

    /// One flow over the whole measuring window: the summary's per-flow part as a table.
    flows: FlowRow {
        /// The traffic group.
        group: GroupId,
        /// The flow's number in the group, from 0.
        index: u64,
        /// Bytes that reached its application, as bits per second.
        goodput_bps: Option<f64> as "bit/s",
        /// Mean one-way delay of its data packets in seconds.
        delay_s: Option<f64> as "s",
        /// Mean absolute difference of successive one-way delays in seconds.
        jitter_s: Option<f64> as "s",
        /// Dropped packets as a fraction of those sent, 0 to 1.
        loss: Option<f64> as "1",
        /// Segments sent again; null from an engine without segments.
        retransmissions: Option<u64> as "segments",
        /// Expiries of the retransmission timer; null likewise.
        timeouts: Option<u64> as "timeouts",
        /// Median of the measured round-trip times in seconds.
        rtt_p50_s: Option<f64> as "s",
        /// 90 % of the measured round-trip times are no larger, in seconds.
        rtt_p90_s: Option<f64> as "s",
        /// 99 % of the measured round-trip times are no larger, in seconds.
        rtt_p99_s: Option<f64> as "s",
    }
}

impl FlowRow {
    /// The row of `flow`, whose group is `group`.
    #[must_use]
    pub const fn new(group: GroupId, flow: &FlowSummary) -> Self {
        Self {
            group,
            index: flow.index,
            goodput_bps: flow.goodput_bps,
            delay_s: flow.delay_s,
            jitter_s: flow.jitter_s,
            loss: flow.loss,
            retransmissions: flow.retransmissions,
            timeouts: flow.timeouts,
            rtt_p50_s: flow.rtt_s.p50,
            rtt_p90_s: flow.rtt_s.p90,
            rtt_p99_s: flow.rtt_s.p99,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_meaning_and_times_carry_their_unit() {
        let schemas = table_schemas();
        let names: Vec<_> = schemas.iter().map(|s| s.name).collect();
        assert_eq!(
            names,
            ["queues", "packet_counts", "traces", "exchanges", "pages", "transfers", "flows"]
        );
        for schema in schemas {
            for (name, _, _, about) in schema.columns {
                assert!(about.ends_with('.'), "{}.{name}: {about:?}", schema.name);
                let seconds = about.contains("seconds") || about.contains("likewise");
                assert!(!name.ends_with("_s") || seconds, "{}.{name}: {about}", schema.name);
            }
        }
    }
}
