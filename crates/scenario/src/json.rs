//! JSON in which no key stands twice: the last of two would win without a word.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads JSON.
pub(crate) fn read(text: &str) -> Result<Value, String> {
    match serde_json::from_str::<Distinct>(text) {
        Ok(value) => Ok(value.0),
        Err(error) => Err(error.to_string()),
    }
}

/// A value whose keys are distinct, and those of all values in it.
struct Distinct(Value);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(value.into())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
                let mut list = Vec::new();
                while let Some(Distinct(item)) = items.next_element()? {
                    list.push(item);
                }
                Ok(list.into())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
                let mut table = Map::new();
                while let Some((key, Distinct(value))) = entries.next_entry::<String, _>()? {
                    if table.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("duplicate key \"{key}\"")));
                    }
                    table.insert(key, value);
                }
                Ok(table.into())
            }
        }
        deserializer.deserialize_any(Reader).map(Distinct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_that_of_the_library() {
        let text =
            r#"{"a": [1, -2, 0.5, 1e300, 18446744073709551615, true, null, "\u00b5"], "b": {}}"#;
        assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn key_that_stands_twice_is_refused() {
        let error = read(r#"{"a": [{"b": 1, "b": 1}]}"#).unwrap_err();
        assert!(error.contains("duplicate key \"b\" at line 1"), "{error}");
        assert!(read(r#"[{"b": 1}, {"b": 1}]"#).is_ok());
    }
}
