//! Long transfers under random loss and marks: the rate that the window rules imply.

use crate::common::script::{MSS, spec};
use crate::common::{Fate, World, ms, params};
use sojourn_base::{Kind, Size, Stream, Time};
use sojourn_tcp::{Ecn, Spec};

/// Mean window in segments, from the rate of a transfer of 600 s over a round trip of 100 ms on
/// which a data segment meets with probability `p` a drop or a mark; and the world after it.
fn window(spec: &Spec, p: f64, mark: bool) -> (f64, World) {
    let mut coin = Stream::new(1, Kind::Qdisc, 0, 0);
    let mut w = World::new(params(spec), [1, 2], ms(50), move |_, _, s| {
        let hit = s.len > 0 && coin.uniform() < p;
        let marked = hit && mark && s.ecn.capable();
        Fate { drop: hit && !marked, ecn: marked.then_some(Ecn::Ce), ..Fate::default() }
    });
    w.keep_log = false;
    w.open();
    w.write(0, u64::MAX);
    w.run(Time::from_secs(600));
    let segments = w.hosts[1].delivered as f64 / f64::from(MSS);
    (segments / 6_000.0, w)
}

fn wide() -> Spec {
    Spec { receive_window: Some(Size(1 << 20)), delayed_ack: Some(false), ..spec() }
}

/// Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997: √(3/2p) segments. Delayed acknowledgements do
/// not lower it while the window grows by bytes acknowledged (RFC 3465); where it grows by
/// acknowledgements, it is √(3/4p).
#[test]
fn window_under_random_loss_follows_square_root_law() {
    for (delayed, bytes, p) in
        [(false, true, 0.001), (true, true, 0.001), (true, false, 0.001), (false, true, 0.005)]
    {
        let per_window = if delayed && !bytes { 0.5 } else { 1.0 };
        let law = (1.5f64 * per_window / p).sqrt();
        let spec = Spec { delayed_ack: Some(delayed), byte_counting: Some(bytes), ..wide() };
        let (sack, w) = window(&spec, p, false);
        assert!((0.85..1.15).contains(&(sack / law)), "{sack} for {law}, p {p}");
        let end = &w.hosts[0].end;
        assert!(end.timeouts() * 10 < end.retransmissions(), "{} timeouts", end.timeouts());
    }
}

#[test]
fn newreno_matches_sack_for_single_losses() {
    let p = 0.001;
    let (sack, _) = window(&wide(), p, false);
    let (newreno, _) = window(&Spec { sack: Some(false), ..wide() }, p, false);
    assert!((0.9..1.1).contains(&(newreno / sack)), "{newreno} and {sack}");
}

#[test]
fn marks_reduce_like_drops_without_retransmissions() {
    let p = 0.002;
    let (drops, _) = window(&wide(), p, false);
    let (marks, w) = window(&Spec { ecn: Some(true), ..wide() }, p, true);
    assert!((0.9..1.15).contains(&(marks / drops)), "{marks} and {drops}");
    assert_eq!((w.hosts[0].end.retransmissions(), w.hosts[0].end.timeouts()), (0, 0));
}

#[test]
fn sack_retransmits_only_lost_segments() {
    for p in [0.002, 0.03] {
        let (_, w) = window(&wide(), p, false);
        let sent = w.hosts[0].end.segments_sent() as f64;
        let again = w.hosts[0].end.retransmissions() as f64;
        assert!(again < 1.1 * p * sent, "{again} of {sent} at {p}");
    }
}
