//! A scenario run with real TCP: hosts at both ends of the router, one summary.
//!
//! One process, five threads: two sides of hosts, each in its namespace; the router between them;
//! one that waits for standard input to end; and this one, which tells the others when to begin,
//! looks at the books at the start and the end of the window, and talks. The run takes place in
//! real time; it ends with the scenario, or early when somebody wants it to.

pub mod command;
mod congestion;
mod groups;
pub mod guest;
mod limits;
mod samples;
pub(crate) mod talk;

use crate::bpf::Registered;
use crate::forward::{self, Foreign, Plan, Router};
use crate::hosts::addresses::Endpoints;
use crate::hosts::clock::Clock;
use crate::hosts::kernel::{KernelCounters, counters};
use crate::hosts::ledger::Ledger;
use crate::hosts::settings::{Settings, settings};
use crate::hosts::{self, Hosts};
use crate::net::address::Side;
use crate::net::{self, Device, Namespace, Tun};
use samples::Samples;
use sojourn_base::Time;
use sojourn_records::{HostsSummary, Names, Provenance, Recorder, Summary};
use sojourn_scenario::Network;
use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// From the decision to begin to the beginning: time for all threads to learn of it.
const LEAD: Time = Time::from_millis(50);

/// Why there is no summary.
#[derive(Debug)]
pub enum Failure {
    /// The scenario cannot be run so.
    Scenario(String),
    /// Anything else.
    Other(String),
}

/// What a run gives: its summary. Records lie in the directory.
pub fn run(network: Network, directory: Option<&Path>) -> Result<Summary, Failure> {
    let begun = Instant::now();
    let mut run = Run::ready(network, directory)?;
    let reached = run.go().map_err(Failure::Other)?;
    let mut summary = run.finish(reached).map_err(Failure::Other)?;
    summary.wall_s = begun.elapsed().as_secs_f64();
    Ok(summary)
}

/// A run that is ready to begin, or under way.
struct Run {
    network: Arc<Network>,
    settings: Arc<Settings>,
    spaces: [Namespace; 2],
    hosts: Hosts,
    /// What the kernel had counted of the hosts before the run.
    counted: KernelCounters,
    router: Option<Router>,
    forwarding: Option<Forwarding>,
    clock: Clock,
    /// Congestion controls that the kernel has as long as this.
    #[expect(dead_code, reason = "to be dropped, after the hosts")]
    programs: Vec<Registered>,
}

/// The router's thread.
struct Forwarding {
    control: Arc<forward::Control>,
    thread: JoinHandle<std::io::Result<(forward::Report, Recorder)>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        // A run that failed leaves no thread behind.
        if let Some(forwarding) = self.forwarding.take() {
            forwarding.control.stop.store(true, Relaxed);
            let _ = forwarding.thread.join();
        }
    }
}

impl Run {
    /// Makes namespaces, devices, the router and the hosts.
    fn ready(network: Network, directory: Option<&Path>) -> Result<Self, Failure> {
        limits::check(&network).map_err(Failure::Scenario)?;
        hosts::check(&network).map_err(Failure::Scenario)?;
        let known = |name: &str| Path::new("/proc/sys/net/ipv4").join(name).exists();
        let mut settings = settings(&network, &known).map_err(Failure::Scenario)?;
        let programs = congestion::find(&network, &mut settings).map_err(Failure::Scenario)?;
        let settings = Arc::new(settings);
        let plan = Plan::new(network.clone(), Foreign::Refused).map_err(Failure::Scenario)?;
        let endpoints = Arc::new(Endpoints::new(&plan).map_err(Failure::Scenario)?);
        let other = |error: net::Error| Failure::Other(error.to_string());
        net::acquire().map_err(other)?;
        let spaces = [Namespace::new().map_err(other)?, Namespace::new().map_err(other)?];
        let device = Device {
            mtu: hosts::longest_packet(&network).max(1500),
            initial_window: settings.initial_window,
            quick_acks: settings.quick_acks,
            ..Device::default()
        };
        let mut tuns = Vec::new();
        for (space, side) in spaces.iter().zip(Side::BOTH) {
            tuns.push(Tun::new(space, &device.name).map_err(other)?);
            net::configure(space, side, &device).map_err(other)?;
            let sysctls = settings.sysctls.iter();
            let sysctls: Vec<(&str, &str)> =
                sysctls.map(|(name, value)| (name.as_str(), value.as_str())).collect();
            net::set(space, &sysctls).map_err(other)?;
        }
        let Ok(tuns) = <[Tun; 2]>::try_from(tuns) else { unreachable!("two sides") };
        let recorder = || recorder("linux", &network, directory).map_err(Failure::Other);
        let how = forward::Settings {
            mtu: device.mtu,
            end: Some(network.duration),
            look: Some(Time::from_millis(100)),
            ..forward::Settings::default()
        };
        let router = Router::new(&plan, tuns, recorder()?, how).map_err(Failure::Scenario)?;
        let network = Arc::new(network.clone());
        let mut books = recorder()?;
        books.open_exchanges(&network.probes);
        books.open_flows(&network.probes);
        let ledger = Arc::new(Ledger::new(&network, books));
        let hosts = Hosts::ready(&network, endpoints, Arc::clone(&settings), ledger, &spaces);
        let hosts = hosts.map_err(Failure::Other)?;
        Ok(Self {
            hosts,
            counted: all_counters(&spaces).map_err(Failure::Other)?,
            network,
            settings,
            spaces,
            router: Some(router),
            forwarding: None,
            clock: Clock { start: Time::ZERO },
            programs,
        })
    }

    /// Begins, and stays until the end or until somebody wants it to end. The time reached.
    fn go(&mut self) -> Result<Time, String> {
        let start = hosts::sys::monotonic() + LEAD;
        self.clock = Clock { start };
        let control = Arc::new(forward::Control::default());
        let (watcher, looks) = std::sync::mpsc::sync_channel(4);
        if let Some(router) = self.router.take() {
            let begins = Instant::now() + Duration::from_nanos(LEAD.0);
            let (theirs, control) = (Arc::clone(&control), Arc::clone(&control));
            let work = move || {
                let clock = forward::Clock::starting(begins);
                router.run(clock, &theirs, Some(watcher))
            };
            let thread = std::thread::Builder::new().name("router".into()).spawn(work);
            let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
            self.forwarding = Some(Forwarding { control, thread });
        }
        if self.network.warmup == Time::ZERO {
            // What begins at once counts.
            samples::start_window(Time::ZERO, self.hosts.common());
        }
        self.hosts.begin(self.clock);
        let mut packets = 0;
        let mut samples = Samples::new(&self.network);
        while let Some(at) = samples.next() {
            // In steps, so that it is soon noticed that the run is to end.
            let at = at.min(self.clock.now() + Time::from_millis(50));
            self.clock.sleep_until(at);
            let now = self.clock.now();
            for look in looks.try_iter() {
                packets += look.links.first().map_or(0, |link| link.dequeued);
            }
            samples.take(now, packets, self.hosts.common());
            if let Some(fault) = self.hosts.common().ledger.take_fault() {
                return Err(fault);
            }
            let forwarding = self.forwarding.as_ref().is_some_and(|f| !f.thread.is_finished());
            let last = now >= self.network.duration;
            if !self.hosts.alive() || !(forwarding || last) {
                return Err(self.broken());
            }
            if talk::stop_wanted() {
                break;
            }
        }
        Ok(self.clock.now().min(self.network.duration))
    }

    /// What to say of a thread that has ended of itself.
    fn broken(&mut self) -> String {
        let ended = self.forwarding.take().filter(|f| f.thread.is_finished());
        match ended.map(|forwarding| forwarding.thread.join()) {
            Some(Ok(Err(error))) => format!("the router: {error}"),
            Some(Err(panic)) => panicked(&*panic),
            _ => "a host's thread ended".into(),
        }
    }

    /// Closes the books and sums up.
    fn finish(&mut self, reached: Time) -> Result<Summary, String> {
        let common = self.hosts.common();
        common.ledger.books().finish(reached, &common.receipts);
        common.receipts.finish();
        let Some(forwarding) = self.forwarding.take() else { return Err(self.broken()) };
        forwarding.control.stop.store(true, Relaxed);
        let ran = forwarding.thread.join();
        let (report, records) = ran
            .map_err(|panic| panicked(&*panic))?
            .map_err(|error| format!("the router: {error}"))?;
        let network = &self.network;
        let warmup = network.warmup.min(reached);
        let mut summary = Summary {
            engine_seconds: reached.as_secs_f64(),
            events: report.events,
            bottleneck_packets: report.bottleneck_packets,
            links: report.links,
            router: Some(report.router),
            hosts: Some(hosts_summary(&self.settings, all_counters(&self.spaces)? - self.counted)),
            ..Summary::of("linux", network, reached)
        };
        if reached > warmup {
            groups::add(&mut summary, common, reached - warmup);
        } else {
            // Stopped before the window began: there is nothing to sum up.
            summary.links.clear();
        }
        let books = std::mem::take(&mut common.ledger.books().recorder);
        for recorder in [records, books] {
            recorder.finish().map_err(|error| error.to_string())?;
        }
        Ok(summary)
    }
}

/// What a thread that panicked said.
pub(crate) fn panicked(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    format!("an error in Sojourn, please report it: {said}")
}

/// A recorder into the directory, if there is one, that knows what numbers stand for.
fn recorder(engine: &str, network: &Network, directory: Option<&Path>) -> Result<Recorder, String> {
    let mut recorder = match directory {
        Some(directory) => Recorder::to_directory(directory)
            .map_err(|e| e.to_string())?
            .of_run(Provenance::of(engine, network)),
        None => Recorder::none(),
    };
    recorder.begin(Names::of(network));
    Ok(recorder)
}

/// What the kernel has counted of the hosts in these namespaces.
fn all_counters(spaces: &[Namespace]) -> Result<KernelCounters, String> {
    let mut sum = KernelCounters::default();
    for space in spaces {
        sum = sum + counters(space).map_err(|error| error.to_string())?;
    }
    Ok(sum)
}

/// The hosts: their kernel, and what it has counted for all of them.
fn hosts_summary(settings: &Settings, counted: KernelCounters) -> HostsSummary {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    HostsSummary {
        kernel: release.trim().into(),
        differences: settings.differences.clone(),
        retransmitted_segments: counted.retransmitted,
        ce_packets: counted.marked,
        received: counted.received,
        duplicates: counted.duplicates,
    }
}
