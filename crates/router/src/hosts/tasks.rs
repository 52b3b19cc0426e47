//! What a side does for each group: what it opens, and what runs on that as long as it lives.

use super::datagrams::{self, Sending};
use super::host::{self, Host, LEFT, RIGHT};
use super::{flows, pages, web};
use sojourn_scenario::NetworkGroup;
use sojourn_traffic::{Browser, Invalid, OnOffSource, Pages, Player, Source, UdpSource, WebUsers};
use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use tokio::net::UdpSocket;

/// Something that a side does as long as it lives.
pub(super) type Task = Pin<Box<dyn Future<Output = ()>>>;

/// What has been opened before the run begins.
pub(super) enum Opened {
    Listener(host::Listener),
    Datagrams(Vec<UdpSocket>),
    Nothing,
}

/// Opens what listens on a side, for each group.
pub(super) fn open(host: &Host) -> Result<Vec<Opened>, String> {
    let groups = host.common.network.groups.iter().enumerate();
    let open = |(group, of): (usize, &NetworkGroup)| {
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
pub(super) fn tasks(host: &Rc<Host>, group: usize, opened: Opened) -> Vec<Task> {
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

fn compile(host: &Rc<Host>, group: usize, opened: Opened) -> Result<Vec<Task>, Invalid> {
    let network = Arc::clone(&host.common.network);
    let of = &network.groups[group];
    let (seed, key) = (network.seed, of.key);
    let here = || Rc::clone(host);
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
        (_, Opened::Datagrams(sockets)) => datagram_tasks(host, group, sockets)?,
        _ => Vec::new(),
    })
}

/// The same for a group whose packets are datagrams: a task for each member's socket.
fn datagram_tasks(
    host: &Rc<Host>,
    group: usize,
    sockets: Vec<UdpSocket>,
) -> Result<Vec<Task>, Invalid> {
    let network = &host.common.network;
    let of = &network.groups[group];
    let (seed, key) = (network.seed, of.key);
    let here = || Rc::clone(host);
    let each = |task: &dyn Fn(u32, UdpSocket) -> Task| {
        (0..).zip(sockets).map(|(member, socket)| task(member, socket)).collect()
    };
    let send = |member, socket, sending| -> Task {
        Box::pin(datagrams::send(here(), group, member, socket, sending))
    };
    let left = host.side == LEFT;
    Ok(match &of.source {
        Source::Ping(_) if !left => each(&|_, socket| Box::pin(datagrams::echo(here(), socket))),
        Source::Ping(ping) => each(&|member, socket| {
            Box::pin(datagrams::probe(here(), group, member, socket, ping.clone()))
        }),
        _ if !left => {
            each(&|member, socket| Box::pin(datagrams::receive(here(), group, member, socket)))
        }
        Source::Udp(udp) => {
            let model = Rc::new(udp.compile()?);
            each(&|member, socket| {
                let source = UdpSource::new(seed, key, u64::from(member));
                send(member, socket, Sending::Udp(Rc::clone(&model), source))
            })
        }
        Source::OnOff(on_off) => {
            let model = Rc::new(on_off.compile()?);
            each(&|member, socket| {
                let source = OnOffSource::new(seed, key, u64::from(member));
                send(member, socket, Sending::OnOff(Rc::clone(&model), source))
            })
        }
        _ => Vec::new(),
    })
}
