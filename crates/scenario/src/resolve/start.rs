//! The network that a scenario is at the start.

use std::path::Path;

use sojourn_base::{Invalid, Rate, Time, sort_by_key};

use super::{links, probes};
use crate::copies::Copies;
use crate::error::{Fault, steps};
use crate::groups::{NetworkGroup, groups};
use crate::limits::MAX_TIME;
use crate::nearest::suggestion;
use crate::network::{Network, NetworkLink};
use crate::routes::Graph;
use crate::scenario::Scenario;
use crate::topology::Access;

/// The normal form of a scenario without what changes.
pub(super) fn network(scenario: &Scenario, base_dir: Option<&Path>) -> Result<Network, Fault> {
    let copies = Copies::new(scenario)?;
    resolved(&copies.scenario, base_dir).map_err(|fault| copies.located(fault))
}

/// The same of a scenario whose links are there once each.
fn resolved(scenario: &Scenario, base_dir: Option<&Path>) -> Result<Network, Fault> {
    check_times(scenario)?;
    let graph = Graph::new(scenario)?;
    graph.links.iter().try_for_each(links::check)?;
    if scenario.traffic.is_empty() {
        let message = "there is no traffic; add a group: [[traffic]] kind = \"bulk\"";
        return Err(Fault::new(steps!["traffic"], message));
    }
    check_access(&scenario.access)?;
    links::check_media(&scenario.wifi, &graph)?;
    let groups = groups(scenario, &graph, base_dir)?;
    check_labels(&graph, &groups)?;
    let bottleneck = graph.links.iter().position(|link| link.link.rate.is_some()).unwrap_or(0);
    let probes = probes::resolve(scenario, &graph, &groups, base_dir.is_some())?;
    let links: Vec<NetworkLink> = graph
        .links
        .into_iter()
        .enumerate()
        .map(|(number, placed)| links::resolve(number, placed, &scenario.wifi, &groups, base_dir))
        .collect::<Result<_, _>>()?;
    Ok(Network {
        changes: Vec::new(),
        name: scenario.name.clone().unwrap_or_default(),
        probes,
        nodes: graph.nodes,
        links,
        media: scenario.wifi.clone(),
        groups,
        bottleneck,
        duration: scenario.duration,
        warmup: scenario.warmup,
        seed: scenario.seed,
        unfused: scenario.packets.unfused,
        scenario: String::new(),
    })
}

fn check_times(scenario: &Scenario) -> Result<(), Fault> {
    if scenario.duration == Time::ZERO {
        return Err(Fault::new(steps!["duration"], "\"0ns\" must be above 0"));
    }
    if scenario.duration > MAX_TIME {
        let message = format!("\"{}\" must be at most \"{MAX_TIME}\"", scenario.duration);
        return Err(Fault::new(steps!["duration"], message));
    }
    if scenario.warmup >= scenario.duration {
        let message =
            format!("\"{}\" must be below duration (\"{}\")", scenario.warmup, scenario.duration);
        return Err(Fault::new(steps!["warmup"], message));
    }
    Ok(())
}

fn check_access(access: &Access) -> Result<(), Fault> {
    if access.processing > Time::from_secs(1) {
        let message = format!("\"{}\" must be at most \"1s\"", access.processing);
        return Err(Fault::new(steps!["access", "processing"], message));
    }
    if access.queue == Some(0) {
        return Err(Fault::new(steps!["access", "queue"], "0 must be above 0"));
    }
    if access.queue.is_some() && access.rate.is_none() {
        let message = "an interface without a rate has no queue: give `access.rate` too";
        return Err(Fault::new(steps!["access", "queue"], message));
    }
    if let Some(hosts) = access.hosts {
        let wrong =
            |message: &str| Err(Fault::new(steps!["access", "hosts"], format!("{hosts}{message}")));
        if !(1..=1_000_000).contains(&hosts) {
            return wrong(" must be from 1 to 1000000");
        }
        if access.rate.is_none() {
            return wrong(": an interface without a rate is not shared: give `access.rate` too");
        }
        if access.processing > Time::ZERO {
            return wrong(": not together with `access.processing`; leave one of them out");
        }
    }
    if access.rate == Some(Rate(0)) {
        return Err(Fault::new(steps!["access", "rate"], "\"0bit\" must be above 0"));
    }
    Ok(())
}

/// The labels that classes name must be those of groups.
fn check_labels(graph: &Graph, groups: &[NetworkGroup]) -> Result<(), Fault> {
    let mut known: Vec<&str> = groups.iter().map(|group| group.label.as_str()).collect();
    known.retain(|label| !label.is_empty());
    sort_by_key(&mut known, |label| *label);
    known.dedup();
    for placed in graph.links.iter().filter(|placed| placed.link.rate.is_some()) {
        for class in placed.link.qdisc.classes() {
            let unknown = class.labels.iter().find(|(label, _)| !known.contains(&label.as_str()));
            let Some((label, field)) = unknown else { continue };
            let why = format!(
                "no traffic group carries this label (class \"{}\"); {}",
                class.name,
                suggestion(label, &known)
            );
            let fault = Fault::from(Invalid::new(field.clone(), format!("\"{label}\""), why));
            return Err(fault.under(placed.field("qdisc")));
        }
    }
    Ok(())
}
