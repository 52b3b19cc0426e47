//! Scenarios with other values.

use serde_json::json;
use sojourn_wasm::changed;

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
