//! From counters to the summary.

use crate::apps::{App, Datagrams};
use crate::group::{Group, Totals};
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_records::{
    Distribution, FlowRow, FlowSummary, GroupId, GroupSummary, Outcome, Quantiles, Summary, jain,
    rate_bps, ratio,
};
use sojourn_scenario::Network;

impl Sim {
    /// The measured window begins: everything counted so far lies before it.
    pub fn start_window(&mut self, now: u64) {
        self.measuring = true;
        self.probes.measuring = true;
        for link in &mut self.net.links {
            link.start_window(now);
        }
        let totals = self.totals();
        for (group, total) in self.groups.iter_mut().zip(totals) {
            group.stats.at_start = total;
        }
        for group in 0..self.groups.len() {
            let members = self.member_totals(group);
            match &mut self.apps.apps[group] {
                App::Flows(flows) => flows.at_start = members,
                App::Datagrams(app) => app.at_start.clone_from(&app.members),
                _ => {}
            }
        }
    }

    /// What each flow of a group has counted since the start of the run.
    fn member_totals(&self, group: usize) -> Vec<Totals> {
        let App::Flows(flows) = &self.apps.apps[group] else { return Vec::new() };
        let mut totals = flows.retired.clone();
        for (_, conn) in self.conns.iter().filter(|(_, conn)| usize::from(conn.group) == group) {
            totals[conn.member as usize].add(conn);
        }
        totals
    }

    /// The run has ended at `end`: exchanges under way are censored, and everything is summed up.
    pub fn summarise(&mut self, network: &Network, end: u64) -> Summary {
        for place in self.conns.places() {
            self.end_exchange(end, place, Outcome::Censored);
        }
        for link in &mut self.net.links {
            link.settle(end);
        }
        self.probes.end();
        let window = Time(end.saturating_sub(network.warmup.0));
        let mut summary = Summary {
            engine: "packets".into(),
            name: network.name.clone(),
            seed: network.seed,
            simulated_s: Time(end).as_secs_f64(),
            window_s: (
                network.warmup.as_secs_f64().min(Time(end).as_secs_f64()),
                Time(end).as_secs_f64(),
            ),
            events: self.events,
            bottleneck_packets: self.probes.bottleneck_packets(&self.net),
            stopped_early: end < network.duration.0,
            ..Summary::default()
        };
        if !self.measuring {
            // Stopped before the window began: there is nothing to sum up.
            return summary;
        }
        summary.links = sojourn_link::summaries(network, &self.net.links, window);
        for (group, total) in self.totals().into_iter().enumerate() {
            let total = total.since(&self.groups[group].stats.at_start);
            let fair = self.fairness(group);
            let g = &self.groups[group];
            summary.groups.push(group_summary(g, &self.apps.apps[group], &total, window, fair));
            if network.probes.flows {
                let flows = self.flow_summaries(group, window);
                for flow in &flows {
                    self.probes.recorder.push(FlowRow::new(GroupId(group as u32), flow));
                }
                summary.flows.extend(flows);
            }
        }
        summary
    }

    /// Jain's index of the bytes that each flow of a group delivered; none for a single flow.
    fn fairness(&self, group: usize) -> Option<f64> {
        match &self.apps.apps[group] {
            App::Flows(flows) if flows.retired.len() > 1 => {
                let totals = self.member_totals(group);
                let each = totals.iter().zip(&flows.at_start);
                jain(each.map(|(now, start)| (now.delivered - start.delivered) as f64))
            }
            App::Datagrams(app) if app.members.len() > 1 => {
                let each = app.members.iter().zip(&app.at_start);
                jain(each.map(|(now, start)| (now.bytes - start.bytes) as f64))
            }
            _ => None,
        }
    }

    fn flow_summaries(&self, group: usize, window: Time) -> Vec<FlowSummary> {
        let name = &self.groups[group].name;
        match &self.apps.apps[group] {
            App::Flows(flows) => {
                let totals = self.member_totals(group);
                let each = totals.iter().zip(&flows.at_start).enumerate();
                each.map(|(index, (now, start))| {
                    let total = now.since(start);
                    let mut flow = FlowSummary {
                        group: name.clone(),
                        index: index as u64,
                        goodput_bps: rate_bps(total.delivered, window),
                        retransmissions: Some(total.retransmissions),
                        timeouts: Some(total.timeouts),
                        ..FlowSummary::default()
                    };
                    self.metered(flows.first_meter, index, total.sent, &mut flow);
                    flow
                })
                .collect()
            }
            App::Datagrams(app) => (0..app.members.len())
                .map(|index| {
                    let (now, start) = (app.members[index], app.at_start[index]);
                    let mut flow = FlowSummary {
                        group: name.clone(),
                        index: index as u64,
                        goodput_bps: rate_bps(now.bytes - start.bytes, window),
                        retransmissions: Some(0),
                        timeouts: Some(0),
                        ..FlowSummary::default()
                    };
                    self.metered(app.first_meter, index, now.sent - start.sent, &mut flow);
                    flow
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Adds what a flow's meter knows.
    fn metered(&self, first: Option<u32>, index: usize, sent: u64, flow: &mut FlowSummary) {
        let Some(first) = first else { return };
        let meter = &self.probes.meters[first as usize + index];
        (flow.delay_s, flow.jitter_s) = meter.delay_and_jitter();
        flow.loss = ratio(meter.dropped, sent).map(|loss| loss.min(1.0));
        flow.rtt_s = Quantiles::seconds_coarse(&meter.rtt);
    }
}

fn group_summary(
    group: &Group,
    app: &App,
    total: &Totals,
    window: Time,
    jain: Option<f64>,
) -> GroupSummary {
    let stats = &group.stats;
    let mut summary = GroupSummary {
        name: group.name.clone(),
        kind: group.kind.into(),
        members: u64::from(group.members),
        goodput_bps: rate_bps(total.delivered, window),
        jain,
        retransmissions: Some(total.retransmissions),
        timeouts: Some(total.timeouts),
        started: stats.started,
        finished: stats.finished,
        failed: stats.failed,
        censored: stats.censored,
        response_time_s: Distribution::seconds(&stats.response),
        rtt_s: Quantiles::seconds(&stats.rtt),
    };
    match app {
        App::Probe(probe) => {
            summary.started = probe.sent;
            summary.finished = probe.answered;
        }
        App::Datagrams(Datagrams { members, at_start, .. }) => {
            let sum = |of: fn(&crate::apps::Received) -> u64| {
                members.iter().map(of).sum::<u64>() - at_start.iter().map(of).sum::<u64>()
            };
            summary.started = sum(|m| m.sent);
            summary.finished = sum(|m| m.received);
        }
        _ => {}
    }
    summary
}
