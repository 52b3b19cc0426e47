//! Which packets a signal of congestion marks, and which it drops.

use crate::Ecn;

/// Which packets are marked instead of dropped: `ecn` in a scenario. Its value has a bit for each
/// codepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum EcnMarking {
    /// None: `false`.
    #[default]
    Off = 0,
    /// Those that are ECN-capable: `true` (RFC 3168 section 5).
    On = 1 << Ecn::Ect0 as u8 | 1 << Ecn::Ect1 as u8 | 1 << Ecn::Ce as u8,
    /// The same, but ECT(1) is taken for not ECN-capable: `"ect0"` (draft-ietf-tsvwg-l4sops, of
    /// queues that mark as RFC 3168 means it).
    Ect0 = 1 << Ecn::Ect0 as u8 | 1 << Ecn::Ce as u8,
}

impl EcnMarking {
    /// Whether a signal leaves a packet with this field where it is. [`Ecn::Ce`] stays what it is
    /// (RFC 3168 section 5), for the signal is on the packet already.
    #[inline]
    #[must_use]
    pub const fn applies(self, ecn: Ecn) -> bool {
        self as u8 >> ecn as u8 & 1 == 1
    }
}

impl From<bool> for EcnMarking {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

#[cfg(feature = "schema")]
mod schema {
    use super::EcnMarking;
    use alloc::borrow::Cow;
    use core::fmt;

    impl serde::Serialize for EcnMarking {
        fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match self {
                Self::Off => s.serialize_bool(false),
                Self::On => s.serialize_bool(true),
                Self::Ect0 => s.serialize_str("ect0"),
            }
        }
    }

    impl<'de> serde::Deserialize<'de> for EcnMarking {
        fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl serde::de::Visitor<'_> for Visitor {
                type Value = EcnMarking;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("true, false or \"ect0\"")
                }
                fn visit_bool<E: serde::de::Error>(self, on: bool) -> Result<EcnMarking, E> {
                    Ok(on.into())
                }
                fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<EcnMarking, E> {
                    match text {
                        "ect0" => Ok(EcnMarking::Ect0),
                        _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                    }
                }
            }
            d.deserialize_any(Visitor)
        }
    }

    impl schemars::JsonSchema for EcnMarking {
        fn schema_name() -> Cow<'static, str> {
            "EcnMarking".into()
        }
        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({
                "description": "Which packets are marked instead of dropped: none (false), those \
                    that are ECN-capable (true), or of these only ECT(0), so that ECT(1) is \
                    dropped as what is not ECN-capable (\"ect0\").",
                "enum": [false, true, "ect0"],
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signal_leaves_the_packets_that_it_marks() {
        let fields = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for (marking, applies) in [
            (EcnMarking::Off, [false; 4]),
            (EcnMarking::On, [false, true, true, true]),
            (EcnMarking::Ect0, [false, false, true, true]),
        ] {
            assert_eq!(fields.map(|ecn| marking.applies(ecn)), applies, "{marking:?}");
        }
    }

    #[cfg(feature = "schema")]
    #[test]
    fn setting_is_read_back_as_written() {
        use alloc::string::ToString;

        for (marking, text) in
            [(EcnMarking::Off, "false"), (EcnMarking::On, "true"), (EcnMarking::Ect0, "\"ect0\"")]
        {
            assert_eq!(serde_json::to_string(&marking).unwrap(), text);
            assert_eq!(serde_json::from_str::<EcnMarking>(text).unwrap(), marking);
        }
        for wrong in ["\"ect1\"", "1", "\"true\""] {
            let error = serde_json::from_str::<EcnMarking>(wrong).unwrap_err().to_string();
            assert!(error.contains("true, false or \"ect0\""), "{wrong}: {error}");
        }
    }
}
