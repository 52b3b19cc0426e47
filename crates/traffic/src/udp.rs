//! UDP at a constant rate or as a Poisson process.

use crate::bulk::flows;
use crate::spacing::Spacing;
use crate::{Invalid, Sampler};
use sojourn_base::{Kind, Rate, Size, Stream, Time};

/// The ECN field of a UDP packet (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "kebab-case")
)]
#[repr(u8)]
pub enum Codepoint {
    /// Not ECN-capable: a queue can only drop it.
    #[default]
    NotEct = 0,
    /// ECT(1).
    Ect1 = 1,
    /// ECT(0).
    Ect0 = 2,
}

/// UDP flows that send whether or not packets are lost.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields)
)]
pub struct Udp {
    /// Number of flows.
    #[cfg_attr(feature = "schema", serde(default = "one"))]
    pub flows: u32,
    /// Rate of each flow, IP headers included.
    pub rate: Rate,
    /// Size of a packet, IP and UDP headers included.
    #[cfg_attr(feature = "schema", serde(default = "full_packet"))]
    pub packet: Size,
    /// Poisson: exponential times between packets, rather than equal ones.
    #[cfg_attr(feature = "schema", serde(default))]
    pub poisson: bool,
    /// The packets' ECN codepoint.
    #[cfg_attr(feature = "schema", serde(default))]
    pub ecn: Codepoint,
}

#[cfg(feature = "schema")]
pub(crate) fn one() -> u32 {
    1
}
#[cfg(feature = "schema")]
pub(crate) fn full_packet() -> Size {
    Size(1500)
}

/// Checks a rate above zero and a packet that an IPv4 header with UDP fits and that fits in IPv4.
pub(crate) fn check(rate: Rate, packet: Size) -> Result<(), Invalid> {
    if rate.0 == 0 {
        return Err(Invalid::new("rate", rate, "must be above 0, for example \"1mbit\""));
    }
    if !(28..=65_535).contains(&packet.0) {
        let remedy = "must be between 28B (the IPv4 and UDP headers) and 65535B";
        return Err(Invalid::new("packet", packet, remedy));
    }
    Ok(())
}

impl Udp {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        flows(self.flows)?;
        check(self.rate, self.packet)
    }

    /// Compiles what the flows of a group share.
    pub fn compile(&self) -> Result<UdpModel, Invalid> {
        self.validate()?;
        Ok(UdpModel {
            bytes: self.packet.0 as u32,
            spacing: Spacing::new(self.rate, self.packet),
            poisson: self.poisson,
        })
    }
}

/// What the flows of a UDP group share.
#[derive(Clone, Debug)]
pub struct UdpModel {
    bytes: u32,
    spacing: Spacing,
    poisson: bool,
}

/// One UDP flow: 32 bytes.
#[derive(Clone, Debug)]
pub struct UdpSource {
    stream: Stream,
    carry: u64,
    first: bool,
}

impl UdpSource {
    /// Flow `index` of a group.
    #[must_use]
    pub const fn new(seed: u64, group: u32, index: u64) -> Self {
        Self { stream: Stream::new(seed, Kind::Arrival, group, index), carry: 0, first: true }
    }

    /// The time from one packet (at first: the flow's start) to the next, and the next one's
    /// bytes. At a constant rate the first comes at a random phase, lest flows march in step.
    #[inline]
    pub fn next_packet(&mut self, model: &UdpModel) -> (Time, u32) {
        let gap = if model.poisson {
            Sampler::exponential(model.spacing.exact()).sample(&mut self.stream)
        } else if self.first {
            self.stream.below(model.spacing.whole + 1)
        } else {
            model.spacing.next(&mut self.carry)
        };
        self.first = false;
        (Time(gap), model.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp(rate: u64, poisson: bool) -> Udp {
        Udp { flows: 1, rate: Rate(rate), packet: Size(1500), poisson, ecn: Codepoint::NotEct }
    }

    #[test]
    fn a_constant_rate_is_held_exactly() {
        let model = udp(7_000_003, false).compile().unwrap();
        let mut source = UdpSource::new(1, 0, 0);
        source.next_packet(&model);
        let total: u64 = (0..7_000_003).map(|_| source.next_packet(&model).0.0).sum();
        assert_eq!(total, 12_000 * 1_000_000_000);
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let model = udp(12_000_000, true).compile().unwrap();
        let mut source = UdpSource::new(1, 0, 0);
        let gaps: Vec<f64> =
            (0..200_000).map(|_| source.next_packet(&model).0.as_secs_f64()).collect();
        let mean = gaps.iter().sum::<f64>() / 2e5;
        let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / 2e5;
        assert!((mean / 1e-3 - 1.0).abs() < 0.012, "{mean}");
        assert!((variance / 1e-6 - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn impossible_packets_are_refused() {
        assert_eq!(udp(0, false).validate().unwrap_err().field, "rate");
        let packet = Size(20);
        assert_eq!(Udp { packet, ..udp(1, false) }.validate().unwrap_err().field, "packet");
    }
}
