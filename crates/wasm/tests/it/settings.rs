//! What a scenario says, and scenarios with other values.

use serde_json::{Value, json};
use sojourn_wasm::{changed, fields};

const SCENARIO: &str = r#"
duration = "6s"
[bottleneck]
rate = "5mbit"
qdisc = { kind = "pi", qref = 30, ecn = true }
[[traffic]]
kind = "bulk"
flows = 3
"#;

#[test]
fn values_change_by_path_and_null_takes_them_away() {
    let values =
        json!({ "bottleneck.qdisc.qref": 40, "bottleneck.qdisc.ecn": null, "traffic.0.flows": 7 });
    let found = changed(&json!([SCENARIO, values]).to_string()).unwrap();
    assert!(found.contains("qref = 40"), "{found}");
    assert!(found.contains("flows = 7") && !found.contains("ecn"), "{found}");
    assert_eq!(changed(&json!([found, {}]).to_string()).unwrap(), found);
}

#[test]
fn what_is_wrong_is_said() {
    let asked = json!([SCENARIO, { "bottleneck.qdisc.qerf": 40 }]);
    assert!(changed(&asked.to_string()).unwrap_err().contains("qerf"));
    assert!(changed(&json!(["duration", {}]).to_string()).is_err());
    assert!(changed("[]").is_err());
}

#[test]
fn every_field_is_there_as_json() {
    let found: Value = serde_json::from_str(&fields(SCENARIO).unwrap()).unwrap();
    assert_eq!(found["bottleneck"]["qdisc"]["qref"], 30.0);
    assert_eq!(found["traffic"][0]["flows"], 3);
    assert_eq!(found["seed"], 1, "a default");
    assert!(fields("duration = 1").unwrap_err().contains("duration"));
}
