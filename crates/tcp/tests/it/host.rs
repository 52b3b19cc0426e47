//! The sender's own host: an interface that takes no more.

use crate::common::script::{MSS, Script, modern, spec};
use sojourn_tcp::Spec;

/// `tcp_enter_cwr` of Linux 2.4.
#[test]
fn full_interface_reduces_window_once_and_blocks_new_data() {
    let at_once = Spec { prr_marks: Some(false), ..modern() };
    for spec in [Spec { initial_window: Some(10), ..spec() }, at_once] {
        let mut s = Script::sending(&spec);
        assert_eq!(s.sent().len(), 10);
        s.wait(100);
        s.out.full = true;
        s.ack(2);
        assert!(s.sent().is_empty());
        assert_eq!((s.cwnd(), s.end.ssthresh()), (4, Some(4 * MSS)));
        s.ack(4);
        s.ack(7);
        assert!(s.sent().is_empty());
        assert_eq!((s.cwnd(), s.end.ssthresh()), (5, Some(4 * MSS))); // it grows again
        s.out.full = false;
        s.ack(8);
        assert_eq!((s.sent(), s.end.retransmissions()), (vec![10, 11, 12], 0));
    }
}

/// Today's Linux brings the window down with what is acknowledged (`TCP_CA_CWR`).
#[test]
fn full_interface_reduces_modern_window_by_prr() {
    let mut s = Script::sending(&modern());
    s.forget();
    s.wait(100);
    s.out.full = true;
    s.ack(2);
    assert!(s.sent().is_empty());
    assert_eq!(s.end.ssthresh(), Some(4 * MSS));
    s.out.full = false;
    let mut sent = 0;
    for n in 3..=11 {
        s.ack(n.min(10));
        sent += s.sent().len();
        assert!(s.cwnd() < 10);
    }
    assert_eq!(sent, 4);
    assert_eq!(s.cwnd(), 4);
}

/// Nothing would come back that could let it go on.
#[test]
fn full_interface_takes_segment_when_nothing_is_outstanding() {
    for spec in [spec(), modern()] {
        let mut s = Script::connected(&spec);
        s.out.full = true;
        s.write(5000);
        assert_eq!(s.sent(), [0]);
        s.wait(100);
        s.ack(1);
        assert_eq!(s.sent(), [1]);
    }
}
