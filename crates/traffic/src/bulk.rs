//! Bulk transfers: finite, endless or repeated.

use crate::spacing::Spacing;
use crate::{Distribution, Invalid, Sampler};
use sojourn_base::{Kind, Rate, Size, Stream, Time};

/// Bulk transfers (FTP, "elephants"): each flow sends as fast as its TCP lets it, or as its
/// application writes.
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
    /// Rate at which the application of each flow writes, payload alone; absent: all at once. What
    /// the network cannot take meanwhile waits at the sender and goes out later.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub rate: Option<Rate>,
    /// Bytes that it writes at a time: 1B to 1GB; absent: a full segment. Needs `rate`.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub chunk: Option<Size>,
}

impl Default for Bulk {
    fn default() -> Self {
        Self { flows: 1, size: None, repeat: false, gap: None, rate: None, chunk: None }
    }
}

/// The most bytes written at a time: at this many no product of sizes and times overflows.
const LARGEST_CHUNK: u64 = 1_000_000_000;

impl Bulk {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        self.compile().map(|_| ())
    }

    fn check(&self) -> Result<(), Invalid> {
        flows(self.flows)?;
        if self.repeat && self.size.is_none() {
            let remedy = "an endless transfer never ends, so give `size` or leave `repeat` out";
            return Err(Invalid::new("repeat", "true", remedy));
        }
        if self.gap.is_some() && !self.repeat {
            let remedy = "only with `repeat = true` does a transfer follow another";
            return Err(Invalid::new("gap", "given", remedy));
        }
        if let Some(rate @ Rate(0)) = self.rate {
            let remedy = "must be above 0, for example \"1mbit\"; leave it out for no limit";
            return Err(Invalid::new("rate", rate, remedy));
        }
        match self.chunk {
            Some(chunk) if !(1..=LARGEST_CHUNK).contains(&chunk.0) => {
                Err(Invalid::new("chunk", chunk, "must be between 1B and 1GB"))
            }
            Some(chunk) if self.rate.is_none() => {
                let remedy = "only an application with a `rate` writes in pieces; give that too";
                Err(Invalid::new("chunk", chunk, remedy))
            }
            _ => Ok(()),
        }
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

    /// How the application writes, if at a rate; `segment` is the payload of a full segment.
    #[must_use]
    pub fn writes(&self, segment: u32) -> Option<Writes> {
        let bytes = self.chunk.unwrap_or(Size(u64::from(segment)));
        self.rate.map(|rate| Writes { bytes: bytes.0, spacing: Spacing::new(rate, bytes) })
    }

    /// Compiles the draws that the flows of a group share.
    pub fn compile(&self) -> Result<Fetches, Invalid> {
        self.check()?;
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

/// How the applications of a group write that have a rate.
#[derive(Clone, Debug)]
pub struct Writes {
    bytes: u64,
    spacing: Spacing,
}

/// The application of one flow that writes at a rate.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    left: u64,
    carry: u64,
}

impl Writes {
    /// A flow that has `size` bytes to write (`u64::MAX`: without end), and the time to its first
    /// write: somewhere within the time between two, lest flows march in step.
    pub fn begin(&self, size: u64, stream: &mut Stream) -> (Writer, Time) {
        (Writer { left: size, carry: 0 }, Time(stream.below(self.spacing.whole + 1)))
    }
}

impl Writer {
    /// The stream of the phases of one flow of a group.
    #[must_use]
    pub const fn stream(seed: u64, group: u32, index: u64) -> Stream {
        Stream::new(seed, Kind::Arrival, group, index)
    }

    /// A write's time has come: its bytes, and how long after it the next comes, if one does.
    pub fn write(&mut self, writes: &Writes) -> (u64, Option<Time>) {
        let bytes = self.left.min(writes.bytes);
        if self.left != u64::MAX {
            self.left -= bytes;
        }
        (bytes, (self.left > 0).then(|| Time(writes.spacing.next(&mut self.carry).max(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_transfers_are_endless_finite_or_repeated() {
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

    #[test]
    fn application_writes_at_its_rate_to_the_end() {
        let bulk = Bulk { rate: Some(Rate(7_000_003)), chunk: Some(Size(1500)), ..Bulk::default() };
        let writes = bulk.writes(1460).unwrap();
        let (mut writer, first) = writes.begin(u64::MAX, &mut Writer::stream(1, 0, 0));
        assert!(first <= Time(12_000 * 1_000_000_000 / 7_000_003));
        // Each write is 12 000 bits: as many writes as there are bits in a second take 12 000 s.
        let total: u64 = (0..7_000_003).map(|_| writer.write(&writes).1.unwrap().0).sum();
        assert_eq!(total, 12_000 * 1_000_000_000);
        let (mut finite, _) = writes.begin(4000, &mut Writer::stream(1, 0, 0));
        let sizes: Vec<_> = (0..3).map(|_| finite.write(&writes)).collect();
        assert_eq!(sizes.iter().map(|s| s.0).collect::<Vec<_>>(), [1500, 1500, 1000]);
        assert_eq!(sizes.iter().map(|s| s.1.is_some()).collect::<Vec<_>>(), [true, true, false]);
        let whole = Bulk { chunk: None, ..bulk }.writes(1460).unwrap();
        assert_eq!(whole.begin(u64::MAX, &mut Writer::stream(1, 0, 0)).0.write(&whole).0, 1460);
    }

    #[test]
    fn rates_and_chunks_that_cannot_be_are_refused() {
        let field = |rate, chunk| {
            Bulk { rate, chunk, ..Bulk::default() }.validate().map_err(|e| e.field.to_string())
        };
        assert_eq!(field(Some(Rate(0)), None), Err("rate".into()));
        assert_eq!(field(Some(Rate(1)), Some(Size(0))), Err("chunk".into()));
        assert_eq!(field(Some(Rate(1)), Some(Size(1_000_000_001))), Err("chunk".into()));
        assert_eq!(field(None, Some(Size(1))), Err("chunk".into()));
        assert_eq!(field(Some(Rate(1)), Some(Size(1_000_000_000))), Ok(()));
    }
}
