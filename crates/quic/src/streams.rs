//! Streams and their flow control (RFC 9000 sections 2 to 4), and which of them sends next: that of
//! the highest priority (RFC 9218). Those of the same take turns, a frame at a time, so that they
//! share a connection evenly whatever their sizes; if they are not incremental, one after another.
//!
//! # Differences from the source
//!
//! 1. All streams are bidirectional, and there is no limit to how many are open (section 4.6).
//!    They end with their last byte: no RESET_STREAM and no STOP_SENDING.
//! 2. The application takes data at once, so a window is short only of what is under way. The peer
//!    is granted more when half a window is used up; windows do not grow.
//! 3. A sender that flow control holds back does not say so (DATA_BLOCKED, section 4.1): grants
//!    are sent again when they are lost, so that none is missing for good.

mod table;

use self::table::{Fin, Stream, Table, UNKNOWN, class};
use crate::packet::StreamFrame;
use crate::params::Params;
use alloc::collections::VecDeque;

/// Where a stream comes in the queue: by its class, and if it takes no turns by its ID.
const fn rank(class: u8, id: u32) -> u64 {
    (class as u64) << 32 | if class & 1 == 1 { 0 } else { id as u64 }
}

const fn takes_turns(rank: u64) -> bool {
    rank >> 32 & 1 == 1
}

/// The streams of a connection.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Streams {
    /// Those that have something to send, by rank and in turn.
    queue: VecDeque<(u64, u32)>,
    /// Those whose grant is to be sent.
    grants: VecDeque<u32>,
    pub grant_all: bool,
    /// Who we are in that.
    own: u32,
    /// The peer's MAX_DATA, and what was sent of it.
    peer_max: u64,
    sent: u64,
    /// Our MAX_DATA, whether it is to be sent, and what was delivered.
    own_max: u64,
    pub delivered: u64,
    /// Bytes written here that the peer has acknowledged.
    pub acked: u64,
    /// Those that the client opened, and those that the server did: bit 0 of an ID (RFC 9000
    /// section 2.1).
    tables: [Table; 2],
}

/// What a STREAM frame brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Bytes that are delivered in order now.
    pub bytes: u64,
    /// Whether they are the first.
    pub first: bool,
    /// Whether with them all of the stream is.
    pub end: bool,
}

impl Streams {
    pub(crate) fn new(params: &Params, is_server: bool) -> Self {
        Self {
            tables: Default::default(),
            own: u32::from(is_server),
            queue: VecDeque::new(),
            grants: VecDeque::new(),
            peer_max: params.max_data.0,
            sent: 0,
            own_max: params.max_data.0,
            grant_all: false,
            delivered: 0,
            acked: 0,
        }
    }

    /// Opens a stream; its ID.
    pub(crate) fn open(&mut self, params: &Params) -> u32 {
        self.tables[self.own as usize].push(params) << 2 | self.own
    }

    /// A stream that is not over; one of a side's opens all before it (RFC 9000 section 3.2).
    fn reach(&mut self, params: &Params, id: u32) -> Option<&mut Stream> {
        let (table, number) = (&mut self.tables[(id & 1) as usize], id >> 2);
        while table.base + table.open.len() as u32 <= number {
            table.push(params);
        }
        table.get(number)
    }

    fn get(&mut self, id: u32) -> Option<&mut Stream> {
        self.tables[(id & 1) as usize].get(id >> 2)
    }

    /// Puts a stream that has something to send into the queue.
    fn queue(&mut self, id: u32) {
        let left = self.peer_max - self.sent;
        if let Some(stream) = self.get(id).filter(|s| !s.queued && s.can_send(left)) {
            stream.queued = true;
            let rank = rank(stream.class, id);
            self.line_up(rank, id);
        }
    }

    /// Puts a stream into the queue behind all of its rank and before those of a higher.
    #[inline]
    fn line_up(&mut self, rank: u64, id: u32) {
        if self.queue.back().is_none_or(|&(other, _)| other <= rank) {
            return self.queue.push_back((rank, id));
        }
        let behind = self.queue.partition_point(|&(other, _)| other <= rank);
        self.queue.insert(behind, (rank, id));
    }

    /// Gives a stream another priority, while it has nothing to send.
    pub(crate) fn prioritise(&mut self, params: &Params, id: u32, urgency: u8, incremental: bool) {
        if let Some(stream) = self.reach(params, id).filter(|stream| !stream.queued) {
            stream.class = class(urgency, incremental);
        }
    }

    /// Appends to what a stream is to send.
    pub(crate) fn write(&mut self, params: &Params, id: u32, bytes: u64) {
        if let Some(stream) = self.reach(params, id).filter(|s| s.fin == Fin::Open) {
            stream.send.written = stream.send.written.saturating_add(bytes);
            self.queue(id);
        }
    }

    /// A stream ends after what was written.
    pub(crate) fn finish(&mut self, params: &Params, id: u32) {
        if let Some(stream) = self.reach(params, id).filter(|s| s.fin == Fin::Open) {
            stream.fin = Fin::Due;
            self.queue(id);
        }
    }

    /// Calls `act` for every stream that is not over.
    fn each(&mut self, mut act: impl FnMut(&mut Self, u32)) {
        for side in 0..2 {
            let Table { base, ref open, .. } = self.tables[side];
            for number in base..base + open.len() as u32 {
                act(self, number << 2 | side as u32);
            }
        }
    }

    /// All streams end after what was written.
    pub(crate) fn finish_all(&mut self, params: &Params) {
        self.each(|streams, id| streams.finish(params, id));
    }

    /// Takes back what was written and not sent.
    pub(crate) fn cut(&mut self) {
        self.each(|streams, id| {
            if let Some(stream) = streams.get(id) {
                stream.send.cut();
            }
        });
    }

    /// Whether every stream is over in both directions.
    pub(crate) fn all_over(&self) -> bool {
        self.tables.iter().all(|table| table.open.is_empty())
    }

    /// Whether something may be sent as far as flow control goes.
    pub(crate) fn can_send(&self) -> bool {
        !self.queue.is_empty()
    }

    /// A frame of at most `room` bytes with its header, of the stream whose turn it is.
    pub(crate) fn take(&mut self, room: u32) -> Option<StreamFrame> {
        loop {
            let &(rank, id) = self.queue.front()?;
            let left = self.peer_max - self.sent;
            let Some(stream) = self.get(id) else {
                self.queue.pop_front();
                continue;
            };
            let limit = stream.limit(left);
            // Most frames fill a packet and have more of their stream behind them.
            let header = StreamFrame::header(id, stream.send.next, room);
            if room > header + 16
                && room < 1 << 16
                && let len = room - header
                && let Some(offset) = stream.send.take_new(u64::from(len), limit)
            {
                self.sent += u64::from(len);
                if takes_turns(rank) && self.queue.len() > 1 {
                    self.queue.pop_front();
                    self.line_up(rank, id);
                }
                return Some(StreamFrame { id, len: len as u16, fin: false, offset });
            }
            let Some(offset) =
                stream.send.offset(limit).or_else(|| stream.bare_fin().then_some(stream.send.next))
            else {
                stream.queued = false; // flow control; a grant puts it back
                self.queue.pop_front();
                continue;
            };
            if room < StreamFrame::LEAST {
                return None;
            }
            let header = StreamFrame::header(id, offset, room);
            // A frame of a few bytes would cost more than it carries.
            let least = u64::from(header) + stream.send.unsent().min(16);
            if u64::from(room) < least {
                return None;
            }
            let most = u64::from((room - header).min(u32::from(u16::MAX)));
            let (start, end, new) =
                stream.send.take(most, limit).unwrap_or((offset, offset, false));
            let fin = matches!(stream.fin, Fin::Due | Fin::Sent) && end == stream.send.written;
            if fin {
                stream.fin = Fin::Sent;
            }
            let len = end - start;
            let left = if new { left - len } else { left };
            let more = stream.can_send(left);
            stream.queued = more;
            if !more {
                self.queue.pop_front();
            } else if takes_turns(rank) && self.queue.len() > 1 {
                self.queue.pop_front();
                self.line_up(rank, id);
            }
            self.sent = self.peer_max - left;
            return Some(StreamFrame { id, len: len as u16, fin, offset: start });
        }
    }

    /// A frame was acknowledged.
    pub(crate) fn acknowledged(&mut self, frame: &StreamFrame) {
        let Some(stream) = self.get(frame.id) else { return };
        let end = frame.offset + u64::from(frame.len);
        let new = stream.send.acknowledged(frame.offset, end);
        if frame.fin {
            stream.fin = Fin::Acked;
        }
        let is_over = stream.is_over();
        self.acked += new;
        if is_over {
            self.tables[(frame.id & 1) as usize].tidy();
        }
    }

    /// A frame is to be sent again.
    pub(crate) fn lose(&mut self, frame: &StreamFrame) {
        let Some(stream) = self.get(frame.id) else { return };
        stream.send.lose(frame.offset, frame.offset + u64::from(frame.len));
        if frame.fin && stream.fin == Fin::Sent {
            stream.fin = Fin::Due;
        }
        self.queue(frame.id);
    }

    /// A frame has come.
    #[inline]
    pub(crate) fn come(&mut self, params: &Params, frame: &StreamFrame) -> Brought {
        let end = frame.offset + u64::from(frame.len);
        let Some(stream) = self.reach(params, frame.id) else { return Brought::default() };
        debug_assert!(end <= stream.own_max, "RFC 9000 section 4.1: more than was granted");
        let had_all = stream.has_all();
        let none_before = stream.receive.delivered == 0;
        let bytes = stream.receive.come(frame.offset, end);
        if frame.fin {
            stream.end = end;
        }
        let all = stream.has_all();
        let is_over = all && stream.is_over();
        let window = params.max_stream_data.0;
        let left = stream.own_max - stream.receive.delivered;
        let grants = bytes > 0 && stream.end == UNKNOWN && left < window / 2;
        if grants {
            stream.own_max = stream.receive.delivered + window;
        }
        if grants && !self.grants.contains(&frame.id) {
            self.grants.push_back(frame.id);
        }
        self.delivered += bytes;
        let window = params.max_data.0;
        if self.own_max - self.delivered < window / 2 {
            self.own_max = self.delivered + window;
            self.grant_all = true;
        }
        if is_over {
            self.tables[(frame.id & 1) as usize].tidy();
        }
        Brought { bytes, first: bytes > 0 && none_before, end: all && !had_all }
    }

    /// Our MAX_DATA.
    pub(crate) fn own_max(&self) -> u64 {
        self.own_max
    }

    /// A stream's MAX_STREAM_DATA that is to be sent.
    pub(crate) fn take_grant(&mut self) -> Option<(u32, u64)> {
        while let Some(id) = self.grants.pop_front() {
            if let Some(stream) = self.get(id).filter(|stream| stream.end == UNKNOWN) {
                return Some((id, stream.own_max));
            }
        }
        None
    }

    /// Whether a grant is to be sent.
    pub(crate) fn has_grants(&self) -> bool {
        self.grant_all || !self.grants.is_empty()
    }

    /// A MAX_STREAM_DATA was lost: the present one is to be sent.
    pub(crate) fn lose_grant(&mut self, id: u32) {
        if !self.grants.contains(&id) {
            self.grants.push_back(id);
        }
    }

    /// The peer's MAX_DATA; a smaller one than before is old (RFC 9000 section 4.1).
    pub(crate) fn on_max_data(&mut self, most: u64) {
        if most > self.peer_max {
            self.peer_max = most;
            self.each(Self::queue);
        }
    }

    /// The peer's MAX_STREAM_DATA of a stream.
    pub(crate) fn on_max_stream_data(&mut self, id: u32, most: u64) {
        if let Some(stream) = self.get(id) {
            stream.peer_max = stream.peer_max.max(most);
            self.queue(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use alloc::vec::Vec;
    use sojourn_base::Size;

    fn params(all: u64, each: u64) -> Params {
        let (max_data, max_stream_data) = (Some(Size(all)), Some(Size(each)));
        Spec::resolve(&[&Spec { max_data, max_stream_data, ..Spec::default() }]).unwrap()
    }

    fn taken(streams: &mut Streams, room: u32) -> Vec<(u32, u64, u16)> {
        core::iter::from_fn(|| streams.take(room)).map(|f| (f.id, f.offset, f.len)).collect()
    }

    #[test]
    fn streams_take_turns() {
        let p = params(1_000_000, 1_000_000);
        let mut streams = Streams::new(&p, false);
        let [a, b] = [streams.open(&p), streams.open(&p)];
        assert_eq!([a, b], [0, 4]);
        streams.write(&p, a, 2000);
        streams.write(&p, b, 1000);
        let frames = taken(&mut streams, 1006);
        // Type, ID, length of two bytes; the offset when it is not zero takes two more.
        assert_eq!(frames[..3], [(0, 0, 1002), (4, 0, 1000), (0, 1002, 998)]);
    }

    #[test]
    fn urgent_streams_come_first_and_those_that_are_not_incremental_in_one_piece() {
        let p = params(1_000_000, 1_000_000);
        let mut streams = Streams::new(&p, false);
        let ids: Vec<u32> = (0..4).map(|_| streams.open(&p)).collect();
        // Two pictures, then two scripts, the later one written first.
        for (at, urgency, incremental) in [(0, 5, true), (1, 5, true), (3, 3, false), (2, 3, false)]
        {
            streams.prioritise(&p, ids[at], urgency, incremental);
            streams.write(&p, ids[at], 3000);
        }
        let order = |streams: &mut Streams| -> Vec<u32> {
            taken(streams, 1100).iter().map(|frame| frame.0 / 4).collect()
        };
        let first = streams.take(1100).unwrap();
        assert_eq!(first.id, ids[2]);
        assert_eq!(order(&mut streams), [2, 2, 3, 3, 3, 0, 1, 0, 1, 0, 1]);
        // What is lost comes before all that is less urgent, in the place of its stream.
        streams.write(&p, ids[0], 1000);
        streams.write(&p, ids[3], 1000);
        streams.lose(&first);
        assert_eq!(order(&mut streams), [2, 3, 0]);
    }

    #[test]
    fn whatever_the_priorities_every_byte_is_sent_and_every_stream_ends() {
        let p = params(1_000_000, 60_000);
        let mut state = 1_u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        for _ in 0..50 {
            let mut streams = Streams::new(&p, false);
            let (mut wanted, mut flying) = (0, Vec::new());
            for _ in 0..1 + draw(20) {
                let (id, bytes) = (streams.open(&p), 1 + draw(50_000));
                streams.prioritise(&p, id, draw(8) as u8, draw(2) == 0);
                streams.write(&p, id, bytes);
                streams.finish(&p, id);
                wanted += bytes;
            }
            while streams.can_send() || !flying.is_empty() {
                if let Some(frame) = streams.take(100 + draw(1100) as u32) {
                    flying.push(frame);
                }
                if !flying.is_empty() && draw(2) == 0 {
                    let frame = flying.swap_remove(draw(flying.len() as u64) as usize);
                    if draw(5) == 0 {
                        streams.lose(&frame);
                    } else {
                        streams.acknowledged(&frame);
                        let end = StreamFrame { id: frame.id, len: 0, fin: true, offset: 0 };
                        streams.come(&p, &end);
                    }
                }
            }
            assert_eq!(streams.acked, wanted);
            assert!(streams.all_over());
        }
    }

    #[test]
    fn flow_control_of_a_stream_leaves_the_others_their_turn() {
        let p = params(1_000_000, 16_000);
        let mut streams = Streams::new(&p, false);
        let [a, b] = [streams.open(&p), streams.open(&p)];
        streams.write(&p, a, 20_000);
        streams.write(&p, b, 4000);
        let sum = |frames: &[(u32, u64, u16)], id| -> u32 {
            frames.iter().filter(|f| f.0 == id).map(|f| u32::from(f.2)).sum()
        };
        let frames = taken(&mut streams, 1200);
        assert_eq!((sum(&frames, a), sum(&frames, b)), (16_000, 4000));
        assert!(!streams.can_send());
        streams.on_max_stream_data(a, 18_000);
        assert_eq!(sum(&taken(&mut streams, 1200), a), 2000);
    }

    #[test]
    fn flow_control_of_the_connection_holds_all_new_data_and_no_old() {
        let p = params(16_000, 1_000_000);
        let mut streams = Streams::new(&p, false);
        let a = streams.open(&p);
        streams.write(&p, a, 20_000);
        let frames = taken(&mut streams, 1200);
        assert_eq!(frames.iter().map(|f| u32::from(f.2)).sum::<u32>(), 16_000);
        streams.lose(&StreamFrame { id: a, len: 100, fin: false, offset: 300 });
        assert_eq!(taken(&mut streams, 1200), [(a, 300, 100)]);
        streams.on_max_data(20_000);
        assert_eq!(taken(&mut streams, 10_000), [(a, 16_000, 4000)]);
    }

    #[test]
    fn a_receiver_grants_more_at_half_a_window() {
        let p = params(100_000, 16_000);
        let mut streams = Streams::new(&p, true);
        let frame = |offset, len| StreamFrame { id: 0, len, fin: false, offset };
        assert_eq!(streams.come(&p, &frame(0, 8000)).bytes, 8000);
        assert_eq!(streams.take_grant(), None);
        assert_eq!(streams.come(&p, &frame(8001, 99)).bytes, 0);
        assert_eq!(streams.come(&p, &frame(8000, 1)).bytes, 100);
        assert_eq!(streams.take_grant(), Some((0, 8100 + 16_000)));
        assert!(!streams.grant_all);
    }

    #[test]
    fn a_stream_is_over_when_both_ends_have_come() {
        let p = params(100_000, 16_000);
        let mut streams = Streams::new(&p, false);
        let a = streams.open(&p);
        streams.write(&p, a, 100);
        streams.finish(&p, a);
        let frame = streams.take(1200).unwrap();
        assert!(frame.fin);
        let end = streams.come(&p, &StreamFrame { id: a, len: 0, fin: true, offset: 0 });
        assert_eq!(end, Brought { bytes: 0, first: false, end: true });
        assert!(!streams.all_over());
        streams.lose(&frame);
        let again = streams.take(1200).unwrap();
        assert_eq!(again, frame);
        streams.acknowledged(&again);
        assert!(streams.all_over());
        assert_eq!(streams.acked, 100);
    }

    #[test]
    fn an_end_without_bytes_is_a_frame_of_its_own() {
        let p = params(100_000, 16_000);
        let mut streams = Streams::new(&p, true);
        streams.come(&p, &StreamFrame { id: 8, len: 10, fin: true, offset: 0 });
        streams.finish(&p, 8);
        let frame = streams.take(1200).unwrap();
        assert_eq!(frame, StreamFrame { id: 8, len: 0, fin: true, offset: 0 });
        streams.acknowledged(&frame);
        // The streams below it are open.
        assert!(!streams.all_over());
    }
}
