//! What is recorded on request while a run is under way. Nothing here changes a decision.

use crate::net::Net;
use crate::packet::{Packet, Standing};
use crate::tap::{Tap, Tapped};
use sojourn_base::Time;
use sojourn_link::{Arrivals, Link, Samples};
use sojourn_records::{CoarseHistogram, FlowId, Recorder, TraceRow};

/// What is known of one flow beyond its endpoints' own counters.
#[derive(Default)]
pub struct FlowMeter {
    delay_sum: u64,
    jitter_sum: u64,
    received: u64,
    last_delay: Option<u32>,
    pub dropped: u64,
    /// The flow's number among those that are traced, if it is.
    pub trace: Option<u32>,
    pub rtt: CoarseHistogram,
}

impl FlowMeter {
    /// Mean one-way delay and mean absolute difference of successive delays, in seconds.
    pub fn delay_and_jitter(&self) -> (Option<f64>, Option<f64>) {
        let mean = |sum: u64, n: u64| (n > 0).then(|| sum as f64 / n as f64 * 1e-6);
        (
            mean(self.delay_sum, self.received),
            mean(self.jitter_sum, self.received.saturating_sub(1)),
        )
    }

    /// A data packet that was sent at `sent` (the low 32 bits of microseconds) arrives at `at`.
    pub fn packet(&mut self, sent: u32, at: u64) {
        let delay = ((at / 1000) as u32).wrapping_sub(sent);
        self.received += 1;
        self.delay_sum += u64::from(delay);
        if let Some(last) = self.last_delay.replace(delay) {
            self.jitter_sum += u64::from(delay.abs_diff(last));
        }
    }
}

/// The probes of a run.
pub struct Probes {
    pub recorder: Recorder,
    /// Time between samples of the queues, ns, if they are sampled.
    pub interval: Option<u64>,
    samples: Samples,
    counting: Vec<Arrivals>,
    taps: Vec<(u32, Tap)>,
    pub meters: Vec<FlowMeter>,
    /// Whether the measured window has begun: before, flows are not metered.
    pub measuring: bool,
    bottleneck: u32,
}

impl Probes {
    pub fn new(recorder: Recorder, links: usize, bottleneck: u32) -> Self {
        Self {
            recorder,
            interval: None,
            samples: Samples::new(links),
            counting: Vec::new(),
            taps: Vec::new(),
            meters: Vec::new(),
            measuring: false,
            bottleneck,
        }
    }

    /// Counts arrivals at `link` in spans of `interval` nanoseconds.
    pub fn count_arrivals(&mut self, link: u32, interval: u64) {
        self.counting.push(Arrivals::new(link, interval));
    }

    /// Captures what leaves `link`.
    pub fn tap(&mut self, link: u32, tap: Tap) {
        self.taps.push((link, tap));
    }

    /// Packets that have left the bottleneck's queue since the start.
    pub fn bottleneck_packets(&self, net: &Net) -> u64 {
        net.links.get(self.bottleneck as usize).map_or(0, |l| l.counters().dequeued.packets)
    }

    /// A packet reaches a link's queue.
    #[inline]
    pub fn count_arrival(&mut self, now: u64, link: u32, packet: &Packet) {
        if !self.counting.is_empty() {
            self.count_arrival_at(now, link, packet);
        }
    }

    fn count_arrival_at(&mut self, now: u64, link: u32, packet: &Packet) {
        for counter in self.counting.iter_mut().filter(|c| c.link() == link) {
            if let Some(row) = counter.add(now, packet.ip_bytes()) {
                self.recorder.push(row);
            }
        }
    }

    /// Whether any link is captured.
    #[inline]
    pub fn tapping(&self) -> bool {
        !self.taps.is_empty()
    }

    /// A packet has left a link's transmitter.
    pub fn sent(&mut self, link: u32, tapped: &Tapped<'_>) {
        for (_, tap) in self.taps.iter_mut().filter(|(at, _)| *at == link) {
            tap.packet(&mut self.recorder, tapped);
        }
    }

    /// A packet of a metered flow reaches its host; `end` 1 is where data go.
    pub fn delivered(&mut self, meter: u32, at: u64, data: bool, packet: &Packet) {
        if self.measuring && data && packet.segment.len > 0 {
            self.meters[meter as usize].packet(packet.segment.tsval, at);
        }
    }

    /// A packet of a metered flow was dropped.
    pub fn lost(&mut self, meter: u32) {
        if self.measuring {
            self.meters[meter as usize].dropped += 1;
        }
    }

    /// Samples all queues at `now`.
    pub fn sample(&mut self, now: u64, links: &mut [Link<Standing>]) {
        self.samples.take(now, links, |row| self.recorder.push(row));
    }

    /// A metered sender has done something and may have measured a round trip: a row if it is
    /// traced.
    #[cold]
    pub fn sender(
        &mut self,
        meter: u32,
        at: u64,
        round_trip: Option<u64>,
        end: &sojourn_tcp::Endpoint,
    ) {
        let meter = &mut self.meters[meter as usize];
        if let Some(sample) = round_trip
            && self.measuring
        {
            meter.rtt.record(sample);
        }
        let Some(trace) = meter.trace else { return };
        self.recorder.push(TraceRow {
            time_s: Time(at),
            flow: FlowId(trace),
            cwnd_bytes: u64::from(end.cwnd()),
            ssthresh_bytes: end.ssthresh().map(u64::from),
            srtt_s: end.srtt(),
            in_flight_bytes: u64::from(end.in_network()),
        });
    }

    /// The run is over: what is still being counted becomes rows.
    pub fn end(&mut self) {
        for row in self.counting.iter_mut().filter_map(Arrivals::end) {
            self.recorder.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_and_jitter_come_from_successive_packets_across_a_wrap() {
        let mut meter = FlowMeter::default();
        for (sent, at) in [(u32::MAX - 500, u64::from(u32::MAX) + 500), (600, (1 << 32) + 2600)] {
            meter.packet(sent, at * 1000);
        }
        let (delay, jitter) = meter.delay_and_jitter();
        assert!((delay.unwrap() - 1500e-6).abs() < 1e-12, "{delay:?}");
        assert!((jitter.unwrap() - 1000e-6).abs() < 1e-12, "{jitter:?}");
        assert_eq!(FlowMeter::default().delay_and_jitter(), (None, None));
    }
}
