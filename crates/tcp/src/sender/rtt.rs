//! The retransmission timeout from measured round trips: RFC 6298, or Linux's `tcp_rtt_estimator`.
//! There a round trip that falls moves the deviation by an eighth as much, so that a queue that
//! drains does not look like a path that varies; and the largest deviation of a round counts and
//! comes down by a quarter each round, so that many samples a round forget no faster than one.

use crate::params::Params;
use crate::segment::before;
use sojourn_base::Time;

/// Smoothed round trip and its deviation, both in nanoseconds in fixed point so that the gains of
/// 1/8 and 1/4 lose nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimator {
    /// SRTT times 8; 0 before the first sample.
    srtt8: u64,
    /// RTTVAR times 4.
    rttvar4: u64,
}

/// What Linux keeps beside: of four deviations, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinuxDeviation {
    /// The one that counts.
    counts: u64,
    /// The largest of this round, which ends when `end` is acknowledged.
    most: u64,
    end: u32,
}

impl Estimator {
    /// What Linux keeps beside for a sender that has sent up to `nxt`.
    pub(super) fn deviation(&self, params: &Params, nxt: u32) -> LinuxDeviation {
        let most = self.rttvar4.max(params.rto_granularity.0);
        LinuxDeviation { counts: most, most, end: nxt }
    }

    /// As [`Self::sample`], the way of Linux, with everything before `una` acknowledged and up to
    /// `nxt` sent.
    pub(super) fn sample_as_linux(
        &mut self,
        params: &Params,
        rtt: Time,
        deviation: &mut LinuxDeviation,
        una: u32,
        nxt: u32,
    ) -> Time {
        let rtt = rtt.0.max(1);
        if self.srtt8 == 0 {
            (self.srtt8, self.rttvar4) = (rtt << 3, rtt << 1);
            *deviation = self.deviation(params, nxt);
        } else {
            let srtt = self.srtt8 >> 3;
            let mut more = srtt.abs_diff(rtt) as i64 - (self.rttvar4 >> 2) as i64;
            if rtt < srtt && more > 0 {
                more >>= 3;
            }
            self.rttvar4 = self.rttvar4.saturating_add_signed(more);
            self.srtt8 = self.srtt8 - srtt + rtt;
            deviation.most = deviation.most.max(self.rttvar4);
            deviation.counts = deviation.counts.max(deviation.most);
            if before(deviation.end, una) {
                deviation.counts -= (deviation.counts - deviation.most) >> 2;
                (deviation.most, deviation.end) = (params.rto_granularity.0, nxt);
            }
        }
        let rto = (self.srtt8 >> 3) + deviation.counts;
        Time(rto.clamp(params.min_rto.0, params.max_rto.0))
    }

    /// Takes a sample and gives the timeout that follows.
    #[inline(always)]
    pub(super) fn sample(&mut self, params: &Params, rtt: Time) -> Time {
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
        Time(rto.max(params.min_rto.0).min(params.max_rto.0))
    }

    /// The smoothed round trip; zero before the first sample.
    #[inline]
    pub(super) const fn smoothed(&self) -> Time {
        Time(self.srtt8 >> 3)
    }

    /// The smoothed round trip, once there is one.
    pub(super) fn srtt(&self) -> Option<Time> {
        (self.srtt8 != 0).then_some(Time(self.srtt8 >> 3))
    }

    /// Its deviation, once there is one.
    pub(super) fn rttvar(&self) -> Option<Time> {
        (self.srtt8 != 0).then_some(Time(self.rttvar4 >> 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Spec;
    use crate::profile::Profile;

    fn classic() -> Spec {
        Spec { profile: Some(Profile::Classic), ..Spec::default() }
    }

    fn params() -> Params {
        let spec = Spec { min_rto: Some(Time::from_millis(1)), ..classic() };
        Spec::resolve(&[&spec]).unwrap()
    }

    #[test]
    fn rto_after_first_sample_is_three_times_it() {
        let mut e = Estimator::default();
        assert_eq!(e.srtt(), None);
        assert_eq!(e.sample(&params(), Time::from_millis(100)), Time::from_millis(300));
        assert_eq!(e.srtt(), Some(Time::from_millis(100)));
    }

    #[test]
    fn srtt_moves_by_an_eighth_per_sample() {
        let mut e = Estimator::default();
        e.sample(&params(), Time::from_millis(100));
        // RTTVAR = 3/4·50 + 1/4·80 = 57.5, SRTT = 110: RTO = 110 + 230.
        assert_eq!(e.sample(&params(), Time::from_millis(180)), Time::from_millis(340));
        assert_eq!(e.srtt(), Some(Time::from_millis(110)));
    }

    /// By hand, after `tcp_rtt_estimator`.
    #[test]
    fn linux_deviation_decays_per_round_and_discounts_falling_rtt() {
        let spec =
            Spec { linux_rto: Some(true), profile: Some(Profile::Modern), ..Spec::default() };
        let (params, ms) = (Spec::resolve(&[&spec]).unwrap(), Time::from_millis);
        let (mut e, mut held) = (Estimator::default(), LinuxDeviation::default());
        assert_eq!(e.sample_as_linux(&params, ms(800), &mut held, 0, 10), ms(2400));
        // Mean deviation 400: more by (700 - 400)/4 were it rising, by an eighth of that falling.
        let rto = e.sample_as_linux(&params, ms(100), &mut held, 5, 20);
        assert_eq!(rto.0, 712_500_000 + 4 * 400_000_000 + 300_000_000 / 8);
        // The round ends: what counts comes down by a quarter of what it is above the largest.
        let before = held.counts;
        e.sample_as_linux(&params, ms(700), &mut held, 11, 30);
        assert_eq!((held.counts, held.most, held.end), (before, 200_000_000, 30));
        e.sample_as_linux(&params, ms(700), &mut held, 12, 30);
        assert_eq!(held.counts, before, "not before the next round ends");
        for _ in 0..50 {
            e.sample_as_linux(&params, ms(700), &mut held, 12, 30);
        }
        let least = held.most;
        e.sample_as_linux(&params, ms(700), &mut held, 31, 40);
        assert_eq!(held.counts, before - ((before - least) >> 2));
        // In the end 200 ms beside a steady round trip.
        let mut rto = Time::ZERO;
        for una in 41..200 {
            rto = e.sample_as_linux(&params, ms(700), &mut held, una, una);
        }
        assert!(rto < ms(901), "{rto}");
    }

    #[test]
    fn rto_of_steady_rtt_ends_at_granularity_within_limits() {
        let mut e = Estimator::default();
        let mut rto = Time::ZERO;
        for _ in 0..100 {
            rto = e.sample(&params(), Time::from_millis(100));
        }
        assert_eq!(rto, Time::from_millis(110));
        assert_eq!(e.sample(&params(), Time::from_secs(1000)), params().max_rto);
        let classic = Spec::resolve(&[&classic()]).unwrap();
        assert_eq!(Estimator::default().sample(&classic, Time(5)), Time::from_secs(1));
    }
}
