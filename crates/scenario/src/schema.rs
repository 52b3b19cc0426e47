//! JSON Schema of the file format, for editors.
//!
//! The structs nest where the file is flat (see `read`), so what schemars makes of them is
//! flattened in the same way: the fields of a `$` property take its place in the table around it,
//! and a property `$kind` makes one alternative of each kind.

mod discriminate;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json};

use crate::scenario::Scenario;

impl Scenario {
    /// JSON Schema (draft 2020-12) of the file format.
    #[must_use]
    pub fn schema() -> Json {
        let mut schema = SchemaSettings::draft2020_12()
            .into_generator()
            .into_root_schema_for::<Scenario>()
            .to_value();
        let definitions = match schema.get("$defs") {
            Some(Json::Object(definitions)) => definitions.clone(),
            _ => Map::new(),
        };
        flatten(&mut schema, &definitions);
        schema["title"] = "Sojourn scenario".into();
        schema["$id"] = "urn:sojourn:scenario".into();
        // A link may do without a rate only where it stands for itself.
        for form in ["Bottleneck", "ParkingLot"] {
            if let Some(Json::Array(required)) = schema["$defs"][form].get_mut("required") {
                required.push("rate".into());
            }
        }
        drop_unused(&mut schema);
        discriminate::discriminate(&mut schema, "");
        schema
    }
}

/// Follows a reference.
fn resolve<'a>(schema: &'a Json, definitions: &'a Map<String, Json>) -> &'a Json {
    match schema.get("$ref").and_then(Json::as_str) {
        Some(name) => {
            let name = name.rsplit('/').next().unwrap_or_default();
            definitions.get(name).map_or(schema, |schema| resolve(schema, definitions))
        }
        None => schema,
    }
}

fn flatten(schema: &mut Json, definitions: &Map<String, Json>) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(|item| flatten(item, definitions)),
        Json::Object(object) => {
            flatten_properties(object, definitions);
            for value in object.values_mut() {
                flatten(value, definitions);
            }
        }
        _ => {}
    }
}

fn flatten_properties(object: &mut Map<String, Json>, definitions: &Map<String, Json>) {
    let Some(Json::Object(properties)) = object.get_mut("properties") else { return };
    let Some(name) = properties.keys().find(|name| name.starts_with('$')).cloned() else {
        // What the reader refuses, an editor should mark.
        object.entry("additionalProperties").or_insert(false.into());
        return;
    };
    let Some(inner) = properties.get(&name) else { return };
    let inner = resolve(inner, definitions).clone();
    let alone = properties.len() == 1;
    splice(properties, &name, inner.get("properties"));
    if let Some(Json::Array(required)) = object.get_mut("required") {
        required.retain(|field| *field != name.as_str());
    }
    if name == "$kind" {
        let outer = std::mem::take(object);
        let kinds = inner.get("oneOf").or_else(|| inner.get("anyOf"));
        let kinds = kinds.and_then(Json::as_array).cloned().unwrap_or_default();
        let alternatives: Vec<Json> = kinds
            .iter()
            .map(|kind| {
                // References beside other keywords: both hold.
                let mut all = outer.clone();
                all.remove("description");
                merge(&mut all, resolve(kind, definitions));
                if kind.get("$ref").is_some() {
                    merge(&mut all, kind);
                    all.remove("$ref");
                }
                all.insert("additionalProperties".into(), false.into());
                Json::Object(all)
            })
            .collect();
        for key in ["title", "description"] {
            if let Some(text) = outer.get(key) {
                object.insert(key.into(), text.clone());
            }
        }
        object.insert("oneOf".into(), alternatives.into());
    } else if alone {
        // An alternative that is just its content.
        if let Json::Object(inner) = inner {
            *object = inner;
        }
        object.entry("additionalProperties").or_insert(false.into());
    } else {
        merge(object, &inner);
        object.insert("additionalProperties".into(), false.into());
        flatten_properties(object, definitions);
    }
}

/// Puts the fields of an object schema in the place of the property `name`.
fn splice(properties: &mut Map<String, Json>, name: &str, inner: Option<&Json>) {
    for (key, value) in std::mem::take(properties) {
        if key != name {
            properties.insert(key, value);
        } else if let Some(Json::Object(inner)) = inner {
            properties.extend(inner.clone());
        }
    }
}

/// Adds the fields of one object schema to another, after its own.
fn merge(into: &mut Map<String, Json>, from: &Json) {
    for (key, value) in from.as_object().into_iter().flatten() {
        match (into.get_mut(key), value) {
            (Some(Json::Object(own)), Json::Object(more)) => {
                for (name, schema) in more {
                    own.entry(name.clone()).or_insert_with(|| schema.clone());
                }
            }
            (Some(Json::Array(own)), Json::Array(more)) => own.extend(more.iter().cloned()),
            (Some(_), _) => {}
            (None, _) => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Leaves out definitions that nothing refers to any more.
fn drop_unused(schema: &mut Json) {
    loop {
        let text = schema.to_string();
        let Some(Json::Object(definitions)) = schema.get_mut("$defs") else { return };
        let before = definitions.len();
        definitions.retain(|name, _| text.contains(&format!("\"#/$defs/{name}\"")));
        if definitions.len() == before {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The schema as far as these tests need it: properties of the object at a path of properties.
    fn object<'a>(schema: &'a Json, path: &[&str]) -> &'a Json {
        path.iter().fold(schema, |at, name| {
            let definitions = schema["$defs"].as_object().unwrap();
            let at = resolve(at, definitions);
            let next = at["properties"].get(name).or_else(|| {
                let first = at["anyOf"].get(0).or_else(|| at.get("items"))?;
                resolve(first, definitions)["properties"].get(name)
            });
            next.unwrap_or_else(|| panic!("{name} is not in {at:#}"))
        })
    }

    #[test]
    fn schema_is_as_flat_as_file() {
        let schema = Scenario::schema();
        assert!(!schema.to_string().contains("\"$kind\""));
        assert!(!schema.to_string().contains("\"$link\""));
        assert!(!schema.to_string().contains("\"$changes\""));
        for field in ["rate", "delay", "qdisc", "reverse"] {
            object(&schema, &["bottleneck", field]);
        }
        object(&schema, &["parking_lot", "hops"]);
        assert_eq!(schema["$defs"]["Bottleneck"]["required"], json!(["rate"]));
        assert_eq!(schema["$defs"]["ParkingLot"]["required"], json!(["hops", "rate"]));
        assert_eq!(schema["$defs"]["NamedLink"]["required"], json!(["name", "from", "to"]));
        object(&schema, &["links", "from"]);
    }

    #[test]
    fn traffic_kind_is_one_alternative_with_all_fields() {
        let schema = Scenario::schema();
        let definitions = schema["$defs"].as_object().unwrap();
        let group = resolve(&schema["properties"]["traffic"]["items"], definitions);
        let (_, kinds) = group["anyOf"].as_array().unwrap().split_last().unwrap();
        let names: Vec<_> = kinds
            .iter()
            .map(|kind| kind["properties"]["kind"]["const"].as_str().unwrap())
            .collect();
        assert_eq!(names, sojourn_traffic::Source::NAMES);
        for kind in kinds {
            assert!(kind["properties"]["rtt"].is_object() && kind["description"].is_string());
            assert_eq!(kind["additionalProperties"], false);
            assert!(kind["required"].as_array().unwrap().contains(&"kind".into()));
        }
        assert!(kinds[0]["properties"]["flows"].is_object());
    }

    #[test]
    fn every_field_is_described() {
        fn undescribed(schema: &Json, at: &str, found: &mut Vec<String>) {
            match schema {
                Json::Object(object) => {
                    if let Some(Json::Object(properties)) = object.get("properties") {
                        for (name, field) in properties {
                            let said = field.get("description").is_some();
                            let constant = field.get("const").is_some();
                            if !said && !constant && field.get("$ref").is_none() {
                                found.push(format!("{at}.{name}"));
                            }
                        }
                    }
                    for (key, value) in object {
                        undescribed(value, &format!("{at}/{key}"), found);
                    }
                }
                Json::Array(items) => {
                    for item in items {
                        undescribed(item, at, found);
                    }
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        undescribed(&Scenario::schema(), "", &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }
}
