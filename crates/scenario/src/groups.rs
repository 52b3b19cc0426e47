//! From groups as written to groups as engines take them: paths, times, files, loads.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use sojourn_base::{Dscp, Kind, Rate, Stream, Time};
use sojourn_quic::Params as QuicParams;
use sojourn_tcp::Params as TcpParams;
use sojourn_traffic::{Distribution, Http, Sampler, Source, Trace, Web};

use crate::Scenario;
use crate::error::{Fault, steps};
use crate::files::{self, read_text};
use crate::har;
use crate::routes::Graph;
use crate::traffic::{Direction, Group, Transport, group_names};

/// Start and bytes of each transfer of a replay.
type Transfers = Vec<(Time, u64)>;

/// Most machines that groups may name: their numbers have fifteen bits.
const MOST_HOSTS: usize = 32_767;

/// A group of like members with everything resolved.
#[derive(Clone, Debug)]
pub struct NetworkGroup {
    /// Its name; a group in both directions is NAME and NAME.reverse.
    pub name: String,
    /// The label of its packets; empty: none.
    pub label: String,
    /// The codepoint of its packets.
    pub dscp: Dscp,
    /// The number of the machine at one end that its members share, from 1; 0 if each has its own.
    pub host: u16,
    /// Whether that machine is where data come from.
    pub host_sends: bool,
    /// Names the group's random streams (the `group` of `Stream::new`). It follows from the name
    /// alone, so that adding a group shifts no other's draws.
    pub key: u32,
    /// What it does; the files that it names are read in.
    pub source: Source,
    /// The links that data take: indices.
    pub forward: Vec<usize>,
    /// The links that acknowledgements and requests take.
    pub backward: Vec<usize>,
    /// Propagation over both paths together, access excluded.
    pub propagation: Time,
    /// Each member's minimum round-trip time, never below `propagation`; none: just that.
    pub rtt: Option<Sampler>,
    /// The same to each of a web user's servers but the first; none: as to the first.
    pub server_rtt: Option<Sampler>,
    /// When each member starts.
    pub start: Sampler,
    /// When all members stop: nothing new is sent or started from then on.
    pub stop: Option<Time>,
    /// TCP settings.
    pub tcp: TcpParams,
    /// QUIC settings, if that is what its connections run over.
    pub quic: Option<QuicParams>,
    /// Rate of each member's private link at each of its ends; none: unlimited.
    pub access_rate: Option<Rate>,
    /// Packets of full size that may wait at a sending host's interface; none: unlimited.
    pub access_queue: Option<u32>,
    /// Machines at either end over which the members are dealt; none: one for each.
    pub hosts: Option<u32>,
    /// The longest time that a sending host takes over a segment.
    pub processing: Time,
    /// How many flows or users there are; 0 if they come and go: random and replayed transfers.
    pub members: u32,
    /// What a `load` of this group is a fraction of: the rate of the slowest link that its data
    /// cross; none if there is no such link.
    pub load_rate: Option<Rate>,
    /// For a replay: start and bytes of every transfer of this group, by start.
    pub replay: Arc<[(Time, u64)]>,
}

impl NetworkGroup {
    /// When member `index` starts under a seed: at the same time in every engine.
    #[must_use]
    pub fn start_of(&self, seed: u64, index: u64) -> Time {
        let mut stream = Stream::new(seed, Kind::Start, self.key, index);
        Time(self.start.sample_member(index, u64::from(self.members), &mut stream))
    }

    /// What the minimum round trip of flow `index` leaves beside propagation, ns; both ends share
    /// it, the end where data come from having the smaller half.
    #[must_use]
    pub fn private_delay(&self, seed: u64, index: u64) -> u64 {
        let stream = &mut Stream::new(seed, Kind::Delay, self.key, index);
        private_delay(self.rtt.as_ref(), self.propagation.0, self.members, index, stream)
    }
}

/// See [`NetworkGroup::private_delay`]: the flow is one of so many `members` (0: they come and go),
/// and `stream` draws its delay.
#[must_use]
pub fn private_delay(
    rtt: Option<&Sampler>,
    propagation: u64,
    members: u32,
    index: u64,
    stream: &mut Stream,
) -> u64 {
    let draw = |rtt: &Sampler| rtt.sample_member(index, u64::from(members.max(1)), stream);
    rtt.map(draw).map_or(0, |rtt| rtt.saturating_sub(propagation))
}

/// All groups of a scenario. Without `base_dir` no file is read and loads may stand.
pub(crate) fn groups(
    scenario: &Scenario,
    graph: &Graph,
    base_dir: Option<&Path>,
) -> Result<Vec<NetworkGroup>, Fault> {
    tcp(scenario, None).map_err(|fault| fault.under(steps!["tcp"]))?;
    quic(scenario, None).map_err(|fault| fault.under(steps!["quic"]))?;
    let names = group_names(&scenario.traffic);
    let mut groups: Vec<NetworkGroup> = Vec::new();
    let mut taken = BTreeSet::new();
    let mut hosts: Vec<&str> = Vec::new();
    let mut load_is_used = false;
    for (index, (group, name)) in scenario.traffic.iter().zip(&names).enumerate() {
        let resolver = Resolver { scenario, graph, group, name, base_dir };
        let under = |fault: Fault| fault.under(steps!["traffic", index]);
        load_is_used |= resolver.takes_load();
        let host = match group.host.as_deref() {
            None => 0,
            Some(host) => number(host, &mut hosts).map_err(under)?,
        };
        for mut made in resolver.groups().map_err(under)? {
            made.host = host;
            if !taken.insert(made.name.clone()) {
                let message = format!("there is another group called \"{}\"", made.name);
                return Err(under(Fault::new(steps!["name"], message)));
            }
            groups.push(made);
        }
        resolver.check_load(index)?;
    }
    match scenario.load {
        Some(load) if !load_is_used => {
            let message = format!("{load}: no web group takes it, as all name users or a load");
            Err(Fault::new(steps!["load"], message))
        }
        _ => Ok(groups),
    }
}

/// The number of a machine, from 1, in the order in which they are named.
fn number<'a>(host: &'a str, hosts: &mut Vec<&'a str>) -> Result<u16, Fault> {
    if host.is_empty() {
        let message = "\"\" is no name; leave it out for a machine for each member";
        return Err(Fault::new(steps!["host"], message));
    }
    let at = hosts.iter().position(|other| *other == host).unwrap_or_else(|| {
        hosts.push(host);
        hosts.len() - 1
    });
    if at >= MOST_HOSTS {
        let message = format!("\"{host}\": there are {MOST_HOSTS} machines at most");
        return Err(Fault::new(steps!["host"], message));
    }
    Ok(at as u16 + 1)
}

/// The TCP of a group, or of a group without settings of its own.
pub(crate) fn tcp(scenario: &Scenario, group: Option<&Group>) -> Result<TcpParams, Fault> {
    let own = group.and_then(|group| group.tcp.as_ref());
    let specs: Vec<&sojourn_tcp::Spec> = std::iter::once(&scenario.tcp).chain(own).collect();
    sojourn_tcp::Spec::resolve(&specs).map_err(Fault::from)
}

/// The QUIC of a group, or of a group without settings of its own.
pub(crate) fn quic(scenario: &Scenario, group: Option<&Group>) -> Result<QuicParams, Fault> {
    let own = group.and_then(|group| group.quic.as_ref());
    let specs: Vec<&sojourn_quic::Spec> = std::iter::once(&scenario.quic).chain(own).collect();
    sojourn_quic::Spec::resolve(&specs).map_err(Fault::from)
}

struct Resolver<'a> {
    scenario: &'a Scenario,
    graph: &'a Graph,
    group: &'a Group,
    /// The group's name, given or by default.
    name: &'a str,
    base_dir: Option<&'a Path>,
}

impl Resolver<'_> {
    fn groups(&self) -> Result<Vec<NetworkGroup>, Fault> {
        let name = self.name;
        if name.is_empty() {
            return Err(Fault::new(steps!["name"], "\"\" is no name; leave it out or write one"));
        }
        if let Source::Replay(replay) = &self.group.source {
            return self.replay(name, &replay.file);
        }
        let (forward, backward) = self.paths()?;
        let one = |name: &str, reversed: bool| {
            let paths = (forward.clone(), backward.clone());
            let paths = if reversed { (paths.1, paths.0) } else { paths };
            self.group(name, paths, reversed, Vec::new())
        };
        match self.group.direction {
            Direction::Forward => Ok(vec![one(name, false)?]),
            Direction::Reverse => Ok(vec![one(name, true)?]),
            Direction::Both => Ok(vec![one(name, false)?, one(&format!("{name}.reverse"), true)?]),
        }
    }

    fn group(
        &self,
        name: &str,
        (forward, backward): (Vec<usize>, Vec<usize>),
        host_sends: bool,
        replay: Transfers,
    ) -> Result<NetworkGroup, Fault> {
        let links = |path: &[usize]| -> Vec<_> {
            path.iter().map(|&link| &self.graph.links[link].link).collect()
        };
        let propagation: Time =
            links(&forward).iter().chain(&links(&backward)).map(|link| link.delay).sum();
        let mut source = self.group.source.clone();
        source.load_files(&mut |path| self.read(path)).map_err(Fault::from)?;
        self.recorded(&mut source)?;
        source.validate().map_err(Fault::from)?;
        let members = source.members();
        let (start, earliest) = self.times("start", &self.group.start, members)?;
        if let Some(stop) = self.group.stop.filter(|stop| *stop <= earliest) {
            let message = format!("\"{stop}\" must be after the start (\"{earliest}\")");
            return Err(Fault::new(steps!["stop"], message));
        }
        let round_trip = |field: &'static str, written: &Distribution<Time>| {
            let (sampler, least) = self.times(field, written, members)?;
            if least < propagation {
                let message = format!(
                    "it can be \"{least}\", but the path alone takes \"{propagation}\" both ways"
                );
                return Err(Fault::new(steps![field], message));
            }
            Ok(sampler)
        };
        let rtt = self.group.rtt.as_ref().map(|rtt| round_trip("rtt", rtt)).transpose()?;
        let server_rtt = match &source {
            Source::Web(Web { server_rtt: Some(Distribution::Even { .. }), .. }) => {
                let message =
                    "even is for the members of a group; write a range like \"20ms..80ms\"";
                return Err(Fault::new(steps!["server_rtt"], message));
            }
            Source::Web(Web { server_rtt: Some(rtt), .. }) => Some(round_trip("server_rtt", rtt)?),
            _ => None,
        };
        Ok(NetworkGroup {
            name: name.into(),
            label: self.group.label.clone().unwrap_or_else(|| self.name.into()),
            dscp: self.group.dscp,
            host: 0,
            host_sends,
            key: key(name),
            members: members.unwrap_or(0),
            source,
            propagation,
            rtt,
            server_rtt,
            start,
            stop: self.group.stop,
            tcp: tcp(self.scenario, Some(self.group)).map_err(|f| f.under(steps!["tcp"]))?,
            quic: self.quic()?,
            access_rate: self.scenario.access.rate,
            access_queue: self.scenario.access.queue,
            hosts: self.scenario.access.hosts,
            processing: self.scenario.access.processing,
            load_rate: links(&forward).iter().filter_map(|link| link.rate).min(),
            forward,
            backward,
            replay: replay.into(),
        })
    }

    /// Reads the page that web users load, if it was recorded.
    fn recorded(&self, source: &mut Source) -> Result<(), Fault> {
        let (Source::Web(Web { har: Some(har), .. }), Some(base_dir)) = (source, self.base_dir)
        else {
            return Ok(());
        };
        let text = files::read(&base_dir.join(&har.file), har::MAX_FILE);
        let wrong = |why: String| Fault::new(steps!["har"], format!("\"{}\": {why}", har.file));
        har.objects = text.and_then(|text| har::objects(&text)).map_err(wrong)?;
        Ok(())
    }

    /// The settings of QUIC, if the group runs over it.
    fn quic(&self) -> Result<Option<QuicParams>, Fault> {
        let group = self.group;
        if let (Source::Web(Web { http: Http::V2, .. }), Transport::Quic) =
            (&group.source, group.transport)
        {
            let message = "\"2\": HTTP/2 runs over TCP; take \"3\", or leave transport out";
            return Err(Fault::new(steps!["http"], message));
        }
        if group.runs_over() == Transport::Tcp {
            return match group.quic {
                Some(_) => {
                    let message = "the group runs over TCP; write transport = \"quic\"";
                    Err(Fault::new(steps!["quic"], message))
                }
                None => Ok(None),
            };
        }
        if group.tcp.is_some() {
            let message = "the group runs over QUIC; its settings are in quic";
            return Err(Fault::new(steps!["tcp"], message));
        }
        let connects = matches!(
            group.source,
            Source::Bulk(_)
                | Source::Transfers(_)
                | Source::Replay(_)
                | Source::Web(_)
                | Source::Video(_)
        );
        let refused = |why: String| {
            Err(Fault::new(steps!["transport"], format!("\"quic\": {why}; leave it out")))
        };
        if !connects {
            return refused(format!("{} traffic has no connections", group.source.kind()));
        }
        if self.scenario.access.queue.is_some() {
            return refused("a host's own queue, access.queue, is for TCP".into());
        }
        quic(self.scenario, Some(group)).map(Some).map_err(|f| f.under(steps!["quic"]))
    }

    /// A sampler of times, and the least time that can come out.
    fn times(
        &self,
        field: &str,
        times: &Distribution<Time>,
        members: Option<u32>,
    ) -> Result<(Sampler, Time), Fault> {
        if matches!(times, Distribution::Even { .. }) && members.is_none() && !self.may_get_users()
        {
            let message =
                "even needs a fixed number of members; write a range like \"50ms..150ms\"";
            return Err(Fault::new(steps![field], message));
        }
        let mut times = times.clone();
        times.load_files(field, &mut |path| self.read(path)).map_err(Fault::from)?;
        Ok((times.sampler(field).map_err(Fault::from)?, least(&times)))
    }

    /// One group for each pair of nodes that the file names.
    fn replay(&self, name: &str, file: &str) -> Result<Vec<NetworkGroup>, Fault> {
        let wrong = |why: String| Fault::new(steps!["file"], format!("\"{file}\": {why}"));
        for (field, given) in [
            ("from", self.group.from.is_some()),
            ("to", self.group.to.is_some()),
            ("path", self.group.path.is_some()),
            ("direction", self.group.direction != Direction::Forward),
        ] {
            if given {
                return Err(Fault::new(steps![field], "leave it out: the file says where"));
            }
        }
        if self.base_dir.is_none() {
            return Ok(vec![self.group(name, (Vec::new(), Vec::new()), false, Vec::new())?]);
        }
        let text = self.read(file).map_err(wrong)?;
        let trace = Trace::parse(&text).map_err(|error| wrong(error.to_string()))?;
        let mut pairs: Vec<((u32, u32), Transfers)> = Vec::new();
        for entry in &trace.entries {
            let pair = (entry.source, entry.destination);
            let at = pairs.iter().position(|(other, _)| *other == pair).unwrap_or_else(|| {
                pairs.push((pair, Vec::new()));
                pairs.len() - 1
            });
            pairs[at].1.push((entry.start, entry.bytes));
        }
        let Some(&(first, _)) = pairs.first() else {
            return Err(wrong("there is no transfer in it".into()));
        };
        let node = |node: u32| {
            let name = &trace.nodes[node as usize];
            self.graph.find(name).map_err(|fault| wrong(fault.message()))
        };
        let mut groups = Vec::new();
        for (pair, transfers) in pairs {
            let (from, to) = (node(pair.0)?, node(pair.1)?);
            let path = |from, to| self.graph.shortest(from, to).map_err(|f| wrong(f.message()));
            let name = match pair {
                pair if pair == first => name.into(),
                pair if pair == (first.1, first.0) => format!("{name}.reverse"),
                _ => format!("{name}.{}-{}", self.graph.nodes[from], self.graph.nodes[to]),
            };
            groups.push(self.group(&name, (path(from, to)?, path(to, from)?), false, transfers)?);
        }
        Ok(groups)
    }

    /// The links from `from` to `to` and back.
    fn paths(&self) -> Result<(Vec<usize>, Vec<usize>), Fault> {
        let path = self.group.path.as_deref();
        let on_path = |name: Option<&String>| name.and_then(|name| self.graph.find(name).ok());
        // The nodes of a dumbbell and of a parking lot are numbered from one end to the other.
        let built = self.scenario.links.is_empty();
        let first = on_path(path.and_then(<[_]>::first)).or(built.then_some(0));
        let last = on_path(path.and_then(<[_]>::last));
        let last = last.or(built.then(|| self.graph.nodes.len() - 1));
        let from = self.end("from", self.group.from.as_deref(), first)?;
        let to = self.end("to", self.group.to.as_deref(), last)?;
        if from == to {
            let message = format!("\"{}\" is also where the data come from", self.graph.nodes[to]);
            return Err(Fault::new(steps!["to"], message));
        }
        let Some(path) = path else {
            let shortest = |from, to| self.graph.shortest(from, to).map_err(|f| f.within("to"));
            return Ok((shortest(from, to)?, shortest(to, from)?));
        };
        let mut nodes = Vec::new();
        for (index, name) in path.iter().enumerate() {
            let node = self.graph.find(name);
            let node = node.map_err(|fault| fault.within(index).within("path"))?;
            if nodes.contains(&node) {
                let message = format!("\"{name}\" is on the path already");
                return Err(Fault::new(steps!["path", index], message));
            }
            nodes.push(node);
        }
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            let (from, to) = (&self.graph.nodes[from], &self.graph.nodes[to]);
            let message = format!("the path must begin with \"{from}\" and end with \"{to}\"");
            return Err(Fault::new(steps!["path"], message));
        }
        let along = |nodes: &[usize]| self.graph.along(nodes).map_err(|f| f.within("path"));
        let forward = along(&nodes)?;
        nodes.reverse();
        Ok((forward, along(&nodes)?))
    }

    fn end(
        &self,
        field: &str,
        given: Option<&str>,
        default: Option<usize>,
    ) -> Result<usize, Fault> {
        match (given, default) {
            (Some(name), _) => self.graph.find(name).map_err(|fault| fault.within(field)),
            (None, Some(node)) => Ok(node),
            (None, None) => {
                let nodes = self.graph.nodes.join(", ");
                let message = format!("this field is missing; name one of the nodes: {nodes}");
                Err(Fault::new(steps![field], message))
            }
        }
    }

    fn read(&self, path: &str) -> Result<String, String> {
        read_text(self.base_dir, path)
    }

    /// Whether this is a web group whose users are still to be found.
    fn may_get_users(&self) -> bool {
        matches!(&self.group.source, Source::Web(web) if web.users.is_none())
    }

    /// Whether the scenario's `load` is this group's.
    fn takes_load(&self) -> bool {
        matches!(&self.group.source, Source::Web(web) if web.users.is_none() && web.load.is_none())
    }

    fn check_load(&self, index: usize) -> Result<(), Fault> {
        let here = |field: &str| steps!["traffic", index, field];
        let Source::Web(web) = &self.group.source else { return Ok(()) };
        let (place, load) = match (web.users, web.load, self.scenario.load) {
            (Some(_), None, _) => return Ok(()),
            (Some(users), Some(load), _) => {
                let message = format!("{load}: the group has users ({users}) already; keep one");
                return Err(Fault::new(here("load"), message));
            }
            (None, Some(load), _) => (here("load"), load),
            (None, None, Some(load)) => (steps!["load"], load),
            (None, None, None) => {
                let message = "this field is missing; give users, or a load for the group or all";
                return Err(Fault::new(here("users"), message));
            }
        };
        if !(load > 0.0 && load <= MOST_LOAD) {
            return Err(Fault::new(
                place,
                format!("{load} must be above 0 and at most {MOST_LOAD}"),
            ));
        }
        if self.graph.links.iter().all(|link| link.link.rate.is_none()) {
            let message = format!("{load}: there is no link with a rate that it could be part of");
            return Err(Fault::new(place, message));
        }
        if self.base_dir.is_some() {
            let message = format!(
                "{load}: the load must be turned into users first, by calibration (as sojourn run \
                 and compare do); or give the group users"
            );
            return Err(Fault::new(place, message));
        }
        Ok(())
    }
}

/// Far above any load worth simulating.
const MOST_LOAD: f64 = 10.0;

/// The least value a distribution can give.
fn least(times: &Distribution<Time>) -> Time {
    match times {
        Distribution::Constant(time) => *time,
        Distribution::Uniform { min, .. }
        | Distribution::Pareto { min, .. }
        | Distribution::BoundedPareto { min, .. } => *min,
        Distribution::Even { min, max } => *min.min(max),
        Distribution::Lognormal { min, .. } => min.unwrap_or_default(),
        Distribution::Quantiles { points, .. } => points.first().map_or(Time::ZERO, |p| p.1),
        Distribution::Mixture { parts } => {
            parts.iter().map(|part| least(&part.value)).min().unwrap_or_default()
        }
        Distribution::Exponential { .. }
        | Distribution::Lomax { .. }
        | Distribution::Weibull { .. }
        | Distribution::InverseWeibull { .. }
        | Distribution::Packmime { .. } => Time::ZERO,
    }
}

/// FNV-1a of a group's name.
fn key(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
