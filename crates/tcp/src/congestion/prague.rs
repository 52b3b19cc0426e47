//! Prague: DCTCP's answer to marks for the Internet, with less dependence on the round trip.
//!
//! draft-briscoe-iccrg-prague-congestion-control-04. Data are ECT(1), so L4S queues (RFC 9331) mark
//! them early and often; α, the moving average of the share marked, decides how much a mark takes,
//! `cwnd ← cwnd·(1 − α/2)` (section 2.4). Flows whose round trip R is below a virtual one, 25 ms,
//! behave as if theirs were that long: their average and their reductions go by virtual round trips
//! and they grow by (R/R_virt)² of a segment in a real one, so that a short path does not push
//! longer ones aside. Growth comes from unmarked acknowledgements alone, in fractions of a segment.
//! Segments are paced at cwnd/RTT, at twice that in slow start.
//!
//! # Differences from the source
//!
//! 1. The search for queues that mark as RFC 3168 does is that of Linux, `fallback`; there is none
//!    for broken feedback (sections 2.4.6 and following).
//! 2. A loss halves as Reno's; the draft lets it be Reno or CUBIC, and takes into account what
//!    marks took in the same round trip, which TCP's sender does here by reducing once per window.
//!    Over QUIC a loss halves whatever marks took.
//! 3. Whether an acknowledgement is marked is all or nothing for its growth: one that acknowledges
//!    two segments of which one is marked gives none.
//! 4. The window stays at two segments at least; no scaling of packets below that.
//!
//! # Differences from Linux
//!
//! Linux has no Prague in its main tree; of the L4S team's tree it differs as follows.
//!
//! 1. There CUBIC's growth is an option and the target round trip has several profiles; here it is
//!    the draft's default only.
//! 2. α has 20 bits there, 32 here.
//! 3. Bursts of the segmentation offload are not paced apart there; here segments are.
//! 4. What `fallback` does otherwise is listed in `classic_queue.rs`.
//! 5. A loss halves there whatever marks took in the same window (`prague_enter_loss`).

use super::aimd::Growth;
use super::classic_queue::ClassicQueue;
use super::dctcp::Share;
use super::{Acked, Congested, Control, Marks, Sample, Window, fixed};
use crate::Invalid;
use sojourn_base::Time;
use sojourn_base::within;

/// Settings of Prague.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "PragueSettings"))]
pub struct Settings {
    /// Gain of the moving average: 0.0001 to 1 (default 0.0625,
    /// draft-briscoe-iccrg-prague-congestion-control-04 section 2.4).
    pub g: f64,
    /// The average at the start: 0 to 1 (default 1, the same: the first mark halves).
    pub initial_alpha: f64,
    /// Round trip that shorter ones are taken for: "0s", which leaves them what they are, to "10s"
    /// (default "25ms", the same).
    pub virtual_rtt: Time,
    /// Whether a queue that marks and yet lets delay grow is taken for a classic one, and marks
    /// then take up to five sixteenths of the window (default false, as in the L4S team's Linux;
    /// arXiv 1911.00710; RFC 9331 section 4.3).
    pub fallback: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let virtual_rtt = Time::from_millis(25);
        Self { g: 1.0 / 16.0, initial_alpha: 1.0, virtual_rtt, fallback: false }
    }
}

/// The settings in integers; shares are Q.32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    g: u64,
    alpha: u64,
    virtual_rtt: Time,
    fallback: bool,
}

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    growth: Growth,
    share: Share,
    /// When the present virtual round trip ends.
    until: Time,
    /// When the next reduction may come.
    again: Time,
    queue: ClassicQueue,
}

/// (R/R_virt)², Q.32.
#[inline]
fn growth(srtt: Time, virtual_rtt: Time) -> u64 {
    if srtt >= virtual_rtt || srtt == Time::ZERO {
        return fixed::ONE;
    }
    let ratio = (u128::from(srtt.0) << fixed::SHARE_BITS) / u128::from(virtual_rtt.0);
    ((ratio * ratio) >> fixed::SHARE_BITS) as u64
}

/// A virtual round trip after `due`, or if that is long past a real one after the last chance, so
/// that on average one lies between two events though they come with real round trips.
fn next(due: Time, now: Time, srtt: Time, virtual_rtt: Time) -> Time {
    if srtt >= virtual_rtt {
        return now; // the sender sees to one per real round trip
    }
    due.max(now.saturating_sub(srtt)).saturating_add(virtual_rtt)
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;
    const SAMPLES: bool = true;
    const PACED: bool = true;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let g = fixed::setting("congestion.g", settings.g, 0.0001, 1.0)?;
        let alpha = fixed::setting("congestion.initial_alpha", settings.initial_alpha, 0.0, 1.0)?;
        let (least, most) = (Time::ZERO, Time::from_secs(10));
        let virtual_rtt = within("congestion.virtual_rtt", settings.virtual_rtt, least, most)?;
        Ok(Tuning { g, alpha, virtual_rtt, fallback: settings.fallback })
    }

    fn new(tuning: &Tuning) -> Self {
        Self {
            growth: Growth::default(),
            share: Share::new(tuning.alpha),
            until: Time::ZERO,
            again: Time::ZERO,
            queue: ClassicQueue::default(),
        }
    }

    fn marks(_: &Tuning) -> Marks {
        Marks::Scalable
    }

    #[inline]
    fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, sample: &Sample) {
        self.share.count(sample);
        if let (true, Some(rtt)) = (tuning.fallback, sample.rtt) {
            self.queue.on_rtt(rtt, window.ssthresh / sample.mss.max(1));
        }
        // A real round trip at least, and a virtual one.
        if sample.now >= self.until && (sample.round || sample.srtt < tuning.virtual_rtt) {
            self.share.end(tuning.g);
            self.queue.on_round();
            self.until = next(self.until, sample.now, sample.srtt, tuning.virtual_rtt);
        }
    }

    #[inline]
    fn on_ack(&mut self, tuning: &Tuning, window: &mut Window, acked: Acked) {
        if !window.slow_start(&acked) {
            let a = growth(acked.srtt, tuning.virtual_rtt);
            self.growth.avoid(window, &Acked { smooth: true, ..acked }, a);
        }
    }

    /// Once in a virtual round trip.
    fn answers_marks(&self, now: Time) -> bool {
        now >= self.again
    }

    fn on_mark(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        self.queue.on_mark();
        // Nothing is known of the queue, and so it takes nothing, without `fallback`.
        let alpha = self.share.alpha.max(self.queue.least_alpha());
        window.reduce(Share::new(alpha).after(window.cwnd), at.mss);
        self.again = next(self.again, at.now, at.srtt, tuning.virtual_rtt);
    }

    fn on_loss(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(at.flight / 2, at.mss);
        self.growth = Growth::default();
    }

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(at.flight / 2, at.mss, first);
        self.growth = Growth::default();
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
        self.growth = Growth::default();
    }

    #[inline]
    fn pace(&self, _: &Tuning, window: &Window, srtt: Time) -> u64 {
        let rate = u64::from(window.cwnd) * 1_000_000_000 / srtt.0.max(1);
        match srtt {
            Time::ZERO => 0,
            _ if window.cwnd < window.ssthresh => 2 * rate,
            _ => rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, Rounds};

    fn rounds(segments: u32, millis: u64) -> Rounds<State> {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), segments);
        r.rtt = Time::from_millis(millis);
        r
    }

    fn mark(r: &mut Rounds<State>) {
        let at = r.at();
        if r.control.answers_marks(at.now) {
            r.control.on_mark(&r.tuning, &mut r.window, at);
        }
    }

    #[test]
    fn growth_goes_with_the_square_of_a_short_round_trip() {
        for (millis, per_rtt) in [(5, 0.04), (12, 0.2304), (25, 1.0), (100, 1.0)] {
            let mut r = rounds(1000, millis);
            for _ in 0..20 {
                r.round();
            }
            let grown = (r.segments() - 1000.0) / 20.0;
            assert!((grown / per_rtt - 1.0).abs() < 0.02, "{millis} ms: {grown} {per_rtt}");
        }
    }

    #[test]
    fn rates_under_the_same_marking_do_not_depend_on_a_short_round_trip() {
        // Every window sees marks, a tenth of the bytes: the sender's reductions then balance
        // growth at the same rate for 5 and 20 ms.
        let rate = |millis: u64| {
            let mut r = rounds(40, millis);
            r.control.share.alpha = fixed::ONE / 10;
            let (mut sum, mut n) = (0.0, 0);
            for i in 0..30_000 / millis {
                r.round();
                r.control.share.alpha = fixed::ONE / 10;
                mark(&mut r);
                if i > 5_000 / millis {
                    (sum, n) = (sum + r.segments(), n + 1);
                }
            }
            sum / f64::from(n) / (millis as f64 / 1000.0)
        };
        let (short, long) = (rate(5), rate(20));
        assert!((short / long - 1.0).abs() < 0.25, "{short} {long}");
        // α = 0.1 takes a twentieth per 25 ms, where a segment is gained: 800 segments a second.
        assert!((long / 800.0 - 1.0).abs() < 0.25, "{long}");
    }

    #[test]
    fn a_short_round_trip_is_reduced_once_per_virtual_one() {
        let mut r = rounds(1000, 5);
        r.now = Time::from_secs(1);
        r.control.share.alpha = fixed::ONE / 5;
        mark(&mut r);
        mark(&mut r);
        assert_eq!(r.window.cwnd / MSS, 900);
        r.now += Time::from_millis(25);
        mark(&mut r);
        assert_eq!(r.window.cwnd / MSS, 810);
    }

    #[test]
    fn paced_over_the_round_trip_and_twice_as_fast_in_slow_start() {
        let r = rounds(100, 50);
        let pace = |w: &Window| r.control.pace(&r.tuning, w, r.rtt);
        assert_eq!(pace(&r.window), u64::from(100 * MSS) * 20);
        let slow = Window { ssthresh: u32::MAX, ..r.window };
        assert_eq!(pace(&slow), u64::from(100 * MSS) * 40);
        assert_eq!(r.control.pace(&r.tuning, &slow, Time::ZERO), 0);
    }

    #[test]
    fn a_timeout_leaves_a_segment_and_half_of_what_was_in_flight() {
        let mut r = rounds(100, 50);
        let at = r.at();
        r.control.on_timeout(&r.tuning, &mut r.window, at, true);
        assert_eq!((r.window.cwnd, r.window.ssthresh), (MSS, 50 * MSS));
    }
}
