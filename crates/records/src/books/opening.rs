//! Opening the books of a network: names, tables, and the head of the summary.

use crate::{
    ExchangeRow, FlowRow, FlowSummary, GroupId, GroupSummary, Names, PageRow, Recorder, Summary,
    TraceRow, TransferRow,
};
use sojourn_base::Time;
use sojourn_scenario::{Network, NetworkGroup, NetworkProbes};

impl Names {
    /// The names of a network: of its links with a rate, its groups, and its traced flows.
    #[must_use]
    pub fn of(network: &Network) -> Self {
        let finite = network.links.iter().filter(|link| link.rate.is_some());
        let groups = || network.groups.iter().map(|group| &group.name);
        let traces = network.probes.traces.iter();
        Self {
            links: finite.map(|link| link.name.clone()).collect(),
            groups: groups().cloned().collect(),
            flows: traces
                .map(|(group, member)| format!("{}.{member}", network.groups[*group].name))
                .collect(),
        }
    }
}

impl Recorder {
    /// Opens the tables of exchanges, of pages and of transfers, if they are wanted.
    pub fn open_exchanges(&mut self, wanted: &NetworkProbes) {
        if wanted.exchanges {
            self.open::<ExchangeRow>();
            self.open::<PageRow>();
            self.open::<TransferRow>();
        }
    }

    /// Opens the tables of flows and of traces, as far as they are wanted.
    pub fn open_flows(&mut self, wanted: &NetworkProbes) {
        if wanted.flows {
            self.open::<FlowRow>();
        }
        if !wanted.traces.is_empty() {
            self.open::<TraceRow>();
        }
    }
}

impl GroupSummary {
    /// The summary of a group of which nothing is known yet.
    #[must_use]
    pub fn of(group: &NetworkGroup) -> Self {
        Self {
            name: group.name.clone(),
            kind: group.source.kind().into(),
            members: u64::from(group.members),
            ..Self::default()
        }
    }
}

impl Summary {
    /// The summary of an engine's run of a network that ended at `end`, with nothing counted yet.
    #[must_use]
    pub fn of(engine: &str, network: &Network, end: Time) -> Self {
        let seconds = end.as_secs_f64();
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            engine: engine.into(),
            name: network.name.clone(),
            seed: network.seed,
            simulated_s: seconds,
            window_s: (network.warmup.min(end).as_secs_f64(), seconds),
            stopped_early: end < network.duration,
            ..Self::default()
        }
    }

    /// Adds the next group and, where they are wanted, its flows, which also become rows.
    pub fn add_group(
        &mut self,
        group: GroupSummary,
        flows: Option<Vec<FlowSummary>>,
        recorder: &mut Recorder,
    ) {
        let number = GroupId(self.groups.len() as u32);
        self.groups.push(group);
        for flow in flows.into_iter().flatten() {
            recorder.push(FlowRow::new(number, &flow));
            self.flows.push(flow);
        }
    }
}
