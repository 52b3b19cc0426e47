//! From groups as written to groups as engines take them: paths, times, files, loads.

mod loads;
mod paths;
mod replay;
mod times;

pub use loads::MOST_LOAD;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use sojourn_base::{Dscp, Kind, Rate, Stream, Time};
use sojourn_quic::Params as QuicParams;
use sojourn_tcp::{HEADERS, Params as TcpParams};
use sojourn_traffic::{Distribution, Http, RttPer, Sampler, Source, Web};

use crate::error::{Fault, steps};
use crate::files::{self, read_text};
use crate::har;
use crate::routes::Graph;
use crate::scenario::Scenario;
use crate::traffic::{Direction, Group, Transport};
use crate::transport::{quic, tcp};

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
    /// Bytes of its full data packets, IP header included.
    #[must_use]
    pub fn full_packet(&self) -> u32 {
        match &self.quic {
            None => HEADERS + u32::from(self.tcp.options) + self.tcp.payload,
            Some(quic) => sojourn_quic::HEADERS + quic.max_udp_payload,
        }
    }

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
    let names = scenario.group_names();
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
        self.check_rtt_per(&source)?;
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

    /// Round trips can be drawn anew for each connection only if they are drawn.
    fn check_rtt_per(&self, source: &Source) -> Result<(), Fault> {
        let Source::Web(Web { rtt_per: RttPer::Connection, server_rtt, .. }) = source else {
            return Ok(());
        };
        let wrong = match &self.group.rtt {
            Some(Distribution::Even { .. }) => {
                "even deals the members of a group their round trips: take another `rtt`"
            }
            None if server_rtt.is_none() => "there is no round trip to draw: give `rtt` too",
            _ => return Ok(()),
        };
        Err(Fault::new(steps!["rtt_per"], format!("\"connection\": {wrong}")))
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
        if let (Source::Web(web), Some(transport)) = (&group.source, group.transport) {
            let message = match (web.http, transport) {
                (Http::V2, Transport::Quic) => Some("\"2\": HTTP/2 runs over TCP; take \"3\""),
                (Http::V3, Transport::Tcp) => Some("\"3\": HTTP/3 runs over QUIC; take \"2\""),
                _ => None,
            };
            if let Some(message) = message {
                let message = format!("{message}, or leave transport out");
                return Err(Fault::new(steps!["http"], message));
            }
        }
        let connects = matches!(
            group.source,
            Source::Bulk(_)
                | Source::Transfers(_)
                | Source::Replay(_)
                | Source::Web(_)
                | Source::Video(_)
        );
        let given = [
            ("transport", group.transport.is_some()),
            ("tcp", group.tcp.is_some()),
            ("quic", group.quic.is_some()),
        ];
        if let Some((name, _)) = given.into_iter().find(|(_, given)| *given && !connects) {
            let message =
                format!("{} traffic has no connections; leave it out", group.source.kind());
            return Err(Fault::new(steps![name], message));
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
        if self.scenario.access.queue.is_some() {
            let message = "\"quic\": a host's own queue, access.queue, is for TCP; leave it out";
            return Err(Fault::new(steps!["transport"], message));
        }
        quic(self.scenario, Some(group)).map(Some).map_err(|f| f.under(steps!["quic"]))
    }

    fn read(&self, path: &str) -> Result<String, String> {
        read_text(self.base_dir, path)
    }
}

/// FNV-1a of a group's name.
fn key(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
