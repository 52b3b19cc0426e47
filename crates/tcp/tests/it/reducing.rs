//! What a mark does to a sender that keeps a log, and what becomes of a window that goes unused:
//! as Linux, and by the letter of RFC 3168 and RFC 5681 where the switches are off.

use crate::common::script::{MSS, Script, modern, spec, ten};
use sojourn_base::Time;
use sojourn_tcp::congestion::westwood;
use sojourn_tcp::{Algorithm, Flags, Spec};

fn ecn() -> Spec {
    Spec { ecn: Some(true), initial_window: Some(20), hystart: Some(false), ..modern() }
}

/// RFC 9937 section 6: at half the window every second acknowledged segment lets one out.
#[test]
fn prr_marks_sends_on_every_second_ack() {
    let mut s = Script::sending(&ecn());
    assert_eq!(s.sent().len(), 20);
    s.wait(100);
    let mut sent = Vec::new();
    for n in 1..=20 {
        s.ack_with(n, &[], if n < 4 { Flags::ECE } else { Flags::NONE });
        sent.push(s.sent().len());
    }
    assert_eq!(sent.iter().sum::<usize>(), 10);
    assert!(sent.iter().all(|&n| n <= 1), "{sent:?}");
    for n in 1..=20 {
        let by_now = sent[..n].iter().sum::<usize>();
        assert!(by_now.abs_diff(n.div_ceil(2)) <= 1, "after {n}: {sent:?}");
    }
    assert_eq!(s.end.ssthresh(), Some(10 * MSS));
    // What was sent after the reduction is acknowledged: growth goes on from the threshold.
    s.ack(21);
    assert_eq!(s.cwnd(), 10);
    s.ack(30);
    assert_eq!(s.cwnd(), 11);
}

#[test]
fn sender_without_prr_marks_is_silent_until_half_is_acked() {
    let mut s = Script::sending(&Spec { prr_marks: Some(false), ..ecn() });
    s.sent();
    s.wait(100);
    let mut sent = Vec::new();
    for n in 1..=20 {
        s.ack_with(n, &[], if n < 4 { Flags::ECE } else { Flags::NONE });
        sent.push(s.sent().len());
    }
    assert!(sent[..10].iter().all(|&n| n == 0), "{sent:?}");
    assert!(sent[10..].iter().sum::<usize>() >= 10);
}

#[test]
fn loss_within_rtt_of_mark_continues_same_reduction() {
    let mut s = Script::sending(&ecn());
    s.sent();
    s.wait(100);
    s.ack_with(2, &[], Flags::ECE);
    let mut sent = s.sent().len();
    // Segment 2 is lost.
    for n in 4..=20 {
        s.sack(2, &[(3, n)]);
        sent += s.sent().len();
    }
    s.wait(20);
    sent += s.sent().len();
    assert!((9..=11).contains(&sent), "{sent}");
    assert_eq!(s.end.ssthresh(), Some(10 * MSS));
    s.ack(20);
    s.ack(22);
    assert!(s.cwnd() <= 11, "{}", s.cwnd());
}

/// Grows to 60 segments over round trips of 100 ms and has everything acknowledged.
fn grown(spec: &Spec) -> Script {
    let mut s = Script::connected(&Spec { max_window: Some(60), ..spec.clone() });
    s.write(u64::from(60 * MSS));
    let mut acked = 0;
    while s.cwnd() < 60 {
        s.wait(100);
        let last = s.sent().into_iter().max().map_or(acked, |n| n + 1);
        for n in acked + 1..=last {
            s.ack(n);
        }
        acked = last;
    }
    assert_eq!((s.cwnd(), acked, s.end.in_flight()), (60, 60, 0));
    s.forget();
    s
}

/// RFC 2861 section 3.1: half for each timeout of the pause.
#[test]
fn idle_decay_halves_cwnd_per_rto() {
    for (decays, timeouts, left) in
        [(true, 1, 30), (true, 2, 20), (true, 50, 20), (false, 1, 20), (false, 50, 20)]
    {
        let mut s = grown(&Spec { idle_decay: Some(decays), ..ecn() });
        let rto = s.end.rto();
        s.wait(rto.0 / 1_000_000 * timeouts + 110);
        s.write(u64::from(MSS));
        assert_eq!(s.cwnd(), left, "{timeouts} timeouts");
        // Before there was congestion there is no threshold to keep.
        assert_eq!(s.end.ssthresh(), None);
    }
    let mut s = grown(&Spec { idle_restart: Some(false), ..ecn() });
    s.wait(10_000);
    s.write(u64::from(MSS));
    assert_eq!(s.cwnd(), 60);
}

#[test]
fn idle_decay_keeps_three_quarters_in_ssthresh() {
    let mut s = grown(&ecn());
    s.write(u64::from(60 * MSS));
    s.wait(100);
    s.ack_with(62, &[], Flags::ECE); // a window of 30
    s.ack(120);
    let (window, threshold) = (s.end.cwnd(), s.end.ssthresh().unwrap());
    assert_eq!((window, threshold), (30 * MSS, 30 * MSS));
    s.wait(s.end.rto().0 / 1_000_000 * 4);
    s.write(u64::from(MSS));
    assert_eq!(s.end.ssthresh(), Some(30 * MSS));
    assert_eq!(s.cwnd(), 20);
}

/// RFC 2861 section 3.2: halfway to what is used.
#[test]
fn cwnd_validation_reduces_unused_window() {
    let run = |decays| {
        let mut s = grown(&Spec { unused_decay: Some(decays), ..ecn() });
        let mut windows = Vec::new();
        for n in 0..80 {
            s.write(u64::from(2 * MSS));
            s.wait(50);
            s.ack(60 + 2 * (n + 1));
            windows.push(s.cwnd());
        }
        windows
    };
    let windows = run(true);
    assert!(windows.windows(2).all(|pair| pair[1] <= pair[0]), "{windows:?}");
    assert!(windows.contains(&40) && windows.contains(&30), "{windows:?}");
    assert!((20..=21).contains(windows.last().unwrap()), "{windows:?}");
    // Once in a timeout of some 300 ms, not with every round trip.
    assert!(windows.iter().filter(|&&w| w == 40).count() >= 4, "{windows:?}");
    assert!(run(false).iter().all(|&w| w == 60));
}

#[test]
fn cwnd_validation_keeps_used_window() {
    let mut s = grown(&ecn());
    s.write(u64::MAX);
    let before = s.cwnd();
    let mut acked = 60;
    for _ in 0..20 {
        s.wait(100);
        let sent = s.sent().into_iter().max().map_or(acked, |last| last + 1);
        acked = sent;
        s.ack(acked);
    }
    assert!(s.cwnd() >= before && s.now > Time::ZERO);
}

/// RFC 9937: below the threshold as much is sent as has arrived, and a segment more only for an
/// acknowledgement that moves on.
#[test]
fn prr_sends_what_arrives_while_nothing_is_acknowledged() {
    let mut s = ten(&modern());
    s.sack(0, &[(6, 9)]);
    let first = s.sent().len();
    s.sack(0, &[(6, 10)]);
    assert_eq!(first + s.sent().len(), 4);
}

/// Sequence numbers come around after 4 GiB: a reduction that long ago answers nothing of now.
#[test]
fn loss_reduces_again_where_sequence_numbers_come_around() {
    let spec = Spec { max_window: Some(64), ..spec() };
    let mut s = Script::sending(&spec);
    let mut n = 0;
    let arrive = |s: &mut Script, next: &mut u32| {
        *next += s.out.sent.drain(..).filter(|(segment, _)| segment.len > 0).count() as u32;
        s.wait(10);
    };
    let mut next = 0;
    while s.cwnd() < 50 {
        arrive(&mut s, &mut next);
        n = next;
        s.ack(n);
    }
    arrive(&mut s, &mut next);
    let reduced = next;
    s.sack(n, &[(n + 1, next)]);
    assert!((20..40).contains(&s.cwnd()), "{}", s.cwnd());
    s.forget();
    s.ack(next);
    // Until what is sent now has the numbers of what was sent then.
    let again = reduced + u32::MAX / MSS;
    loop {
        arrive(&mut s, &mut next);
        if n < again && again < next {
            break;
        }
        n = next;
        s.ack(n);
    }
    n = again - 5;
    s.ack(n);
    arrive(&mut s, &mut next);
    let before = s.cwnd();
    assert!(before >= 50);
    s.sack(n, &[(n + 1, next)]);
    assert!(s.cwnd() < before * 2 / 3, "{before} and then {}", s.cwnd());
}

/// Where the window follows a mark at once, Westwood+'s recovery is over at once.
#[test]
fn westwood_takes_estimate_after_mark_without_prr() {
    let window = |prr_marks| {
        let settings = westwood::Settings { linux_filter: Some(false), ..Default::default() };
        let congestion = Some(Algorithm::Westwood(settings));
        let mut s = Script::sending(&Spec { congestion, prr_marks: Some(prr_marks), ..ecn() });
        let mut n = 0;
        for _ in 0..20 {
            s.wait(100);
            n += s.sent().len() as u32;
            s.ack(n);
        }
        s.wait(100);
        s.ack_with(n + 1, &[], Flags::ECE);
        assert!(s.cwnd() <= 60);
        s.end.ssthresh().unwrap() / MSS
    };
    // No queue: the path holds the whole window.
    let (halved, estimated) = (window(true), window(false));
    assert!(halved <= 30 && estimated > 40, "{halved} and {estimated}");
}
