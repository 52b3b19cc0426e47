//! What is looked at during a run, and when: the start of the window, groups that stop, round
//! trips, traced flows, how far the run is.

use super::talk;
use crate::hosts::Common;
use sojourn_base::Time;
use sojourn_scenario::Network;

/// Time between two looks at the smoothed round trips, and between two words on how far it is.
const OFTEN: Time = Time::from_millis(100);

/// The measured window begins at `now`.
pub(super) fn start_window(now: Time, common: &Common) {
    common.ledger.books().start_window(now, &common.receipts);
    common.receipts.start_window();
}

/// What is due when.
pub(super) struct Samples {
    window: Option<Time>,
    /// Groups that stop, by time; the last is next.
    stops: Vec<(Time, usize)>,
    often: Time,
    trace: Option<Time>,
    interval: Time,
    end: Time,
    over: bool,
}

impl Samples {
    pub(super) fn new(network: &Network) -> Self {
        let groups = network.groups.iter().enumerate();
        let mut stops: Vec<(Time, usize)> =
            groups.filter_map(|(at, group)| Some((group.stop?, at))).collect();
        stops.sort_unstable_by(|a, b| b.cmp(a));
        let interval = network.probes.interval;
        Self {
            window: Some(network.warmup).filter(|at| *at > Time::ZERO),
            stops,
            often: OFTEN,
            trace: (!network.probes.traces.is_empty()).then_some(interval),
            interval,
            end: network.duration,
            over: false,
        }
    }

    /// When to look next; none after the end.
    pub(super) fn next(&self) -> Option<Time> {
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
    pub(super) fn take(&mut self, now: Time, packets: u64, common: &Common) {
        if self.window.is_some_and(|at| at <= now) {
            self.window = None;
            start_window(now, common);
        }
        while let Some((_, group)) = self.stops.pop_if(|(at, _)| *at <= now) {
            common.ledger.stop_group(group, now);
        }
        if self.trace.is_some_and(|at| at <= now) {
            common.ledger.books().trace(now, &common.network.probes.traces);
            // A look that was late is not made up for.
            self.trace = Some(next_multiple(now, self.interval));
        }
        if self.often <= now {
            common.ledger.books().sample_round_trips();
            talk::progress(now, packets);
            self.often = next_multiple(now, OFTEN);
        }
        self.over = now >= self.end;
    }
}

/// The first multiple of `step` after `now`.
fn next_multiple(now: Time, step: Time) -> Time {
    step * (now.0 / step.0 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    #[test]
    fn samples_are_ordered_by_time_and_end() {
        let text = "duration = \"1s\"\nwarmup = \"250ms\"\n[bottleneck]\nrate = \"10mbit\"\n\
            delay = \"5ms\"\nqdisc = { kind = \"droptail\", limit = 50 }\n\
            [[traffic]]\nkind = \"bulk\"\nstop = \"420ms\"\n\
            [[traffic]]\nkind = \"bulk\"\nstop = \"130ms\"\n";
        let network = Scenario::from_toml(text, "test").unwrap().network(".".as_ref()).unwrap();
        let samples = Samples::new(&network);
        assert_eq!(samples.next(), Some(Time::from_millis(100)));
        assert_eq!(samples.stops, [(Time::from_millis(420), 0), (Time::from_millis(130), 1)]);
        let over = Samples { over: true, ..samples };
        assert_eq!(over.next(), None);
    }
}
