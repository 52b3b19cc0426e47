//! Token bucket: lets packets of another discipline pass at `rate` on average and `burst` bytes at
//! most at once.
//!
//! Source: RFC 2697 and 2698 name the two buckets (without their colours); the sum that never is
//! exceeded is that of RFC 2212, "Policing": in any span `t` at most `rate` · t + `burst` bytes,
//! and with a peak rate at most `peak_rate` · t + `peak_burst`.
//!
//! A bucket fills at its rate, up to its depth. A packet passes when every bucket holds as many
//! bytes as it has, and takes them out. Tokens are counted in bytes times 8·10⁹: that is the rate
//! in bits per second times nanoseconds, so nothing is rounded, a packet is ready at the very
//! nanosecond, and the long-run rate is exact.
//!
//! # Differences from the source
//!
//! 1. A packet larger than a bucket could never pass: it is dropped when it comes, and counts as
//!    `overflow`.
//! 2. The inner discipline is told `rate` as the rate of its link, or the link's if that is lower.
//! 3. Where the inner discipline cannot say what it gives next (CoDel, anything with classes), the
//!    next packet is taken out as soon as the one before has left, and waits here for its tokens:
//!    CoDel then decides one packet's time too early. The packet still counts as standing.
//! 4. Buckets are full at the start.
//!
//! # Differences from Linux
//!
//! 1. `sch_tbf` keeps tokens in nanoseconds, rounded per packet through a table or a
//!    multiplication, so that its rate is off by up to a part in a thousand or so.
//! 2. It takes the next packet out beforehand whatever the inner discipline is.
//! 3. `latency` and `limit` are the inner discipline's business: `limit_time`, for example.
//! 4. It splits segments of the sender's offload that are larger than the bucket; here packets are
//!    no larger than on the wire.
//! 5. `mpu` and `overhead` do not exist: IP bytes are counted.

use crate::{
    ClassInfo, Config, Counters, DropReason, Env, Invalid, Packet, Parameters, Qdisc, Sink,
    Verdict, droptail,
};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{NANOS_PER_BYTE, Rate, Size, Stream, Time};

/// A token bucket.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Tbf"))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The rate in the long run, of IP bytes: "1kbit" to "10tbit" (default: nine tenths of the
    /// link's, so that packets wait here and not behind).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub rate: Option<Rate>,
    /// Depth of the bucket: at least the largest packet, at most "1GB" (default "15kB", ten
    /// packets of Ethernet).
    pub burst: Size,
    /// A second limit, for the packets of a burst: above `rate`, at most "10tbit" (default: none,
    /// a burst leaves as fast as the link sends).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub peak_rate: Option<Rate>,
    /// Depth of the bucket for `peak_rate`: at least the largest packet, at most "1GB" (default
    /// "1500B"). Larger packets are dropped.
    pub peak_burst: Size,
    /// The discipline whose packets these are (default: droptail).
    pub qdisc: Box<Config>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            rate: None,
            burst: Size(15_000),
            peak_rate: None,
            peak_burst: Size(1500),
            qdisc: Box::new(droptail::config()),
        }
    }
}

/// The highest rate that a bucket may have.
const FASTEST: Rate = Rate(10_000_000_000_000);
/// The deepest bucket, in bytes.
const DEEPEST: u64 = 1_000_000_000;
/// Tokens for a byte: a bit per second gives one in a nanosecond.
const BYTE: u64 = NANOS_PER_BYTE;

impl Params {
    fn rate(&self, env: &Env) -> Rate {
        self.rate.unwrap_or(Rate((env.rate.0 / 10 * 9).max(1)))
    }

    fn inner_env(&self, env: &Env) -> Env {
        Env { rate: self.rate(env).min(env.rate), ..*env }
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        let rate = self.rate(env);
        if self.rate.is_some_and(|rate| rate < Rate(1000)) || rate > FASTEST {
            let remedy = "must be from \"1kbit\" to \"10tbit\"";
            return Err(Invalid::new("rate", format!("\"{rate}\""), remedy));
        }
        let depth = |field, size: Size| {
            if size.0 < u64::from(env.mean_packet) || size.0 > DEEPEST {
                let least = env.mean_packet;
                let remedy = format!("must hold a mean packet, \"{least}B\", and at most \"1GB\"");
                return Err(Invalid::new(field, format!("\"{size}\""), remedy));
            }
            Ok(())
        };
        depth("burst", self.burst)?;
        if let Some(peak) = self.peak_rate {
            if peak <= rate || peak > FASTEST {
                let remedy = format!("must be above the rate, \"{rate}\", and at most \"10tbit\"");
                return Err(Invalid::new("peak_rate", format!("\"{peak}\""), remedy));
            }
            depth("peak_burst", self.peak_burst)?;
        }
        if self.depth() > crate::DEEPEST {
            let remedy = "disciplines must lie at most 8 deep in each other";
            return Err(Invalid::new("qdisc", "{...}", remedy));
        }
        self.qdisc.validate(&self.inner_env(env)).map_err(inside)
    }

    fn classes(&self) -> Vec<ClassInfo> {
        let mut classes = self.qdisc.classes();
        for class in &mut classes {
            class.labels.iter_mut().for_each(|(_, at)| *at = format!("qdisc.{at}"));
        }
        classes
    }

    fn holds_back(&self) -> bool {
        true
    }

    fn inner(&self) -> Vec<&Config> {
        Vec::from([&*self.qdisc])
    }
}

fn inside(mut invalid: Invalid) -> Invalid {
    invalid.field = Cow::Owned(format!("qdisc.{}", invalid.field));
    invalid
}

/// A bucket with its tokens; see [`BYTE`].
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bucket {
    rate: u64,
    depth: u64,
    tokens: u64,
    /// When `tokens` were there.
    at: Time,
}

impl Bucket {
    fn new(rate: Rate, depth: Size) -> Self {
        let depth = depth.0 * BYTE;
        Self { rate: rate.0, depth, tokens: depth, at: Time::ZERO }
    }

    #[inline]
    fn fill(&mut self, now: Time) {
        let come = u128::from(self.rate) * u128::from(now.0 - self.at.0);
        let come = u64::try_from(come).unwrap_or(u64::MAX);
        self.tokens = self.tokens.saturating_add(come).min(self.depth);
        self.at = now;
    }

    #[inline]
    fn take(&mut self, bytes: u32) {
        self.tokens = self.tokens.saturating_sub(u64::from(bytes) * BYTE);
    }

    /// The first nanosecond at which `bytes` are there.
    #[inline]
    fn ready_at(&self, bytes: u32) -> Time {
        let missing = (u64::from(bytes) * BYTE).saturating_sub(self.tokens);
        Time(self.at.0.saturating_add(missing.div_ceil(self.rate)))
    }
}

/// A bucket or two in front of a discipline.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    bucket: Bucket,
    peak: Option<Bucket>,
    inner: Box<Qdisc<P>>,
    /// Taken out of the inner discipline and waiting for its tokens, and the class that it came
    /// out of.
    held: Option<(P, usize)>,
    /// That of the packet that left last, if it was held: the inner discipline may have given the
    /// next one since.
    left: Option<usize>,
    counters: Counters,
}

impl<P: Packet> Discipline<P> {
    /// An empty queue and full buckets.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        params.validate(env)?;
        let inner = Qdisc::new(&params.qdisc, &params.inner_env(env), coin).map_err(inside)?;
        Ok(Self {
            bucket: Bucket::new(params.rate(env), params.burst),
            peak: params.peak_rate.map(|rate| Bucket::new(rate, params.peak_burst)),
            inner: Box::new(inner),
            held: None,
            left: None,
            counters: Counters::default(),
        })
    }

    /// Takes the next packet out of a discipline that does not say what it will be.
    #[inline]
    fn hold(&mut self, now: Time, sink: &mut impl Sink<P>) {
        use crate::Discipline as _;
        let unknown = self.held.is_none() && self.inner.peek().is_none();
        if unknown && self.inner.next_ready(now) == Some(now) {
            let packet = self.with_inner(|inner| inner.dequeue(now, sink));
            self.held = packet.map(|packet| {
                let class = self.inner.class_of(&packet);
                (packet, class)
            });
        }
    }

    /// A call of the inner discipline. What it counts is counted here, but for what leaves it.
    #[inline]
    fn with_inner<T>(&mut self, call: impl FnOnce(&mut Qdisc<P>) -> T) -> T {
        use crate::Discipline as _;
        let before = *self.inner.counters();
        let result = call(&mut self.inner);
        let mut after = *self.inner.counters();
        after.dequeued = before.dequeued;
        self.counters.follow(&before, &after);
        result
    }

    /// When the buckets have as much as the next packet takes; none if there is no packet or it
    /// is not known.
    #[inline]
    fn conforms_at(&self) -> Option<Time> {
        use crate::Discipline as _;
        let bytes = self.peek()?.bytes();
        let peak = self.peak.as_ref().map_or(Time::ZERO, |peak| peak.ready_at(bytes));
        Some(self.bucket.ready_at(bytes).max(peak))
    }

    fn deepest(&self) -> u64 {
        let peak = self.peak.as_ref().map_or(u64::MAX, |peak| peak.depth);
        self.bucket.depth.min(peak) / BYTE
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        let bytes = packet.bytes();
        if u64::from(bytes) > self.deepest() {
            self.inner.advance(now);
            self.counters.overflow.add(bytes);
            sink.dropped(now, packet, DropReason::Overflow);
            return Verdict::Dropped(DropReason::Overflow);
        }
        let verdict = self.with_inner(|inner| inner.enqueue(now, packet, sink));
        self.hold(now, sink);
        verdict
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        self.bucket.fill(now);
        if let Some(peak) = &mut self.peak {
            peak.fill(now);
        }
        if self.counters.standing().packets == 0 {
            // The inner discipline takes note that its queue was found empty.
            return self.with_inner(|inner| inner.dequeue(now, sink));
        }
        self.hold(now, sink);
        if self.conforms_at()? > now {
            return None;
        }
        let (packet, left) = match self.held.take() {
            Some((packet, class)) => (packet, Some(class)),
            None => (self.with_inner(|inner| inner.dequeue(now, sink))?, None),
        };
        self.left = left;
        let bytes = packet.bytes();
        self.bucket.take(bytes);
        if let Some(peak) = &mut self.peak {
            peak.take(bytes);
        }
        self.counters.dequeued.add(bytes);
        self.hold(now, sink);
        Some(packet)
    }

    #[inline]
    fn next_ready(&self, now: Time) -> Option<Time> {
        let inner = if self.held.is_some() { now } else { self.inner.next_ready(now)? };
        Some(self.conforms_at().unwrap_or(now).max(inner).max(now))
    }

    fn advance(&mut self, now: Time) {
        self.inner.advance(now);
    }

    #[inline]
    fn peek(&self) -> Option<&P> {
        self.held.as_ref().map(|(packet, _)| packet).or_else(|| self.inner.peek())
    }

    #[inline]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.held.iter().for_each(|(packet, _)| tell(packet));
        self.inner.each(tell);
    }

    fn probability(&self) -> f64 {
        self.inner.probability()
    }

    fn class_of(&self, packet: &P) -> usize {
        self.left.unwrap_or_else(|| self.inner.class_of(packet))
    }

    fn classes(&self, tell: &mut dyn FnMut(&Counters)) {
        self.inner.classes(tell);
    }
}
