//! From a scenario's normal form to the model's parameters, or one line about what has no place in
//! it.

use sojourn_qdisc::Ecn;
use sojourn_scenario::{Network, NetworkGroup, NetworkLink, NetworkProbes};
use sojourn_tcp::HEADERS;
use sojourn_traffic::Source;

use super::classes::{Bundle, bundles};
use super::error::Error;
use super::links;
use crate::WindowLaw;
use crate::mgt::{Class, Parameters};
use crate::windows::KINDS;

/// An average that follows its queue in this part of the shortest round trip follows at once.
const AT_ONCE: f64 = 300.0;

/// A scenario as the model sees it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Classes and queues.
    pub parameters: Parameters,
    /// For each class which flows it stands for.
    pub members: Vec<Member>,
    /// For each queue its link: index into the network's.
    pub links: Vec<usize>,
    /// For each queue the bytes of its data packets.
    pub ip_bytes: Vec<u32>,
    /// For each queue its link's rate in bits per second.
    pub rates: Vec<u64>,
}

/// The flows that a class stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Index of the group.
    pub group: usize,
    /// Their numbers in it.
    pub flows: Vec<u32>,
    /// Payload of a packet, in bytes.
    pub payload: u32,
    /// Greatest packets per second of a flow's private link.
    pub access: f64,
}

/// The model of `network`.
///
/// # Errors
/// If it holds something that the model cannot represent.
pub fn read(network: &Network) -> Result<Plan, Error> {
    network.groups.iter().try_for_each(check_group)?;
    check_probes(&network.probes)?;
    network.links.iter().try_for_each(check_link)?;
    let used = used_links(network)?;
    let mut classes = Vec::new();
    let mut members = Vec::new();
    for number in 0..network.groups.len() {
        for (class, member) in classes_of(network, number, &used)? {
            classes.push(class);
            members.push(member);
        }
    }
    let shortest = classes.iter().map(|class| class.rtt).fold(f64::INFINITY, f64::min);
    let mut queues = Vec::new();
    for &(link, ip) in &used {
        let ecn = ecn(network, link)?;
        queues.push(links::queue(&network.links[link], ip, ecn, AT_ONCE / shortest)?);
    }
    for (class, member) in classes.iter_mut().zip(&members) {
        // A mark never ends in a timeout.
        class.timeouts = class.path.iter().any(|&queue: &usize| queues[queue].thins);
        if !class.timeouts {
            class.law = law_of(&network.groups[member.group], true)?;
        }
    }
    let parameters = Parameters { classes, queues };
    parameters.validate().map_err(|error| Error(error.to_string()))?;
    let (links, ip_bytes): (Vec<usize>, Vec<u32>) = used.into_iter().unzip();
    let rates = links.iter().filter_map(|&link| network.links[link].rate).map(|rate| rate.0);
    Ok(Plan { parameters, members, rates: rates.collect(), links, ip_bytes })
}

/// The classes of a group, each with the flows that it stands for. Of each link in use there is its
/// number and the bytes of its packets.
fn classes_of(
    network: &Network,
    number: usize,
    used: &[(usize, u32)],
) -> Result<Vec<(Class, Member)>, Error> {
    let group = &network.groups[number];
    let queue_of = |link: &usize| used.iter().position(|(other, _)| other == link);
    let ip = group.full_packet();
    let ack = HEADERS + u32::from(group.tcp.options);
    let fixed = transmission(network, group, ip, ack);
    let path: Vec<usize> = group.forward.iter().filter_map(queue_of).collect();
    let back = group.backward.iter().filter_map(queue_of).collect();
    let template = Class { path, back, ..class_of(group)? };
    let access = group.access_rate.map_or(f64::INFINITY, |rate| rate.0 as f64 / 8.0);
    let stop = group.stop.map_or(f64::INFINITY, |stop| stop.as_secs_f64());
    let mut classes = Vec::new();
    for Bundle { members: flows, rtt, start } in bundles(group, network.seed) {
        if stop <= start {
            continue;
        }
        let rtt = rtt + fixed;
        if rtt <= 0.0 {
            let why = "a flow needs a round trip above 0; give the group an rtt, like \"100ms\", \
                       or its links a delay";
            return Err(Error(format!("traffic.{}.rtt: {why}", group.name)));
        }
        let mut schedule = vec![(start, flows.len() as f64)];
        schedule.extend(stop.is_finite().then_some((stop, 0.0)));
        let class = Class { flows: schedule, rtt, ..template.clone() };
        let payload = group.tcp.payload;
        classes.push((
            class,
            Member { group: number, flows, payload, access: access / f64::from(ip) },
        ));
    }
    Ok(classes)
}

fn check_probes(probes: &NetworkProbes) -> Result<(), Error> {
    for (field, there, why) in [
        ("pcap", !probes.pcap.is_empty(), "there are no packets to capture"),
        ("qlog", !probes.qlog.is_empty(), "there are no packets to log"),
        ("packet_counts", probes.packet_counts.is_some(), "there are no packets to count"),
    ] {
        if there {
            return Err(Error(refused(&format!("probes.{field}"), why)));
        }
    }
    Ok(())
}

fn check_link(link: &NetworkLink) -> Result<(), Error> {
    let constant = "its links have one rate, and neither lose nor delay packets at random";
    for (field, there) in [
        ("schedule", link.schedule.is_some()),
        ("loss, jitter", link.impairments.is_some()),
        ("device", link.device.is_some()),
        ("docsis", link.docsis.is_some()),
        ("wifi", link.wifi.is_some()),
        ("autorate", link.autorate.is_some()),
    ] {
        if there {
            return Err(Error(refused(&format!("{}.{field}", link.name), constant)));
        }
    }
    Ok(())
}

fn refused(field: &str, why: &str) -> String {
    format!(
        "{field}: the fluid engine cannot do that: {why}; leave it out, or use --engine packets"
    )
}

fn check_group(group: &NetworkGroup) -> Result<(), Error> {
    let name = &group.name;
    let Source::Bulk(bulk) = &group.source else {
        return Err(Error(format!(
            "traffic.{name}.kind = \"{}\": the fluid engine knows only long flows; use \"bulk\", \
             or --engine packets",
            group.source.kind()
        )));
    };
    if group.quic.is_some() {
        let why = "the fluid engine has no QUIC; use --engine packets";
        return Err(Error(format!("traffic.{name}.transport = \"quic\": {why}")));
    }
    if group.access_queue.is_some() {
        return Err(Error(refused("access.queue", "private links have no queue in it")));
    }
    if group.hosts.is_some() {
        return Err(Error(refused("access.hosts", "interfaces have no queue in it to share")));
    }
    if bulk.rate.is_some() {
        let why = "its flows send as fast as TCP lets them";
        return Err(Error(refused(&format!("traffic.{name}.rate"), why)));
    }
    if bulk.size.is_some() {
        return Err(Error(refused(&format!("traffic.{name}.size"), "its flows are endless")));
    }
    Ok(())
}

/// The links that data wait at, and the size of the packets there.
fn used_links(network: &Network) -> Result<Vec<(usize, u32)>, Error> {
    let mut used: Vec<(usize, u32, &str)> = Vec::new();
    for group in &network.groups {
        let ip = group.full_packet();
        for &link in group.forward.iter().filter(|&&link| network.links[link].rate.is_some()) {
            match used.iter().find(|(other, ..)| *other == link) {
                None => used.push((link, ip, &group.name)),
                Some((_, bytes, other)) if *bytes != ip => {
                    return Err(Error(format!(
                        "traffic.{}.tcp.mss: packets of {ip} bytes, but those of {other} have \
                         {bytes}, on the same link {}: the fluid engine knows one size per link; \
                         use the same, or --engine packets",
                        group.name, network.links[link].name
                    )));
                }
                Some(_) => {}
            }
        }
    }
    if used.is_empty() {
        return Err(Error(
            "traffic: no flow crosses a link that has a rate: there is nothing to model".into(),
        ));
    }
    let rated =
        |group: &NetworkGroup| group.forward.iter().any(|&l| network.links[l].rate.is_some());
    if let Some(group) = network.groups.iter().find(|group| !rated(group)) {
        return Err(Error(unlimited(network, group)));
    }
    sojourn_base::sort_by_key(&mut used, |(link, ..)| *link);
    Ok(used.into_iter().map(|(link, ip, _)| (link, ip)).collect())
}

/// Nothing but its windows limits such a group, and its acknowledgements would fill the way back.
fn unlimited(network: &Network, group: &NetworkGroup) -> String {
    let links: Vec<&str> =
        group.forward.iter().map(|&link| network.links[link].name.as_str()).collect();
    let name = group.name.strip_suffix(".reverse").unwrap_or(&group.name);
    let field = if group.host_sends { ".direction" } else { "" };
    format!(
        "traffic.{name}{field}: its data cross only {}, which is ideal: the fluid engine has no \
         queue there that would limit them; let them go the other way, give it a rate, or use \
         --engine packets",
        links.join(" and ")
    )
}

/// Seconds that a data packet and its acknowledgement are in transmission or in hosts, round trip.
fn transmission(network: &Network, group: &NetworkGroup, ip: u32, ack: u32) -> f64 {
    let wire = |path: &[usize], bytes: u32| -> f64 {
        let links = path.iter().map(|&link| &network.links[link]);
        let each = links.filter_map(|link| {
            link.rate.map(|rate| 8.0 * f64::from(link.frame(bytes)) / rate.0 as f64)
        });
        each.sum()
    };
    // Private links at both ends; hosts take half of the longest time in the mean.
    let private = group.access_rate.map_or(0.0, |rate| 16.0 * f64::from(ip + ack) / rate.0 as f64);
    let hosts = group.processing.as_secs_f64();
    wire(&group.forward, ip) + wire(&group.backward, ack) + private + hosts
}

/// How the windows of a group move; `marked`: all queues on its path mark its packets.
fn law_of(group: &NetworkGroup, marked: bool) -> Result<WindowLaw, Error> {
    WindowLaw::of_sender(&group.tcp, marked).ok_or_else(|| {
        Error(format!(
            "traffic.{}.tcp.congestion = \"{}\": the fluid engine has no law for it, or not for \
             these settings; use {KINDS}, or --engine packets",
            group.name,
            group.tcp.congestion.name()
        ))
    })
}

/// A class without flows, round trip and path.
fn class_of(group: &NetworkGroup) -> Result<Class, Error> {
    let tcp = &group.tcp;
    let payload = f64::from(tcp.payload);
    let most = f64::from(tcp.rcv_window.min(tcp.max_cwnd)) / payload;
    let initial = (f64::from(tcp.initial_cwnd) / payload).max(1.0);
    Ok(Class {
        flows: Vec::new(),
        rtt: 0.0,
        path: Vec::new(),
        back: Vec::new(),
        law: law_of(group, false)?,
        timeouts: true,
        spread: 1.0,
        initial_window: initial.min(most),
        max_window: most,
    })
}

/// What all flows over `link` say of ECN.
fn ecn(network: &Network, link: usize) -> Result<Ecn, Error> {
    let mut over = network.groups.iter().filter(|group| group.forward.contains(&link));
    let first = over.next().is_some_and(|group| group.tcp.ecn);
    match over.find(|group| group.tcp.ecn != first) {
        Some(group) => Err(Error(format!(
            "traffic.{}.tcp.ecn = {}: others on link {} differ; the fluid engine needs all or none \
             of them, or use --engine packets",
            group.name, group.tcp.ecn, network.links[link].name
        ))),
        // No law here is of L4S: none says ECT(1).
        None => Ok(if first { Ecn::Ect0 } else { Ecn::NotEct }),
    }
}
