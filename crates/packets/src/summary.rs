//! The measured window: its beginning, and the summary at its end.

use crate::probes::FlowMeter;
use crate::run::Run;
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_records::{FlowSummary, Outcome, Quantiles, Summary, Totals, ratio};
use sojourn_scenario::Network;

impl Sim {
    /// The measured window begins: everything counted so far lies before it.
    pub(crate) fn start_window(&mut self, now: Time) {
        self.probes.measuring = true;
        for link in &mut self.net.links {
            link.start_window(now);
        }
        for group in 0..self.groups.len() {
            let totals = self.totals(group);
            self.groups[group].book.start_window(now, totals);
        }
    }

    /// What each member of a group has counted since the start of the run.
    pub(crate) fn totals(&self, group: usize) -> Vec<Totals> {
        self.groups[group].book.totals(self.conns.counted(group))
    }
}

impl Run {
    /// The run has ended at `end`: exchanges under way are censored, and everything is summed up.
    pub(crate) fn summarise(&mut self, network: &Network, end: Time) -> Summary {
        let sim = &mut self.sim;
        for app in &mut self.apps {
            app.censor(sim, end);
        }
        for place in sim.conns.places() {
            sim.end_exchange(end, place, Outcome::Censored);
        }
        for link in &mut sim.net.links {
            link.settle(end);
        }
        sim.probes.links.finish();
        let window = end.saturating_sub(network.warmup);
        let mut summary = Summary {
            events: self.events,
            bottleneck_packets: sim.probes.bottleneck_packets(&sim.net),
            ..Summary::of("packets", network, end)
        };
        if !sim.probes.measuring {
            // Stopped before the window began: there is nothing to sum up.
            return summary;
        }
        summary.links = sojourn_link::summaries(network, &sim.net.links, window);
        for number in 0..sim.groups.len() {
            let group = &mut sim.groups[number];
            group.book.end_window(end, sim.conns.counted(number));
            let flows = network.probes.flows.then(|| {
                let mut flows = group.book.flows(window);
                let first = group.first_meter.map_or(0, |first| first as usize);
                let meters = sim.probes.meters.get(first..).unwrap_or_default();
                let counted = group.book.counted();
                for ((flow, counted), meter) in flows.iter_mut().zip(counted).zip(meters) {
                    metered(meter, counted, flow);
                }
                flows
            });
            let group = group.book.summary(window);
            summary.add_group(group, flows, &mut sim.probes.links.recorder);
        }
        summary
    }
}

/// Adds what a flow's meter knows.
fn metered(meter: &FlowMeter, counted: &Totals, flow: &mut FlowSummary) {
    (flow.delay_s, flow.jitter_s) = meter.delay_and_jitter();
    flow.loss = ratio(meter.dropped, counted.sent).map(|loss| loss.min(1.0));
    flow.rtt_s = Quantiles::seconds_coarse(&meter.rtt);
}
