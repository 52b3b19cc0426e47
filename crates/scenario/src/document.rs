//! A scenario as written: a tree of values that remember where in the file they stand.

use std::fmt;

use serde_json::Value as Json;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Fault, Step, show};
use crate::json;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Byte offset in the file.
    Text(usize),
    /// Not from the file: JSON, or a variation.
    Given,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub value: Value,
    pub origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Bool(bool),
    /// Wide enough for every 64-bit number, signed or not.
    Integer(i128),
    Float(f64),
    Text(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    pub key_origin: Origin,
    pub node: Node,
}

/// A tree with the text it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub file: Option<String>,
    text: String,
    pub root: Node,
}

impl Document {
    /// Reads TOML.
    pub(crate) fn from_toml(text: &str, file: &str) -> Result<Self, Error> {
        let mut document =
            Self { file: Some(file.into()), text: text.into(), root: Node::table(Vec::new()) };
        let table = DeTable::parse(text).map_err(|error| Error {
            file: Some(file.into()),
            position: error.span().map(|span| document.position(span.start)),
            path: String::new(),
            message: format!("not TOML: {}", plain(error.message())),
        })?;
        let origin = Origin::Text(table.span().start);
        document.root = from_table(table.into_inner(), origin);
        Ok(document)
    }

    /// Reads JSON: the same tree, without positions.
    pub(crate) fn from_json(text: &str) -> Result<Self, Error> {
        let json = json::read(text).map_err(|error| Error {
            file: None,
            position: None,
            path: String::new(),
            message: format!("not JSON: {}", plain(&error)),
        })?;
        Ok(Self::from_value(&json))
    }

    /// Takes a JSON value. A null counts as a field that is not there.
    pub(crate) fn from_value(json: &Json) -> Self {
        Self { file: None, text: String::new(), root: Node::from_json(json) }
    }

    /// Line and column of a byte offset, both from 1.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        (line, column)
    }

    /// Turns a fault's path into a position: that of the deepest part of the path that is there.
    pub(crate) fn locate(&self, fault: Fault) -> Error {
        let mut origin = self.root.origin;
        let mut node = &self.root;
        for (depth, step) in fault.path.iter().enumerate() {
            let last = depth + 1 == fault.path.len();
            match (step, &node.value) {
                (Step::Key(key), Value::Table(entries)) => {
                    let Some(entry) = entries.iter().find(|entry| entry.key == *key) else { break };
                    node = &entry.node;
                    origin = if last && fault.on_key { entry.key_origin } else { node.origin };
                }
                (Step::Index(index), Value::Array(items)) => {
                    let Some(item) = items.get(*index) else { break };
                    node = item;
                    origin = node.origin;
                }
                _ => break,
            }
        }
        // The whole file has no position worth naming.
        let whole = std::ptr::eq(node, &self.root);
        Error {
            file: self.file.clone(),
            position: match origin {
                Origin::Text(offset) if self.file.is_some() && !whole => {
                    Some(self.position(offset))
                }
                _ => None,
            },
            path: show(&fault.path),
            message: fault.message(),
        }
    }
}

impl Node {
    pub(crate) fn given(value: Value) -> Self {
        Self { value, origin: Origin::Given }
    }

    pub(crate) fn table(entries: Vec<Entry>) -> Self {
        Self::given(Value::Table(entries))
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::given(Value::Text(text.into()))
    }

    pub(crate) fn from_json(json: &Json) -> Self {
        Self::given(match json {
            // Only an array can hold a null that is left.
            Json::Null => Value::Text("null".into()),
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(n), _) => Value::Integer(i128::from(n)),
                (None, Some(n)) => Value::Integer(i128::from(n)),
                _ => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::Array(items.iter().map(Self::from_json).collect()),
            Json::Object(entries) => Value::Table(
                entries
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| Entry::new(key, Self::from_json(value)))
                    .collect(),
            ),
        })
    }

    #[cfg(test)]
    pub(crate) fn to_json(&self) -> Json {
        match &self.value {
            Value::Bool(value) => (*value).into(),
            Value::Integer(n) => match i64::try_from(*n) {
                Ok(n) => n.into(),
                Err(_) => u64::try_from(*n).map_or(Json::Null, Json::from),
            },
            Value::Float(x) => (*x).into(),
            Value::Text(text) => text.as_str().into(),
            Value::Array(items) => items.iter().map(Self::to_json).collect(),
            Value::Table(entries) => {
                Json::Object(entries.iter().map(|e| (e.key.clone(), e.node.to_json())).collect())
            }
        }
    }

    /// The entry of a table; none if this is no table or lacks it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
            _ => None,
        }
    }

    /// What a string holds; none for anything else.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Entry {
    pub(crate) fn new(key: &str, node: Node) -> Self {
        Self { key: key.into(), key_origin: Origin::Given, node }
    }
}

/// The value as a user would write it.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Integer(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Text(text) => write!(f, "{}", toml::Value::String(text.clone())),
            Value::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Table(entries) if entries.is_empty() => f.write_str("{}"),
            Value::Table(entries) => {
                f.write_str("{ ")?;
                for (i, entry) in entries.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}{} = {}", bare_or_quoted(&entry.key), entry.node)?;
                }
                f.write_str(" }")
            }
        }
    }
}

/// What a parser says, on one line.
fn plain(message: &str) -> String {
    if message.contains("recurs") {
        return "tables or lists are nested too deeply".into();
    }
    message.replace('\n', "; ")
}

/// A key as TOML wants it.
pub(crate) fn bare_or_quoted(key: &str) -> String {
    let bare =
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { key.into() } else { toml::Value::String(key.into()).to_string() }
}

/// Reads one TOML value, such as `0.98`, `"10ms"` or `{ kind = "pi" }`.
pub(crate) fn parse_value(text: &str) -> Result<Node, String> {
    let value = DeValue::parse(text).map_err(|e| plain(e.message()))?;
    let mut node = from_value(value.into_inner(), Origin::Given);
    forget(&mut node);
    Ok(node)
}

fn forget(node: &mut Node) {
    node.origin = Origin::Given;
    match &mut node.value {
        Value::Array(items) => items.iter_mut().for_each(forget),
        Value::Table(entries) => entries.iter_mut().for_each(|entry| {
            entry.key_origin = Origin::Given;
            forget(&mut entry.node);
        }),
        _ => {}
    }
}

fn from_table(table: DeTable<'_>, origin: Origin) -> Node {
    let mut entries = Vec::new();
    for (key, value) in table {
        let (key_at, at) = (key.span().start, value.span().start);
        let key = key.into_inner().into_owned();
        let node = from_value(value.into_inner(), Origin::Text(at));
        entries.push((key_at, Entry { key, key_origin: Origin::Text(key_at), node }));
    }
    sojourn_base::sort_by_key(&mut entries, |(at, _)| *at);
    Node { value: Value::Table(entries.into_iter().map(|(_, entry)| entry).collect()), origin }
}

fn from_value(value: DeValue<'_>, origin: Origin) -> Node {
    let value = match value {
        DeValue::Boolean(value) => Value::Bool(value),
        // A number that no field could hold is no whole number to the reader either.
        DeValue::Integer(n) => i128::from_str_radix(n.as_str(), n.radix())
            .ok()
            .filter(|n| (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(n))
            .map_or(Value::Text(n.to_string()), Value::Integer),
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::String(text) => Value::Text(text.into_owned()),
        // No field is a date: whatever reads it will say so.
        DeValue::Datetime(date) => Value::Text(date.to_string()),
        DeValue::Array(items) => Value::Array(
            items
                .into_iter()
                .map(|item| {
                    let at = Origin::Text(item.span().start);
                    from_value(item.into_inner(), at)
                })
                .collect(),
        ),
        DeValue::Table(table) => return from_table(table, origin),
    };
    Node { value, origin }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::steps;

    const TEXT: &str = "a = 1\n[b]\nrate = \"1mbit\"\n[[t]]\nx = 2\n[[t]]\n  y = { z = 3.5 }\n";

    #[test]
    fn a_path_is_found_in_the_text() {
        let document = Document::from_toml(TEXT, "f.toml").unwrap();
        let at = |path| document.locate(Fault::new(path, "")).position;
        assert_eq!(at(steps!["a"]), Some((1, 5)));
        assert_eq!(at(steps!["b", "rate"]), Some((3, 8)));
        assert_eq!(at(steps!["t", 1, "y", "z"]), Some((7, 13)));
        assert_eq!(at(steps!["t", 1, "missing"]), Some((6, 1)));
        assert_eq!(at(steps!["missing"]), None);
        let key = Fault { on_key: true, ..Fault::new(steps!["t", 1, "y"], "") };
        assert_eq!(document.locate(key).position, Some((7, 3)));
    }

    #[test]
    fn json_and_toml_give_the_same_tree() {
        let toml = Document::from_toml(TEXT, "f").unwrap().root.to_json();
        let json = r#"{"a":1,"b":{"rate":"1mbit","n":null},"t":[{"x":2},{"y":{"z":3.5}}]}"#;
        assert_eq!(toml, Document::from_json(json).unwrap().root.to_json());
    }

    #[test]
    fn a_value_is_shown_as_it_would_be_written() {
        let text = "{ kind = \"pi\", list = [1, 2.0, true], \"a b\" = 1e-7 }";
        assert_eq!(parse_value(text).unwrap().to_string(), text);
    }
}
