//! On/off UDP sources: the superposition of many with heavy-tailed periods is long-range dependent
//! with H = (3 − alpha)/2 (Willinger, Taqqu, Sherman, Wilson, ToN 1997).

use crate::bulk::flows;
use crate::spacing::Spacing;
use crate::udp::check;
use crate::{Codepoint, Distribution, Invalid, Residual, Sampler};
use sojourn_base::{Kind, Rate, Size, Stream, Time};

/// A packet is put together of at most so many times of sending, in the mean.
const MOST_TIMES: f64 = 1e6;

/// UDP flows that send at a constant rate for a random time, are silent for a random time, and so
/// on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields)
)]
pub struct OnOff {
    /// Number of flows.
    #[cfg_attr(feature = "schema", serde(default = "crate::udp::one"))]
    pub flows: u32,
    /// Rate of each flow while it sends, IP headers included.
    pub rate: Rate,
    /// Size of a packet, IP and UDP headers included.
    #[cfg_attr(feature = "schema", serde(default = "crate::udp::full_packet"))]
    pub packet: Size,
    /// How long a flow sends.
    pub on: Distribution<Time>,
    /// How long it is silent.
    pub off: Distribution<Time>,
    /// The packets' ECN codepoint.
    #[cfg_attr(feature = "schema", serde(default))]
    pub ecn: Codepoint,
}

impl OnOff {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.compile().map(|_| ())
    }

    /// Reads the quantile files that the fields name.
    pub fn load_files(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), Invalid> {
        self.on.load_files("on", read)?;
        self.off.load_files("off", read)
    }

    /// Compiles what the flows of a group share.
    pub fn compile(&self) -> Result<OnOffModel, Invalid> {
        flows(self.flows)?;
        check(self.rate, self.packet)?;
        let (on, off) = (self.on.sampler("on")?, self.off.sampler("off")?);
        if on.mean() <= 0.0 {
            return Err(Invalid::new("on", "0", "a flow that never sends; give longer times"));
        }
        let share = match [on.mean(), off.mean()] {
            // With two infinite means there is no stationary share: one half.
            [f64::INFINITY, f64::INFINITY] => 0.5,
            [f64::INFINITY, _] => 1.0,
            [on, off] => on / (on + off),
        };
        let spacing = Spacing::new(self.rate, self.packet);
        if on.mean() * MOST_TIMES < spacing.exact() {
            let message = "far shorter than a packet takes at this rate; give longer times";
            return Err(Invalid::new("on", format!("{} ns on average", on.mean()), message));
        }
        Ok(OnOffModel {
            bytes: self.packet.0 as u32,
            spacing,
            residual_on: on.residual(),
            residual_off: off.residual(),
            share_on: share,
            on,
            off,
        })
    }
}

/// What the flows of an on/off group share.
#[derive(Clone, Debug)]
pub struct OnOffModel {
    bytes: u32,
    spacing: Spacing,
    on: Sampler,
    off: Sampler,
    residual_on: Residual,
    residual_off: Residual,
    share_on: f64,
}

impl OnOffModel {
    /// Mean rate of a flow as a share of its rate while it sends.
    #[must_use]
    pub fn share_on(&self) -> f64 {
        self.share_on
    }
}

/// One on/off flow. It starts in its stationary state: on with probability
/// E(on)/(E(on) + E(off)), with a residual time.
///
/// Packets are spaced evenly over the time that the flow is on: a period too short for a packet
/// counts towards the next, so that the mean rate is exact.
#[derive(Clone, Debug)]
pub struct OnOffSource {
    stream: Stream,
    carry: u64,
    /// What is left of the current on period after the last packet.
    on_left: u64,
    started: bool,
}

impl OnOffSource {
    /// Flow `index` of a group.
    #[must_use]
    pub const fn new(seed: u64, group: u32, index: u64) -> Self {
        let stream = Stream::new(seed, Kind::Arrival, group, index);
        Self { stream, carry: 0, on_left: 0, started: false }
    }

    /// The time from one packet (at first: the flow's start) to the next, and the next one's
    /// bytes. Later than [`Time::MAX`] counts as never.
    pub fn next_packet(&mut self, model: &OnOffModel) -> (Time, u32) {
        let mut gap = 0u64;
        let mut needed = model.spacing.next(&mut self.carry);
        if !self.started {
            self.started = true;
            needed = self.stream.below(needed + 1);
            // Draw on any path the same numbers: phase, state, residual.
            let on = self.stream.next_u64() as f64 * (1.0 / 18_446_744_073_709_551_616.0);
            let stream = &mut self.stream;
            if on < model.share_on {
                self.on_left = model.residual_on.sample(None, stream);
            } else {
                gap = model.residual_off.sample(None, stream);
                self.on_left = model.on.sample(stream);
            }
        }
        while self.on_left < needed {
            needed -= self.on_left;
            let off = model.off.sample(&mut self.stream);
            gap = gap.saturating_add(self.on_left).saturating_add(off);
            self.on_left = model.on.sample(&mut self.stream);
        }
        self.on_left -= needed;
        (Time(gap.saturating_add(needed)), model.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(on: Distribution<Time>, off: Distribution<Time>) -> OnOff {
        let (rate, packet) = (Rate(12_000_000), Size(1500));
        OnOff { flows: 1, rate, packet, on, off, ecn: Codepoint::NotEct }
    }

    #[test]
    fn the_mean_rate_is_that_of_the_stationary_process() {
        let ms = Time::from_millis;
        // On periods shorter and longer than the 1 ms between packets.
        for mean_on in [Time::from_micros(300), ms(20)] {
            let off = Distribution::Constant(mean_on * 3);
            let model = group(Distribution::Exponential { mean: mean_on }, off).compile().unwrap();
            assert!((model.share_on() - 0.25).abs() < 1e-12);
            let mut source = OnOffSource::new(1, 0, 0);
            let time: Time = (0..100_000).map(|_| source.next_packet(&model).0).sum();
            assert!((time.as_secs_f64() / 400.0 - 1.0).abs() < 0.02, "{time}");
        }
    }

    #[test]
    fn times_in_which_next_to_nothing_is_sent_are_refused() {
        let on = Distribution::Constant(Time(1));
        let slow = OnOff { rate: Rate(1000), ..group(on, Distribution::Constant(Time::ZERO)) };
        assert_eq!(slow.compile().unwrap_err().field, "on");
    }

    #[test]
    fn flows_start_in_their_stationary_state() {
        let s = Time::from_secs;
        let model = group(
            Distribution::Pareto { shape: 1.5, min: s(1), max: Some(s(1000)) },
            Distribution::Pareto { shape: 1.5, min: s(1), max: Some(s(1000)) },
        );
        let model = model.compile().unwrap();
        // The number of flows that send in the first second is half of all, as at any other time.
        let early = |from: u64, to: u64| {
            let sends = |i: u64| {
                let mut source = OnOffSource::new(1, 0, i);
                let mut now = Time::ZERO;
                let mut packets = 0;
                loop {
                    now += source.next_packet(&model).0;
                    if now >= s(to) {
                        return packets;
                    }
                    packets += i32::from(now >= s(from));
                }
            };
            (0..2000).map(sends).sum::<i32>() as f64 / 2000.0 / 1000.0
        };
        assert!((early(0, 1) - 0.5).abs() < 0.04, "{}", early(0, 1));
        assert!((early(9, 10) - 0.5).abs() < 0.04, "{}", early(9, 10));
    }
}
