//! The sets of defaults.

/// A set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "lowercase"))]
pub enum Profile {
    /// Hosts of about 2003: initial timeout 3 s, least timeout 1 s, acknowledgements wait up to
    /// 100 ms, initial window 2 segments, receive window 16 KiB, no timestamps.
    Classic,
    /// FreeBSD 4 as it was delivered: as classic, but an initial window of 1 segment, a window that
    /// grows by the acknowledgement and not by the byte, and NewReno without selective
    /// acknowledgements.
    Freebsd4,
    /// Hosts of today: initial timeout 1 s, least timeout 200 ms, acknowledgements wait up to
    /// 40 ms, initial window 10 segments, receive window 4 MiB, timestamps.
    #[default]
    Modern,
}
