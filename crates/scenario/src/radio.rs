//! Links by radio: rates as they were measured over LTE, 5G and Starlink, drawn by seed.
//!
//! The rate is the product of three parts: a **level**, lognormal, which is held for a while and
//! remembers the one before; **fading** about it, lognormal too, in shorter steps; and whether the
//! link is **served** at all. With L and F the logarithms of level and fading, of standard
//! deviations `level` and `fading`, a step in which the link is served has the rate
//!
//! ```text
//! rate/(1 − outage) · exp(L + F − (level² + fading²)/2)
//! ```
//!
//! so that the link's `rate` is the mean over all time. L goes from one holding time to the next,
//! and F from step to step, as Gaussian processes of the first order; outages end in each step with
//! the probability every/`outage_length`. So, while the link is served, rates k steps apart have
//! the correlation (exp(level²·r + fading²·s) − 1)/(exp(level² + fading²) − 1), with r and s those
//! of L and F: what the tests hold the engine to.
//!
//! # Sources
//!
//! - `lte`: the recording of AT&T's network in Boston, downwards, in a moving car (786 s in steps
//!   of 0.1 s), of Winstein, Sivaraman, Balakrishnan: Stochastic Forecasts Achieve High Throughput
//!   and Low Delay over Cellular Networks (NSDI 2013), as Mahimahi has it
//!   (`ATT-LTE-driving.down`).
//! - `5g`: Verizon's network, 35 384 s of UDP downwards, a sample a second, in a moving car, in the
//!   data of Hu et al.: LEO Satellite vs. Cellular Networks (CoNEXT 2023), `vz_all.csv`.
//! - `starlink`: the plan Mobility, 29 468 s of the same drives, `mob_all.csv`. That satellites are
//!   allocated anew at 12, 27, 42 and 57 seconds of every minute: Tanveer et al.: Making Sense of
//!   Constellations (CoNEXT Companion 2023); Mohan et al.: A Multifaceted Look at Starlink
//!   Performance (WWW 2024).
//!
//! Means, variations and outages are those of the data; the split into level and fading and the two
//! memories are least squares against its autocorrelation from one step to 30 s (`5g`: 60 s).
//!
//! # Differences from the sources
//!
//! 1. Rates of real links end somewhere; a lognormal one has no bound. The 95th percentile over the
//!    mean is 2.0, 2.6 and 2.0 here, in the data 1.9, 2.7 and 1.8.
//! 2. On the road the correlation of `starlink` stays at 0.33 however far apart: some roads are
//!    better than others. Here it falls to 0.29 after 30 s and goes on falling.
//! 3. What happens within a step is not drawn: grants and frames of milliseconds are not there.
//! 4. Outages of the data have a longer tail: trees, bridges and tunnels.
//! 5. A place that does not move has fewer outages and steadier levels: set `outage` and `level`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::Time;

use crate::error::{Fault, steps};
use crate::limits::{MAX_TIME, long_enough};

/// Whose measured rates they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RadioModel {
    /// LTE in a moving car.
    Lte,
    /// 5G (with LTE where there is none) in a moving car.
    #[serde(rename = "5g")]
    FiveG,
    /// Starlink in a moving car.
    Starlink,
}

/// A rate about the link's `rate`, its mean: a level that is held, fading about it, and outages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Whose rates, measured in moving cars: "lte", "5g" or "starlink". What follows is then
    /// theirs unless given.
    pub model: RadioModel,
    /// Step of fading and outages, at least "10us".
    #[serde(default)]
    pub every: Option<Time>,
    /// How long a level is held, a multiple of `every`.
    #[serde(default)]
    pub hold: Option<Time>,
    /// When the first new level begins, a multiple of `every` and at most `hold`.
    #[serde(default)]
    pub phase: Option<Time>,
    /// Standard deviation of the level's logarithm, 0 to 3.
    #[serde(default)]
    pub level: Option<f64>,
    /// Time in which the correlation of levels falls to 1/e; "0ns": each is drawn afresh.
    #[serde(default)]
    pub memory: Option<Time>,
    /// Standard deviation of the fading's logarithm, 0 to 3.
    #[serde(default)]
    pub fading: Option<f64>,
    /// Time in which the correlation of fading falls to 1/e; "0ns": each step is drawn afresh.
    #[serde(default)]
    pub fading_memory: Option<Time>,
    /// Fraction of the time in which nothing is sent, 0 to 0.9.
    #[serde(default)]
    pub outage: Option<f64>,
    /// Mean length of an outage, at least `every`, and `every` times outage/(1 − outage).
    #[serde(default)]
    pub outage_length: Option<Time>,
}

/// See [`Radio`], with every value, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioRate {
    /// Step of fading and outages.
    pub every: Time,
    /// How long a level is held.
    pub hold: Time,
    /// When the first new level begins.
    pub phase: Time,
    /// Standard deviation of the level's logarithm.
    pub level: f64,
    /// Memory of levels.
    pub memory: Time,
    /// Standard deviation of the fading's logarithm.
    pub fading: f64,
    /// Memory of fading.
    pub fading_memory: Time,
    /// Fraction of time without service.
    pub outage: f64,
    /// Mean length of an outage.
    pub outage_length: Time,
}

impl RadioModel {
    /// What was measured and fitted.
    #[must_use]
    pub fn rate(self) -> RadioRate {
        let (ms, s) = (Time::from_millis, Time::from_secs);
        match self {
            Self::Lte => RadioRate {
                every: ms(100),
                hold: ms(100),
                phase: ms(100),
                level: 0.463,
                memory: s(40),
                fading: 0.202,
                fading_memory: Time::ZERO,
                outage: 0.051,
                outage_length: ms(430),
            },
            Self::FiveG => RadioRate {
                every: s(1),
                hold: s(1),
                phase: s(1),
                level: 0.722,
                memory: s(150),
                fading: 0.241,
                fading_memory: s(4),
                outage: 0.013,
                outage_length: ms(3290),
            },
            Self::Starlink => RadioRate {
                every: s(1),
                hold: s(15),
                phase: s(12),
                level: 0.388,
                memory: s(40),
                fading: 0.278,
                fading_memory: s(2),
                outage: 0.162,
                outage_length: ms(5680),
            },
        }
    }
}

impl Radio {
    /// Every value, checked.
    pub(crate) fn resolve(&self) -> Result<RadioRate, Fault> {
        let model = self.model.rate();
        let every = self.every.unwrap_or(model.every);
        // A model whose level may change at every step keeps that with another step.
        let follows = model.hold == model.every;
        let hold = self.hold.unwrap_or(if follows { every } else { model.hold });
        let held = follows || self.hold.is_some();
        let outage = self.outage.unwrap_or(model.outage);
        if !(0.0..=0.9).contains(&outage) {
            return Err(Fault::new(steps!["outage"], format!("{outage:?} must be from 0 to 0.9")));
        }
        let usual = model.outage_length.max(shortest(every, outage));
        let rate = RadioRate {
            every,
            hold,
            phase: self.phase.unwrap_or(if held { hold } else { model.phase }),
            level: self.level.unwrap_or(model.level),
            memory: self.memory.unwrap_or(model.memory),
            fading: self.fading.unwrap_or(model.fading),
            fading_memory: self.fading_memory.unwrap_or(model.fading_memory),
            outage,
            outage_length: self.outage_length.unwrap_or(usual),
        };
        long_enough("every", rate.every)?;
        rate.check_times()?;
        for (field, value) in [("level", rate.level), ("fading", rate.fading)] {
            if !(0.0..=3.0).contains(&value) {
                return Err(Fault::new(steps![field], format!("{value:?} must be from 0 to 3")));
            }
        }
        Ok(rate)
    }
}

/// The least mean length of outages: as many begin as end, one in a step at most.
fn shortest(every: Time, outage: f64) -> Time {
    every.max(Time((every.0 as f64 * (outage / (1.0 - outage))) as u64))
}

impl RadioRate {
    fn check_times(&self) -> Result<(), Fault> {
        let Self { every, hold, phase, memory, fading_memory, outage, outage_length, .. } = *self;
        let wrong = |field, message| Err(Fault::new(steps![field], message));
        for (field, time) in [("hold", hold), ("phase", phase)] {
            if time == Time::ZERO || time.0 % every.0 != 0 {
                return wrong(
                    field,
                    format!("\"{time}\" must be a multiple of every (\"{every}\")"),
                );
            }
        }
        if phase > hold {
            return wrong("phase", format!("\"{phase}\" must be at most hold (\"{hold}\")"));
        }
        let least = shortest(every, outage);
        if outage_length < least {
            let message = format!(
                "\"{outage_length}\" must be at least \"{least}\": an outage and the time between \
                 two of them last a step each (every = \"{every}\"), and outage = {outage:?}"
            );
            return wrong("outage_length", message);
        }
        let times = [
            ("hold", hold),
            ("memory", memory),
            ("fading_memory", fading_memory),
            ("outage_length", outage_length),
        ];
        for (field, time) in times {
            if time > MAX_TIME {
                return wrong(field, format!("\"{time}\" must be at most \"{MAX_TIME}\""));
            }
        }
        Ok(())
    }
}
