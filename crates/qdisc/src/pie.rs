//! PIE: proportional-integral controller enhanced, RFC 8033.
//!
//! PI on the queueing *delay*. Every `tupdate`
//!
//! ```text
//! p += scale(p) (alpha (delay − target) + beta (delay − delay before)), clamped to 0..1
//! ```
//!
//! where the scale falls from 1 to 1/2048 with p, so that small probabilities move in small steps.
//! An empty queue lets p decay, bursts of up to `max_burst` pass after quiet times, and drops are
//! spaced by accumulating p: none before 0.85, one at 8.5 for certain.
//!
//! # Differences from the source
//!
//! 1. Integers: p in Q.60, gains per nanosecond in Q.84, delays in nanoseconds.
//! 2. The delay is that of the packet that left last, taken when its transmission starts
//!    (section 4.3's way by timestamps); it is 0 once that packet has left the queue empty, or p
//!    would go on rising over an idle link. `delay = "rate"` is the way of section 5.2.
//! 3. With `delay = "rate"` a measuring cycle counts the packet at whose start it begins and not
//!    the one at whose start it ends: the bytes that were on the wire in between.
//! 4. PIE is always on; section 5.3's switching off below a third of the buffer is left out. p
//!    decays at updates that find no delay twice, as in section 4.2 and appendix A; appendix B lets
//!    it decay below half of `target` too.
//! 5. Updates that come due between two packets are run at once before the next, with the delay
//!    as it stood: within a band of p all change it by the same amount, so a silence costs a step
//!    per band, or while p decays at most as many as take it to 0.
//! 6. Bursts are allowed in steps of `tupdate`, as in section 4.4.
//! 7. At a p of exactly `mark_ecn_th` packets are still marked, as the text of section 5.1 says;
//!    its pseudocode drops them.
//!
//! # Differences from Linux
//!
//! 1. `sch_pie` compares the delay of the last packet with half of `target` before an early drop;
//!    here, as in the RFC, it is the delay at the last update, but with `linux_guards`.
//! 2. `sch_pie` takes time off the burst allowance at departures, not at updates; it renews the
//!    allowance at an update and forgets the accumulated p then, here it is renewed when a packet
//!    arrives, but with `linux_guards`. It does not keep 150 ms adjustable.
//! 3. Above 250 ms `sch_pie` adds another 2 % at every update: `high_delay = "250ms"`.
//! 4. Its decay is 1/64 at a time (`decay = 0.984375`), here 0.02; it does not decay while bytes
//!    stand and the delay is 0, here only with `linux_guards`.
//! 5. Its two-packet guard is 2 MTU with "less than"; here twice `mean_packet`, inclusive.
//! 6. Its spacing cannot be switched off; its `bytemode` uses the MTU as the reference size and
//!    leaves larger packets alone.
//! 7. Its rate is averaged with 1/8 (here the RFC's 1/4), gains are multiples of 1/16, the period
//!    is in jiffies, one more than it takes (`tupdate = "20ms"` with 250 a second), and the first
//!    update comes after half a second (`first_update`).
//! 8. Its `limit` is 1000 packets; here the controller decides.
//! 9. Its p ends where its 64 bits do, at 256: `max_probability = 4`, which no start of flows
//!    reaches. While p is above 1 it drops all that finds two packets in the queue.

mod controller;

pub use controller::{BANDS, Core, State};

use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::{EcnMarking, Env, Invalid, Periodic, Stamped, Standing};
use sojourn_base::{Stream, Time};

/// How the delay is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Delay {
    /// From the times of arrival: the delay of the packet that left last.
    #[default]
    Timestamps,
    /// From the bytes that stand and the measured rate of departures.
    Rate,
}

/// PIE. The defaults are those of RFC 8033, appendix A.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The controller.
    #[cfg_attr(feature = "schema", serde(rename = "$control"))]
    pub control: Control,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    pub limit: u32,
}

/// Parameters of the controller, which FQ-PIE has too.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Control {
    /// The delay to hold: "1us" to "1000s" (default "15ms", RFC 8033).
    pub target: Time,
    /// Time between two updates: "1us" to "1000s" (default "15ms", RFC 8033).
    pub tupdate: Time,
    /// When the first update is, from when the queue is made; default: `tupdate` (Linux: "500ms").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub first_update: Option<Time>,
    /// What an update leaves of p once two in a row found no delay: 0.5 to 1 (default 0.98, RFC
    /// 8033 section 4.2; Linux: 63/64).
    pub decay: f64,
    /// Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.125, RFC 8033).
    pub alpha: f64,
    /// Gain on the delay's change since the last update, in hertz: 0 to 32 (default 1.25,
    /// RFC 8033).
    pub beta: f64,
    /// For how long after a quiet time everything passes: up to "1000s" (default "150ms",
    /// RFC 8033).
    pub max_burst: Time,
    /// The guards of Linux (default false, RFC 8033): the burst allowance is spent at departures
    /// and renewed at updates, the delay that spares early drops is that of the packet that left
    /// last and not that of the last update, and p does not decay while anything stands in the
    /// queue.
    pub linux_guards: bool,
    /// How the delay is known: "timestamps" (default, as Linux) or "rate" (RFC 8033 section 5.2).
    pub delay: Delay,
    /// Space drops by accumulating p (default true, RFC 8033 section 5.4).
    pub derandomize: bool,
    /// Delay above which every update adds another 0.02 to p, at least `target`; default: none
    /// (Linux: "250ms").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub high_delay: Option<Time>,
    /// Largest p: 1 to 4 (default 1, RFC 8033 section 4.2). One above 1 has to come down to 1
    /// before anything passes again, as in Linux.
    pub max_probability: f64,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// false).
    pub ecn: EcnMarking,
    /// With `ecn`: the p above which ECN-capable packets are dropped too: 0 to 1 (default 0.1,
    /// RFC 8033 section 5.1).
    pub mark_ecn_th: f64,
    /// Multiply the probability by the packet's size over `mean_packet` (default false).
    pub scale_by_size: bool,
    /// Mean packet in bytes, 40 to 65535; two of them always pass. Default: the link's.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mean_packet: Option<u32>,
}

impl Default for Params {
    fn default() -> Self {
        Control::default().into()
    }
}

impl From<Control> for Params {
    fn from(control: Control) -> Self {
        Self { control, limit: LIMIT }
    }
}

impl Default for Control {
    fn default() -> Self {
        Self {
            target: Time::from_millis(15),
            tupdate: Time::from_millis(15),
            first_update: None,
            decay: 0.98,
            alpha: 0.125,
            beta: 1.25,
            max_burst: Time::from_millis(150),
            linux_guards: false,
            delay: Delay::Timestamps,
            derandomize: true,
            high_delay: None,
            max_probability: 1.0,
            ecn: EcnMarking::Off,
            mark_ecn_th: 0.1,
            scale_by_size: false,
            mean_packet: None,
        }
    }
}

impl LawParams for Params {
    type Law = Pie;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.control.ecn }
    }
}

/// An error unless `time` is 1 µs to 1000 s.
pub(crate) fn sensible(field: &'static str, time: Time, like: &str) -> Result<u64, Invalid> {
    if (Time::from_micros(1)..=Time::from_secs(1000)).contains(&time) {
        return Ok(time.0);
    }
    let remedy = alloc::format!("must be \"1us\" to \"1000s\", for example \"{like}\"");
    Err(Invalid::new(field, alloc::format!("\"{time}\""), remedy))
}

/// The control law of one queue.
#[derive(Clone, Debug)]
pub struct Pie {
    core: Core,
    state: State,
    clock: Periodic,
}

/// A queue under PIE.
pub type Discipline<P> = Managed<P, Pie, Stamped<P>>;

impl Pie {
    /// The controller.
    #[must_use]
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl Law for Pie {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let core = Core::new(&params.control, env)?;
        Ok(Self { state: core.start(), clock: core.clock(), core })
    }

    fn resume(self, before: &Self) -> Option<Self> {
        let clock = self.clock.after(&before.clock);
        Some(Self { state: before.state.clone(), clock, ..self })
    }

    #[inline]
    fn advance(&mut self, now: Time, queue: Standing) {
        if self.clock.due(now) {
            let (_, n) = self.clock.take(now);
            self.core.update(&mut self.state, queue, n);
        }
    }

    #[inline]
    fn arrival(&mut self, _: Time, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal {
        self.core.arrival(&mut self.state, bytes, queue, coin)
    }

    #[inline]
    fn overflowed(&mut self) {
        self.state.accumulated = 0;
    }

    #[inline]
    fn departed(&mut self, now: Time, came: Time, bytes: u32, queue: Standing) {
        self.core.departure(&mut self.state, now, came, bytes, queue);
    }

    fn probability(&self) -> f64 {
        self.state.probability.as_f64()
    }
}
