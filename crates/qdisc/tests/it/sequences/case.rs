//! What the harness must know of a discipline, and the values its parameters may have.

use crate::common::Token;
use proptest::prelude::*;
use sojourn_base::{Size, Time};
use sojourn_qdisc::{ByteMode, Config, EcnMarking, Env, Spacing};

/// The most that may stand in the queue; the smallest of the three counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub packets: u32,
    pub bytes: Option<Size>,
    /// As the bytes that the link sends in this time.
    pub time: Option<Time>,
}

impl Limits {
    pub(super) fn packets(packets: u32) -> Self {
        Self { packets, bytes: None, time: None }
    }

    pub(super) fn on(&self, env: &Env) -> (u32, u64) {
        let sent = |t: Time| (u128::from(t.0) * u128::from(env.rate.0) / 8_000_000_000) as u64;
        let bytes = self.bytes.map_or(u64::MAX, |n| n.0);
        (self.packets, bytes.min(self.time.map_or(u64::MAX, sent)))
    }
}

/// A discipline with its parameters, and what is true of it. A strict FIFO that decides on
/// arrival (`Config::decides_at_enqueue`) is held to that without being asked here.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub config: Config,
    pub limits: Limits,
    /// Which packets are marked instead of dropped.
    pub ecn: EcnMarking,
    /// Whether packets that could be marked may be dropped early all the same.
    pub drops_capable: bool,
    /// Whether a limit further in (of a flow, of a class) may drop while `limits` has room.
    pub inner_limits: bool,
    /// Whether packets may stand and none be ready, as in a shaper.
    pub holds_back: bool,
    /// Whether one call may look at every packet that stands.
    pub sweeps: bool,
    /// Most drops in one `enqueue` and in one `dequeue`.
    pub most_drops: (u32, u32),
    /// Packets for which this is the same leave in the order in which they came. It must not
    /// depend on what a mark changes.
    pub line: fn(&Token) -> u64,
}

impl Case {
    /// A queue in which only the packet that arrives can be dropped and in which packets of one
    /// flow stay in order. Set the other fields where that is not so.
    pub(super) fn new(config: Config, limit: u32, ecn: EcnMarking) -> Self {
        Self {
            config,
            limits: Limits::packets(limit),
            ecn,
            drops_capable: false,
            inner_limits: false,
            holds_back: false,
            sweeps: false,
            most_drops: (1, 0),
            line: |packet| u64::from(packet.flow),
        }
    }
}

/// A number spread evenly over the orders of magnitude.
pub(super) fn magnitude(low: f64, high: f64) -> impl Strategy<Value = f64> + Clone {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

/// A time between two numbers of nanoseconds, spread like that.
pub(super) fn time(low_ns: f64, high_ns: f64) -> impl Strategy<Value = Time> + Clone {
    magnitude(low_ns, high_ns).prop_map(|x| Time(x as u64))
}

/// A limit in packets: often one that is reached.
pub(super) fn limit() -> impl Strategy<Value = u32> + Clone {
    prop_oneof![1u32..30, Just(1_000_000), Just(67_108_864)]
}

/// `ecn`.
pub(super) fn ecn() -> impl Strategy<Value = EcnMarking> {
    prop::sample::select(vec![EcnMarking::Off, EcnMarking::On, EcnMarking::Ect0])
}

/// `ecn`, `byte_mode`, `limit`.
pub(super) type Rest = (EcnMarking, ByteMode, u32);

/// What most laws have in common.
pub(super) fn rest() -> impl Strategy<Value = Rest> {
    let switches = (ecn(), any::<bool>(), any::<bool>());
    (switches, prop::option::of(40u32..=65_535), limit()).prop_map(
        |((ecn, queue_in_bytes, scale_by_size), mean_packet, limit)| {
            (ecn, ByteMode { queue_in_bytes, scale_by_size, mean_packet }, limit)
        },
    )
}

/// Which packets RED hits: `spacing`, `min_queue`.
pub(super) fn hits() -> impl Strategy<Value = (Spacing, u32)> {
    (prop::sample::select(vec![Spacing::Uniform, Spacing::Wait, Spacing::Altq]), 0..4u32)
}

/// A setpoint in packets.
pub(super) fn qref() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), magnitude(0.1, 67_108_864.0)]
}
