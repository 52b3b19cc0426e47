//! RED with the settings of a paper or a program, from which single ones may differ.

use super::{Hits, Params, Spacing};
use crate::ByteMode;

/// Whose RED: where those parameters come from that are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Preset {
    /// Floyd and Jacobson, 1993: the simulations of the paper.
    Floyd,
    /// ns-2.35, with the thresholds and the weight that it had before it derived them.
    Ns2,
    /// ALTQ, as in the BSDs.
    Altq,
    /// Linux, `sch_red`, with what `tc` takes where it may be left out.
    Linux,
}

impl Preset {
    /// Its parameters.
    #[must_use]
    pub fn params(self) -> Params {
        let base = Params { preset: Some(self), ..Params::default() };
        match self {
            // Section VI: w_q 0.002, max_p 1/50; above max_th every packet is marked.
            Self::Floyd => Params {
                max_p: 0.02,
                wq: Some(0.002),
                gentle: false,
                hits: Hits { ecn_drop_above_max: false, ..base.hits },
                ..base
            },
            // linterm_ 10, wait_, gentle_, bytes_ and queue_in_bytes_ are on.
            Self::Ns2 => Params {
                wq: Some(0.002),
                hits: Hits {
                    spacing: Spacing::Wait,
                    min_queue: 2,
                    byte_mode: ByteMode {
                        queue_in_bytes: true,
                        scale_by_size: true,
                        ..Default::default()
                    },
                    ..base.hits
                },
                ..base
            },
            // An inverse weight of 512, an inverse max_p of 10, 60 packets at most.
            Self::Altq => Params {
                wq: Some(1.0 / 512.0),
                gentle: false,
                hits: Hits { spacing: Spacing::Altq, min_queue: 2, ..base.hits },
                limit: 60,
                ..base
            },
            // tc's probability; sch_red measures bytes.
            Self::Linux => Params {
                max_p: 0.02,
                gentle: false,
                hits: Hits {
                    ecn_drop_above_max: false,
                    byte_mode: ByteMode { queue_in_bytes: true, ..Default::default() },
                    ..base.hits
                },
                ..base
            },
        }
    }
}

/// What a scenario gives; the rest is the preset's.
#[cfg(feature = "schema")]
#[derive(serde::Deserialize)]
#[serde(rename = "Params", deny_unknown_fields)]
struct Given {
    preset: Option<Preset>,
    min_th: Option<f64>,
    max_th: Option<f64>,
    max_p: Option<f64>,
    wq: Option<f64>,
    gentle: Option<bool>,
    idle_decay: Option<bool>,
    spacing: Option<Spacing>,
    min_queue: Option<u32>,
    ecn: Option<crate::EcnMarking>,
    ecn_drop_above_max: Option<bool>,
    #[serde(rename = "$byte_mode", default)]
    byte_mode: GivenByteMode,
    limit: Option<u32>,
}

#[cfg(feature = "schema")]
#[derive(Default, serde::Deserialize)]
#[serde(rename = "ByteMode", deny_unknown_fields)]
struct GivenByteMode {
    queue_in_bytes: Option<bool>,
    scale_by_size: Option<bool>,
    mean_packet: Option<u32>,
}

#[cfg(feature = "schema")]
impl GivenByteMode {
    fn over(self, base: ByteMode) -> ByteMode {
        ByteMode {
            queue_in_bytes: self.queue_in_bytes.unwrap_or(base.queue_in_bytes),
            scale_by_size: self.scale_by_size.unwrap_or(base.scale_by_size),
            mean_packet: self.mean_packet.or(base.mean_packet),
        }
    }
}

#[cfg(feature = "schema")]
impl<'de> serde::Deserialize<'de> for Params {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Given::deserialize(deserializer)?;
        let base = given.preset.map_or_else(Self::default, Preset::params);
        Ok(Self {
            preset: given.preset,
            min_th: given.min_th.unwrap_or(base.min_th),
            max_th: given.max_th.unwrap_or(base.max_th),
            max_p: given.max_p.unwrap_or(base.max_p),
            wq: given.wq.or(base.wq),
            gentle: given.gentle.unwrap_or(base.gentle),
            idle_decay: given.idle_decay.unwrap_or(base.idle_decay),
            hits: Hits {
                spacing: given.spacing.unwrap_or(base.hits.spacing),
                min_queue: given.min_queue.unwrap_or(base.hits.min_queue),
                ecn: given.ecn.unwrap_or(base.hits.ecn),
                ecn_drop_above_max: (given.ecn_drop_above_max)
                    .unwrap_or(base.hits.ecn_drop_above_max),
                byte_mode: given.byte_mode.over(base.hits.byte_mode),
            },
            limit: given.limit.unwrap_or(base.limit),
        })
    }
}
