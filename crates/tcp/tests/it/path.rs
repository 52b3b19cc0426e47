//! AccECN over paths that change what they carry: the ECN field, the flags, the option (RFC 9768
//! sections 3.2.2.3, 3.2.2.4 and 3.2.3.2). Whatever a path does, everything arrives.

use crate::common::script::{MSS, Script, modern};
use crate::common::{Fate, World, ms, params};
use sojourn_base::{Kind, Stream, Time};
use sojourn_tcp::{Algorithm, Ecn, Flags, Segment, Spec};

const FIELD: Flags = Flags(Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0);

fn accurate() -> Spec {
    Spec { accecn: Some(true), ..modern() }
}

fn kinds() -> Vec<Spec> {
    let of = |name| Spec { congestion: Algorithm::named(name), ..accurate() };
    vec![of("reno"), of("cubic"), of("dctcp"), of("prague")]
}

/// The flags AE, CWR, ECE for a number.
fn flags(n: u8) -> Flags {
    let bit = |value: u8, flag: Flags| if n & value != 0 { flag } else { Flags::NONE };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// What a transfer over a path came to.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// Bytes that the path marked, and that the sender was told of.
    marked: u64,
    told: u64,
    /// Data segments that were sent ECN-capable and that were not.
    capable: u32,
    bare: u32,
}

/// Sends so many segments from the client, over a path with a will of its own.
fn transfer(
    spec: &Spec,
    segments: u32,
    mut path: impl FnMut(&mut Stream, usize, &Segment) -> Fate + 'static,
) -> Seen {
    use std::{cell::Cell, rc::Rc};
    let marked = Rc::new(Cell::new(0u64));
    let adds = Rc::clone(&marked);
    let mut coin = Stream::new(9, Kind::Test, 0, 0);
    let mut world = World::new(params(spec), [1, 50_000], ms(20), move |_, who, s| {
        let fate = path(&mut coin, who, s);
        if !fate.drop && fate.ecn == Some(Ecn::Ce) {
            adds.set(adds.get() + u64::from(s.len));
        }
        fate
    });
    world.open();
    world.write(0, u64::from(segments * MSS));
    world.run(Time::from_secs(10_000));
    assert_eq!(world.hosts[1].delivered, u64::from(segments * MSS), "{spec:?}");
    let count = |capable| {
        let is = |s: &Segment| s.len > 0 && s.ecn.capable() == capable;
        world.log.iter().filter(|(_, who, s, _)| *who == 0 && is(s)).count() as u32
    };
    Seen {
        marked: marked.get(),
        told: world.hosts[0].end.bytes_marked(),
        capable: count(true),
        bare: count(false),
    }
}

/// One ECN-capable segment in so many is marked.
fn mark(coin: &mut Stream, s: &Segment, one_in: u64) -> Fate {
    let marked = s.len > 0 && s.ecn.capable() && coin.below(one_in) == 0;
    Fate { ecn: marked.then_some(Ecn::Ce), ..Fate::default() }
}

/// Section 3.2.2.4: only the first window is sent ECN-capable, and its marks are not answered.
#[test]
fn zeroed_counter_ends_ecn_at_first_feedback() {
    for spec in kinds() {
        let spec = Spec { accecn_option: Some(false), ..spec };
        let seen = transfer(&spec, 500, |coin, _, s| {
            let clear = if s.flags.has(Flags::SYN) { Flags::NONE } else { FIELD };
            Fate { clear, ..mark(coin, s, 2) }
        });
        assert!(seen.marked > 0 && seen.told == 0, "{seen:?} {spec:?}");
        assert!(seen.capable <= 11 && seen.bare >= 489, "{seen:?} {spec:?}");
    }
}

/// The handshake's answer is a part of it: the server finds out before it sends anything.
#[test]
fn server_sends_not_ect_after_zero_handshake_answer() {
    for (answer, expected) in [(0b000, Ecn::NotEct), (0b010, Ecn::Ect0)] {
        let mut s = Script::asked(&accurate(), flags(0b111), Ecn::NotEct);
        s.wait(100);
        s.ack_with(0, &[], flags(answer));
        s.forget();
        s.write(u64::MAX);
        assert!(s.segments().iter().all(|s| s.ecn == expected), "{answer:03b}");
        // It goes on counting for the other direction.
        s.data_with(0, MSS, flags(5), Ecn::Ce);
        s.wait(100);
        let last = s.segments().last().copied().unwrap();
        assert_eq!(Flags(last.flags.0 & FIELD.0), flags(6), "{answer:03b}");
        // Marks that are told of: answered unless it is clear that nothing can be told.
        s.ack_with(2, &[], flags(6));
        let told = if expected == Ecn::NotEct { 0 } else { u64::from(MSS) };
        assert_eq!(s.end.bytes_marked(), told);
    }
}

/// Section 3.2.2.3: no ECN from an end whose part of the handshake was changed, but marks count.
#[test]
fn mangled_handshake_sends_not_ect_but_answers_marks() {
    for (answer, expected) in
        [(0b010, Ecn::Ect0), (0b011, Ecn::NotEct), (0b100, Ecn::NotEct), (0b110, Ecn::NotEct)]
    {
        let spec = Spec { prr_marks: Some(false), ..accurate() };
        // A client, whose SYN was changed.
        let mut s = Script::idle(&spec);
        s.open();
        s.wait(100);
        s.arrives(s.syn_ack(flags(answer)));
        s.forget();
        s.write(u64::MAX);
        assert!(s.segments().iter().all(|s| s.ecn == expected), "{answer:03b}");
        s.wait(100);
        s.ack_with(2, &[], flags(6));
        assert_eq!((s.end.bytes_marked(), s.cwnd()), (u64::from(MSS), 5), "{answer:03b}");
        // A server, whose SYN-ACK was.
        let mut s = Script::asked(&spec, flags(0b111), Ecn::NotEct);
        s.wait(100);
        s.ack_with(0, &[], flags(answer));
        s.forget();
        s.write(u64::MAX);
        assert!(s.segments().iter().all(|s| s.ecn == expected), "{answer:03b}");
        s.wait(100);
        let counter = if answer == 0b110 { 7 } else { 6 };
        s.ack_with(2, &[], flags(counter));
        assert_eq!((s.end.bytes_marked(), s.cwnd()), (u64::from(MSS), 5), "{answer:03b}");
    }
}

#[test]
fn retransmissions_on_mangling_path_are_not_ect() {
    let mut s = Script::idle(&Spec { ect_control: Some(true), ..accurate() });
    s.open();
    s.wait(100);
    s.arrives(s.syn_ack(flags(0b100)));
    s.forget();
    s.write(u64::MAX);
    s.wait(100);
    s.ack_with(0, &[(1, 5)], flags(5));
    s.wait(2000);
    s.data(0);
    s.wait(100);
    let sent = s.segments();
    assert!(sent.len() > 10 && sent.iter().all(|s| s.ecn == Ecn::NotEct), "{sent:?}");
}

/// Nothing to guess with fewer than eight segments an acknowledgement.
#[test]
fn stripped_option_leaves_counter() {
    for spec in kinds() {
        let always = transfer(&spec, 2000, |coin, _, s| Fate { strip: true, ..mark(coin, s, 3) });
        assert!(always.marked > 100_000);
        assert_eq!((always.told, always.bare), (always.marked, 0), "{spec:?}");
        let often = transfer(&spec, 2000, |coin, _, s| {
            let strip = coin.below(2) == 0;
            Fate { strip, ..mark(coin, s, 3) }
        });
        assert_eq!((often.told, often.bare), (often.marked, 0), "{spec:?}");
    }
}

/// Section 3.2.3.2.3.
#[test]
fn zeroed_option_is_ignored() {
    let mut s = Script::sending(&accurate());
    s.wait(100);
    s.ack_empty(2, flags(6));
    assert_eq!(s.end.bytes_marked(), u64::from(MSS), "by the counter");
    s.ack_counting(4, flags(6), 4000);
    assert_eq!(s.end.bytes_marked(), u64::from(MSS));
}

#[test]
fn bleaching_path_is_path_without_ecn() {
    for spec in kinds() {
        let seen = transfer(&spec, 1000, |coin, _, s| {
            let drop = s.len > 0 && coin.below(100) == 0;
            Fate { ecn: Some(Ecn::NotEct), drop, ..Fate::default() }
        });
        assert_eq!(seen.told, 0, "{spec:?}");
    }
}

/// Table 2 and appendix B.2: ends whose flags are changed in the handshake agree on less, or find
/// out that they did not agree.
#[test]
fn handshake_losing_flags_leaves_common_feedback() {
    for spec in kinds() {
        let prague = spec.congestion == Algorithm::named("prague");
        for (what, syn, answer, ecn) in [
            ("the new flag of the SYN", Flags::AE, Flags::NONE, !prague),
            ("all flags of the SYN", FIELD, Flags::NONE, false),
            ("all flags of the SYN-ACK", Flags::NONE, FIELD, false),
        ] {
            let seen = transfer(&spec, 500, move |coin, who, s| {
                let clear = match (s.flags.has(Flags::SYN), who) {
                    (true, 0) => syn,
                    (true, _) => answer,
                    _ => Flags::NONE,
                };
                Fate { clear, ..mark(coin, s, 4) }
            });
            assert_eq!(seen.capable > 0, ecn, "{what}: {seen:?} {spec:?}");
            assert_eq!(seen.told, 0, "{what}: no counter was agreed on");
        }
    }
}

/// A counter that went round before the first acknowledgement came through is not an empty one.
#[test]
fn counter_wrapped_to_zero_does_not_end_ecn() {
    let mut s = Script::sending(&accurate());
    s.forget();
    s.wait(100);
    s.ack_counting(4, flags(0), 3 * MSS);
    assert_eq!(s.end.bytes_marked(), u64::from(3 * MSS));
    let sent = s.segments();
    assert!(!sent.is_empty() && sent.iter().all(|s| s.ecn == Ecn::Ect0));
}
