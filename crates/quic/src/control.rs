//! Congestion control (RFC 9002 section 7 and appendix B): what acknowledgements, losses and marks
//! mean for a window that one of TCP's algorithms sets, and pacing.
//!
//! # Differences from the source
//!
//! 1. How the window grows and shrinks is the algorithm's business: with `reno` it is what appendix
//!    B has. A reduction starts from the window as there (B.6), not from the flight as in TCP.
//! 2. Algorithms that set the window during a recovery themselves (BBR) do so.
//! 3. No HyStart++ (RFC 9406), and no undoing of what a late packet set off.
//! 4. The pace of an algorithm without one of its own is 5/4 of the window over the smoothed round
//!    trip (section 7.7), twice that in slow start; the first window goes unpaced.

use crate::params::Params;
use crate::rtt::Rtt;
use crate::sent::{Sent, Stamped};
use sojourn_base::Time;
use sojourn_tcp::congestion::pacing::Pacer;
use sojourn_tcp::congestion::{
    Acked, Congested, Congestion, CongestionState, Delivered, Lost, Marks, Sample, Window,
};

/// Least window (RFC 9002 section 7.2), in full datagrams.
pub const LEAST_WINDOW: u32 = 2;

/// What one acknowledgement has shown so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shown {
    /// Bytes newly acknowledged, of packets that count in flight.
    pub acked: u32,
    /// Of these, what lets the window grow: sent after the recovery began.
    pub grows: u32,
    /// Bytes newly lost.
    pub lost: u32,
    /// When the last of the lost packets was sent.
    pub last_lost: Option<Time>,
    /// How the newest packet acknowledged was sent.
    newest: Option<Stamped>,
    /// The round trip measured.
    pub rtt: Option<Time>,
    /// Of packets newly acknowledged, how many were sent ECN-capable, and how many more marks the
    /// peer reports.
    pub capable: u64,
    pub marks: u64,
}

/// The congestion control of an endpoint.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Control {
    /// Bytes in flight.
    pub in_flight: u32,
    pub window: Window,
    /// Whether the window held the sender back when it last sent.
    pub limited: bool,
    /// A packet may go out whatever the window is, so that the loss is mended soon (section
    /// 7.3.2).
    pub credit: bool,
    /// Whether nothing that was sent in it has been acknowledged yet.
    recovering: bool,
    /// When the present or last recovery began (`congestion_recovery_start_time`).
    recovery: Option<Time>,
    /// When a mark last reduced the window.
    marked: Option<Time>,
    pub pacer: Pacer,
    pub delivered: Delivered,
    algorithm: Congestion,
}

impl Control {
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            window: Window { cwnd: params.initial_cwnd, ssthresh: u32::MAX },
            algorithm: Congestion::new(&params.tuning),
            delivered: Delivered::default(),
            pacer: Pacer::new(params.initial_cwnd),
            in_flight: 0,
            recovery: None,
            recovering: false,
            marked: None,
            limited: false,
            credit: false,
        }
    }

    /// What it is doing about congestion (section 7.3).
    pub(crate) fn state(&self) -> CongestionState {
        if self.recovering {
            return CongestionState::Recovery;
        }
        CongestionState::of(self.algorithm.mode(), self.window.cwnd, self.window.ssthresh)
    }

    /// Whether the window has room for a full datagram.
    pub(crate) fn has_room(&self, params: &Params) -> bool {
        self.in_flight + params.max_udp_payload <= self.window.cwnd
    }

    /// The pace in bytes per second; 0 for none.
    fn pace(&self, params: &Params, rtt: &Rtt) -> u64 {
        let Some(srtt) = rtt.known() else { return 0 };
        let own = self.algorithm.pace(&params.tuning, &self.window, srtt);
        if own > 0 {
            return own;
        }
        let gain = if self.window.cwnd < self.window.ssthresh { 10 } else { 5 };
        u64::from(self.window.cwnd) * gain * 250_000_000 / srtt.0.max(1)
    }

    /// A packet goes out that counts in flight.
    pub(crate) fn sent(&mut self, params: &Params, now: Time, bytes: u32, rtt: &Rtt) {
        self.credit = false;
        if params.tuning.samples() && self.in_flight == 0 && self.delivered.is_app_limited() {
            self.algorithm.on_tx_start(&params.tuning, &mut self.window, now);
        }
        self.in_flight += bytes;
        if params.pacing {
            let rate = self.pace(params, rtt);
            self.pacer.sent(params.bursts(), now, bytes, rate);
        }
    }

    /// What is to be remembered of a packet that has just gone out, with so many bytes in flight.
    pub(crate) fn stamp(&mut self, now: Time, bytes: u32) -> Stamped {
        let idle = bytes > 0 && self.in_flight == bytes;
        (self.delivered.stamp(now, self.in_flight, idle), self.delivered.is_app_limited())
    }

    /// Whether something sent then was sent before the recovery began (appendix B.5).
    fn in_recovery(&self, sent: Time) -> bool {
        self.recovery.is_some_and(|began| sent <= began)
    }

    /// A packet in flight is acknowledged.
    pub(crate) fn acknowledged(
        &mut self,
        shown: &mut Shown,
        sent: &Sent,
        stamped: Option<&Stamped>,
    ) {
        let bytes = u32::from(sent.in_flight);
        self.in_flight -= bytes;
        shown.acked += bytes;
        if !self.in_recovery(sent.at) {
            shown.grows += bytes;
        }
        if let Some(&(stamp, app_limited)) = stamped
            && shown.newest.is_none_or(|(newest, _)| stamp.sent >= newest.sent)
        {
            shown.newest = Some((stamp, app_limited));
        }
    }

    /// Packet `number` is lost.
    #[inline(never)]
    pub(crate) fn lost(
        &mut self,
        params: &Params,
        now: Time,
        shown: &mut Shown,
        number: u64,
        sent: &Sent,
        stamped: Option<&Stamped>,
    ) {
        if sent.in_flight == 0 {
            return;
        }
        let bytes = u32::from(sent.in_flight);
        self.in_flight -= bytes;
        shown.lost += bytes;
        shown.last_lost = shown.last_lost.max(Some(sent.at));
        let Some(&(stamp, app_limited)) = stamped else { return };
        let lost = Lost {
            now,
            bytes,
            start: number,
            end: number + 1,
            flight_then: stamp.flight,
            lost_since: self.delivered.lose(bytes, &stamp),
            app_limited,
            delivered: self.delivered.bytes + u64::from(shown.acked),
        };
        self.algorithm.on_lost(&params.tuning, &self.window, &lost);
    }

    /// Everything that an acknowledgement or a timer has shown is known. `largest_sent` is when
    /// the largest packet newly acknowledged was sent.
    pub(crate) fn settle(
        &mut self,
        params: &Params,
        now: Time,
        rtt: &Rtt,
        shown: &Shown,
        largest_sent: Option<Time>,
    ) {
        let limited = self.limited;
        let srtt = rtt.known().unwrap_or_default();
        self.sample(params, now, srtt, rtt, shown);
        if shown.grows > 0 && core::mem::take(&mut self.recovering) {
            self.algorithm.on_recovered(&params.tuning, &mut self.window, params.max_udp_payload);
        }
        // Appendix B.6: a reduction starts from the window.
        let at = Congested { now, srtt, flight: self.window.cwnd, mss: params.max_udp_payload };
        if let Some(sent) = shown.last_lost.filter(|sent| !self.in_recovery(*sent)) {
            // Section 7.3.2: once in a round trip.
            debug_assert!(sent <= now);
            (self.recovery, self.marked) = (Some(now), Some(now));
            (self.recovering, self.credit) = (true, true);
            self.algorithm.on_loss(&params.tuning, &mut self.window, at);
        } else if shown.marks > 0
            && largest_sent.is_some_and(|sent| self.marked.is_none_or(|began| sent > began))
            && self.algorithm.answers_marks(now)
        {
            // Appendix B.5, ProcessECN. Growth goes on with Prague (section 2.4.3 of its draft).
            self.marked = Some(now);
            if params.tuning.marks() != Marks::Scalable {
                self.recovery = Some(now);
                self.recovering = true;
            }
            self.algorithm.on_mark(&params.tuning, &mut self.window, at);
        } else if shown.grows > 0 && shown.marks == 0 && limited {
            // Section 7.8: only where the window is what holds the sender back.
            self.grow(params, now, srtt, shown.grows);
        }
        self.clamp(params);
    }

    /// The window may grow by `bytes`. Two datagrams at a time, so that slow start grows by
    /// everything that is acknowledged (appendix B.4): algorithms count no more at once.
    fn grow(&mut self, params: &Params, now: Time, srtt: Time, bytes: u32) {
        let mss = params.max_udp_payload;
        let mut left = bytes;
        while left > 0 {
            let bytes = left.min(2 * mss);
            let acked = Acked { now, srtt, bytes, mss, after_timeout: false, smooth: false };
            self.algorithm.on_ack(&params.tuning, &mut self.window, acked);
            left -= bytes;
        }
    }

    /// What the acknowledgement shows of the path, for algorithms that look.
    fn sample(&mut self, params: &Params, now: Time, srtt: Time, rtt: &Rtt, shown: &Shown) {
        if !params.tuning.samples() {
            return;
        }
        let (round, rate) = self.delivered.arrived(now, shown.acked, shown.newest, rtt.min);
        if shown.acked == 0 && shown.lost == 0 {
            return;
        }
        // Packets are reported, not bytes: as many of the bytes as of the packets.
        let marked = u64::from(shown.acked) * shown.marks / shown.capable.max(1);
        let sample = Sample {
            now,
            rtt: shown.rtt,
            srtt,
            mss: params.max_udp_payload,
            acked: shown.acked,
            lost: shown.lost,
            marked: marked.min(u64::from(shown.acked)) as u32,
            flight: self.in_flight,
            delivered: self.delivered.bytes,
            round,
            recovering: self.recovering,
            rate,
        };
        self.algorithm.on_sample(&params.tuning, &mut self.window, &sample);
        if self.algorithm.is_app_limited() {
            self.delivered.limit(self.in_flight);
        }
    }

    /// Persistent congestion (section 7.6.2): the least window, and slow start from there.
    pub(crate) fn persistent(&mut self, params: &Params, now: Time, srtt: Time) {
        let (flight, mss) = (self.window.cwnd, params.max_udp_payload);
        let at = Congested { now, srtt, flight, mss };
        // The threshold stays where the loss put it (appendix B.8).
        self.algorithm.on_timeout(&params.tuning, &mut self.window, at, false);
        (self.recovery, self.recovering) = (None, false);
        self.clamp(params);
    }

    fn clamp(&mut self, params: &Params) {
        let least = LEAST_WINDOW * params.max_udp_payload;
        self.window.cwnd = self.window.cwnd.clamp(least.min(params.max_cwnd), params.max_cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use alloc::boxed::Box;
    use alloc::vec::Vec;
    use core::cell::RefCell;
    use sojourn_tcp::Algorithm;
    use sojourn_tcp::congestion::external::{self, Decider, Settings};

    const FULL: u32 = 1200;

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    struct Path {
        p: Params,
        control: Control,
        rtt: Rtt,
    }

    impl Path {
        fn new(name: &str) -> Self {
            Self::with(Algorithm::named(name).unwrap())
        }

        fn with(congestion: Algorithm) -> Self {
            let spec = Spec {
                max_udp_payload: Some(FULL),
                congestion: Some(congestion),
                ..Spec::default()
            };
            let p = Spec::resolve(&[&spec]).unwrap();
            let mut rtt = Rtt::new(&p);
            rtt.sample(ms(0), ms(100), ms(0));
            Self { control: Control::new(&p), rtt, p }
        }

        fn send(&mut self, at: u64) -> Sent {
            self.control.sent(&self.p, ms(at), FULL, &self.rtt);
            self.control.limited = true;
            Sent::full(ms(at), FULL)
        }

        fn settle(&mut self, at: u64, acked: &[Sent], lost: &[Sent], marks: u64) -> u32 {
            let capable = acked.len() as u64;
            let mut shown = Shown { marks, capable, ..Shown::default() };
            acked.iter().for_each(|sent| self.control.acknowledged(&mut shown, sent, None));
            for (number, sent) in (0..).zip(lost) {
                self.control.lost(&self.p, ms(at), &mut shown, number, sent, None);
            }
            let largest = acked.last().map(|sent| sent.at);
            self.control.settle(&self.p, ms(at), &self.rtt, &shown, largest);
            self.control.window.cwnd / FULL
        }
    }

    #[test]
    fn slow_start_grows_by_what_is_acknowledged() {
        let mut path = Path::new("reno");
        let sent = [path.send(0), path.send(0)];
        assert_eq!(path.settle(100, &sent, &[], 0), 12);
        assert_eq!(path.control.in_flight, 0);
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut path = Path::new("reno");
        let sent = [path.send(0)];
        path.control.limited = false;
        assert_eq!(path.settle(100, &sent, &[], 0), 10);
    }

    #[test]
    fn losses_of_one_round_trip_halve_once() {
        let mut path = Path::new("reno");
        let sent: [Sent; 10] = core::array::from_fn(|_| path.send(0));
        assert_eq!(path.settle(100, &sent[3..4], &sent[..1], 0), 5);
        assert!(path.control.credit);
        assert_eq!(path.settle(101, &sent[4..5], &sent[1..2], 0), 5);
        let later = [path.send(150)];
        // Section 7.3.2: the recovery ends when something sent in it is acknowledged.
        assert_eq!(path.settle(250, &[], &later, 0), 2);
    }

    #[test]
    fn marks_reduce_once_in_a_round_trip() {
        let mut path = Path::new("reno");
        let sent: [Sent; 10] = core::array::from_fn(|_| path.send(0));
        assert_eq!(path.settle(100, &sent[..1], &[], 1), 5);
        assert_eq!(path.settle(101, &sent[1..2], &[], 1), 5);
        let later = [path.send(150)];
        assert_eq!(path.settle(250, &later, &[], 1), 2);
    }

    #[test]
    fn persistent_congestion_leaves_two_datagrams_and_the_threshold() {
        for name in ["reno", "cubic", "bbr", "dctcp"] {
            let mut path = Path::new(name);
            let sent: [Sent; 10] = core::array::from_fn(|_| path.send(0));
            path.settle(3000, &[], &sent, 0);
            let threshold = path.control.window.ssthresh;
            path.control.persistent(&path.p, ms(3000), ms(100));
            assert_eq!(path.control.window.cwnd, 2 * FULL, "{name}");
            assert_eq!(path.control.window.ssthresh, threshold, "{name}");
        }
    }

    /// Sets nothing but the threshold, and tells what it is called with.
    struct Threshold;

    std::thread_local! {
        static TOLD: RefCell<Vec<(Congested, bool)>> = const { RefCell::new(Vec::new()) };
    }

    impl Decider for Threshold {
        fn on_loss(&mut self, window: &mut Window, at: Congested) -> bool {
            window.ssthresh = at.flight / 2;
            true
        }
        fn on_mark(&mut self, window: &mut Window, at: Congested) -> bool {
            window.ssthresh = at.flight / 4 * 3;
            true
        }
        fn on_timeout(&mut self, window: &mut Window, at: Congested, first: bool) {
            TOLD.with_borrow_mut(|told| told.push((at, first)));
            window.cwnd = at.mss;
        }
    }

    fn outside() -> Algorithm {
        external::install(Box::new(|_| Box::new(Threshold)));
        Algorithm::External(Settings { class: "a.py:A".into(), ..Settings::default() })
    }

    #[test]
    fn window_goes_to_threshold_that_is_set_outside() {
        let mut path = Path::with(outside());
        let sent: [Sent; 10] = core::array::from_fn(|_| path.send(0));
        assert_eq!(path.settle(100, &sent[..1], &[], 1), 7);
        let later = [path.send(150)];
        assert_eq!(path.settle(250, &[], &later, 0), 3);
    }

    #[test]
    fn persistent_congestion_is_no_first_timeout() {
        let mut path = Path::with(outside());
        let sent: [Sent; 10] = core::array::from_fn(|_| path.send(0));
        assert_eq!(path.settle(3000, &[], &sent, 0), 5);
        path.control.persistent(&path.p, ms(3000), ms(100));
        assert_eq!(path.control.window, Window { cwnd: 2 * FULL, ssthresh: 5 * FULL });
        let told = TOLD.take();
        let [(at, first)] = told[..] else { panic!("{told:?}") };
        assert_eq!((at.now, at.srtt, at.flight, at.mss), (ms(3000), ms(100), 5 * FULL, FULL));
        assert!(!first, "the loss has set the threshold");
    }

    #[test]
    fn pace_is_five_quarters_of_the_window_in_a_round_trip() {
        let mut path = Path::new("reno");
        assert_eq!(path.control.pace(&path.p, &path.rtt), 10 * 12_000 * 10 / 4);
        path.control.window.ssthresh = 12_000;
        assert_eq!(path.control.pace(&path.p, &path.rtt), 10 * 12_000 * 5 / 4);
    }
}
