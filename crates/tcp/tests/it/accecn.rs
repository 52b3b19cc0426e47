//! AccECN between two ends and against a script: who agrees on what, marks counted to the byte
//! whatever becomes of acknowledgements, and what the counter alone may mean (RFC 9768).

use crate::common::script::{MSS, PEER, Script, modern};
use crate::common::{Fate, World, ms, params};
use sojourn_base::{Kind, Stream, Time};
use sojourn_tcp::congestion::prague;
use sojourn_tcp::{Algorithm, COUNTER_BYTES, Ecn, Event, Flags, Segment, Spec};

fn accurate() -> Spec {
    Spec { accecn: Some(true), ..modern() }
}

/// The flags AE, CWR, ECE for a number.
fn flags(n: u8) -> Flags {
    let bit = |value: u8, flag: Flags| if n & value != 0 { flag } else { Flags::NONE };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

fn counter(segment: &Segment) -> u8 {
    let bit = |value: u8, flag: Flags| if segment.flags.has(flag) { value } else { 0 };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// Table 2, its upper two blocks, and section 3.1.3.
#[test]
fn client_falls_back_to_what_server_supports() {
    for (answer, ecn, counts) in [
        (0b010, Ecn::Ect0, true),
        (0b011, Ecn::NotEct, true), // the SYN's ECN field was changed: section 3.2.2.3
        (0b100, Ecn::NotEct, true),
        (0b110, Ecn::NotEct, true),
        (0b101, Ecn::Ect0, true),  // reserved
        (0b001, Ecn::Ect0, false), // RFC 3168
        (0b000, Ecn::NotEct, false),
        (0b111, Ecn::NotEct, false), // what was sent comes back
    ] {
        let mut s = Script::idle(&accurate());
        s.open();
        s.arrives(s.syn_ack(flags(answer)));
        s.forget();
        s.write(1000);
        let first = s.segments()[0];
        let field = if counts { 5 } else { 0 };
        assert_eq!((first.ecn, counter(&first)), (ecn, field), "{answer:03b}");
    }
}

/// Table 2, its third block.
#[test]
fn server_falls_back_to_what_client_asks_for() {
    for (asked, answer) in [(0b111, 0b010), (0b011, 0b001), (0b000, 0b000), (0b100, 0b010)] {
        let mut s = Script::asked(&accurate(), flags(asked), Ecn::NotEct);
        assert_eq!(counter(&s.segments()[0]), answer, "{asked:03b}");
    }
}

/// Tables 2 to 4: both ends tell how the other's part of the handshake came.
#[test]
fn handshake_reports_its_own_marks() {
    let fields = [(Ecn::NotEct, 0b010), (Ecn::Ect1, 0b011), (Ecn::Ect0, 0b100), (Ecn::Ce, 0b110)];
    for (ecn, field) in fields {
        let mut s = Script::asked(&accurate(), flags(0b111), ecn);
        assert_eq!(counter(&s.segments()[0]), field);
        let mut s = Script::idle(&accurate());
        s.open();
        s.forget();
        s.arrives(Segment { ecn, ..s.syn_ack(flags(0b010)) });
        assert_eq!(counter(&s.segments()[0]), field);
        // The SYN-ACK comes again.
        s.arrives(Segment { ecn, ..s.syn_ack(flags(0b010)) });
        assert_eq!(counter(&s.segments()[0]), field);
        s.write(1000);
        let marked = u8::from(ecn == Ecn::Ce);
        assert_eq!(counter(&s.segments()[0]), 5 + marked);
    }
    // A marked SYN-ACK is nothing to answer by a smaller window.
    for answer in [0b110, 0b010] {
        let mut s =
            Script::asked(&Spec { prr_marks: Some(false), ..accurate() }, flags(7), Ecn::NotEct);
        s.wait(100);
        s.ack_with(0, &[], flags(answer));
        s.write(u64::MAX);
        s.wait(100);
        s.ack_with(2, &[], flags(if answer == 0b110 { 6 } else { 5 }));
        assert_eq!(s.cwnd(), 12, "{answer:03b}");
    }
}

#[test]
fn rfc3168_peer_gets_rfc3168_echo_and_response() {
    let spec = Spec { prr_marks: Some(false), ..accurate() };
    let mut s = Script::idle(&spec);
    s.open();
    s.wait(100);
    s.arrives(s.syn_ack(Flags::ECE));
    assert_eq!(s.out.events, [Event::Connected]);
    s.forget();
    // As a receiver: until the sender says CWR.
    s.data_with(0, MSS, Flags::NONE, Ecn::Ce);
    s.data(1);
    s.data(2);
    s.data_with(3, MSS, Flags::CWR, Ecn::Ect0);
    let echoes: Vec<bool> = s.segments().iter().map(|s| s.flags.has(Flags::ECE)).collect();
    assert_eq!(echoes, [true, true, false]);
    // As a sender: one reduction, and CWR.
    s.write(u64::MAX);
    s.forget();
    s.wait(100);
    s.ack_with(2, &[], Flags::ECE);
    assert_eq!(s.cwnd(), 5);
    s.ack(8);
    let next = s.segments();
    assert!(next[0].flags.has(Flags::CWR) && !next[1].flags.has(Flags::CWR));
    assert!(next.iter().all(|s| s.ecn == Ecn::Ect0));
}

#[test]
fn prague_disables_ecn_without_accurate_feedback() {
    let spec = Spec { congestion: Algorithm::named("prague"), ..modern() };
    let mut s = Script::idle(&spec);
    s.open();
    s.arrives(s.syn_ack(Flags::ECE));
    s.forget();
    s.write(1000);
    assert_eq!(s.segments()[0].ecn, Ecn::NotEct);
}

/// What the receiver got marked, and what the sender was told, in bytes.
fn transfer(
    spec: &Spec,
    segments: u32,
    mut fate: impl FnMut(&mut Stream, u64, &Segment) -> Fate + 'static,
) -> (u64, u64) {
    use std::{cell::Cell, rc::Rc};
    let marked = Rc::new(Cell::new(0u64));
    let seen = Rc::clone(&marked);
    let mut coin = Stream::new(7, Kind::Test, 0, 0);
    let mut world = World::new(params(spec), [1, u32::MAX - 70_000], ms(20), move |n, who, s| {
        if s.flags.has(Flags::SYN) || who == 0 && s.len == 0 {
            return Fate::default();
        }
        let fate = fate(&mut coin, n, s);
        if !fate.drop && fate.ecn == Some(Ecn::Ce) {
            seen.set(seen.get() + u64::from(s.len));
        }
        fate
    });
    world.keep_log = false;
    world.open();
    world.write(0, u64::from(segments * MSS));
    world.run(Time::from_secs(10_000));
    assert_eq!(world.hosts[1].delivered, u64::from(segments * MSS));
    (marked.get(), world.hosts[0].end.bytes_marked())
}

/// One segment in so many is marked.
fn mark(coin: &mut Stream, segment: &Segment, one_in: u64) -> Fate {
    let marked = segment.ecn.capable() && coin.below(one_in) == 0;
    Fate { ecn: marked.then_some(Ecn::Ce), ..Fate::default() }
}

fn kinds() -> Vec<Spec> {
    let of = |name| Spec { congestion: Algorithm::named(name), ..accurate() };
    vec![of("reno"), of("cubic"), of("dctcp"), of("prague")]
}

#[test]
fn accecn_reports_every_marked_byte() {
    for spec in kinds() {
        for option in [true, false] {
            let spec = Spec { accecn_option: Some(option), ..spec.clone() };
            let (marked, told) =
                transfer(
                    &spec,
                    3000,
                    |coin, _, s| {
                        if s.len > 0 { mark(coin, s, 3) } else { Fate::default() }
                    },
                );
            assert!(marked > 500_000);
            assert_eq!(told, marked, "{spec:?}");
        }
    }
}

/// Half of the acknowledgements are lost.
#[test]
fn accecn_survives_lost_acks_without_double_counting() {
    for spec in kinds() {
        for one_in in [3, 40] {
            let (marked, told) = transfer(&spec, 3000, move |coin, _, s| {
                if s.len > 0 {
                    return mark(coin, s, one_in);
                }
                Fate { drop: coin.below(2) != 0, ..Fate::default() }
            });
            // All but what came after the last acknowledgement with the option that got through.
            assert!(marked > 40_000 && told <= marked, "{marked} {told} {spec:?}");
            assert!(marked - told <= 10_000, "{marked} {told} {spec:?}");
        }
    }
}

#[test]
fn packet_counter_never_understates_stretch_acks() {
    let spec = Spec { accecn_option: Some(false), ..accurate() };
    let mut s = Script::sending(&Spec { initial_window: Some(40), ..spec.clone() });
    s.wait(100);
    // Thirty segments; the counter has gone up by one: 1, 9, 17 or 25 marks.
    s.ack_with(30, &[], flags(6));
    assert_eq!(s.end.bytes_marked(), 25_000);
    // With the option there is nothing to guess.
    let mut s = Script::sending(&Spec { initial_window: Some(40), ..accurate() });
    s.wait(100);
    s.ack_counting(30, flags(6), 1000);
    assert_eq!(s.end.bytes_marked(), 1000);
    // Nine marks, one the next time.
    s.ack_counting(40, flags(7), 10_000);
    assert_eq!(s.end.bytes_marked(), 10_000);
}

/// Sections 3.2.3.1 and 3.2.3.3: bytes by how they came, on acknowledgements of new data.
#[test]
fn option_counts_bytes_and_leaves_room_for_sack() {
    for timestamps in [false, true] {
        let mut s = Script::connected(&Spec { timestamps: Some(timestamps), ..accurate() });
        let len = s.p.payload;
        let told = |s: &mut Script| -> Vec<(u32, u32)> {
            s.out
                .sent
                .drain(..)
                .map(|(segment, blocks)| {
                    let (option, _) = segment.split_counters(&blocks);
                    assert!(segment.options <= 40 && segment.options % 4 == 0);
                    let option = option.expect("an option");
                    (option.start, option.end)
                })
                .collect()
        };
        let arrives = |s: &mut Script, n: u32, ecn| {
            let seq = PEER.wrapping_add(1 + n * len);
            s.arrives(Segment {
                seq,
                ack: crate::common::script::place(0),
                window: 60_000,
                len: len as u16,
                flags: Flags::ACK | flags(5),
                ecn,
                ..Segment::EMPTY
            });
        };
        arrives(&mut s, 0, Ecn::Ect0);
        arrives(&mut s, 1, Ecn::Ect0);
        arrives(&mut s, 2, Ecn::Ce);
        assert_eq!(told(&mut s), [(1 + 2 * len, 0), (1 + 2 * len, len)]);
        // Holes: four runs, of which two or three fit beside it.
        for n in [4, 6, 8, 10] {
            arrives(&mut s, n, Ecn::Ect0);
        }
        let (last, blocks) = s.out.sent.last().cloned().unwrap();
        let runs = if timestamps { 2 } else { 3 };
        assert_eq!((last.sacks, blocks.len()), (Segment::COUNTERS | runs, last.blocks()));
        let stamps = if timestamps { 12 } else { 0 };
        assert_eq!(last.options, stamps + COUNTER_BYTES + 4 + 8 * runs);
        assert_eq!(told(&mut s).last(), Some(&(1 + 6 * len, len)));
    }
}

/// RFC 9768 section 3.2.3.3: what came without ECN moves no counter, and there is nothing to tell.
#[test]
fn option_is_left_out_while_its_counters_stand() {
    let mut s = Script::connected(&accurate());
    let options = |s: &mut Script| s.segments().iter().map(|s| s.sacks).collect::<Vec<_>>();
    s.data_with(0, MSS, flags(5), Ecn::NotEct);
    s.data_with(1, MSS, flags(5), Ecn::NotEct);
    assert_eq!(options(&mut s), [0]);
    s.data_with(2, MSS, flags(5), Ecn::Ect0);
    s.data_with(3, MSS, flags(5), Ecn::NotEct);
    s.data_with(4, MSS, flags(5), Ecn::NotEct);
    s.data_with(5, MSS, flags(5), Ecn::NotEct);
    assert_eq!(options(&mut s), [Segment::COUNTERS, 0]);
}

/// A segment whose counter is 0 looks like one without: it is counted all the same.
#[test]
fn data_marks_are_counted_regardless_of_peer_counter() {
    let mut s = Script::connected(&accurate());
    s.data_with(0, MSS, flags(0), Ecn::Ect0);
    s.data_with(1, MSS, flags(0), Ecn::Ect0);
    let (segment, blocks) = s.out.sent.last().cloned().unwrap();
    assert_eq!(segment.split_counters(&blocks).0.unwrap().start, 1 + 2 * MSS);
}

/// Section 3.2.2.5.1.
#[test]
fn marks_trigger_acks() {
    let mut s = Script::connected(&Spec { ect_control: Some(true), ..accurate() });
    // Less than half a segment each, so that nothing else asks.
    let small = |s: &mut Script, at: u32, ecn| {
        let seq = PEER.wrapping_add(1 + at);
        s.arrives(Segment {
            seq,
            len: 10,
            ecn,
            flags: Flags::ACK,
            ack: crate::common::script::place(0),
            window: 60_000,
            ..Segment::EMPTY
        });
        s.segments().len()
    };
    assert_eq!(small(&mut s, 0, Ecn::Ect0), 0);
    assert_eq!(small(&mut s, 10, Ecn::Ce), 1, "the first after none");
    assert_eq!(small(&mut s, 20, Ecn::Ce), 0);
    assert_eq!(small(&mut s, 30, Ecn::Ce), 1, "two more");
    assert_eq!(small(&mut s, 40, Ecn::Ect0), 0);
    assert_eq!(small(&mut s, 50, Ecn::Ce), 1);
    // A bare segment in between counts as one that was not marked.
    s.ack(0);
    assert_eq!(small(&mut s, 60, Ecn::Ce), 1);
    // Marks on bare acknowledgements: every third.
    let mut answers = Vec::new();
    for _ in 0..6 {
        s.arrives(Segment {
            seq: PEER.wrapping_add(71),
            ack: crate::common::script::place(0),
            window: 60_000,
            flags: Flags::ACK,
            ecn: Ecn::Ce,
            ..Segment::EMPTY
        });
        answers.push(s.segments().len());
    }
    assert_eq!(answers, [0, 0, 1, 0, 0, 1]);
}

/// A mark within Prague's virtual round trip of another takes nothing: a loss after it is not
/// answered yet.
#[test]
fn prague_answers_loss_after_mark_it_passed_over() {
    let settings = prague::Settings { virtual_rtt: Time::from_secs(1), ..Default::default() };
    let congestion = Some(Algorithm::Prague(settings));
    for again in [false, true] {
        let spec = Spec { congestion: congestion.clone(), hystart: Some(false), ..modern() };
        let mut s = Script::sending(&Spec { initial_window: Some(20), ..spec });
        s.wait(100);
        s.ack_counting(1, flags(6), 1000);
        assert_eq!(s.cwnd(), 10);
        s.wait(50);
        s.ack_counting(20, flags(6), 1000);
        s.wait(100);
        // All that was sent when the first mark came is acknowledged.
        let mut sent = 21;
        if again {
            s.ack_counting(sent, flags(7), 2000);
            sent += 1;
        }
        let before = s.cwnd();
        assert!(before >= 10);
        s.sack(sent, &[(sent + 1, sent + 5)]);
        assert!(s.cwnd() <= before / 2 + 1, "{before}, then {}", s.cwnd());
    }
}
