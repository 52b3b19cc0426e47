//! Losses in a row: of retransmissions, and of what is sent while others are repaired.

use crate::common::script::{MSS, modern, ten};
use sojourn_base::Time;
use sojourn_tcp::Spec;

/// RFC 5681 section 4.3: what was sent after the first loss was found is another window.
#[test]
fn loss_repaired_in_previous_recovery_reduces_window_again() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 10)]);
    assert_eq!(s.end.ssthresh(), Some(5 * MSS));
    let sent = s.sent();
    assert_eq!(sent[..3], [0, 10, 11]);
    let end = sent[sent.len() - 1] + 1;
    s.wait(100);
    // 0 is lost again, and 10: both are found by what was sent after them.
    s.sack(0, &[(11, end), (1, 10)]);
    assert_eq!(s.sent()[..2], [0, 10]);
    assert_eq!(s.end.ssthresh(), Some(5 * MSS), "in one recovery");
    s.wait(100);
    // That recovery is over, and nothing is found now.
    s.sack(10, &[(11, end)]);
    assert!(s.end.ssthresh() < Some(5 * MSS), "{:?}", s.end.ssthresh());
    s.wait(1);
    s.ack(end);
    assert_eq!(s.end.timeouts(), 0);
}

/// RFC 5681 section 4.3: the loss of a retransmission counts too.
#[test]
fn lost_retransmission_after_timeout_starts_recovery() {
    let spec = Spec { tlp: Some(false), frto: Some(false), ..modern() };
    let mut s = ten(&spec);
    s.wait(250);
    assert_eq!((s.sent(), s.end.timeouts()), (vec![0], 1));
    assert_eq!(s.end.ssthresh(), Some(5 * MSS));
    s.wait(100);
    s.ack(1);
    assert_eq!(s.sent(), [1, 2]);
    s.wait(100);
    s.sack(1, &[(2, 3)]);
    assert!(s.sent().contains(&1));
    assert_eq!((s.end.timeouts(), s.end.ssthresh()), (1, Some(2 * MSS)));
}

/// Above a hole the receiver echoes the time of the last segment in order, which is older than any
/// retransmission: RACK must not take the arrival of a retransmission for that of the original.
#[test]
fn lost_retransmission_is_detected_by_later_one_with_timestamps() {
    let mut s =
        ten(&Spec { timestamps: Some(true), undo: Some(false), mss: Some(MSS + 12), ..modern() });
    s.sack(0, &[(2, 10)]);
    assert_eq!(s.sent()[..2], [0, 1]);
    s.wait(100);
    s.sack(0, &[(1, 10)]);
    assert!(s.sent().contains(&0), "1 was sent after 0, and has arrived");
    assert_eq!(s.end.timeouts(), 0);
}

#[test]
fn rtt_is_sampled_from_sacks_during_hole() {
    let mut s = ten(&modern());
    assert_eq!(s.end.srtt(), Some(Time::from_millis(100)));
    s.wait(100);
    s.sack(0, &[(1, 2)]);
    assert!(s.end.srtt() > Some(Time::from_millis(110)), "{:?}", s.end.srtt());
    // A retransmission that arrives measures nothing (Karn).
    s.sack(0, &[(1, 10)]);
    let before = s.end.srtt();
    s.wait(500);
    s.sack(0, &[(1, 10)]);
    assert_eq!(s.end.srtt(), before);
}

#[test]
fn rto_restarts_when_first_segment_is_retransmitted() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 10)]);
    s.wait(100);
    s.sack(0, &[(11, 12), (1, 10)]);
    assert_eq!(s.sent().iter().filter(|&&n| n == 0).count(), 2);
    let rto = s.end.rto();
    s.wait(rto.0 / 1_000_000 - 1);
    assert_eq!(s.end.timeouts(), 0, "not before {rto}");
    s.wait(2);
    assert_eq!(s.end.timeouts(), 1);
}
