//! The retransmission timeout from measured round trips: RFC 6298.

use crate::Params;
use sojourn_base::Time;

/// Smoothed round trip and its deviation, both in nanoseconds in fixed point so that the gains of
/// 1/8 and 1/4 lose nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Estimator {
    /// SRTT times 8; 0 before the first sample.
    srtt8: u64,
    /// RTTVAR times 4.
    rttvar4: u64,
}

impl Estimator {
    /// Takes a sample and gives the timeout that follows.
    #[inline]
    pub fn sample(&mut self, params: &Params, rtt: Time) -> Time {
        let rtt = rtt.0.max(1);
        if self.srtt8 == 0 {
            // Rule 2.2: SRTT = R, RTTVAR = R/2.
            self.srtt8 = rtt << 3;
            self.rttvar4 = rtt << 1;
        } else {
            // Rule 2.3: RTTVAR = 3/4 RTTVAR + 1/4 |SRTT − R|; SRTT = 7/8 SRTT + 1/8 R.
            let error = (self.srtt8 >> 3).abs_diff(rtt);
            self.rttvar4 = self.rttvar4 - (self.rttvar4 >> 2) + error;
            self.srtt8 = self.srtt8 - (self.srtt8 >> 3) + rtt;
        }
        let rto = (self.srtt8 >> 3) + self.rttvar4.max(params.rto_granularity.0);
        Time(rto.clamp(params.min_rto.0, params.max_rto.0))
    }

    /// The smoothed round trip; zero before the first sample.
    #[inline]
    pub const fn smoothed(&self) -> Time {
        Time(self.srtt8 >> 3)
    }

    /// The smoothed round trip, once there is one.
    pub fn srtt(&self) -> Option<Time> {
        (self.srtt8 != 0).then_some(Time(self.srtt8 >> 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    fn params() -> Params {
        let spec = Spec { min_rto: Some(Time::from_millis(1)), ..Spec::default() };
        Spec::resolve(&[&spec]).unwrap()
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let mut e = Estimator::default();
        assert_eq!(e.srtt(), None);
        assert_eq!(e.sample(&params(), Time::from_millis(100)), Time::from_millis(300));
        assert_eq!(e.srtt(), Some(Time::from_millis(100)));
    }

    #[test]
    fn later_samples_move_it_by_an_eighth() {
        let mut e = Estimator::default();
        e.sample(&params(), Time::from_millis(100));
        // RTTVAR = 3/4·50 + 1/4·80 = 57.5, SRTT = 110: RTO = 110 + 230.
        assert_eq!(e.sample(&params(), Time::from_millis(180)), Time::from_millis(340));
        assert_eq!(e.srtt(), Some(Time::from_millis(110)));
    }

    #[test]
    fn a_steady_round_trip_ends_at_the_granularity_and_within_the_limits() {
        let mut e = Estimator::default();
        let mut rto = Time::ZERO;
        for _ in 0..100 {
            rto = e.sample(&params(), Time::from_millis(100));
        }
        assert_eq!(rto, Time::from_millis(110));
        assert_eq!(e.sample(&params(), Time::from_secs(1000)), params().max_rto);
        let classic = Spec::resolve(&[]).unwrap();
        assert_eq!(Estimator::default().sample(&classic, Time(5)), Time::from_secs(1));
    }
}
