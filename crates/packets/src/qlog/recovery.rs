//! Round trips, windows and what a sender does about congestion: events that both protocols have,
//! with the fields of draft-ietf-quic-qlog-quic-events section 7. Only what has changed is written.

use super::endpoint::Subject;
use super::events::{Events, StateUpdated};
use crate::end::End;
use serde::Serialize;
use sojourn_base::Time;
use sojourn_records::qlog::milliseconds;
use sojourn_tcp::congestion::CongestionState;

/// What was last written of an endpoint.
#[derive(Clone, Default)]
pub(super) struct Recovery {
    metrics: Metrics,
    state: Option<CongestionState>,
    /// The round trips that TCP has measured: the last and the least.
    latest: Option<Time>,
    min: Option<Time>,
}

/// `recovery_metrics_updated`. The timeout is TCP's alone, the count of probe timeouts QUIC's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Metrics {
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_variance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retransmission_timeout: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pto_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u32>,
}

impl Metrics {
    /// What differs from `before`.
    fn since(&self, before: &Self) -> Self {
        macro_rules! changed {
            ($($field:ident),+ $(,)?) => {
                Self { $($field: self.$field.filter(|_| self.$field != before.$field)),+ }
            };
        }
        changed!(
            min_rtt,
            smoothed_rtt,
            latest_rtt,
            rtt_variance,
            retransmission_timeout,
            pto_count,
            congestion_window,
            bytes_in_flight,
            ssthresh,
        )
    }
}

impl Recovery {
    /// Writes what has changed since the last time.
    pub(super) fn update(
        &mut self,
        events: &mut Events<'_>,
        of: Subject<'_>,
        round_trip: Option<Time>,
    ) {
        if let Some(sample) = round_trip {
            self.latest = Some(sample);
            self.min = Some(self.min.map_or(sample, |min| min.min(sample)));
        }
        let metrics = self.metrics_of(of.endpoint);
        let (metrics_updated, state_updated) = match of.endpoint {
            End::Tcp(_) => ("tcp:recovery_metrics_updated", "tcp:congestion_state_updated"),
            End::Quic(_) => ("quic:recovery_metrics_updated", "quic:congestion_state_updated"),
        };
        let changed = metrics.since(&self.metrics);
        if changed != Metrics::default() {
            events.add(metrics_updated, &changed);
            self.metrics = metrics;
        }
        let state = of.endpoint.congestion_state();
        let old = self.state.replace(state);
        if old != Some(state) {
            let old = old.map(CongestionState::name);
            events.add(state_updated, &StateUpdated { old, new: state.name() });
        }
    }

    fn metrics_of(&self, endpoint: &End) -> Metrics {
        let common = Metrics {
            congestion_window: Some(endpoint.cwnd()),
            bytes_in_flight: Some(endpoint.in_network()),
            ssthresh: endpoint.ssthresh(),
            ..Metrics::default()
        };
        let ms = |time: Option<Time>| time.map(milliseconds);
        match endpoint {
            End::Tcp(endpoint) => Metrics {
                min_rtt: ms(self.min),
                smoothed_rtt: ms(endpoint.srtt()),
                latest_rtt: ms(self.latest),
                rtt_variance: ms(endpoint.rttvar()),
                retransmission_timeout: ms(Some(endpoint.rto())),
                ..common
            },
            End::Quic(endpoint) => {
                let known = endpoint.round_trip();
                Metrics {
                    min_rtt: ms(known.map(|rtt| rtt.min)),
                    smoothed_rtt: ms(known.map(|rtt| rtt.smoothed)),
                    latest_rtt: ms(known.map(|rtt| rtt.latest)),
                    rtt_variance: ms(known.map(|rtt| rtt.variation)),
                    pto_count: Some(endpoint.timeouts_in_a_row()),
                    ..common
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_changed_is_written() {
        let before = Metrics { min_rtt: Some(1.0), ssthresh: Some(5), ..Metrics::default() };
        let after = Metrics { min_rtt: Some(1.0), ssthresh: Some(6), ..Metrics::default() };
        let changed = after.since(&before);
        assert_eq!(changed, Metrics { ssthresh: Some(6), ..Metrics::default() });
        assert!(after.since(&after) == Metrics::default());
    }
}
