//! A FIFO whose arrivals are dropped or marked by a control law: what RED, ARED, PI and REM have
//! in common. The law knows queue lengths and probabilities; this file knows packets and ECN.

use crate::{
    Change, Counters, Discipline, DropReason, Ecn, EcnMarking, Env, Fifo, Invalid, Kept, Packet,
    Parameters, Sink, Standing, Unkept, Verdict,
};
use core::marker::PhantomData;
use sojourn_base::{Stream, Time};

/// The limit in packets of a managed queue that names none: so large that the law decides.
pub const LIMIT: u32 = 1_000_000;

/// What a law says of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Let it pass.
    Pass,
    /// Signal congestion with it: mark it if ECN allows, else drop it.
    Notify,
    /// Drop it, ECN or not.
    Drop,
}

impl Signal {
    /// Signals congestion if `hit`.
    #[inline]
    pub(crate) fn notify_if(hit: bool) -> Self {
        if hit { Self::Notify } else { Self::Pass }
    }
}

/// The parameters every law shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    /// Most packets in the queue.
    pub limit: u32,
    /// Which packets are marked instead of dropped.
    pub ecn: EcnMarking,
}

impl Common {
    pub(crate) fn validate(&self) -> Result<(), Invalid> {
        packet_limit(self.limit)
    }
}

pub(crate) fn packet_limit(limit: u32) -> Result<(), Invalid> {
    if limit == 0 || limit > crate::ring::MOST {
        return Err(Invalid::new("limit", limit, "must be 1 to 67108864 packets"));
    }
    Ok(())
}

/// The parameters of a queue under a control law.
pub trait LawParams: Clone + Default {
    /// The law.
    type Law: Law<Params = Self>;

    /// The parameters that the law does not look at itself.
    fn common(&self) -> Common;
}

impl<T: LawParams> Parameters for T {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        self.common().validate()?;
        T::Law::new(self, env).map(|_| ())
    }
}

/// A control law. Calls come in order of time, and `advance` comes before every other with the
/// same `now` and the queue as it stood before. A law may learn from departures, which it is told
/// of before the decision that follows, but decides nothing there.
pub trait Law: Sized {
    /// Its parameters in a scenario.
    type Params: LawParams<Law = Self>;

    /// The law at the start of a run.
    fn new(params: &Self::Params, env: &Env) -> Result<Self, Invalid>;
    /// This law, just made of other parameters, goes on from the state of `before`. `None` if the
    /// law's parameters cannot change while packets pass.
    #[must_use]
    fn resume(self, before: &Self) -> Option<Self> {
        let _ = before;
        None
    }
    /// Runs what is due at or before `now`; `queue` has not changed since the previous call.
    #[inline]
    fn advance(&mut self, now: Time, queue: Standing) {
        let _ = (now, queue);
    }
    /// A packet of `bytes` arrives and finds `queue` before it.
    fn arrival(&mut self, now: Time, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal;
    /// The same for a law that looks at the packet's ECN field.
    #[inline]
    fn arrival_of(
        &mut self,
        now: Time,
        ecn: Ecn,
        bytes: u32,
        queue: Standing,
        coin: &mut Stream,
    ) -> Signal {
        let _ = ecn;
        self.arrival(now, bytes, queue, coin)
    }
    /// The packet that arrived last was dropped because the queue was full.
    #[inline]
    fn overflowed(&mut self) {}
    /// A packet of `bytes` leaves `queue` behind; its transmission starts now.
    #[inline]
    fn departure(&mut self, now: Time, bytes: u32, queue: Standing) {
        let _ = (now, bytes, queue);
    }
    /// The same for a law whose queue keeps times of arrival: the packet came at `came`.
    #[inline]
    fn departed(&mut self, now: Time, came: Time, bytes: u32, queue: Standing) {
        let _ = came;
        self.departure(now, bytes, queue);
    }
    /// [`advance`](Self::advance) for a law whose queue keeps times of arrival: the packet at the
    /// head came at `head`.
    #[inline]
    fn advance_with(&mut self, now: Time, queue: Standing, head: Option<Time>) {
        let _ = head;
        self.advance(now, queue);
    }
    /// The probability for a packet of mean size, for probes.
    fn probability(&self) -> f64;
}

/// A FIFO under the law `L`, of packets kept as `K`: as they are, or [`Stamped`](crate::Stamped)
/// if the law looks at times of arrival.
#[derive(Clone, Debug)]
pub struct Managed<P: Packet, L, K: Kept<P> = P> {
    law: L,
    coin: Stream,
    ecn: EcnMarking,
    fifo: Fifo<K>,
    packet: PhantomData<P>,
}

impl<P: Packet, L: Law, K: Kept<P>> Managed<P, L, K> {
    /// An empty queue.
    pub fn new(params: &L::Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        let common = params.common();
        common.validate()?;
        let law = L::new(params, env)?;
        let fifo = Fifo::new(common.limit, u64::MAX);
        Ok(Self { law, coin, ecn: common.ecn, fifo, packet: PhantomData })
    }

    /// The law and its state.
    #[must_use]
    pub fn law(&self) -> &L {
        &self.law
    }

    #[inline]
    fn run(&mut self, now: Time) {
        let head = if K::STAMPED { self.fifo.peek().and_then(Kept::came) } else { None };
        self.law.advance_with(now, self.fifo.standing(), head);
    }
}

impl<P: Packet, L: Law, K: Kept<P>> Change<L::Params> for Managed<P, L, K> {
    fn change(&mut self, params: &L::Params, env: &Env) -> Result<bool, Invalid> {
        let Some(law) = L::new(params, env)?.resume(&self.law) else { return Ok(false) };
        let Common { limit, ecn } = params.common();
        (self.law, self.ecn) = (law, ecn);
        self.fifo.set_limits(limit, u64::MAX);
        Ok(true)
    }
}

impl<P: Packet, L: Law, K: Kept<P>> Discipline<P> for Managed<P, L, K> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        let (packet, sink) = (K::keep(packet, now), &mut Unkept::new(sink));
        self.run(now);
        let queue = self.fifo.standing();
        let bytes = packet.bytes();
        let signal = self.law.arrival_of(now, packet.ecn(), bytes, queue, &mut self.coin);
        let mark = match signal {
            Signal::Pass => false,
            Signal::Notify if self.ecn.applies(packet.ecn()) => packet.ecn() != Ecn::Ce,
            Signal::Notify | Signal::Drop => {
                return self.fifo.refuse(now, packet, DropReason::Early, sink);
            }
        };
        if !self.fifo.fits(bytes) {
            self.law.overflowed();
            return self.fifo.refuse(now, packet, DropReason::Overflow, sink);
        }
        if mark { self.fifo.accept_marked(packet) } else { self.fifo.accept(packet) }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut impl Sink<P>) -> Option<P> {
        self.run(now);
        let packet = self.fifo.take()?;
        let (bytes, left) = (packet.bytes(), self.fifo.standing());
        match packet.came() {
            Some(came) => self.law.departed(now, came, bytes, left),
            None => self.law.departure(now, bytes, left),
        }
        Some(packet.packet())
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        self.run(now);
    }

    #[inline]
    fn peek(&self) -> Option<&P> {
        self.fifo.peek().map(Kept::packet_ref)
    }

    /// As the counters have it, in fewer instructions.
    #[inline]
    fn packets(&self) -> u32 {
        self.fifo.standing().packets
    }

    #[inline]
    fn counters(&self) -> &Counters {
        self.fifo.counters()
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.fifo.iter().map(Kept::packet_ref).for_each(tell);
    }

    fn probability(&self) -> f64 {
        self.law.probability()
    }
}
