//! Variations: values put into a document by dotted path, before it is read, so that a wrong
//! variation gives the same error as a wrong file.

use serde_json::Value as Json;

use crate::document::{Document, Entry, Node, Value, parse_value};
use crate::error::{Fault, Step};
use crate::nearest::suggestion;
use crate::traffic::default_name;

/// A variation's value as typed on a command line: a TOML value, or else a bare word
/// (`droptail`, `10ms`).
pub(crate) fn value_from_text(text: &str) -> Result<Node, String> {
    let text = text.trim();
    match parse_value(text) {
        Ok(node) => Ok(node),
        // What begins like TOML was meant as TOML.
        Err(why) if text.starts_with(['{', '[', '"', '\'']) => Err(format!("{text}: {why}")),
        Err(_) if text.is_empty() => Err("the value is missing".into()),
        Err(_) => Ok(Node::text(text)),
    }
}

/// A variation's value as JSON; null stands for none.
pub(crate) fn value_from_json(value: &Json) -> Option<Node> {
    (!value.is_null()).then(|| Node::from_json(value))
}

/// Puts a value at a dotted path such as `bottleneck.qdisc.qref`, `traffic.0.users` or
/// `traffic.web.users`. Tables that are missing on the way are made; a string on the way, such as
/// the `"pi"` in `qdisc = "pi"`, becomes the table `{ kind = "pi" }`.
///
/// A setting of a group's congestion control is one of the control of all groups, `tcp.congestion`,
/// where the group has none of its own.
///
/// No value takes the field away.
pub(crate) fn put(document: &mut Document, path: &str, value: Option<Node>) -> Result<(), Fault> {
    let keys: Vec<String> = path
        .replace('[', ".")
        .replace(']', "")
        .split('.')
        .map(|key| key.trim().to_string())
        .collect();
    if keys.iter().any(String::is_empty) {
        let message = format!("\"{path}\" is not a path like \"bottleneck.qdisc.qref\"");
        return Err(Fault::new(Vec::new(), message));
    }
    if let [traffic, _, tcp, congestion, setting] = &keys[..]
        && [traffic, tcp, congestion] == ["traffic", "tcp", "congestion"]
        && setting != "kind"
        && value.is_some()
        && find(&document.root, &keys[..4]).is_none()
        && let Some(common) = find(&document.root, &keys[2..4]).cloned()
    {
        set(document, &keys[..4], Some(common))?;
    }
    set(document, &keys, value)
}

fn set(document: &mut Document, keys: &[String], value: Option<Node>) -> Result<(), Fault> {
    let mut done = Vec::new();
    descend(&mut document.root, keys, value, &mut done).map_err(|message| Fault::new(done, message))
}

fn descend(
    node: &mut Node,
    keys: &[String],
    value: Option<Node>,
    done: &mut Vec<Step>,
) -> Result<(), String> {
    let Some((key, rest)) = keys.split_first() else {
        if let Some(value) = value {
            *node = value;
        }
        return Ok(());
    };
    if value.is_none() {
        // What is not there need not be taken away.
        let there = !matches!(node.value, Value::Table(_)) || node.get(key).is_some();
        if !there || matches!(node.value, Value::Text(_)) {
            return Ok(());
        }
        if let (Value::Table(entries), true) = (&mut node.value, rest.is_empty()) {
            entries.retain(|entry| entry.key != *key);
            return Ok(());
        }
    }
    if let Value::Text(kind) = &node.value {
        let kind = Node { value: Value::Text(kind.clone()), origin: node.origin };
        node.value = Value::Table(vec![Entry::new("kind", kind)]);
    }
    let next = match &mut node.value {
        Value::Table(entries) => {
            let at = match entries.iter().position(|entry| entry.key == *key) {
                Some(at) => at,
                None => {
                    entries.push(Entry::new(key, Node::table(Vec::new())));
                    entries.len() - 1
                }
            };
            done.push(Step::Key(key.clone()));
            &mut entries[at].node
        }
        Value::Array(items) => {
            let Some(index) = place(items, key) else {
                let names = names(items);
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                return Err(match key.parse::<usize>() {
                    Ok(_) => format!("there is no number {key}: there are {}", items.len()),
                    Err(_) => format!("there is no \"{key}\"; {}", suggestion(key, &names)),
                });
            };
            done.push(Step::Index(index));
            &mut items[index]
        }
        _ => return Err(format!("{node} has no field \"{key}\"")),
    };
    descend(next, rest, value, done)
}

/// The node at a path, if it is there.
fn find<'a>(node: &'a Node, keys: &[String]) -> Option<&'a Node> {
    let Some((key, rest)) = keys.split_first() else { return Some(node) };
    let next = match &node.value {
        Value::Array(items) => &items[place(items, key)?],
        _ => node.get(key)?,
    };
    find(next, rest)
}

/// Which item of a list a key of a path means, by number or by name.
fn place(items: &[Node], key: &str) -> Option<usize> {
    match key.parse::<usize>() {
        Ok(index) => Some(index).filter(|index| *index < items.len()),
        Err(_) => names(items).iter().position(|name| name == key),
    }
}

/// What the tables of a list are called: their `name`, or for traffic the default one.
fn names(items: &[Node]) -> Vec<String> {
    let mut kinds: Vec<&str> = Vec::new();
    let mut names = Vec::new();
    for item in items {
        let kind = item.get("kind").and_then(Node::as_text).unwrap_or_default();
        kinds.push(kind);
        let nth = kinds.iter().filter(|other| **other == kind).count();
        names.push(match item.get("name").and_then(Node::as_text) {
            Some(name) => name.to_string(),
            None => default_name(kind, nth),
        });
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [bottleneck]
        qdisc = "pi"
        [[traffic]]
        kind = "web"
        [[traffic]]
        kind = "web"
        [[traffic]]
        name = "mice"
    "#;

    fn varied(path: &str, value: &str) -> Result<String, String> {
        let mut document = Document::from_toml(TEXT, "f").unwrap();
        let value = Some(value).filter(|v| !v.is_empty()).map(value_from_text).transpose()?;
        put(&mut document, path, value).map_err(|fault| fault.message)?;
        Ok(document.root.to_json().to_string())
    }

    #[test]
    fn bare_words_differ_from_values() {
        assert_eq!(value_from_text("10ms").unwrap().to_string(), "\"10ms\"");
        assert_eq!(value_from_text("0.98").unwrap().to_string(), "0.98");
        assert_eq!(value_from_text("true").unwrap().to_string(), "true");
        assert_eq!(value_from_text("{kind='pi'}").unwrap().to_string(), "{ kind = \"pi\" }");
        assert!(value_from_text("{kind=").is_err());
        assert!(value_from_text(" ").is_err());
    }

    #[test]
    fn a_parameter_of_a_discipline_given_by_name_makes_it_a_table() {
        let text = varied("bottleneck.qdisc.qref", "240").unwrap();
        assert!(text.contains(r#""qdisc":{"kind":"pi","qref":240}"#), "{text}");
        let text = varied("bottleneck.qdisc", "red").unwrap();
        assert!(text.contains(r#""qdisc":"red""#), "{text}");
    }

    #[test]
    fn a_group_is_found_by_number_and_by_name() {
        for path in ["traffic.1.users", "traffic[1].users", "traffic.web2.users"] {
            let text = varied(path, "7").unwrap();
            assert!(text.contains(r#"{"kind":"web"},{"kind":"web","users":7}"#), "{text}");
        }
        assert!(varied("traffic.mice.users", "7").unwrap().contains(r#""mice","users":7"#));
        assert!(varied("traffic.3.users", "7").unwrap_err().contains("there are 3"));
        assert!(varied("traffic.mise.users", "7").unwrap_err().contains("mean \"mice\""));
    }

    #[test]
    fn a_setting_of_a_groups_control_is_of_the_control_of_all_if_it_has_none() {
        let mut document = Document::from_toml(TEXT, "f").unwrap();
        let mut set = |path: &str, value| {
            put(&mut document, path, Some(value_from_text(value).unwrap())).unwrap();
            document.root.to_json().to_string()
        };
        set("tcp.congestion", "scalable");
        let one = set("traffic.mice.tcp.congestion.a", "0.02");
        assert!(
            one.contains(r#""mice","tcp":{"congestion":{"kind":"scalable","a":0.02}}"#),
            "{one}"
        );
        set("tcp.congestion", "{ kind = 'aimd', a = 2 }");
        let own = set("traffic.mice.tcp.congestion.b", "0.1");
        assert!(own.contains(r#"{"kind":"scalable","a":0.02,"b":0.1}"#), "{own}");
        let kind = set("traffic.0.tcp.congestion.kind", "reno");
        assert!(kind.contains(r#""tcp":{"congestion":{"kind":"reno"}}"#), "{kind}");
    }

    #[test]
    fn a_field_can_be_taken_away() {
        assert!(!varied("bottleneck.qdisc", "").unwrap().contains("qdisc"));
        assert!(varied("bottleneck.qdisc.qref", "").unwrap().contains(r#""qdisc":"pi""#));
        assert!(!varied("traffic.mice.name", "").unwrap().contains("mice"));
        assert!(!varied("access.rate", "").unwrap().contains("access"));
    }

    #[test]
    fn missing_tables_are_created_and_invalid_paths_refused() {
        assert!(varied("tcp.profile", "modern").unwrap().contains(r#"{"profile":"modern"}"#));
        assert!(varied("bottleneck..rate", "1").is_err());
    }
}
