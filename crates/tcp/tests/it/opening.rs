//! Opening and closing: handshake, lost SYNs, initial window, FINs.

use crate::common::script::{ISS, MSS, PEER, Script, from_peer, modern, place, spec};
use crate::common::{Fate, World, classic, ms, params};
use sojourn_base::{Size, Time};
use sojourn_tcp::{Ecn, Event, Flags, Profile, Segment, Spec};

#[test]
fn handshake_is_syn_syn_ack_ack_then_request() {
    let p = params(&classic());
    let mut w = World::new(p, [7, 9], ms(50), |_, _, _| Fate::default());
    w.write(0, 300); // before the connection exists
    w.open();
    w.run(ms(149));
    let seen: Vec<_> = w.log.iter().map(|l| (l.0, l.1, l.2.flags, l.2.len)).collect();
    assert_eq!(
        seen,
        [
            (ms(0), 0, Flags::SYN, 0),
            (ms(50), 1, Flags::SYN | Flags::ACK, 0),
            (ms(100), 0, Flags::ACK, 0),
            (ms(100), 0, Flags::ACK, 300),
        ]
    );
    assert_eq!(w.hosts[0].rtts, [ms(100)]);
    w.run(ms(150));
    assert_eq!(w.hosts[1].delivered, 300);
    assert_eq!(w.hosts[1].rtts, [ms(100)]);
}

#[test]
fn lost_syn_is_retransmitted_at_3_and_9_seconds() {
    let mut s = Script::idle(&spec());
    s.open();
    s.wait(2999);
    assert_eq!(s.segments().len(), 1);
    s.wait(1);
    assert_eq!(s.segments().len(), 1);
    s.wait(5999);
    assert_eq!(s.segments().len(), 0);
    s.wait(1);
    assert_eq!(s.segments().len(), 1);
    assert_eq!((s.end.syn_retries(), s.end.timeouts()), (2, 0));
}

#[test]
fn client_gives_up_after_retries_and_answers_with_rst() {
    let mut s = Script::idle(&Spec { syn_retries: Some(2), ..spec() });
    s.open();
    s.wait(20_999);
    assert!(s.out.events.is_empty());
    s.wait(1); // 3 + 6 + 12
    assert_eq!(s.out.events, [Event::Failed]);
    assert_eq!(s.end.deadline(), Time::MAX);
    assert!(s.end.is_closed());
    s.forget();
    s.arrives(s.syn_ack(Flags::NONE));
    assert!(s.segments()[0].flags.has(Flags::RST));
}

#[test]
fn rst_fails_connection() {
    let mut s = Script::connected(&spec());
    s.arrives(Segment { flags: Flags::RST, seq: from_peer(0), ..Segment::EMPTY });
    assert_eq!(s.out.events, [Event::Failed]);
}

/// RFC 5681 section 3.1, RFC 6298 rule 5.7.
#[test]
fn lost_syn_leaves_one_segment_window_and_3_s_rto() {
    let by_the_rfcs = Spec { tlp: Some(false), linux_handshake: Some(false), ..modern() };
    let mut s = Script::idle(&by_the_rfcs);
    s.open();
    s.wait(1100);
    s.arrives(s.syn_ack(Flags::NONE));
    s.forget();
    s.write(u64::MAX);
    assert_eq!(s.sent(), [0]);
    assert_eq!(s.end.srtt(), None); // Karn: which SYN was answered?
    s.wait(2999);
    assert_eq!(s.end.timeouts(), 0);
    s.wait(1);
    assert_eq!(s.end.timeouts(), 1);
}

/// RFC 8985 section 7.2: a second, whatever is outstanding.
#[test]
fn tlp_waits_one_second_without_rtt_sample() {
    let mut s = Script::idle(&modern());
    s.open();
    s.wait(1100);
    s.arrives(s.syn_ack(Flags::NONE));
    s.forget();
    s.write(1000);
    assert_eq!((s.sent(), s.end.srtt()), (vec![0], None));
    s.wait(999);
    assert!(s.sent().is_empty());
    s.wait(1);
    assert_eq!((s.sent(), s.end.timeouts()), (vec![0], 0));
}

#[test]
fn lost_syn_sets_ssthresh_only_if_configured() {
    for (counts, threshold) in [(false, None), (true, Some(5 * MSS))] {
        let spec = Spec { initial_window: Some(10), lost_syn_threshold: Some(counts), ..spec() };
        let mut s = Script::idle(&spec);
        s.open();
        s.wait(3100);
        s.arrives(s.syn_ack(Flags::NONE));
        assert_eq!((s.cwnd(), s.end.ssthresh()), (1, threshold));
    }
}

/// `tcp_init_transfer`: the window comes down from the second lost SYN on.
#[test]
fn one_lost_syn_leaves_the_initial_window_of_linux() {
    for (linux, waits, window) in [(true, 1, 10), (true, 2, 1), (false, 1, 1)] {
        let mut s = Script::idle(&Spec { linux_handshake: Some(linux), ..modern() });
        s.open();
        s.wait([0, 1100, 3100][waits]);
        assert_eq!(s.end.syn_retries(), waits as u64);
        s.arrives(s.syn_ack(Flags::NONE));
        assert_eq!(s.cwnd(), window, "{linux}, {waits}");
    }
}

/// A SYN-ACK is lost, and the SYN comes again while the server's timer is about to run out: Linux
/// starts it anew (`tcp_check_req`), so that there are two SYN-ACKs and not three.
#[test]
fn syn_that_comes_again_starts_the_timer_of_linux_anew() {
    for (linux, syn_acks, retries) in [(true, 2, 1), (false, 3, 1)] {
        let spec = Spec { linux_handshake: Some(linux), ..modern() };
        let fates = |n, _, _: &Segment| match n {
            // Late, so that the server's timer runs out after the client's.
            1 => Fate { extra: ms(10), ..Fate::default() },
            n => Fate { drop: n == 2, ..Fate::default() },
        };
        let mut w = World::new(params(&spec), [7, 9], ms(50), fates);
        w.open();
        w.run(ms(5_000));
        let both = Flags::SYN | Flags::ACK;
        let sent = w.log.iter().filter(|l| l.2.flags.has(both)).count();
        assert_eq!((sent, w.hosts[1].end.syn_retries()), (syn_acks, retries), "{linux}");
        assert!(w.hosts.iter().all(|h| h.end.is_connected()));
    }
}

/// What answers a SYN that comes again does not count as a timeout: the server waits as long.
#[test]
fn server_gives_up_after_timeouts_alone() {
    let spec = Spec { syn_retries: Some(2), ..modern() };
    let mut s = Script::asked(&spec, Flags::NONE, Ecn::NotEct);
    let syn = Segment { seq: PEER, flags: Flags::SYN, window: 60_000, ..Segment::EMPTY };
    for _ in 0..4 {
        s.wait(900);
        s.arrives(syn);
    }
    s.wait(6_999);
    assert_eq!((s.end.syn_retries(), s.out.events.len()), (6, 0));
    s.wait(1); // 1 + 2 + 4
    assert_eq!(s.out.events, [Event::Failed]);
}

#[test]
fn retransmitted_syn_is_timed_with_timestamps() {
    let mut s = Script::idle(&Spec { timestamps: Some(true), mss: Some(1012), ..spec() });
    s.open();
    s.wait(3000);
    let syn = s.segments()[1];
    assert_eq!(syn.tsval, 3_000_000);
    s.wait(40);
    s.arrives(Segment { tsecr: syn.tsval, tsval: 5, ..s.syn_ack(Flags::NONE) });
    assert_eq!(s.end.srtt(), Some(ms(40)));
    assert_eq!(s.segments()[0].tsecr, 5);
}

#[test]
fn lost_syn_ack_is_retransmitted() {
    let p = params(&classic());
    let mut w = World::new(p, [7, 9], ms(50), |n, _, _| Fate { drop: n == 2, ..Fate::default() });
    w.open();
    w.run(ms(10_000));
    assert_eq!(w.hosts[1].end.syn_retries() + w.hosts[0].end.syn_retries(), 2);
    assert!(w.hosts.iter().all(|h| h.end.is_connected()));
    assert!(w.hosts.iter().all(|h| h.events == [Event::Connected]));
}

#[test]
fn lost_handshake_ack_is_replaced_by_data() {
    let p = params(&classic());
    let mut w = World::new(p, [7, 9], ms(50), |n, _, _| Fate { drop: n == 4, ..Fate::default() });
    w.write(0, 100);
    w.open();
    w.run(ms(200));
    assert!(w.log[2].3, "the bare acknowledgement was dropped");
    assert_eq!(w.hosts[1].delivered, 100);
    assert_eq!(w.hosts[1].events, [Event::Connected]);
}

#[test]
fn initial_window_follows_profile() {
    assert_eq!(Script::sending(&spec()).sent(), [0, 1]);
    let modern = Spec { profile: Some(Profile::Modern), timestamps: Some(false), ..spec() };
    assert_eq!(Script::sending(&modern).sent().len(), 10);
}

#[test]
fn receive_window_of_16_kib_is_eleven_segments() {
    let mut w = World::new(params(&classic()), [1, 2], ms(500), |_, _, _| Fate::default());
    w.open();
    w.run(ms(1000));
    w.write(0, u64::MAX);
    w.run(ms(30_000));
    assert_eq!(w.hosts[0].end.in_flight(), 11 * 1460);
}

#[test]
fn syn_window_is_not_scaled() {
    let wide = Spec { receive_window: Some(Size(1 << 20)), ..spec() };
    let mut s = Script::idle(&wide);
    s.open();
    assert_eq!(s.segments()[0].window, 65535);
    s.wait(100);
    s.arrives(s.syn_ack(Flags::NONE));
    assert_eq!(s.segments()[0].window, (1 << 20 >> s.p.window_scale) as u16);
}

#[test]
fn fin_travels_with_last_data_and_both_ends_close() {
    let mut w = World::new(params(&classic()), [3, 4], ms(50), |_, _, _| Fate::default());
    w.open();
    w.run(ms(100));
    w.write(0, 4000); // two segments go at once, the rest and the FIN later
    w.close(0);
    w.close(1);
    w.run(Time::from_secs(100));
    let fins: Vec<_> =
        w.log.iter().filter(|l| l.2.flags.has(Flags::FIN)).map(|l| (l.1, l.2.len)).collect();
    assert_eq!(fins, [(1, 0), (0, 1080)]);
    for host in &w.hosts {
        assert_eq!(host.events.last(), Some(&Event::Closed));
        assert!(host.events.contains(&Event::PeerClosed));
    }
}

#[test]
fn half_closed_connection_still_carries_data() {
    let mut s = Script::connected(&spec());
    s.close();
    assert!(s.segments()[0].flags.has(Flags::FIN));
    s.arrives(Segment {
        seq: from_peer(0),
        ack: place(0).wrapping_add(1),
        flags: Flags::ACK,
        len: MSS as u16,
        window: 60_000,
        ..Segment::EMPTY
    });
    assert_eq!(s.end.bytes_delivered(), 1000);
    assert_eq!(s.out.events, []);
    assert_eq!(s.end.in_flight(), 0);
}

#[test]
fn lost_fin_is_retransmitted_and_repeated_fin_acked() {
    let mut s = Script::connected(&spec());
    let fin = Segment {
        seq: PEER + 1,
        ack: ISS.wrapping_add(1),
        flags: Flags::FIN | Flags::ACK,
        window: 60_000,
        ecn: Ecn::NotEct,
        ..Segment::EMPTY
    };
    s.arrives(fin);
    assert_eq!(s.out.events, [Event::PeerClosed]);
    s.close();
    s.forget();
    s.wait(1000); // nobody answers the FIN
    assert!(s.segments()[0].flags.has(Flags::FIN));
    assert_eq!((s.end.timeouts(), s.end.retransmissions()), (1, 1));
    s.arrives(Segment { ack: ISS.wrapping_add(2), ..fin });
    assert_eq!(s.out.events, [Event::Closed]);
    assert_eq!(s.end.deadline(), Time::MAX);
    s.forget();
    s.arrives(Segment { ack: ISS.wrapping_add(2), ..fin });
    assert_eq!(s.segments()[0].ack, PEER + 2);
}

#[test]
fn retransmitted_last_segment_keeps_fin() {
    let mut s = Script::connected(&spec());
    s.write(1000);
    s.close();
    s.forget();
    s.wait(1000);
    let again = s.segments();
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].len, again[0].flags), (1000, Flags::FIN | Flags::ACK));
}

/// RFC 9293 section 3.10.7.3: what does not acknowledge the SYN opens nothing.
#[test]
fn syn_ack_of_another_syn_is_ignored() {
    let mut s = Script::idle(&spec());
    s.open();
    s.wait(100);
    let right = s.syn_ack(Flags::NONE);
    s.arrives(Segment { ack: right.ack.wrapping_sub(1), ..right });
    s.arrives(Segment { ack: right.ack.wrapping_add(1), ..right });
    s.arrives(Segment { flags: Flags::SYN, ..right });
    assert_eq!(s.out.events, []);
    s.arrives(right);
    assert_eq!(s.out.events, [Event::Connected]);
}
