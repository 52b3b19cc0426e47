//! The list of algorithms: one line each makes its module, its place in `Algorithm` (settings), in
//! `Tuning` (settings in integers) and in `Congestion` (state). A state of more than twelve bytes
//! is `boxed`, so that endpoints whose algorithm needs less stay small.

/// A state, where it lies in `Congestion`.
macro_rules! held {
    ($module:ident) => { $module::State };
    ($module:ident boxed) => { alloc::boxed::Box<$module::State> };
}
pub(super) use held;

/// A state for where it lies.
macro_rules! hold {
    ($state:expr) => {
        $state
    };
    ($state:expr, boxed) => {
        alloc::boxed::Box::new($state)
    };
}
pub(super) use hold;

macro_rules! algorithms {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $module:ident $($boxed:ident)?;)+)
    => {
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

            /// Gives settings that are left to the profile their values.
            pub fn settle(&mut self, profile: Profile) {
                match self {
                    $(Self::$variant(s) => <$module::State as Control>::settle(s, profile),)+
                }
            }

            /// Checks the settings and turns them into integers. What is left to the profile is as
            /// in the algorithm's source.
            pub fn tune(&self) -> Result<Tuning, Invalid> {
                Ok(match self {
                    $(Self::$variant(s) =>
                        Tuning::$variant(<$module::State as Control>::tune(s)?),)+
                })
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

        /// A congestion control with its settings checked and turned into integers; all
        /// connections of a group share it. Made by [`Algorithm::tune`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum Tuning {
            $($(#[doc = $doc])+
            $variant(<$module::State as Control>::Tuning),)+
        }

        impl Tuning {
            /// The algorithm's name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)+ }
            }
            /// See [`Control::samples`].
            #[inline]
            #[must_use]
            pub fn samples(&self) -> bool {
                match self { $(Self::$variant(t) => <$module::State as Control>::samples(t),)+ }
            }
            /// See [`Control::RULES_RECOVERY`].
            #[inline]
            #[must_use]
            pub fn rules_recovery(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$module::State as Control>::RULES_RECOVERY,)+
                }
            }
            /// See [`Control::PACED`].
            #[inline]
            #[must_use]
            pub fn paced(&self) -> bool {
                match self { $(Self::$variant(_) => <$module::State as Control>::PACED,)+ }
            }
            /// See [`Control::marks`].
            #[must_use]
            pub fn marks(&self) -> Marks {
                match self { $(Self::$variant(t) => <$module::State as Control>::marks(t),)+ }
            }
        }

        /// The state of a congestion control, dispatched by a `match`. Every call is given the
        /// [`Tuning`] that it was made with.
        #[derive(Debug)]
        pub enum Congestion {
            $($(#[doc = $doc])+
            $variant(list::held!($module $($boxed)?)),)+
        }

        impl Congestion {
            /// The state at the start of a connection.
            #[must_use]
            pub fn new(tuning: &Tuning) -> Self {
                match tuning {
                    $(Tuning::$variant(t) => {
                        let state = <$module::State as Control>::new(t);
                        Self::$variant(list::hold!(state $(, $boxed)?))
                    })+
                }
            }
            /// See [`Control::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, tuning: &Tuning, window: &mut Window, acked: Acked) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.on_ack(t, window, acked),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::on_loss`].
            pub fn on_loss(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.on_loss(t, window, at),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::on_mark`].
            pub fn on_mark(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.on_mark(t, window, at),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::on_timeout`].
            pub fn on_timeout(
                &mut self,
                tuning: &Tuning,
                window: &mut Window,
                at: Congested,
                first: bool,
            ) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) =>
                        c.on_timeout(t, window, at, first),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::on_undo`].
            pub fn on_undo(&mut self, tuning: &Tuning, window: &mut Window) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.on_undo(t, window),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::on_recovered`].
            pub fn on_recovered(&mut self, tuning: &Tuning, window: &mut Window, mss: u32) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.on_recovered(t, window, mss),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::on_restart`].
            pub fn on_restart(&mut self, tuning: &Tuning, window: &mut Window) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.on_restart(t, window),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::on_sample`].
            #[inline]
            pub fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, sample: &Sample) {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.on_sample(t, window, sample),)+
                    _ => mixed(),
                }
            }
            /// See [`Control::pace`].
            #[inline]
            #[must_use]
            pub fn pace(&self, tuning: &Tuning, window: &Window, srtt: Time) -> u64 {
                match (self, tuning) {
                    $((Self::$variant(c), Tuning::$variant(t)) => c.pace(t, window, srtt),)+
                    _ => mixed(),
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
