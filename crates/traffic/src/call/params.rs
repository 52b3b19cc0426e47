//! What a scenario says about calls.

use super::media::HEADERS;
use crate::bulk::flows;
use crate::{Codepoint, Invalid};
use sojourn_base::{Rate, Size, Time};

/// How a call chooses its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "lowercase")
)]
pub enum RateControl {
    /// Google Congestion Control (draft-ietf-rmcat-gcc-02): by delay and by loss.
    #[default]
    Gcc,
    /// SCReAM version 2 (draft-johansson-ccwg-rfc8298bis-screamv2): a window, by loss, delay and
    /// marks, with L4S if `ecn` is "ect1".
    Scream,
    /// None: always `max_rate`.
    Fixed,
}

impl RateControl {
    /// Its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Scream => "scream",
            Self::Fixed => "fixed",
        }
    }
}

/// How Google Congestion Control tells from delays that a queue grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "lowercase")
)]
pub enum DelayFilter {
    /// The Kalman filter of draft-ietf-rmcat-gcc-02.
    #[default]
    Kalman,
    /// A line through the last twenty delays, as in Chromium since 2016.
    Trendline,
}

/// Video calls, one way each: frames over UDP at a rate that follows the network, and feedback in
/// return. A call that goes both ways is `direction = "both"`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields, default)
)]
pub struct Call {
    /// Number of calls. Those that start together capture their frames spread over a frame's time.
    pub flows: u32,
    /// How the rate is chosen: "gcc", "scream" or "fixed".
    pub control: RateControl,
    /// How "gcc" tells from delays that a queue grows: "kalman" (the draft) or "trendline"
    /// (Chromium), which sees it under calls of any rate.
    pub filter: DelayFilter,
    /// The rate at the start, headers not counted; not of "fixed".
    pub initial_rate: Rate,
    /// The least rate; not of "fixed".
    pub min_rate: Rate,
    /// The greatest rate; that of "fixed".
    pub max_rate: Rate,
    /// Frames a second.
    pub frame_rate: u32,
    /// Bytes of a packet's payload at most.
    pub packet: Size,
    /// Time from capture by which all of a frame must be there; later it is late. By default
    /// 150 ms, up to which delay hardly disturbs a conversation (ITU-T G.114).
    pub deadline: Time,
    /// Time from one feedback to the next: 5 ms to 1 s. Default: 100 ms; with "scream" when a frame
    /// has come, and so often that it takes some 2 % of the rate.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub feedback: Option<Time>,
    /// The packets' ECN codepoint; "gcc" and "fixed" do not heed marks.
    pub ecn: Codepoint,
}

impl Default for Call {
    fn default() -> Self {
        Self {
            flows: 1,
            control: RateControl::default(),
            filter: DelayFilter::default(),
            initial_rate: Rate(300_000),
            min_rate: Rate(50_000),
            max_rate: Rate(2_500_000),
            frame_rate: 30,
            packet: Size(1200),
            deadline: Time::from_millis(150),
            feedback: None,
            ecn: Codepoint::NotEct,
        }
    }
}

impl Call {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        flows(self.flows)?;
        if self.filter != DelayFilter::default() && self.control != RateControl::Gcc {
            let remedy = "only control = \"gcc\" has a filter of delays; leave it out";
            return Err(Invalid::new("filter", "\"trendline\"", remedy));
        }
        let rates = [
            ("min_rate", self.min_rate, Rate(1000), "1kbit"),
            ("initial_rate", self.initial_rate, self.min_rate, "min_rate"),
            ("max_rate", self.max_rate, self.initial_rate, "initial_rate"),
        ];
        for (field, rate, least, name) in rates {
            if rate < least || rate > Rate(1_000_000_000) {
                let remedy = format!("must be between {name} and 1gbit");
                return Err(Invalid::new(field, rate, remedy));
            }
        }
        if !(1..=240).contains(&self.frame_rate) {
            return Err(Invalid::new("frame_rate", self.frame_rate, "must be between 1 and 240"));
        }
        if !(100..=8900).contains(&self.packet.0) {
            return Err(Invalid::new("packet", self.packet, "must be between 100B and 8900B"));
        }
        if self.deadline == Time::ZERO || self.deadline > Time::from_secs(10) {
            return Err(Invalid::new(
                "deadline",
                self.deadline,
                "must be above 0, and 10s at most",
            ));
        }
        if let Some(feedback) = self.feedback
            && !(Time::from_millis(5)..=Time::from_secs(1)).contains(&feedback)
        {
            return Err(Invalid::new("feedback", feedback, "must be between 5ms and 1s"));
        }
        Ok(())
    }

    fn feedback(&self) -> Option<Time> {
        let usual = Time::from_millis(100);
        self.feedback.or_else(|| (self.control != RateControl::Scream).then_some(usual))
    }

    /// Compiles what the calls of a group share.
    pub fn compile(&self) -> Result<CallModel, Invalid> {
        self.validate()?;
        Ok(CallModel {
            control: self.control,
            filter: self.filter,
            initial: self.initial_rate.as_f64(),
            min: self.min_rate.as_f64(),
            max: self.max_rate.as_f64(),
            frame: Time(1_000_000_000 / u64::from(self.frame_rate)),
            payload: self.packet.0 as u32,
            deadline: self.deadline,
            feedback: self.feedback(),
            ecn: self.ecn,
        })
    }
}

/// What the calls of a group share.
#[derive(Clone, Debug)]
pub struct CallModel {
    pub(super) control: RateControl,
    pub(super) filter: DelayFilter,
    /// Rates in bits per second.
    pub(super) initial: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    /// Time from one frame to the next.
    pub(super) frame: Time,
    pub(super) payload: u32,
    pub(super) deadline: Time,
    /// None: as the rate and the frames ask for.
    pub(super) feedback: Option<Time>,
    pub(super) ecn: Codepoint,
}

impl CallModel {
    /// Bytes of a full packet with its headers.
    pub(super) fn whole(&self) -> u32 {
        self.payload + HEADERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_calls_are_refused() {
        let good = Call::default();
        assert!(good.validate().is_ok());
        let field = |call: Call| call.validate().unwrap_err().field;
        assert_eq!(field(Call { flows: 0, ..good.clone() }), "flows");
        let (control, filter) = (RateControl::Fixed, DelayFilter::Trendline);
        assert_eq!(field(Call { control, filter, ..good.clone() }), "filter");
        assert_eq!(field(Call { min_rate: Rate(0), ..good.clone() }), "min_rate");
        assert_eq!(field(Call { initial_rate: Rate(1000), ..good.clone() }), "initial_rate");
        assert_eq!(field(Call { max_rate: Rate(1000), ..good.clone() }), "max_rate");
        assert_eq!(field(Call { frame_rate: 0, ..good.clone() }), "frame_rate");
        assert_eq!(field(Call { packet: Size(9000), ..good.clone() }), "packet");
        assert_eq!(field(Call { deadline: Time::ZERO, ..good.clone() }), "deadline");
        assert_eq!(field(Call { feedback: Some(Time::ZERO), ..good }), "feedback");
    }
}
