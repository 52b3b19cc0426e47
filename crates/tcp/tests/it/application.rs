//! Senders whose application writes less than the window allows: the window says nothing of the
//! path then and does not grow (RFC 7661 section 4.4, `tcp_is_cwnd_limited` of Linux).

use crate::common::script::{MSS, Script, modern, spec};
use sojourn_tcp::{Algorithm, Spec};

/// Every algorithm that grows its window by acknowledgements, but for Prague, which the script's
/// acknowledgements would tell of marks. BBR sets the window from the delivery rate, a constant one
/// is what is set, and Python's own answers for itself.
fn algorithms() -> impl Iterator<Item = Algorithm> {
    Algorithm::NAMES
        .iter()
        .filter(|name| !["bbr", "constant", "python", "prague"].contains(name))
        .map(|name| Algorithm::named(name).unwrap())
}

/// Sends `each` segments, and has them acknowledged 50 ms later, `rounds` times from segment
/// `from` on. Returns where it got to.
fn trickle(s: &mut Script, from: u32, each: u32, rounds: u32) -> u32 {
    let mut n = from;
    for _ in 0..rounds {
        s.write(u64::from(each * MSS));
        n += each;
        s.wait(50);
        s.ack(n);
    }
    n
}

fn with(base: Spec, congestion: Algorithm) -> Spec {
    Spec { congestion: Some(congestion), ecn: None, ..base }
}

#[test]
fn cwnd_does_not_grow_while_app_limited() {
    for (base, most) in [(spec(), 2), (modern(), 10)] {
        for algorithm in algorithms() {
            let name = algorithm.name();
            let mut s = Script::connected(&with(base.clone(), algorithm));
            assert_eq!(s.cwnd(), most, "{name}");
            trickle(&mut s, 0, 1, 200);
            assert_eq!(s.cwnd(), most, "{name}");
        }
    }
}

#[test]
fn cwnd_grows_again_once_cwnd_limited() {
    for base in [spec(), modern()] {
        for algorithm in algorithms() {
            let name = algorithm.name();
            let mut s = Script::connected(&with(base.clone(), algorithm));
            let before = s.cwnd();
            trickle(&mut s, 0, 1, 50);
            s.write(u64::from(1000 * MSS));
            // Vegas doubles every other round trip only.
            for _ in 0..4 {
                s.wait(50);
                let last = s.sent().into_iter().max().unwrap();
                s.ack(last + 1);
            }
            assert!(s.cwnd() > before, "{name}: {}", s.cwnd());
        }
    }
}

#[test]
fn slow_start_grows_with_half_window_in_use() {
    let grown = |each| {
        let mut s = Script::connected(&modern());
        trickle(&mut s, 0, each, 1);
        s.cwnd()
    };
    assert_eq!(grown(5), 10);
    assert!(grown(6) > 10);
}
