//! Every value is taken up to its limit, and refused beyond by the name of its field.

use serde_json::{Value, json};
use sojourn_base::{Rate, Time};
use sojourn_scenario::Scenario;

/// A dumbbell with pings, and a wireless one.
const PLAIN: &str = "duration = \"60s\"\n[bottleneck]\nrate = \"10mbit\"\n\
    [[traffic]]\nkind = \"ping\"\nname = \"pings\"\n\
    [[traffic]]\nkind = \"bulk\"\nname = \"flows\"\n";
const AIR: &str = "duration = \"60s\"\n[[wifi]]\n[bottleneck]\nrate = \"10mbit\"\nwifi = \"wifi\"\n\
    [[traffic]]\nkind = \"bulk\"\n";

const YEAR: &str = "8760h";
const LONGER: &str = "31536000000000001ns";
const FASTEST: &str = "10tbit";
const FASTER: &str = "10000000000001bit";

fn set(text: &str, path: &str, value: &Value) -> Result<Scenario, String> {
    let scenario = Scenario::from_toml(text, "f").unwrap();
    scenario.with_json(&[(path, value.clone())]).map_err(|error| error.path)
}

/// Values of a field that are taken, and values that are refused by `field`.
fn holds(text: &str, path: &str, field: &str, within: &[Value], beyond: &[Value]) {
    for value in within {
        let found = set(text, path, value);
        assert!(found.is_ok(), "{path} = {value}: refused at {found:?}");
    }
    for value in beyond {
        let place = set(text, path, value).expect_err(&format!("{path} = {value} was taken"));
        let last = place.trim_end_matches(|c: char| "[]0123456789".contains(c));
        assert!(last.ends_with(field), "{path} = {value}: refused at {place}");
    }
}

/// The same where the field is the path's last name.
fn field(text: &str, path: &str, within: &[&str], beyond: &[&str]) {
    let name = path.rsplit('.').next().unwrap();
    let values = |texts: &[&str]| -> Vec<Value> { texts.iter().map(|&it| json!(it)).collect() };
    holds(text, path, name, &values(within), &values(beyond));
}

#[test]
fn times_and_rates_of_a_scenario() {
    field(PLAIN, "duration", &["1ns", YEAR], &["0s", LONGER]);
    field(PLAIN, "warmup", &["0s", "59999999999ns"], &["60s"]);
    field(PLAIN, "probes.interval", &["1ns"], &["0s"]);
    field(PLAIN, "probes.packet_counts", &["1ns"], &["0s"]);
    field(PLAIN, "probes.standing_window", &["1us", YEAR], &["999ns", LONGER]);
    field(PLAIN, "access.processing", &["0s", "1s"], &["1000000001ns"]);
    field(PLAIN, "access.rate", &["1bit"], &["0bit"]);
    field(PLAIN, "bottleneck.delay", &["0s", YEAR], &[LONGER]);
    field(PLAIN, "bottleneck.rate", &["1bit", FASTEST], &["0bit", FASTER]);
    field(PLAIN, "traffic.1.stop", &["1ns"], &["0s"]);
}

#[test]
fn counts_of_a_link() {
    let of = |name: &str, within: &[u32], beyond: &[u32]| {
        let values = |all: &[u32]| -> Vec<Value> { all.iter().map(|&n| json!(n)).collect() };
        let path = format!("bottleneck.{name}");
        holds(PLAIN, &path, name, &values(within), &values(beyond));
    };
    of("mean_packet", &[40, 65_535], &[39, 65_536]);
    of("frame_overhead", &[0, 65_535], &[65_536]);
    of("min_frame", &[0, 65_535], &[65_536]);
    let of = |field: &str, within: &[Value], beyond: &[Value]| {
        holds(PLAIN, "bottleneck.device", field, within, beyond);
    };
    let packets = |packets: u32| json!({ "packets": packets });
    of("packets", &[packets(0), packets(1), packets(1 << 20)], &[packets((1 << 20) + 1)]);
    of("bytes", &[json!({ "bytes": "1B" })], &[json!({ "bytes": "0B" })]);
    let late = |time: &str| json!({ "packets": 9, "bql": true, "interrupts": time });
    of("interrupts", &[late("0s"), late("1s")], &[late("1000000001ns")]);
    let access = |hosts: u32| json!({ "rate": "1gbit", "hosts": hosts });
    let (within, beyond) = ([access(1), access(1_000_000)], [access(0), access(1_000_001)]);
    holds(PLAIN, "access", "hosts", &within, &beyond);
    let access = |queue: u32| json!({ "rate": "1gbit", "queue": queue });
    holds(PLAIN, "access", "queue", &[access(1)], &[access(0)]);
}

#[test]
fn losses() {
    let values = |all: &[f64]| -> Vec<Value> { all.iter().map(|&x| json!(x)).collect() };
    let path = "bottleneck.loss";
    holds(PLAIN, path, "loss", &values(&[0.0, 0.999]), &values(&[-0.001, 1.0]));
    // At 0.75 three are lost for each that is not.
    for (loss, within, beyond) in
        [(0.01, [1.0, 1e6], [0.999, 1_000_001.0]), (0.75, [3.0, 1e6], [2.999, 1_000_001.0])]
    {
        let text = PLAIN.replace("[bottleneck]", &format!("[bottleneck]\nloss = {loss}"));
        holds(&text, "bottleneck.loss_burst", "loss_burst", &values(&within), &values(&beyond));
    }
}

#[test]
fn a_wire_loses_without_jitter_and_delays_without_losses() {
    for (wire, does) in [("", false), ("loss = 0.01\n", true), ("jitter = \"1ms\"\n", true)] {
        let text = PLAIN.replace("[bottleneck]\n", &format!("[bottleneck]\n{wire}"));
        let network = Scenario::from_toml(&text, "f").unwrap().network(".".as_ref()).unwrap();
        assert_eq!(network.links[0].impairments.is_some(), does, "{wire}");
    }
}

#[test]
fn grants_of_a_cable_modem() {
    field(PLAIN, "bottleneck.docsis.map_interval", &["100us", "100ms"], &["99999ns", "100001us"]);
    field(PLAIN, "bottleneck.docsis.request_delay", &["0s", "100ms"], &["100001us"]);
    field(PLAIN, "bottleneck.docsis.channel", &["10mbit", FASTEST], &["9999999bit", FASTER]);
    field(PLAIN, "bottleneck.docsis.burst", &["1522B", "1GB"], &["1521B", "1000000001B"]);
}

#[test]
fn thresholds_of_a_shaper_that_follows_pings() {
    let path = "bottleneck.autorate";
    let with = |more: &[(&str, &str)]| {
        let mut table = json!({ "pings": "pings" });
        more.iter().for_each(|&(key, value)| table[key] = json!(value));
        table
    };
    let of = |field: &str, within: &[Value], beyond: &[Value]| {
        holds(PLAIN, path, field, within, beyond);
    };
    let min = |rate: &str| with(&[("min", rate)]);
    of("min", &[min("1bit"), min("10mbit")], &[min("0bit"), min("10000001bit")]);
    let max = |rate: &str| with(&[("max", rate)]);
    of("max", &[max("10mbit"), max(FASTEST)], &[max("9999999bit"), max(FASTER)]);
    let late =
        |late: &str, bloated: &str| with(&[("calm", "0s"), ("late", late), ("bloated", bloated)]);
    of(
        "late",
        &[late("1ms", "60ms"), late("9999ms", "10s")],
        &[late("999us", "60ms"), late("10001ms", "11s")],
    );
    of(
        "bloated",
        &[late("30ms", "30001us"), late("30ms", "10s")],
        &[late("30ms", "30ms"), late("30ms", "10001ms")],
    );
    let calm = |time: &str| with(&[("calm", time)]);
    of("calm", &[calm("29999us")], &[calm("30ms")]);
    of("pings", &[], &[with(&[("pings", "flows")]), with(&[("pings", "nobody")])]);
}

#[test]
fn a_shaper_ranges_from_a_quarter_to_four_times_its_rate_unless_told() {
    let control = |rate: &str| {
        let text = PLAIN.replace("10mbit", rate);
        let table = json!({ "pings": "pings" });
        let scenario = Scenario::from_toml(&text, "f").unwrap();
        let scenario = scenario.with_json(&[("bottleneck.autorate", table)]).unwrap();
        let network = scenario.network(std::path::Path::new(".")).unwrap();
        network.links[0].autorate.unwrap()
    };
    let found = control("10mbit");
    assert_eq!((found.base, found.pings, found.pingers), (Rate(10_000_000), 0, 1));
    assert_eq!((found.min, found.max), (Rate(2_500_000), Rate(40_000_000)));
    assert_eq!((control("3bit").min, control("8tbit").max), (Rate(1), Rate(10_000_000_000_000)));
}

#[test]
fn schedules_of_steps() {
    let of = |field: &str, within: &[Value], beyond: &[Value]| {
        holds(PLAIN, "bottleneck.schedule", field, within, beyond);
    };
    let steps = |steps: Value| json!({ "kind": "steps", "steps": steps });
    of(
        "steps",
        &[steps(json!([["1ns", "0bit"], ["2ns", FASTEST]])), steps(json!([[YEAR, "1mbit"]]))],
        &[
            steps(json!([])),
            steps(json!([["0s", "1mbit"]])),
            steps(json!([["2s", "1mbit"], ["2s", "2mbit"]])),
            steps(json!([[LONGER, "1mbit"]])),
            steps(json!([["1s", FASTER]])),
        ],
    );
    let repeat = |at: &str, repeat: &str| json!({ "kind": "steps", "steps": [[at, "1mbit"]], "repeat": repeat });
    of(
        "repeat",
        &[repeat("1s", "1000000001ns"), repeat("1s", YEAR)],
        &[repeat("1s", "1s"), repeat("1s", LONGER)],
    );
}

#[test]
fn schedules_drawn_at_random() {
    let of = |kind: &str, field: &str, within: &[Value], beyond: &[Value]| {
        let with = |values: &[Value]| -> Vec<Value> {
            let with = |value: &Value| {
                let mut table = match kind {
                    "markov" => json!({ "rates": ["1mbit", "2mbit"], "hold": "1s" }),
                    "radio" => json!({ "model": "lte" }),
                    _ => json!({ "min": "1mbit" }),
                };
                table["kind"] = json!(kind);
                table[field] = value.clone();
                table
            };
            values.iter().map(with).collect()
        };
        holds(PLAIN, "bottleneck.schedule", field, &with(within), &with(beyond));
    };
    let t = |text: &str| json!(text);
    let lognormal = |field: &str, within: &[Value], beyond: &[Value]| {
        of("lognormal", field, within, beyond);
    };
    lognormal("every", &[t("10us"), t(YEAR)], &[t("9999ns"), t(LONGER)]);
    lognormal("sigma", &[json!(0.001), json!(3)], &[json!(0), json!(3.001)]);
    lognormal("memory", &[t("0s"), t(YEAR)], &[t(LONGER)]);
    lognormal("min", &[t("1bit"), t("10mbit")], &[t("0bit"), t("10000001bit")]);
    lognormal("max", &[t("10mbit"), t(FASTEST)], &[t("9999999bit"), t(FASTER)]);
    let rates = |count: usize, rate: &str| json!(vec![rate; count]);
    of(
        "markov",
        "rates",
        &[rates(2, "1mbit"), rates(1000, FASTEST), json!(["0bit", "1bit"])],
        &[rates(1, "1mbit"), rates(1001, "1mbit"), rates(2, "0bit"), rates(2, FASTER)],
    );
    of("markov", "hold", &[t("10us"), t(YEAR)], &[t("9999ns"), t(LONGER)]);
    let radio = |field: &str, within: &[Value], beyond: &[Value]| {
        of("radio", field, within, beyond);
    };
    radio("every", &[t("10us")], &[t("9999ns")]);
    radio("hold", &[t("100ms"), t("300ms")], &[t("0s"), t("150ms")]);
    radio("phase", &[t("100ms")], &[t("0s"), t("50ms"), t("200ms")]);
    radio("level", &[json!(0), json!(3)], &[json!(-0.001), json!(3.001)]);
    radio("fading", &[json!(0), json!(3)], &[json!(-0.001), json!(3.001)]);
    radio("memory", &[t("0s"), t(YEAR)], &[t(LONGER)]);
    radio("fading_memory", &[t("0s"), t(YEAR)], &[t(LONGER)]);
    radio("outage", &[json!(0), json!(0.9)], &[json!(-0.001), json!(0.901)]);
    radio("outage_length", &[t("100ms"), t(YEAR)], &[t("99ms"), t(LONGER)]);
}

#[test]
fn a_wireless_medium() {
    let of = |name: &str, within: [Value; 2], beyond: &[Value]| {
        holds(AIR, &format!("wifi.0.{name}"), name, &within, beyond);
    };
    let between = |name: &str, low: &str, high: &str, beyond: &[&str]| {
        let beyond: Vec<Value> = beyond.iter().map(|&it| json!(it)).collect();
        of(name, [json!(low), json!(high)], &beyond);
    };
    between("slot", "1us", "1ms", &["999ns", "1001us"]);
    for name in ["sifs", "aifs", "preamble", "ack"] {
        between(name, "0s", "1ms", &["1001us"]);
    }
    between("ack_timeout", "0s", "10ms", &["10001us"]);
    between("aggregate_time", "10us", "100ms", &["9999ns", "100001us"]);
    between("quantum", "10us", "100ms", &["9999ns", "100001us"]);
    between("aggregate_bytes", "1500B", "4MiB", &["1499B", "4194305B"]);
    let counts = |name: &str, low: u32, high: u32, beyond: &[u32]| {
        let beyond: Vec<Value> = beyond.iter().map(|&it| json!(it)).collect();
        of(name, [json!(low), json!(high)], &beyond);
    };
    counts("cw_min", 1, 1023, &[0]);
    counts("cw_max", 15, 32_767, &[14, 32_768]);
    counts("mpdu_overhead", 0, 1000, &[1001]);
    counts("aggregate_packets", 1, 256, &[0, 257]);
    counts("hardware", 1, 64, &[0, 65]);
}

#[test]
fn loads() {
    let text = "duration = \"60s\"\n[bottleneck]\nrate = \"10mbit\"\n\
        [[traffic]]\nkind = \"web\"\nload = 0.5\n";
    let values = |all: &[f64]| -> Vec<Value> { all.iter().map(|&x| json!(x)).collect() };
    holds(text, "traffic.0.load", "load", &values(&[0.001, 10.0]), &values(&[0.0, 10.001]));
}

#[test]
fn machines_are_numbered_in_the_order_in_which_they_are_named() {
    let names = ["b", "a", "", "b", "c", "a"];
    let mut text = PLAIN.to_string();
    for name in names {
        text += "[[traffic]]\nkind = \"bulk\"\n";
        if !name.is_empty() {
            text += &format!("host = \"{name}\"\n");
        }
    }
    let network = Scenario::from_toml(&text, "f").unwrap();
    let network = network.network(std::path::Path::new(".")).unwrap();
    let hosts: Vec<u16> = network.groups.iter().map(|group| group.host).collect();
    assert_eq!(hosts, [0, 0, 1, 2, 0, 1, 3, 2]);
}

#[test]
fn what_changes_does_so_before_the_end() {
    let change = |at: &str| json!([{ "at": at, "set": { "bottleneck.rate": "5mbit" } }]);
    holds(PLAIN, "changes", "at", &[change("0s"), change("59999999999ns")], &[change("60s")]);
    assert_eq!(Time::from_secs(60), Scenario::from_toml(PLAIN, "f").unwrap().duration);
}
