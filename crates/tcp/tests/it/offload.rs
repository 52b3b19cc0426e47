//! What a sender does with its host in mind: small queues, and bursts for segmentation offload.

use crate::common::script::{MSS, Script, modern};
use sojourn_base::Time;
use sojourn_tcp::Spec;

/// A sender whose window is 40 segments and whose round trip is a millisecond, with nothing to
/// send.
fn ready(spec: &Spec) -> Script {
    let mut s = Script::connected(&Spec { initial_window: Some(40), ..spec.clone() });
    for n in 1..200 {
        s.write(u64::from(MSS));
        s.wait(1);
        s.ack(n);
    }
    s.forget();
    s
}

#[test]
fn small_queues_allow_two_packets_or_one_millisecond() {
    let mut s = Script::connected(&Spec { initial_window: Some(20), ..modern() });
    // The handshake took 100 ms: a millisecond at 2.0 windows in that is far below two segments.
    s.out.leaves = s.now + Time::from_millis(7);
    s.write(u64::MAX);
    assert_eq!(s.sent(), [0, 1, 2]);
    // They leave; three more go down.
    s.out.leaves = s.now + Time::from_millis(14);
    s.wait(7);
    assert_eq!(s.sent(), [3, 4, 5]);
    let mut s = ready(&modern());
    // 40 segments a millisecond, with the gain of slow start twice as many: all of the window.
    s.out.leaves = s.now + Time::from_millis(7);
    s.write(u64::MAX);
    assert_eq!(s.sent().len(), 40);
}

#[test]
fn small_queues_do_not_limit_idle_interface_or_when_off() {
    for (small_queues, leaves) in [(true, 0), (false, 7)] {
        let spec = Spec { initial_window: Some(20), small_queues: Some(small_queues), ..modern() };
        let mut s = Script::connected(&spec);
        s.out.leaves = s.now + Time::from_millis(leaves);
        s.write(u64::MAX);
        assert_eq!(s.sent().len(), 20);
    }
}

#[test]
fn tso_defers_until_a_third_of_the_window() {
    for tso in [false, true] {
        let mut s = ready(&Spec { tso: Some(tso), hystart: Some(false), ..modern() });
        s.write(u64::MAX);
        let first = s.sent();
        let window = first.len() as u32;
        assert_eq!(window, 40);
        s.wait(1);
        let mut bursts = Vec::new();
        for n in 0..26 {
            s.ack(first[0] + n + 1);
            let sent = s.sent().len() as u32;
            if sent > 0 {
                bursts.push(sent);
            }
        }
        // In slow start each acknowledgement makes room for two.
        if tso {
            assert!(bursts.iter().all(|&burst| burst >= window / 3), "{bursts:?}");
            assert!(bursts.len() >= 2, "{bursts:?}");
        } else {
            assert!(bursts.iter().all(|&burst| burst <= 2), "{bursts:?}");
        }
    }
}

#[test]
fn tso_does_not_defer_last_data() {
    let mut s = ready(&Spec { tso: Some(true), ..modern() });
    s.write(u64::from(43 * MSS));
    let first = s.sent();
    let left = 43 - first.len() as u32;
    s.wait(1);
    s.ack(first[0] + left);
    assert_eq!(s.sent().len() as u32, left);
}

#[test]
fn tso_does_not_defer_when_next_ack_is_far() {
    let mut s = Script::sending(&Spec { tso: Some(true), initial_window: Some(30), ..modern() });
    let window = s.sent().len() as u32;
    s.wait(100);
    for n in 1..=window / 4 {
        s.ack(n);
        // The pace makes bursts of two segments, which every acknowledgement allows.
        assert_eq!(s.sent().len(), 2, "{n}");
    }
}
