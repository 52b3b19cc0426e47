//! Quinn's congestion control, watched: what it knows and does not tell.

use quinn::congestion::{Controller, ControllerFactory, ControllerMetrics};
use quinn_proto::RttEstimator;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// Makes controllers that are watched.
pub(super) struct Watching<F>(pub Arc<F>);

impl<F: ControllerFactory + Send + Sync + 'static> ControllerFactory for Watching<F> {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Watched { inner: Arc::clone(&self.0).build(now, mtu), in_flight: 0 })
    }
}

/// A controller, and the bytes that it has in flight.
pub(super) struct Watched {
    inner: Box<dyn Controller>,
    in_flight: u64,
}

/// What a sender knows of its window, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold, after congestion.
    pub ssthresh: Option<u64>,
    /// Bytes taken to be in the network.
    pub in_flight: u64,
}

/// That of a connection.
pub(super) fn window(connection: &quinn::Connection) -> Window {
    let state = connection.congestion_state().into_any().downcast::<Watched>();
    state.map(|watched| watched.window()).unwrap_or_default()
}

impl Watched {
    fn window(&self) -> Window {
        Window {
            cwnd: self.inner.window(),
            ssthresh: self.inner.metrics().ssthresh.filter(|bytes| *bytes != u64::MAX),
            in_flight: self.in_flight,
        }
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.in_flight += bytes;
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        // Quinn's own count, without what was sent only to acknowledge.
        self.in_flight = in_flight;
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), in_flight: self.in_flight })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quinn::congestion::NewRenoConfig;

    #[test]
    fn what_is_in_flight_follows_the_calls() {
        let mut settings = NewRenoConfig::default();
        settings.initial_window(12_000);
        let factory = Arc::new(Watching(Arc::new(settings)));
        let mut control = factory.build(Instant::now(), 1200);
        let now = Instant::now();
        for number in 0..10 {
            control.on_sent(now, 1200, number);
        }
        let seen = |control: &dyn Controller| {
            control.clone_box().into_any().downcast::<Watched>().unwrap().window()
        };
        let before = Window { cwnd: 12_000, ssthresh: None, in_flight: 12_000 };
        assert_eq!(seen(&*control), before);
        control.on_congestion_event(now, now + std::time::Duration::from_secs(1), false, 2400);
        let after = Window { cwnd: 6000, ssthresh: Some(6000), in_flight: 9600 };
        assert_eq!(seen(&*control), after);
        control.on_end_acks(now, 3600, false, Some(9));
        assert_eq!(seen(&*control).in_flight, 3600);
    }
}
