//! The six bits of the IP header that name a class of service (RFC 2474), which traffic sets and
//! queues and captures read.

use alloc::format;
use core::fmt;
use core::str::FromStr;

use crate::ParseError;

/// A differentiated services codepoint: 0 to 63. Written as a number or by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

/// The names and their codepoints: the default (RFC 2474 section 4.1), class selectors (section
/// 4.2.2), assured forwarding (RFC 2597 section 6), expedited forwarding (RFC 3246 section 2.7),
/// voice admit (RFC 5865) and lower effort (RFC 8622).
const NAMES: [(&str, u8); 24] = [
    ("default", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("voice-admit", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
    ("cs0", 0),
];

impl Dscp {
    /// The codepoint `bits`; none above 63.
    #[must_use]
    pub const fn new(bits: u8) -> Option<Self> {
        if bits < 64 { Some(Self(bits)) } else { None }
    }

    /// The six bits as a number.
    #[inline]
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The byte of the IPv4 header that holds it, with `ecn` in the lower two bits.
    #[inline]
    #[must_use]
    pub const fn byte(self, ecn: crate::Ecn) -> u8 {
        self.0 << 2 | ecn as u8
    }

    /// Its name, if it has one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(_, bits)| *bits == self.0).map(|(name, _)| *name)
    }
}

/// Its name, or its number if it has none.
impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for Dscp {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let name = text.trim();
        let known = NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        known.map(|(_, bits)| Self(*bits)).ok_or_else(|| ParseError(wrong(format!("\"{text}\""))))
    }
}

fn wrong(value: alloc::string::String) -> alloc::string::String {
    format!(
        "{value} is not a DSCP: write a number from 0 to 63, or a name like \"ef\", \"cs1\", \
         \"af41\" or \"le\""
    )
}

#[cfg(feature = "schema")]
impl serde::Serialize for Dscp {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self.name() {
            Some(name) => s.serialize_str(name),
            None => s.serialize_u8(self.0),
        }
    }
}

#[cfg(feature = "schema")]
impl<'de> serde::Deserialize<'de> for Dscp {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Dscp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a DSCP: a number from 0 to 63, or a name like \"ef\"")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Dscp, E> {
                text.parse().map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Dscp, E> {
                let bits = u8::try_from(n).ok().and_then(Dscp::new);
                bits.ok_or_else(|| E::custom(wrong(format!("{n}"))))
            }
            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Dscp, E> {
                let bits = u8::try_from(n).ok().and_then(Dscp::new);
                bits.ok_or_else(|| E::custom(wrong(format!("{n}"))))
            }
        }
        d.deserialize_any(Visitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Dscp {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Dscp".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A differentiated services codepoint: a number or a name like \"ef\".",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": 63 },
                { "type": "string", "enum": NAMES.map(|(name, _)| name) },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn names_have_the_codepoints_of_the_registry() {
        // Assured forwarding AFxy is 8x + 2y (RFC 2597 section 6), a class selector 8x.
        for x in 1..=4u8 {
            for y in 1..=3u8 {
                assert_eq!(format!("af{x}{y}").parse(), Ok(Dscp(8 * x + 2 * y)));
            }
        }
        for x in 0..=7u8 {
            assert_eq!(format!("CS{x}").parse(), Ok(Dscp(8 * x)));
        }
        assert_eq!("ef".parse(), Ok(Dscp(46)));
        assert_eq!(Dscp(46).byte(crate::Ecn::Ect0), 0xba);
    }

    #[test]
    fn codepoint_is_read_back_as_written() {
        for bits in 0..64 {
            let dscp = Dscp::new(bits).unwrap();
            assert_eq!(dscp.bits(), bits);
            match dscp.name() {
                Some(name) => assert_eq!(name.parse(), Ok(dscp)),
                None => assert_eq!(dscp.to_string(), bits.to_string()),
            }
        }
        assert_eq!(Dscp::new(64), None);
        let error = "gold".parse::<Dscp>().unwrap_err().to_string();
        assert!(error.contains("0 to 63") && error.contains("\"gold\""), "{error}");
    }

    #[test]
    #[cfg(feature = "schema")]
    fn scenario_gives_a_codepoint_as_number_or_name() {
        use serde::de::value::{
            BoolDeserializer, Error, I64Deserializer, StrDeserializer, U64Deserializer,
        };
        use serde::{Deserialize, Serialize, de::IntoDeserializer};
        fn signed(n: i64) -> Option<Dscp> {
            let from: I64Deserializer<Error> = n.into_deserializer();
            Dscp::deserialize(from).ok()
        }
        fn unsigned(n: u64) -> Option<Dscp> {
            let from: U64Deserializer<Error> = n.into_deserializer();
            Dscp::deserialize(from).ok()
        }
        fn text(text: &str) -> Option<Dscp> {
            let from: StrDeserializer<'_, Error> = text.into_deserializer();
            Dscp::deserialize(from).ok()
        }
        struct Written(Dscp);
        impl fmt::Display for Written {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.serialize(f)
            }
        }
        assert_eq!([signed(46), unsigned(46), text("ef")], [Some(Dscp(46)); 3]);
        let from: BoolDeserializer<Error> = true.into_deserializer();
        let error = Dscp::deserialize(from).unwrap_err().to_string();
        assert!(error.contains("a DSCP: a number from 0 to 63"), "{error}");
        assert_eq!([signed(-1), signed(64), unsigned(64), text("gold")], [None; 4]);
        let written = [46, 3].map(|bits| Written(Dscp(bits)).to_string());
        assert_eq!(written, ["ef", "3"]);
    }
}
