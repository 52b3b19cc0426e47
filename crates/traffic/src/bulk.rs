//! Bulk transfers: finite, endless or repeated.

use crate::{Distribution, Invalid, Sampler};
use sojourn_base::{Kind, Size, Stream, Time};

/// Bulk transfers (FTP, "elephants"): each flow sends as fast as its TCP lets it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields, default)
)]
pub struct Bulk {
    /// Number of flows.
    pub flows: u32,
    /// Bytes that a transfer carries; absent: endless.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub size: Option<Distribution<Size>>,
    /// Whether a flow starts again, on a new connection, when its transfer is finished.
    pub repeat: bool,
    /// Time between the end of a transfer and the start of the next; absent: none.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub gap: Option<Distribution<Time>>,
}

impl Default for Bulk {
    fn default() -> Self {
        Self { flows: 1, size: None, repeat: false, gap: None }
    }
}

impl Bulk {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        flows(self.flows)?;
        if let Some(size) = &self.size {
            size.validate("size")?;
        }
        if self.repeat && self.size.is_none() {
            let remedy = "an endless transfer never ends, so give `size` or leave `repeat` out";
            return Err(Invalid::new("repeat", "true", remedy));
        }
        if let Some(gap) = &self.gap {
            gap.validate("gap")?;
            if !self.repeat {
                let remedy = "only with `repeat = true` does a transfer follow another";
                return Err(Invalid::new("gap", "given", remedy));
            }
        }
        Ok(())
    }

    /// Reads the quantile files that the fields name.
    pub fn load_files(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), Invalid> {
        if let Some(size) = &mut self.size {
            size.load_files("size", read)?;
        }
        self.gap.as_mut().map_or(Ok(()), |gap| gap.load_files("gap", read))
    }

    /// Compiles the draws that the flows of a group share.
    pub fn compile(&self) -> Result<Fetches, Invalid> {
        self.validate()?;
        let gap = self.gap.as_ref().map(|gap| gap.sampler("gap")).transpose()?;
        Ok(Fetches {
            size: self.size.as_ref().map(|size| size.sampler("size")).transpose()?,
            gap: if self.repeat { Some(gap.unwrap_or(Sampler::constant(0))) } else { None },
        })
    }
}

/// At least one flow.
pub(crate) fn flows(flows: u32) -> Result<(), Invalid> {
    if flows == 0 {
        return Err(Invalid::new("flows", flows, "must be at least 1"));
    }
    Ok(())
}

/// What the flows of a bulk group draw from, each with its own stream.
#[derive(Clone, Debug)]
pub struct Fetches {
    size: Option<Sampler>,
    gap: Option<Sampler>,
}

impl Fetches {
    /// The stream of one flow of a group: every size and gap of that flow comes from it.
    #[must_use]
    pub const fn stream(seed: u64, group: u32, index: u64) -> Stream {
        Stream::new(seed, Kind::Size, group, index)
    }

    /// Bytes of the flow's next transfer, at least 1; `u64::MAX` if it is endless.
    pub fn size(&self, stream: &mut Stream) -> u64 {
        self.size.as_ref().map_or(u64::MAX, |size| size.sample(stream).max(1))
    }

    /// After a transfer: the time to the start of the next, if there is to be one. (Two numbers a
    /// round, size and gap in turn, whatever happens in the network.)
    pub fn gap(&self, stream: &mut Stream) -> Option<Time> {
        self.gap.as_ref().map(|gap| Time(gap.sample(stream)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_finite_and_repeated() {
        let mut stream = Fetches::stream(1, 0, 0);
        let endless = Bulk::default().compile().unwrap();
        assert_eq!(endless.size(&mut stream), u64::MAX);
        assert_eq!(endless.gap(&mut stream), None);
        let size = Some(Distribution::Constant(Size(2_000_000_000)));
        let again = Bulk { size, repeat: true, ..Bulk::default() }.compile().unwrap();
        assert_eq!(again.size(&mut stream), 2_000_000_000);
        assert_eq!(again.gap(&mut stream), Some(Time::ZERO));
    }

    #[test]
    fn contradictions_are_refused() {
        let error = Bulk { repeat: true, ..Bulk::default() }.validate().unwrap_err();
        assert_eq!(error.field, "repeat");
        let gap = Some(Distribution::Constant(Time::ZERO));
        assert_eq!(Bulk { gap, ..Bulk::default() }.validate().unwrap_err().field, "gap");
        assert_eq!(Bulk { flows: 0, ..Bulk::default() }.validate().unwrap_err().field, "flows");
    }
}
