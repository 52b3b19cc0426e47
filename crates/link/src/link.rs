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
mod build;
mod fused;
mod measured;

pub use self::fused::Fate;
use crate::access::Access;
use crate::autorate::Autorate;
use crate::classes::Classes;
use crate::device::Device;
use crate::meter::Meter;
use crate::rate::Varying;
use crate::serialiser::Serialiser;
use crate::waiting::{Token, Waiting};
use crate::wire::Wire;
use sojourn_base::{Rate, Time};
use sojourn_qdisc::{
    AtEnqueue, Config, Count, Counters, Discipline, DropReason, Env, Invalid, Qdisc, Sink,
};

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

#[derive(Clone)]
enum Queue<S: Waiting> {
    Tokens(AtEnqueue<Token>),
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
    /// What stands in the queue since it was last called (not fused): asked once, not each time
    /// that somebody wants to know.
    stands: Count,
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
        let done = match &mut self.queue {
            Queue::Tokens(queue) => queue.change(config, env),
            Queue::Packets(queue) => queue.change(config, env),
        };
        self.note_standing();
        done
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
        let none = self.dequeue_apart(ends, &mut Dropped::default());
        debug_assert!(none.is_none());
        None
    }

    /// A packet comes to a link that is not fused; whether the link is to be
    /// [served](Self::serve).
    #[inline]
    pub fn arrive(&mut self, now: Time, packet: S, sink: &mut impl Sink<S>) -> bool {
        let Queue::Packets(queue) = &mut self.queue else { unreachable!("the link is not fused") };
        self.meter.until(now, self.stands.packets as u32, self.stands.bytes);
        if let Some(classes) = &mut self.classes {
            classes.until(now, queue);
        }
        let _ = queue.enqueue(now, packet, sink);
        self.stands = queue.counters().standing();
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
            if self.rests && self.stands.packets == 0 {
                self.unseen_end = Some(sent.ends);
            } else {
                wake(sent.ends, Wake::Transmitted);
            }
        }
        sent
    }

    /// The discipline's next packet, if one is ready.
    #[inline(always)]
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped<S>) -> Option<S> {
        let Queue::Packets(queue) = &mut self.queue else { unreachable!("the link is not fused") };
        self.meter.until(now, self.stands.packets as u32, self.stands.bytes);
        if let Some(classes) = &mut self.classes {
            classes.until(now, queue);
        }
        let packet = queue.dequeue(now, dropped);
        self.stands = queue.counters().standing();
        let packet = packet?;
        self.meter.left(now, packet.enqueued());
        if let Some(classes) = &mut self.classes {
            classes.left(now, &packet, queue);
        }
        Some(packet)
    }

    /// The same, not on the way of most packets.
    #[inline(never)]
    fn dequeue_apart(&mut self, now: Time, dropped: &mut Dropped<S>) -> Option<S> {
        self.dequeue(now, dropped)
    }

    /// Hands packets down to the device as long as there is room and one is ready.
    #[cold]
    #[inline(never)]
    fn fill(&mut self, now: Time, dropped: &mut Dropped<S>) {
        while self.device.as_ref().is_some_and(|device| device.room()) {
            let Some(packet) = self.dequeue_apart(now, dropped) else { break };
            if let Some(device) = &mut self.device {
                device.push(now, packet);
            }
        }
    }

    /// Does what can be done at `now`: fills the device's queue and, if the transmitter is free,
    /// takes the next packet and says when it is through.
    #[inline]
    fn transmit(&mut self, now: Time, dropped: &mut Dropped<S>) -> Option<Sent<S>> {
        if self.device.is_some() {
            self.fill(now, dropped);
        }
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
}
