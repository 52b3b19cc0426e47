//! The receiver: when it acknowledges, and what its SACK blocks say.

use crate::common::ms;
use crate::common::script::{MSS, Script, spec};
use sojourn_tcp::{Ecn, Flags, Spec};

/// RFC 5681 section 4.2.
#[test]
fn delayed_ack_answers_every_second_full_segment() {
    let mut s = Script::connected(&spec());
    s.data(0);
    assert_eq!(s.acks(), []);
    s.data(1);
    assert_eq!(s.acks(), [(2, vec![])]);
    s.data(2);
    assert_eq!(s.acks(), []);
}

#[test]
fn delayed_ack_answers_single_segment_after_delay() {
    let mut s = Script::connected(&spec());
    let arrived = s.now;
    s.data(0);
    assert_eq!(s.end.deadline(), arrived + ms(100));
    s.wait(99);
    assert_eq!(s.acks(), []);
    s.wait(1);
    assert_eq!(s.acks(), [(1, vec![])]);
    s.wait(1000);
    assert_eq!(s.acks(), []);
}

#[test]
fn delayed_ack_counts_bytes_of_small_segments() {
    let mut s = Script::connected(&spec());
    s.data_with(0, 500, Flags::NONE, Ecn::NotEct);
    assert_eq!(s.acks(), []);
    s.arrives(sojourn_tcp::Segment {
        seq: crate::common::script::from_peer(0) + 500,
        ack: crate::common::script::place(0),
        flags: Flags::ACK,
        len: 600,
        window: 60_000,
        ..sojourn_tcp::Segment::EMPTY
    });
    assert_eq!(s.acks().len(), 1);
}

#[test]
fn receiver_without_delayed_ack_answers_every_segment() {
    let mut s = Script::connected(&Spec { delayed_ack: Some(false), ..spec() });
    s.data(0);
    s.data(1);
    assert_eq!(s.acks(), [(1, vec![]), (2, vec![])]);
}

#[test]
fn data_segments_carry_pending_ack() {
    let mut s = Script::connected(&spec());
    s.data(0);
    s.write(1000);
    let sent = s.segments();
    assert_eq!((sent.len(), sent[0].len), (1, 1000));
    assert_eq!(sent[0].ack, crate::common::script::from_peer(1));
    s.wait(200);
    assert_eq!(s.segments(), []);
}

/// RFC 5681 section 4.2: at once when out of order, and when a hole is filled. RFC 2018 section 4:
/// the block that holds the latest segment comes first.
#[test]
fn sack_reports_holes_at_once_latest_block_first() {
    let mut s = Script::connected(&spec());
    s.data(1);
    s.data(3);
    s.data(5);
    s.data(7);
    s.data(9);
    s.data(4);
    assert_eq!(
        s.acks(),
        [
            (0, vec![(1, 2)]),
            (0, vec![(3, 4), (1, 2)]),
            (0, vec![(5, 6), (3, 4), (1, 2)]),
            (0, vec![(7, 8), (5, 6), (3, 4), (1, 2)]),
            (0, vec![(9, 10), (7, 8), (5, 6), (3, 4)]),
            (0, vec![(3, 6), (9, 10), (7, 8)]),
        ]
    );
    s.data(0);
    assert_eq!(s.acks(), [(2, vec![(3, 6), (9, 10), (7, 8)])]);
    s.data(2);
    assert_eq!(s.acks(), [(6, vec![(9, 10), (7, 8)])]);
    assert_eq!(s.end.bytes_delivered(), u64::from(6 * MSS));
}

#[test]
fn sack_blocks_are_three_with_timestamps_and_none_without_sack() {
    let mut s = Script::connected(&Spec { timestamps: Some(true), mss: Some(MSS + 12), ..spec() });
    for n in [1, 3, 5, 7] {
        s.data(n);
    }
    let (last, blocks) = s.out.sent.pop().unwrap();
    assert_eq!((blocks.len(), last.options, last.ip_bytes()), (3, 40, 80));
    let mut s = Script::connected(&Spec { sack: Some(false), ..spec() });
    s.data(1);
    assert_eq!(s.acks(), [(0, vec![])]);
}

#[test]
fn duplicate_data_are_acked_at_once_and_not_delivered() {
    let mut s = Script::connected(&spec());
    s.data(0);
    s.data(1);
    s.forget();
    s.data(0);
    assert_eq!(s.acks(), [(2, vec![])]);
    assert_eq!(s.end.bytes_delivered(), 2000);
}

#[test]
fn data_beyond_window_are_refused() {
    let mut s = Script::connected(&spec());
    s.data(60);
    assert_eq!(s.acks(), [(0, vec![])]);
}

/// RFC 7323 section 4.3: an acknowledgement that waited echoes the earliest segment's time.
#[test]
fn delayed_ack_echoes_timestamp_of_first_segment() {
    let mut s = Script::connected(&Spec { timestamps: Some(true), mss: Some(MSS + 12), ..spec() });
    for n in 0..2 {
        s.arrives(sojourn_tcp::Segment {
            seq: crate::common::script::from_peer(n),
            ack: crate::common::script::place(0),
            tsval: 500 + n,
            flags: Flags::ACK,
            len: MSS as u16,
            window: 60_000,
            ..sojourn_tcp::Segment::EMPTY
        });
    }
    assert_eq!(s.segments()[0].tsecr, 500);
}

/// RFC 3168 section 6.1.3.
#[test]
fn ece_is_echoed_until_cwr() {
    let mut s = Script::connected(&Spec { ecn: Some(true), ..spec() });
    let echoes = |s: &mut Script| -> Vec<bool> {
        s.segments().iter().map(|a| a.flags.has(Flags::ECE)).collect()
    };
    s.data_with(0, MSS, Flags::NONE, Ecn::Ce);
    s.data_with(1, MSS, Flags::NONE, Ecn::Ect0);
    s.data_with(2, MSS, Flags::NONE, Ecn::Ect0);
    s.data_with(3, MSS, Flags::NONE, Ecn::Ect0);
    assert_eq!(echoes(&mut s), [true, true]);
    s.data_with(4, MSS, Flags::CWR, Ecn::Ect0);
    s.data_with(5, MSS, Flags::NONE, Ecn::Ect0);
    assert_eq!(echoes(&mut s), [false]);
    s.data_with(6, MSS, Flags::CWR, Ecn::Ce); // both: a new mark
    s.data_with(7, MSS, Flags::NONE, Ecn::Ect0);
    assert_eq!(echoes(&mut s), [true]);
}

/// SACK compression on a path of 100 ms.
fn compressing() -> Script {
    Script::connected(&Spec { sack_compression: Some(true), ..spec() })
}

#[test]
fn sack_compression_acks_three_then_one_per_millisecond() {
    let mut s = compressing();
    (1..=3).for_each(|n| s.data(n));
    assert_eq!(s.acks(), [(0, vec![(1, 2)]), (0, vec![(1, 3)]), (0, vec![(1, 4)])]);
    let began = s.now;
    s.data(4);
    // A twentieth of the round trip would be 5 ms; and the timer's slack.
    assert_eq!(s.end.deadline(), began + ms(1) + sojourn_base::Time::from_micros(100));
    (5..=9).for_each(|n| s.data(n));
    assert_eq!(s.acks(), []);
    s.wait(2);
    assert_eq!(s.acks(), [(0, vec![(1, 10)])]);
    // The fourth of the next is as the fourth of the first.
    s.data(10);
    assert_eq!(s.acks(), []);
    s.wait(2);
    assert_eq!(s.acks(), [(0, vec![(1, 11)])]);
    s.wait(1000);
    assert_eq!(s.acks(), []);
}

#[test]
fn sack_compression_holds_at_most_44_segments() {
    let mut s = compressing();
    (1..=3).for_each(|n| s.data(n));
    s.forget();
    (4..=48).for_each(|n| s.data(n));
    assert_eq!(s.acks(), [(0, vec![(1, 49)])]);
}

#[test]
fn sack_compression_restarts_when_hole_moves() {
    let mut s = compressing();
    (1..=5).for_each(|n| s.data(n));
    s.data(7);
    s.forget();
    // The first hole is filled; what waited is told of too. Then two more at once.
    s.data(0);
    assert_eq!(s.acks(), [(6, vec![(7, 8)])]);
    (8..=11).for_each(|n| s.data(n));
    assert_eq!(s.acks(), [(6, vec![(7, 9)]), (6, vec![(7, 10)])]);
    s.wait(2);
    assert_eq!(s.acks(), [(6, vec![(7, 12)])]);
}

#[test]
fn sack_compression_flushes_before_third_block() {
    let mut s = compressing();
    for n in [1, 3, 5, 6] {
        s.data(n);
    }
    s.forget();
    // What belongs to the two latest may wait with it, what makes a new one may not.
    s.data(4);
    assert_eq!(s.acks(), []);
    s.data(9);
    assert_eq!(s.acks(), [(0, vec![(3, 7), (1, 2)])]);
    s.wait(2);
    assert_eq!(s.acks(), [(0, vec![(9, 10), (3, 7), (1, 2)])]);
}

#[test]
fn growing_receive_window_acks_every_segment() {
    let spec = Spec {
        sack_compression: Some(true),
        receive_window: Some(sojourn_base::Size(1_000_000)),
        autotune: Some(true),
        ..spec()
    };
    let mut s = Script::connected(&spec);
    // A round trip in which much was taken makes room.
    (0..60).for_each(|n| s.data(n));
    s.wait(100);
    s.data(60);
    s.forget();
    (62..72).for_each(|n| s.data(n));
    assert_eq!(s.acks().len(), 10);
}
