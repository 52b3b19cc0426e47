//! What a scenario may say, and what it is told when it says something else.
#![cfg(feature = "schema")]

use sojourn_base::{Rate, Size, Time};
use sojourn_traffic::{Codepoint, Count, Distribution, Interpolate, Source, Web};

fn source(toml: &str) -> Result<Source, String> {
    toml::from_str(toml).map_err(|error| error.message().to_string())
}

fn think(toml: &str) -> Result<Distribution<Time>, String> {
    let text = format!("kind = \"web\"\nthink = {toml}");
    let Source::Web(web) = source(&text)? else { panic!("not web") };
    Ok(web.think.unwrap())
}

#[test]
fn every_form_of_a_distribution_is_read() {
    let s = Time::from_secs;
    assert_eq!(think("\"5s\""), Ok(Distribution::Constant(s(5))));
    let uniform = Distribution::Uniform { min: s(1), max: s(2), step: None };
    assert_eq!(think("\"1s..2s\""), Ok(uniform));
    let even = Distribution::Even { min: s(1), max: s(2) };
    assert_eq!(think("{even = \"1s..2s\"}"), Ok(even.clone()));
    assert_eq!(think("{dist = \"even\", min = \"1s\", max = \"2s\"}"), Ok(even));
    let pareto = Distribution::Pareto { shape: 1.5, min: s(1), max: None };
    assert_eq!(think("{dist = \"pareto\", shape = 1.5, min = \"1s\"}"), Ok(pareto));
    let table = Distribution::Quantiles {
        points: vec![(0.0, s(1)), (1.0, s(2))],
        interpolate: Interpolate::Linear,
        file: None,
    };
    let text =
        "{dist = \"quantiles\", points = [[0, \"1s\"], [1.0, \"2s\"]], interpolate = \"linear\"}";
    assert_eq!(think(text), Ok(table.clone()));
    let written = serde_json::to_value(&table).unwrap();
    assert_eq!(serde_json::from_value::<Distribution<Time>>(written).unwrap(), table);
    let Distribution::Mixture { parts } =
        think("{dist = \"mixture\", parts = [{weight = 1, value = \"1s\"}]}").unwrap()
    else {
        panic!("not a mixture")
    };
    assert_eq!(parts[0].value, Distribution::Constant(s(1)));
    let Source::Web(web) = source("kind = \"web\"\nembedded = 3\nparallel = 4").unwrap() else {
        panic!("not web")
    };
    assert_eq!(web.embedded, Some(Distribution::Constant(Count(3.0))));
    assert_eq!(web, Web { embedded: web.embedded.clone(), parallel: Some(4), ..Web::default() });
}

#[test]
fn errors_say_what_would_be_right() {
    for (text, answer) in [
        ("5", "the unit is missing"),
        ("\"5 parsec\"", "unknown unit"),
        ("{mean = \"5s\"}", "`dist` is missing"),
        ("{dist = \"gauss\"}", "unknown variant `gauss`"),
        ("{dist = \"pareto\", min = \"1s\"}", "needs `shape`; it takes shape, min, max"),
        (
            "{dist = \"exponential\", mean = \"1s\", sd = \"1s\"}",
            "has no field `sd`; it takes mean",
        ),
        ("{dist = \"exponential\", men = \"1s\"}", "unknown field `men`"),
        ("{even = \"1s\"}", "not a range"),
        ("{even = \"1s..2s\", min = \"1s\"}", "stands alone"),
        ("{dist = \"quantiles\"}", "either `points` or `file`"),
        ("[1, 2]", "expected a time such as \"60ms\", a range \"a..b\" or a table"),
    ] {
        let error = think(text).unwrap_err();
        assert!(error.contains(answer), "{text}: {error}");
    }
    assert!(source("kind = \"bulk\"\nflow = 3").unwrap_err().contains("unknown field `flow`"));
    assert!(source("kind = \"ftp\"").unwrap_err().contains("unknown variant `ftp`"));
    assert!(source("kind = \"web\"\nembedded = -1").unwrap_err().contains("at least 0"));
    assert!(source("kind = \"udp\"").unwrap_err().contains("missing field `rate`"));
}

#[test]
fn every_kind_is_read_and_written_the_same() {
    for (kind, fields) in [
        ("bulk", "size = \"2GB\"\nrepeat = true\ngap = {dist = \"exponential\", mean = \"1s\"}"),
        ("web", "users = 10\nmodel = \"3gpp\"\npersistent = 0.5"),
        ("transfers", "load = 0.9\nsize = {dist = \"pareto\", shape = 1.2, min = \"2kB\"}"),
        ("udp", "rate = \"1mbit\"\npoisson = true\necn = \"ect0\""),
        (
            "onoff",
            "rate = \"1mbit\"\non = \"1s\"\noff = {dist = \"lomax\", shape = 2, scale = \"1s\"}",
        ),
        ("replay", "file = \"transfers.txt\""),
        ("ping", ""),
        ("call", "flows = 2\nmax_rate = \"4mbit\"\ncontrol = \"fixed\""),
        ("video", "users = 3\nladder = [\"1mbit\", \"4mbit\"]\nadaptation = \"bola\""),
    ] {
        let read = source(&format!("kind = \"{kind}\"\n{fields}")).unwrap();
        assert_eq!(read.kind(), kind);
        assert_eq!(read.validate(), Ok(()), "{kind}");
        let written = toml::to_string(&read).unwrap();
        assert_eq!(source(&written), Ok(read), "{written}");
    }
    assert_eq!(Source::NAMES.len(), 9);
    let Source::Udp(udp) = source("kind = \"udp\"\nrate = \"1mbit\"").unwrap() else {
        panic!("not udp")
    };
    assert_eq!((udp.flows, udp.rate, udp.packet), (1, Rate(1_000_000), Size(1500)));
    assert_eq!(udp.ecn, Codepoint::NotEct);
}

/// A group as a scenario nests it: its own fields, the rest for the kind.
#[derive(Debug, serde::Deserialize)]
struct Group {
    rtt: Distribution<Time>,
    #[serde(flatten)]
    source: Source,
}

#[test]
fn a_flattened_source_is_as_strict() {
    let group: Group =
        toml::from_str("kind = \"bulk\"\nflows = 3\nrtt = {even = \"50ms..150ms\"}").unwrap();
    assert_eq!(group.source.members(), Some(3));
    assert!(matches!(group.rtt, Distribution::Even { .. }));
    let wrong = "kind = \"bulk\"\nflow = 3\nrtt = \"1ms\"";
    let error = toml::from_str::<Group>(wrong).unwrap_err();
    assert!(error.message().contains("unknown field `flow`"), "{error}");
}

#[test]
fn the_json_schema_documents_every_field() {
    let schema = serde_json::to_value(schemars::schema_for!(Source)).unwrap();
    let definitions = schema["$defs"].as_object().unwrap();
    let kinds = schema["oneOf"].as_array().unwrap();
    assert_eq!(kinds.len(), Source::NAMES.len());
    let tables = definitions.iter().map(|(name, table)| (name.as_str(), table));
    let groups = kinds.iter().map(|kind| {
        let name = kind.pointer("/properties/kind/const").unwrap().as_str().unwrap();
        assert!(Source::NAMES.contains(&name));
        (name, kind)
    });
    let mut fields = 0;
    for (name, table) in groups.chain(tables) {
        let Some(properties) = table["properties"].as_object() else { continue };
        for (field, property) in properties {
            let documented = field == "kind" || property["description"].is_string();
            assert!(documented, "{name}.{field} has no description");
            fields += 1;
        }
    }
    assert!(fields > 80, "{fields}");
    for name in ["DistributionOfTime", "DistributionTableOfSize", "PartOfCount"] {
        assert!(definitions.contains_key(name), "{name} is missing");
    }
}
