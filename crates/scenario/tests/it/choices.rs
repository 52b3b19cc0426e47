//! Queue disciplines and congestion controls: a name, or a table with `kind`.

use serde_json::json;
use sojourn_base::Time;
use sojourn_qdisc::{ByteMode, Config, EcnMarking, Spacing, droptail, pi, pi_table, pie, red};
use sojourn_scenario::Scenario;
use sojourn_tcp::Algorithm;

/// A scenario with the discipline and the congestion control that are given as TOML.
fn scenario(qdisc: &str, congestion: &str) -> Result<Scenario, String> {
    let text = format!(
        "duration = \"60s\"\n[bottleneck]\nrate = \"10mbit\"\nqdisc = {qdisc}\n\
         [tcp]\ncongestion = {congestion}\n[[traffic]]\nkind = \"bulk\"\n"
    );
    Scenario::from_toml(&text, "f").map_err(|error| error.to_string())
}

fn qdisc(text: &str) -> Result<Config, String> {
    Ok(scenario(text, "\"reno\"")?.bottleneck.expect("it has one").link.qdisc)
}

#[test]
fn discipline_is_name_or_table() {
    assert_eq!(qdisc("\"pi\""), Ok(Config::Pi(pi::Params::default())));
    let expected = pi::Params { qref: 240.0, ecn: EcnMarking::On, ..Default::default() };
    // `kind` need not come first.
    assert_eq!(qdisc("{ ecn = true, kind = \"pi\", qref = 240 }"), Ok(Config::Pi(expected)));
    let expected = pi::Params { ecn: EcnMarking::Ect0, ..Default::default() };
    assert_eq!(qdisc("{ kind = \"pi\", ecn = \"ect0\" }"), Ok(Config::Pi(expected)));
    let expected =
        droptail::Params { limit_time: Some(Time::from_millis(100)), ..Default::default() };
    assert_eq!(
        qdisc("{ kind = \"droptail\", limit_time = \"100ms\" }"),
        Ok(Config::Droptail(expected))
    );
}

#[test]
fn a_preset_gives_what_is_not_given() {
    let altq = red::Preset::Altq.params();
    let expected = red::Params { gentle: true, max_th: 20.0, ..altq.clone() };
    let text = "{ kind = \"red\", preset = \"altq\", gentle = true, max_th = 20 }";
    assert_eq!(qdisc(text), Ok(Config::Red(expected)));
    assert_eq!(altq.hits.spacing, Spacing::Altq);
    let mut ns2 = red::Preset::Ns2.params();
    ns2.hits.byte_mode.scale_by_size = false;
    let text = "{ kind = \"red\", preset = \"ns2\", scale_by_size = false }";
    assert_eq!(qdisc(text), Ok(Config::Red(ns2)));
}

#[test]
fn shared_parameters_stand_in_table_of_discipline() {
    let byte_mode = ByteMode { scale_by_size: true, ..Default::default() };
    let pi = pi::Params { qref: 9.0, byte_mode, limit: 77, ..Default::default() };
    let expected = pi_table::Params { pi, entries: 8, ..Default::default() };
    let text = "{ kind = \"pi_table\", scale_by_size = true, entries = 8, limit = 77, qref = 9 }";
    assert_eq!(qdisc(text), Ok(Config::PiTable(expected)));
    let control = pie::Control { derandomize: false, ..Default::default() };
    let expected = pie::Params { limit: 5, control };
    let text = "{ kind = \"pie\", limit = 5, derandomize = false }";
    assert_eq!(qdisc(text), Ok(Config::Pie(expected)));
    // The flow queues have a limit of their own.
    let Ok(Config::FqPie(fq_pie)) = qdisc("\"fq_pie\"") else { unreachable!() };
    assert_eq!(fq_pie.limit, 10_240);
}

#[test]
fn unknown_discipline_and_parameter_are_refused_with_known_ones() {
    let error = qdisc("\"pipe\"").unwrap_err();
    assert!(error.contains("pipe") && error.contains("droptail, red"), "{error}");
    let error = qdisc("{ kind = \"pi\", qrf = 3 }").unwrap_err();
    assert!(error.contains("qrf") && error.contains("qref"), "{error}");
    let error = qdisc("{ kind = \"pi_table\", scale_by_siz = true }").unwrap_err();
    assert!(error.contains("did you mean \"scale_by_size\"?"), "{error}");
    assert!(error.contains("known: a, b, frequency, qref, ecn, queue_in_bytes"), "{error}");
    let error = qdisc("{ qref = 3 }").unwrap_err();
    assert!(error.contains("kind"), "{error}");
    let error = qdisc("{ kind = \"droptail\", limit_bytes = 360 }").unwrap_err();
    assert!(error.contains("unit is missing"), "{error}");
}

#[test]
fn every_choice_is_written_as_one_flat_table_that_reads_back() {
    for (i, name) in Config::NAMES.iter().enumerate() {
        // The class that an outside discipline needs.
        let table = match *name {
            "python" => "{ kind = \"python\", class = \"a.py:B\" }".to_string(),
            name => format!("\"{name}\""),
        };
        let control = match Algorithm::NAMES[i % Algorithm::NAMES.len()] {
            "python" => "{ kind = \"python\", class = \"a.py:B\" }".to_string(),
            name => format!("\"{name}\""),
        };
        let scenario = scenario(&table, &control).unwrap();
        let written: serde_json::Value = serde_json::from_str(&scenario.to_json()).unwrap();
        assert_eq!(written["bottleneck"]["qdisc"]["kind"], json!(name));
        assert!(!scenario.to_json().contains("\"$"), "{}", scenario.to_json());
        assert_eq!(Scenario::from_json(&scenario.to_json()).as_ref(), Ok(&scenario));
        assert_eq!(Scenario::from_toml(&scenario.to_toml(), "again").as_ref(), Ok(&scenario));
    }
    assert!(Config::NAMES.len() >= Algorithm::NAMES.len(), "every congestion control was written");
}
