//! A run that is taken step by step: looked at, changed, copied.

use crate::build::build;
use crate::observation::{GroupObservation, LinkObservation, Observation, QueuedPacket, Seen};
use crate::run::Run;
use crate::{Control, Error};
use sojourn_base::{Rate, Time, Value, sort_by_key};
use sojourn_link::{Samples, places};
use sojourn_qdisc::Config as Qdisc;
use sojourn_records::{Recorder, Summary};
use sojourn_scenario::{Change, Changed, Network, NetworkChange, NetworkLink, Scenario};
use sojourn_tcp::Tuning;
use std::path::{Path, PathBuf};

/// The parameters of these can change during a run.
const CHANGEABLE: [&str; 7] = ["droptail", "codel", "red", "ared", "pi", "rem", "pie"];

/// The scenario of a simulation.
#[derive(Clone)]
struct Origin {
    /// With all that changes, what was set included.
    scenario: Scenario,
    /// As it stands after the first so many of the changes, without them.
    present: Scenario,
    applied: usize,
    /// The folder that its files are found from.
    base_dir: PathBuf,
}

/// A simulation under way. What it gives does not depend on where it pauses, nor on who looks.
#[derive(Clone)]
pub struct Simulation {
    network: Network,
    /// Where it is from; without that nothing can be set.
    origin: Option<Origin>,
    /// Changes of the scenario's own that are still to come, the next one last.
    to_come: Vec<NetworkChange>,
    run: Run,
    now: Time,
    samples: Samples,
    /// What each member of each group had counted at the last look, and when that was.
    seen: Vec<(Vec<Seen>, Time)>,
    looked_at_links: Time,
    /// What each link could have sent by then, bits times 10⁹.
    offered: Vec<u128>,
    engine_seconds: f64,
}

impl Simulation {
    /// The simulation of a scenario, at its start. It can be changed while it runs. Paths of files
    /// in the scenario are relative to `base_dir`.
    ///
    /// # Errors
    /// For whatever is wrong with the scenario.
    pub fn new(scenario: &Scenario, base_dir: &Path, recorder: Recorder) -> Result<Self, Error> {
        let network = scenario.network(base_dir).map_err(|e| Error::scenario(e.to_string()))?;
        let mut new = Self::of(network, recorder, true)?;
        let mut scenario = scenario.clone();
        sort_by_key(&mut scenario.changes, |change| change.at);
        new.origin = Some(Origin {
            present: scenario.at_start(),
            applied: 0,
            scenario,
            base_dir: base_dir.to_path_buf(),
        });
        Ok(new)
    }

    /// The simulation of a network, at its start: as fast as a whole run, but nothing can be set.
    ///
    /// # Errors
    /// If the network holds something that cannot be built.
    pub fn fixed(network: Network, recorder: Recorder) -> Result<Self, Error> {
        Self::of(network, recorder, false)
    }

    /// The simulation of a network. Links are fused unless it is `changeable`, or a rate is to
    /// change.
    fn of(network: Network, recorder: Recorder, changeable: bool) -> Result<Self, Error> {
        let fusing = !changeable && !network.changes.iter().any(NetworkChange::is_of_rate);
        let run = build(&network, recorder, fusing, changeable)?;
        Ok(Self {
            origin: None,
            to_come: network.changes.iter().rev().cloned().collect(),
            samples: Samples::new(run.sim.net.links.len()),
            seen: vec![(Vec::new(), Time::ZERO); run.sim.groups.len()],
            looked_at_links: Time::ZERO,
            offered: vec![0; run.sim.net.links.len()],
            now: Time::ZERO,
            engine_seconds: 0.0,
            network,
            run,
        })
    }

    /// The simulated time reached.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The simulated time at which the scenario ends.
    #[must_use]
    pub fn duration(&self) -> Time {
        self.network.duration
    }

    /// Runs on until everything up to `until`, that instant included, has happened; not beyond the
    /// scenario's end. `control` may end it before. Returns the time reached.
    ///
    /// # Errors
    /// If a change of the scenario is refused by a discipline.
    pub fn run_until(&mut self, until: Time, control: &Control<'_>) -> Result<Time, Error> {
        let started = control.clock.now();
        let until = until.min(self.network.duration);
        while let Some(change) = self.to_come.pop_if(|change| change.at <= until) {
            self.go(change.at, control);
            if self.now < change.at {
                self.to_come.push(change);
                break;
            }
            self.make(&change)?;
        }
        if self.to_come.last().is_none_or(|change| change.at > until) {
            self.go(until, control);
        }
        self.engine_seconds += control.clock.now() - started;
        Ok(self.now)
    }

    fn go(&mut self, until: Time, control: &Control<'_>) {
        if until > self.now || self.run.events == 0 {
            self.run.sim.pause = until;
            self.run.sim.set_boundary();
            self.now = self.run.go(control);
        }
    }

    /// The rates of the links that are looked at as the scenario writes them, bit/s.
    pub fn written_rates(&self) -> impl Iterator<Item = u64> {
        self.observed().filter_map(|link| link.rate).map(|rate| rate.0)
    }

    /// Whether the scenario lets the rate of a link vary.
    #[must_use]
    pub fn rates_vary(&self) -> bool {
        let varies = |link: &NetworkLink| link.schedule.is_some() || link.autorate.is_some();
        self.network.links.iter().any(varies)
            || self.network.changes.iter().any(NetworkChange::is_of_rate)
    }

    /// The links that are looked at: those that are not ideal.
    fn observed(&self) -> impl Iterator<Item = &NetworkLink> {
        let links = self.network.links.iter().zip(places(&self.network));
        links.filter_map(|(link, place)| place.map(|_| link))
    }

    /// Looks at links and flows. What counts since the last look counts from there.
    pub fn observe(&mut self) -> Observation {
        let links = self.observe_links();
        let groups = (0..self.network.groups.len()).filter_map(|n| self.observe_group(n));
        let groups = groups.collect();
        Observation { time_s: self.now.as_secs_f64(), links, groups }
    }

    /// Looks at the group of this number alone, if there is one. What counts since the last look
    /// at it counts from there.
    pub fn observe_group(&mut self, number: usize) -> Option<GroupObservation> {
        let group = self.network.groups.get(number)?;
        let (last, looked) = &mut self.seen[number];
        let since = self.now.saturating_sub(std::mem::replace(looked, self.now));
        Some(GroupObservation::of(&self.run.sim, number, group, since, last))
    }

    /// Looks at links alone, which takes less time where there are many flows. What counts since
    /// the last look at a link counts from there.
    pub fn observe_links(&mut self) -> Vec<LinkObservation> {
        let now = self.now;
        let since = now.saturating_sub(std::mem::replace(&mut self.looked_at_links, now));
        let mut rows = Vec::new();
        self.samples.take(now, &mut self.run.sim.net.links, |row| rows.push(row));
        let offered: Vec<u128> =
            self.run.sim.net.links.iter().map(|link| link.offered(now)).collect();
        let before = std::mem::replace(&mut self.offered, offered);
        let more = self.offered.iter().zip(before).map(|(now, then)| now - then);
        let rows = self.observed().zip(rows).zip(more);
        rows.map(|((link, row), more)| LinkObservation::of(link.name.clone(), &row, more, since))
            .collect()
    }

    /// The packets in the queue of a link, by its name: the first `most` from the head on. Where
    /// there are several queues, one after another.
    ///
    /// # Errors
    /// If there is no such link, or the simulation is not one that can be changed: packets are
    /// under way already then.
    pub fn queued(&mut self, link: &str, most: usize) -> Result<Vec<QueuedPacket>, Error> {
        let places = places(&self.network);
        let named = self.network.links.iter().zip(places).find(|(of, _)| of.name == link);
        let Some((_, Some(place))) = named else {
            return Err(Error::scenario(format!("link: there is no queue named {link}")));
        };
        let sim = &mut self.run.sim;
        sim.net.links[place as usize].settle(self.now);
        let mut packets = Vec::new();
        let there = sim.net.links[place as usize].each(&mut |standing| {
            if packets.len() < most {
                packets.push(QueuedPacket::of(sim, &standing.packet));
            }
        });
        if !there {
            let message = "packets of a queue are known in a simulation that can be changed only";
            return Err(Error::scenario(message));
        }
        Ok(packets)
    }

    /// Sets a value of the scenario from now on, by its dotted path: a parameter of a link's queue
    /// discipline (`bottleneck.qdisc.qref`), a link's rate (`bottleneck.rate`) or a setting of a
    /// congestion control (`traffic.0.tcp.congestion.cwnd`).
    ///
    /// # Errors
    /// If the path leads nowhere or to what cannot change during a run, or the value is wrong.
    pub fn set(&mut self, path: &str, value: Value) -> Result<(), Error> {
        let wrong = |error: sojourn_scenario::Error| Error::scenario(error.to_string());
        let at = self.now;
        if at >= self.network.duration {
            return Err(Error::scenario(format!("{path}: the simulation is at its end, {at}")));
        }
        if let Some(done) = self.set_parameter(path, &value) {
            return done;
        }
        let Some(mut origin) = self.origin.clone() else {
            return Err(Error::scenario(format!("{path}: this simulation cannot be changed")));
        };
        let (links, groups) = (&self.network.links, &self.network.groups);
        while let Some(past) = origin.scenario.changes.get(origin.applied).filter(|c| c.at <= at) {
            (origin.present, _) =
                origin.present.changed(links, groups, past, &origin.base_dir).map_err(wrong)?;
            origin.applied += 1;
        }
        let change = Change { at, set: [(path.to_string(), value)].into() };
        let (present, made) =
            origin.present.changed(links, groups, &change, &origin.base_dir).map_err(wrong)?;
        for change in &made {
            self.make(change)?;
        }
        origin.scenario.changes.insert(origin.applied, change);
        (origin.present, origin.applied) = (present, origin.applied + 1);
        if !self.to_come.is_empty() {
            // What is to come starts from what is now.
            let network = origin.scenario.network(&origin.base_dir).map_err(wrong)?;
            self.to_come = network.changes.into_iter().rev().filter(|c| c.at > at).collect();
        }
        self.origin = Some(origin);
        Ok(())
    }

    /// The same where a number is set and no changes of the scenario's own are about; none if that
    /// is not so, and nothing has happened.
    fn set_parameter(&mut self, path: &str, value: &Value) -> Option<Result<(), Error>> {
        let at = self.now;
        let origin = self.origin.as_mut()?;
        if !self.to_come.is_empty() || origin.applied < origin.scenario.changes.len() {
            return None;
        }
        let before = origin.present.bottleneck.clone();
        let change = Change { at, set: [(path.to_string(), value.clone())].into() };
        let (links, groups) = (&self.network.links, &self.network.groups);
        let made = origin.present.change_parameter(links, groups, &change)?;
        if let Err(error) = made.iter().try_for_each(|change| self.make(change)) {
            self.origin.as_mut()?.present.bottleneck = before;
            return Some(Err(error));
        }
        let origin = self.origin.as_mut()?;
        origin.scenario.changes.push(change);
        origin.applied += 1;
        Some(Ok(()))
    }

    /// A change happens, after all else at its instant.
    fn make(&mut self, change: &NetworkChange) -> Result<(), Error> {
        match &change.what {
            Changed::Link(number, qdisc, rate) => self.make_link(*number, qdisc.as_ref(), *rate),
            Changed::Group(number, tcp) => {
                self.network.groups[*number].tcp = (**tcp).clone();
                self.run.sim.groups[*number].tcp = (**tcp).clone();
                Ok(())
            }
        }
    }

    fn make_link(
        &mut self,
        number: usize,
        qdisc: Option<&Qdisc>,
        rate: Option<Rate>,
    ) -> Result<(), Error> {
        let Some(place) = places(&self.network)[number] else { return Ok(()) };
        let of = &mut self.network.links[number];
        let link = &mut self.run.sim.net.links[place as usize];
        let wrong = |why: String| Error::scenario(format!("link {}: {why}", of.name));
        if let Some(qdisc) = qdisc
            && let Some(env) = of.env()
        {
            let done = link.change_qdisc(self.now, qdisc, &env);
            if !done.map_err(|error| wrong(error.to_string()))? {
                let kind = qdisc.name();
                return Err(wrong(format!(
                    "parameters of {kind} cannot change during a run; those of {} can",
                    CHANGEABLE.join(", ")
                )));
            }
            of.qdisc = qdisc.clone();
        }
        if let Some(rate) = rate {
            link.change_rate(self.now, rate);
            of.rate = Some(rate);
        }
        Ok(())
    }

    /// The scenario with all that was set: run, it gives what this simulation gives.
    #[must_use]
    pub fn scenario(&self) -> Option<&Scenario> {
        self.origin.as_ref().map(|origin| &origin.scenario)
    }

    /// A copy that goes its own way. It writes no files; in memory it has tables of its own.
    ///
    /// # Errors
    /// If algorithms from outside are at work, which cannot be copied.
    pub fn fork(&self) -> Result<Self, Error> {
        let outside = |group: &sojourn_scenario::NetworkGroup| {
            let quic = group.quic.as_ref().map(|quic| &quic.tuning);
            matches!(quic.unwrap_or(&group.tcp.tuning), Tuning::External(_))
        };
        if self.network.links.iter().any(|link| link.qdisc.is_external())
            || self.network.groups.iter().any(outside)
        {
            let message = "a simulation with algorithms written in Python cannot be copied; \
                           make another and run it to the same instant";
            return Err(Error::scenario(message));
        }
        Ok(self.clone())
    }

    /// Where its records go.
    pub fn recorder(&mut self) -> &mut Recorder {
        &mut self.run.sim.probes.links.recorder
    }

    /// Ends the simulation where it is: the summary of what has been simulated, and the recorder.
    pub fn finish(mut self) -> (Summary, Recorder) {
        let mut summary = self.run.summarise(&self.network, self.now);
        summary.engine_seconds = self.engine_seconds;
        summary.wall_s = self.engine_seconds;
        (summary, self.run.sim.probes.links.recorder)
    }
}
