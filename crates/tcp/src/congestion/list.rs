//! The list of algorithms: one line each makes its module, its place in `Algorithm` (settings) and
//! its place in `Congestion` (state).

macro_rules! algorithms {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $module:ident;)+) => {
        $(pub mod $module;)+

        /// A congestion control and its settings. In a scenario: its name alone, or a table with
        /// its name as `kind` and the settings that differ from their defaults.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Serialize))]
        #[cfg_attr(feature = "schema", serde(tag = "kind"))]
        pub enum Algorithm {
            $($(#[doc = $doc])+
            #[cfg_attr(feature = "schema", serde(rename = $name))]
            $variant(<$module::State as Control>::Settings),)+
        }

        impl Algorithm {
            /// The names of all algorithms, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// Name and one-line description of each algorithm.
            pub const DESCRIPTIONS: &'static [(&'static str, &'static str)] =
                &[$(($name, concat!($($doc),+).trim_ascii())),+];

            /// The algorithm called `name`, with all settings at their defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(Default::default())),)+
                    _ => None,
                }
            }

            /// The algorithm's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }

            /// Whether the algorithm wants to be told what each acknowledgement shows of the path.
            #[must_use]
            pub fn samples(&self) -> bool {
                match self { $(Self::$variant(_) => <$module::State as Control>::SAMPLES,)+ }
            }

            /// What the file of the algorithm called `name` says at its top: what it does, its
            /// source, and where it differs from the source and from Linux. Markdown.
            #[cfg(feature = "schema")]
            #[must_use]
            pub fn documentation(name: &str) -> Option<alloc::string::String> {
                let source = match name {
                    $($name => include_str!(concat!(stringify!($module), ".rs")),)+
                    _ => return None,
                };
                Some(sojourn_base::module_documentation(source))
            }
        }

        /// The state of a congestion control, dispatched by a `match`. Every call is given the
        /// [`Algorithm`] that it was made with.
        #[derive(Clone, Debug)]
        pub enum Congestion {
            $($(#[doc = $doc])+
            $variant($module::State),)+
        }

        impl Congestion {
            /// The state at the start of a connection.
            #[must_use]
            pub fn new(algorithm: &Algorithm) -> Self {
                match algorithm {
                    $(Algorithm::$variant(s) => Self::$variant(Control::new(s)),)+
                }
            }
            /// See [`Control::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, algorithm: &Algorithm, window: &mut Window, acked: Acked) {
                match (self, algorithm) {
                    $((Self::$variant(c), Algorithm::$variant(s)) => c.on_ack(s, window, acked),)+
                    #[allow(unreachable_patterns)] // with a single algorithm
                    _ => unreachable!("state and settings are of one algorithm"),
                }
            }
            /// See [`Control::on_loss`].
            pub fn on_loss(&mut self, algorithm: &Algorithm, window: &mut Window, at: Congested) {
                match (self, algorithm) {
                    $((Self::$variant(c), Algorithm::$variant(s)) => c.on_loss(s, window, at),)+
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("state and settings are of one algorithm"),
                }
            }
            /// See [`Control::on_mark`].
            pub fn on_mark(&mut self, algorithm: &Algorithm, window: &mut Window, at: Congested) {
                match (self, algorithm) {
                    $((Self::$variant(c), Algorithm::$variant(s)) => c.on_mark(s, window, at),)+
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("state and settings are of one algorithm"),
                }
            }
            /// See [`Control::on_timeout`].
            pub fn on_timeout(
                &mut self,
                algorithm: &Algorithm,
                window: &mut Window,
                at: Congested,
                first: bool,
            ) {
                match (self, algorithm) {
                    $((Self::$variant(c), Algorithm::$variant(s)) =>
                        c.on_timeout(s, window, at, first),)+
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("state and settings are of one algorithm"),
                }
            }
            /// See [`Control::on_restart`].
            pub fn on_restart(&mut self, algorithm: &Algorithm, window: &mut Window) {
                match (self, algorithm) {
                    $((Self::$variant(c), Algorithm::$variant(s)) => c.on_restart(s, window),)+
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("state and settings are of one algorithm"),
                }
            }
            /// See [`Control::on_sample`].
            #[inline]
            pub fn on_sample(&mut self, algorithm: &Algorithm, window: &mut Window, s: &Sample) {
                match (self, algorithm) {
                    $((Self::$variant(c), Algorithm::$variant(settings)) =>
                        c.on_sample(settings, window, s),)+
                    #[allow(unreachable_patterns)]
                    _ => unreachable!("state and settings are of one algorithm"),
                }
            }
        }

        /// Reading an algorithm from a scenario, and its schema.
        #[cfg(feature = "schema")]
        mod text {
            use super::{Algorithm, Control, $($module),+};

            /// The long form.
            #[derive(serde::Deserialize, schemars::JsonSchema)]
            #[serde(tag = "kind")]
            enum Table {
                $($(#[doc = $doc])+
                #[serde(rename = $name)]
                $variant(<$module::State as Control>::Settings),)+
            }

            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Algorithm;
                fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    f.write_str("the name of a congestion control, or a table with its `kind`")
                }
                fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Algorithm, E> {
                    Algorithm::named(name).ok_or_else(|| E::unknown_variant(name, Algorithm::NAMES))
                }
                fn visit_map<M: serde::de::MapAccess<'de>>(
                    self,
                    map: M,
                ) -> Result<Algorithm, M::Error> {
                    let table = <Table as serde::Deserialize>::deserialize(
                        serde::de::value::MapAccessDeserializer::new(map),
                    )?;
                    Ok(match table { $(Table::$variant(s) => Algorithm::$variant(s),)+ })
                }
            }

            impl<'de> serde::Deserialize<'de> for Algorithm {
                fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                    d.deserialize_any(Visitor)
                }
            }

            impl schemars::JsonSchema for Algorithm {
                fn schema_name() -> alloc::borrow::Cow<'static, str> {
                    "CongestionControl".into()
                }
                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    let table = Table::json_schema(generator);
                    schemars::json_schema!({
                        "description":
                            "A congestion control: its name, or a table with `kind` and settings.",
                        "anyOf": [{ "type": "string", "enum": Algorithm::NAMES }, table],
                    })
                }
            }
        }
    };
}
pub(super) use algorithms;
