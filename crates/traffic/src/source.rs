//! The kinds of traffic, as one list.

use crate::{Bulk, Call, Invalid, OnOff, Ping, Replay, Transfers, Udp, Video, Web};

/// Makes of one line for each kind, its documentation, its name in Rust and in a scenario, whatever
/// is the same for all.
macro_rules! sources {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal;)+) => {
        /// What a group of traffic does; `kind` in a scenario chooses, and the other fields are
        /// those of the kind.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(
            feature = "schema",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
            serde(tag = "kind")
        )]
        #[expect(clippy::large_enum_variant, reason = "a scenario has a handful of groups")]
        pub enum Source {
            $($(#[doc = $doc])+
            #[cfg_attr(feature = "schema", serde(rename = $name))]
            $kind($kind),)+
        }

        /// [`Source`] for readers that look after `kind` themselves, as those of scenarios do:
        /// mistakes keep their places then, and nothing is read twice.
        #[cfg(feature = "schema")]
        #[derive(serde::Deserialize)]
        #[serde(remote = "Source")]
        #[expect(clippy::large_enum_variant, reason = "it is never made")]
        pub enum SourceByName {
            $($(#[doc = $doc])+
            #[serde(rename = $name)]
            $kind($kind),)+
        }

        impl Source {
            /// The kinds' names.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The kind's name.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)+
                }
            }

            /// Checks every field; tables that are to come from files must have been loaded.
            pub fn validate(&self) -> Result<(), Invalid> {
                match self {
                    $(Self::$kind(source) => source.validate(),)+
                }
            }
        }
    };
}

sources! {
    /// Bulk transfers over TCP.
    Bulk = "bulk";
    /// Web users.
    Web = "web";
    /// Transfers that arrive at random.
    Transfers = "transfers";
    /// UDP at a constant rate, or Poisson.
    Udp = "udp";
    /// UDP that is on and off at random.
    OnOff = "onoff";
    /// Transfers from a file.
    Replay = "replay";
    /// Probes of delay.
    Ping = "ping";
    /// Adaptive video.
    Video = "video";
    /// Video calls.
    Call = "call";
}

impl Source {
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
