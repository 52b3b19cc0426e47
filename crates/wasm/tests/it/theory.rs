//! Loops and margins.

use serde_json::{Value, json};
use sojourn_wasm::{linearise, margins};

#[test]
fn margins_of_many_loops_are_those_of_each() {
    let description = |flows: f64| {
        json!({
            "flows": flows, "capacity": 3750, "rtt": 0.246, "held": true,
            "qdisc": { "kind": "pi", "qref": 200 },
        })
    };
    let asking = json!({ "description": description(1.0), "columns": ["flows"] }).to_string();
    let (names, values) = margins(&asking, &[40.0, 60.0]).unwrap();
    let names: Vec<(String, usize)> = serde_json::from_str(&names).unwrap();
    assert_eq!(values.len(), names.iter().map(|(_, size)| size).sum::<usize>());
    let window = names.iter().position(|(name, size)| name == "window" && *size == 2).unwrap();
    for (number, flows) in [40.0, 60.0].into_iter().enumerate() {
        let one: Value =
            serde_json::from_str(&linearise(&description(flows).to_string()).unwrap()).unwrap();
        assert_eq!(one["point"]["window"].as_f64(), Some(values[2 * window + number]));
    }
    assert!(margins(&asking, &[]).unwrap_err().starts_with("columns:"));
    let asking = json!({ "description": description(1.0), "columns": ["flow"] }).to_string();
    assert!(margins(&asking, &[1.0]).unwrap_err().starts_with("flow: loops go over"));
    assert!(linearise("{}").is_err());
}
