//! Real traffic: servers, clients and flows over sockets of the two namespaces.
//!
//! Each side is one thread with an event loop of its own, in its namespace. Data come from the
//! left: flows and transfers open there and send, web servers listen there. Who sends what, when,
//! is drawn by the code and from the streams that the simulator draws from; when something is
//! finished is defined as there (docs/reference/measures.md).

pub mod addresses;
pub mod certificate;
pub mod clock;
mod connection;
mod datagrams;
mod flows;
mod host;
pub mod kernel;
pub mod ledger;
mod limits;
mod pages;
mod payload;
pub mod quic;
pub mod receipts;
pub mod settings;
pub mod sys;
mod tasks;
mod tls;
mod web;

pub(crate) use host::ECT1;
pub use host::{Common, knows_congestion};
pub use limits::{check, longest_packet};

use crate::net::Namespace;
use clock::{Alarms, Clock};
use host::{Host, LEFT};
use payload::Pattern;
use sojourn_base::Time;
use sojourn_scenario::Network;
use sojourn_traffic::{Http, Source};
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
            tls: secured.then(tls::Tls::new).transpose()?.map(Arc::new),
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
        let opened = visit(&early).await.and_then(|()| tasks::open(&early));
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
            for task in tasks::tasks(&host, group, opened) {
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
