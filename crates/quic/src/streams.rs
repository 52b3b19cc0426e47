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
//! 4. What a stream has lost goes ahead of its own new data, when it is the stream's turn; RFC 9000
//!    section 13.3 would have it go ahead of those of other streams too.

mod table;
#[cfg(test)]
mod tests;

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

    /// Streams at the front of the queue that cannot send, by flow control or because what they
    /// lost has come after all, leave it; a grant puts them back.
    #[inline]
    fn settle(&mut self) {
        while let Some(&(_, id)) = self.queue.front() {
            let left = self.peer_max - self.sent;
            match self.get(id) {
                Some(stream) if stream.can_send(left) => return,
                Some(stream) => stream.queued = false,
                None => {}
            }
            self.queue.pop_front();
        }
    }

    /// The stream whose turn it was has more to send: others of its rank come first.
    #[inline(always)]
    fn take_turns(&mut self, rank: u64, id: u32) {
        if takes_turns(rank) && self.queue.len() > 1 {
            self.queue.pop_front();
            self.line_up(rank, id);
        }
    }

    /// A frame that fills `room` bytes with its header, if the stream whose turn it is lost nothing
    /// and has more than that to send.
    #[inline(always)]
    pub(crate) fn take_full(&mut self, room: u32) -> Option<StreamFrame> {
        // The length takes two bytes.
        if !(128..1 << 14).contains(&room) {
            return None;
        }
        let &(rank, id) = self.queue.front()?;
        let left = self.peer_max - self.sent;
        let stream = self.get(id).filter(|stream| !stream.lost)?;
        let limit = stream.limit(left);
        let len = room - StreamFrame::header(id, stream.send.next, room);
        let offset = stream.send.take_new(u64::from(len), limit)?;
        self.sent += u64::from(len);
        self.take_turns(rank, id);
        self.settle();
        Some(StreamFrame { id, len: len as u16, fin: false, offset })
    }

    /// A frame of at most `room` bytes with its header, of the stream whose turn it is.
    pub(crate) fn take(&mut self, room: u32) -> Option<StreamFrame> {
        self.settle();
        let &(rank, id) = self.queue.front()?;
        let left = self.peer_max - self.sent;
        let stream = self.get(id)?;
        let limit = stream.limit(left);
        // What can send has this or only its end to send.
        let offset = stream.send.offset(limit).unwrap_or(stream.send.next);
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
        let (start, end, new) = stream.send.take(most, limit).unwrap_or((offset, offset, false));
        stream.lost = stream.send.has_lost();
        let fin = matches!(stream.fin, Fin::Due | Fin::Sent) && end == stream.send.written;
        if fin {
            stream.fin = Fin::Sent;
        }
        let len = end - start;
        let left = if new { left - len } else { left };
        let more = stream.can_send(left);
        stream.queued = more;
        self.sent = self.peer_max - left;
        if more {
            self.take_turns(rank, id);
        } else {
            self.queue.pop_front();
        }
        Some(StreamFrame { id, len: len as u16, fin, offset: start })
    }

    /// A frame was acknowledged.
    pub(crate) fn acknowledged(&mut self, frame: &StreamFrame) {
        let Some(stream) = self.get(frame.id) else { return };
        let end = frame.offset + u64::from(frame.len);
        let new = if stream.lost {
            let new = stream.send.acknowledged(frame.offset, end);
            stream.lost = stream.send.has_lost();
            new
        } else {
            stream.send.acknowledged_new(frame.offset, end)
        };
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
        stream.lost = stream.send.has_lost();
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
