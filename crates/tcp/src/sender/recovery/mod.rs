//! Finding and repairing losses, in one of three ways.

mod arrival;
mod by_pipe;
mod delivery_rate;
mod log;
mod logged;
mod newreno;
mod rack;
mod sack;
mod scoreboard;
mod tlp;
mod transmit;

pub(super) use arrival::{Ack, Arrived, Lost};
pub(super) use logged::{BeforeTimeout, Logged};

use super::state::{Phase, SendState};
use crate::call::Call;
use crate::congestion::Window;
use crate::connection::{Connection, bit};
use crate::context::Context;
use crate::params::Params;
use crate::segment::{Flags, Output, SackBlock, Segment};
use alloc::boxed::Box;
use by_pipe::{ByPipe, transmit_by_pipe};
use newreno::NewReno;
use sack::Sack;
use sojourn_base::{Ecn, Time};

/// How a sender finds and repairs losses.
#[derive(Clone, Debug)]
pub(super) enum Recovery {
    /// By duplicate acknowledgements alone: RFC 6582.
    NewReno(NewReno),
    /// By a scoreboard of what is selectively acknowledged: RFC 6675.
    Sack(Sack),
    /// By a log of what was sent, as Linux: RFC 8985.
    Logged(Box<Logged>),
}

impl Recovery {
    /// Before the connection is established, and where settings need no log.
    pub(super) fn new(params: &Params) -> Self {
        if params.sack { Self::Sack(Sack::default()) } else { Self::NewReno(NewReno::default()) }
    }

    /// The connection is established.
    pub(super) fn establish(&mut self, s: &SendState, c: &Call<'_>) {
        if c.params.keeps_log {
            *self = Self::Logged(Box::new(Logged::new(c, s)));
        }
    }

    /// No memory from now on.
    pub(super) fn finish(&mut self) {
        *self = Self::NewReno(NewReno::default());
    }

    /// The log, and what works on it.
    #[inline]
    pub(super) fn logged(&mut self) -> Option<&mut Logged> {
        match self {
            Self::Logged(logged) => Some(logged),
            _ => None,
        }
    }

    /// When the earliest of the sender's timers runs out, that of retransmission at `rto_at`.
    #[inline]
    pub(super) fn deadline(&self, rto_at: Time) -> Time {
        match self {
            Self::Logged(logged) => logged.deadline(rto_at),
            _ => rto_at,
        }
    }

    /// When pacing lets the sender send on.
    pub(super) fn pace_at(&self) -> Time {
        match self {
            Self::Logged(logged) => logged.pace_at(),
            _ => Time::MAX,
        }
    }

    /// The codepoint of what is sent ECN-capable.
    pub(super) fn codepoint(&self, params: &Params, conn: &Connection) -> Ecn {
        match self {
            Self::Logged(logged) => logged.codepoint(params, conn),
            _ => params.ect,
        }
    }

    /// Bytes taken to be in the network.
    pub(super) fn pipe(&self, s: &SendState, c: &Call<'_>) -> u32 {
        match self {
            Self::NewReno(newreno) => newreno.pipe(s, c),
            Self::Sack(sack) => sack.pipe(s, c),
            Self::Logged(logged) => logged.pipe(c.conn),
        }
    }

    /// Whether any data are selectively acknowledged.
    pub(super) fn any_sacked(&self) -> bool {
        match self {
            Self::NewReno(_) => false,
            Self::Sack(sack) => sack.any_sacked(),
            Self::Logged(logged) => logged.log.sacked() > 0,
        }
    }

    /// Enters what an acknowledgement and its SACK blocks say has arrived.
    pub(super) fn arrived(
        &mut self,
        s: &mut SendState,
        c: &Call<'_>,
        segment: &Segment,
        sacks: &[SackBlock],
    ) -> Arrived {
        match self {
            Self::NewReno(newreno) => {
                newreno.arrived(segment.ack);
                Arrived::default()
            }
            Self::Sack(sack) => sack.arrived(s, c, segment.ack, sacks),
            Self::Logged(logged) => logged.arrived(s, c, segment, sacks),
        }
    }

    /// Finds what is lost by now.
    pub(super) fn lost(&mut self, s: &mut SendState, c: &Call<'_>, ack: &Ack) -> Lost {
        match self {
            Self::NewReno(newreno) => newreno.lost(s, c.params, ack),
            Self::Sack(sack) => sack.lost(s, c.params, ack),
            Self::Logged(logged) => logged.lost(s, c, ack.arrived.bytes),
        }
    }

    /// Whether an acknowledgement reports a mark; tells the algorithm what else it shows.
    pub(super) fn sample(&mut self, s: &mut SendState, c: &Call<'_>, ack: &Ack, lost: u32) -> bool {
        match self {
            Self::Logged(logged) => logged.sample(s, c, ack, lost),
            _ => ack.segment.flags.has(Flags::ECE) && c.conn.has(bit::ECN),
        }
    }

    /// A mark, reported when `flight` bytes were outstanding, reduces the window.
    pub(super) fn marked(&mut self, s: &mut SendState, c: &mut Call<'_>, ack: &Ack) {
        match self {
            Self::Logged(logged) => {
                logged.reduce_for_mark(s, c, ack.flight, ack.arrived.bytes);
                logged.undo.marked(s.phase >= Phase::Recovery);
            }
            _ => s.reduce_at_once(c, ack.flight),
        }
    }

    /// Whether the window is what held the sender back, with `flight` bytes outstanding.
    pub(super) fn cwnd_limited(&self, s: &SendState, params: &Params, flight: u32) -> bool {
        match self {
            Self::Logged(logged) => {
                !logged.reducing && logged.cwnd_limited.holds(s.window.cwnd, s.in_slow_start())
            }
            _ => flight + params.payload > s.window.cwnd,
        }
    }

    /// What `bytes` that were acknowledged in slow start count for.
    pub(super) fn watch_slow_start(
        &mut self,
        s: &mut SendState,
        c: &Call<'_>,
        bytes: u32,
        rtt: Option<Time>,
    ) -> u32 {
        match self {
            Self::Logged(logged) if !logged.reducing => logged.watch_slow_start(s, c, bytes, rtt),
            _ => bytes,
        }
    }

    /// Whether an acknowledgement outside of recovery shows a loss.
    pub(super) fn shows_loss(&self, lost: &Lost) -> bool {
        match self {
            // What a recovery that is over has sent again already is a loss of the next window,
            // which is to be reduced too (`tcp_time_to_recover` of Linux).
            Self::Logged(logged) => logged.log.any_lost(),
            _ => lost.found,
        }
    }

    /// Recovery begins; before it the window was `window`, and was reduced for it if `reduces`.
    pub(super) fn begin<O: Output>(
        &mut self,
        s: &mut SendState,
        cx: &mut Context<'_, O>,
        window: Window,
        reduces: bool,
        arrived: u32,
    ) {
        match self {
            Self::NewReno(newreno) => newreno.begin(s, cx),
            Self::Sack(sack) => sack.begin(s, cx),
            Self::Logged(logged) => logged.begin(s, cx.conn, window, reduces, arrived),
        }
    }

    /// A partial acknowledgement of `acked` bytes in recovery. Returns whether the timer restarts.
    pub(super) fn partial<O: Output>(
        &mut self,
        s: &mut SendState,
        cx: &mut Context<'_, O>,
        acked: u32,
    ) -> bool {
        match self {
            Self::NewReno(newreno) if acked > 0 => newreno.partial(s, cx, acked),
            _ => acked > 0,
        }
    }

    /// Recovery is over: the window after it.
    pub(super) fn window_after(&self, s: &SendState, c: &Call<'_>) -> u32 {
        match self {
            Self::NewReno(newreno) => newreno.window_after(s, c.params.payload, c.conn.in_flight()),
            Self::Logged(_) if !c.params.tuning.rules_recovery() => {
                s.window.ssthresh.max(c.params.payload)
            }
            _ => s.window.cwnd,
        }
    }

    /// The retransmission timer ran out.
    pub(super) fn timeout(&mut self, s: &mut SendState, c: &mut Call<'_>, was: BeforeTimeout) {
        let (una, nxt) = (c.conn.snd_una, c.conn.snd_nxt);
        match self {
            Self::NewReno(newreno) => newreno.timeout(una, nxt),
            Self::Sack(sack) => sack.timeout(una, nxt),
            Self::Logged(logged) => return logged.timeout(s, c, was),
        }
        c.conn.bits &= !bit::TIMED;
    }

    /// Sends what may be sent.
    #[inline]
    pub(super) fn transmit<O: Output>(&mut self, s: &mut SendState, cx: &mut Context<'_, O>) {
        match self {
            Self::Logged(logged) => {
                if logged.transmit(s, cx) {
                    logged.arm_probe(s, &cx.call);
                }
            }
            Self::NewReno(newreno) if s.phase == Phase::Loss => {
                transmit_by_pipe(newreno, s, cx);
            }
            Self::Sack(sack) if s.phase >= Phase::Recovery => {
                if transmit_by_pipe(sack, s, cx) {
                    sack.rescue(s, cx);
                }
            }
            // A receiver of data has nothing to send, mostly.
            Self::NewReno(_) | Self::Sack(_) if !s.has_new(cx.conn) => {}
            Self::NewReno(_) | Self::Sack(_) => s.send_window(cx),
        }
    }
}
