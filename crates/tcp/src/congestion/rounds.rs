//! For tests: an algorithm driven in whole round trips, an acknowledgement per segment.

use super::{Acked, Congested, Control, Sample, Window};
use sojourn_base::Time;

/// Payload of a segment.
pub(crate) const MSS: u32 = 1000;

/// The round trip.
pub(crate) const RTT: Time = Time::from_millis(200);

pub(crate) fn acked(bytes: u32) -> Acked {
    Acked {
        now: Time::ZERO,
        srtt: Time::ZERO,
        bytes,
        mss: MSS,
        after_timeout: false,
        smooth: false,
    }
}

pub(crate) fn congested(flight: u32) -> Congested {
    Congested { now: Time::ZERO, srtt: Time::ZERO, flight, mss: MSS }
}

/// A sample of an acknowledgement of one segment after a round trip.
pub(crate) fn sample(now: Time, rtt: Time) -> Sample {
    Sample {
        now,
        rtt: Some(rtt),
        srtt: rtt,
        mss: MSS,
        acked: MSS,
        lost: 0,
        marked: 0,
        flight: 0,
        delivered: 0,
        round: false,
        recovering: false,
        rate: None,
    }
}

/// A sender in congestion avoidance that always has something to send.
#[derive(Clone)]
pub(crate) struct Rounds<C: Control> {
    pub tuning: C::Tuning,
    pub control: C,
    pub window: Window,
    pub now: Time,
    pub rtt: Time,
    /// The window in bytes, as reals would have it, is not kept: what is left of a segment is not
    /// sent, and its acknowledgement comes with the next round.
    left: u32,
}

impl<C: Control> Rounds<C> {
    pub(super) fn new(settings: &C::Settings, segments: u32) -> Self {
        let tuning = C::tune(settings).unwrap();
        let control = C::new(&tuning);
        let window = Window { cwnd: segments * MSS, ssthresh: 2 * MSS };
        Self { tuning, control, window, now: Time::ZERO, rtt: RTT, left: 0 }
    }

    pub(super) fn segments(&self) -> f64 {
        f64::from(self.window.cwnd) / f64::from(MSS)
    }

    /// A window of acknowledgements, evenly over a round trip.
    pub(super) fn round(&mut self) {
        let cwnd = self.window.cwnd + self.left;
        let n = cwnd / MSS;
        self.left = cwnd % MSS;
        let begin = self.now;
        for i in 1..=n {
            self.now = begin + Time(self.rtt.0 * u64::from(i) / u64::from(n));
            let mut s = sample(self.now, self.rtt);
            s.round = i == 1;
            s.flight = self.window.cwnd;
            self.ack(&s);
        }
    }

    pub(super) fn ack(&mut self, s: &Sample) {
        if C::SAMPLES {
            self.control.on_sample(&self.tuning, &mut self.window, s);
        }
        if s.marked == 0 {
            let a = Acked { now: s.now, srtt: s.srtt, ..acked(s.acked) };
            self.control.on_ack(&self.tuning, &mut self.window, a);
        }
    }

    /// What a reduction finds.
    pub(super) fn at(&self) -> Congested {
        Congested { now: self.now, srtt: self.rtt, ..congested(self.window.cwnd) }
    }

    pub(super) fn loss(&mut self) {
        let at = self.at();
        self.control.on_loss(&self.tuning, &mut self.window, at);
    }
}
