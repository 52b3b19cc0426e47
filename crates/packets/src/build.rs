//! From a scenario's normal form to a simulation that is ready to start.

use crate::Error;
use crate::apps::app_of;
use crate::connection::Connections;
use crate::events::Event;
use crate::group::{Group, NO_METER};
use crate::interface::{Access, Interface, Machines};
use crate::net::Net;
use crate::packet::DATAGRAM;
use crate::probes::{FlowMeter, Probes};
use crate::room;
use crate::run::Run;
use crate::sim::Sim;
use crate::starts::Starts;
use crate::timers::Timers;
use crate::wheel::Wheel;
use sojourn_base::{NANOS_PER_BYTE, Time};
use sojourn_link::{Link, Medium, Path, Paths, Serialiser, places};
use sojourn_records::{GroupBook, Names, Recorder};
use sojourn_scenario::{Network, NetworkGroup, NetworkLink};
use sojourn_traffic::{Http, RttPer, Source};

/// Builds the simulation of `network`.
/// Unless `fusing`, links hold their packets, so that they can change. Where flows are `watched`,
/// what becomes of their packets is counted flow by flow.
pub(crate) fn build(
    network: &Network,
    mut recorder: Recorder,
    fusing: bool,
    watched: bool,
) -> Result<Run, Error> {
    if network.groups.len() > usize::from(u16::MAX) {
        return Err(Error::scenario("traffic: more than 65535 groups"));
    }
    let (paths, of_groups) = Paths::compile(network);
    let (mut groups, mut interfaces) = (Vec::new(), Vec::new());
    let mut first_member = 0u32;
    for (number, paths) in of_groups.into_iter().enumerate() {
        let made = group(network, number, first_member, paths, &mut interfaces);
        first_member = first_member
            .checked_add(made.members.max(1))
            .filter(|&n| n < DATAGRAM)
            .ok_or_else(|| Error::scenario(format!("traffic[{number}]: too many members")))?;
        groups.push(made);
    }
    let mut links = Link::all(network, fusing && !network.unfused).map_err(Error::scenario)?;
    if !network.unfused {
        links.iter_mut().for_each(Link::rest);
    }
    let net = Net {
        wheel: Wheel::new(bucket_width(network)),
        links,
        paths,
        sacks: Default::default(),
        told: Vec::new(),
        quic: Default::default(),
        dropped: Default::default(),
        media: Medium::all(network, &places(network)),
        aired: Vec::new(),
        interfaces,
        actions: None,
    };
    recorder.begin(Names::of(network));
    recorder.open_exchanges(&network.probes);
    recorder.open_flows(&network.probes);
    let links = sojourn_link::Probes::open(network, recorder);
    let mut sim = Sim {
        net,
        conns: Connections::default(),
        exchanges: Vec::new(),
        connected: Vec::new(),
        groups,
        probes: Probes::new(links, places(network)[network.bottleneck]),
        timers: Timers::default(),
        starts: Starts::default(),
        opened: 0,
        fused: !network.unfused,
        boundary: Time::ZERO,
        boundaries: Vec::new(),
        horizon: network.duration,
        pause: network.duration,
    };
    room::make(network, &mut sim);
    let mut apps = Vec::new();
    for (at, of) in network.groups.iter().enumerate() {
        meter(network, at, &mut sim, watched);
        let app = app_of(of, &mut sim.groups[at]);
        apps.push(app.map_err(|e| Error::scenario(format!("{}: {e}", of.name)))?);
    }
    start(network, &mut sim);
    measure(network, &mut sim);
    Ok(Run { sim, apps, events: 0 })
}

/// The mean gap between events, for the width of the wheel's buckets: every finite link busy with
/// packets of 1000 bytes, and three events for each.
fn bucket_width(network: &Network) -> u64 {
    let bits: u128 = network.links.iter().filter_map(|l| l.rate).map(|r| u128::from(r.0)).sum();
    (8000 * 1_000_000_000 / 3 / bits.max(1)).clamp(64, 1 << 20) as u64
}

/// How long the packets take that may wait at a sending host's interface; [`Time::MAX`]: any time.
fn backlog(group: &NetworkGroup) -> Time {
    let (Some(rate), Some(packets)) = (group.access_rate, group.access_queue) else {
        return Time::MAX;
    };
    let bytes = u64::from(group.full_packet());
    let time =
        u128::from(packets) * u128::from(bytes) * u128::from(NANOS_PER_BYTE) / u128::from(rate.0);
    u64::try_from(time).map_or(Time::MAX, Time)
}

/// The links whose rates follow the pings of a group.
fn followers(network: &Network, group: usize) -> Vec<u32> {
    let links = network.links.iter().zip(places(network));
    let follows = |link: &NetworkLink| link.autorate.is_some_and(|control| control.pings == group);
    links.filter(|(link, _)| follows(link)).filter_map(|(_, place)| place).collect()
}

fn group(
    network: &Network,
    number: usize,
    first_member: u32,
    paths: [Path; 2],
    interfaces: &mut Vec<Interface>,
) -> Group {
    let group = &network.groups[number];
    let machines = group.hosts.map(|count| {
        let first = interfaces.len() as u32;
        interfaces.resize(interfaces.len() + Machines::interfaces(count), Interface::default());
        Machines { first, count }
    });
    let link = group.access_rate.map(|rate| Serialiser::new(rate.0, 0, 0));
    Group {
        key: group.key,
        members: group.members,
        first_member,
        access: match link {
            None => Access::Unlimited,
            Some(link) if machines.is_some() => Access::Shared(link),
            Some(link) => Access::Private(link),
        },
        machines,
        backlog: backlog(group),
        processing: group.processing,
        paths,
        rtt: group.rtt.clone(),
        server_rtt: group.server_rtt.clone(),
        connections: matches!(&group.source, Source::Web(web) if web.rtt_per == RttPer::Connection)
            .then(|| vec![0; group.members as usize]),
        streams: matches!(&group.source, Source::Web(web) if web.http == Http::V3),
        stamp: !group.tcp.timestamps,
        tcp: group.tcp.clone(),
        quic: group.quic.clone(),
        book: GroupBook::new(number, group),
        datagrams: Vec::new(),
        first_meter: None,
        metered: Vec::new(),
        followers: followers(network, number),
        stopped: false,
        seed: network.seed,
    }
}

/// Gives the flows of a group the meters that they need.
fn meter(network: &Network, at: usize, sim: &mut Sim, watched: bool) {
    let (group, meters) = (&mut sim.groups[at], &mut sim.probes.meters);
    let shown = watched && matches!(network.groups[at].source, Source::Bulk(_));
    if shown || (network.probes.flows && group.book.has_flows()) {
        let first = meters.len() as u32;
        meters.resize_with((first + group.members) as usize, FlowMeter::default);
        group.first_meter = Some(first);
    }
    for (trace, &(of, member)) in network.probes.traces.iter().enumerate() {
        if of == at {
            let meter = own_meter(group, meters, member);
            meters[meter as usize].trace = Some(trace as u32);
        }
    }
    for &(_, member) in network.probes.qlog.iter().filter(|(of, _)| *of == at) {
        let meter = own_meter(group, &mut sim.probes.meters, member);
        let flow = format!("{}.{member}", network.groups[at].name);
        match &network.groups[at].source {
            Source::Call(call) => sim.probes.open_call_log(meter, &flow, call),
            _ => sim.probes.open_log(meter, &flow, group),
        }
        sim.net.actions = sim.probes.logs().then(Vec::new);
    }
}

/// The meter of a member of which something is recorded: that of the group, or one of its own.
fn own_meter(group: &mut Group, meters: &mut Vec<FlowMeter>, member: u32) -> u32 {
    let known = group.meter_of(member);
    if known != NO_METER {
        return known;
    }
    let meter = meters.len() as u32;
    meters.push(FlowMeter::default());
    group.metered.push((member, meter));
    meter
}

/// Schedules the members' starts.
fn start(network: &Network, sim: &mut Sim) {
    let groups = network.groups.iter().zip(&sim.groups);
    let starts = groups.flat_map(|(group, made)| {
        (0..group.members.max(1)).map(|index| {
            (group.start_of(network.seed, u64::from(index)), made.first_member + index)
        })
    });
    sim.starts = Starts::new(starts.collect());
    sim.starts.schedule(&mut sim.net.wheel);
}

/// Schedules the samples, the beginning of the window, and the ends of groups.
fn measure(network: &Network, sim: &mut Sim) {
    let wheel = &mut sim.net.wheel;
    if let Some(interval) = sim.probes.links.interval() {
        wheel.push(interval, Event::Sample);
    }
    wheel.push(network.warmup, Event::Window);
    sim.boundaries.push(network.warmup);
    for (group, of) in network.groups.iter().enumerate() {
        if let Some(stop) = of.stop {
            wheel.push(stop, Event::Stop { group: group as u32 });
            sim.boundaries.push(stop);
        }
    }
    sim.boundaries.retain(|&at| at < network.duration);
    sim.set_boundary();
}
