//! Links with a count: a tree of households, each as if it were alone where nothing is short.

use crate::common::{difference, simulate, unfused};
use sojourn_records::Summary;

/// `count` households behind shapers of their own, under a trunk; `number` is what the names of
/// one alone end with.
fn town(trunk: &str, count: &str, number: &str) -> String {
    let group = |more: &str| {
        format!(
            "[[traffic]]\nfrom = \"internet\"\nto = \"house{number}\"\nrtt = \"30ms\"\n{more}\n"
        )
    };
    format!(
        r#"
        duration = "12s"
        warmup = "2s"
        [tcp]
        profile = "modern"
        [[links]]
        name = "trunk"
        from = "internet"
        to = "town"
        {trunk}
        [[links]]
        name = "down{number}"
        from = "town"
        to = "house{number}"
        rate = "20mbit"
        qdisc = "fq_codel"
        {count}
        [[links]]
        name = "up{number}"
        from = "house{number}"
        to = "internet"
        rate = "5mbit"
        qdisc = "fq_codel"
        {count}
        {}{}{}"#,
        group(&format!("kind = \"bulk\"\nname = \"load{number}\"")),
        group(&format!("kind = \"web\"\nname = \"people{number}\"\nusers = 3\nmodel = \"3gpp\"")),
        group(&format!("kind = \"ping\"\nname = \"game{number}\"\ninterval = \"20ms\"")),
    )
}

/// What a household's links and groups measured.
fn household(summary: &Summary, k: &str) -> String {
    let named = |name: &str| name.ends_with(k);
    let links: Vec<_> = summary.links.iter().filter(|link| named(&link.name)).collect();
    let groups: Vec<_> = summary.groups.iter().filter(|group| named(&group.name)).collect();
    assert_eq!((links.len(), groups.len()), (2, 3));
    format!("{links:#?}\n{groups:#?}")
}

#[test]
fn household_of_many_is_the_household_alone_where_the_trunk_is_ideal() {
    let many = simulate(&town("", "count = 12", ""));
    let alone = simulate(&town("", "", ".7"));
    assert_eq!(household(&many, ".7"), household(&alone, ".7"));
    assert_ne!(household(&many, ".8").replace(".8", ".7"), household(&alone, ".7"));
}

#[test]
fn trunk_carries_what_all_households_get() {
    let wide = simulate(&town("rate = \"1gbit\"", "count = 12", ""));
    let narrow = simulate(&town("rate = \"60mbit\"\nqdisc = \"fq_codel\"", "count = 12", ""));
    for (name, summary) in [("wide", &wide), ("narrow", &narrow)] {
        let down = summary.links.iter().filter(|link| link.name.starts_with("down"));
        let arrived: u64 = down.map(|link| link.counts.arrived).sum();
        let sent = summary.links[0].counts.dequeued;
        // One packet is on the trunk when the window begins or ends.
        assert!(arrived.abs_diff(sent) <= 1, "{name}: {sent} sent, {arrived} arrived");
    }
    let busy = |summary: &Summary| summary.links[0].utilisation.unwrap();
    assert!(busy(&wide) < 0.4 && busy(&narrow) > 0.85, "{} {}", busy(&wide), busy(&narrow));
}

#[test]
fn copies_are_the_same_without_fused_hops() {
    let text = town("rate = \"100mbit\"", "count = 5", "");
    assert_eq!(difference(&simulate(&text), &simulate(&unfused(&text))), None);
}
