//! What is looked at during a run, and when: the start of the window, groups that stop, round
//! trips, traced flows, how far the run is.

use super::talk;
use crate::hosts::Common;
use sojourn_records::{ExchangeRow, FlowRow, Recorder, TraceRow, TransferRow};
use sojourn_scenario::Network;

/// Time between two looks at the smoothed round trips, and between two words on how far it is, ns.
const OFTEN: u64 = 100_000_000;

/// Opens the tables that the hosts write.
pub fn open(network: &Network, recorder: &mut Recorder) {
    let wanted = &network.probes;
    if wanted.exchanges {
        recorder.open::<ExchangeRow>();
        recorder.open::<TransferRow>();
    }
    if wanted.flows {
        recorder.open::<FlowRow>();
    }
    if !wanted.traces.is_empty() {
        recorder.open::<TraceRow>();
    }
}

/// The measured window begins.
pub fn start_window(common: &Common) {
    common.ledger.books().start_window();
    common.receipts.start_window();
}

/// What is due when.
pub struct Samples {
    window: Option<u64>,
    /// Groups that stop, by time; the last is next.
    stops: Vec<(u64, usize)>,
    often: u64,
    trace: Option<u64>,
    interval: u64,
    end: u64,
    over: bool,
}

impl Samples {
    pub fn new(network: &Network) -> Self {
        let groups = network.groups.iter().enumerate();
        let mut stops: Vec<(u64, usize)> =
            groups.filter_map(|(at, group)| Some((group.stop?.0, at))).collect();
        stops.sort_unstable_by(|a, b| b.cmp(a));
        let interval = network.probes.interval.0;
        Self {
            window: Some(network.warmup.0).filter(|at| *at > 0),
            stops,
            often: OFTEN,
            trace: (!network.probes.traces.is_empty()).then_some(interval),
            interval,
            end: network.duration.0,
            over: false,
        }
    }

    /// When to look next, ns; none after the end.
    pub fn next(&self) -> Option<u64> {
        if self.over {
            return None;
        }
        let stop = self.stops.last().map(|(at, _)| *at);
        [self.window, stop, Some(self.often), self.trace, Some(self.end)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Looks at what is due.
    pub fn take(&mut self, now: u64, packets: u64, common: &Common) {
        if self.window.is_some_and(|at| at <= now) {
            self.window = None;
            start_window(common);
        }
        while let Some((_, group)) = self.stops.pop_if(|(at, _)| *at <= now) {
            common.ledger.stop_group(group);
        }
        if self.trace.is_some_and(|at| at <= now) {
            common.ledger.books().trace(now, &common.network.probes.traces);
            // A look that was late is not made up for.
            self.trace = Some(now - now % self.interval + self.interval);
        }
        if self.often <= now {
            common.ledger.books().sample_round_trips();
            talk::progress(now, packets);
            self.often = now - now % OFTEN + OFTEN;
        }
        self.over = now >= self.end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    #[test]
    fn looks_come_in_the_order_of_time_and_end() {
        let text = "duration = \"1s\"\nwarmup = \"250ms\"\n[bottleneck]\nrate = \"10mbit\"\n\
            delay = \"5ms\"\nqdisc = { kind = \"droptail\", limit = 50 }\n\
            [[traffic]]\nkind = \"bulk\"\nstop = \"420ms\"\n\
            [[traffic]]\nkind = \"bulk\"\nstop = \"130ms\"\n";
        let network = Scenario::from_toml(text, "test").unwrap().network(".".as_ref()).unwrap();
        let samples = Samples::new(&network);
        assert_eq!(samples.next(), Some(100_000_000));
        assert_eq!(samples.stops, [(420_000_000, 0), (130_000_000, 1)]);
        let over = Samples { over: true, ..samples };
        assert_eq!(over.next(), None);
    }
}
