//! What changes while a scenario runs: the long way through the text, and the short one.

use std::path::Path;

use sojourn_base::{Rate, Time, Value};
use sojourn_qdisc::Config;
use sojourn_scenario::{Change, Changed, Network, NetworkChange, Scenario};

const TEXT: &str = r#"
duration = "60s"
[bottleneck]
rate = "10mbit"
qdisc = { kind = "pi", qref = 50 }
[[traffic]]
kind = "bulk"
name = "up"
direction = "both"
tcp = { congestion = { kind = "aimd", a = 1.0, b = 0.5 } }
[[traffic]]
kind = "bulk"
name = "plain"
"#;

fn scenario() -> Scenario {
    Scenario::from_toml(TEXT, "f").unwrap()
}

fn network(scenario: &Scenario) -> Network {
    scenario.network(Path::new(".")).unwrap()
}

fn value(value: impl Into<serde_json::Value>) -> Value {
    serde_json::from_value(value.into()).unwrap()
}

fn change(path: &str, to: impl Into<serde_json::Value>) -> Change {
    Change { at: Time::from_secs(1), set: [(path.to_string(), value(to))].into() }
}

fn changed(scenario: &Scenario, change: &Change) -> Result<Vec<NetworkChange>, String> {
    let network = network(scenario);
    let changed = scenario.changed(&network.links, &network.groups, change, Path::new("."));
    changed.map(|(_, made)| made).map_err(|error| error.to_string())
}

/// What a change does, in a word or two for each.
fn said(made: &[NetworkChange]) -> Vec<String> {
    let say = |change: &NetworkChange| match &change.what {
        Changed::Link(link, qdisc, rate) => {
            let qref = qdisc.as_ref().map(|qdisc| match qdisc {
                Config::Pi(pi) => pi.qref,
                _ => f64::NAN,
            });
            format!("link {link}: {qref:?} {:?}", rate.map(|rate| rate.0))
        }
        Changed::Group(group, tcp) => format!("group {group}: {:?}", tcp.congestion),
    };
    made.iter().map(say).collect()
}

#[test]
fn a_rate_and_a_parameter_change_both_directions() {
    let rate = changed(&scenario(), &change("bottleneck.rate", "5mbit")).unwrap();
    assert_eq!(said(&rate), ["link 0: None Some(5000000)", "link 1: None Some(5000000)"]);
    assert!(rate.iter().all(NetworkChange::is_of_rate));
    let qref = changed(&scenario(), &change("bottleneck.qdisc.qref", 20)).unwrap();
    assert_eq!(said(&qref), ["link 0: Some(20.0) None", "link 1: Some(20.0) None"]);
    assert!(!qref.iter().any(NetworkChange::is_of_rate));
    assert_eq!(changed(&scenario(), &change("bottleneck.rate", "10mbit")).unwrap().len(), 0);
}

#[test]
fn only_what_can_change_does() {
    let refused = |path: &str| changed(&scenario(), &change(path, "1mbit")).unwrap_err();
    for path in [
        "duration",
        "bottleneck.delay",
        "bottleneck.qdisc",
        "bottleneck.qdisc.kind",
        "bottleneck.schedule.rate",
        "traffic.0.tcp.congestion.kind",
        "traffic.0.tcp.congestion",
        "traffic.0.tcp.sack",
        "traffic.0.quic.congestion.b",
        "traffic.0.rate",
        "tcp.congestion",
    ] {
        let why = refused(path);
        // A schedule's rate is told by the reader: it has no such field.
        let reader = path == "bottleneck.schedule.rate";
        assert!(reader || why.contains("does not change during a run"), "{path}: {why}");
    }
}

#[test]
fn the_rate_of_a_link_that_moves_by_itself_does_not_change() {
    let own = [
        "schedule = { kind = \"steps\", steps = [[\"1s\", \"1mbit\"]] }",
        "docsis = { }",
        "autorate = { pings = \"pings\" }",
        "wifi = \"wifi\"",
    ];
    let air = "[[wifi]]\nname = \"wifi\"\n";
    let pings = "[[traffic]]\nkind = \"ping\"\nname = \"pings\"\n";
    for own in own {
        let text = TEXT.replace("rate = \"10mbit\"", &format!("rate = \"10mbit\"\n{own}"))
            + pings
            + if own.starts_with("wifi") { air } else { "" };
        let scenario = Scenario::from_toml(&text, "f").unwrap();
        let why = changed(&scenario, &change("bottleneck.rate", "5mbit")).unwrap_err();
        assert!(why.contains("a link's rate changes only if it has one"), "{own}: {why}");
        // Its discipline is another matter.
        let made = changed(&scenario, &change("bottleneck.qdisc.qref", 20)).unwrap();
        assert_eq!(made.len(), 2, "{own}");
    }
}

#[test]
fn a_congestion_control_changes_in_its_own_groups_alone() {
    let made = changed(&scenario(), &change("traffic.0.tcp.congestion.b", 0.25)).unwrap();
    let groups: Vec<usize> = made
        .iter()
        .map(|change| match change.what {
            Changed::Group(group, _) => group,
            Changed::Link(..) => unreachable!(),
        })
        .collect();
    assert_eq!(groups, [0, 1]);
    assert!(said(&made)[1].contains("0.25"), "{:?}", said(&made));
}

#[test]
fn changes_follow_each_other_by_time_and_each_sees_those_before() {
    let text = TEXT.replace(
        "[bottleneck]",
        "changes = [\n\
         { at = \"3s\", set = { \"bottleneck.rate\" = \"10mbit\" } },\n\
         { at = \"2s\", set = { \"bottleneck.rate\" = \"5mbit\" } },\n\
         { at = \"2s\", set = { \"bottleneck.rate\" = \"5mbit\", \"bottleneck.qdisc.qref\" = 9 } },\n\
         ]\n[bottleneck]",
    );
    let made = network(&Scenario::from_toml(&text, "f").unwrap()).changes;
    let times: Vec<u64> = made.iter().map(|change| change.at.0 / 1_000_000_000).collect();
    assert_eq!(times, [2, 2, 2, 2, 3, 3]);
    assert_eq!(
        said(&made)[..5],
        [
            "link 0: None Some(5000000)",
            "link 1: None Some(5000000)",
            "link 0: Some(9.0) None",
            "link 1: Some(9.0) None",
            "link 0: None Some(10000000)"
        ]
    );
}

/// The short way and the long one do the same.
#[test]
fn the_short_way_leads_where_the_long_one_does() {
    for (path, to) in [
        ("bottleneck.qdisc.qref", serde_json::Value::from(20)),
        ("bottleneck.qdisc.qref", serde_json::Value::from(50)),
        ("bottleneck.qdisc.limit", serde_json::Value::from(77)),
        ("traffic.0.tcp.congestion.b", serde_json::Value::from(0.25)),
    ] {
        let change = change(path, to);
        let before = network(&scenario());
        let mut short = scenario();
        let made = short.change_parameter(&before.links, &before.groups, &change).unwrap();
        let (long, wanted) =
            scenario().changed(&before.links, &before.groups, &change, Path::new(".")).unwrap();
        assert_eq!(said(&made), said(&wanted), "{path}");
        assert!(made.iter().all(|change| change.at == Time::from_secs(1)));
        assert_eq!(short.to_toml(), long.to_toml());
    }
}

#[test]
fn the_short_way_is_left_to_what_it_can_do_and_nothing_has_happened_then() {
    let two = Change {
        at: Time::ZERO,
        set: [
            ("bottleneck.qdisc.qref".to_string(), value(20)),
            ("bottleneck.qdisc.limit".to_string(), value(20)),
        ]
        .into(),
    };
    for change in [
        two,
        change("bottleneck.rate", "5mbit"),
        change("bottleneck.qdisc.qref", "20"),
        change("bottleneck.qdisc.qref", -1),
        change("bottleneck.qdisc.ecn", true),
        change("bottleneck.qdisc.nothing", 1),
        change("traffic.0.tcp.congestion.nothing", 1),
        change("traffic.0.tcp.congestion.b", 2),
        change("traffic.1.tcp.congestion.b", 0.25),
        change("traffic.9.tcp.congestion.b", 0.25),
    ] {
        let before = network(&scenario());
        let mut short = scenario();
        let made = short.change_parameter(&before.links, &before.groups, &change);
        assert!(made.is_none(), "{:?}", change.set);
        assert_eq!(short, scenario());
    }
}

#[test]
fn a_reverse_link_with_a_discipline_of_its_own_keeps_it() {
    let text = TEXT.replace("qdisc = {", "reverse = { qdisc = \"droptail\" }\nqdisc = {");
    let mut scenario = Scenario::from_toml(&text, "f").unwrap();
    let before = network(&scenario);
    let change = change("bottleneck.qdisc.qref", 20);
    let made = scenario.change_parameter(&before.links, &before.groups, &change).unwrap();
    assert_eq!(said(&made), ["link 0: Some(20.0) None"]);
    assert_eq!(Rate(10_000_000), before.links[1].rate.unwrap());
}
