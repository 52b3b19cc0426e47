//! From a document to typed structs: a serde deserialiser that knows where it is.
//!
//! Three things set it apart from the one that comes with the TOML library. Every error carries
//! the path of the field. Every unknown field is an error. And tables are flat for the user but
//! nested for the program: a struct field whose serde name begins with `$` takes all keys of its
//! table that the struct does not know itself: `$kind` an enum chosen by the key `kind`, any other
//! a struct. (Serde's own `flatten` can neither refuse unknown fields nor tell where it is.)
//!
//! An enum is written as its name, if its parameters are to have their defaults (`"droptail"`), or
//! as a table with `kind` (`{ kind = "droptail", limit = 100 }`). A variant whose serde name begins
//! with `$` takes any value that is neither another variant's name nor a table with just that name
//! as its key (`{ even = "50ms..150ms" }`).

mod fault;

pub(crate) use fault::NO_LIST;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

use crate::document::{Document, Entry, Node, Value};
use crate::error::{Error, Fault, MISSING, Step};

type Result<T> = std::result::Result<T, Fault>;

/// Reads a type from a node.
pub(crate) fn read<'de, T: de::Deserialize<'de>>(node: &'de Node) -> Result<T> {
    T::deserialize(Reader::Node(node))
}

/// Reads a type from the root of a document. Where serde has buffered a table on the way (enums
/// with a tag inside) it no longer knows which of its fields was wrong; this finds out.
pub(crate) fn read_root<T: de::DeserializeOwned>(root: &Node) -> Result<T> {
    on_one_line(root)?;
    read(root).map_err(|fault: Fault| {
        let mut fault = fault;
        while let Some(step) = culprit::<T>(root, &fault) {
            fault.path.push(step);
        }
        fault
    })
}

/// Reads a part of a scenario, such as a queue discipline, or what is made of such parts, from
/// JSON.
///
/// # Errors
/// As for a scenario.
pub fn from_json<T: de::DeserializeOwned>(text: &str) -> std::result::Result<T, Error> {
    let document = Document::from_json(text)?;
    read_root(&document.root).map_err(|fault| document.locate(fault))
}

/// No text of a scenario has control characters: names stand in tables, on one line each.
fn on_one_line(node: &Node) -> Result<()> {
    match &node.value {
        Value::Text(text) if text.contains(char::is_control) => {
            let message =
                format!("{text:?} has a line break or another control character; leave it out");
            Err(Fault::new(Vec::new(), message))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| on_one_line(item).map_err(|fault| fault.within(index))),
        Value::Table(entries) => entries.iter().try_for_each(|entry| {
            on_one_line(&entry.node).map_err(|fault| fault.within(entry.key.as_str()))
        }),
        _ => Ok(()),
    }
}

/// If a fault lies with a table or a list as a whole: the entry without which it would be another
/// fault.
fn culprit<T: de::DeserializeOwned>(root: &Node, fault: &Fault) -> Option<Step> {
    let mut without = root.clone();
    let value = at(&mut without, &fault.path)?.value.clone();
    let mut differs = |fewer: Value| {
        let Some(node) = at(&mut without, &fault.path) else { return false };
        node.value = fewer;
        read::<T>(&without).map_or_else(|other| other.message() != fault.message(), |_| true)
    };
    let tables = |items: &[Node]| items.iter().all(|n| matches!(n.value, Value::Table(_)));
    if let Value::Array(items) = &value {
        if !tables(items) {
            return None;
        }
        let others = |n| items.iter().enumerate().filter(move |(i, _)| *i != n);
        let less = |n| Value::Array(others(n).map(|(_, item)| item.clone()).collect());
        return (0..items.len()).find(|&n| differs(less(n))).map(Step::Index);
    }
    let Value::Table(entries) = &value else { return None };
    // The kind last: without it everything is another fault.
    let mut keys: Vec<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    sojourn_base::sort_by_key(&mut keys, |key| key == "kind" || key == "dist");
    let without = |key: &String| entries.iter().filter(|e| e.key != *key).cloned().collect();
    keys.into_iter().find(|key| differs(Value::Table(without(key)))).map(Step::Key)
}

fn at<'a>(root: &'a mut Node, path: &[Step]) -> Option<&'a mut Node> {
    path.iter().try_fold(root, |node, step| match (step, &mut node.value) {
        (Step::Key(key), Value::Table(entries)) => {
            entries.iter_mut().find(|entry| entry.key == *key).map(|entry| &mut entry.node)
        }
        (Step::Index(index), Value::Array(items)) => items.get_mut(*index),
        _ => None,
    })
}

/// Reads what stands in one place: a node, or the entries of a table that are for a `$` field.
enum Reader<'de> {
    Node(&'de Node),
    Rest(Table<'de>),
}

impl<'de> Reader<'de> {
    fn table(&self) -> Option<Table<'de>> {
        match self {
            Self::Node(node) => match &node.value {
                Value::Table(entries) => Some(Table::of(entries)),
                _ => None,
            },
            Self::Rest(table) => Some(table.clone()),
        }
    }

    /// Something else stands here than is wanted. Lists and structs are refused by this, and not
    /// by what serde makes for each of them, which takes the place of half the reader; to serde a
    /// struct may be a list of its fields, too.
    fn refused(&self, wanted: &dyn de::Expected) -> Fault {
        let found = match self {
            Self::Rest(_) => de::Unexpected::Map,
            Self::Node(node) => match &node.value {
                Value::Bool(value) => de::Unexpected::Bool(*value),
                Value::Integer(n) => match (i64::try_from(*n), u64::try_from(*n)) {
                    (Ok(n), _) => de::Unexpected::Signed(n),
                    (_, Ok(n)) => de::Unexpected::Unsigned(n),
                    _ => de::Unexpected::Other("so large a number"),
                },
                Value::Float(x) => de::Unexpected::Float(*x),
                Value::Text(text) => de::Unexpected::Str(text),
                Value::Array(_) => de::Unexpected::Seq,
                Value::Table(_) => de::Unexpected::Map,
            },
        };
        de::Error::invalid_type(found, wanted)
    }

    /// The variant of an enum that stands here.
    fn variant(self, variants: &'static [&'static str]) -> Result<Variant<'de>> {
        let node = match self {
            Self::Node(node) => node,
            Self::Rest(table) => return table.variant(variants),
        };
        let fallback = variants.iter().copied().find(|name| name.starts_with('$'));
        if let Some(fallback) = fallback {
            return Ok(match &node.value {
                Value::Text(text) if variants.contains(&text.as_str()) => {
                    Variant { name: text, key: None, content: Content::nothing() }
                }
                Value::Table(entries)
                    if entries.len() == 1 && variants.contains(&entries[0].key.as_str()) =>
                {
                    let content = Content::Under(&entries[0]);
                    Variant { name: &entries[0].key, key: None, content }
                }
                _ => Variant { name: fallback, key: None, content: Content::Whole(node, variants) },
            });
        }
        match &node.value {
            Value::Text(text) => Ok(Variant { name: text, key: None, content: Content::nothing() }),
            Value::Table(entries) => Table::of(entries).variant(variants),
            // `http = 2` is as good as `http = "2"`.
            _ => match variants.iter().find(|name| **name == node.to_string()) {
                Some(name) => Ok(Variant { name, key: None, content: Content::nothing() }),
                None => {
                    Err(de::Error::custom(format!("{node} is not one of {}", variants.join(", "))))
                }
            },
        }
    }
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let node = match self {
            Self::Node(node) => node,
            Self::Rest(table) => return visitor.visit_map(table.all()),
        };
        match &node.value {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(n) => match (i64::try_from(*n), u64::try_from(*n)) {
                (Ok(n), _) => visitor.visit_i64(n),
                (_, Ok(n)) => visitor.visit_u64(n),
                _ => visitor.visit_i128(*n),
            },
            Value::Float(x) => visitor.visit_f64(*x),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::Array(items) => visitor.visit_seq(Items { items: items.iter(), index: 0 }),
            Value::Table(entries) => visitor.visit_map(Table::of(entries).all()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.table() {
            Some(table) => visitor.visit_map(table.fields(fields)?),
            None => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self {
            Self::Node(Node { value: Value::Array(items), .. }) => {
                visitor.visit_seq(Items { items: items.iter(), index: 0 })
            }
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(self.variant(variants)?)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple_struct map identifier ignored_any
    }
}

struct Items<'de> {
    items: std::slice::Iter<'de, Node>,
    index: usize,
}

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(node) = self.items.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(Reader::Node(node)).map(Some).map_err(|f| f.within(index))
    }
}

/// Some entries of a table; `also` names fields of the table around it, for suggestions.
#[derive(Clone)]
struct Table<'de> {
    entries: Vec<&'de Entry>,
    also: &'static [&'static str],
}

impl<'de> Table<'de> {
    fn of(entries: &'de [Entry]) -> Self {
        Self { entries: entries.iter().collect(), also: &[] }
    }

    /// All entries, whatever they are called.
    fn all(self) -> Fields<'de> {
        Fields { entries: self.entries.into_iter(), value: None, rest: None }
    }

    /// The fields of a struct; the one whose name begins with `$` takes what is left over.
    fn fields(self, fields: &'static [&'static str]) -> Result<Fields<'de>> {
        let rest_field = fields.iter().copied().find(|name| name.starts_with('$'));
        let (own, rest): (Vec<_>, Vec<_>) = self
            .entries
            .into_iter()
            .partition(|e| fields.contains(&e.key.as_str()) && !e.key.starts_with('$'));
        if let (None, Some(entry)) = (rest_field, rest.first()) {
            return Err(Fault::unknown(&entry.key, fields.iter().chain(self.also).copied()));
        }
        Ok(Fields {
            entries: own.into_iter(),
            value: None,
            rest: rest_field.map(|name| (name, Table { entries: rest, also: fields })),
        })
    }

    /// The variant of an enum that `kind` names, with the other entries.
    fn variant(self, variants: &'static [&'static str]) -> Result<Variant<'de>> {
        let (kind, rest): (Vec<_>, Vec<_>) =
            self.entries.into_iter().partition(|entry| entry.key == "kind");
        let [kind] = kind[..] else {
            let message = format!("{MISSING}; one of {}", variants.join(", "));
            return Err(Fault::new(vec!["kind".into()], message));
        };
        let Value::Text(name) = &kind.node.value else {
            let message = format!("{} is not one of {}", kind.node, variants.join(", "));
            return Err(Fault::new(vec![Step::from("kind")], message));
        };
        let content = Content::Table(Table { entries: rest, also: self.also });
        Ok(Variant { name, key: Some("kind"), content })
    }
}

/// Hands out a table's entries, then what is left over for the `$` field.
struct Fields<'de> {
    entries: std::vec::IntoIter<&'de Entry>,
    value: Option<&'de Entry>,
    rest: Option<(&'static str, Table<'de>)>,
}

impl<'de> de::MapAccess<'de> for Fields<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        self.value = self.entries.next();
        let key = match (&self.value, &self.rest) {
            (Some(entry), _) => entry.key.as_str(),
            (None, Some((name, _))) => name,
            (None, None) => return Ok(None),
        };
        let reader: StrDeserializer<'_, Fault> = key.into_deserializer();
        seed.deserialize(reader).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        match (self.value.take(), self.rest.take()) {
            (Some(entry), rest) => {
                self.rest = rest;
                seed.deserialize(Reader::Node(&entry.node))
                    .map_err(|fault| fault.within(entry.key.as_str()))
            }
            (None, Some((_, table))) => {
                let also = table.also;
                seed.deserialize(Reader::Rest(table)).map_err(|fault| around(fault, also))
            }
            (None, None) => Err(de::Error::custom("a value was asked for twice")),
        }
    }
}

/// The struct inside did not know of the fields around it.
fn around(mut fault: Fault, also: &[&'static str]) -> Fault {
    if fault.path.len() == 1 && !fault.known.is_empty() {
        let inner: Vec<_> = fault.known.iter().filter(|n| !also.contains(n)).copied().collect();
        let names = also.iter().flat_map(|name| match name.strip_prefix('$') {
            Some(_) => inner.clone(),
            None => vec![*name],
        });
        fault.known = names.collect();
    }
    fault
}

/// One variant of an enum: its name, the key that gave it, and its parameters.
struct Variant<'de> {
    name: &'de str,
    key: Option<&'static str>,
    content: Content<'de>,
}

/// The parameters of a variant.
enum Content<'de> {
    /// What the table says besides the kind.
    Table(Table<'de>),
    /// The value under the variant's name.
    Under(&'de Entry),
    /// All of the value; and what else it could have been.
    Whole(&'de Node, &'static [&'static str]),
}

impl Content<'_> {
    fn nothing() -> Self {
        Self::Table(Table { entries: Vec::new(), also: &[] })
    }
}

/// What does not fit the variant that takes everything, in view of the others.
fn neither(fault: Fault, node: &Node, variants: &[&str]) -> Fault {
    if !fault.path.is_empty() || matches!(node.value, Value::Table(_)) {
        return fault;
    }
    let names: Vec<String> = variants
        .iter()
        .filter(|name| !name.starts_with('$'))
        .map(|name| format!("\"{name}\""))
        .collect();
    de::Error::custom(format!("{node} is neither {} nor a table", names.join(", ")))
}

impl<'de> de::EnumAccess<'de> for Variant<'de> {
    type Error = Fault;
    type Variant = Content<'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Content<'de>)> {
        let reader: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        match (seed.deserialize(reader), self.key) {
            (Ok(variant), _) => Ok((variant, self.content)),
            (Err(fault), Some(key)) => Err(fault.within(key)),
            (Err(fault), None) => Err(fault),
        }
    }
}

impl<'de> de::VariantAccess<'de> for Content<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<()> {
        match self {
            Self::Table(table) => match table.entries.first() {
                None => Ok(()),
                Some(entry) => Err(Fault::unknown(&entry.key, table.also.iter().copied())),
            },
            Self::Under(entry) => {
                let message = format!("write it as \"{}\" alone", entry.key);
                Err(Fault::new(Vec::new(), message))
            }
            Self::Whole(node, _) => Err(de::Error::custom(format!("{node} is unknown"))),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        match self {
            Self::Table(table) => seed.deserialize(Reader::Rest(table)),
            Self::Under(entry) => seed
                .deserialize(Reader::Node(&entry.node))
                .map_err(|fault| fault.within(entry.key.as_str())),
            Self::Whole(node, variants) => {
                seed.deserialize(Reader::Node(node)).map_err(|fault| neither(fault, node, variants))
            }
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        struct Seed<V>(V);
        impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Seed<V> {
            type Value = V::Value;
            fn deserialize<D: de::Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> std::result::Result<V::Value, D::Error> {
                deserializer.deserialize_any(self.0)
            }
        }
        self.newtype_variant_seed(Seed(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self {
            Self::Table(table) => visitor.visit_map(table.fields(fields)?),
            Self::Under(entry) => {
                de::Deserializer::deserialize_struct(Reader::Node(&entry.node), "", fields, visitor)
                    .map_err(|fault| fault.within(entry.key.as_str()))
            }
            Self::Whole(node, _) => {
                de::Deserializer::deserialize_struct(Reader::Node(node), "", fields, visitor)
            }
        }
    }
}
