//! From a scenario's normal form to a simulation that is ready to start.

use crate::Error;
use crate::apps::{
    App, Apps, Datagrams, Feed, Flows, Paced, Probe, Received, Sources, Transfers, Users, Written,
};
use crate::connection::{Connections, DIRECT};
use crate::group::{Group, Stats, Totals, Way};
use crate::interface::{Access, Interface, Machines};
use crate::net::{Net, Step, kind, tag};
use crate::packet::{DATAGRAM, DATAGRAM_HEADER, Standing};
use crate::probes::{FlowMeter, Probes};
use crate::sim::Sim;
use crate::tap::Tap;
use crate::wheel::Wheel;
use sojourn_base::{Ecn, Stream, Time};
use sojourn_link::{Link, Serialiser};
use sojourn_qdisc::label_hash;
use sojourn_records::{
    ExchangeRow, FlowRow, Names, PacketCountRow, QueueRow, Recorder, TraceRow, TransferRow,
};
use sojourn_scenario::{Network, NetworkGroup};
use sojourn_tcp::HEADERS;
use sojourn_traffic::{Codepoint, Fetches, OnOffSource, Source, UdpSource, Writer};

/// What a probe event does; its `aux`.
pub mod probe {
    /// The measured window begins.
    pub const WINDOW: u32 = 0;
    /// All queues are sampled.
    pub const QUEUES: u32 = 1;
    /// A group stops: this and the group's number.
    pub const STOP: u32 = 2;
}

/// Connections that are made room for beforehand, at most.
const ROOM: u32 = 1 << 20;

/// Builds the simulation of `network`.
pub fn build(network: &Network, recorder: Recorder) -> Result<Sim, Error> {
    let mut steps = Steps::new(network);
    let mut groups = Vec::new();
    let (mut first_member, mut interfaces) = (0u32, Vec::new());
    if network.groups.len() > usize::from(u16::MAX) {
        return Err(Error::scenario("traffic: more than 65535 groups"));
    }
    for (number, group) in network.groups.iter().enumerate() {
        let made = group_of(network, group, first_member, &mut steps, &mut interfaces);
        first_member = first_member
            .checked_add(made.members.max(1))
            .filter(|&n| n < DATAGRAM)
            .ok_or_else(|| Error::scenario(format!("traffic[{number}]: too many members")))?;
        groups.push(made);
    }
    let net = Net {
        wheel: Wheel::new(bucket_width(network)),
        links: links(network)?,
        steps: steps.all,
        sacks: Default::default(),
        dropped: Default::default(),
        interfaces,
    };
    let bottleneck = steps.place[network.bottleneck].unwrap_or(u32::MAX);
    let probes = Probes::new(recorder, net.links.len(), bottleneck);
    let mut sim = Sim {
        net,
        conns: Connections::default(),
        groups,
        apps: Apps::default(),
        probes,
        fused: !network.unfused,
        boundary: 0,
        boundaries: Vec::new(),
        horizon: network.duration.0,
        measuring: false,
        events: 0,
    };
    let flows: u32 = network
        .groups
        .iter()
        .filter(|g| matches!(g.source, Source::Bulk(_)))
        .map(|g| g.members)
        .sum();
    sim.conns.reserve(flows.min(ROOM) as usize);
    for (at, group) in network.groups.iter().enumerate() {
        let app = app_of(network, group, &mut sim, at)?;
        sim.apps.apps.push(app);
    }
    start(network, &mut sim);
    probe(network, &mut sim, &steps.place);
    Ok(sim)
}

/// The mean gap between events, for the width of the wheel's buckets: every finite link busy with
/// packets of 1000 bytes, and three events for each.
fn bucket_width(network: &Network) -> u64 {
    let bits: u128 = network.links.iter().filter_map(|l| l.rate).map(|r| u128::from(r.0)).sum();
    (8000 * 1_000_000_000 / 3 / bits.max(1)).clamp(64, 1 << 20) as u64
}

fn links(network: &Network) -> Result<Vec<Link<Standing>>, Error> {
    let mut made = Vec::new();
    for (at, link) in network.links.iter().enumerate() {
        let new = Link::build(network, at, !network.unfused)
            .map_err(|e| Error::scenario(format!("link {}: {e}", link.name)))?;
        made.extend(new);
    }
    Ok(made)
}

/// Paths, with ideal links turned into delay.
struct Steps {
    all: Vec<Step>,
    /// The place of each finite link among those that are simulated.
    place: Vec<Option<u32>>,
    delay: Vec<u64>,
}

impl Steps {
    fn new(network: &Network) -> Self {
        let mut count = 0;
        let place = network.links.iter().map(|link| {
            link.rate.map(|_| {
                count += 1;
                count - 1
            })
        });
        Self {
            all: Vec::new(),
            place: place.collect(),
            delay: network.links.iter().map(|l| l.delay.0).collect(),
        }
    }

    /// The way of a group along `links`.
    fn way(&mut self, group: &NetworkGroup, links: &[usize]) -> Way {
        let (label, dscp) = (label_hash(&group.label), group.dscp);
        let mut way = Way { step: DIRECT, lead: 0, propagation: 0 };
        let mut last: Option<usize> = None;
        for &link in links {
            way.propagation += self.delay[link];
            match (self.place[link], last) {
                (Some(place), _) => {
                    let step = self.all.len();
                    let delay = self.delay[link];
                    self.all.push(Step { link: place, next: DIRECT, delay, label, dscp });
                    match last.replace(step) {
                        Some(before) => self.all[before].next = step as u32,
                        None => way.step = step as u32,
                    }
                }
                (None, Some(before)) => self.all[before].delay += self.delay[link],
                (None, None) => way.lead += self.delay[link],
            }
        }
        way
    }
}

/// How long the packets take that may wait at a sending host's interface, ns.
fn backlog(group: &NetworkGroup) -> u64 {
    let (Some(rate), Some(packets)) = (group.access_rate, group.access_queue) else {
        return u64::MAX;
    };
    let bytes = u64::from(HEADERS + u32::from(group.tcp.options) + group.tcp.payload);
    let time = u128::from(packets) * u128::from(bytes) * 8_000_000_000 / u128::from(rate.0);
    u64::try_from(time).unwrap_or(u64::MAX)
}

fn group_of(
    network: &Network,
    group: &NetworkGroup,
    first: u32,
    steps: &mut Steps,
    interfaces: &mut Vec<Interface>,
) -> Group {
    let machines = group.hosts.map(|count| {
        let first = interfaces.len() as u32;
        interfaces.resize(interfaces.len() + Machines::interfaces(count), Interface::default());
        Machines { first, count }
    });
    let link = group.access_rate.map(|rate| Serialiser::new(rate.0, 0, 0));
    Group {
        name: group.name.clone(),
        kind: group.source.kind(),
        key: group.key,
        members: group.members,
        first_member: first,
        access: match link {
            None => Access::Unlimited,
            Some(link) if machines.is_some() => Access::Shared(link),
            Some(link) => Access::Private(link),
        },
        machines,
        backlog: backlog(group),
        processing: group.processing.0,
        ways: [steps.way(group, &group.forward), steps.way(group, &group.backward)],
        rtt: group.rtt.clone(),
        first_bytes: network.probes.exchanges,
        stamp: !group.tcp.timestamps,
        tcp: group.tcp.clone(),
        stats: Stats::default(),
        stopped: false,
        seed: network.seed,
    }
}

fn app_of(network: &Network, group: &NetworkGroup, sim: &mut Sim, at: usize) -> Result<App, Error> {
    let g = &sim.groups[at];
    let invalid = |e: sojourn_traffic::Invalid| Error::scenario(format!("{}: {e}", group.name));
    let (seed, key, members) = (network.seed, group.key, group.members);
    let sides = || (0..u64::from(members)).map(|i| g.sides(i, 0)).collect::<Vec<_>>();
    let each = |f: &dyn Fn(u64) -> Stream| (0..u64::from(members)).map(f).collect::<Vec<_>>();
    let metered = matches!(group.source, Source::Bulk(_) | Source::Udp(_) | Source::OnOff(_));
    let first_meter = (network.probes.flows && metered).then(|| {
        let first = sim.probes.meters.len() as u32;
        sim.probes.meters.resize_with((first + members) as usize, FlowMeter::default);
        first
    });
    let datagrams = |sources: Sources, ecn: Codepoint| {
        App::Datagrams(Datagrams {
            sources,
            ecn: Ecn::from_bits(ecn as u8),
            sides: sides(),
            due: vec![0; members as usize],
            members: vec![Received::default(); members as usize],
            at_start: vec![Received::default(); members as usize],
            first_meter,
            delivered: 0,
        })
    };
    Ok(match &group.source {
        Source::Bulk(bulk) => {
            let mut traced = Vec::new();
            for (trace, &(_, member)) in
                network.probes.traces.iter().enumerate().filter(|(_, (group, _))| *group == at)
            {
                let meters = &mut sim.probes.meters;
                let meter = first_meter.map_or(meters.len() as u32, |first| first + member);
                if first_meter.is_none() {
                    meters.push(FlowMeter::default());
                }
                meters[meter as usize].trace = Some(trace as u32);
                traced.push((member, meter));
            }
            App::Flows(Flows {
                fetches: bulk.compile().map_err(invalid)?,
                streams: each(&|i| Fetches::stream(seed, key, i)),
                retired: vec![Totals::default(); members as usize],
                at_start: vec![Totals::default(); members as usize],
                first_meter,
                traced,
                paced: bulk.writes(group.tcp.payload).map(|writes| Paced {
                    members: (0..u64::from(members))
                        .map(|i| Written::new(&writes, Writer::stream(seed, key, i)))
                        .collect(),
                    writes,
                }),
            })
        }
        Source::Transfers(transfers) => {
            let rate = group.load_rate.unwrap_or_default();
            let arrivals = transfers.compile(rate, seed, key).map_err(invalid)?;
            App::Transfers(Transfers { feed: Feed::Drawn(arrivals, 0), begun: 0 })
        }
        Source::Replay(_) => App::Transfers(Transfers {
            feed: Feed::Listed(group.replay.clone(), 0, None),
            begun: 0,
        }),
        Source::Web(web) => App::Users(Users::new(web.compile().map_err(invalid)?, g)),
        Source::Udp(udp) => {
            let model = udp.compile().map_err(invalid)?;
            let sources = (0..u64::from(members)).map(|i| UdpSource::new(seed, key, i));
            datagrams(Sources::Udp(model, sources.collect()), udp.ecn)
        }
        Source::OnOff(source) => {
            let model = source.compile().map_err(invalid)?;
            let sources = (0..u64::from(members)).map(|i| OnOffSource::new(seed, key, i));
            datagrams(Sources::OnOff(Box::new(model), sources.collect()), source.ecn)
        }
        Source::Ping(ping) => App::Probe(Probe {
            interval: ping.interval.0,
            ip_bytes: (ping.size.0 as u32).max(DATAGRAM_HEADER),
            ecn: Ecn::from_bits(ping.ecn as u8),
            sides: sides(),
            sent: 0,
            answered: 0,
        }),
    })
}

/// Schedules the members' starts.
fn start(network: &Network, sim: &mut Sim) {
    for (at, group) in network.groups.iter().enumerate() {
        let members = u64::from(group.members);
        for index in 0..members.max(1) {
            let start = group.start_of(network.seed, index).0;
            sim.call_member(start, at, index as u32, crate::apps::START);
        }
    }
}

/// Opens the tables and captures that are asked for and schedules the samples.
fn probe(network: &Network, sim: &mut Sim, place: &[Option<u32>]) {
    let wanted = &network.probes;
    let probes = &mut sim.probes;
    let simulated = network.links.iter().filter(|l| l.rate.is_some());
    probes.recorder.begin(Names {
        links: simulated.map(|l| l.name.clone()).collect(),
        groups: network.groups.iter().map(|g| g.name.clone()).collect(),
        flows: wanted
            .traces
            .iter()
            .map(|(group, member)| format!("{}.{member}", network.groups[*group].name))
            .collect(),
    });
    if wanted.queues {
        probes.recorder.open::<QueueRow>();
        probes.interval = Some(wanted.interval.0);
        sim.net.schedule(wanted.interval.0, tag(kind::PROBE, probe::QUEUES), probe::QUEUES);
    }
    if let Some(Time(interval)) = wanted.packet_counts {
        probes.recorder.open::<PacketCountRow>();
        for link in place.iter().flatten() {
            probes.count_arrivals(*link, interval);
        }
    }
    if wanted.exchanges {
        probes.recorder.open::<ExchangeRow>();
        probes.recorder.open::<TransferRow>();
    }
    if wanted.flows {
        probes.recorder.open::<FlowRow>();
    }
    if !wanted.traces.is_empty() {
        probes.recorder.open::<TraceRow>();
    }
    for &link in &wanted.pcap {
        if let (Some(at), Some(tap)) =
            (place[link], Tap::open(&mut probes.recorder, &network.links[link].name))
        {
            probes.tap(at, tap);
        }
    }
    sim.boundaries.push(network.warmup.0);
    sim.net.schedule(network.warmup.0, tag(kind::PROBE, probe::WINDOW), probe::WINDOW);
    for (at, group) in network.groups.iter().enumerate() {
        if let Some(Time(stop)) = group.stop {
            let what = probe::STOP + at as u32;
            sim.boundaries.push(stop);
            sim.net.schedule(stop, tag(kind::PROBE, what), what);
        }
    }
    sim.boundaries.retain(|&at| at < network.duration.0);
    sim.boundary = sim.boundaries.iter().copied().min().unwrap_or(network.duration.0);
}
