//! TCP settings as a scenario writes them.
#![cfg(feature = "schema")]

use sojourn_base::Time;
use sojourn_tcp::{Profile, Spec};

#[test]
fn settings_are_read_and_written_back() {
    let text = "profile = \"modern\"\nreceive_window = \"16KiB\"\nmin_rto = \"30ms\"\n\
                sack = false\n";
    let spec: Spec = toml::from_str(text).unwrap();
    assert_eq!(spec.profile, Some(Profile::Modern));
    assert_eq!(spec.min_rto, Some(Time::from_millis(30)));
    let p = Spec::resolve(&[&spec]).unwrap();
    assert_eq!((p.rcv_window, p.sack, p.timestamps), (16384, false, true));
    // Congestion controls are read by the scenario's reader, and tested there.
    let again: Spec = toml::from_str(&toml::to_string(&spec).unwrap()).unwrap();
    assert_eq!(again, spec);
}

#[test]
fn unknown_setting_is_an_error() {
    let error = toml::from_str::<Spec>("delayed_acks = true").unwrap_err();
    assert!(error.message().contains("delayed_acks"), "{error}");
    assert!(toml::from_str::<Spec>("congestion = \"nonesuch\"").is_err());
}

#[test]
fn every_setting_is_described_in_the_schema() {
    let schema = serde_json::to_value(schemars::schema_for!(Spec)).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    assert!(properties.len() >= 17);
    for (name, property) in properties {
        assert!(property["description"].is_string(), "{name} has no description");
    }
}
