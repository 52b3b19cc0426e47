//! Alternatives told apart by what a value says of itself.
//!
//! Of a value that fits no alternative of `oneOf` or `anyOf` a validator says just that, of the
//! whole value and of all that it stands in. With `if` and `then` the validator knows which
//! alternative is meant, and names the key that this one lacks. The list of alternatives stays
//! for editors, which complete from it, with one more at its end that takes anything.

use serde_json::{Map, Value as Json, json};

/// Adds what tells alternatives apart. `at` is where the schema stands in the whole, as a JSON
/// pointer.
pub(super) fn discriminate(schema: &mut Json, at: &str) {
    match schema {
        Json::Array(items) => {
            for (i, item) in items.iter_mut().enumerate() {
                discriminate(item, &format!("{at}/{i}"));
            }
        }
        Json::Object(object) => {
            leave_out_null(object);
            for (key, value) in object.iter_mut() {
                discriminate(value, &format!("{at}/{key}"));
            }
            by_kind(object, at);
            by_type(object, at);
        }
        _ => {}
    }
}

/// A null counts as a field that is not there, and TOML has none.
fn leave_out_null(object: &mut Map<String, Json>) {
    if object.get("default").is_some_and(Json::is_null) {
        object.shift_remove("default");
    }
    if let Some(Json::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            object["type"] = only.clone();
        }
    }
    let Some(Json::Array(alternatives)) = object.get_mut("anyOf") else { return };
    alternatives.retain(|each| each["type"] != "null");
    if let [Json::Object(only)] = &alternatives[..] {
        let only = only.clone();
        object.shift_remove("anyOf");
        object.extend(only);
    }
}

/// The alternatives of an object schema, and the word they are under.
fn alternatives(object: &Map<String, Json>) -> Option<(&'static str, &Vec<Json>)> {
    ["oneOf", "anyOf"].into_iter().find_map(|word| Some((word, object.get(word)?.as_array()?)))
}

/// Lets alternatives be completed from and no longer be checked.
fn only_offer(object: &mut Map<String, Json>, word: &str) {
    let Some(Json::Array(mut offered)) = object.shift_remove(word) else { return };
    offered.push(json!({}));
    object.insert("anyOf".into(), offered.into());
}

/// Tables that a constant `kind` tells apart.
fn by_kind(object: &mut Map<String, Json>, at: &str) {
    let Some((word, tables)) = alternatives(object) else { return };
    let kinds: Option<Vec<&Json>> =
        tables.iter().map(|table| table.pointer("/properties/kind/const")).collect();
    let Some(kinds) = kinds else { return };
    let mut all = vec![json!({
        "type": "object",
        "required": ["kind"],
        "properties": { "kind": { "description": "Which of these it is.", "enum": kinds } },
    })];
    all.extend(kinds.iter().enumerate().map(|(i, kind)| {
        json!({
            "if": { "properties": { "kind": { "const": kind } }, "required": ["kind"] },
            "then": { "$ref": format!("#{at}/anyOf/{i}") },
        })
    }));
    only_offer(object, word);
    object.insert("allOf".into(), all.into());
}

/// A table, or something shorter in its place.
fn by_type(object: &mut Map<String, Json>, at: &str) {
    let Some((word, both)) = alternatives(object) else { return };
    let [short, table] = &both[..] else { return };
    let scalar = |schema: &Json| match schema.get("type") {
        Some(Json::Array(names)) => !names.iter().any(|name| name == "object"),
        Some(Json::String(name)) => name != "object",
        _ => false,
    };
    if !scalar(short) || scalar(table) {
        return;
    }
    only_offer(object, word);
    object.insert("if".into(), json!({ "type": "object" }));
    object.insert("then".into(), json!({ "$ref": format!("#{at}/anyOf/1") }));
    object.insert("else".into(), json!({ "$ref": format!("#{at}/anyOf/0") }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_told_apart_by_kind() {
        let table = |kind| json!({ "properties": { "kind": { "const": kind } } });
        let mut schema = json!({ "$defs": { "X": { "oneOf": [table("a"), table("b")] } } });
        discriminate(&mut schema, "");
        let found = &schema["$defs"]["X"];
        assert_eq!(found["anyOf"], json!([table("a"), table("b"), {}]));
        assert!(found.get("oneOf").is_none());
        assert_eq!(found["allOf"][0]["properties"]["kind"]["enum"], json!(["a", "b"]));
        assert_eq!(found["allOf"][2]["if"]["properties"]["kind"]["const"], "b");
        assert_eq!(found["allOf"][2]["then"]["$ref"], "#/$defs/X/anyOf/1");
    }

    #[test]
    fn table_and_short_form_are_told_apart_by_type() {
        let mut schema = json!({ "x": { "anyOf": [{ "type": "string" }, { "$ref": "#/t" }] } });
        discriminate(&mut schema, "");
        assert_eq!(schema["x"]["then"]["$ref"], "#/x/anyOf/1");
        assert_eq!(schema["x"]["else"]["$ref"], "#/x/anyOf/0");
        let same = json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] });
        let mut scalars = same.clone();
        discriminate(&mut scalars, "");
        assert_eq!(scalars, same);
    }

    #[test]
    fn null_is_left_out() {
        let mut schema = json!({
            "a": { "anyOf": [{ "$ref": "#/t" }, { "type": "null" }], "default": null },
            "b": { "type": ["integer", "null"] },
        });
        discriminate(&mut schema, "");
        assert_eq!(schema, json!({ "a": { "$ref": "#/t" }, "b": { "type": "integer" } }));
    }
}
