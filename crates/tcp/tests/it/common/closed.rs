//! A sender in a closed loop: windows of segments over a fixed round trip, each segment lost or
//! marked with a probability. No queue, so that what is seen is the algorithm's own law.

use sojourn_base::{Kind, Stream, Time};
use sojourn_tcp::Algorithm;
use sojourn_tcp::congestion::{Acked, Congested, Congestion, Sample, Tuning, Window};

pub(crate) const MSS: u32 = 1000;

/// What becomes of an unlucky segment.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fate {
    Lost,
    Marked,
}

pub(crate) struct Closed {
    tuning: Tuning,
    control: Congestion,
    pub window: Window,
    rtt: Time,
    now: Time,
    coin: Stream,
    /// Whether a loss that brings fewer than three duplicates, or is lost again, waits for the
    /// timer, as in the model of Padhye, Firoiu, Towsley and Kurose.
    pub timeouts: bool,
}

/// What a run gave.
pub(crate) struct Outcome {
    /// Segments delivered per round trip.
    pub rate: f64,
}

impl Closed {
    pub(crate) fn new(algorithm: &Algorithm, segments: u32, rtt: Time, seed: u64) -> Self {
        let tuning = algorithm.tune().expect("valid");
        Self {
            control: Congestion::new(&tuning),
            tuning,
            window: Window { cwnd: segments * MSS, ssthresh: 2 * MSS },
            rtt,
            now: Time::ZERO,
            coin: Stream::new(seed, Kind::Test, 0, 0),
            timeouts: false,
        }
    }

    fn unlucky(&mut self, threshold: u64) -> bool {
        self.coin.next_u64() < threshold
    }

    fn at(&self) -> Congested {
        Congested { now: self.now, srtt: self.rtt, flight: self.window.cwnd, mss: MSS }
    }

    fn settle(&mut self) {
        self.window.cwnd = self.window.cwnd.clamp(MSS, 65535 << 14);
    }

    /// An acknowledgement of one segment.
    pub(crate) fn ack(&mut self, marked: bool, round: bool) {
        if self.tuning.samples() {
            let sample = Sample {
                now: self.now,
                rtt: Some(self.rtt),
                srtt: self.rtt,
                mss: MSS,
                acked: MSS,
                lost: 0,
                marked: if marked { MSS } else { 0 },
                flight: self.window.cwnd,
                delivered: 0,
                round,
                recovering: false,
                rate: None,
            };
            self.control.on_sample(&self.tuning, &mut self.window, &sample);
        }
        if !marked {
            let acked = Acked {
                now: self.now,
                srtt: self.rtt,
                bytes: MSS,
                mss: MSS,
                after_timeout: false,
                smooth: false,
            };
            self.control.on_ack(&self.tuning, &mut self.window, acked);
        }
        self.settle();
    }

    pub(crate) fn lose(&mut self) {
        let at = self.at();
        self.control.on_loss(&self.tuning, &mut self.window, at);
        self.settle();
    }

    /// Round trips until `events` segments were unlucky with probability `p`; what came first is
    /// left out of the count.
    pub(crate) fn run(&mut self, p: f64, events: u64, fate: Fate) -> Outcome {
        self.some(p, events / 4, fate);
        let (delivered, rtts) = self.some(p, events, fate);
        Outcome { rate: delivered as f64 / rtts }
    }

    fn some(&mut self, p: f64, events: u64, fate: Fate) -> (u64, f64) {
        let threshold = (p * 2f64.powi(64)) as u64;
        let (mut delivered, mut unlucky, mut rtts) = (0, 0, 0.0);
        while unlucky < events {
            let n = u64::from(self.window.cwnd / MSS).max(1);
            let begin = self.now;
            rtts += 1.0;
            let mut hit = None;
            for i in 0..n {
                self.now = begin + Time(self.rtt.0 * (i + 1) / n);
                let bad = self.unlucky(threshold);
                delivered += 1;
                unlucky += u64::from(bad);
                match fate {
                    Fate::Marked => {
                        if bad && hit.is_none() && self.control.answers_marks(self.now) {
                            let at = self.at();
                            self.control.on_mark(&self.tuning, &mut self.window, at);
                            self.settle();
                        }
                        self.ack(bad, i == 0);
                    }
                    // In recovery nothing grows.
                    Fate::Lost if hit.is_none() && !bad => self.ack(false, i == 0),
                    Fate::Lost => {}
                }
                if bad && hit.is_none() {
                    hit = Some(n - i - 1);
                }
            }
            if let (Some(duplicates), Fate::Lost) = (hit, fate) {
                rtts += self.recover(threshold, duplicates);
            }
        }
        (delivered, rtts)
    }

    /// A loss with so many segments behind it; returns the round trips that a timer took.
    fn recover(&mut self, threshold: u64, duplicates: u64) -> f64 {
        let again = self.unlucky(threshold);
        if !self.timeouts || duplicates >= 3 && !again {
            self.lose();
            return 0.0;
        }
        // RTO = 4 R, doubled each time the first retransmission is lost, up to 64 times.
        let (mut waited, mut rto, mut first) = (0.0, 4.0, true);
        loop {
            waited += rto;
            let at = self.at();
            self.control.on_timeout(&self.tuning, &mut self.window, at, first);
            self.settle();
            if !self.unlucky(threshold) {
                return waited;
            }
            (rto, first) = (f64::min(2.0 * rto, 256.0), false);
        }
    }
}

/// The laws to compare with: window in segments for a probability, at a round trip of 100 ms.
pub(crate) mod law {
    pub(crate) fn square_root(p: f64) -> f64 {
        1.5f64.sqrt() / p.sqrt()
    }
    /// Padhye, Firoiu, Towsley, Kurose (1998), an acknowledgement per segment, RTO = 4 R.
    pub(crate) fn pftk(p: f64) -> f64 {
        let timeouts = 12.0 * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p);
        1.0 / ((2.0 * p / 3.0).sqrt() + timeouts.min(4.0 * p * (1.0 + 32.0 * p * p)))
    }
    /// Yang and Lam (2000).
    pub(crate) fn aimd(a: f64, b: f64, p: f64) -> f64 {
        (a * (2.0 - b) / (2.0 * b * p)).sqrt()
    }
    /// RFC 3649 section 5, at least the square-root law.
    pub(crate) fn highspeed(p: f64) -> f64 {
        square_root(p).max(0.12 / p.powf(0.835))
    }
    /// RFC 9438 section 5.1, at least the square-root law.
    pub(crate) fn cubic(rtt: f64, p: f64) -> f64 {
        square_root(p).max(1.054 * (rtt / p).powf(0.75))
    }
    /// Kelly (2003), at least the square-root law.
    pub(crate) fn scalable(a: f64, b: f64, p: f64) -> f64 {
        square_root(p).max(a / (b * p))
    }
    /// DCTCP and Prague when every window has marks.
    pub(crate) fn marks(p: f64) -> f64 {
        2.0 / p
    }
}
