//! A scenario run by the kernel alone: its hosts, its queue disciplines, its delays; the kernel is
//! that of a virtual machine in which this program is all there is.
//!
//! The hosts are those of [`run`](super::run), and so are their books. Between them stands no
//! router of ours but [`wiring`] that the kernel forwards through, and a thread that
//! [watches](watch) the devices before and behind each queue. What happened in the queues is made
//! out when the run is over, so that it costs no time while it is under way.

pub mod command;
mod counters;
mod dualpi2;
mod fate;
mod machine;
mod netlink;
mod offload;
mod plan;
mod watch;
mod wiring;

use super::{Failure, LEAD, all_counters, groups, hosts_summary, recorder, samples, talk};
use crate::bpf::Registered;
use crate::forward::{Foreign, Plan as Endpoints};
use crate::hosts::clock::Clock;
use crate::hosts::ledger::Ledger;
use crate::hosts::settings::{Settings, settings};
use crate::hosts::{self, Hosts, addresses};
use crate::net::Device;
use counters::Asker;
use fate::{Lane, Reading, Story, Times};
use plan::{Drops, Plan};
use samples::Samples;
use sojourn_base::Time;
use sojourn_link::Observed;
use sojourn_records::{LinkSummary, QueueRow, Recorder, Summary};
use sojourn_scenario::Network;
use sojourn_traffic::Source;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use watch::{Tap, Way};
use wiring::Wiring;

/// Between two looks at what has passed: short enough for the probability of PIE.
const LOOK: Time = Time::from_millis(10);
/// After the end packets are watched for so long, which tells what stood in the queue then.
const GRACE: Time = Time::from_millis(200);

/// What a run gives: its summary. Records lie in the directory.
fn run(network: Network, plan: &Plan, directory: Option<&Path>) -> Result<Summary, Failure> {
    let begun = Instant::now();
    let mut run = Run::ready(network, plan, directory)?;
    let watching = run.begin().map_err(Failure::Other)?;
    let went = run.stay(&watching);
    let queues = watching.end();
    let reached = went.map_err(Failure::Other)?;
    let queues = queues.map_err(Failure::Other)?;
    let mut summary = run.finish(queues, plan, reached).map_err(Failure::Other)?;
    summary.wall_s = begun.elapsed().as_secs_f64();
    Ok(summary)
}

/// A queue that is watched.
struct Queue {
    name: String,
    /// Before it and behind it.
    taps: [Tap; 2],
    asker: Asker,
    readings: Vec<Reading>,
    drops: Drops,
}

impl Queue {
    /// Reads the counters.
    fn ask(&mut self, clock: Clock) -> Result<(), String> {
        let asked = self.asker.ask();
        let mut reading = asked.map_err(|error| format!("watching {}: {error}", self.name))?;
        reading.at = clock.now();
        self.readings.push(reading);
        Ok(())
    }
}

/// The thread that watches.
struct Watching {
    stop: Arc<AtomicBool>,
    packets: Arc<AtomicU64>,
    thread: JoinHandle<Result<Vec<Queue>, String>>,
}

impl Watching {
    fn end(self) -> Result<Vec<Queue>, String> {
        self.stop.store(true, Relaxed);
        self.thread.join().map_err(|panic| super::panicked(&*panic))?
    }
}

/// A run that is ready to begin, or under way.
struct Run {
    network: Arc<Network>,
    settings: Arc<Settings>,
    wiring: Wiring,
    hosts: Hosts,
    queues: Vec<Queue>,
    records: Recorder,
    clock: Clock,
    summary: Summary,
    /// Congestion controls that the kernel has as long as this.
    #[expect(dead_code, reason = "to be dropped, after the hosts")]
    programs: Vec<Registered>,
}

impl Run {
    fn ready(network: Network, plan: &Plan, directory: Option<&Path>) -> Result<Self, Failure> {
        check(&network).map_err(Failure::Scenario)?;
        super::limits::check(&network).map_err(Failure::Scenario)?;
        hosts::check(&network).map_err(Failure::Scenario)?;
        let known = |name: &str| Path::new("/proc/sys/net/ipv4").join(name).exists();
        let mut settings = settings(&network, &known).map_err(Failure::Scenario)?;
        super::congestion::stand_in(&network, &mut settings);
        let programs =
            super::congestion::find(&network, &mut settings).map_err(Failure::Scenario)?;
        // Here the machine is ours, and TCP can be kept from making segments together.
        let single = network.groups.iter().all(|group| !group.tcp.tso);
        if single {
            settings.differences.retain(|line| !line.contains("tcp.tso ="));
        }
        settings.differences.extend(plan.remarks.iter().cloned());
        let settings = Arc::new(settings);
        let numbers =
            Endpoints::new(network.clone(), Foreign::Refused).map_err(Failure::Scenario)?;
        let endpoints = addresses::Endpoints::new(&numbers).map_err(Failure::Scenario)?;
        let device = Device {
            mtu: hosts::longest_packet(&network).max(1500),
            initial_window: settings.initial_window,
            quick_acks: settings.quick_acks,
            ..Device::default()
        };
        let come = |group: usize| endpoints.transfers[group].len() as u32;
        let wiring = wiring::wire(&numbers, &come, &device, plan, single);
        let wiring = wiring.map_err(Failure::Other)?;
        if settings.sockets.iter().any(|socket| socket.ect1) {
            wiring.say_ect1(&device.name).map_err(Failure::Other)?;
        }
        for space in &wiring.hosts {
            let sysctls = settings.sysctls.iter();
            let sysctls: Vec<(&str, &str)> =
                sysctls.map(|(name, value)| (name.as_str(), value.as_str())).collect();
            crate::net::set(space, &sysctls).map_err(|error| Failure::Other(error.to_string()))?;
        }
        let queues = queues(&network, plan, &wiring).map_err(Failure::Other)?;
        let mut records = recorder(&plan.engine, &network, directory).map_err(Failure::Other)?;
        if network.probes.queues {
            records.open::<QueueRow>();
        }
        let mut books = recorder(&plan.engine, &network, directory).map_err(Failure::Other)?;
        books.open_exchanges(&network.probes);
        books.open_flows(&network.probes);
        let network = Arc::new(network);
        let ledger = Arc::new(Ledger::new(&network, books));
        let hosts = Hosts::ready(
            &network,
            Arc::new(endpoints),
            Arc::clone(&settings),
            ledger,
            &wiring.hosts,
        );
        Ok(Self {
            hosts: hosts.map_err(Failure::Other)?,
            network,
            settings,
            wiring,
            queues,
            records,
            clock: Clock { start: Time::ZERO },
            summary: Summary::default(),
            programs,
        })
    }

    /// Begins: the hosts, and the thread that watches.
    fn begin(&mut self) -> Result<Watching, String> {
        self.clock = Clock { start: hosts::sys::monotonic() + LEAD };
        let (stop, packets) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (queues, clock) = (std::mem::take(&mut self.queues), self.clock);
        let (told, counted) = (Arc::clone(&stop), Arc::clone(&packets));
        let work = move || watch(queues, clock, &told, &counted);
        let thread = std::thread::Builder::new().name("watch".into()).spawn(work);
        let thread = thread.map_err(|error| format!("cannot start a thread: {error}"))?;
        if self.network.warmup == Time::ZERO {
            // What begins at once counts.
            samples::start_window(Time::ZERO, self.hosts.common());
        }
        self.hosts.begin(self.clock);
        Ok(Watching { stop, packets, thread })
    }

    /// Stays until the scenario's end, or until somebody wants it to end. The time reached.
    fn stay(&mut self, watching: &Watching) -> Result<Time, String> {
        let mut samples = Samples::new(&self.network);
        let mut stopped = false;
        while let Some(at) = samples.next().filter(|_| !stopped) {
            // They come often enough to notice soon that somebody does.
            self.clock.sleep_until(at);
            stopped = talk::stop_wanted();
            let now = self.clock.now();
            samples.take(now, watching.packets.load(Relaxed), self.hosts.common());
            if let Some(fault) = self.hosts.common().ledger.take_fault() {
                return Err(fault);
            }
            if !self.hosts.alive() {
                return Err("a host's thread ended".into());
            }
            if watching.thread.is_finished() {
                return Err("the thread that watches ended".into());
            }
        }
        let ends = if stopped { self.clock.now() } else { Time::MAX };
        let ends = ends.min(self.network.duration);
        let common = self.hosts.common();
        common.ledger.books().finish(ends, &common.receipts);
        common.receipts.finish();
        // What arrives from now on does not count.
        if ends > self.network.warmup {
            groups::add(&mut self.summary, common, ends - self.network.warmup);
        }
        self.clock.sleep_until(ends + GRACE);
        Ok(ends)
    }

    /// Makes out what happened in the queues, closes the books and sums up.
    fn finish(mut self, queues: Vec<Queue>, plan: &Plan, end: Time) -> Result<Summary, String> {
        let network = Arc::clone(&self.network);
        let warmup = network.warmup.min(end);
        let hosts = hosts_summary(&self.settings, all_counters(&self.wiring.hosts)?);
        let ahead = watch::ahead() + self.clock.start;
        let mut summary = Summary {
            engine_seconds: end.as_secs_f64(),
            hosts: Some(hosts),
            groups: std::mem::take(&mut self.summary.groups),
            flows: std::mem::take(&mut self.summary.flows),
            ..Summary::of(&plan.engine, &network, end)
        };
        let times = Times {
            warmup,
            end,
            interval: network.probes.queues.then_some(network.probes.interval),
        };
        let mut lanes = Vec::new();
        for (at, queue) in queues.into_iter().enumerate() {
            let observed = || {
                Observed::new(&network, at).ok_or_else(|| {
                    format!("link {}: it is ideal and yet has a queue", plan.links[at].name)
                })
            };
            let mut link = observed()?;
            let Queue { name, taps, readings, drops, .. } = queue;
            let [came, went] = taps.map(|tap| on_the_clock(tap, ahead));
            let story = Story::new(&came, &went, drops, &readings)
                .map_err(|error| format!("link {name}: {error}"))?;
            compare(&name, &story, &readings)?;
            let records = &mut self.records;
            let row = |row| records.push(row);
            summary.links.push(story.tell(&mut link, at as u32, &times, &readings, row));
            if drops == Drops::LaneDeparture {
                for lane in Lane::ALL {
                    let times = Times { interval: None, ..times };
                    let row = story.of(lane).tell(&mut observed()?, 0, &times, &[], |_| ());
                    // A class has no rate of its own.
                    let name = format!("{}/{}", row.name, lane.name());
                    lanes.push(LinkSummary { name, rate_bps: None, utilisation: None, ..row });
                }
            }
            summary.events += (came.len() + went.len()) as u64;
            if at == 0 {
                summary.bottleneck_packets = link.packets();
            }
        }
        summary.links.extend(lanes);
        if end <= warmup {
            // Stopped before the window began: there is nothing to sum up.
            summary.links.clear();
        }
        let common = self.hosts.common();
        let books = std::mem::take(&mut common.ledger.books().recorder);
        for recorder in [self.records, books] {
            recorder.finish().map_err(|error| error.to_string())?;
        }
        Ok(summary)
    }
}

/// What the wiring stands for: one dumbbell, data from left to right.
fn check(network: &Network) -> Result<(), String> {
    let dumbbell = network.links.len() == 2
        && network.links[0].rate.is_some()
        && network.groups.iter().all(|group| group.forward == [0] && group.backward == [1]);
    if !dumbbell {
        return Err(
            "the kernel engine runs one [bottleneck] with traffic from left to right only".into()
        );
    }
    if let Some(group) = network.groups.iter().find(|group| group.quic.is_some()) {
        let why = "the kernel engine has the kernel's hosts, and that speaks no QUIC";
        return Err(format!("{}: transport = \"quic\": {why}; use linux or packets", group.name));
    }
    let multiplexes =
        |source: &Source| matches!(source, Source::Web(web) if web.http.multiplexes());
    if let Some(group) = network.groups.iter().find(|group| multiplexes(&group.source)) {
        let why = "the kernel engine loads pages over HTTP/1.1; use linux or packets";
        return Err(format!("{}: http: {why}", group.name));
    }
    match network.groups.iter().find(|group| matches!(group.source, Source::Replay(_))) {
        Some(group) => {
            Err(format!("{}: replay: the kernel engine reads no files; use transfers", group.name))
        }
        None => Ok(()),
    }
}

/// Taps and counters for each queue of the plan.
fn queues(network: &Network, plan: &Plan, wiring: &Wiring) -> Result<Vec<Queue>, String> {
    let places = [(&wiring.core, "left", "queue"), (&wiring.wire, "right", "back")];
    let mut queues = Vec::new();
    for ((link, of), (space, before, behind)) in plan.links.iter().zip(&network.links).zip(places) {
        let rate = of.rate.map_or(0, |rate| rate.0);
        // Full packets for all of the run, and half as many again.
        let room = rate as f64 * network.duration.as_secs_f64() / 8.0 / 1000.0 * 1.5;
        let room = (room as usize).clamp(1024, 1 << 21);
        queues.push(Queue {
            name: link.name.clone(),
            taps: [
                Tap::new(space, before, Way::In, room)?,
                Tap::new(space, behind, Way::Out, room)?,
            ],
            asker: Asker::new(space, behind)?,
            readings: Vec::with_capacity((network.duration.0 / LOOK.0) as usize + 64),
            drops: link.drops,
        });
    }
    Ok(queues)
}

/// Reads taps and counters until told to stop.
fn watch(
    mut queues: Vec<Queue>,
    clock: Clock,
    stop: &AtomicBool,
    packets: &AtomicU64,
) -> Result<Vec<Queue>, String> {
    let mut over = false;
    while !over {
        over = stop.load(Relaxed);
        for (number, queue) in queues.iter_mut().enumerate() {
            queue.ask(clock)?;
            // What has gone has come before: the tap in front is read after the one behind.
            for tap in queue.taps.iter_mut().rev() {
                tap.read().map_err(|error| format!("watching {}: {error}", queue.name))?;
            }
            if over {
                // What was dropped since the counter was last asked may show in the taps already.
                queue.ask(clock)?;
            }
            if number == 0 {
                packets.store(queue.taps[1].seen.len() as u64, Relaxed);
            }
        }
        if !over {
            std::thread::sleep(Duration::from_nanos(LOOK.0));
        }
    }
    for queue in &queues {
        let missed: u32 = queue.taps.iter().map(Tap::missed).sum();
        if missed > 0 {
            return Err(format!("watching {}: {missed} packets were missed", queue.name));
        }
    }
    Ok(queues)
}

/// What a tap has seen, on the run's clock.
fn on_the_clock(tap: Tap, ahead: Time) -> Vec<watch::Seen> {
    let mut seen = tap.seen;
    for packet in &mut seen {
        packet.at = packet.at.saturating_sub(ahead);
    }
    seen
}

/// The story must be that of the discipline's own counters.
fn compare(name: &str, story: &Story, readings: &[Reading]) -> Result<(), String> {
    let counted = readings.last().map_or(0, |reading| reading.dropped);
    // What is dropped last may not be known to be: nothing came after it.
    if story.dropped > counted || counted - story.dropped > 2 + counted / 50 {
        return Err(format!(
            "link {name}: {} packets came and did not go, but the kernel counts {counted} drops",
            story.dropped
        ));
    }
    let Some((last, lanes)) = readings.last().and_then(|last| Some((last, last.lanes?))) else {
        return Ok(());
    };
    let (mut marked, mut entered) = (0, [0; 2]);
    for (lane, entered) in Lane::ALL.into_iter().zip(&mut entered) {
        let (joined, of_lane) = story.of(lane).joined_and_marked();
        *entered = joined;
        marked += of_lane;
    }
    let [controller, step] = lanes.marks;
    // What is under way when the counters are last read; what a limit kept out seems to have
    // joined.
    let off = |seen: u64, most: u64, least: u64| {
        let slack = 2 + most / 50 + last.overflow;
        seen > most + slack || seen + slack < least
    };
    if off(entered[0], lanes.entered[0], lanes.entered[0])
        || off(entered[1], lanes.entered[1], lanes.entered[1])
        || off(marked, controller + step, controller.max(step))
    {
        return Err(format!(
            "link {name}: {entered:?} packets joined L and C and {marked} were marked, but the \
             kernel counts {:?}, {controller} marks by the controller and {step} by the step",
            lanes.entered
        ));
    }
    Ok(())
}
