//! A link: a queue discipline, a transmitter, and what is measured there.
//!
//! There are two ways to run one. Where the discipline decides at enqueue and serves first come,
//! first served, a packet's departure is known the moment it is accepted: the packet goes on at
//! once, a token stands for it in the queue, and the tokens are taken out later, each at its exact
//! time. That is the *fused* way: one event per packet and link. Any other discipline holds the
//! packet itself, and every end of a transmission is an event.

use crate::meter::Meter;
use crate::packet::{Standing, Token};
use crate::serialiser::Serialiser;
use sojourn_base::{Ecn, Stream, Time};
use sojourn_qdisc::{
    Config, Count, Counters, Discipline, DropReason, Env, Invalid, Qdisc, Sink, Verdict, Visit,
};

/// Why a link's event was scheduled: a transmission ends.
pub const TRANSMITTED: u32 = 0;
/// Why a link's event was scheduled: a packet that was held back may be ready.
pub const READY: u32 = 1;

/// What became of a packet offered to a fused link.
pub enum Fate {
    /// It leaves the transmitter at this time, ns; whether it was marked here.
    Departs(u64, bool),
    /// It was dropped.
    Dropped,
}

/// A packet's way through a fused link.
struct Pass<'a> {
    now: u64,
    bytes: u32,
    ecn: Ecn,
    meter: &'a mut Meter,
    serialiser: &'a Serialiser,
    carry: &'a mut u64,
    busy_until: &'a mut u64,
}

impl Visit<Token> for Pass<'_> {
    type Output = Fate;

    #[inline]
    fn visit<D: Discipline<Token>>(self, queue: &mut D) -> Fate {
        let Self { now, bytes, ecn, meter, serialiser, carry, busy_until } = self;
        CatchUp { now, meter: &mut *meter, serialiser }.visit(queue);
        let starts = now.max(*busy_until);
        // The first packet after `busy_until` exactly is still back to back.
        let fresh = *busy_until < now;
        let (packets, held) = (queue.packets(), queue.bytes());
        let token = Token { starts, enqueued: now, bytes, ecn };
        match queue.enqueue(Time(now), token, &mut ()) {
            Verdict::Dropped(_) => Fate::Dropped,
            verdict => {
                meter.until(now, packets, held);
                *busy_until = serialiser.end(starts, bytes, fresh, carry);
                Fate::Departs(*busy_until, matches!(verdict, Verdict::Marked))
            }
        }
    }
}

/// Bringing a fused link's queue up to the present.
struct CatchUp<'a> {
    now: u64,
    meter: &'a mut Meter,
    serialiser: &'a Serialiser,
}

impl Visit<Token> for CatchUp<'_> {
    type Output = ();

    #[inline]
    fn visit<D: Discipline<Token>>(self, queue: &mut D) {
        while let Some(head) = queue.peek() {
            let starts = head.starts;
            if starts > self.now {
                break;
            }
            self.meter.until(starts, queue.packets(), queue.bytes());
            if let Some(token) = queue.dequeue(Time(starts), &mut ()) {
                let wire = self.serialiser.wire_bytes(token.bytes);
                self.meter.sent(starts, token.enqueued, wire);
            }
        }
    }
}

enum Queue {
    Tokens(Qdisc<Token>),
    Packets(Qdisc<Standing>),
}

/// Packets dropped by a discipline that holds them, for the engine to collect.
#[derive(Default)]
pub struct Dropped(pub Vec<Standing>);

impl Sink<Standing> for Dropped {
    fn dropped(&mut self, _: Time, packet: Standing, _: DropReason) {
        self.0.push(packet);
    }
}

/// One direction of a link with a finite rate.
pub struct Link {
    queue: Queue,
    serialiser: Serialiser,
    carry: u64,
    /// When the last packet accepted (fused) or transmitted (otherwise) leaves, ns.
    busy_until: u64,
    /// Whether a transmission is under way (not fused).
    sending: bool,
    /// When an event comes to look for a packet that was held back (not fused).
    ready_at: u64,
    pub meter: Meter,
    /// Counts, and what stood in the queue, when the window began.
    pub at_start: (Counters, Count),
}

impl Link {
    /// A link with its discipline; `fused` if that may be run on tokens.
    pub fn new(
        config: &Config,
        env: &Env,
        coin: Stream,
        serialiser: Serialiser,
        fused: bool,
    ) -> Result<Self, Invalid> {
        let queue = if fused && config.decides_at_enqueue() {
            Queue::Tokens(Qdisc::new(config, env, coin)?)
        } else {
            Queue::Packets(Qdisc::new(config, env, coin)?)
        };
        Ok(Self {
            queue,
            serialiser,
            carry: 0,
            busy_until: 0,
            sending: false,
            ready_at: u64::MAX,
            meter: Meter::new(),
            at_start: Default::default(),
        })
    }

    /// Whether the queue runs on tokens.
    #[inline]
    pub fn fused(&self) -> bool {
        matches!(self.queue, Queue::Tokens(_))
    }

    /// Offers a packet to a fused link.
    #[inline]
    pub fn pass(&mut self, now: u64, bytes: u32, ecn: Ecn) -> Fate {
        let Queue::Tokens(queue) = &mut self.queue else { unreachable!("the link is fused") };
        queue.visit(Pass {
            now,
            bytes,
            ecn,
            meter: &mut self.meter,
            serialiser: &self.serialiser,
            carry: &mut self.carry,
            busy_until: &mut self.busy_until,
        })
    }

    /// Takes out of a fused link's queue the tokens whose transmission has started by `now`.
    #[inline]
    pub fn catch_up(&mut self, now: u64) {
        if let Queue::Tokens(queue) = &mut self.queue {
            queue.visit(CatchUp { now, meter: &mut self.meter, serialiser: &self.serialiser });
        }
    }

    /// Offers a packet to a link that is not fused.
    pub fn offer(&mut self, now: u64, packet: Standing, dropped: &mut Dropped) {
        let Queue::Packets(queue) = &mut self.queue else { unreachable!("the link is not fused") };
        self.meter.until(now, queue.packets(), queue.bytes());
        let _ = queue.enqueue(Time(now), packet, dropped);
    }

    /// The transmitter is free: takes the next packet, if one is ready, and says when it leaves.
    pub fn transmit(&mut self, now: u64, dropped: &mut Dropped) -> Option<(Standing, u64)> {
        let Queue::Packets(queue) = &mut self.queue else { unreachable!("the link is not fused") };
        self.meter.until(now, queue.packets(), queue.bytes());
        let packet = queue.dequeue(Time(now), dropped)?;
        let bytes = packet.packet.ip_bytes();
        let fresh = self.busy_until < now;
        self.busy_until = self.serialiser.end(now, bytes, fresh, &mut self.carry);
        self.meter.sent(now, packet.enqueued, self.serialiser.wire_bytes(bytes));
        self.sending = true;
        Some((packet, self.busy_until))
    }

    /// When to look again for a packet that the discipline holds back, if it holds one and no
    /// event for it is on its way already (not fused).
    pub fn wake_at(&mut self, now: u64) -> Option<u64> {
        let Queue::Packets(queue) = &self.queue else { return None };
        // A discipline that gave no packet although it names the present is asked again later.
        let ready = queue.next_ready(Time(now))?.0.max(now + 1);
        (ready < self.ready_at).then(|| {
            self.ready_at = ready;
            ready
        })
    }

    /// An event for this link has come: see [`TRANSMITTED`] and [`READY`].
    pub fn woken(&mut self, now: u64, why: u32) {
        if why == TRANSMITTED {
            self.sending = false;
        } else if self.ready_at <= now {
            self.ready_at = u64::MAX;
        }
    }

    /// Whether a transmission is under way (not fused).
    pub fn sending(&self) -> bool {
        self.sending
    }

    /// Brings queue and meter up to `now`; everything before must have happened.
    pub fn settle(&mut self, now: u64) {
        self.catch_up(now);
        let standing = self.standing();
        self.meter.until(now, standing.packets as u32, standing.bytes);
    }

    /// The measured window begins.
    pub fn start_window(&mut self, now: u64) {
        self.settle(now);
        self.meter.start(now);
        self.at_start = (self.counters(), self.standing());
    }

    /// What stands in the queue, without the packet in transmission.
    pub fn standing(&self) -> Count {
        let (packets, bytes) = match &self.queue {
            Queue::Tokens(q) => (q.packets(), q.bytes()),
            Queue::Packets(q) => (q.packets(), q.bytes()),
        };
        Count { packets: u64::from(packets), bytes }
    }

    /// The discipline's probability of dropping or marking, where it has one.
    pub fn probability(&self) -> f64 {
        match &self.queue {
            Queue::Tokens(q) => q.probability(),
            Queue::Packets(q) => q.probability(),
        }
    }

    /// What has passed since the start of the run.
    pub fn counters(&self) -> Counters {
        match &self.queue {
            Queue::Tokens(q) => *q.counters(),
            Queue::Packets(q) => *q.counters(),
        }
    }

    /// The link's rate in bits per second.
    pub fn rate(&self) -> u64 {
        self.serialiser.rate()
    }
}
