//! What RED and its variants say of hits alike.

use crate::{ByteMode, EcnMarking, Spacing};

/// Which packets are hit at a probability, and whether they are marked or dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Hits {
    /// How far apart hits lie at a probability p: "uniform", 1 to 1/p packets; "wait", 1/p to 2/p,
    /// as ns-2; "altq", 1 to 2/p, as ALTQ (default "uniform", that of RED's paper).
    pub spacing: Spacing,
    /// Let every packet pass that finds fewer packets than this in the queue, and start the
    /// spacing anew. RED's paper knows nothing of it; ns-2 and ALTQ have 2 (default 0).
    pub min_queue: u32,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// false).
    pub ecn: EcnMarking,
    /// With `ecn`: above `max_th` drop ECN-capable packets too, instead of marking them, as
    /// RFC 3168 section 7 recommends (default true).
    pub ecn_drop_above_max: bool,
    /// What is counted in bytes.
    #[cfg_attr(feature = "schema", serde(rename = "$byte_mode"))]
    pub byte_mode: ByteMode,
}

impl Default for Hits {
    fn default() -> Self {
        Self {
            spacing: Spacing::Uniform,
            min_queue: 0,
            ecn: EcnMarking::Off,
            ecn_drop_above_max: true,
            byte_mode: ByteMode::default(),
        }
    }
}
