//! What a scenario says about viewers.

use crate::Invalid;
use sojourn_base::{Rate, Size, Time};

/// How a player chooses the bit rate of the next segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "lowercase")
)]
pub enum Adaptation {
    /// By throughput: the highest bit rate within 90 % of the harmonic mean of the last five
    /// segments' throughputs, each from the request to the last byte.
    #[default]
    Throughput,
    /// By the buffer: BOLA-BASIC (Spiteri, Urgaonkar, Sitaraman, INFOCOM 2016), with γp = 5.
    Bola,
}

/// Viewers of adaptive video. Each fetches segments of a video over one persistent TCP connection,
/// chooses the bit rate of every segment, and plays what has come; it stalls when nothing is left.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields, default)
)]
pub struct Video {
    /// Number of viewers.
    pub users: u32,
    /// The bit rates that there are, ascending. By default ten from 235 kb/s to 5.8 Mb/s, which
    /// Netflix had for all titles until 2015.
    pub ladder: Vec<Rate>,
    /// How long a segment plays.
    pub segment: Time,
    /// How much is fetched ahead at most: two segments at least. Then the player pauses.
    pub buffer: Time,
    /// Playing begins, and goes on after a stall, when so much has come; by default one segment.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub startup: Option<Time>,
    /// How the bit rate is chosen: "throughput" or "bola".
    pub adaptation: Adaptation,
    /// Bytes of a request.
    pub request: Size,
}

/// Rungs that a ladder may have.
const MOST_RUNGS: usize = 100;

impl Default for Video {
    fn default() -> Self {
        let ladder = [235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300, 5800];
        Self {
            users: 1,
            ladder: ladder.into_iter().map(|kilobits| Rate(kilobits * 1000)).collect(),
            segment: Time::from_secs(4),
            buffer: Time::from_secs(30),
            startup: None,
            adaptation: Adaptation::default(),
            request: Size(400),
        }
    }
}

impl Video {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.users == 0 {
            return Err(Invalid::new("users", self.users, "must be at least 1"));
        }
        if !(1..=MOST_RUNGS).contains(&self.ladder.len()) {
            let rates = format!("{} bit rates", self.ladder.len());
            return Err(Invalid::new("ladder", rates, "must be 1 to 100"));
        }
        if let Some(rate) =
            self.ladder.iter().find(|rate| !(1000..=1_000_000_000).contains(&rate.0))
        {
            return Err(Invalid::new("ladder", rate, "must be between 1kbit and 1gbit"));
        }
        if let Some(pair) = self.ladder.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(Invalid::new("ladder", pair[1], "must be above the one before it"));
        }
        if !(Time::from_millis(100)..=Time::from_secs(60)).contains(&self.segment) {
            return Err(Invalid::new("segment", self.segment, "must be between 100ms and 60s"));
        }
        if self.buffer < Time(2 * self.segment.0) || self.buffer > Time::from_secs(3600) {
            let remedy = "must be two segments at least, and 3600s at most";
            return Err(Invalid::new("buffer", self.buffer, remedy));
        }
        if let Some(startup) = self.startup
            && (startup == Time::ZERO || startup > Time(self.buffer.0 - self.segment.0))
        {
            let remedy = "must be above 0 and leave room for a segment in the buffer";
            return Err(Invalid::new("startup", startup, remedy));
        }
        if !(1..=100_000).contains(&self.request.0) {
            return Err(Invalid::new("request", self.request, "must be between 1B and 100kB"));
        }
        Ok(())
    }

    /// Compiles what the viewers of a group share.
    pub fn compile(&self) -> Result<VideoModel, Invalid> {
        self.validate()?;
        let lowest = self.ladder[0].as_f64();
        Ok(VideoModel {
            utilities: self.ladder.iter().map(|rate| libm::log(rate.as_f64() / lowest)).collect(),
            ladder: self.ladder.clone(),
            segment: self.segment,
            buffer: self.buffer,
            startup: self.startup.unwrap_or(self.segment),
            adaptation: self.adaptation,
            request: self.request.0 as u32,
        })
    }
}

/// What the viewers of a group share.
#[derive(Clone, Debug)]
pub struct VideoModel {
    pub(super) ladder: Vec<Rate>,
    /// Of each rung, the logarithm of its rate over the lowest.
    pub(super) utilities: Vec<f64>,
    pub(super) segment: Time,
    pub(super) buffer: Time,
    pub(super) startup: Time,
    pub(super) adaptation: Adaptation,
    pub(super) request: u32,
}

impl VideoModel {
    /// Bytes of a segment of a rung.
    pub(super) fn bytes(&self, rung: usize) -> u64 {
        // At most 10⁹ bits per second for 6·10¹⁰ nanoseconds.
        let bits = u128::from(self.ladder[rung].0) * u128::from(self.segment.0) / 1_000_000_000;
        (bits as u64).div_ceil(8).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_videos_are_refused() {
        let good = Video::default();
        assert!(good.validate().is_ok());
        let field = |video: Video| video.validate().unwrap_err().field;
        assert_eq!(field(Video { users: 0, ..good.clone() }), "users");
        assert_eq!(field(Video { ladder: Vec::new(), ..good.clone() }), "ladder");
        assert_eq!(field(Video { ladder: vec![Rate(5000), Rate(5000)], ..good.clone() }), "ladder");
        assert_eq!(field(Video { ladder: vec![Rate(0)], ..good.clone() }), "ladder");
        assert_eq!(field(Video { segment: Time::ZERO, ..good.clone() }), "segment");
        assert_eq!(field(Video { buffer: Time::from_secs(7), ..good.clone() }), "buffer");
        assert_eq!(field(Video { startup: Some(good.buffer), ..good.clone() }), "startup");
        assert_eq!(field(Video { request: Size(0), ..good }), "request");
    }

    #[test]
    fn segment_has_the_bytes_of_its_rate() {
        let model = Video::default().compile().unwrap();
        assert_eq!(model.bytes(0), 117_500);
        assert_eq!(model.bytes(9), 2_900_000);
    }
}
