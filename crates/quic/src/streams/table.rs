//! One stream, and those that one side opened.

use crate::buffer::{ReceiveBuffer, SendBuffer};
use crate::params::Params;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// Where the end of the sending side is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Fin {
    /// More may be written.
    #[default]
    Open,
    /// It is to be sent.
    Due,
    Sent,
    Acked,
}

/// A stream: a cache line for either direction, of which an end mostly uses one.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Stream {
    pub send: SendBuffer,
    /// The peer's MAX_STREAM_DATA.
    pub peer_max: u64,
    pub fin: Fin,
    /// Whether it is in the queue of those that have something to send.
    pub queued: bool,
    /// Whether something is to be sent again. What that is lies elsewhere.
    pub lost: bool,
    /// Its priority: see [`Streams::prioritise`].
    pub class: u8,
    pub receive: ReceiveBuffer,
    /// Where the receiving side ends, or [`UNKNOWN`].
    pub end: u64,
    /// Our MAX_STREAM_DATA.
    pub own_max: u64,
}

/// The end of a stream of which more may come.
pub(super) const UNKNOWN: u64 = u64::MAX;

/// The class of streams of which nothing is said: all alike, in turns.
const ALIKE: u8 = class(3, true);

pub(super) const fn class(urgency: u8, incremental: bool) -> u8 {
    urgency << 1 | incremental as u8
}

impl Stream {
    /// The same for another, or a first, with so much to be sent either way at first.
    pub(super) fn renew(&mut self, most: u64) {
        self.send.reset();
        self.receive.reset();
        (self.fin, self.queued, self.lost, self.class) = (Fin::Open, false, false, ALIKE);
        (self.peer_max, self.own_max, self.end) = (most, most, UNKNOWN);
    }

    /// Whether all has come.
    pub(super) fn has_all(&self) -> bool {
        self.end == self.receive.delivered
    }

    /// Whether both directions are over.
    pub(super) fn is_over(&self) -> bool {
        self.fin == Fin::Acked && self.send.all_acked() && self.has_all()
    }

    /// The first byte that may not be sent, `left` being what the connection has left.
    pub(super) fn limit(&self, left: u64) -> u64 {
        self.peer_max.min(self.send.next.saturating_add(left))
    }

    /// Whether there is something that may be sent.
    #[inline]
    pub(super) fn can_send(&self, left: u64) -> bool {
        self.send.next < self.send.written.min(self.limit(left)) || self.lost || self.bare_fin()
    }

    /// Whether only the end is to be sent.
    pub(super) fn bare_fin(&self) -> bool {
        self.fin == Fin::Due && self.send.unsent() == 0 && !self.lost
    }
}

/// The streams that one side opened, by number. Those that are over leave at the front, and memory
/// that they have is used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub base: u32,
    pub open: VecDeque<Stream>,
    pub spare: Vec<Stream>,
}

impl Table {
    pub(super) fn get(&mut self, number: u32) -> Option<&mut Stream> {
        self.open.get_mut(number.checked_sub(self.base)? as usize)
    }

    pub(super) fn push(&mut self, params: &Params) -> u32 {
        let mut stream = self.spare.pop().unwrap_or_default();
        stream.renew(params.max_stream_data.0);
        self.open.push_back(stream);
        self.base + self.open.len() as u32 - 1
    }

    pub(super) fn tidy(&mut self) {
        while self.open.front().is_some_and(Stream::is_over) {
            let has_memory = |s: &Stream| s.send.has_memory() || s.receive.has_memory();
            self.spare.extend(self.open.pop_front().filter(has_memory));
            self.base += 1;
        }
    }
}
