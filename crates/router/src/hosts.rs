//! Real traffic: servers, clients and flows over sockets of the two namespaces.
//!
//! Each side is one thread with an event loop of its own, in its namespace. Data come from the
//! left: flows and transfers open there and send, web servers listen there. Who sends what, when,
//! is drawn by the code and from the streams that the simulator draws from; when something is
//! finished is defined as there (docs/reference/measures.md).

pub mod addresses;
pub mod clock;
mod connection;
mod datagrams;
mod flows;
mod host;
pub mod kernel;
pub mod ledger;
mod pages;
mod payload;
pub mod quic;
pub mod receipts;
pub mod settings;
pub mod sys;
mod web;

pub(crate) use host::ECT1;
pub use host::{Common, knows_congestion};

use crate::net::Namespace;
use clock::{Alarms, Clock};
use host::{Host, LEFT, RIGHT};
use payload::Pattern;
use sojourn_base::Time;
use sojourn_scenario::Network;
use sojourn_traffic::{Browser, Http, OnOffSource, Pages, Player, Source, UdpSource, WebUsers};
use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

/// Both sides, ready to start or under way.
pub struct Hosts {
    common: Common,
    sides: Vec<Side>,
}

struct Side {
    /// Says when the run begins.
    begin: Option<oneshot::Sender<Clock>>,
    /// Dropped, it ends the side.
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Something that a side does as long as it lives.
type Task = Pin<Box<dyn Future<Output = ()>>>;

/// What has been opened before the run begins.
enum Opened {
    Listener(host::Listener),
    Datagrams(Vec<tokio::net::UdpSocket>),
    Nothing,
}

impl Hosts {
    /// Makes both sides in their namespaces and opens what listens; nothing is sent yet.
    ///
    /// # Errors
    /// One line on what could not be opened.
    pub fn ready(
        network: &Arc<Network>,
        endpoints: Arc<addresses::Endpoints>,
        settings: Arc<settings::Settings>,
        ledger: Arc<ledger::Ledger>,
        spaces: &[Namespace; 2],
    ) -> Result<Self, String> {
        sys::allow_files();
        let secured = network
            .groups
            .iter()
            .any(|group| matches!(&group.source, Source::Web(web) if web.http == Http::V2));
        let quics: Result<Vec<_>, String> = network.groups.iter().map(quic::Stack::of).collect();
        let common = Common {
            network: Arc::clone(network),
            endpoints,
            settings,
            quic: Arc::new(quics?),
            tls: secured.then(pages::Tls::new).transpose()?.map(Arc::new),
            ledger,
            receipts: Arc::new(receipts::Receipts::new(network)),
            pattern: Arc::new(Pattern::new()),
        };
        let mut hosts = Self { common, sides: Vec::new() };
        for (side, space) in spaces.iter().cloned().enumerate() {
            let (ready, is_ready) = mpsc::channel();
            let (begin, begins) = oneshot::channel();
            let (end, ends) = oneshot::channel();
            let common = hosts.common.clone();
            let work = move || run_side(side, &space, common, &ready, begins, ends);
            let name = ["hosts-left", "hosts-right"][side];
            let thread = std::thread::Builder::new().name(name.into()).spawn(work);
            let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
            hosts.sides.push(Side { begin: Some(begin), end: Some(end), thread: Some(thread) });
            match is_ready.recv() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err("the thread of a host ended".into()),
            }
        }
        Ok(hosts)
    }

    /// Begins.
    pub fn begin(&mut self, clock: Clock) {
        for side in &mut self.sides {
            if let Some(begin) = side.begin.take() {
                // A thread that has died is found at the end.
                let _ = begin.send(clock);
            }
        }
    }

    /// What both sides share.
    pub fn common(&self) -> &Common {
        &self.common
    }

    /// Whether both threads are alive.
    pub fn alive(&self) -> bool {
        self.sides.iter().all(|side| side.thread.as_ref().is_some_and(|t| !t.is_finished()))
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for side in &mut self.sides {
            side.begin.take();
            side.end.take();
            if let Some(thread) = side.thread.take() {
                // What went wrong there has been told.
                let _ = thread.join();
            }
        }
    }
}

fn run_side(
    side: usize,
    space: &Namespace,
    common: Common,
    ready: &mpsc::Sender<Result<(), String>>,
    begins: oneshot::Receiver<Clock>,
    ends: oneshot::Receiver<()>,
) {
    let entered = space.enter().map_err(|error| error.to_string());
    sys::wake_punctually();
    if common.quic.iter().any(Option::is_some) {
        // The thread does what the kernel does for TCP, which waits for no one.
        crate::forward::prefer_this_thread(false);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("an event loop: {error}"));
    let (runtime, ()) = match runtime.and_then(|runtime| Ok((runtime, entered?))) {
        Ok(made) => made,
        Err(error) => {
            let _ = ready.send(Err(error));
            return;
        }
    };
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        // Their clock begins with the run: what is opened before does not ask it.
        let early = match Alarms::new(Clock { start: Time::ZERO }) {
            Ok(alarms) => Host::new(common.clone(), alarms, side),
            Err(error) => {
                let _ = ready.send(Err(format!("a timer: {error}")));
                return;
            }
        };
        let opened = visit(&early).await.and_then(|()| open(&early));
        let failed = opened.is_err();
        let (told, opened) = match opened {
            Ok(opened) => (Ok(()), opened),
            Err(error) => (Err(error), Vec::new()),
        };
        if ready.send(told).is_err() || failed {
            return;
        }
        let Ok(clock) = begins.await else { return };
        let Ok(alarms) = Alarms::new(clock) else {
            common.ledger.fault("a timer could not be had");
            return;
        };
        let host = Rc::new(Host::new(common, alarms.clone(), side));
        tokio::task::spawn_local(async move { alarms.ring().await });
        for (group, opened) in opened.into_iter().enumerate() {
            for task in tasks(&host, group, opened) {
                tokio::task::spawn_local(task);
            }
        }
        // Ends when the other half is dropped.
        let _ = ends.await;
    });
}

/// Has clients who have been there before be there, once.
async fn visit(host: &Host) -> Result<(), String> {
    if host.side != LEFT {
        return Ok(());
    }
    for (stack, group) in host.common.quic.iter().zip(&host.common.network.groups) {
        let Some(stack) = stack else { continue };
        let visited = stack.visit().await;
        visited.map_err(|error| format!("{}: quic.zero_rtt: {error}", group.name))?;
    }
    Ok(())
}

/// Opens what listens on a side, for each group.
fn open(host: &Host) -> Result<Vec<Opened>, String> {
    let groups = host.common.network.groups.iter().enumerate();
    let open = |(group, of): (usize, &sojourn_scenario::NetworkGroup)| {
        let listener = |side: usize| -> io::Result<Opened> {
            if host.side != side {
                return Ok(Opened::Nothing);
            }
            host.listen(group).map(Opened::Listener)
        };
        let datagrams = |ecn: u8| datagrams::sockets(host, group, of, ecn).map(Opened::Datagrams);
        let opened = match &of.source {
            Source::Bulk(_) | Source::Transfers(_) | Source::Replay(_) => listener(RIGHT),
            Source::Web(_) | Source::Video(_) => listener(LEFT),
            Source::Udp(udp) => datagrams(udp.ecn as u8),
            Source::OnOff(source) => datagrams(source.ecn as u8),
            Source::Ping(ping) => datagrams(ping.ecn as u8),
            Source::Call(_) => Ok(Opened::Nothing),
        };
        opened.map_err(|error| format!("{}: sockets: {error}", of.name))
    };
    groups.map(open).collect()
}

/// What a side does for a group. Everything that is drawn has been compiled once already.
fn tasks(host: &Rc<Host>, group: usize, opened: Opened) -> Vec<Task> {
    match compile(host, group, opened) {
        Ok(tasks) => tasks,
        Err(error) => {
            host.common
                .ledger
                .fault(format!("{}: {error}", host.common.network.groups[group].name));
            Vec::new()
        }
    }
}

fn compile(
    host: &Rc<Host>,
    group: usize,
    opened: Opened,
) -> Result<Vec<Task>, sojourn_traffic::Invalid> {
    let network = Arc::clone(&host.common.network);
    let of = &network.groups[group];
    let (seed, key) = (network.seed, of.key);
    let here = || Rc::clone(host);
    let left = host.side == LEFT;
    let each = |task: &dyn Fn(u32) -> Task| (0..of.members).map(task).collect::<Vec<_>>();
    Ok(match (&of.source, opened) {
        (
            Source::Bulk(_) | Source::Transfers(_) | Source::Replay(_),
            Opened::Listener(listener),
        ) => {
            vec![Box::pin(flows::receivers(here(), group, listener))]
        }
        (Source::Bulk(bulk), _) => {
            let writes = bulk.writes(of.tcp.payload);
            let bulk = Rc::new(flows::Bulk { fetches: bulk.compile()?, writes });
            each(&|member| Box::pin(flows::flow(here(), group, member, Rc::clone(&bulk))))
        }
        (Source::Transfers(_) | Source::Replay(_), _) => {
            vec![Box::pin(flows::arrivals(here(), group))]
        }
        (Source::Web(web), Opened::Listener(listener)) if web.http.multiplexes() => {
            vec![Box::pin(pages::server(here(), group, listener))]
        }
        (Source::Web(_) | Source::Video(_), Opened::Listener(listener)) => {
            vec![Box::pin(web::server(here(), group, listener))]
        }
        (Source::Web(web), _) => {
            let users = WebUsers { model: web.compile()?, pages: Pages::new() };
            let shared = Rc::new(RefCell::new(users));
            each(&|member| {
                let browser = Browser::new(&shared.borrow().model, seed, key, u64::from(member));
                if web.http.multiplexes() {
                    let shared = Rc::clone(&shared);
                    return Box::pin(pages::user(here(), (group, member), browser, shared));
                }
                Box::pin(web::user(here(), (group, member), browser, Rc::clone(&shared)))
            })
        }
        (Source::Video(video), _) => {
            let shared = Rc::new(RefCell::new(video.compile()?));
            each(&|member| {
                let (player, shared) = (Player::default(), Rc::clone(&shared));
                Box::pin(web::user(here(), (group, member), player, shared))
            })
        }
        (Source::Udp(_) | Source::OnOff(_), Opened::Datagrams(sockets)) if !left => {
            let sockets = sockets.into_iter().zip(0..);
            sockets
                .map(|(socket, member)| {
                    Box::pin(datagrams::receive(here(), group, member, socket)) as Task
                })
                .collect()
        }
        (Source::Ping(_), Opened::Datagrams(sockets)) if !left => sockets
            .into_iter()
            .map(|socket| Box::pin(datagrams::echo(here(), socket)) as Task)
            .collect(),
        (Source::Ping(ping), Opened::Datagrams(sockets)) => {
            let sockets = sockets.into_iter().zip(0..);
            sockets
                .map(|(socket, member)| {
                    let ping = ping.clone();
                    Box::pin(datagrams::probe(here(), group, member, socket, ping)) as Task
                })
                .collect()
        }
        (source, Opened::Datagrams(sockets)) => {
            let sending: Box<dyn Fn(u64) -> datagrams::Sending> = match source {
                Source::Udp(udp) => {
                    let model = Rc::new(udp.compile()?);
                    Box::new(move |member| {
                        let source = UdpSource::new(seed, key, member);
                        datagrams::Sending::Udp(Rc::clone(&model), source)
                    })
                }
                Source::OnOff(source) => {
                    let model = Rc::new(source.compile()?);
                    Box::new(move |member| {
                        let source = OnOffSource::new(seed, key, member);
                        datagrams::Sending::OnOff(Rc::clone(&model), source)
                    })
                }
                _ => return Ok(Vec::new()),
            };
            let sockets = sockets.into_iter().zip(0u32..);
            sockets
                .map(|(socket, member)| {
                    let sending = sending(u64::from(member));
                    Box::pin(datagrams::send(here(), group, member, socket, sending)) as Task
                })
                .collect()
        }
        _ => Vec::new(),
    })
}

/// The longest IP packet that the hosts send, bytes.
pub fn longest_packet(network: &Network) -> u32 {
    let longest = |group: &sojourn_scenario::NetworkGroup| match &group.source {
        Source::Udp(udp) => udp.packet.0 as u32,
        Source::OnOff(source) => source.packet.0 as u32,
        Source::Ping(ping) => ping.size.0 as u32,
        _ => match &group.quic {
            Some(quic) => quic.max_udp_payload + datagrams::HEADER,
            None => group.tcp.payload + u32::from(group.tcp.options) + 40,
        },
    };
    network.groups.iter().map(longest).max().unwrap_or(0)
}

/// What real hosts cannot do.
///
/// # Errors
/// One line that names the group.
pub fn check(network: &Network) -> Result<(), String> {
    if let Some(link) = network.links.iter().find(|link| link.wifi.is_some()) {
        return Err(format!(
            "{}.wifi: the router's links share no medium; leave it out, or use --engine packets",
            link.name
        ));
    }
    if let Some(link) = network.links.iter().find(|link| link.autorate.is_some()) {
        return Err(format!(
            "{}.autorate: the router hears no pings; leave it out, or use --engine packets",
            link.name
        ));
    }
    for group in &network.groups {
        let wrong = |what: String| Err(format!("{}: {what}", group.name));
        if matches!(group.source, Source::Call(_)) {
            return wrong(
                "real hosts make no calls; leave the group out, or use --engine packets".into(),
            );
        }
        let (size, least) = match &group.source {
            Source::Udp(udp) => (udp.packet.0, u64::from(datagrams::HEADER)),
            Source::OnOff(source) => (source.packet.0, u64::from(datagrams::HEADER)),
            // The time of sending must be in it.
            Source::Ping(ping) => (ping.size.0, u64::from(datagrams::HEADER) + 8),
            _ => match &group.quic {
                Some(quic) => (u64::from(quic.max_udp_payload + datagrams::HEADER), 1),
                None => (u64::from(group.tcp.payload), 1),
            },
        };
        if size < least {
            return wrong(format!(
                "{size} bytes: packets of real hosts must have {least} at least"
            ));
        }
        if size > 9000 {
            return wrong(format!("{size} bytes: packets of real hosts have 9000 bytes at most"));
        }
    }
    if network.groups.len() > 20_000 {
        return Err("traffic: more than 20000 groups".into());
    }
    Ok(())
}
