//! The sender: window growth, loss with and without SACK, the timer.

use crate::common::ms;
use crate::common::script::{MSS, Script, spec};
use sojourn_tcp::{Flags, Spec};

fn newreno() -> Spec {
    Spec { sack: Some(false), ..spec() }
}

/// A sender whose window of ten segments, 0 to 9, is outstanding.
fn ten(spec: &Spec) -> Script {
    let mut s = Script::sending(&Spec { initial_window: Some(10), ..spec.clone() });
    assert_eq!(s.sent(), (0..10).collect::<Vec<_>>());
    s.wait(100);
    s
}

/// RFC 5681 section 3.1, RFC 3465 with L = 2.
#[test]
fn slow_start_doubles_window_per_rtt() {
    let mut s = Script::sending(&spec());
    assert_eq!(s.sent(), [0, 1]);
    s.wait(100);
    s.ack(2);
    assert_eq!((s.sent(), s.cwnd()), (vec![2, 3, 4, 5], 4));
    s.wait(100);
    s.ack(4);
    s.ack(6);
    assert_eq!((s.sent().len(), s.cwnd()), (8, 8));
}

#[test]
fn ack_counting_grows_window_by_one_segment_per_ack() {
    let mut s = Script::sending(&Spec { byte_counting: Some(false), ..spec() });
    s.ack(2);
    assert_eq!(s.cwnd(), 3);
    s.ack(3);
    assert_eq!(s.cwnd(), 4);
}

#[test]
fn cwnd_grows_only_while_it_is_the_limit() {
    let mut s = Script::connected(&Spec { initial_window: Some(10), ..spec() });
    for n in 0..20 {
        s.write(1000);
        s.wait(50);
        s.ack(n + 1);
    }
    assert_eq!(s.cwnd(), 10);
}

#[test]
fn cwnd_is_the_limit_where_no_further_segment_fits() {
    for (segments, grown) in [(9, 0), (10, 1)] {
        let mut s = Script::connected(&Spec { initial_window: Some(10), ..spec() });
        s.write(segments * 1000);
        s.wait(100);
        s.ack(1);
        assert_eq!(s.cwnd(), 10 + grown, "{segments} outstanding");
    }
}

#[test]
fn max_window_caps_cwnd() {
    let mut s = Script::sending(&Spec { max_window: Some(5), ..spec() });
    for n in 1..40 {
        s.ack(n);
    }
    assert_eq!((s.cwnd(), s.end.in_flight()), (5, 5 * MSS));
}

/// RFC 3042, then RFC 6675 section 5.
#[test]
fn sack_repairs_one_loss_within_one_rtt() {
    let mut s = ten(&spec());
    s.sack(0, &[(1, 2)]);
    assert_eq!(s.sent(), [10]); // limited transmit
    s.sack(0, &[(1, 3)]);
    assert_eq!(s.sent(), [11]);
    s.sack(0, &[(1, 4)]);
    assert_eq!(s.sent(), [0]);
    assert_eq!((s.cwnd(), s.end.ssthresh()), (5, Some(5 * MSS)));
    // Nine of twelve outstanding; new data once less than five segments are in the network.
    for top in 5..8 {
        s.sack(0, &[(1, top)]);
    }
    assert!(s.sent().is_empty());
    s.sack(0, &[(1, 9)]);
    assert_eq!(s.sent(), [12]);
    s.sack(0, &[(1, 10)]);
    assert_eq!(s.sent(), [13]);
    s.ack(12);
    assert_eq!((s.sent(), s.cwnd()), (vec![14, 15, 16], 5));
    assert_eq!((s.end.retransmissions(), s.end.timeouts()), (1, 0));
}

#[test]
fn duplicate_acks_send_nothing_without_limited_transmit() {
    for spec in [spec(), newreno()] {
        let mut s = ten(&Spec { limited_transmit: Some(false), ..spec });
        s.sack(0, &[(1, 2)]);
        s.sack(0, &[(1, 3)]);
        assert!(s.sent().is_empty());
        s.sack(0, &[(1, 4)]);
        assert_eq!(s.sent(), [0]);
    }
}

#[test]
fn sack_repairs_several_losses_within_one_rtt() {
    let mut s = ten(&spec());
    // 0, 2 and 5 are lost; 4 of the rest are needed to see it for 2.
    s.sack(0, &[(1, 2)]);
    s.sack(0, &[(3, 4), (1, 2)]);
    assert_eq!(s.sent(), [10, 11]);
    s.sack(0, &[(3, 5), (1, 2)]);
    assert_eq!(s.sent(), [0]);
    s.sack(0, &[(6, 7), (3, 5), (1, 2)]);
    assert!(s.sent().is_empty());
    s.sack(0, &[(6, 8), (3, 5), (1, 2)]);
    s.sack(0, &[(6, 9), (3, 5), (1, 2)]);
    s.sack(0, &[(6, 10), (3, 5), (1, 2)]);
    // In the network: 0 again, 10, 11; with 2 and 5 again it is five.
    assert_eq!(s.sent(), [2, 5]);
    s.sack(2, &[(6, 10), (3, 5)]);
    assert_eq!(s.sent(), [12]);
    s.ack(10);
    assert_eq!((s.cwnd(), s.end.retransmissions()), (5, 3));
}

/// RFC 6582 section 3.2.
#[test]
fn newreno_repairs_one_loss_per_rtt() {
    let mut s = ten(&newreno());
    for _ in 0..3 {
        s.ack(0);
    }
    assert_eq!(s.sent(), [10, 11, 0]);
    assert_eq!(s.end.ssthresh(), Some(5 * MSS));
    // Window 5 + 3, then one more for each duplicate; 12 are outstanding.
    for _ in 0..4 {
        s.ack(0);
    }
    assert!(s.sent().is_empty());
    s.ack(0);
    assert_eq!(s.sent(), [12]);
    s.wait(100);
    s.ack(4); // partial: 4 is lost too
    assert_eq!(s.sent(), [4, 13]);
    s.wait(100);
    s.ack(14);
    assert_eq!(s.cwnd(), 2); // the least of ssthresh and what is outstanding and one more
    assert_eq!(s.sent(), [14, 15]);
    assert_eq!((s.end.retransmissions(), s.end.timeouts()), (2, 0));
}

/// RFC 6675 section 6: else a queue of nearly a timeout makes the timer run out in the recovery.
#[test]
fn fast_retransmit_restarts_rto() {
    for spec in [spec(), newreno()] {
        let mut s = ten(&spec);
        let armed = s.end.deadline();
        for n in 0..3 {
            s.wait(50);
            s.sack(
                0,
                if spec.sack == Some(false) { &[] } else { &[[(1, 2)], [(1, 3)], [(1, 4)]][n] },
            );
        }
        assert!(s.sent().contains(&0));
        assert_eq!(s.end.deadline(), s.now + s.end.rto());
        assert!(s.end.deadline() > armed);
    }
}

/// Half of a window is lost, 0 to 4 of 10: RFC 6675 knows, and repairs it with as many as are
/// left in the network; Fall and Floyd's `pipe` still counts them and sends no more than the first.
#[test]
fn simple_pipe_counts_lost_segments_as_in_flight() {
    for (simple_pipe, again) in [(false, vec![0, 1, 2]), (true, vec![0])] {
        let mut s = ten(&Spec { simple_pipe: Some(simple_pipe), ..spec() });
        for top in 6..=10 {
            s.sack(0, &[(5, top)]);
        }
        let repaired: Vec<u32> = s.sent().into_iter().filter(|&n| n < 10).collect();
        assert_eq!(repaired, again);
        // An acknowledgement of what was sent again frees two places, and more follow.
        s.wait(100);
        s.sack(1, &[(5, 10)]);
        s.sack(1, &[(5, 11)]);
        assert!(!s.sent().is_empty());
        assert_eq!(s.end.timeouts(), 0);
    }
}

/// RFC 5681 equation 3: each acknowledgement adds its share, a segment in a window.
#[test]
fn smooth_growth_adds_to_window_with_every_ack() {
    let mut s = ten(&Spec { smooth_growth: Some(true), ..spec() });
    s.sack(0, &[(1, 4)]);
    s.ack(10);
    let mut cwnd = s.end.cwnd();
    assert_eq!(cwnd, 5 * MSS);
    for n in 11..16 {
        s.ack(n);
        assert!((150..=200).contains(&(s.end.cwnd() - cwnd)), "{}", s.end.cwnd());
        cwnd = s.end.cwnd();
    }
    assert!((5900..6000).contains(&cwnd), "{cwnd}");
}

#[test]
fn newreno_restarts_rto_at_first_partial_ack_only() {
    let mut s = ten(&newreno());
    for _ in 0..3 {
        s.ack(0);
    }
    s.wait(100);
    s.ack(3);
    let deadline = s.now + s.end.rto();
    assert_eq!(s.end.deadline(), deadline);
    s.wait(100);
    s.ack(6);
    assert_eq!(s.end.deadline(), deadline);
}

/// RFC 6298 section 5: new data acknowledged restart the timer, duplicates do not.
#[test]
fn duplicates_in_recovery_leave_the_timer_alone() {
    let mut s = ten(&spec());
    for end in 2..5 {
        s.sack(0, &[(1, end)]);
    }
    let due = s.end.deadline();
    s.wait(50);
    s.sack(0, &[(1, 5)]);
    assert_eq!(s.end.deadline(), due);
    s.sack(1, &[(2, 5)]);
    assert!(s.end.deadline() > due);
}

#[test]
fn lost_retransmission_needs_rto() {
    let mut s = ten(&spec());
    for top in 2..11 {
        s.sack(0, &[(1, top)]);
    }
    let sent = s.sent();
    assert_eq!(sent.iter().filter(|&&n| n == 0).count(), 1, "{sent:?}");
    s.wait(100);
    s.sack(0, &[(1, 12)]); // the new data have arrived, the retransmission has not
    s.wait(3000);
    assert!(s.end.timeouts() > 0);
    let sent = s.sent();
    let after: Vec<u32> = sent.iter().copied().filter(|&n| n < 12).collect();
    assert!(after.iter().all(|&n| n == 0), "only the hole is sent again: {sent:?}");
    assert_eq!(s.cwnd(), 1);
    s.ack(14);
    assert_eq!(s.cwnd(), 2);
}

/// RFC 6675 section 4, `NextSeg` rule 4.
#[test]
fn rescue_retransmission_is_sent_once_per_recovery() {
    let mut s = Script::connected(&Spec { initial_window: Some(10), ..spec() });
    s.write(10 * 1000);
    s.sent();
    // 0 and 9 are lost.
    for top in 2..10 {
        s.sack(0, &[(1, top)]);
    }
    assert_eq!(s.sent(), [0, 9]);
    s.sack(9, &[]);
    assert!(s.sent().is_empty());
    s.ack(10);
    assert_eq!((s.end.timeouts(), s.end.in_flight()), (0, 0));
}

#[test]
fn lost_tail_waits_for_rto() {
    let mut s = Script::connected(&spec());
    s.write(2000);
    s.forget();
    let rto = s.end.rto();
    s.wait(rto.0 / 1_000_000 - 1);
    assert!(s.sent().is_empty());
    s.wait(1);
    assert_eq!((s.sent(), s.cwnd(), s.end.ssthresh()), (vec![0], 1, Some(2 * MSS)));
    s.ack(1);
    assert_eq!(s.sent(), [1]);
}

#[test]
fn lost_acks_cost_nothing() {
    let mut s = ten(&spec());
    s.ack(10);
    assert_eq!(s.sent().len(), 12);
    assert_eq!(s.end.retransmissions(), 0);
}

#[test]
fn reordering_by_two_does_not_reduce_window() {
    for spec in [spec(), newreno()] {
        let mut s = ten(&spec);
        s.sack(0, &[(1, 2)]);
        s.sack(0, &[(1, 3)]);
        s.ack(3);
        assert_eq!((s.end.retransmissions(), s.end.ssthresh()), (0, None));
        assert_eq!(s.cwnd(), 12);
        assert_eq!(s.end.in_flight(), 12 * MSS);
    }
}

/// RFC 6298 rules 5.4 to 5.7 and section 3 (Karn).
#[test]
fn rto_backs_off_until_fresh_sample() {
    let mut s = Script::connected(&spec());
    assert_eq!(s.end.rto(), ms(1000));
    s.write(3000);
    s.wait(1000);
    assert_eq!(s.end.rto(), ms(2000));
    s.wait(2000);
    s.wait(4000);
    assert_eq!((s.end.rto(), s.end.timeouts()), (ms(8000), 3));
    s.forget();
    s.ack(1); // of a retransmission: no sample
    assert_eq!((s.out.rtts.len(), s.end.rto()), (0, ms(8000)));
    assert_eq!(s.end.deadline(), s.now + ms(8000));
    assert_eq!(s.sent(), [1, 2]);
    s.ack(2); // 1 was sent again too
    assert_eq!((s.out.rtts.len(), s.end.rto()), (0, ms(8000)));
    s.wait(100);
    s.ack(3); // 2 was sent once
    assert_eq!((s.out.rtts.as_slice(), s.end.rto()), (&[ms(100)][..], ms(1000)));
}

#[test]
fn connection_fails_after_its_retries() {
    let mut s = Script::connected(&Spec { retries: Some(2), ..spec() });
    s.write(1000);
    s.wait(6999);
    assert_eq!(s.end.timeouts(), 2);
    assert!(!s.end.is_closed());
    s.wait(1);
    assert!(s.end.is_closed());
}

/// RFC 5681 section 4.1.
#[test]
fn cwnd_restarts_after_idle_longer_than_rto() {
    for (restart, wait, expected) in [(true, 1100, 2), (true, 800, 6), (false, 5000, 6)] {
        let mut s = Script::connected(&Spec { idle_restart: Some(restart), ..spec() });
        s.write(6000);
        s.wait(100);
        s.ack(2);
        s.wait(100);
        s.ack(6);
        assert_eq!(s.cwnd(), 6);
        s.forget();
        s.wait(wait);
        s.write(20_000);
        assert_eq!(s.sent().len(), expected, "after {wait} ms");
    }
}

#[test]
fn timeout_retransmits_all_unsacked_data_in_slow_start() {
    let mut s = ten(&Spec { limited_transmit: Some(false), ..spec() });
    s.sack(0, &[(4, 6)]); // one duplicate, then silence
    s.wait(1000);
    assert_eq!((s.sent(), s.cwnd()), (vec![0], 1));
    s.wait(100);
    s.sack(1, &[(4, 6)]);
    assert_eq!(s.sent(), [1, 2]);
    s.sack(2, &[(4, 6)]);
    s.sack(3, &[(4, 6)]);
    assert_eq!(s.sent(), [3, 6, 7, 8]);
    s.sack(6, &[]);
    s.ack(10);
    assert_eq!(s.sent()[..3], [9, 10, 11]);
    assert_eq!(s.end.retransmissions(), 8);
}

#[test]
fn newreno_goes_back_after_timeout_and_ignores_caused_dupacks() {
    let mut s = ten(&Spec { limited_transmit: Some(false), ..newreno() });
    s.wait(1000);
    assert_eq!(s.sent(), [0]);
    s.ack(5); // 1 to 4 had arrived
    assert_eq!(s.sent(), [5, 6]);
    for _ in 0..5 {
        s.ack(5);
    }
    assert_eq!((s.sent(), s.cwnd()), (vec![], 2));
    s.ack(10);
    assert_eq!(s.sent(), [10, 11, 12]);
    for _ in 0..5 {
        s.ack(10); // RFC 6582 section 3.2 step 2: not beyond `recover`
    }
    assert_eq!(s.end.retransmissions(), 3);
}

fn ecn() -> Spec {
    Spec { ecn: Some(true), ..spec() }
}

/// RFC 3168 section 6.1.2.
#[test]
fn ece_halves_window_once_and_sends_cwr() {
    let mut s = ten(&ecn());
    s.ack_with(2, &[], Flags::ECE);
    assert_eq!((s.cwnd(), s.end.ssthresh()), (5, Some(5 * MSS)));
    s.ack_with(5, &[], Flags::ECE);
    assert_eq!((s.cwnd(), s.segments().len()), (5, 0));
    s.ack_with(7, &[], Flags::ECE);
    let sent = s.segments();
    let cwr: Vec<bool> = sent.iter().map(|x| x.flags.has(Flags::CWR)).collect();
    assert_eq!(cwr, [true, false]);
    assert!(sent.iter().all(|x| x.ecn == sojourn_tcp::Ecn::Ect0));
    s.ack(9);
    assert_eq!(s.end.retransmissions(), 0);
}

#[test]
fn lost_cwr_keeps_echo_and_reduces_next_window() {
    let mut s = ten(&ecn());
    s.ack_with(2, &[], Flags::ECE);
    s.ack_with(7, &[], Flags::ECE); // 10 and 11 go, 10 with CWR: lost
    s.forget();
    s.ack_with(10, &[(11, 12)], Flags::ECE);
    assert_eq!(s.cwnd(), 5, "the echo of the first window, CWR comes behind it");
    s.ack_with(11, &[(11, 12)], Flags::ECE);
    assert!(s.cwnd() < 5, "{}", s.cwnd());
    s.ack_with(14, &[], Flags::ECE);
    assert!(s.segments().iter().any(|x| x.flags.has(Flags::CWR)));
}

#[test]
fn mark_and_loss_in_one_window_reduce_once_without_ect_retransmissions() {
    let mut s = ten(&ecn());
    s.forget();
    s.sack(0, &[(1, 2)]);
    s.ack_with(0, &[(1, 3)], Flags::ECE);
    assert_eq!(s.cwnd(), 5);
    s.ack_with(0, &[(1, 4)], Flags::ECE);
    assert_eq!(s.cwnd(), 5);
    let sent = s.segments();
    let again: Vec<_> = sent.iter().filter(|x| x.seq == crate::common::script::place(0)).collect();
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].ecn, again[0].flags), (sojourn_tcp::Ecn::NotEct, Flags::ACK));
}

#[test]
fn ecn_needs_both_ends_and_syn_is_not_ect() {
    let mut s = Script::idle(&ecn());
    s.open();
    let syn = s.segments()[0];
    assert_eq!(syn.flags, Flags::SYN | Flags::ECE | Flags::CWR);
    assert_eq!(syn.ecn, sojourn_tcp::Ecn::NotEct);
    s.arrives(s.syn_ack(Flags::NONE));
    s.forget();
    s.write(1000);
    assert_eq!(s.segments()[0].ecn, sojourn_tcp::Ecn::NotEct);
}

#[test]
fn timestamps_sample_rtt_even_of_retransmissions() {
    let mut s = Script::connected(&Spec { timestamps: Some(true), mss: Some(1012), ..spec() });
    s.write(1000);
    s.wait(1000);
    let again = *s.segments().last().unwrap();
    assert_eq!((again.seq, s.end.timeouts()), (crate::common::script::place(0), 1));
    s.wait(250);
    s.forget();
    s.arrives(sojourn_tcp::Segment {
        seq: crate::common::script::from_peer(0),
        ack: crate::common::script::place(1),
        tsecr: again.tsval,
        flags: Flags::ACK,
        window: 60_000,
        ..sojourn_tcp::Segment::EMPTY
    });
    assert_eq!(s.out.rtts, [ms(250)]);
}

/// RFC 6675 section 5 step 4.3: the rescue waits until something beyond the first retransmission is
/// acknowledged.
#[test]
fn rescue_retransmission_waits_without_early_rescue() {
    let rescues = |early| {
        let spec = Spec { early_rescue: Some(early), initial_window: Some(10), ..spec() };
        let mut s = Script::connected(&spec);
        s.write(u64::from(10 * MSS));
        s.sent();
        s.wait(100);
        // The first and the last are lost, and there is nothing new to send.
        for n in 2..=9 {
            s.sack(0, &[(1, n)]);
        }
        let at_first = s.sent();
        s.wait(100);
        s.ack(9);
        (at_first, s.sent())
    };
    assert_eq!(rescues(true), (vec![0, 9], vec![]));
    assert_eq!(rescues(false), (vec![0], vec![9]));
}
