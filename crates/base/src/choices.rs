//! Enums of named choices, each with parameters of its own: queue disciplines, congestion controls.

/// Makes an enum with one variant for each line: its documentation, its parameters, its name in a
/// scenario and the module that documents it.
///
/// In a scenario a choice is its name alone, or a table with its name as `kind` and the parameters
/// that differ from their defaults.
#[macro_export]
macro_rules! choices {
    (
        $(#[$attribute:meta])*
        pub enum $choice:ident: $title:tt, $description:tt {
            $($(#[doc = $doc:literal])+
            $variant:ident($parameters:ty) = $name:literal in $module:ident;)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "schema", schemars(
            rename = $title,
            description = $description,
            tag = "kind",
            transform = $crate::name_or_table,
        ))]
        pub enum $choice {
            $($(#[doc = $doc])+
            #[cfg_attr(feature = "schema", serde(rename = $name))]
            $variant($parameters),)+
        }

        impl $choice {
            /// All names, in the order of the list.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The choice called `name`, with all parameters at their defaults.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(Default::default())),)+
                    _ => None,
                }
            }

            /// Its name.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)+
                }
            }

            /// The head of the file of the choice called `name`: what it does, its source, and
            /// where it differs from the source and from Linux. Markdown.
            #[cfg(feature = "schema")]
            #[must_use]
            pub fn documentation(name: &str) -> Option<alloc::string::String> {
                let source = match name {
                    $($name => include_str!(concat!(stringify!($module), ".rs")),)+
                    _ => return None,
                };
                Some($crate::module_documentation(source))
            }
        }

        #[cfg(feature = "schema")]
        impl serde::Serialize for $choice {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(parameters) => serde::Serialize::serialize(
                        &$crate::Tagged { kind: $name, parameters },
                        serializer,
                    ),)+
                }
            }
        }
    };
}

/// A choice as it is written: its name as `kind`, and its parameters in the same table.
#[cfg(feature = "schema")]
#[derive(Debug, serde::Serialize)]
pub struct Tagged<'a, T> {
    /// Its name.
    pub kind: &'static str,
    /// Its parameters.
    #[serde(flatten)]
    pub parameters: &'a T,
}

/// Adds the name alone to the schema of a choice, which allows tables with `kind` only.
#[cfg(feature = "schema")]
pub fn name_or_table(schema: &mut schemars::Schema) {
    let tables = schema.remove("oneOf").unwrap_or_default();
    let kinds = tables.as_array().into_iter().flatten();
    let names: alloc::vec::Vec<_> =
        kinds.map(|table| &table["properties"]["kind"]["const"]).collect();
    let table = schemars::json_schema!({ "oneOf": tables });
    let either = schemars::json_schema!({ "anyOf": [{ "type": "string", "enum": names }, table] });
    schema.ensure_object().extend(either.as_object().cloned().unwrap_or_default());
}

/// The documentation at the head of a Rust file, its `//!` lines: Markdown, without those marks.
#[must_use]
pub fn module_documentation(source: &str) -> alloc::string::String {
    let mut text = alloc::string::String::new();
    for line in source.lines() {
        let Some(rest) = line.strip_prefix("//!") else { break };
        text.push_str(rest.strip_prefix(' ').unwrap_or(rest));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_documentation_ends_at_first_line_of_code() {
        let source = "//! One.\n//!\n//! # Two\n\nuse x;\n//! three\n";
        assert_eq!(module_documentation(source), "One.\n\n# Two\n");
        assert_eq!(module_documentation("use x;\n"), "");
    }
}
