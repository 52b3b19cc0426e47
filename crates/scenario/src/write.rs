//! From typed structs back to a document, and to the shortest TOML that reads back to the same.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::document::{Entry, Node, Value, bare_or_quoted};

/// A part of a scenario as JSON in the words of a scenario.
///
/// # Errors
/// If it is no such part.
pub fn to_json(part: &impl serde::Serialize) -> serde_json::Result<serde_json::Value> {
    serde_json::to_value(part).map(kind_inside).map(flatten)
}

/// Undoes what the reader does to tables: the fields of a `$` field go into the table around it,
/// and an enum's only key becomes `kind`.
pub(crate) fn flatten(json: Json) -> Json {
    match json {
        Json::Array(items) => items.into_iter().map(flatten).collect(),
        Json::Object(entries) => {
            let mut flat = serde_json::Map::new();
            let alone = entries.len() == 1;
            for (key, value) in entries {
                if value.is_null() {
                    continue;
                }
                let value = flatten(value);
                match (key.as_str(), value) {
                    ("$kind", value) => {
                        if let Json::Object(table) = kind_inside(value) {
                            flat.extend(table);
                        }
                    }
                    (key, Json::Object(table)) if key.starts_with('$') => flat.extend(table),
                    (key, value) if key.starts_with('$') && alone => return value,
                    (_, value) => {
                        flat.insert(key, value);
                    }
                }
            }
            Json::Object(flat)
        }
        other => other,
    }
}

/// `"pi"` and `{"pi": {…}}` become `{"kind": "pi", …}`.
pub(crate) fn kind_inside(value: Json) -> Json {
    let (name, parameters) = match value {
        Json::String(name) => (name, Json::Null),
        Json::Object(mut table) if table.len() == 1 && !table.contains_key("kind") => {
            match table.keys().next().cloned() {
                Some(name) => {
                    let parameters = table.remove(&name).unwrap_or_default();
                    (name, parameters)
                }
                None => return Json::Object(table),
            }
        }
        other => return other,
    };
    let mut inside = serde_json::Map::new();
    inside.insert("kind".into(), name.into());
    if let Json::Object(parameters) = parameters {
        inside.extend(parameters);
    }
    Json::Object(inside)
}

/// Leaves out of a document whatever `same` says can be left out.
pub(crate) fn shorten(root: &mut Node, same: &dyn Fn(&Node) -> bool) {
    let mut path = Vec::new();
    shorten_at(root, &mut path, same);
}

fn at<'a>(root: &'a mut Node, path: &[usize]) -> &'a mut Node {
    let Some((&i, rest)) = path.split_first() else { return root };
    match &mut root.value {
        Value::Array(items) => at(&mut items[i], rest),
        Value::Table(entries) => at(&mut entries[i].node, rest),
        _ => unreachable!("a path leads through lists and tables"),
    }
}

fn shorten_at(root: &mut Node, path: &mut Vec<usize>, same: &dyn Fn(&Node) -> bool) {
    let mut i = 0;
    loop {
        let node = at(root, path);
        let (count, is_table) = match &node.value {
            Value::Table(entries) => (entries.len(), true),
            Value::Array(items) => (items.len(), false),
            _ => return,
        };
        if i >= count {
            break;
        }
        if is_table {
            let Value::Table(entries) = &mut at(root, path).value else { return };
            let removed = entries.remove(i);
            if same(root) {
                continue;
            }
            if let Value::Table(entries) = &mut at(root, path).value {
                entries.insert(i, removed);
            }
        }
        path.push(i);
        shorten_at(root, path, same);
        path.pop();
        i += 1;
    }
    // A table with nothing but its kind may be written as a string.
    let node = at(root, path);
    if let Value::Table(entries) = &node.value
        && let [Entry { key, node: kind, .. }] = &entries[..]
        && key == "kind"
        && kind.as_text().is_some()
    {
        let kind = kind.clone();
        let table = std::mem::replace(node, kind);
        if !same(root) {
            *at(root, path) = table;
        }
    }
}

/// TOML with one section for each table of the root and one for each table in a list there.
pub(crate) fn to_toml(root: &Node) -> String {
    let mut text = String::new();
    let Value::Table(entries) = &root.value else { return text };
    let is_tables = |node: &Node| {
        matches!(&node.value, Value::Array(items)
            if !items.is_empty() && items.iter().all(|i| matches!(i.value, Value::Table(_))))
    };
    let lines = |text: &mut String, entries: &[Entry]| {
        for entry in entries {
            let _ = writeln!(text, "{} = {}", bare_or_quoted(&entry.key), entry.node);
        }
    };
    let (sections, plain): (Vec<_>, Vec<_>) =
        entries.iter().partition(|e| matches!(e.node.value, Value::Table(_)) || is_tables(&e.node));
    for entry in plain {
        lines(&mut text, std::slice::from_ref(entry));
    }
    for entry in sections {
        let key = bare_or_quoted(&entry.key);
        match &entry.node.value {
            Value::Table(entries) => {
                let _ = writeln!(text, "\n[{key}]");
                lines(&mut text, entries);
            }
            Value::Array(items) => {
                for item in items {
                    let Value::Table(entries) = &item.value else { continue };
                    let _ = writeln!(text, "\n[[{key}]]");
                    lines(&mut text, entries);
                }
            }
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn nested_enums_become_flat_tables() {
        let json = serde_json::json!({
            "hops": 3, "none": null,
            "$link": { "rate": "1mbit", "delay": "0ns" },
            "$kind": { "bulk": { "flows": 2 } }, "rtt": { "$drawn": "60ms" },
        });
        let flat =
            r#"{"hops":3,"rate":"1mbit","delay":"0ns","kind":"bulk","flows":2,"rtt":"60ms"}"#;
        assert_eq!(flatten(json).to_string(), flat);
    }

    #[test]
    fn defaults_are_left_out() {
        let text = "a = 1\nq = { kind = \"pi\", b = 2 }\nt = [{ a = 1, c = 3 }]\n";
        let mut root = Document::from_toml(text, "f").unwrap().root;
        // Only `c` and the discipline's kind count.
        shorten(&mut root, &|node| {
            let text = node.to_string();
            text.contains("\"pi\"") && text.contains("c = 3")
        });
        assert_eq!(to_toml(&root), "q = \"pi\"\n\n[[t]]\nc = 3\n");
    }
}
