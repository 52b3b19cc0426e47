//! What a scenario may say of CAKE.

use super::overhead::{Framing, LineLength, LinkLayer};
use crate::codel::mtu;
use crate::codel_law::in_range;
use crate::{ClassInfo, EcnMarking, Env, Invalid, Parameters};
use alloc::format;
use alloc::vec::Vec;
use sojourn_base::{Rate, Size, Time};

/// How codepoints are put into tins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "CakeTins"))]
pub enum Tins {
    /// One for everything.
    Besteffort,
    /// Best effort, bulk (cs1, le) and voice (cs6, cs7, ef, voice-admit).
    #[default]
    Diffserv3,
    /// Best effort, bulk, video (af2x to af4x, cs2, cs3) and voice.
    Diffserv4,
    /// Eight, from background to network control.
    Diffserv8,
    /// Eight, by the upper three bits of the codepoint.
    Precedence,
}

/// What a queue is for, and between whom the line is shared evenly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "CakeIsolation"))]
pub enum Isolation {
    /// One queue for everything.
    Flowblind,
    /// A queue for each source.
    Srchost,
    /// A queue for each destination.
    Dsthost,
    /// A queue for each pair of source and destination.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// A queue for each flow; sources share evenly, and the flows of each among themselves.
    DualSrchost,
    /// A queue for each flow; destinations share evenly, and the flows of each among themselves.
    DualDsthost,
    /// A queue for each flow; a flow gets what its source or its destination leaves it, whichever
    /// is less.
    #[default]
    TripleIsolate,
}

impl Isolation {
    /// Whether sources share evenly.
    pub(super) const fn by_source(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }

    /// Whether destinations share evenly.
    pub(super) const fn by_destination(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }
}

/// Which acknowledgements go when a later one says the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", schemars(rename = "CakeAckFilter"))]
pub enum AckFilter {
    /// None.
    #[default]
    Off,
    /// One, where two are superfluous.
    Normal,
    /// One, also where it alone is.
    Aggressive,
}

/// CAKE.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Cake"))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The shaper's rate, of bytes on the line: "1kbit" to "1tbit"; default: none, the link sets
    /// the pace.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub bandwidth: Option<Rate>,
    /// The round trip that the traffic is taken to have: COBALT's interval, and twenty times its
    /// target: "20us" to "100s" (default "100ms", as in Linux).
    pub rtt: Time,
    /// How codepoints are put into tins: "besteffort", "diffserv3", "diffserv4", "diffserv8" or
    /// "precedence" (default "diffserv3", as in Linux).
    pub tins: Tins,
    /// Between whom the line is shared evenly: "flowblind", "srchost", "dsthost", "hosts",
    /// "flows", "dual_srchost", "dual_dsthost" or "triple_isolate" (default "triple_isolate", as
    /// in Linux).
    pub isolation: Isolation,
    /// What the line adds to an IP packet, by the name that tc has for it: "raw" is nothing
    /// (default "raw").
    pub link_layer: LinkLayer,
    /// Bytes that the line adds beside those of `link_layer`: together -64 to 256 (default 0).
    pub overhead: i32,
    /// The shortest packet on the line, in bytes: 0 to 256; default: that of `link_layer`.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mpu: Option<u32>,
    /// What the line cuts packets into: "none", "atm" (cells of 53 bytes with 48 of payload) or
    /// "ptm" (a byte more for every 64); default: that of `link_layer`.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub framing: Option<Framing>,
    /// Count what is dropped as sent, for a shaper behind the bottleneck (default false).
    pub ingress: bool,
    /// Follow the rate at which packets come instead of keeping to `bandwidth`, for a shaper
    /// behind a bottleneck whose rate changes (default false).
    pub autorate_ingress: bool,
    /// Drop acknowledgements that a later one in the same queue makes superfluous: "off",
    /// "normal", which leaves one of them, or "aggressive" (default "off").
    pub ack_filter: AckFilter,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0), but for
    /// BLUE's (default true: Linux knows nothing else).
    pub ecn: EcnMarking,
    /// Most bytes in all queues: at least one packet, at most "1GB"; default: four times what the
    /// line carries in `rtt`, at least "4MiB" and at most 10240 packets, as in Linux.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub memory_limit: Option<Size>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            bandwidth: None,
            rtt: Time::from_millis(100),
            tins: Tins::default(),
            isolation: Isolation::default(),
            link_layer: LinkLayer::default(),
            overhead: 0,
            mpu: None,
            framing: None,
            ingress: false,
            autorate_ingress: false,
            ack_filter: AckFilter::Off,
            ecn: EcnMarking::On,
            memory_limit: None,
        }
    }
}

/// The lowest rate of the shaper.
pub(super) const SLOWEST: Rate = Rate(1000);
const FASTEST: Rate = Rate(1_000_000_000_000);
const MOST_MEMORY: u64 = 1_000_000_000;
/// Parts of `rtt` that the target is.
const TARGET_PART: u64 = 20;

impl Params {
    /// COBALT's target, before it is raised for slow lines.
    pub(super) fn target(&self) -> Time {
        self.rtt / TARGET_PART
    }

    /// How long a packet is on the line.
    pub(super) fn line_length(&self) -> LineLength {
        let Self { link_layer, overhead, mpu, framing, .. } = *self;
        let (added, least, cut) = link_layer.adds();
        LineLength {
            overhead: added + overhead,
            mpu: mpu.unwrap_or(least),
            framing: framing.unwrap_or(cut),
        }
    }

    /// The same with what the line adds as numbers, no name.
    pub(crate) fn with_line_as_numbers(&self) -> Self {
        let LineLength { overhead, mpu, framing } = self.line_length();
        let link_layer = LinkLayer::Raw;
        Self { link_layer, overhead, mpu: Some(mpu), framing: Some(framing), ..self.clone() }
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        if let Some(rate) = self.bandwidth
            && !(SLOWEST..=FASTEST).contains(&rate)
        {
            let remedy = "must be from \"1kbit\" to \"1tbit\"; leave it out for the link's pace";
            return Err(Invalid::new("bandwidth", format!("\"{rate}\""), remedy));
        }
        in_range("rtt", self.rtt, "100ms")?;
        if self.target() < Time::from_micros(1) {
            let remedy = "must be \"20us\" to \"100s\", for example \"100ms\"";
            return Err(Invalid::new("rtt", format!("\"{}\"", self.rtt), remedy));
        }
        let (added, ..) = self.link_layer.adds();
        if !(-64 - added..=256 - added).contains(&self.overhead) {
            let remedy = format!("must be {} to {} bytes, for example 4", -64 - added, 256 - added);
            return Err(Invalid::new("overhead", self.overhead, remedy));
        }
        if let Some(mpu) = self.mpu
            && mpu > 256
        {
            return Err(Invalid::new("mpu", mpu, "must be 0 to 256 bytes, for example 64"));
        }
        let least = u64::from(mtu("mtu", None, env)?);
        if let Some(size) = self.memory_limit
            && !(least..=MOST_MEMORY).contains(&size.0)
        {
            let remedy = format!("must hold one packet, \"{least}B\", and at most \"1GB\"");
            return Err(Invalid::new("memory_limit", format!("\"{}B\"", size.0), remedy));
        }
        Ok(())
    }

    /// The tins, so that each has its own row among the results.
    fn classes(&self) -> Vec<ClassInfo> {
        let named = |name: &&str| ClassInfo { name: (*name).into(), labels: Vec::new() };
        self.tins.names().iter().map(named).collect()
    }

    fn holds_back(&self) -> bool {
        self.bandwidth.is_some() || self.autorate_ingress
    }

    fn looks_at_machines(&self) -> bool {
        !matches!(self.isolation, Isolation::Flowblind | Isolation::Flows)
    }
}
