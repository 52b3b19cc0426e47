//! The kinds of traffic, as one list.

use crate::{Bulk, Call, Invalid, OnOff, Ping, Replay, Transfers, Udp, Video, Web};

/// What a group of traffic does; `kind` in a scenario chooses, and the other fields are those of
/// the kind.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(tag = "kind", rename_all = "lowercase")
)]
#[expect(clippy::large_enum_variant, reason = "a scenario has a handful of groups")]
pub enum Source {
    /// Bulk transfers over TCP.
    Bulk(Bulk),
    /// Web users.
    Web(Web),
    /// Transfers that arrive at random.
    Transfers(Transfers),
    /// UDP at a constant rate, or Poisson.
    Udp(Udp),
    /// UDP that is on and off at random.
    OnOff(OnOff),
    /// Transfers from a file.
    Replay(Replay),
    /// Probes of delay.
    Ping(Ping),
    /// Adaptive video.
    Video(Video),
    /// Video calls.
    Call(Call),
}

impl Source {
    /// The kinds' names.
    pub const NAMES: &'static [&'static str] =
        &["bulk", "web", "transfers", "udp", "onoff", "replay", "ping", "video", "call"];

    /// The kind's name.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Bulk(_) => "bulk",
            Self::Web(_) => "web",
            Self::Transfers(_) => "transfers",
            Self::Udp(_) => "udp",
            Self::OnOff(_) => "onoff",
            Self::Replay(_) => "replay",
            Self::Ping(_) => "ping",
            Self::Video(_) => "video",
            Self::Call(_) => "call",
        }
    }

    /// Checks every field; tables that are to come from files must have been loaded.
    pub fn validate(&self) -> Result<(), Invalid> {
        match self {
            Self::Bulk(source) => source.validate(),
            Self::Web(source) => source.validate(),
            Self::Transfers(source) => source.validate(),
            Self::Udp(source) => source.validate(),
            Self::OnOff(source) => source.validate(),
            Self::Replay(source) => source.validate(),
            Self::Ping(source) => source.validate(),
            Self::Video(source) => source.validate(),
            Self::Call(source) => source.validate(),
        }
    }

    /// Reads the quantile files that distributions name: `read` turns a path as written into the
    /// file's text. (The file of a [`Replay`] is not one of them.)
    pub fn load_files(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), Invalid> {
        match self {
            Self::Bulk(source) => source.load_files(read),
            Self::Web(source) => source.load_files(read),
            Self::Transfers(source) => source.load_files(read),
            Self::OnOff(source) => source.load_files(read),
            Self::Udp(_) | Self::Replay(_) | Self::Ping(_) | Self::Video(_) | Self::Call(_) => {
                Ok(())
            }
        }
    }

    /// How many flows or users the group has when it starts; `None` if that follows from a load or
    /// a file, or if transfers come and go.
    #[must_use]
    pub fn members(&self) -> Option<u32> {
        match self {
            Self::Bulk(source) => Some(source.flows),
            Self::Web(source) => source.users,
            Self::Udp(source) => Some(source.flows),
            Self::OnOff(source) => Some(source.flows),
            Self::Ping(source) => Some(source.flows),
            Self::Video(source) => Some(source.users),
            Self::Call(source) => Some(source.flows),
            Self::Transfers(_) | Self::Replay(_) => None,
        }
    }
}
