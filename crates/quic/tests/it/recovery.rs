//! Loss detection and its timers: scripts with the numbers of RFC 9002.

use crate::common::{Flying, Net, Verdict, arrives, ms};
use sojourn_base::Time;
use sojourn_quic::{Event, Space, Spec};
use std::cell::RefCell;

const ONE_WAY: Time = Time::from_millis(50);

/// No pacing and no growth in the way of a script.
fn spec() -> Spec {
    Spec { pacing: Some(false), ..Spec::default() }
}

/// Drops those of the client's packets that carry data of stream 0 from these offsets on, once.
fn loses(offsets: &[u64]) -> impl FnMut(Flying<'_>) -> Verdict {
    let mut left = offsets.to_vec();
    move |flying| {
        let here = |at: &u64| {
            let mut frames = flying.packets.iter().flat_map(|packet| packet.streams());
            flying.from == 0 && frames.any(|frame| frame.id == 0 && frame.offset == *at)
        };
        match left.iter().position(here) {
            Some(at) => {
                left.remove(at);
                vec![]
            }
            None => vec![(ONE_WAY, flying.ecn)],
        }
    }
}

/// A connection that has been open for a second, with stream 0 idle.
fn opened<J: FnMut(Flying<'_>) -> Verdict>(spec: &Spec, judge: J) -> Net<J> {
    let mut net = Net::new(spec, judge);
    net.write(0);
    net.write(300); // on another, so that the server has had something to acknowledge
    net.open();
    net.run(ms(1000));
    assert!(net.ends[0].is_established() && net.ends[0].in_flight() == 0);
    net.now = ms(1000);
    net
}

fn write<J: FnMut(Flying<'_>) -> Verdict>(net: &mut Net<J>, bytes: u64) {
    net.call(0, |e, p, now, out| e.write(p, now, 0, bytes, out));
}

#[test]
fn a_hole_below_three_packets_is_lost() {
    let mut net = opened(&spec(), loses(&[0]));
    write(&mut net, 8 * 1421);
    net.run(ms(1099));
    assert_eq!(net.ends[0].retransmissions(), 0);
    // RFC 9002 section 6.1.1: the acknowledgement of the third packet behind it comes after a
    // round trip.
    net.run(ms(1100));
    assert_eq!(net.ends[0].retransmissions(), 1);
    net.run(ms(5000));
    assert_eq!(net.hosts[1].delivered[&0], 8 * 1421);
    assert_eq!(net.ends[0].timeouts(), 0);
}

#[test]
fn a_hole_below_fewer_is_lost_after_nine_eighths_of_a_round_trip() {
    let mut net = opened(&spec(), loses(&[0]));
    write(&mut net, 2000);
    // RFC 9002 section 6.1.2: 9/8 of 100 ms from when it was sent.
    net.run(ms(1100));
    assert_eq!(net.ends[0].deadline(), Time::from_micros(1_112_500));
    assert_eq!(net.ends[0].retransmissions(), 0);
    net.run(ms(1113));
    assert_eq!(net.ends[0].retransmissions(), 1);
    net.run(ms(1170));
    assert_eq!(net.hosts[1].delivered[&0], 2000);
}

#[test]
fn a_lost_tail_is_probed() {
    let mut net = opened(&spec(), loses(&[0]));
    let rtt = net.ends[0].srtt().unwrap();
    let timeout = net.ends[0].probe_timeout(&net.p);
    // RFC 9002 section 6.2.1: smoothed_rtt + max(4 * rttvar, 1 ms) + max_ack_delay.
    assert!(timeout > rtt + ms(26) && timeout < rtt * 4, "{timeout}");
    write(&mut net, 1000);
    assert_eq!(net.ends[0].deadline(), ms(1000) + timeout);
    net.run(ms(1000) + timeout);
    assert_eq!((net.ends[0].timeouts(), net.ends[0].retransmissions()), (1, 1));
    // The window stays: a probe timeout is no sign of congestion (section 6.2).
    let cwnd = net.ends[0].cwnd();
    net.run(ms(1000) + timeout + ONE_WAY);
    assert_eq!(net.hosts[1].delivered[&0], 1000);
    assert_eq!(net.ends[0].cwnd(), cwnd);
}

#[test]
fn probe_timeouts_double() {
    let dead = RefCell::new(false);
    let mut net =
        opened(
            &spec(),
            |flying: Flying<'_>| {
                if *dead.borrow() { vec![] } else { vec![(ONE_WAY, flying.ecn)] }
            },
        );
    let timeout = net.ends[0].probe_timeout(&net.p).0;
    *dead.borrow_mut() = true;
    write(&mut net, 1000);
    let (mut at, mut last) = (Vec::new(), net.now);
    while net.told(0, Event::Failed).is_none() {
        let sent = net.sent[0];
        assert!(net.step(Time::MAX));
        if net.sent[0] > sent {
            at.push((net.now - last).0 / timeout);
            last = net.now;
        }
    }
    assert_eq!(at[..5], [1, 2, 4, 8, 16]);
    assert_eq!(net.told(0, Event::Failed), Some(ms(31_000)));
}

#[test]
fn persistent_congestion_leaves_the_least_window() {
    // RFC 9002 section 7.6: nothing arrives for more than three probe timeouts.
    for (blackout, collapses) in [(400, false), (6000, true)] {
        let dead = RefCell::new(false);
        let mut net = opened(&spec(), |flying: Flying<'_>| {
            let lost = *dead.borrow() && flying.from == 0;
            if lost { vec![] } else { vec![(ONE_WAY, flying.ecn)] }
        });
        write(&mut net, u64::MAX);
        net.run(ms(1500));
        *dead.borrow_mut() = true;
        let mut until = net.now + ms(blackout);
        net.run(until);
        *dead.borrow_mut() = false;
        let mut least = u32::MAX;
        until += ms(blackout + 1000);
        while net.step(until) {
            least = least.min(net.ends[0].cwnd());
        }
        assert_eq!(least == 2 * 1452, collapses, "{blackout} ms: {least}");
    }
}

#[test]
fn every_second_packet_is_acknowledged_and_the_last_after_the_delay() {
    let acks = RefCell::new(Vec::new());
    let mut net = opened(&spec(), |flying: Flying<'_>| {
        if flying.from == 1 {
            acks.borrow_mut().extend(flying.packets.iter().filter_map(|packet| packet.ack));
        }
        vec![(ONE_WAY, flying.ecn)]
    });
    acks.borrow_mut().clear();
    write(&mut net, 5 * 1400);
    net.run(ms(2000));
    let acks = acks.borrow();
    // RFC 9000 sections 13.2.2 and 13.2.1.
    assert_eq!(acks.iter().map(|ack| ack.delay).collect::<Vec<_>>(), [ms(0), ms(0), ms(25)]);
    // It is taken off the sample (RFC 9002 section 5.3).
    let samples = &net.hosts[0].rtts;
    assert_eq!(samples.last(), Some(&ms(125)));
    assert!(net.ends[0].srtt().unwrap() <= ms(101));
}

#[test]
fn duplicates_are_delivered_once() {
    let mut net = Net::new(&spec(), |flying: Flying<'_>| {
        vec![(ONE_WAY, flying.ecn), (ONE_WAY * 2, flying.ecn)]
    });
    net.write(100_000);
    net.open();
    net.run(ms(10_000));
    assert_eq!(net.hosts[1].delivered[&0], 100_000);
    assert_eq!(net.ends[0].retransmissions(), 0);
}

#[test]
fn a_lost_grant_is_sent_again() {
    use sojourn_base::Size;
    let spec = Spec { max_data: Some(Size(16_000)), ..spec() };
    let mut dropped = 0;
    let mut net = Net::new(&spec, |flying: Flying<'_>| {
        let grants = flying
            .packets
            .iter()
            .any(|packet| packet.rare().is_some_and(|rare| rare.max_data.is_some()));
        if flying.from == 1 && grants && dropped < 3 {
            dropped += 1;
            return vec![];
        }
        vec![(ONE_WAY, flying.ecn)]
    });
    net.write(100_000);
    net.open();
    net.run(ms(60_000));
    assert_eq!(net.hosts[1].delivered[&0], 100_000);
}

#[test]
fn streams_share_a_connection_evenly() {
    let mut net = opened(&spec(), arrives(ONE_WAY));
    let streams: Vec<u32> = (0..4).map(|_| net.ends[0].open_stream(&net.p)).collect();
    for &stream in &streams {
        net.call(0, |e, p, now, out| e.write(p, now, stream, 2_000_000, out));
    }
    net.run(ms(1700));
    let delivered: Vec<u64> = streams.iter().map(|s| net.hosts[1].delivered[s]).collect();
    let (least, most) = (delivered.iter().min().unwrap(), delivered.iter().max().unwrap());
    // The first was alone with the first window.
    assert!(*least > 100_000 && most - least < 20_000, "{delivered:?}");
}

#[test]
fn packets_of_the_handshake_are_of_no_use_once_it_is_confirmed() {
    let after = RefCell::new(0);
    let mut net = opened(&spec(), |flying: Flying<'_>| {
        let old = flying.packets.iter().any(|packet| packet.space != Space::Data);
        *after.borrow_mut() += u32::from(old);
        vec![(ONE_WAY, flying.ecn)]
    });
    let before = *after.borrow();
    write(&mut net, 1_000_000);
    net.run(ms(5000));
    assert_eq!(*after.borrow(), before);
}
