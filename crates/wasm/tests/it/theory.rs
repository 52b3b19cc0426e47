//! Loops and margins.

use serde_json::{Value, json};
use sojourn_wasm::{linearise, margins, nyquist};

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

#[test]
fn the_loop_of_a_scenario_is_that_of_its_long_flows() {
    let scenario = |qdisc: &str| {
        format!(
            "duration = \"9s\"\n[tcp]\nprofile = \"classic\"\nmss = 460\n\
             [bottleneck]\nrate = \"15mbit\"\ndelay = \"10ms\"\nmean_packet = 500\n\
             qdisc = {qdisc}\n\
             [[traffic]]\nkind = \"bulk\"\nflows = 20\nrtt = \"100ms\"\n\
             [[traffic]]\nkind = \"bulk\"\nflows = 40\nrtt = \"160ms\"\n\
             [[traffic]]\nkind = \"ping\"\n"
        )
    };
    let (text, curve) = nyquist(&scenario("{ kind = \"pi\", qref = 200 }")).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let description = json!({
        "flows": 60, "capacity": 3750, "propagation": 0.14, "mean_packet": 500,
        "qdisc": { "kind": "pi", "qref": 200 },
    });
    let point: Value = serde_json::from_str(&linearise(&description.to_string()).unwrap()).unwrap();
    for (name, value) in point["point"].as_object().unwrap() {
        let (found, wanted) = (found["point"][name].as_f64().unwrap(), value.as_f64().unwrap());
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs(), "{name}: {found} {wanted}");
    }
    assert!(found["words"].as_str().unwrap().starts_with("stable: phase margin"), "{text}");
    assert_eq!(curve.len() % 3, 0);
    let third = curve.len() / 3;
    assert!(curve[..third].is_sorted() && curve.iter().all(|value| value.is_finite()));
    let error = nyquist(&scenario("\"droptail\"")).unwrap_err();
    assert!(error.starts_with("qdisc = droptail: it has no derivative"), "{error}");
    let pings = "duration = \"9s\"\n[bottleneck]\nrate = \"1mbit\"\nqdisc = \"pi\"\n\
                 [[traffic]]\nkind = \"ping\"\n";
    let error = nyquist(pings).unwrap_err();
    assert_eq!(error, "traffic: no long flows are over the bottleneck at the end");
}
