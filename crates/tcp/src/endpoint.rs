//! One end of a connection: its state, and the calls that an application and a network make.

use crate::Params;
use crate::congestion::{Congestion, Window};
use crate::params::Feedback;
use crate::reassembly::Reassembly;
use crate::rtt::Estimator;
use crate::scoreboard::Scoreboard;
use crate::segment::{Event, Flags, Output, SackBlock, Segment};
use crate::tracked::Tracked;
use alloc::boxed::Box;
use sojourn_base::{Ecn, Time};

/// Where a connection stands. Which halves are closed is told by bits, not by states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// A client that is not open yet.
    Idle,
    /// A server that waits for a SYN.
    Listen,
    /// A client whose SYN is on its way.
    SynSent,
    /// A server whose SYN-ACK is on its way.
    SynReceived,
    /// Data may flow, unless closed, either way.
    Established,
    /// All is done; a FIN that comes again is still acknowledged.
    Closed,
    /// Given up.
    Failed,
}

/// How the sender stands to loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Nothing amiss.
    Open,
    /// Duplicate acknowledgements or SACKs have come, too few to tell a loss from reordering.
    Disorder,
    /// Fast recovery (RFC 6675, RFC 6582).
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged.
    Loss,
}

/// Bits of [`Endpoint::bits`].
pub(crate) mod bit {
    /// The application writes no more.
    pub const CLOSING: u8 = 1;
    /// The FIN was sent: the last sequence number before `snd_nxt`.
    pub const FIN_SENT: u8 = 2;
    /// The peer's FIN was seen; everything up to `fin_end` is yet to come.
    pub const FIN_SEEN: u8 = 4;
    /// The peer's FIN and everything before it has arrived.
    pub const PEER_CLOSED: u8 = 8;
    /// Both ends agreed on ECN.
    pub const ECN: u8 = 16;
    /// A mark has arrived: echo it until the peer says CWR (RFC 3168 section 6.1.3), or, with
    /// exact feedback, until data come unmarked.
    pub const ECHO: u8 = 32;
    /// The window was reduced: tell the peer with the next new data (RFC 3168 section 6.1.2).
    pub const CWR: u8 = 64;
    /// The segment that ends at `timed_seq` is being timed.
    pub const TIMED: u8 = 128;
}

/// One end of a TCP connection, sender and receiver.
///
/// It does no I/O and reads no clock: every call is given the time, which must not run backwards,
/// and the [`Params`] that it was made with; what it does comes out of [`Output`]. The caller
/// calls [`Endpoint::on_timer`] at [`Endpoint::deadline`].
// Fields in the order of their heat: the first 128 bytes are what an acknowledgement needs.
#[derive(Debug)]
#[repr(C)]
pub struct Endpoint {
    /// First sequence number not acknowledged.
    pub(crate) snd_una: u32,
    /// Next sequence number to send for the first time.
    pub(crate) snd_nxt: u32,
    /// Next sequence number expected from the peer.
    pub(crate) rcv_nxt: u32,
    /// The peer's timestamp to echo.
    pub(crate) ts_recent: u32,
    /// When the retransmission timer runs out; with a log the earliest of the sender's timers.
    pub(crate) rto_at: Time,
    /// When an acknowledgement has waited long enough.
    pub(crate) ack_at: Time,
    pub(crate) state: State,
    pub(crate) phase: Phase,
    /// Duplicate acknowledgements in a row; in NewReno's recovery: not 0 before the first partial
    /// acknowledgement.
    pub(crate) dupacks: u8,
    pub(crate) bits: u8,
    /// The peer's receive window in bytes.
    pub(crate) peer_window: u32,
    /// Bytes written and not sent yet; `u64::MAX` for no end.
    pub(crate) unsent: u64,
    pub(crate) window: Window,
    /// What duplicate acknowledgements add to the congestion window (RFC 3042, RFC 6582), bytes.
    /// In a recovery with `simple_pipe`: bytes taken to be in the network.
    pub(crate) inflation: i32,
    /// The acknowledgement field last sent.
    pub(crate) ack_sent: u32,
    // 64
    pub(crate) estimator: Estimator,
    /// The present retransmission timeout, backed off where need be.
    pub(crate) rto: Time,
    /// When data were last sent.
    pub(crate) sent_at: Time,
    /// Bytes that were acknowledged.
    pub(crate) acked: u64,
    pub(crate) segments: u64,
    /// Where the timed segment ends.
    pub(crate) timed_seq: u32,
    /// Recovery ends when everything before here is acknowledged.
    pub(crate) recover: u32,
    /// What a small algorithm counts lies in its first half, which is still in the second line.
    pub(crate) control: Congestion,
    /// When the timed segment was sent.
    pub(crate) timed_at: Time,
    /// Bytes given to the application.
    pub(crate) delivered: u64,
    pub(crate) reassembly: Option<Box<Reassembly>>,
    pub(crate) scoreboard: Option<Box<Scoreboard>>,
    /// With a log of what was sent, once connected.
    pub(crate) tracked: Option<Box<Tracked>>,
    /// The window was last reduced with everything before here sent: no mark or loss reduces it
    /// again until that is acknowledged.
    pub(crate) reduced: u32,
    pub(crate) retransmissions: u32,
    pub(crate) timeouts: u32,
    pub(crate) syn_retries: u8,
    /// Timeouts in a row without progress.
    pub(crate) backoff: u8,
    /// How marks are told of, as both ends agreed.
    pub(crate) feedback: Feedback,
    /// The ECN field of the peer's SYN.
    pub(crate) opening: Ecn,
}

impl Endpoint {
    fn new(params: &Params, state: State, iss: u32) -> Self {
        Self {
            snd_una: iss,
            snd_nxt: iss,
            rcv_nxt: 0,
            ts_recent: 0,
            rto_at: Time::MAX,
            ack_at: Time::MAX,
            state,
            phase: Phase::Open,
            dupacks: 0,
            bits: 0,
            peer_window: 0,
            unsent: 0,
            window: Window { cwnd: params.initial_window, ssthresh: u32::MAX },
            inflation: 0,
            ack_sent: 0,
            estimator: Estimator::default(),
            rto: params.initial_rto,
            timed_at: Time::ZERO,
            sent_at: Time::ZERO,
            acked: 0,
            segments: 0,
            timed_seq: 0,
            control: Congestion::new(&params.congestion),
            delivered: 0,
            reassembly: None,
            scoreboard: None,
            tracked: None,
            recover: iss,
            reduced: iss,
            retransmissions: 0,
            timeouts: 0,
            syn_retries: 0,
            backoff: 0,
            feedback: params.feedback,
            opening: Ecn::NotEct,
        }
    }

    /// An end that will open a connection, with `iss` as its first sequence number.
    #[must_use]
    pub fn client(params: &Params, iss: u32) -> Self {
        Self::new(params, State::Idle, iss)
    }

    /// An end that waits for a connection, with `iss` as its first sequence number.
    #[must_use]
    pub fn server(params: &Params, iss: u32) -> Self {
        Self::new(params, State::Listen, iss)
    }

    /// Opens the connection; only for a client, and once.
    pub fn open(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.state == State::Idle {
            self.send_first_syn(params, now, out);
        }
    }

    /// Appends `bytes` to what is to be sent; `u64::MAX` for data without end. May be called
    /// before the connection is open; after [`Endpoint::close`] it does nothing.
    pub fn write(&mut self, params: &Params, now: Time, bytes: u64, out: &mut impl Output) {
        if self.bits & bit::CLOSING == 0 {
            self.unsent = self.unsent.saturating_add(bytes);
            self.push_alone(params, now, out);
        }
    }

    /// Sends a FIN after everything written. The other direction stays open.
    pub fn close(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.bits |= bit::CLOSING;
        self.push_alone(params, now, out);
    }

    /// Sends what may be sent, outside of any other call.
    fn push_alone(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.enter();
        self.push(params, now, out);
        self.leave();
    }

    /// Takes back what was written and not sent yet, and closes: what is under way is still
    /// brought to its end.
    pub fn cut(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.unsent = 0;
        self.close(params, now, out);
    }

    /// A segment has arrived, with its SACK blocks.
    #[inline]
    pub fn on_segment(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        sacks: &[SackBlock],
        out: &mut impl Output,
    ) {
        // Header prediction: the two segments that make up nearly all of a transfer.
        if self.state == State::Established && segment.flags == Flags::ACK {
            let acked = segment.ack.wrapping_sub(self.snd_una);
            if segment.len == 0 {
                let flight = self.snd_nxt.wrapping_sub(self.snd_una);
                if self.phase == Phase::Open
                    && segment.sacks == 0
                    && acked.wrapping_sub(1) < flight
                    && self.bits & bit::FIN_SENT == 0
                    && !params.tracked
                {
                    return self.expected_ack(params, now, segment, acked, flight, out);
                }
            } else if acked == 0
                && segment.seq == self.rcv_nxt
                && segment.ecn != Ecn::Ce
                && self.bits & params.watch == 0
                && u32::from(segment.len) <= params.receive_window
                && self.holds_nothing()
            {
                return self.expected_data(params, now, segment, out);
            }
        }
        self.enter();
        self.any_segment(params, now, segment, sacks, out);
        self.leave();
    }

    /// The time of [`Endpoint::deadline`] has come. Too early a call does nothing.
    #[cold]
    pub fn on_timer(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.ack_at <= now {
            self.send_ack(params, now, out);
        }
        if self.tracked.is_some() {
            return self.tracked_timer(params, now, out);
        }
        if self.rto_at <= now {
            match self.state {
                State::SynSent | State::SynReceived => self.syn_timeout(params, now, out),
                _ => self.timeout(params, now, out),
            }
        }
    }

    /// When [`Endpoint::on_timer`] is to be called next; [`Time::MAX`] for never. It may move
    /// with every other call.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.rto_at.min(self.ack_at)
    }

    /// No timers and no memory from now on.
    pub(crate) fn finish(&mut self, state: State, event: Event, out: &mut impl Output) {
        self.state = state;
        (self.rto_at, self.ack_at) = (Time::MAX, Time::MAX);
        (self.reassembly, self.scoreboard, self.tracked) = (None, None, None);
        self.unsent = 0;
        out.event(event);
    }
}

/// What it has counted, and how it stands.
impl Endpoint {
    /// Bytes given to the application.
    #[must_use]
    pub fn bytes_delivered(&self) -> u64 {
        self.delivered
    }
    /// Bytes written here that the peer has acknowledged.
    #[must_use]
    pub fn bytes_acked(&self) -> u64 {
        self.acked
    }
    /// Segments sent, of any kind.
    #[must_use]
    pub fn segments_sent(&self) -> u64 {
        self.segments
    }
    /// Segments with data or a FIN that were sent again.
    #[must_use]
    pub fn retransmissions(&self) -> u64 {
        u64::from(self.retransmissions)
    }
    /// How often the retransmission timer of data or a FIN ran out.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        u64::from(self.timeouts)
    }
    /// How often the timer of a SYN or SYN-ACK ran out.
    #[must_use]
    pub fn syn_retries(&self) -> u64 {
        u64::from(self.syn_retries)
    }
    /// Congestion window in bytes.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.window.cwnd
    }
    /// Slow-start threshold in bytes, once there was congestion.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        (self.window.ssthresh != u32::MAX).then_some(self.window.ssthresh)
    }
    /// Smoothed round-trip time, once there is a sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Time> {
        self.estimator.srtt()
    }
    /// The retransmission timeout that is in force.
    #[must_use]
    pub fn rto(&self) -> Time {
        self.rto
    }
    /// Sequence numbers sent and not acknowledged.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.snd_nxt.wrapping_sub(self.snd_una)
    }
    /// Bytes taken to be in the network: of what is not acknowledged, what neither has arrived nor
    /// is lost, and what was sent again (`pipe` of RFC 6675 section 4). Without a log of segments
    /// all that is not acknowledged.
    #[must_use]
    pub fn in_network(&self) -> u32 {
        let outstanding = self.in_flight();
        self.tracked.as_ref().map_or(outstanding, |tracked| tracked.log.pipe(outstanding))
    }
    /// Whether the handshake is over and the connection not yet.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.state == State::Established
    }
    /// Whether it is over: closed both ways, or failed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed | State::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::mem::offset_of;

    #[test]
    fn what_an_acknowledgement_needs_lies_in_two_cache_lines() {
        assert!(offset_of!(Endpoint, control) + size_of::<Congestion>() / 2 <= 128);
        assert!(size_of::<Congestion>() <= 16);
        assert!(size_of::<Endpoint>() <= 192, "{}", size_of::<Endpoint>());
    }
}
