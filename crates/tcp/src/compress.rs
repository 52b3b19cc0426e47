//! Fewer selective acknowledgements: what Linux's receivers do since 4.18 (`__tcp_ack_snd_check`,
//! `tcp_compressed_ack_kick`). Beyond a hole every segment would be acknowledged at once (RFC 5681
//! section 4.2). Here the first three are, so that the sender finds its loss; from then on, until the
//! hole is filled, one acknowledgement tells of what came in a twentieth of a round trip, or in a
//! millisecond.
//!
//! # Differences from Linux
//!
//! 1. The timer runs to the end of its slack; Linux's goes off before if the machine is awake in it.
//! 2. Segments that came twice are acknowledged at once; Linux's next sixteen then are, too.

use crate::Params;
use crate::endpoint::Endpoint;
use crate::receive::Reply;
use crate::segment::Output;
use sojourn_base::Time;

/// Segments above a hole that are acknowledged at once (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;
/// Segments that one acknowledgement may tell of (`tcp_comp_sack_nr`).
const MOST: u8 = 44;
/// The longest wait (`tcp_comp_sack_delay_ns`), the part of a round trip that it is otherwise, and
/// what the timer may be late (`tcp_comp_sack_slack_ns`).
const LONGEST: Time = Time::from_millis(1);
const PART: u64 = 20;
const SLACK: Time = Time::from_micros(100);

/// State of a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Compression {
    /// Where the hole begins.
    edge: u32,
    /// How many segments above it were acknowledged at once.
    at_once: u8,
    /// How many are not acknowledged yet.
    waiting: u8,
}

impl Compression {
    /// An acknowledgement goes out because the hole has become smaller, which begins it anew at `edge`.
    pub fn moved(&mut self, edge: u32) {
        *self = Self { edge, at_once: 1, waiting: 0 };
    }

    /// A segment came above a hole at `edge`: whether its acknowledgement may wait, when one is
    /// `pending` or not.
    fn waits(&mut self, edge: u32, pending: bool) -> bool {
        if self.edge != edge || !pending {
            self.waiting = 0;
        }
        if self.edge != edge {
            (self.edge, self.at_once) = (edge, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return false;
        }
        self.waiting += 1;
        self.waiting <= MOST
    }
}

impl Endpoint {
    /// A segment came beyond a hole, and nothing else asks for an acknowledgement at once.
    pub(crate) fn owes_sack(&mut self, params: &Params, now: Time) -> Reply {
        if !params.sack_compression {
            return Reply::Now;
        }
        let (edge, pending) = (self.rcv_nxt, self.ack_at != Time::MAX);
        let handshake = self.estimator.smoothed();
        let Some(t) = &mut self.tracked else { return Reply::Now };
        if !t.compression.waits(edge, pending) {
            return Reply::Now;
        }
        if !pending {
            let rtt = match t.space.round_trip() {
                Time::ZERO => handshake,
                seen if handshake == Time::ZERO => seen,
                seen => seen.min(handshake),
            };
            self.ack_at = now + LONGEST.min(Time(rtt.0 / PART)) + SLACK;
        }
        Reply::Later
    }

    /// Before a segment takes the place of a block that the waiting acknowledgement might not tell of
    /// any more, that one is sent (`tcp_sack_compress_send_ack`).
    pub(crate) fn tell_before(
        &mut self,
        params: &Params,
        now: Time,
        (seq, end): (u32, u32),
        out: &mut impl Output,
    ) {
        let waiting = self.ack_at != Time::MAX
            && self.tracked.as_ref().is_some_and(|t| t.compression.waiting > 0);
        let displaces = |held: &mut crate::reassembly::Reassembly| held.displaces(seq, end);
        if waiting && self.reassembly.as_deref_mut().is_some_and(displaces) {
            self.send_ack(params, now, out);
        }
    }
}
