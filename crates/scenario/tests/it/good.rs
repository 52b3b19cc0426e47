//! The examples and reference scenarios are valid, and every scenario survives being written.

use std::fs;
use std::path::{Path, PathBuf};

use sojourn_base::{Rate, Time};
use sojourn_scenario::Scenario;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files
}

fn example(name: &str) -> Scenario {
    Scenario::from_file(&root().join("scenarios").join(name)).unwrap()
}

#[test]
fn every_example_is_read_and_written_back() {
    let (examples, references) = (files("scenarios"), files("benches/scenarios"));
    assert!(examples.len() >= 6 && references.len() >= 4);
    for path in examples.iter().chain(&references) {
        let scenario = Scenario::from_file(path).unwrap();
        let toml = scenario.to_toml();
        let again = Scenario::from_toml(&toml, "again").unwrap_or_else(|e| panic!("{e}\n{toml}"));
        assert_eq!(again, scenario, "{toml}");
        assert_eq!(again.to_toml(), toml);
        assert_eq!(again.to_json(), scenario.to_json());
        assert_eq!(Scenario::from_json(&scenario.to_json()).unwrap(), scenario);
    }
}

#[test]
fn every_example_says_what_it_is_and_is_ready_to_run() {
    for path in files("scenarios") {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# "), "{} does not begin with what it is", path.display());
        let scenario = Scenario::from_file(&path).unwrap();
        // Those with a load need users first.
        let ready = match scenario.load {
            Some(_) => scenario
                .with_json(&[("load", serde_json::Value::Null), ("traffic.0.users", 1000.into())]),
            None => Ok(scenario),
        };
        ready.unwrap().network(&root().join("scenarios")).unwrap();
    }
}

#[test]
fn tcp_options_spelled_out_are_those_of_the_profile_and_read_back() {
    let text = r#"
        duration = "10s"
        [tcp]
        profile = "classic"
        congestion = "cubic"
        [bottleneck]
        rate = "10mbit"
        [[traffic]]
        kind = "bulk"
        [[traffic]]
        kind = "bulk"
        tcp = { profile = "modern", sack = false, receive_window = "1MiB" }
        [[traffic]]
        kind = "bulk"
        tcp = { congestion = "bbr" }
    "#;
    let scenario = Scenario::from_toml(text, "f").unwrap();
    let resolved = scenario.resolved().unwrap();
    let json: serde_json::Value = serde_json::from_str(&resolved.to_json()).unwrap();
    let tcp = &json["tcp"];
    assert_eq!((&tcp["profile"], &tcp["receive_window"]), (&"classic".into(), &"16KiB".into()));
    assert_eq!((&tcp["sack"], &tcp["rack"]), (&true.into(), &false.into()));
    let own = &json["traffic"][1]["tcp"];
    assert_eq!((&own["rack"], &own["initial_rto"]), (&false.into(), &"1s".into()));
    assert_eq!(json["traffic"][0]["tcp"], serde_json::Value::Null);
    // Their parameters are the same.
    let again = Scenario::from_json(&resolved.to_json()).unwrap();
    let of = |s: &Scenario| {
        let network = s.network(Path::new(".")).unwrap();
        network.groups.iter().map(|group| group.tcp.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(&again), of(&scenario));
    assert_eq!(again.resolved().unwrap(), again);
}

/// Spelled out, a group has a congestion control of its own, which a change of all must not miss.
#[test]
fn changes_reach_what_is_spelled_out() {
    let text = r#"
        duration = "10s"
        tcp = { congestion = "scalable" }
        [bottleneck]
        rate = "10mbit"
        [[traffic]]
        kind = "bulk"
        tcp = { mss = 1000 }
        [[traffic]]
        kind = "bulk"
        tcp = { congestion = "cubic" }
        [[changes]]
        at = "1s"
        set = { "tcp.congestion.a" = 0.4 }
    "#;
    let scenario = Scenario::from_toml(text, "f").unwrap();
    let resolved = scenario.resolved().unwrap();
    let set: Vec<_> = resolved.changes[0].set.keys().collect();
    assert_eq!(set, ["tcp.congestion.a", "traffic.0.tcp.congestion.a"]);
    let made = |s: &Scenario| format!("{:?}", s.network(Path::new(".")).unwrap().changes);
    assert_eq!(made(&resolved), made(&scenario));
    assert_eq!(resolved.resolved().unwrap(), resolved);
}

#[test]
fn the_shortest_form_leaves_defaults_out() {
    let text = r#"
        duration = "60000ms"
        warmup = "0s"
        seed = 1
        [bottleneck]
        rate = "0.1gbit"
        delay = "0s"
        qdisc = { kind = "droptail" }
        [probes]
        interval = "10ms"
        [[traffic]]
        kind = "bulk"
        flows = 1
        direction = "forward"
        start = "0s"
    "#;
    let toml = Scenario::from_toml(text, "f").unwrap().to_toml();
    let shortest = "duration = \"1min\"\n\n[bottleneck]\nrate = \"100mbit\"\n\n\
                    [[traffic]]\nkind = \"bulk\"\n";
    assert_eq!(toml, shortest);
    let links = |count| {
        let link = |name, from, to| {
            format!(
                "[[links]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 count = {count}\nrate = \"1mbit\"\n"
            )
        };
        let text = format!(
            "duration = \"1min\"\n{}{}[[traffic]]\nkind = \"bulk\"\nfrom = \"a\"\nto = \"b\"\n",
            link("up", "a", "b"),
            link("down", "b", "a")
        );
        let scenario = Scenario::from_toml(&text, "f").unwrap();
        serde_json::to_value(&scenario).unwrap()["links"][0].get("count").cloned()
    };
    assert_eq!((links(1), links(2)), (None, Some(2.into())));
}

#[test]
fn a_dumbbell_has_two_links_and_both_directions_make_two_groups() {
    let scenario = example("web.toml");
    let scenario = scenario
        .with_json(&[("load", serde_json::Value::Null), ("traffic.0.users", 50.into())])
        .unwrap();
    let network = scenario.network(Path::new(".")).unwrap();
    assert_eq!(network.nodes, ["left", "right"]);
    let links: Vec<_> = network.links.iter().map(|link| (&*link.name, link.rate)).collect();
    let rate = Some(Rate(100_000_000));
    assert_eq!(links, [("bottleneck", rate), ("reverse", rate)]);
    assert_eq!(network.links[0].frame(40), 84);
    assert_eq!(network.links[0].frame(1500), 1538);
    let groups: Vec<_> =
        network.groups.iter().map(|g| (&*g.name, &g.forward[..], &g.backward[..])).collect();
    let (name, reverse) = (groups[0].0, format!("{}.reverse", groups[0].0));
    assert_eq!(groups, [(name, &[0][..], &[1][..]), (&*reverse, &[1], &[0])]);
    assert_ne!(network.groups[0].key, network.groups[1].key);
    assert_eq!(network.groups[0].members, 50);
}

#[test]
fn a_parking_lot_joins_its_nodes_both_ways() {
    let network = example("parking-lot.toml").network(Path::new(".")).unwrap();
    assert_eq!(network.nodes, ["n0", "n1", "n2", "n3"]);
    let names: Vec<_> = network.links.iter().map(|link| &*link.name).collect();
    assert_eq!(names, ["hop1", "hop2", "hop3", "back1", "back2", "back3"]);
    assert_eq!(network.groups[0].propagation, Time::from_millis(60));
    let paths: Vec<_> =
        network.groups.iter().map(|g| (g.forward.clone(), g.backward.clone())).collect();
    assert_eq!(paths[0], (vec![0, 1, 2], vec![5, 4, 3]));
    assert_eq!(paths[2], (vec![1], vec![4]));
}

#[test]
fn variations_give_the_errors_of_files() {
    let scenario = example("elephants.toml");
    let varied = scenario.with(&[("bottleneck.qdisc.qref", "240"), ("seed", "7")]).unwrap();
    assert!(varied.to_toml().contains("qref = 240"));
    assert_eq!((scenario.seed, varied.seed), (1, 7));
    let replaced = scenario.with(&[("bottleneck.qdisc", "droptail")]).unwrap();
    assert!(!replaced.to_toml().contains("qref"));

    let error = scenario.with(&[("bottleneck.qdisc.b", "1")]).unwrap_err();
    assert_eq!(error.path, "bottleneck.qdisc.b");
    assert_eq!(error.position, None, "what was put in has no place in the file");
    let error = scenario.with(&[("traffic.steddy.flows", "1")]).unwrap_err().to_string();
    assert!(error.contains("did you mean \"steady\"?"), "{error}");
    let error = scenario.with(&[("traffic.leaving.stop", "1s"), ("warmup", "1h")]).unwrap_err();
    assert_eq!(error.path, "warmup");
    let error = scenario.with(&[("botleneck.rate", "1mbit")]).unwrap_err().to_string();
    assert!(error.contains("did you mean \"bottleneck\"?"), "{error}");
}

#[test]
fn programmatic_change_is_written() {
    let mut scenario = example("one-reno.toml");
    scenario.seed = 99;
    let varied = scenario.with(&[("duration", "200s")]).unwrap();
    assert_eq!((varied.seed, varied.duration), (99, Time::from_secs(200)));
    scenario.warmup = Time::from_secs(1000);
    assert_eq!(scenario.network(Path::new(".")).unwrap_err().path, "warmup");
}

#[test]
fn a_replay_makes_one_group_for_each_pair_of_nodes() {
    let folder = std::env::temp_dir().join(format!("sojourn-scenario-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let lines = "0.2 right left 10\n0.1 left right 4kB\n0.3 left right 1\n";
    fs::write(folder.join("trace.txt"), lines).unwrap();
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"1mbit\"\n\
                [[traffic]]\nkind = \"replay\"\nfile = \"trace.txt\"\n";
    let network = Scenario::from_toml(text, "f").unwrap().network(&folder).unwrap();
    let at = Time::from_millis;
    let groups: Vec<_> =
        network.groups.iter().map(|g| (&*g.name, &g.forward[..], &g.replay[..])).collect();
    assert_eq!(
        groups,
        [
            ("replay1", &[0][..], &[(at(100), 4000), (at(300), 1)][..]),
            ("replay1.reverse", &[1], &[(at(200), 10)]),
        ]
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_choice_that_looks_like_a_number_may_be_one() {
    let text = |http: &str| {
        format!(
            "duration = \"1s\"\n[bottleneck]\nrate = \"1mbit\"\n\
             [[traffic]]\nkind = \"web\"\nusers = 1\nmodel = \"httparchive\"\nhttp = {http}\n"
        )
    };
    for http in ["1.1", "2", "3"] {
        let bare = Scenario::from_toml(&text(http), "f").unwrap();
        assert_eq!(bare, Scenario::from_toml(&text(&format!("\"{http}\"")), "f").unwrap());
    }
    let wrong = Scenario::from_toml(&text("4"), "f").unwrap_err().to_string();
    assert!(wrong.contains("4 is not one of 1.1, 2, 3"), "{wrong}");
}

#[test]
fn a_group_keeps_its_random_streams_when_another_is_added() {
    let scenario = example("one-reno.toml");
    let mut more = scenario.clone();
    let mut extra = more.traffic[0].clone();
    extra.name = Some("more".into());
    more.traffic.insert(0, extra);
    let keys = |scenario: &Scenario| -> Vec<u32> {
        scenario.network(Path::new(".")).unwrap().groups.iter().map(|g| g.key).collect()
    };
    assert_eq!(keys(&scenario)[0], keys(&more)[1]);
}
