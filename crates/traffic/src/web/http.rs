//! Which HTTP web users speak, and what that says of their connections.

use sojourn_base::Invalid;

/// The version of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum Http {
    /// One object at a time on each of several connections.
    #[default]
    #[cfg_attr(feature = "schema", serde(rename = "1.1"))]
    V1,
    /// All objects as streams of one TCP connection, in frames of 16 kB that take turns (RFC 9113).
    #[cfg_attr(feature = "schema", serde(rename = "2"))]
    V2,
    /// All objects as streams of one QUIC connection, which take turns (RFC 9114).
    #[cfg_attr(feature = "schema", serde(rename = "3"))]
    V3,
}

impl Http {
    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "1.1",
            Self::V2 => "2",
            Self::V3 => "3",
        }
    }

    /// Whether objects share one connection, as streams.
    #[must_use]
    pub const fn multiplexes(self) -> bool {
        !matches!(self, Self::V1)
    }

    /// Streams that a user has at a time where nothing else is said: the least that RFC 9113
    /// section 6.5.2 and RFC 9114 section 6.1 recommend to allow.
    pub(super) const STREAMS: u8 = 100;

    /// Checks what else is said of the connections.
    pub(super) fn check(self, persistent: Option<f64>, tls: Option<bool>) -> Result<(), Invalid> {
        if let Some(given) = persistent.filter(|&given| self.multiplexes() && given != 1.0) {
            let remedy =
                "with http = \"2\" or \"3\" all of a page comes over one connection: leave it out";
            return Err(Invalid::new("persistent", given, remedy));
        }
        match (self, tls) {
            (Self::V1, Some(true)) => {
                Err(Invalid::new("tls", true, "goes with http = \"2\" only: leave it out"))
            }
            (Self::V3, Some(false)) => {
                Err(Invalid::new("tls", false, "QUIC has its handshake in it: leave it out"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_as_the_version_has_them() {
        let field =
            |http: Http, persistent, tls| http.check(persistent, tls).err().map(|e| e.field);
        assert_eq!(field(Http::V1, Some(0.5), Some(false)), None);
        assert_eq!(field(Http::V1, None, Some(true)).as_deref(), Some("tls"));
        for tls in [true, false] {
            assert_eq!(field(Http::V2, Some(1.0), Some(tls)), None);
        }
        assert_eq!(field(Http::V3, None, Some(true)), None);
        assert_eq!(field(Http::V3, None, Some(false)).as_deref(), Some("tls"));
        for http in [Http::V2, Http::V3] {
            assert_eq!(field(http, Some(0.5), None).as_deref(), Some("persistent"));
        }
    }
}
