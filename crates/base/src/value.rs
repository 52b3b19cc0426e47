//! Values of parameters that this program does not know.

use alloc::string::String;

/// A value given to a class that is written outside this program.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    serde(untagged, expecting = "must be a number, true, false or a text in quotes")
)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Text, such as "5ms".
    Text(String),
}
