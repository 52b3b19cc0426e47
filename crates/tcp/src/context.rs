//! How the segments of an endpoint go out.

use crate::call::Call;
use crate::connection::bit;
use crate::ecn::Feedback;
use crate::params::Params;
use crate::receiver::Receiver;
use crate::segment::{COUNTER_BYTES, Flags, MOST_OPTIONS, Output, SackBlock, Segment};
use core::ops::{Deref, DerefMut};
use sojourn_base::{Ecn, Time};

/// Bytes of the SACK option without its blocks, two of padding among them, and of a block.
const SACK_BYTES: u8 = 4;
const BLOCK_BYTES: u8 = 8;

/// What a sender that sends works with: the call, the receiver that every segment acknowledges for,
/// and where segments go.
pub(crate) struct Context<'a, O> {
    pub call: Call<'a>,
    pub receiver: &'a mut Receiver,
    pub out: &'a mut O,
}

impl<'a, O> Deref for Context<'a, O> {
    type Target = Call<'a>;
    #[inline]
    fn deref(&self) -> &Call<'a> {
        &self.call
    }
}

impl<O> DerefMut for Context<'_, O> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.call
    }
}

impl<O: Output> Context<'_, O> {
    /// A segment without payload and options but timestamps.
    #[inline(always)]
    pub(crate) fn header(&mut self, seq: u32, flags: Flags) -> Segment {
        let params = self.params;
        // The settings first: they are at hand, the rest of the endpoint need not be.
        let counter = if params.feedback == Feedback::Counted && self.conn.counts_marks() {
            self.receiver.mark_counter()
        } else {
            Flags::NONE
        };
        Segment {
            seq,
            ack: self.conn.rcv_nxt,
            tsval: if params.timestamps { (self.now.0 / 1000) as u32 } else { 0 },
            tsecr: self.conn.ts_recent,
            window: self.receiver.window_field(params),
            len: 0,
            flags: flags | counter,
            ecn: Ecn::NotEct,
            options: params.options,
            sacks: 0,
        }
    }

    /// Hands a segment out. Every segment but the first carries an acknowledgement, so none need
    /// wait any more.
    #[inline(always)]
    pub(crate) fn put(&mut self, mut segment: Segment, sacks: &[SackBlock]) {
        if self.conn.has(bit::ECHO) {
            segment.flags |= Flags::ECE; // RFC 3168 section 6.1.3
        }
        self.conn.segments += 1;
        self.conn.ack_sent = segment.ack;
        self.conn.ack_at = Time::MAX;
        self.out.send(segment, sacks);
    }

    /// Sends a bare acknowledgement, with SACK blocks if there is a hole. `ect` is its codepoint
    /// where bare acknowledgements are ECN-capable.
    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, ect: Ecn) {
        let mut segment = self.header(self.conn.snd_nxt, Flags::ACK);
        if self.params.ect_control && self.conn.has(bit::ECN) {
            segment.ecn = ect;
        }
        let option = self.params.accecn_option
            && self.conn.feedback == Feedback::Counted
            && self.receiver.counters_moved();
        let mut blocks = [SackBlock::default(); 4];
        if option || self.receiver.has_sacks(self.params) {
            let bytes;
            (segment.sacks, bytes) = put_options(self.params, self.receiver, option, &mut blocks);
            segment.options += bytes;
        }
        self.put(segment, &blocks[..segment.blocks()]);
    }

    /// Acknowledges the peer's SYN-ACK; with AccECN the flags report how that came (RFC 9768
    /// section 3.2.2.1).
    pub(crate) fn acknowledge_handshake(&mut self, ect: Ecn) {
        let opening = self.conn.opening;
        self.receiver.report_handshake(Some(opening));
        self.acknowledge(ect);
        self.receiver.report_handshake(None);
    }
}

/// Writes the SACK blocks of an acknowledgement, and AccECN's option if `option`; gives
/// [`Segment::sacks`] and the bytes of both options.
#[cold]
#[inline(never)]
fn put_options(
    params: &Params,
    receiver: &mut Receiver,
    option: bool,
    blocks: &mut [SackBlock; 4],
) -> (u8, u8) {
    let mut most = usize::from(params.max_sacks);
    if option {
        let left = MOST_OPTIONS - params.options - COUNTER_BYTES - SACK_BYTES;
        most = most.min(usize::from(left / BLOCK_BYTES));
    }
    let count = receiver.sack_blocks(&mut blocks[..most]);
    let mut sacks = count as u8;
    let mut bytes = if count > 0 { SACK_BYTES + BLOCK_BYTES * sacks } else { 0 };
    if option {
        blocks[count] = receiver.accecn_option();
        sacks |= Segment::COUNTERS;
        bytes += COUNTER_BYTES;
    }
    (sacks, bytes)
}
