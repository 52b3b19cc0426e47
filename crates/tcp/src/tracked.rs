//! What a sender keeps that logs its segments: the log and what works on it. Endpoints that do not
//! ask for any of it have none, and take the ways of `ack.rs` and `recovery.rs`.

use crate::Params;
use crate::accecn::Counts;
use crate::compress::Compression;
use crate::endpoint::{Endpoint, Phase};
use crate::hybrid::Hybrid;
use crate::hystart::HyStart;
use crate::log::{Log, Record, state};
use crate::offload::Offload;
use crate::pace::Pacer;
use crate::prr::Prr;
use crate::rack::{MinRtt, Rack};
use crate::rate::{Delivered, Newest};
use crate::rtt::Held;
use crate::segment::{Output, SackBlock, before};
use crate::space::Space;
use crate::tlp::Probe;
use crate::undo::Undo;
use crate::unused::Unused;
use sojourn_base::Time;

/// The state.
#[derive(Clone, Debug)]
pub(crate) struct Tracked {
    pub log: Log,
    pub delivered: Delivered,
    pub min_rtt: MinRtt,
    pub rack: Rack,
    pub prr: Prr,
    /// The window comes down after a mark.
    pub reducing: bool,
    pub hystart: HyStart,
    pub hybrid: Hybrid,
    pub undo: Undo,
    pub pacer: Pacer,
    /// A tail loss probe is out.
    pub probe: Option<Probe>,
    /// When the retransmission timer runs out. [`Endpoint::rto_at`] is this only while the endpoint
    /// is being called; between calls it is the earliest of all timers of the sender.
    pub rto_at: Time,
    /// When a tail loss probe is due.
    pub probe_at: Time,
    /// When to look for losses again.
    pub reorder_at: Time,
    /// When the pace lets more be sent that the window allows already.
    pub pace_at: Time,
    /// Whether it is open if the last timeout was spurious (F-RTO).
    pub frto: bool,
    /// New data are sent before what is lost: F-RTO's test.
    pub new_first: bool,
    /// Whether the window held the sender back in the round trip that ends at `limited_end`, and
    /// the most that was outstanding in it.
    limited: bool,
    limited_end: u32,
    most: u32,
    /// What of the window goes unused.
    pub unused: Unused,
    /// What is at the host's interface.
    pub offload: Offload,
    /// The receive window that grows.
    pub space: Space,
    /// The deviation that the timeout goes by, as Linux has it.
    pub held: Held,
    /// What AccECN counts.
    pub counts: Counts,
    /// Acknowledgements of what came above a hole.
    pub compression: Compression,
    /// Data that came twice and are yet to be told to the peer (RFC 2883).
    pub duplicate: Option<SackBlock>,
}

/// What one acknowledgement brings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    /// Bytes newly known to have arrived.
    pub bytes: u32,
    /// The last of them that was sent.
    pub newest: Newest,
    /// The round trip of the last of them that was sent only once.
    pub rtt: Option<Time>,
    /// Whether something arrived that was sent before the timeout, and only then.
    pub original: bool,
}

impl Tracked {
    /// For a connection whose first data will be `nxt`.
    pub fn new(params: &Params, now: Time, nxt: u32) -> Self {
        let mut hystart = HyStart::new();
        hystart.start(nxt);
        Self {
            log: Log::new(),
            delivered: Delivered::default(),
            min_rtt: MinRtt::default(),
            rack: Rack::default(),
            prr: Prr::default(),
            reducing: false,
            hystart,
            hybrid: Hybrid::new(now, nxt),
            undo: Undo::default(),
            pacer: Pacer::new(params),
            probe: None,
            rto_at: Time::MAX,
            probe_at: Time::MAX,
            reorder_at: Time::MAX,
            pace_at: Time::MAX,
            frto: false,
            new_first: false,
            limited: false,
            limited_end: nxt,
            most: 0,
            unused: Unused::new(now),
            offload: Offload::default(),
            space: Space::new(params, now),
            held: Held::default(),
            counts: Counts::default(),
            compression: Compression::default(),
            duplicate: None,
        }
    }

    /// Notes whether the window held the sender back, with `outstanding` bytes sent and everything
    /// before `una` acknowledged (`tcp_cwnd_validate` of Linux).
    fn validate(&mut self, limited: bool, outstanding: u32, una: u32, nxt: u32) {
        if !before(una, self.limited_end) || limited || !self.limited && outstanding > self.most {
            (self.limited, self.most, self.limited_end) = (limited, outstanding, nxt);
        }
    }

    /// Whether the window is what holds the sender back; in slow start also if half of it was in
    /// use, so that a paced sender's grows (`tcp_is_cwnd_limited` of Linux).
    pub fn window_limits(&self, cwnd: u32, slow_start: bool) -> bool {
        self.limited || slow_start && cwnd < 2 * self.most
    }
}

impl Arrived {
    /// Takes note of a segment; `recover` is where sending had got to at the last timeout.
    pub fn see(&mut self, now: Time, record: &Record, recover: u32) {
        self.bytes += record.len();
        self.newest.see(record);
        if !record.is(state::EVER) {
            let rtt = now - record.stamp.sent;
            self.rtt = Some(self.rtt.map_or(rtt, |known| known.min(rtt)));
            self.original |= !before(recover, record.end);
        }
    }
}

impl Endpoint {
    /// The state of an established connection that logs its segments.
    #[inline]
    pub(crate) fn tracked(&mut self) -> &mut Tracked {
        self.tracked.as_deref_mut().expect("an established connection that logs")
    }

    /// A call begins: `rto_at` is the retransmission timer's.
    pub(crate) fn enter(&mut self) {
        if let Some(tracked) = &self.tracked {
            self.rto_at = tracked.rto_at;
        }
    }

    /// A call ends: `rto_at` is the earliest of the sender's timers.
    pub(crate) fn leave(&mut self) {
        if let Some(t) = &mut self.tracked {
            t.rto_at = self.rto_at;
            // While a probe is due the timer stands back (RFC 8985 section 8).
            let rto = if t.probe_at == Time::MAX { t.rto_at } else { t.probe_at };
            self.rto_at = rto.min(t.reorder_at).min(t.pace_at);
        }
    }

    /// Something was sent for the first time, up to `snd_nxt`.
    pub(crate) fn log_new(&mut self, params: &Params, now: Time, start: u32) {
        let (end, outstanding) = (self.snd_nxt, self.in_flight());
        let idle = outstanding == end.wrapping_sub(start);
        let t = self.tracked();
        let flight = t.log.pipe(outstanding);
        let stamp = t.delivered.stamp(now, flight, idle);
        let app_limited = t.delivered.app_limited();
        t.log.sent(start, end, stamp, app_limited);
        self.log_bytes(params, now, end.wrapping_sub(start));
    }

    /// `bytes` were handed out, new or not.
    fn log_bytes(&mut self, params: &Params, now: Time, bytes: u32) {
        let rate = if params.pacing { self.pace(params) } else { 0 };
        let t = self.tracked();
        t.prr.sent(bytes);
        if params.pacing {
            t.pacer.sent(params, now, bytes, rate);
        }
    }

    /// Sends a record again.
    pub(crate) fn resend(
        &mut self,
        params: &Params,
        now: Time,
        number: u32,
        out: &mut impl Output,
    ) {
        let outstanding = self.in_flight();
        let t = self.tracked();
        let Record { start, end, .. } = *t.log.get(number);
        let flight = t.log.pipe(outstanding) + end.wrapping_sub(start);
        let stamp = t.delivered.stamp(now, flight, false);
        let app_limited = t.delivered.app_limited();
        t.log.sent_again(number, stamp, app_limited);
        t.undo.sent_again(now, end);
        self.send_again(params, now, SackBlock { start, end }, out);
        if start == self.snd_una {
            self.rto_at = now + self.rto; // `tcp_xmit_retransmit_queue` of Linux
        }
        self.log_bytes(params, now, end.wrapping_sub(start));
    }

    /// Sends while less is in the network than the window allows, and the pace lets it: what is
    /// lost, then new data.
    pub(crate) fn push_tracked(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let mss = params.payload;
        if self.snd_una == self.snd_nxt && (self.unsent > 0 || self.fin_is_due()) {
            self.after_pause(params, now);
        }
        let (sent, mut limited) = (self.segments, false);
        loop {
            let outstanding = self.in_flight();
            let careful = self.phase == Phase::Disorder && !params.limited_transmit;
            let (cwnd, peer_window) = (self.window.cwnd, self.peer_window);
            let new = self.unsent.min(u64::from(mss)) as u32;
            let fin = self.fin_is_due();
            let t = self.tracked();
            t.pace_at = Time::MAX;
            let pipe = if careful { outstanding } else { t.log.pipe(outstanding) };
            let again = t.log.next_waiting().filter(|_| !t.new_first);
            let len = if again.is_some() { mss } else { new.max(u32::from(fin)) };
            if len == 0 {
                if pipe + mss <= cwnd {
                    t.delivered.limit(pipe);
                }
                break;
            }
            if again.is_none() && outstanding + len > peer_window {
                break;
            }
            if pipe + len > cwnd && (pipe > 0 || again.is_none()) {
                limited = true;
                break;
            }
            if again.is_none() && outstanding > 0 && !out.has_room() {
                self.local_congestion(params, now);
                limited = true;
                break;
            }
            if let Some(at) = t.pacer.wait(now) {
                t.pace_at = at;
                break;
            }
            if let Some(at) = self.queue_is_full(params, now) {
                self.tracked().pace_at = at;
                break;
            }
            if again.is_none() && self.defers(params, now, pipe) {
                limited = cwnd - pipe < peer_window - outstanding;
                break;
            }
            match again {
                Some(number) => self.resend(params, now, number, out),
                None => self.send_new(params, now, new, out),
            }
            self.of_burst(params, now, len, out);
        }
        let (outstanding, una, nxt) = (self.in_flight(), self.snd_una, self.snd_nxt);
        self.tracked().validate(limited, outstanding, una, nxt);
        if self.segments != sent {
            if params.unused_decay {
                self.decay_unused(params, now);
            }
            self.arm_probe(params, now);
        }
    }
}
