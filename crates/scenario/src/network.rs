//! The normal form of a scenario that engines take, and the checks on the way to it.

use std::path::Path;

use sojourn_base::{Invalid, Rate, Time, sort_by_key};
use sojourn_qdisc::{Config as Qdisc, Env};

use crate::Scenario;
use crate::autorate::{self, RateControl};
use crate::changes::{self, NetworkChange};
use crate::copies::Copies;
use crate::docsis::Upstream;
use crate::error::{Fault, steps};
use crate::groups::{self, NetworkGroup};
use crate::limits::MAX_TIME;
use crate::nearest::suggestion;
use crate::routes::{Graph, Placed};
use crate::schedule::RateSchedule;
use crate::wifi::{self, Wifi};
use crate::wire::{DeviceQueue, Impairments};

/// A scenario in the form that engines take.
#[derive(Clone, Debug)]
pub struct Network {
    /// What the scenario is called; empty if it has no name.
    pub name: String,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// All links, one direction each.
    pub links: Vec<NetworkLink>,
    /// Media that links share.
    pub media: Vec<Wifi>,
    /// All groups, in the order of the file; a group in both directions is two.
    pub groups: Vec<NetworkGroup>,
    /// The link that a summary puts first: index into `links`.
    pub bottleneck: usize,
    /// What changes, in order of time.
    pub changes: Vec<NetworkChange>,
    /// What to record.
    pub probes: NetworkProbes,
    /// Simulated time.
    pub duration: Time,
    /// When measuring begins.
    pub warmup: Time,
    /// Names the random numbers.
    pub seed: u64,
    /// Simulate every hop as events of its own.
    pub unfused: bool,
    /// The scenario as JSON with every field, for those who want to know where results are from.
    pub scenario: String,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    /// Its name.
    pub name: String,
    /// Where packets enter: index into the nodes.
    pub from: usize,
    /// Where they leave.
    pub to: usize,
    /// None: ideal, pure delay without a queue.
    pub rate: Option<Rate>,
    /// How the rate changes; none: it is constant. `rate` is then what disciplines are told.
    pub schedule: Option<RateSchedule>,
    /// One-way propagation delay.
    pub delay: Time,
    /// Queue discipline, checked against `env`; an ideal link has no use for it.
    pub qdisc: Qdisc,
    /// Mean size of packets, for the discipline.
    pub mean_packet: u32,
    /// Bytes on the wire beyond the IP packet.
    pub frame_overhead: u32,
    /// Least bytes on the wire.
    pub min_frame: u32,
    /// What happens to packets on the wire, if anything.
    pub impairments: Option<Impairments>,
    /// The queue of the device below the discipline, if there is one.
    pub device: Option<DeviceQueue>,
    /// Requests and grants, if it is the upstream of a cable modem.
    pub docsis: Option<Upstream>,
    /// The medium that it shares: index into `media`.
    pub wifi: Option<u32>,
    /// The control loop of its rate, if it has one.
    pub autorate: Option<RateControl>,
}

impl NetworkLink {
    /// What the discipline may know of the link; none if it is ideal.
    #[must_use]
    pub fn env(&self) -> Option<Env> {
        self.rate.map(|rate| Env { rate, mean_packet: self.mean_packet })
    }

    /// Bytes on the wire of an IP packet.
    #[inline]
    #[must_use]
    pub fn frame(&self, ip_bytes: u32) -> u32 {
        (ip_bytes + self.frame_overhead).max(self.min_frame)
    }
}

/// What is to be recorded, names resolved.
#[derive(Clone, Debug)]
pub struct NetworkProbes {
    /// Time between two samples of the queues.
    pub interval: Time,
    /// Whether they are recorded.
    pub queues: bool,
    /// Window of the running minima.
    pub standing_window: Time,
    /// Span of the packet counts, if they are recorded.
    pub packet_counts: Option<Time>,
    /// Whether the summary has a row for each flow.
    pub flows: bool,
    /// Group and member of each trace.
    pub traces: Vec<(usize, u32)>,
    /// Whether exchanges and transfers are recorded.
    pub exchanges: bool,
    /// Links that are captured.
    pub pcap: Vec<usize>,
    /// Group and member of each flow that is logged.
    pub qlog: Vec<(usize, u32)>,
}

/// Makes the normal form. Without `base_dir` files are not looked at and loads need not be
/// resolved yet: what can be said of the text alone.
pub(crate) fn build(scenario: &Scenario, base_dir: Option<&Path>) -> Result<Network, Fault> {
    let copies = Copies::new(scenario)?;
    let mut network =
        resolved(&copies.scenario, base_dir).map_err(|fault| copies.located(fault))?;
    network.changes = changes::resolve(scenario, &network.links, &network.groups, base_dir)?;
    // A mere check has no use for it.
    network.scenario = base_dir.map(|_| scenario.to_json()).unwrap_or_default();
    Ok(network)
}

/// The normal form of a scenario whose links are there once each, without what changes.
fn resolved(scenario: &Scenario, base_dir: Option<&Path>) -> Result<Network, Fault> {
    check_times(scenario)?;
    let graph = Graph::new(scenario)?;
    for link in &graph.links {
        check_discipline(link)?;
    }
    if scenario.traffic.is_empty() {
        let message = "there is no traffic; add a group: [[traffic]] kind = \"bulk\"";
        return Err(Fault::new(steps!["traffic"], message));
    }
    if scenario.access.processing > Time::from_secs(1) {
        let message = format!("\"{}\" must be at most \"1s\"", scenario.access.processing);
        return Err(Fault::new(steps!["access", "processing"], message));
    }
    if scenario.access.queue == Some(0) {
        return Err(Fault::new(steps!["access", "queue"], "0 must be above 0"));
    }
    if scenario.access.queue.is_some() && scenario.access.rate.is_none() {
        let message = "an interface without a rate has no queue: give `access.rate` too";
        return Err(Fault::new(steps!["access", "queue"], message));
    }
    if let Some(hosts) = scenario.access.hosts {
        let wrong =
            |message: &str| Err(Fault::new(steps!["access", "hosts"], format!("{hosts}{message}")));
        if !(1..=1_000_000).contains(&hosts) {
            return wrong(" must be from 1 to 1000000");
        }
        if scenario.access.rate.is_none() {
            return wrong(": an interface without a rate is not shared: give `access.rate` too");
        }
        if scenario.access.processing > Time::ZERO {
            return wrong(": not together with `access.processing`; leave one of them out");
        }
    }
    if scenario.access.rate == Some(Rate(0)) {
        return Err(Fault::new(steps!["access", "rate"], "\"0bit\" must be above 0"));
    }
    wifi::check(&scenario.wifi, &graph)?;
    let groups = groups::groups(scenario, &graph, base_dir)?;
    check_labels(&graph, &groups)?;
    let bottleneck = graph.links.iter().position(|link| link.link.rate.is_some()).unwrap_or(0);
    let probes = probes(scenario, &graph, &groups, base_dir.is_some())?;
    let links: Vec<NetworkLink> = graph
        .links
        .into_iter()
        .enumerate()
        .map(|(number, placed)| link(number, placed, &scenario.wifi, &groups, base_dir))
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

fn link(
    number: usize,
    placed: Placed,
    media: &[Wifi],
    groups: &[NetworkGroup],
    base_dir: Option<&Path>,
) -> Result<NetworkLink, Fault> {
    let schedule = match (&placed.link.schedule, placed.link.rate) {
        (Some(schedule), Some(rate)) => Some(
            schedule
                .resolve(rate, base_dir)
                .map_err(|fault| fault.under(placed.field("schedule")))?,
        ),
        _ => None,
    };
    let device = match &placed.link.device {
        Some(device) => device.resolve().map_err(|fault| fault.under(placed.field("device")))?,
        None => None,
    };
    let docsis = docsis(&placed).map_err(|fault| fault.under(placed.field("docsis")))?;
    let wifi = wifi::medium(&placed, media).map_err(|fault| fault.under(placed.field("wifi")))?;
    let control = autorate::control(number, &placed, groups)
        .map_err(|fault| fault.under(placed.field("autorate")))?;
    let impairments =
        placed.link.impairments(base_dir).map_err(|fault| fault.under(placed.fields()))?;
    Ok(NetworkLink {
        schedule,
        impairments,
        device,
        docsis,
        wifi,
        autorate: control,
        name: placed.name,
        from: placed.from,
        to: placed.to,
        rate: placed.link.rate,
        delay: placed.link.delay,
        qdisc: placed.link.qdisc,
        mean_packet: placed.link.mean_packet,
        frame_overhead: placed.link.frame_overhead,
        min_frame: placed.link.min_frame,
    })
}

fn docsis(placed: &Placed) -> Result<Option<Upstream>, Fault> {
    let Some(docsis) = &placed.link.docsis else { return Ok(None) };
    let wrong = |why: &str| Err(Fault::new(Vec::new(), why));
    let Some(rate) = placed.link.rate else {
        return wrong("an ideal link has no modem: give it a rate");
    };
    if placed.link.schedule.is_some() {
        return wrong("what a modem is granted does not follow a schedule: leave one of them out");
    }
    if placed.link.device.is_some() {
        return wrong("a modem has no device's queue below its own: leave one of them out");
    }
    docsis.resolve(rate).map(Some)
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

fn check_discipline(placed: &Placed) -> Result<(), Fault> {
    if placed.link.delay > MAX_TIME {
        let message = format!("\"{}\" must be at most \"{MAX_TIME}\"", placed.link.delay);
        return Err(Fault::new(placed.field("delay"), message));
    }
    let Some(rate) = placed.link.rate else { return Ok(()) };
    let env = Env { rate, mean_packet: placed.link.mean_packet };
    placed.link.qdisc.validate(&env).map_err(|e| Fault::from(e).under(placed.field("qdisc")))
}

fn standing_window(window: Time) -> Result<Time, Fault> {
    if !(Time::from_micros(1)..=MAX_TIME).contains(&window) {
        let message = format!("\"{window}\" must be from \"1us\" to \"{MAX_TIME}\"");
        return Err(Fault::new(steps!["probes", "standing_window"], message));
    }
    Ok(window)
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

fn probes(
    scenario: &Scenario,
    graph: &Graph,
    groups: &[NetworkGroup],
    final_form: bool,
) -> Result<NetworkProbes, Fault> {
    let probes = &scenario.probes;
    let span = |field: &str, span: Time| match span {
        Time::ZERO => Err(Fault::new(steps!["probes", field], "\"0ns\" must be above 0")),
        span => Ok(span),
    };
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    // Which groups a replay makes, and of how many members, its file says.
    let known = final_form || scenario.traffic.iter().all(|group| group.source.kind() != "replay");
    let flows = |field: &str, flows: &[String], kinds: &[&str]| {
        let flows = flows.iter().enumerate().filter(|_| known);
        flows
            .map(|(index, flow)| {
                let place = steps!["probes", field, index];
                member(flow, groups, &names, kinds).map_err(|message| Fault::new(place, message))
            })
            .collect::<Result<Vec<_>, _>>()
    };
    let traces = flows("traces", &probes.traces, &["bulk"])?;
    let qlog = flows("qlog", &probes.qlog, &["bulk", "web", "video", "call"])?;
    let twice = (1..qlog.len()).find(|&index| qlog[..index].contains(&qlog[index]));
    if let Some(index) = twice {
        let message = format!("\"{}\" is named twice; name it once", probes.qlog[index]);
        return Err(Fault::new(steps!["probes", "qlog", index], message));
    }
    let pcap = probes.pcap.iter().enumerate().map(|(index, name)| {
        let wrong = |fault: Fault| fault.under(steps!["probes", "pcap", index]);
        let link = graph.find_link(name).map_err(wrong)?;
        if graph.links[link].link.rate.is_none() {
            let message = format!("\"{name}\" is ideal and has no queue to capture at");
            return Err(wrong(Fault::new(Vec::new(), message)));
        }
        Ok(link)
    });
    Ok(NetworkProbes {
        interval: span("interval", probes.interval)?,
        queues: probes.queues,
        standing_window: standing_window(probes.standing_window)?,
        packet_counts: probes.packet_counts.map(|t| span("packet_counts", t)).transpose()?,
        flows: probes.flows,
        traces,
        exchanges: probes.exchanges,
        pcap: pcap.collect::<Result<_, _>>()?,
        qlog,
    })
}

/// The group and the member that a name such as "bulk1.0" stands for; `names` are the groups', and
/// `kinds` those that can be recorded.
fn member(
    flow: &str,
    groups: &[NetworkGroup],
    names: &[&str],
    kinds: &[&str],
) -> Result<(usize, u32), String> {
    let (name, number) = flow
        .rsplit_once('.')
        .and_then(|(name, member)| Some((name, member.parse::<u32>().ok()?)))
        .ok_or_else(|| {
            format!("\"{flow}\" is not a group's name and a number, like \"bulk1.0\"")
        })?;
    let group = names
        .iter()
        .position(|other| *other == name)
        .ok_or_else(|| format!("there is no group \"{name}\"; {}", suggestion(name, names)))?;
    let kind = groups[group].source.kind();
    if !kinds.contains(&kind) {
        return Err(format!(
            "\"{flow}\" is of kind \"{kind}\"; name a member of a group of kind {}",
            kinds.join(", ")
        ));
    }
    let members = groups[group].members;
    if number >= members {
        return Err(format!("\"{flow}\": the group has {members} members, from 0"));
    }
    Ok((group, number))
}
