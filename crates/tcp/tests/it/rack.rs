//! A sender that finds losses by time: RFC 8985 section 6, RFC 9937.

use crate::common::script::{MSS, Script, modern, ten};
use sojourn_tcp::Spec;

/// Section 6.2: three segments above it, and no reordering was ever seen.
#[test]
fn rack_detects_loss_at_once_after_three_sacked_segments() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 2)]);
    s.sack(0, &[(1, 3)]);
    assert_eq!(s.sent(), [10, 11]);
    s.sack(0, &[(1, 4)]);
    assert_eq!(s.sent()[0], 0);
    assert_eq!(s.end.ssthresh(), Some(5 * MSS));
    s.wait(100);
    s.ack(12);
    assert_eq!((s.cwnd(), s.end.retransmissions(), s.end.timeouts()), (5, 1, 0));
}

/// A delayed acknowledgement goes out with the first segment above a hole: what it acknowledges is
/// below what it reports, and came before it.
#[test]
fn one_acknowledgement_of_both_is_no_reordering() {
    let mut s = ten(&modern());
    s.sack(1, &[(2, 3)]);
    s.sack(1, &[(2, 4)]);
    s.sack(1, &[(2, 5)]);
    assert!(s.sent().contains(&1));
}

/// Section 6.2 step 4: a quarter of the least round trip.
#[test]
fn reordering_timer_detects_loss_near_tail() {
    let mut s = Script::connected(&modern());
    s.write(3000);
    s.sent();
    s.wait(100);
    s.sack(0, &[(1, 2)]);
    s.wait(24);
    assert!(s.sent().is_empty());
    s.wait(1);
    assert_eq!(s.sent(), [0]);
    assert_eq!(s.end.ssthresh(), Some(2 * MSS));
}

#[test]
fn rack_tolerates_reordering_of_quarter_rtt_once_seen() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 2)]);
    s.wait(5);
    s.ack(2); // 0 came late
    s.sent();
    s.wait(95);
    s.sack(2, &[(3, 4)]);
    s.sack(2, &[(3, 5)]);
    s.sack(2, &[(3, 9)]);
    s.wait(20);
    s.ack(10);
    assert_eq!((s.end.retransmissions(), s.end.ssthresh()), (0, None));
}

#[test]
fn rack_repairs_several_losses_within_one_rtt() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 2)]);
    s.sack(0, &[(3, 5), (1, 2)]);
    s.sack(0, &[(6, 10), (3, 5), (1, 2)]);
    let again: Vec<u32> = s.sent().into_iter().filter(|&n| n < 10).collect();
    assert_eq!(again, [0, 2, 5]);
    s.wait(100);
    s.ack(10);
    assert_eq!((s.end.retransmissions(), s.end.timeouts()), (3, 0));
}

/// The strength of RACK: RFC 6675 would need the timer for it.
#[test]
fn rack_detects_lost_retransmission() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 10)]);
    let sent = s.sent();
    assert_eq!(sent[0], 0);
    assert!(sent.len() > 1, "new data behind it: {sent:?}");
    s.wait(100);
    s.sack(0, &[(1, 11)]); // sent after the retransmission, and arrived
    assert_eq!(s.sent()[0], 0);
    assert_eq!((s.end.retransmissions(), s.end.timeouts()), (2, 0));
}

#[test]
fn tlp_then_rto_repair_loss_of_whole_flight() {
    let mut s = ten(&Spec { tlp: Some(false), ..modern() });
    s.wait(250);
    assert_eq!(s.sent(), [0]);
    assert_eq!((s.end.timeouts(), s.cwnd()), (1, 1));
    s.wait(100);
    s.ack(1);
    s.wait(100);
    s.sack(1, &[(10, 11)]);
    s.wait(100);
    assert!(s.sent().contains(&1));
}

/// RFC 9937 section 6: with halving, about every second segment that arrives lets one go.
#[test]
fn prr_reduces_flight_in_proportion() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 4)]); // three of ten delivered: half of it may go
    assert_eq!(s.sent(), [0]);
    s.sack(0, &[(1, 5)]);
    assert_eq!(s.sent(), [10]);
    s.sack(0, &[(1, 6)]);
    assert!(s.sent().is_empty());
    s.sack(0, &[(1, 7)]);
    assert!(s.sent().is_empty()); // five in flight, the threshold
    s.sack(0, &[(1, 8)]);
    assert_eq!(s.sent(), [11]); // kept there
}

#[test]
fn sender_without_prr_is_silent_until_flight_is_down() {
    let mut s = ten(&Spec { prr: Some(false), ..modern() });
    s.sack(0, &[(1, 5)]); // pipe 5, threshold 5
    assert!(s.sent().is_empty());
    s.sack(0, &[(1, 6)]);
    assert_eq!(s.sent(), [0]);
    s.sack(0, &[(1, 7)]);
    assert_eq!(s.sent(), [10]);
}

#[test]
fn log_without_rack_needs_three_sacked_segments() {
    let mut s = ten(&Spec { rack: Some(false), ..modern() });
    s.sack(0, &[(1, 3)]);
    s.wait(60);
    assert!(!s.sent().contains(&0));
    s.sack(0, &[(1, 4)]);
    assert!(s.sent().contains(&0));
}

/// RFC 8985 section 6.2 step 4: each report of a needless retransmission widens the window.
#[test]
fn dsack_widens_reordering_window() {
    let mut s = ten(&modern());
    s.sack(0, &[(1, 2)]);
    s.wait(25);
    assert!(s.sent().contains(&0));
    s.wait(5);
    s.ack(11); // both were only late
    s.sack(11, &[(0, 1)]);
    s.sent();
    s.wait(100);
    s.sack(11, &[(12, 13)]);
    s.sent();
    // The least round trip was that of 10, 30 ms: half of it, no longer a quarter.
    s.wait(14);
    assert!(!s.sent().contains(&11));
    s.wait(1);
    assert!(s.sent().contains(&11));
}
