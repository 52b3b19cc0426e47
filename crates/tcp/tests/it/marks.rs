//! How marks are told of: the counter of AccECN (RFC 9768) and the exact echo of DCTCP (RFC 8257);
//! what is ECN-capable.

use crate::common::script::{MSS, Script, modern, spec};
use sojourn_tcp::{Algorithm, Ecn, Flags, Spec};

fn accurate() -> Spec {
    Spec { accecn: Some(true), prr_marks: Some(false), ..modern() }
}

fn dctcp() -> Spec {
    Spec { congestion: Algorithm::named("dctcp"), ..modern() }
}

/// The counter in a segment's flags.
fn counter(flags: Flags) -> u8 {
    let bit = |n: u8, flag: Flags| if flags.has(flag) { n } else { 0 };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

fn flags(counter: u8) -> Flags {
    let bit = |n: u8, flag: Flags| if counter & n != 0 { flag } else { Flags::NONE };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// RFC 9768 sections 3.1.1 and 3.2.2.1.
#[test]
fn accecn_handshake_requests_counter_and_reports_answer() {
    let mut s = Script::idle(&accurate());
    s.open();
    let syn = s.segments()[0];
    assert_eq!(syn.flags, Flags::SYN | Flags::AE | Flags::CWR | Flags::ECE);
    s.wait(100);
    s.arrives(s.syn_ack(Flags::CWR));
    assert_eq!(counter(s.segments()[0].flags), 0b010);
    s.write(1000);
    let first = s.segments()[0];
    assert_eq!((counter(first.flags), first.ecn), (5, Ecn::Ect0));
    // Without the peer's consent there is no counter.
    let mut s = Script::idle(&accurate());
    s.open();
    s.arrives(s.syn_ack(Flags::NONE));
    s.forget();
    s.write(1000);
    let first = s.segments()[0];
    assert_eq!((counter(first.flags), first.ecn), (0, Ecn::NotEct));
}

/// Section 3.2.2.5.1: at once, then counted up, modulo 8.
#[test]
fn marked_data_raise_packet_counter() {
    let mut s = Script::connected(&accurate());
    s.data_with(0, MSS, Flags::NONE, Ecn::Ce);
    assert_eq!(s.segments().iter().map(|s| counter(s.flags)).collect::<Vec<_>>(), [6]);
    s.data(1);
    s.data(2);
    assert_eq!(s.segments().iter().map(|s| counter(s.flags)).collect::<Vec<_>>(), [6]);
    for n in 3..8 {
        s.data_with(n, MSS, Flags::NONE, Ecn::Ce);
    }
    assert_eq!(s.segments().iter().map(|s| counter(s.flags)).collect::<Vec<_>>(), [7, 1, 3]);
}

#[test]
fn packet_counter_reduces_window_once_per_rtt() {
    let mut s = Script::sending(&accurate());
    s.sent();
    s.wait(100);
    s.ack_with(2, &[], flags(5));
    assert_eq!(s.cwnd(), 12);
    s.ack_with(4, &[], flags(6));
    let reduced = s.cwnd();
    assert!(reduced < 10);
    s.ack_with(6, &[], flags(0)); // 8: two more
    s.ack_with(8, &[], flags(0));
    assert_eq!(s.cwnd(), reduced);
    assert!(s.segments().iter().all(|s| counter(s.flags) == 5), "no CWR");
}

/// RFC 8257 section 3.2: what waits is acknowledged as it came, and what changed at once as well.
#[test]
fn exact_echo_follows_marks() {
    let mut s = Script::connected(&dctcp());
    let told = |s: &mut Script| {
        let echo = |s: &sojourn_tcp::Segment| (s.ack, s.flags.has(Flags::ECE));
        s.segments().iter().map(echo).collect::<Vec<_>>()
    };
    use crate::common::script::from_peer;
    s.data(0);
    assert_eq!(told(&mut s), []);
    s.data_with(1, MSS, Flags::NONE, Ecn::Ce);
    assert_eq!(told(&mut s), [(from_peer(1), false), (from_peer(2), true)]);
    s.data_with(2, MSS, Flags::NONE, Ecn::Ce);
    assert_eq!(told(&mut s), []);
    s.data(3);
    assert_eq!(told(&mut s), [(from_peer(3), true), (from_peer(4), false)]);
    s.data(4);
    s.data(5);
    assert_eq!(told(&mut s), [(from_peer(6), false)]);
    // Nothing waits: one acknowledgement, of what changed.
    s.data_with(6, MSS, Flags::NONE, Ecn::Ce);
    assert_eq!(told(&mut s), [(from_peer(7), true)]);
}

#[test]
fn retransmissions_and_acks_are_ect_only_if_configured() {
    let classic = Spec { ecn: Some(true), initial_window: Some(10), ..spec() };
    let control = Spec { ect_control: Some(true), ..classic.clone() };
    let prague = Spec { congestion: Algorithm::named("prague"), ..modern() };
    for (spec, data, again, ack) in [
        (classic, Ecn::Ect0, Ecn::NotEct, Ecn::NotEct),
        (control, Ecn::Ect0, Ecn::Ect0, Ecn::Ect0),
        (prague, Ecn::Ect1, Ecn::Ect1, Ecn::NotEct),
    ] {
        let mut s = Script::connected(&spec);
        // A counter that is 0 at first is none: the path has emptied it.
        let field = if data == Ecn::Ect1 { flags(5) } else { Flags::NONE };
        s.data_with(0, MSS, field, Ecn::NotEct);
        s.data_with(1, MSS, field, Ecn::NotEct);
        assert_eq!(s.segments().last().map(|s| s.ecn), Some(ack));
        s.write(4000);
        while s.end.in_flight() < 4000 {
            s.wait(1);
        }
        assert!(s.segments().iter().all(|s| s.ecn == data));
        while s.end.retransmissions() == 0 {
            s.wait(10);
        }
        let last = s.segments().into_iter().rfind(|s| s.len > 0).unwrap();
        assert_eq!(last.ecn, again);
    }
}

#[test]
fn incompatible_options_are_refused() {
    let field =
        |spec: Spec| Spec::resolve(&[&spec]).err().map_or_else(Default::default, |e| e.field);
    assert_eq!(field(Spec { accecn: Some(true), ecn: Some(false), ..spec() }), "ecn");
    assert_eq!(field(Spec { accecn: Some(true), sack: Some(false), ..spec() }), "accecn");
    assert_eq!(field(Spec { accecn_option: Some(true), ..spec() }), "accecn_option");
    assert_eq!(field(Spec { rack: Some(true), sack: Some(false), ..spec() }), "rack");
    let bbr = Algorithm::named("bbr");
    assert_eq!(field(Spec { congestion: bbr, sack: Some(false), ..spec() }), "sack");
    let prague = Algorithm::named("prague");
    assert_eq!(field(Spec { congestion: prague, accecn: Some(false), ..spec() }), "accecn");
    assert_eq!(field(Spec { burst_segments: Some(0), ..spec() }), "burst_segments");
}

/// The acknowledgements that go out at once for segments of which those in `marked` came with CE
/// and those in `reduced` with CWR.
fn at_once(spec: &Spec, marked: &[u32], reduced: &[u32]) -> Vec<u32> {
    let mut s = Script::idle(spec);
    s.open();
    s.arrives(s.syn_ack(Flags::ECE));
    s.forget();
    let mut answered = Vec::new();
    for n in 0..10 {
        let cwr = if reduced.contains(&n) { Flags::CWR } else { Flags::NONE };
        s.data_with(n, MSS, cwr, if marked.contains(&n) { Ecn::Ce } else { Ecn::Ect0 });
        if !s.segments().is_empty() {
            answered.push(n);
        }
    }
    answered
}

/// `tcp_ecn_check_ce` and `tcp_ecn_accept_cwr` of Linux.
#[test]
fn a_mark_and_cwr_are_acknowledged_at_once() {
    let linux = Spec { ecn: Some(true), ..modern() };
    assert_eq!(at_once(&linux, &[], &[]), [1, 3, 5, 7, 9]);
    // The first mark and the segment behind it; a mark that is echoed already is like any other.
    assert_eq!(at_once(&linux, &[2], &[]), [1, 2, 3, 5, 7, 9]);
    assert_eq!(at_once(&linux, &[4, 5, 6, 7, 8, 9], &[]), [1, 3, 4, 5, 7, 9]);
    // CWR ends the echo, and a mark that it comes with begins another.
    assert_eq!(at_once(&linux, &[2], &[6]), [1, 2, 3, 5, 6, 8]);
    assert_eq!(at_once(&linux, &[2, 6], &[6]), [1, 2, 3, 5, 6, 7, 9]);
    let late = Spec { quick_marks: Some(false), ..linux };
    assert_eq!(at_once(&late, &[2, 6], &[6]), [1, 3, 5, 7, 9]);
}
