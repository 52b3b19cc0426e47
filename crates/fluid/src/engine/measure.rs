//! What is measured while a run is under way: sums over time, and the tables that are asked for.
//!
//! Everything is taken at equal times and summed by the trapezoidal rule. Packets are expected
//! numbers, rounded where they become counts.

use std::collections::VecDeque;

use sojourn_base::Time;
use sojourn_records::{FlowId, LinkId, Names, QueueRow, Recorder, TraceRow};
use sojourn_scenario::Network;

use super::error::Error;
use super::read::Plan;
use crate::QueueLaw;
use crate::mgt::{Layout, Mgt};
use crate::queues::Ared;

/// Longest time between two samples, in seconds.
const FINE: f64 = 0.01;
/// Most samples, unless a table asks for more.
const MOST: f64 = 2e6;
/// Most values that quantiles are taken from, for each queue and class.
const MOST_VALUES: u64 = 200_000;

/// What is summed up at a queue: packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Flow {
    pub arrived: f64,
    pub early: f64,
    pub marked: f64,
    pub overflow: f64,
}

impl Flow {
    fn add(&mut self, from: &Self, to: &Self, half: f64) {
        self.arrived += half * (from.arrived + to.arrived);
        self.early += half * (from.early + to.early);
        self.marked += half * (from.marked + to.marked);
        self.overflow += half * (from.overflow + to.overflow);
    }

    pub(super) fn dropped(&self) -> f64 {
        self.early + self.overflow
    }
}

/// One queue.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueMeter {
    rate: Flow,
    /// Since the start of the run, for the rows of the table.
    total: Flow,
    /// In the window.
    pub window: Flow,
    pub at_start: f64,
    pub length: f64,
    pub area: f64,
    pub lengths: Vec<f64>,
    /// What left in the time to each of these from the one before.
    pub leaving: Vec<f64>,
    /// The same since the last sample, and since the last length.
    leaves: f64,
    gone: f64,
    /// The last row's counts: arrived, dropped, marked, dequeued.
    counted: [u64; 4],
    /// Times and lengths of which the first is the least in the sliding window.
    recent: VecDeque<(f64, f64)>,
    /// What stands in the queue, over time, and the most of it.
    pub standing_area: f64,
    pub standing_most: f64,
    standing: f64,
}

impl QueueMeter {
    /// Packets that were sent on since the start of the run.
    pub(super) fn left(&self) -> f64 {
        (self.total.arrived - self.total.dropped() - self.length).max(0.0)
    }

    /// The least length in the window of `span` seconds that ends now with `length`.
    fn least(&mut self, time: f64, length: f64, span: f64) -> f64 {
        while self.recent.back().is_some_and(|(_, other)| *other >= length) {
            self.recent.pop_back();
        }
        self.recent.push_back((time, length));
        while self.recent.front().is_some_and(|(at, _)| *at < time - span) {
            self.recent.pop_front();
        }
        self.recent.front().map_or(length, |(_, least)| *least)
    }
}

/// One class: sums for one of its flows.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassMeter {
    /// Packets per second sent, and not lost, at the last sample.
    rate: [f64; 2],
    /// Packets sent in the window, and those of them that were not lost.
    pub sent: f64,
    pub passed: f64,
    /// Packets that arrived in the window.
    pub delivered: f64,
    /// Of what leaves the last queue of the path.
    share: f64,
    /// Round trips while there were flows.
    pub round_trips: Vec<f64>,
    /// The greatest rate ever.
    fastest: f64,
}

/// All meters of a run.
pub(super) struct Measure {
    pub plan: Plan,
    layout: Layout,
    step: f64,
    every: u64,
    stride: u64,
    warmup: f64,
    standing_window: f64,
    /// The last sample, and the one with which the window begins.
    last: f64,
    first: f64,
    pub queues: Vec<QueueMeter>,
    pub classes: Vec<ClassMeter>,
    recorder: Recorder,
    record_queues: bool,
    /// For each trace its class.
    traces: Vec<Option<usize>>,
}

impl Measure {
    /// Opens the tables that are asked for.
    pub(super) fn new(
        network: &Network,
        plan: &Plan,
        mut recorder: Recorder,
    ) -> Result<Self, Error> {
        let wanted = &network.probes;
        recorder.begin(Names {
            links: plan.links.iter().map(|&link| network.links[link].name.clone()).collect(),
            ..Names::of(network)
        });
        let class_of = |(group, flow): &(usize, u32)| {
            plan.members
                .iter()
                .position(|member| member.group == *group && member.flows.contains(flow))
        };
        let traces: Vec<_> = wanted.traces.iter().map(class_of).collect();
        if wanted.queues {
            recorder.open::<QueueRow>();
        }
        recorder.open_flows(wanted);
        let duration = network.duration.as_secs_f64();
        let (step, every) = if wanted.queues || !traces.is_empty() {
            let interval = wanted.interval.as_secs_f64();
            let parts = (interval / FINE).ceil().max(1.0);
            let parts = if duration / interval * parts > MOST { 1.0 } else { parts };
            (interval / parts, parts as u64)
        } else {
            (FINE.min(duration / 1000.0).max(duration / MOST), u64::MAX)
        };
        let layout =
            Layout { classes: plan.parameters.classes.len(), queues: plan.parameters.queues.len() };
        Ok(Self {
            layout,
            step,
            every,
            stride: ((duration / step) as u64 / MOST_VALUES).max(1),
            warmup: network.warmup.as_secs_f64(),
            standing_window: wanted.standing_window.as_secs_f64(),
            last: 0.0,
            first: 0.0,
            queues: vec![QueueMeter::default(); layout.queues],
            classes: vec![ClassMeter::default(); layout.classes],
            recorder,
            record_queues: wanted.queues,
            traces,
            plan: plan.clone(),
        })
    }

    /// Seconds between two samples.
    pub(super) fn step(&self) -> f64 {
        self.step
    }

    /// Seconds of the window: from its first sample to the last.
    pub(super) fn window(&self) -> f64 {
        self.last - self.first
    }

    /// All states and signals at a time.
    pub(super) fn sample(&mut self, number: u64, time: f64, row: &[f64], model: &Mgt) {
        let half = 0.5 * (time - self.last);
        // The window begins at the first sample at or after the warm-up.
        let measured = number > 0 && self.last >= self.warmup;
        if !measured {
            self.first = time;
        }
        let keep = time >= self.warmup && number.is_multiple_of(self.stride);
        for queue in 0..self.layout.queues {
            self.sample_queue(queue, time, row, half, measured, keep);
        }
        for class in 0..self.layout.classes {
            self.sample_class(class, row, half, measured, keep, model);
        }
        self.deliver(model, measured);
        self.last = time;
        if self.every != u64::MAX && number > 0 && number.is_multiple_of(self.every) {
            self.record(time, row, model);
        }
    }

    fn sample_queue(
        &mut self,
        queue: usize,
        time: f64,
        row: &[f64],
        half: f64,
        measured: bool,
        keep: bool,
    ) {
        let spec = &self.plan.parameters.queues[queue];
        let inflow = row[self.layout.inflow(queue)];
        let (loss, overflow) = (row[self.layout.loss(queue)], row[self.layout.overflow(queue)]);
        let law = law_share(loss, overflow);
        let hit = inflow * law;
        let rate = Flow {
            arrived: inflow,
            early: if spec.thins { hit } else { 0.0 },
            marked: if spec.thins { 0.0 } else { hit },
            overflow: inflow * (1.0 - if spec.thins { law } else { 0.0 }) * overflow,
        };
        let length = row[self.layout.queue(queue)].max(0.0);
        let meter = &mut self.queues[queue];
        let before = meter.left();
        meter.total.add(&meter.rate, &rate, half);
        let standing = meter.least(time, length, self.standing_window);
        if measured {
            meter.standing_area += half * (meter.standing + standing);
            meter.standing_most = meter.standing_most.max(standing);
            meter.window.add(&meter.rate, &rate, half);
            meter.area += half * (meter.length + length);
        } else {
            meter.at_start = length;
        }
        (meter.rate, meter.length, meter.standing) = (rate, length, standing);
        meter.leaves = (meter.left() - before).max(0.0);
        meter.gone = if measured { meter.gone + meter.leaves } else { 0.0 };
        if keep {
            meter.lengths.push(length);
            meter.leaving.push(std::mem::take(&mut meter.gone));
        }
    }

    fn sample_class(
        &mut self,
        class: usize,
        row: &[f64],
        half: f64,
        measured: bool,
        keep: bool,
        model: &Mgt,
    ) {
        let spec = &self.plan.parameters.classes[class];
        let present = model.flows(class) > 0.0;
        let round_trip = model.round_trip_in(class, row);
        let rate = if present { row[self.layout.window(class)] / round_trip } else { 0.0 };
        let passed: f64 = spec
            .path
            .iter()
            .map(|&queue| {
                let lost = if self.plan.parameters.queues[queue].thins {
                    row[self.layout.loss(queue)]
                } else {
                    row[self.layout.overflow(queue)]
                };
                1.0 - lost
            })
            .product();
        let meter = &mut self.classes[class];
        let now = [rate, rate * passed];
        if measured {
            meter.sent += half * (meter.rate[0] + now[0]);
            meter.passed += half * (meter.rate[1] + now[1]);
        }
        if keep && present {
            meter.round_trips.push(round_trip);
        }
        meter.rate = now;
        meter.fastest = meter.fastest.max(rate);
    }

    /// What the last queue of each class's path lets go, among the flows that fill it, by their
    /// rates; once nobody fills it, by what they were.
    fn deliver(&mut self, model: &Mgt, measured: bool) {
        let classes = &self.plan.parameters.classes;
        for (class, spec) in classes.iter().enumerate() {
            let Some(last) = spec.path.last() else { continue };
            let filling = (0..classes.len()).filter(|other| classes[*other].path.contains(last));
            let total: f64 =
                filling.map(|other| model.flows(other) * self.classes[other].rate[1]).sum();
            let meter = &mut self.classes[class];
            if total > 0.0 {
                meter.share = meter.rate[1] / total;
            }
            if measured {
                meter.delivered += meter.share * self.queues[*last].leaves;
            }
        }
    }

    /// The rows of one sampling instant.
    fn record(&mut self, time: f64, row: &[f64], model: &Mgt) {
        let at = Time((time * 1e9).round() as u64);
        for queue in 0..if self.record_queues { self.layout.queues } else { 0 } {
            let spec = &self.plan.parameters.queues[queue];
            let network_rate = self.plan.rates[queue];
            let meter = &mut self.queues[queue];
            let total = &meter.total;
            let now = [total.arrived, total.dropped(), total.marked, meter.left()];
            let counts = now.map(|packets| packets.round() as u64);
            let new = |which: usize| counts[which].saturating_sub(meter.counted[which]);
            let bytes = f64::from(self.plan.ip_bytes[queue]);
            let share = law_share(row[self.layout.loss(queue)], row[self.layout.overflow(queue)]);
            self.recorder.push(QueueRow {
                time_s: at,
                link: LinkId(queue as u32),
                packets: meter.length.round() as u64,
                bytes: (meter.length * bytes).round() as u64,
                probability: probability(&self.plan.parameters.queues[queue].law, share),
                entered: new(0).saturating_sub(new(1)),
                dropped: new(1),
                marked: new(2),
                dequeued: new(3),
                dequeued_bytes: new(3) * u64::from(self.plan.ip_bytes[queue]),
                rate_bps: network_rate,
                standing_packets: meter.standing.round() as u64,
                standing_s: Some(Time((meter.standing / spec.capacity * 1e9) as u64)),
                lost: 0,
                device_packets: 0,
                device_bytes: 0,
            });
            meter.counted = counts;
        }
        for (trace, class) in self.traces.iter().enumerate() {
            let Some(class) = *class else { continue };
            if model.flows(class) <= 0.0 {
                continue;
            }
            let payload = f64::from(self.plan.members[class].payload);
            let window = (row[self.layout.window(class)] * payload).round() as u64;
            self.recorder.push(TraceRow {
                time_s: at,
                flow: FlowId(trace as u32),
                cwnd_bytes: window,
                ssthresh_bytes: None,
                srtt_s: Some(Time((model.round_trip_in(class, row) * 1e9) as u64)),
                in_flight_bytes: window,
                acked_bytes: None,
            });
        }
    }

    /// Private links are delay only, which is wrong for flows that would fill them.
    pub(super) fn check_access(&self) -> Result<(), Error> {
        let over = self
            .classes
            .iter()
            .zip(&self.plan.members)
            .find(|(meter, member)| meter.fastest > 1.01 * member.access);
        match over {
            None => Ok(()),
            Some((meter, member)) => Err(Error(format!(
                "access.rate: a flow would send {:.0} packets per second, its private link carries \
                 {:.0}; the fluid engine has no queue there: raise access.rate, or use --engine \
                 packets",
                meter.fastest, member.access
            ))),
        }
    }

    /// The recorder, for rows of flows.
    pub(super) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// The recorder, to be finished.
    pub(super) fn into_recorder(self) -> Recorder {
        self.recorder
    }
}

/// The law's share of a loss that a full buffer adds to.
fn law_share(loss: f64, overflow: f64) -> f64 {
    if overflow >= 1.0 { 0.0 } else { (1.0 - (1.0 - loss) / (1.0 - overflow)).clamp(0.0, 1.0) }
}

/// What a discipline would show as its probability: RED's before drops are spaced.
fn probability(law: &QueueLaw, share: f64) -> f64 {
    match law {
        QueueLaw::Red(red) | QueueLaw::Ared(Ared { red, .. }) => red.probability_of(share),
        _ => share,
    }
}

#[cfg(test)]
mod tests;
