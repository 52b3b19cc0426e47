//! Drop-tail: a FIFO that refuses what does not fit.
//!
//! # Differences from the source
//!
//! There is no one source. 1. The packet in service is not counted: a textbook's M/D/1/K has
//! K = `limit` + 1. 2. A limit in time is turned into bytes once, at the link's rate.
//!
//! # Differences from Linux
//!
//! 1. `limit` is `pfifo`, `limit_bytes` is `bfifo`; Linux has no limit in time.
//! 2. Linux takes its default limit from the device's transmit queue length (usually 1000 packets,
//!    or as many MTU for `bfifo`); here it is 1000 packets.
//! 3. Below a queue of Linux there is the device's own ring, which packets enter without counting
//!    in the limit any more; here only the packet in transmission has left the queue.
//! 4. `bfifo` counts link-layer headers, here the bytes of IP packets count.

use crate::{
    Counters, DropReason, Env, Fifo, Invalid, Packet, Parameters, Sink, Verdict,
    managed::packet_limit,
};
use alloc::format;
use sojourn_base::{Size, Stream, Time};

/// The limit in packets if none of the three is given.
pub const LIMIT: u32 = 1000;

/// Drop-tail. Give at most one of the three limits; without any it is 1000 packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Most packets in the queue, the one in service not counted: 1 to 67108864 (default 1000).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub limit: Option<u32>,
    /// Most bytes in the queue, for example "360kB"; at least one mean packet.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub limit_bytes: Option<Size>,
    /// Most bytes in the queue as the time the link needs to send them, for example "100ms"; at
    /// least the time of one mean packet.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub limit_time: Option<Time>,
}

impl Params {
    /// A limit in packets.
    #[must_use]
    pub fn packets(limit: u32) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }

    /// The limits in packets and bytes that follow on a link like `env`.
    fn resolve(&self, env: &Env) -> Result<(u32, u64), Invalid> {
        let least = u64::from(env.mean_packet);
        match (self.limit, self.limit_bytes, self.limit_time) {
            (None, None, None) => Ok((LIMIT, u64::MAX)),
            (Some(packets), None, None) => packet_limit(packets).map(|()| (packets, u64::MAX)),
            (None, Some(Size(bytes)), None) => {
                if bytes < least {
                    let remedy = format!("must hold one mean packet: at least \"{least}B\"");
                    return Err(Invalid::new("limit_bytes", format!("\"{bytes}B\""), remedy));
                }
                Ok((u32::MAX, bytes))
            }
            (None, None, Some(time)) => {
                let bits = u128::from(time.0) * u128::from(env.rate.0) / 1_000_000_000;
                let bytes = u64::try_from(bits / 8).unwrap_or(u64::MAX);
                if bytes < least {
                    let least = env.rate.time_for(least);
                    let remedy = format!("must hold one mean packet: at least \"{least}\"");
                    return Err(Invalid::new("limit_time", format!("\"{time}\""), remedy));
                }
                Ok((u32::MAX, bytes))
            }
            (packets, bytes, time) => {
                let given = [
                    packets.map(|n| format!("limit = {n}")),
                    bytes.map(|n| format!("limit_bytes = \"{n}\"")),
                    time.map(|t| format!("limit_time = \"{t}\"")),
                ];
                let given: alloc::vec::Vec<_> = given.into_iter().flatten().collect();
                let field = if packets.is_some() { "limit" } else { "limit_bytes" };
                let remedy = "give one of limit, limit_bytes and limit_time, not more";
                Err(Invalid::new(field, given.join(", "), remedy))
            }
        }
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        self.resolve(env).map(|_| ())
    }
}

/// Drop-tail with its defaults: the queue of a class that names no other.
#[must_use]
pub fn config() -> crate::Config {
    crate::Config::Droptail(Params::default())
}

/// A drop-tail queue.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    fifo: Fifo<P>,
}

impl<P: Packet> Discipline<P> {
    /// An empty queue; it draws no random numbers.
    pub fn new(params: &Params, env: &Env, _: Stream) -> Result<Self, Invalid> {
        let (packets, bytes) = params.resolve(env)?;
        Ok(Self { fifo: Fifo::new(packets, bytes) })
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {
    fn change(&mut self, params: &Params, env: &Env) -> Result<bool, Invalid> {
        let (packets, bytes) = params.resolve(env)?;
        self.fifo.set_limits(packets, bytes);
        Ok(true)
    }
}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        if self.fifo.fits(packet.bytes()) {
            self.fifo.accept(packet)
        } else {
            self.fifo.refuse(now, packet, DropReason::Overflow, sink)
        }
    }

    #[inline]
    fn dequeue(&mut self, _: Time, _: &mut impl Sink<P>) -> Option<P> {
        self.fifo.take()
    }

    #[inline]
    fn advance(&mut self, _: Time) {}

    #[inline]
    fn peek(&self) -> Option<&P> {
        self.fifo.peek()
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
        self.fifo.iter().for_each(tell);
    }

    fn probability(&self) -> f64 {
        0.0
    }
}
