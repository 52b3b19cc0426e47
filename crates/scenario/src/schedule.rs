//! Links whose rate changes: what a user writes, the checks, and the pieces that engines take.

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use sojourn_base::{Rate, Tagged, Time};

use crate::error::{Fault, Step, steps};
use crate::files::read_text;
use crate::limits::{MAX_RATE, MAX_TIME, long_enough};
use crate::radio::{Radio, RadioRate};

/// How a link's rate changes. Disciplines are told the link's `rate`, whatever the schedule says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(tag = "kind")]
pub enum Schedule {
    /// Named rates from named instants on; the link's `rate` before the first.
    Steps(Steps),
    /// A file of opportunities to send, as Mahimahi and its recordings of cellular networks have
    /// it.
    Trace(TraceFile),
    /// A random walk about the link's `rate`: its logarithm is a Gaussian process that forgets.
    Lognormal(Lognormal),
    /// Jumps at random between named rates.
    Markov(Markov),
    /// Rates as measured over LTE, 5G and Starlink.
    Radio(Radio),
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Steps(parameters) => Tagged { kind: "steps", parameters }.serialize(serializer),
            Self::Trace(parameters) => Tagged { kind: "trace", parameters }.serialize(serializer),
            Self::Lognormal(parameters) => {
                Tagged { kind: "lognormal", parameters }.serialize(serializer)
            }
            Self::Markov(parameters) => Tagged { kind: "markov", parameters }.serialize(serializer),
            Self::Radio(parameters) => Tagged { kind: "radio", parameters }.serialize(serializer),
        }
    }
}

/// Rates from instants on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// Instants and the rate from then on: `[["20s", "10mbit"], ["40s", "1mbit"]]`, in order. A
    /// rate of "0bit" is an outage.
    pub steps: Vec<(Time, Rate)>,
    /// Everything begins again after this time, at least "10us"; never if left out.
    #[serde(default)]
    pub repeat: Option<Time>,
}

/// A file of opportunities to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceFile {
    /// The file: each line a whole number of milliseconds, never falling, at which 1500 bytes have
    /// been sent. They are spread over the millisecond before. After the last line it begins again.
    pub file: String,
}

/// The logarithm of the rate is a stationary Gaussian process of the first order, looked at in
/// equal steps: x' = a·x + √(1 − a²)·sigma·N, a = exp(−every/memory), and the rate is the link's
/// `rate` times exp(x).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Lognormal {
    /// Time from one change to the next, at least "10us".
    pub every: Time,
    /// Standard deviation of the logarithm, above 0 and at most 3: at 0.5 two thirds of the time
    /// the rate is between 0.61 and 1.65 times the median.
    pub sigma: f64,
    /// Time in which the correlation falls to 1/e; "0ns": each step is drawn afresh.
    pub memory: Time,
    /// Never below this rate, which is at most the link's.
    pub min: Rate,
    /// Never above this rate, which is at least the link's; no bound if left out.
    pub max: Option<Rate>,
}

impl Default for Lognormal {
    fn default() -> Self {
        Self {
            every: Time::from_millis(100),
            sigma: 0.5,
            memory: Time::from_secs(2),
            min: Rate(10_000),
            max: None,
        }
    }
}

/// Jumps between rates: each is held for an exponential time, then any other follows with the same
/// probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Markov {
    /// The rates, at least two; "0bit" is an outage. The first is drawn from all.
    pub rates: Vec<Rate>,
    /// Mean time at a rate, at least "10us".
    pub hold: Time,
}

/// How a link's rate changes, in the form that engines take.
#[derive(Clone, Debug, PartialEq)]
pub enum RateSchedule {
    /// Constant pieces, each with the instant at which it ends.
    Pieces {
        /// Ends (rising) and rates.
        pieces: Arc<[(Time, Rate)]>,
        /// Whether they begin again after the last; otherwise the last never ends.
        repeats: bool,
    },
    /// See [`Lognormal`]; all values checked.
    Lognormal(Lognormal),
    /// See [`Markov`].
    Markov(Markov),
    /// See [`Radio`].
    Radio(RadioRate),
}

impl Schedule {
    /// The form that engines take, for a link of the given rate. Without `base_dir` no file is
    /// read, and a trace is the link's rate.
    pub(crate) fn resolve(
        &self,
        rate: Rate,
        base_dir: Option<&Path>,
    ) -> Result<RateSchedule, Fault> {
        match self {
            Self::Steps(steps) => steps.pieces(rate),
            Self::Trace(TraceFile { file }) => {
                let wrong = |why: String| Fault::new(steps!["file"], format!("\"{file}\": {why}"));
                if file.trim().is_empty() {
                    return Err(Fault::new(steps!["file"], "\"\" must name a file"));
                }
                let pieces = match base_dir {
                    None => vec![(Time::from_secs(1), rate)],
                    Some(_) => read_text(base_dir, file)
                        .and_then(|text| opportunities(&text))
                        .map_err(wrong)?,
                };
                Ok(RateSchedule::Pieces { pieces: pieces.into(), repeats: true })
            }
            Self::Lognormal(process) => {
                process.check(rate).map(|()| RateSchedule::Lognormal(process.clone()))
            }
            Self::Markov(process) => {
                process.check().map(|()| RateSchedule::Markov(process.clone()))
            }
            Self::Radio(radio) => radio.resolve().map(RateSchedule::Radio),
        }
    }
}

fn at_most(field: Vec<Step>, rate: Rate) -> Result<(), Fault> {
    if rate > MAX_RATE {
        let message = format!("\"{rate}\" must be at most \"{}\"", MAX_RATE);
        return Err(Fault::new(field, message));
    }
    Ok(())
}

impl Steps {
    fn pieces(&self, rate: Rate) -> Result<RateSchedule, Fault> {
        let Some(&(last, _)) = self.steps.last() else {
            let message = "there is no step; write them like [[\"20s\", \"10mbit\"]]";
            return Err(Fault::new(steps!["steps"], message));
        };
        let (mut before, mut current) = (Time::ZERO, rate);
        let mut pieces = Vec::new();
        for (index, &(at, rate)) in self.steps.iter().enumerate() {
            if at <= before {
                let message = format!("\"{at}\" must be after \"{before}\"");
                return Err(Fault::new(steps!["steps", index, 0], message));
            }
            if at > MAX_TIME {
                let message = format!("\"{at}\" must be at most \"{MAX_TIME}\"");
                return Err(Fault::new(steps!["steps", index, 0], message));
            }
            at_most(steps!["steps", index, 1], rate)?;
            pieces.push((at, current));
            (before, current) = (at, rate);
        }
        if let Some(repeat) = self.repeat {
            if repeat <= last {
                let message = format!("\"{repeat}\" must be after the last step (\"{last}\")");
                return Err(Fault::new(steps!["repeat"], message));
            }
            long_enough("repeat", repeat)?;
        }
        pieces.push((self.repeat.unwrap_or(Time::MAX), current));
        Ok(RateSchedule::Pieces { pieces: pieces.into(), repeats: self.repeat.is_some() })
    }
}

impl Lognormal {
    fn check(&self, rate: Rate) -> Result<(), Fault> {
        long_enough("every", self.every)?;
        if !(self.sigma > 0.0 && self.sigma <= 3.0) {
            let message = format!("{:?} must be above 0 and at most 3", self.sigma);
            return Err(Fault::new(steps!["sigma"], message));
        }
        if self.memory > MAX_TIME {
            let message = format!("\"{}\" must be at most \"{MAX_TIME}\"", self.memory);
            return Err(Fault::new(steps!["memory"], message));
        }
        if self.min == Rate(0) {
            return Err(Fault::new(steps!["min"], "\"0bit\" must be above 0"));
        }
        // The rate is the median.
        if self.min > rate {
            let message =
                format!("\"{}\" must not be above the link's rate (\"{rate}\")", self.min);
            return Err(Fault::new(steps!["min"], message));
        }
        if let Some(max) = self.max {
            at_most(steps!["max"], max)?;
            if max < rate {
                let message = format!("\"{max}\" must not be below the link's rate (\"{rate}\")");
                return Err(Fault::new(steps!["max"], message));
            }
        }
        Ok(())
    }
}

impl Markov {
    fn check(&self) -> Result<(), Fault> {
        if !(2..=1000).contains(&self.rates.len()) {
            let message = format!("there must be from 2 to 1000 rates, not {}", self.rates.len());
            return Err(Fault::new(steps!["rates"], message));
        }
        for (index, &rate) in self.rates.iter().enumerate() {
            at_most(steps!["rates", index], rate)?;
        }
        if self.rates.iter().all(|rate| rate.0 == 0) {
            return Err(Fault::new(steps!["rates"], "one of them must be above \"0bit\""));
        }
        long_enough("hold", self.hold)
    }
}

/// Bits of an opportunity: 1500 bytes, in a millisecond.
const OPPORTUNITY: u64 = 1500 * 8 * 1000;

/// The pieces that a Mahimahi trace makes: what is written for a millisecond is spread evenly over
/// the millisecond that ends there. An instant 0 counts to the first.
///
/// Differences from Mahimahi (`link_queue.cc`): there all of an opportunity comes at once and what
/// of it is not used in that instant is lost; here it is a rate, so a packet's last byte leaves
/// while the opportunity lasts and not all at its end, and what is lost is what nobody was there
/// to send. An opportunity there is 1504 bytes, for the header of its tunnel.
fn opportunities(text: &str) -> Result<Vec<(Time, Rate)>, String> {
    let mut pieces: Vec<(Time, Rate)> = Vec::new();
    let (mut last, mut count) = (0, 0u64);
    let mut push = |end: u64, rate: u64| {
        let end = Time::from_millis(end);
        match pieces.last_mut() {
            Some(before) if before.1 == Rate(rate) => before.0 = end,
            _ => pieces.push((end, Rate(rate))),
        }
    };
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |why: &str| format!("line {}: \"{line}\" {why}", index + 1);
        let at: u64 = line.parse().map_err(|_| wrong("is not a whole number of milliseconds"))?;
        if at > MAX_TIME.0 / 1_000_000 {
            return Err(wrong("is more than a year"));
        }
        // What is written for the start counts to the first millisecond.
        let at = at.max(1);
        if at < last {
            return Err(wrong(&format!("is before the line above ({last})")));
        }
        if at > last {
            if count > 0 {
                push(last, count * OPPORTUNITY);
            }
            if at > last + 1 {
                push(at - 1, 0);
            }
            (last, count) = (at, 0);
        }
        count += 1;
        if count * OPPORTUNITY > MAX_RATE.0 {
            return Err(wrong("makes more than 10 Tbit/s"));
        }
    }
    if count == 0 {
        return Err("there is no line in it; each is a number of milliseconds".into());
    }
    push(last, count * OPPORTUNITY);
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000;

    fn ms(pieces: &[(Time, Rate)]) -> Vec<(u64, u64)> {
        pieces.iter().map(|(end, rate)| (end.0 / 1_000_000, rate.0 / MBIT)).collect()
    }

    #[test]
    fn a_trace_becomes_milliseconds_at_a_rate() {
        let found = opportunities("1\n2\n3\n3\n\n7\n").unwrap();
        assert_eq!(ms(&found), [(2, 12), (3, 24), (6, 0), (7, 12)]);
        assert_eq!(ms(&opportunities("0\n1\n").unwrap()), [(1, 24)]);
        assert_eq!(ms(&opportunities("5\n").unwrap()), [(4, 0), (5, 12)]);
    }

    #[test]
    fn invalid_trace_is_refused_with_its_line() {
        for (text, wanted) in [
            ("1\nx\n", "line 2: \"x\" is not a whole number"),
            ("5\n4\n", "line 2: \"4\" is before the line above (5)"),
            ("\n", "there is no line"),
            ("99999999999999\n", "more than a year"),
        ] {
            let error = opportunities(text).unwrap_err();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn steps_begin_with_the_link_s_rate_and_the_last_stays_unless_they_repeat() {
        let steps = vec![(Time::from_millis(20), Rate(MBIT)), (Time::from_millis(40), Rate(0))];
        let mut steps = Steps { steps, repeat: Some(Time::from_millis(60)) };
        let RateSchedule::Pieces { pieces, repeats } = steps.pieces(Rate(9 * MBIT)).unwrap() else {
            unreachable!()
        };
        assert_eq!((ms(&pieces), repeats), (vec![(20, 9), (40, 1), (60, 0)], true));
        steps.repeat = None;
        let RateSchedule::Pieces { pieces, repeats } = steps.pieces(Rate(MBIT)).unwrap() else {
            unreachable!()
        };
        assert_eq!((pieces[2].0, repeats), (Time::MAX, false));
    }
}
