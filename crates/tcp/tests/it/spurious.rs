//! Probes for lost tails, and recoveries that were for nothing: RFC 8985 section 7, RFC 5682,
//! RFC 3522, RFC 3708; duplicates as the receiver tells of them, RFC 2883.

use crate::common::script::{MSS, Script, modern};
use sojourn_base::Time;
use sojourn_tcp::{Flags, Spec};

fn ten(spec: &Spec) -> Script {
    let mut s = Script::sending(spec);
    assert_eq!(s.sent(), (0..10).collect::<Vec<_>>());
    s
}

/// RFC 8985 section 7.3: the last segment again, and what its acknowledgement shows is repaired.
#[test]
fn tlp_probes_lost_tail_after_two_rtts() {
    let mut s = Script::connected(&modern());
    s.write(3000);
    assert_eq!(s.sent(), [0, 1, 2]);
    s.wait(199);
    assert!(s.sent().is_empty());
    s.wait(1);
    assert_eq!(s.sent(), [2]);
    s.wait(100);
    s.sack(0, &[(2, 3)]);
    assert_eq!(s.sent(), [0]); // as much as has arrived
    s.wait(100);
    s.sack(1, &[(2, 3)]);
    assert_eq!((s.sent(), s.end.timeouts()), (vec![1], 0));
}

#[test]
fn tlp_prefers_new_data() {
    let mut s = ten(&modern());
    s.wait(200);
    assert_eq!((s.sent(), s.end.retransmissions()), (vec![10], 0));
    s.wait(200);
    assert!(s.sent().is_empty(), "one probe at a time");
    s.wait(100);
    assert_eq!((s.sent()[0], s.end.timeouts()), (0, 1));
}

/// Section 7.4: the probe repaired a loss that nothing else shows.
#[test]
fn tlp_repaired_loss_reduces_window() {
    for duplicate in [false, true] {
        let mut s = Script::connected(&modern());
        s.write(10_000);
        s.wait(100);
        s.ack(9);
        s.wait(450);
        assert_eq!(s.sent().last(), Some(&9));
        s.sack(10, if duplicate { &[(9, 10)] } else { &[] });
        s.write(1000);
        s.wait(100);
        let before = s.cwnd();
        s.ack(11);
        assert_eq!(s.cwnd() < before, !duplicate);
        assert_eq!(s.end.ssthresh().is_some(), !duplicate);
    }
}

/// Section 7.2: the acknowledgement of a single segment may be delayed; the timeout comes first.
#[test]
fn tlp_of_one_segment_waits_for_its_delayed_acknowledgement() {
    let mut s = Script::connected(&modern());
    s.write(1000);
    assert_eq!(s.sent(), [0]);
    let patient = Time::from_millis(200) + s.p.delayed_ack_time.max(s.p.min_rto);
    let due = s.now + patient.min(s.end.rto());
    s.wait((due - s.now).0 / 1_000_000 - 1);
    assert!(s.sent().is_empty());
    s.wait(2);
    assert_eq!(s.sent(), [0]);
}

/// Section 7.4: an acknowledgement that says nothing is that of the second copy.
#[test]
fn bare_duplicate_after_probe_shows_that_nothing_was_lost() {
    let mut s = Script::connected(&modern());
    s.write(10_000);
    s.wait(100);
    s.ack(9);
    s.wait(450);
    assert_eq!(s.sent().last(), Some(&9));
    s.ack(10);
    s.ack(10);
    s.write(1000);
    s.wait(100);
    let before = s.cwnd();
    s.ack(11);
    assert_eq!((s.cwnd() >= before, s.end.ssthresh()), (true, None));
}

fn timed_out(spec: &Spec) -> Script {
    let mut s = ten(&Spec { tlp: Some(false), ..spec.clone() });
    s.wait(300);
    assert_eq!((s.sent(), s.end.timeouts(), s.cwnd()), (vec![0], 1, 1));
    s
}

/// RFC 5682 section 3.1: everything was only late.
#[test]
fn frto_undoes_spurious_timeout() {
    let mut s = timed_out(&modern());
    s.ack(1);
    assert_eq!(s.sent(), [10, 11]); // step 2b: new data
    s.ack(2);
    assert_eq!((s.cwnd() >= 10, s.end.ssthresh()), (true, None));
    assert!(s.sent().iter().all(|&n| n > 11));
    s.ack(12);
    assert_eq!(s.end.retransmissions(), 1);
}

/// Step 3a: a duplicate after the new data.
#[test]
fn frto_keeps_real_timeout() {
    let mut s = timed_out(&modern());
    s.ack(1);
    assert_eq!(s.sent(), [10, 11]);
    s.sack(1, &[(10, 11)]);
    assert_eq!((s.sent()[0], s.end.ssthresh()), (1, Some(5 * MSS)));
}

/// The same without SACK: what arrives later, sent before the timeout or not, shows no more.
#[test]
fn frto_ends_at_bare_duplicate_after_new_data() {
    let mut s = timed_out(&modern());
    s.ack(1);
    assert_eq!(s.sent(), [10, 11]);
    s.ack(1);
    s.ack(3);
    assert_eq!(s.end.ssthresh(), Some(5 * MSS));
}

/// Section 2.1 step 2 is for what advances the window: a duplicate before it changes nothing.
#[test]
fn frto_goes_on_after_bare_duplicate_before_first_advance() {
    let mut s = Script::connected(&Spec { tlp: Some(false), ..modern() });
    s.write(10_000);
    s.wait(300);
    s.forget();
    s.ack(0);
    s.write(u64::MAX);
    s.ack(1);
    assert_eq!(s.sent(), [10, 11]);
}

#[test]
fn timeout_without_frto_retransmits_at_once() {
    let mut s = timed_out(&Spec { frto: Some(false), ..modern() });
    s.ack(1);
    assert_eq!(s.sent(), [1, 2]);
}

/// RFC 3522: the first acknowledgement already echoes a time before the retransmission.
#[test]
fn eifel_undoes_timeout_by_older_timestamp_echo() {
    for (undo, timeouts) in [(true, 1), (false, 1), (true, 2)] {
        let spec = Spec {
            timestamps: Some(true),
            mss: Some(1012),
            frto: Some(false),
            undo: Some(undo),
            ..modern()
        };
        let mut s = Script::connected(&spec);
        let sent = s.now;
        s.write(u64::MAX);
        s.sent();
        while s.end.timeouts() < timeouts {
            s.wait(10);
        }
        assert_eq!(s.sent().last(), Some(&0));
        s.ack_echo(1, sent);
        assert_eq!(s.cwnd() >= 10, undo, "as before the first of them");
        assert_eq!(s.end.ssthresh().is_none(), undo);
        assert_eq!(s.sent().contains(&1), !undo);
    }
}

/// RFC 3708: all that was sent again came twice.
#[test]
fn dsack_undoes_spurious_recovery() {
    for undo in [true, false] {
        let mut s = ten(&Spec { undo: Some(undo), ..modern() });
        s.wait(100);
        s.sack(0, &[(1, 4)]);
        assert!(s.sent().contains(&0));
        s.ack(4); // late, not lost
        assert!(s.cwnd() < 10);
        s.sack(5, &[(0, 1)]);
        assert_eq!(s.cwnd() >= 10, undo);
        assert_eq!(s.end.ssthresh().is_none(), undo);
    }
}

/// RFC 2883 section 4.
#[test]
fn dsack_is_reported_once_and_first() {
    let mut s = Script::connected(&modern());
    s.data(0);
    s.data(1);
    s.forget();
    s.data(0);
    assert_eq!(s.acks(), [(2, vec![(0, 1)])]);
    s.data(4);
    s.data(4);
    assert_eq!(s.acks(), [(2, vec![(4, 5)]), (2, vec![(4, 5), (4, 5)])]);
    s.data(2);
    assert_eq!(s.acks(), [(3, vec![(4, 5)])]);
    let mut s = Script::connected(&Spec { dsack: Some(false), ..modern() });
    s.data(0);
    s.data(0);
    assert_eq!(s.acks(), [(1, vec![])]);
}

/// Twice the window in a round trip of slow start, after the first window.
#[test]
fn pacing_spreads_segments() {
    let paced = Spec { pacing: Some(true), burst_segments: Some(1), ..modern() };
    let mut s = ten(&paced);
    s.wait(100);
    s.ack(2);
    // The first ten went unpaced and left nothing to wait for.
    assert_eq!((s.sent(), s.cwnd()), (vec![10], 12));
    let due = s.end.deadline() - s.now;
    assert_eq!(due.0 / 10_000, 416, "12 segments, twice, in 100 ms");
    s.wait(4);
    assert!(s.sent().is_empty());
    s.wait(1);
    assert_eq!(s.sent(), [11]);
}

/// A mark justifies the reduction, not that everything is sent again (`prior_ssthresh` of Linux).
#[test]
fn spurious_timeout_under_marks_ends_without_giving_back() {
    let mut s = timed_out(&Spec { ecn: Some(true), ..modern() });
    s.ack(1);
    assert_eq!(s.sent(), [10, 11]);
    s.ack_with(2, &[], Flags::ECE);
    assert_eq!((s.cwnd() <= 5, s.end.ssthresh()), (true, Some(5 * MSS)));
    s.ack(10);
    assert!(s.sent().iter().all(|&n| n > 11));
    assert_eq!(s.end.retransmissions(), 1);
}
