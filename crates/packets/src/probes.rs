//! What is recorded on request while a run is under way. Nothing here changes a decision.

use crate::end::End;
use crate::group::Group;
use crate::net::Net;
use crate::packet::Packet;
use crate::qlog::{Action, Arrival, CallEvents, CallLog, FlowLog, Subject};
use crate::tap::Tapped;
use sojourn_base::{Ecn, Time};
use sojourn_records::{CoarseHistogram, FILES, FlowId, Recorder, TraceRow};
use sojourn_traffic::Call;

/// What is known of one flow beyond its endpoints' own counters.
#[derive(Clone, Default)]
pub(crate) struct FlowMeter {
    delay_sum: u64,
    jitter_sum: u64,
    received: u64,
    last_delay: Option<u32>,
    /// Packets dropped in the measured window.
    pub dropped: u64,
    /// Packets dropped since the start, and data that arrived with a mark.
    pub dropped_ever: u64,
    pub marked_ever: u64,
    /// The flow's number among those that are traced, if it is.
    pub trace: Option<u32>,
    /// Its place among the connections or the calls that are logged, likewise.
    pub log: Option<u32>,
    pub rtt: CoarseHistogram,
}

impl FlowMeter {
    /// Mean one-way delay and mean absolute difference of successive delays, in seconds.
    pub(crate) fn delay_and_jitter(&self) -> (Option<f64>, Option<f64>) {
        let mean = |sum: u64, n: u64| (n > 0).then(|| sum as f64 / n as f64 * 1e-6);
        (
            mean(self.delay_sum, self.received),
            mean(self.jitter_sum, self.received.saturating_sub(1)),
        )
    }

    /// A data packet that was sent at `sent` (the low 32 bits of microseconds) arrives at `at`.
    pub(crate) fn packet(&mut self, sent: u32, at: Time) {
        let delay = ((at.0 / 1000) as u32).wrapping_sub(sent);
        self.received += 1;
        self.delay_sum += u64::from(delay);
        if let Some(last) = self.last_delay.replace(delay) {
            self.jitter_sum += u64::from(delay.abs_diff(last));
        }
    }
}

/// The probes of a run.
#[derive(Clone)]
pub(crate) struct Probes {
    pub links: sojourn_link::Probes,
    pub meters: Vec<FlowMeter>,
    logs: Vec<FlowLog>,
    calls: Vec<CallLog>,
    /// Whether the measured window has begun: before, flows are not metered.
    pub measuring: bool,
    bottleneck: Option<u32>,
}

impl Probes {
    pub(crate) fn new(links: sojourn_link::Probes, bottleneck: Option<u32>) -> Self {
        Self {
            links,
            meters: Vec::new(),
            logs: Vec::new(),
            calls: Vec::new(),
            measuring: false,
            bottleneck,
        }
    }

    /// Packets that have left the bottleneck's queue since the start.
    pub(crate) fn bottleneck_packets(&self, net: &Net) -> u64 {
        self.bottleneck.map_or(0, |at| net.links[at as usize].counters().dequeued.packets)
    }

    /// A packet goes to a link's transmitter.
    pub(crate) fn sent(&mut self, link: u32, tapped: &Tapped<'_>) {
        let (captures, recorder) = self.links.captures(link);
        for id in captures {
            tapped.write(id, recorder);
        }
    }

    /// A packet of a metered flow reaches its host; `end` 1 is where data go.
    pub(crate) fn delivered(&mut self, meter: u32, at: Time, data: bool, packet: &Packet) {
        if data && packet.segment.len > 0 {
            let meter = &mut self.meters[meter as usize];
            meter.marked_ever += u64::from(packet.segment.ecn == Ecn::Ce);
            if self.measuring {
                meter.packet(packet.segment.tsval, at);
            }
        }
    }

    /// A packet of a metered flow was dropped.
    pub(crate) fn lost(&mut self, meter: u32) {
        let meter = &mut self.meters[meter as usize];
        meter.dropped_ever += 1;
        if self.measuring {
            meter.dropped += 1;
        }
    }

    /// Whether a flow is traced; it may have no meter.
    pub(crate) fn traces(&self, meter: u32) -> bool {
        self.meters.get(meter as usize).is_some_and(|meter| meter.trace.is_some())
    }

    /// Whether there is a log of a member; it may have no meter.
    pub(crate) fn keeps_log(&self, meter: u32) -> bool {
        self.meters.get(meter as usize).is_some_and(|meter| meter.log.is_some())
    }

    /// Opens the log of a metered flow, if there are to be files.
    pub(crate) fn open_log(&mut self, meter: u32, flow: &str, group: &Group) {
        if let Some(log) = FlowLog::open(&mut self.links.recorder, flow, group) {
            self.meters[meter as usize].log = Some(self.logs.len() as u32);
            self.logs.push(log);
        }
    }

    /// The same of a call.
    pub(crate) fn open_call_log(&mut self, meter: u32, flow: &str, call: &Call) {
        if let Some(log) = CallLog::open(&mut self.links.recorder, flow, call) {
            self.meters[meter as usize].log = Some(self.calls.len() as u32);
            self.calls.push(log);
        }
    }

    /// The log of a call, if it has one.
    pub(crate) fn call_log(&mut self, meter: u32) -> Option<CallEvents<'_>> {
        let place = self.meters.get(meter as usize)?.log.filter(|_| FILES)?;
        let log = self.calls.get_mut(place as usize)?;
        Some(CallEvents { log, recorder: &mut self.links.recorder })
    }

    /// Whether any connection is logged.
    #[inline]
    pub(crate) fn logs(&self) -> bool {
        FILES && !self.logs.is_empty()
    }

    /// The log of a flow, if it has one, and the recorder.
    fn log(&mut self, meter: u32) -> Option<(&mut FlowLog, &mut Recorder)> {
        let place = self.meters.get(meter as usize)?.log?;
        Some((self.logs.get_mut(place as usize)?, &mut self.links.recorder))
    }

    /// A packet of a metered flow reaches an end.
    pub(crate) fn arrived(&mut self, meter: u32, at: Time, of: Subject<'_>, what: &Arrival<'_>) {
        if let Some((log, recorder)) = self.log(meter) {
            log.arrived(recorder, at, of, what);
        }
    }

    /// An end was called and has done this; its flow may be logged.
    pub(crate) fn called(
        &mut self,
        meter: u32,
        at: Time,
        of: Subject<'_>,
        round_trip: Option<Time>,
        actions: &[Action],
    ) {
        if let Some((log, recorder)) = self.log(meter) {
            log.called(recorder, at, of, round_trip, actions);
        }
    }

    /// A metered sender has done something and may have measured a round trip: a row if it is
    /// traced.
    #[cold]
    pub(crate) fn sender(&mut self, meter: u32, at: Time, round_trip: Option<Time>, end: &End) {
        let meter = &mut self.meters[meter as usize];
        if let Some(sample) = round_trip
            && self.measuring
        {
            meter.rtt.record(sample.0);
        }
        let Some(trace) = meter.trace else { return };
        self.links.recorder.push(TraceRow {
            time_s: at,
            flow: FlowId(trace),
            cwnd_bytes: u64::from(end.cwnd()),
            ssthresh_bytes: end.ssthresh().map(u64::from),
            srtt_s: end.srtt(),
            in_flight_bytes: u64::from(end.in_network()),
            acked_bytes: Some(end.bytes_acked()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_and_jitter_come_from_successive_packets_across_a_wrap() {
        let mut meter = FlowMeter::default();
        for (sent, at) in [(u32::MAX - 500, u64::from(u32::MAX) + 500), (600, (1 << 32) + 2600)] {
            meter.packet(sent, Time::from_micros(at));
        }
        let (delay, jitter) = meter.delay_and_jitter();
        assert!((delay.unwrap() - 1500e-6).abs() < 1e-12, "{delay:?}");
        assert!((jitter.unwrap() - 1000e-6).abs() < 1e-12, "{jitter:?}");
        assert_eq!(FlowMeter::default().delay_and_jitter(), (None, None));
    }
}
