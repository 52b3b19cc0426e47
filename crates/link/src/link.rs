//! A link: a queue discipline, a transmitter, and what is measured there.
//!
//! There are two ways to run one. Where the discipline decides at enqueue and serves first come,
//! first served, a packet's departure is known the moment it is accepted: the packet goes on at
//! once, a token stands for it in the queue, and the tokens are taken out later, each at its exact
//! time. That is the *fused* way: one event per packet and link. Any other discipline holds the
//! packet itself, and every end of a transmission is an event; so it is on a link whose rate
//! changes, that loses or delays packets at random, that has a device's queue below, or that does
//! not send when it likes: the upstream of a cable modem, and Wi-Fi.

mod access;

use self::access::{Access, Air, device};
use crate::autorate::Autorate;
use crate::classes::Classes;
use crate::device::Device;
use crate::docsis::Docsis;
use crate::meter::Meter;
use crate::rate::{Pieces, Varying};
use crate::serialiser::Serialiser;
use crate::waiting::{Token, Waiting};
use crate::wire::Wire;
use sojourn_base::{Ecn, Kind, Rate, Stream, Time};
use sojourn_qdisc::{
    Config, Count, Counters, Discipline, DropReason, Env, Invalid, Qdisc, Sink, Verdict, Visit,
};
use sojourn_scenario::Network;

/// Why an event of a link was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Wake {
    /// A transmission ends.
    Transmitted,
    /// A packet that was held back may be ready.
    Ready,
    /// The device reports what it has sent.
    Interrupt,
    /// A modem asks, the head-end decides, or a grant begins.
    Grant,
    /// The medium that the link shares is to be served.
    Air,
}

/// What became of a packet offered to a fused link.
pub enum Fate {
    /// It leaves the transmitter at this time; whether it was marked here.
    Departs(Time, bool),
    /// It was dropped.
    Dropped,
}

/// A packet's way through a fused link.
struct Pass<'a> {
    now: Time,
    bytes: u32,
    ecn: Ecn,
    meter: &'a mut Meter,
    serialiser: &'a Serialiser,
    carry: &'a mut u64,
    busy_until: &'a mut Time,
}

impl Visit<Token> for Pass<'_> {
    type Output = Fate;
    const AT_ENQUEUE: bool = true;

    #[inline]
    fn visit<D: Discipline<Token>>(self, queue: &mut D) -> Fate {
        let Self { now, bytes, ecn, meter, serialiser, carry, busy_until } = self;
        CatchUp { now, meter: &mut *meter, serialiser }.visit(queue);
        let starts = now.max(*busy_until);
        // The first packet after `busy_until` exactly is still back to back.
        let fresh = *busy_until < now;
        let (packets, held) = (queue.packets(), queue.bytes());
        let token = Token { starts, enqueued: now, bytes, ecn };
        match queue.enqueue(now, token, &mut ()) {
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
    now: Time,
    meter: &'a mut Meter,
    serialiser: &'a Serialiser,
}

impl Visit<Token> for CatchUp<'_> {
    type Output = ();
    const AT_ENQUEUE: bool = true;

    #[inline]
    fn visit<D: Discipline<Token>>(self, queue: &mut D) {
        while let Some(head) = queue.peek() {
            let starts = head.starts;
            if starts > self.now {
                break;
            }
            self.meter.until(starts, queue.packets(), queue.bytes());
            if let Some(token) = queue.dequeue(starts, &mut ()) {
                let wire = self.serialiser.wire_bytes(token.bytes);
                self.meter.sent(starts, token.enqueued, wire);
            }
        }
    }
}

#[derive(Clone)]
enum Queue<S: Waiting> {
    Tokens(Qdisc<Token>),
    Packets(Qdisc<S>),
}

/// Packets dropped by a discipline that holds them, for the engine to collect.
#[derive(Clone)]
pub struct Dropped<S>(pub Vec<S>);

impl<S> Default for Dropped<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S> Sink<S> for Dropped<S> {
    fn dropped(&mut self, _: Time, packet: S, _: DropReason) {
        self.0.push(packet);
    }
}

/// One direction of a link with a finite rate.
#[derive(Clone)]
pub struct Link<S: Waiting> {
    queue: Queue<S>,
    /// Whether the discipline asks packets for their machines.
    looks_at_machines: bool,
    serialiser: Serialiser,
    /// The rate, where it is not the serialiser's all the time.
    varying: Option<Box<Varying>>,
    carry: u64,
    /// When the last packet accepted (fused) or transmitted (otherwise) leaves.
    busy_until: Time,
    /// Whether a transmission is under way (not fused).
    sending: bool,
    /// Whether ends of transmissions behind which nothing waits may go without an event, and when
    /// the last such one is that has not been seen to.
    rests: bool,
    unseen_end: Option<Time>,
    /// When an event comes to look for a packet that was held back (not fused).
    ready_at: Time,
    /// The queue between the discipline and the transmitter, if there is one (not fused).
    pub(crate) device: Option<Box<Device<S>>>,
    /// What its rate follows, if it does (not fused).
    autorate: Option<Box<Autorate>>,
    /// When it may send, if that is not for it to say (not fused).
    access: Option<Box<Access<S>>>,
    /// An interrupt of the device that is still to be scheduled.
    interrupt: Option<Time>,
    /// What happens to packets after their transmission, if anything does (not fused).
    pub(crate) wire: Option<Box<Wire>>,
    pub(crate) meter: Meter,
    /// The classes of the discipline, if it has any (not fused).
    pub(crate) classes: Option<Box<Classes>>,
    /// Counts, and what stood in the queue, when the window began.
    pub(crate) at_start: (Counters, Count),
    /// When that was.
    window: Time,
    /// What the wire had lost then.
    pub(crate) lost_at_start: Count,
}

/// What a link is made of beside its discipline.
struct Parts<S> {
    serialiser: Serialiser,
    varying: Option<Varying>,
    device: Option<Device<S>>,
    autorate: Option<Autorate>,
    access: Option<Access<S>>,
    wire: Option<Wire>,
    meter: Meter,
    classes: Option<Classes>,
}

/// A transmission that has begun.
#[derive(Clone)]
pub struct Sent<S> {
    /// The packet.
    pub standing: S,
    /// When it ends.
    pub ends: Time,
    /// When the packet is through, the link's delay not counted; none if it is lost on the wire.
    pub through: Option<Time>,
}

impl<S: Waiting> Link<S> {
    /// The links of a network that are not ideal, in order.
    ///
    /// # Errors
    /// One line that names the link whose discipline cannot be built.
    pub fn all(network: &Network, fusing: bool) -> Result<Vec<Self>, String> {
        let mut links = Vec::new();
        for (number, link) in network.links.iter().enumerate() {
            let new = Self::build(network, number, fusing)
                .map_err(|error| format!("link {}: {error}", link.name))?;
            links.extend(new);
        }
        Ok(links)
    }

    /// Link `number` of a network; none if it is ideal, nothing but delay. It is *fused* if
    /// `fusing` and nothing of it speaks against that.
    ///
    /// # Errors
    /// If its discipline cannot be built; a network's links have been checked, so this is rare.
    fn build(network: &Network, number: usize, fusing: bool) -> Result<Option<Self>, Invalid> {
        let link = &network.links[number];
        let (Some(rate), Some(env)) = (link.rate, link.env()) else { return Ok(None) };
        let (seed, at) = (network.seed, number as u32);
        let meter = || Meter::new(network.probes.standing_window);
        let varying = |schedule| Varying::new(Pieces::new(schedule, rate, seed, at));
        let parts = Parts {
            serialiser: Serialiser::new(rate.0, link.frame_overhead, link.min_frame),
            varying: match (&link.schedule, link.autorate) {
                (Some(schedule), _) => Some(varying(schedule)),
                (None, Some(_)) => Some(Varying::constant(rate.0, Time::ZERO)),
                (None, None) => None,
            },
            autorate: link.autorate.map(Autorate::new),
            classes: Classes::new(&link.qdisc, meter),
            device: device(network, link).map(|device| Device::new(device, meter())),
            access: match (link.docsis, link.wifi) {
                (Some(docsis), _) => Some(Access::Modem(Docsis::new(docsis, rate, seed, at))),
                (None, Some(medium)) => Some(Access::Air(Air::new(medium))),
                (None, None) => None,
            },
            wire: link.impairments.as_ref().map(|wire| Wire::new(wire, seed, at)),
            meter: meter(),
        };
        let coin = Stream::new(seed, Kind::Qdisc, at, 0);
        Self::new(&link.qdisc, &env, coin, parts, fusing).map(Some)
    }

    /// A link with its discipline; `fused` if that may be run on tokens. What is more than a queue
    /// and a constant rate never is.
    fn new(
        config: &Config,
        env: &Env,
        coin: Stream,
        parts: Parts<S>,
        fused: bool,
    ) -> Result<Self, Invalid> {
        let Parts { serialiser, varying, device, autorate, access, wire, meter, classes } = parts;
        let plain = varying.is_none() && device.is_none() && access.is_none() && wire.is_none();
        let queue = if fused && plain && config.decides_at_enqueue() {
            Queue::Tokens(Qdisc::new(config, env, coin)?)
        } else {
            Queue::Packets(Qdisc::new(config, env, coin)?)
        };
        Ok(Self {
            queue,
            looks_at_machines: config.looks_at_machines(),
            serialiser,
            varying: varying.map(Box::new),
            carry: 0,
            busy_until: Time::ZERO,
            sending: false,
            rests: false,
            unseen_end: None,
            ready_at: Time::MAX,
            device: device.map(Box::new),
            autorate: autorate.map(Box::new),
            access: access.map(Box::new),
            interrupt: None,
            wire: wire.map(Box::new),
            meter,
            classes: classes.map(Box::new),
            at_start: Default::default(),
            window: Time::ZERO,
            lost_at_start: Count::default(),
        })
    }

    /// Whether the queue runs on tokens.
    #[inline]
    pub fn fused(&self) -> bool {
        matches!(self.queue, Queue::Tokens(_))
    }

    /// Has the discipline go on with other parameters from `now` on; `false` if it cannot.
    ///
    /// # Errors
    /// If the discipline does not allow them on this link.
    pub fn change_qdisc(&mut self, now: Time, config: &Config, env: &Env) -> Result<bool, Invalid> {
        self.settle(now);
        match &mut self.queue {
            Queue::Tokens(queue) => queue.change(config, env),
            Queue::Packets(queue) => queue.change(config, env),
        }
    }

    /// The rate, above zero, is another from `now` on; a transmission under way ends as it was to.
    /// The link must not be [fused](Self::fused): it has promised when packets leave.
    pub fn change_rate(&mut self, now: Time, rate: Rate) {
        assert!(!self.fused() && rate.0 > 0, "the link cannot change its rate");
        let (old, since) = (self.serialiser.rate(), self.window);
        self.varying.get_or_insert_with(|| Box::new(Varying::constant(old, since)));
        self.settle(now);
        if let Some(varying) = &mut self.varying {
            varying.change(rate.0);
        }
    }

    /// The answer of a ping, to the member of this number of the group that the rate follows, has
    /// come after `round_trip`.
    pub fn heard(&mut self, now: Time, pinger: u32, round_trip: Time) {
        let sent = self.counters().dequeued.bytes;
        if let Some(autorate) = &mut self.autorate
            && let Some(rate) = autorate.heard(now, pinger, round_trip, sent)
        {
            self.change_rate(now, rate);
        }
    }

    /// Whether the rate is not the same all the time.
    pub(crate) fn varies(&self) -> bool {
        self.varying.is_some()
    }

    /// Offers a packet to a fused link.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, bytes: u32, ecn: Ecn) -> Fate {
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
    fn catch_up(&mut self, now: Time) {
        if let Queue::Tokens(queue) = &mut self.queue {
            queue.visit(CatchUp { now, meter: &mut self.meter, serialiser: &self.serialiser });
        }
    }

    /// From now on the link wants no event at the end of a transmission behind which nothing waits:
    /// it is asked to [look back](Self::look_back) before every packet that comes.
    pub fn rest(&mut self) {
        // A device may report ends at times of its own.
        self.rests = self.device.is_none() && self.access.is_none();
    }

    /// Sees to the end of a transmission that had no event; when that will be, if it lies ahead:
    /// then there is to be one.
    #[inline]
    pub fn look_back(&mut self, now: Time) -> Option<Time> {
        let ends = self.unseen_end.take()?;
        if ends > now {
            return Some(ends);
        }
        self.sending = false;
        // Disciplines take note that their queue was found empty.
        let none = self.dequeue(ends, &mut Dropped::default());
        debug_assert!(none.is_none());
        None
    }

    /// A packet comes to a link that is not fused; whether the link is to be
    /// [served](Self::serve).
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: S, sink: &mut impl Sink<S>) -> bool {
        let Queue::Packets(queue) = &mut self.queue else { unreachable!("the link is not fused") };
        self.meter.until(now, queue.packets(), queue.bytes());
        if let Some(classes) = &mut self.classes {
            classes.until(now, queue);
        }
        let _ = queue.enqueue(now, packet, sink);
        self.wants()
    }

    /// An event of this link has come; it is to be [served](Self::serve).
    pub fn woken(&mut self, now: Time, why: Wake) {
        match why {
            Wake::Transmitted => {
                self.sending = false;
                if let Some(device) = &mut self.device {
                    self.interrupt = device.transmitted(now);
                }
            }
            Wake::Interrupt => {
                if let Some(device) = &mut self.device {
                    device.interrupted(now);
                }
            }
            Wake::Ready if self.ready_at <= now => self.ready_at = Time::MAX,
            Wake::Ready => {}
            Wake::Grant => {
                if let Some(Access::Modem(docsis)) = self.access.as_deref_mut() {
                    docsis.fired(now);
                }
            }
            Wake::Air => {}
        }
    }

    /// Lets a link that is not fused do what it can at `now`: the transmission that begins, if one
    /// does. What the discipline drops goes to `dropped`; `wake` is told of every event that is to
    /// be scheduled for this link.
    #[inline(always)]
    pub fn serve(
        &mut self,
        now: Time,
        dropped: &mut Dropped<S>,
        mut wake: impl FnMut(Time, Wake),
    ) -> Option<Sent<S>> {
        if self.access.is_some() {
            return self.serve_access(now, dropped, &mut wake);
        }
        let interrupt = self.interrupt.take();
        let sent = self.transmit(now, dropped);
        let ready = if self.wants() { self.wake_at(now) } else { None };
        for (at, why) in [(interrupt, Wake::Interrupt), (ready, Wake::Ready)] {
            if let Some(at) = at {
                wake(at, why);
            }
        }
        if let Some(sent) = &sent {
            if self.rests && self.standing().packets == 0 {
                self.unseen_end = Some(sent.ends);
            } else {
                wake(sent.ends, Wake::Transmitted);
            }
        }
        sent
    }

    /// The discipline's next packet, if one is ready.
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped<S>) -> Option<S> {
        let Queue::Packets(queue) = &mut self.queue else { unreachable!("the link is not fused") };
        self.meter.until(now, queue.packets(), queue.bytes());
        if let Some(classes) = &mut self.classes {
            classes.until(now, queue);
        }
        let packet = queue.dequeue(now, dropped)?;
        self.meter.left(now, packet.enqueued());
        if let Some(classes) = &mut self.classes {
            classes.left(now, &packet, queue);
        }
        Some(packet)
    }

    /// Hands packets down to the device as long as there is room and one is ready.
    fn fill(&mut self, now: Time, dropped: &mut Dropped<S>) {
        while self.device.as_ref().is_some_and(|device| device.room()) {
            let Some(packet) = self.dequeue(now, dropped) else { break };
            if let Some(device) = &mut self.device {
                device.push(now, packet);
            }
        }
    }

    /// Does what can be done at `now`: fills the device's queue and, if the transmitter is free,
    /// takes the next packet and says when it is through.
    #[inline]
    fn transmit(&mut self, now: Time, dropped: &mut Dropped<S>) -> Option<Sent<S>> {
        self.fill(now, dropped);
        if self.sending {
            return None;
        }
        let standing = match &mut self.device {
            None => self.dequeue(now, dropped)?,
            Some(device) => {
                let packet = device.pop(now)?;
                self.fill(now, dropped);
                packet
            }
        };
        let bytes = standing.bytes();
        let fresh = self.busy_until < now;
        let wire = self.serialiser.wire_bytes(bytes);
        let ends = match &mut self.varying {
            None => self.serialiser.end(now, bytes, fresh, &mut self.carry),
            Some(varying) => Time(varying.sending.end(now.0, wire, fresh, &mut self.carry)),
        };
        self.meter.transmits(wire);
        (self.busy_until, self.sending) = (ends, true);
        let through = self.wire.as_mut().map_or(Some(ends), |wire| wire.pass(ends, bytes));
        Some(Sent { standing, ends, through })
    }

    /// Whether a packet that comes, or one that was held back, could leave the discipline at once
    /// (not fused).
    fn wants(&self) -> bool {
        self.device.as_ref().map_or(!self.sending, |device| device.room())
    }

    /// Whether its discipline asks packets for the machines that they come from and go to.
    #[inline]
    pub fn looks_at_machines(&self) -> bool {
        self.looks_at_machines
    }

    /// Whether packets may overtake each other on the wire.
    pub fn reorders(&self) -> bool {
        self.wire.as_ref().is_some_and(|wire| wire.reorders())
    }

    /// When to look again for a packet that the discipline holds back, if it holds one and no
    /// event for it is on its way already (not fused).
    fn wake_at(&mut self, now: Time) -> Option<Time> {
        let Queue::Packets(queue) = &self.queue else { return None };
        // A discipline that gave no packet although it names the present is asked again later.
        let ready = queue.next_ready(now)?.max(now + Time(1));
        (ready < self.ready_at).then(|| {
            self.ready_at = ready;
            ready
        })
    }

    /// Brings queue and meter up to `now`; everything before must have happened.
    pub fn settle(&mut self, now: Time) {
        self.catch_up(now);
        self.unseen_end = self.look_back(now);
        // What a controller computes at times of its own, it has computed by now.
        match &mut self.queue {
            Queue::Tokens(queue) => queue.advance(now),
            Queue::Packets(queue) => queue.advance(now),
        }
        let standing = self.standing();
        self.meter.until(now, standing.packets as u32, standing.bytes);
        if let (Some(classes), Queue::Packets(queue)) = (&mut self.classes, &self.queue) {
            classes.until(now, queue);
        }
        if let Some(varying) = &mut self.varying {
            varying.settle(now);
        }
        if let Some(device) = &mut self.device {
            device.settle(now);
        }
    }

    /// The measured window begins.
    pub fn start_window(&mut self, now: Time) {
        self.settle(now);
        if let Some(varying) = &mut self.varying {
            varying.start();
        }
        if let Some(device) = &mut self.device {
            device.start_window(now);
        }
        self.lost_at_start = self.lost();
        self.meter.start(now);
        if let Some(classes) = &mut self.classes {
            classes.start_window(now);
        }
        self.at_start = (self.counters(), self.standing());
        self.window = now;
    }

    /// What stands in the queue, without the packet in transmission.
    pub fn standing(&self) -> Count {
        let (packets, bytes) = match &self.queue {
            Queue::Tokens(q) => (q.packets(), q.bytes()),
            Queue::Packets(q) => (q.packets(), q.bytes()),
        };
        Count { packets: u64::from(packets), bytes }
    }

    /// Tells every packet that stands, from the head on; `false` if the link is
    /// [fused](Self::fused), and its packets are elsewhere.
    pub fn each(&self, tell: &mut dyn FnMut(&S)) -> bool {
        let Queue::Packets(queue) = &self.queue else { return false };
        queue.each(tell);
        true
    }

    /// What the wire has lost since the start of the run.
    pub fn lost(&self) -> Count {
        self.wire.as_ref().map_or_else(Count::default, |wire| wire.lost)
    }

    /// How many sojourn times have been measured in the window, and their sum in nanoseconds.
    pub fn sojourns(&self) -> (u64, u128) {
        (self.meter.sojourn.count(), self.meter.sojourn.sum())
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

    /// The link's rate in bits per second at the instant that it was last brought up to.
    pub fn rate(&mut self) -> u64 {
        self.varying.as_mut().map_or(self.serialiser.rate(), |varying| varying.rate())
    }

    /// Bits that could have been sent in a measured window of `seconds`.
    pub fn capacity(&self, seconds: f64) -> f64 {
        match &self.varying {
            None => self.serialiser.rate() as f64 * seconds,
            Some(varying) => varying.bits(),
        }
    }
}
