//! A discipline from outside this program: a first-in, first-out queue whose packets are passed,
//! marked or dropped as a [`Decider`] says, on arrival, at departure, or both.
//!
//! This is how a discipline written in Python runs. The queue, its limit, ECN, the sojourn times
//! and the sampling instants are kept here, by the same code that all disciplines use; what is
//! outside only decides. Whoever embeds this crate says with [`install`] how a decider is made.
//!
//! # Differences from the source
//!
//! There is no source but the class itself. It is called for every packet, in order of time, and
//! its periodic update at k·`period`, k = 1, 2, …, each before any packet of the same instant.
//!
//! # Differences from Linux
//!
//! Linux has nothing of the kind; its BPF disciplines (from 6.16) come close.

use crate::managed::packet_limit;
use crate::{
    Counters, DropReason, EcnMarking, Env, Fifo, Invalid, Packet, Parameters, Periodic, Sink,
    Stamped, Standing, Unstamp, Verdict,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use once_cell::race::OnceBox;
use sojourn_base::{Ecn, Stream, Time, Value};

/// The shortest period of an update: each is a call into an interpreter.
const LEAST_PERIOD: Time = Time::from_micros(10);

/// A discipline written in Python.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The class: "FILE.py:NAME" with the file's path from the scenario's folder, or
    /// "PACKAGE.MODULE:NAME", or the name under which it was registered in this program.
    #[cfg_attr(feature = "schema", serde(rename = "class"))]
    pub class: String,
    /// Its parameters, by name: those that differ from the class's own defaults.
    #[cfg_attr(feature = "schema", serde(rename = "with"))]
    pub with: BTreeMap<String, Value>,
    /// Mark ECN-capable packets where the class says so, instead of dropping them, with "ect0" only
    /// those of ECT(0) (default false).
    pub ecn: EcnMarking,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub limit: Option<u32>,
}

impl Params {
    fn limit(&self) -> u32 {
        self.limit.unwrap_or(crate::managed::LIMIT)
    }
}

impl Parameters for Params {
    fn validate(&self, _: &Env) -> Result<(), Invalid> {
        packet_limit(self.limit())?;
        if self.class.trim().is_empty() {
            let remedy = "name the class, for example \"my_aqm.py:Ramp\"";
            return Err(Invalid::new("class", "\"\"", remedy));
        }
        Ok(())
    }
}

/// What a decider sees of a packet.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Length of the IP packet in bytes.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// A hash of its flow.
    pub flow: u32,
    /// How long it has been in the queue; zero on arrival.
    pub sojourn: Time,
}

/// What is to become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Let it go on.
    Pass,
    /// Signal congestion with it: mark it if `ecn` says so, else drop it.
    Mark,
    /// Drop it.
    Drop,
}

/// What decides. Calls come in order of time.
pub trait Decider: Send {
    /// A packet arrives and finds `queue` before it.
    fn enqueue(&mut self, now: Time, packet: View, queue: Standing) -> Decision;
    /// A packet is about to leave `queue` behind.
    fn dequeue(&mut self, now: Time, packet: View, queue: Standing) -> Decision;
    /// The next sampling instant.
    fn update(&mut self, now: Time, queue: Standing);
    /// The distance between sampling instants, if there are any.
    fn period(&self) -> Option<Time>;
    /// The probability of dropping or marking, for probes; 0 where there is none.
    fn probability(&self) -> f64;
}

/// Makes a decider for a queue; it may draw from the stream, which is the queue's own.
pub type Maker = dyn Fn(&Params, &Env, Stream) -> Result<Box<dyn Decider>, Invalid> + Send + Sync;

static MAKER: OnceBox<Box<Maker>> = OnceBox::new();

/// Says how deciders are made, once for the whole program; whether it was the first to say so.
pub fn install(maker: Box<Maker>) -> bool {
    MAKER.set(Box::new(maker)).is_ok()
}

/// A queue whose decisions are made outside.
pub struct Discipline<P: Packet> {
    fifo: Fifo<Stamped<P>>,
    decider: Box<dyn Decider>,
    ticks: Option<Periodic>,
    ecn: EcnMarking,
}

/// Whoever copies a queue looks first whether its decisions are made outside:
/// [`Config::is_external`](crate::Config::is_external).
impl<P: Packet> Clone for Discipline<P> {
    fn clone(&self) -> Self {
        unreachable!("what decides outside cannot be copied")
    }
}

impl<P: Packet> fmt::Debug for Discipline<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discipline").field("standing", &self.fifo.standing()).finish()
    }
}

impl<P: Packet> Discipline<P> {
    /// An empty queue, with a decider of its own.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        params.validate(env)?;
        let Some(maker) = MAKER.get() else {
            let remedy = "this program runs no classes written in Python: use the sojourn command";
            return Err(Invalid::new("class", format_args!("\"{}\"", params.class), remedy));
        };
        let decider = maker(params, env, coin)?;
        let ticks = match decider.period() {
            Some(period) if period < LEAST_PERIOD => {
                let remedy = "the class's period must be at least \"10us\"";
                return Err(Invalid::new("class", format_args!("\"{}\"", params.class), remedy));
            }
            period => period.map(Periodic::new),
        };
        Ok(Self { fifo: Fifo::new(params.limit(), u64::MAX), decider, ticks, ecn: params.ecn })
    }

    /// Whether `decision` means that the packet is lost.
    fn drops(&self, decision: Decision, packet: &P) -> bool {
        match decision {
            Decision::Pass => false,
            Decision::Mark => !self.ecn.applies(packet.ecn()),
            Decision::Drop => true,
        }
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        self.advance(now);
        let stamped = Stamped { packet, at: now };
        let sink = &mut Unstamp(sink);
        let view = view(now, &stamped);
        let decision = self.decider.enqueue(now, view, self.fifo.standing());
        if self.drops(decision, &packet) {
            self.fifo.refuse(now, stamped, DropReason::Early, sink)
        } else if !self.fifo.fits(packet.bytes()) {
            self.fifo.refuse(now, stamped, DropReason::Overflow, sink)
        } else if decision == Decision::Mark && packet.ecn() != Ecn::Ce {
            self.fifo.accept_marked(stamped)
        } else {
            self.fifo.accept(stamped)
        }
    }

    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        self.advance(now);
        loop {
            let head = *self.fifo.peek()?;
            let mut left = self.fifo.standing();
            left.packets -= 1;
            left.bytes -= u64::from(head.packet.bytes());
            let decision = self.decider.dequeue(now, view(now, &head), left);
            if self.drops(decision, &head.packet) {
                self.fifo.evict(now, DropReason::Early, &mut Unstamp(&mut *sink));
                continue;
            }
            if decision == Decision::Mark && head.packet.ecn() != Ecn::Ce {
                self.fifo.mark_head();
            }
            return self.fifo.take().map(|stamped| stamped.packet);
        }
    }

    fn advance(&mut self, now: Time) {
        let Some(ticks) = &mut self.ticks else { return };
        let (first, n) = ticks.take(now);
        let (period, queue) = (ticks.period().0, self.fifo.standing());
        for k in 0..n {
            self.decider.update(Time(first.0 + k * period), queue);
        }
    }

    fn peek(&self) -> Option<&P> {
        None // the decider may drop it
    }

    fn counters(&self) -> &Counters {
        self.fifo.counters()
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.fifo.iter().map(|stamped| &stamped.packet).for_each(tell);
    }

    fn probability(&self) -> f64 {
        self.decider.probability().clamp(0.0, 1.0)
    }
}

fn view<P: Packet>(now: Time, stamped: &Stamped<P>) -> View {
    let packet = &stamped.packet;
    View {
        bytes: packet.bytes(),
        ecn: packet.ecn(),
        flow: packet.flow_hash(),
        sojourn: now.saturating_sub(stamped.at),
    }
}
