//! Opening and closing: round trips, sizes, what is lost meanwhile.

use crate::common::{Flying, Net, Verdict, arrives, ms};
use sojourn_base::{Size, Time};
use sojourn_quic::{Ecn, Event, Packet, Space, Spec};
use std::cell::RefCell;

const ONE_WAY: Time = Time::from_millis(50);

/// Sizes and spaces of what is sent, by whom.
type Seen = RefCell<Vec<(usize, u32, Vec<Space>)>>;

fn watch(seen: &Seen) -> impl FnMut(Flying<'_>) -> Verdict {
    |flying| {
        let spaces = flying.packets.iter().map(|packet| packet.space).collect();
        seen.borrow_mut().push((flying.from, flying.bytes(), spaces));
        vec![(ONE_WAY, flying.ecn)]
    }
}

#[test]
fn handshake_takes_one_round_trip() {
    let mut net = Net::new(&Spec::default(), arrives(ONE_WAY));
    net.write(1000);
    net.open();
    net.run(ms(10_000));
    assert_eq!(net.told(0, Event::Connected), Some(ms(100)));
    assert_eq!(net.told(1, Event::Connected), Some(ms(150)));
    // The data travel behind the client's Finished: there after one and a half.
    assert_eq!(net.hosts[1].delivered[&0], 1000);
    assert_eq!(net.ends[0].retransmissions() + net.ends[1].retransmissions(), 0);
    assert_eq!(net.ends[0].srtt(), Some(ms(100)));
}

#[test]
fn first_datagrams_are_padded_and_coalesced() {
    let seen = Seen::default();
    let mut net = Net::new(&Spec::default(), watch(&seen));
    net.open();
    net.run(ms(10_000));
    let seen = seen.borrow();
    // RFC 9000 section 14.1.
    assert_eq!(seen[0], (0, 1200, vec![Space::Initial]));
    // ServerHello with the beginning of the Handshake messages (section 12.2), then the rest.
    assert_eq!(seen[1], (1, 1200, vec![Space::Initial, Space::Handshake]));
    assert_eq!((seen[2].1, &seen[2].2), (1200, &vec![Space::Handshake]));
    let flight: u32 = seen[1..4].iter().map(|(_, bytes, _)| bytes).sum();
    assert!(seen[1..4].iter().all(|(from, ..)| *from == 1) && flight <= 3 * 1200, "{seen:?}");
    // Acknowledgement of the Initial packet, of the first Handshake packets.
    assert_eq!(seen[4], (0, 1200, vec![Space::Initial, Space::Handshake]));
}

#[test]
fn a_long_chain_of_certificates_takes_another_round_trip() {
    for (certificate, connected) in [(3000, 100), (4000, 200), (12_000, 200)] {
        let spec = Spec { certificate: Some(Size(certificate)), ..Spec::default() };
        let mut from_server = 0;
        let mut net = Net::new(&spec, |flying: Flying<'_>| {
            from_server += u32::from(flying.from == 1) * flying.bytes();
            vec![(ONE_WAY, flying.ecn)]
        });
        net.open();
        net.run(ms(99));
        // RFC 9000 section 8.1: three times what came.
        assert!(net.bytes[1] <= 3600, "{certificate}: {}", net.bytes[1]);
        net.run(ms(10_000));
        assert_eq!(net.told(0, Event::Connected), Some(ms(connected)), "{certificate}");
    }
}

#[test]
fn zero_rtt_data_come_with_the_first_flight() {
    let spec = Spec { zero_rtt: Some(true), ..Spec::default() };
    let seen = Seen::default();
    let mut net = Net::new(&spec, watch(&seen));
    net.write(3000);
    net.open();
    net.run(ms(50));
    assert_eq!(net.hosts[1].delivered[&0], 3000);
    assert_eq!(seen.borrow()[0], (0, 1200, vec![Space::Initial, Space::Data]));
    // The answer comes in the server's first flight.
    net.call(1, |e, p, now, out| e.write(p, now, 0, 500, out));
    net.run(ms(100));
    assert_eq!(net.hosts[0].delivered[&0], 500);
    assert_eq!(net.told(0, Event::Connected), Some(ms(100)));
}

#[test]
fn a_lost_client_hello_is_sent_again_after_the_initial_timeout() {
    // RFC 9002 sections 6.2.2 and 6.2.1: 333 + 4 * 166.5 ms, and twice that.
    let mut net = Net::new(&Spec::default(), |flying: Flying<'_>| {
        if flying.from == 0 && flying.number < 1 { vec![] } else { vec![(ONE_WAY, flying.ecn)] }
    });
    net.open();
    net.run(ms(998));
    assert_eq!(net.sent[0], 1);
    net.run(ms(999));
    assert_eq!(net.sent[0], 3); // two probes
    net.run(ms(20_000));
    assert_eq!(net.told(0, Event::Connected), Some(ms(1099)));
    assert_eq!(net.ends[0].handshake_timeouts(), 1);
}

#[test]
fn timeouts_of_the_handshake_double() {
    let mut times = Vec::new();
    let mut net = Net::new(&Spec::default(), |_: Flying<'_>| vec![]);
    net.open();
    while net.told(0, Event::Failed).is_none() {
        let sent = net.sent[0];
        assert!(net.step(Time::MAX));
        if net.sent[0] > sent {
            times.push(net.now.0 / 1_000_000);
        }
    }
    assert_eq!(times, [999, 2997, 6993, 14_985]);
    // RFC 9000 section 10.1: the idle timeout runs from the first of what asks for an answer.
    assert_eq!(net.told(0, Event::Failed), Some(ms(30_000)));
}

#[test]
fn a_client_frees_a_server_that_may_send_no_more() {
    // RFC 9002 section 6.2.2.1: all that the client sends after its first datagram is lost once.
    let spec = Spec { certificate: Some(Size(8000)), ..Spec::default() };
    let mut net = Net::new(&spec, |flying: Flying<'_>| {
        let lost = flying.from == 0 && (1..4).contains(&flying.number);
        if lost { vec![] } else { vec![(ONE_WAY, flying.ecn)] }
    });
    net.open();
    assert!(!net.ends[0].is_established(), "it only asks to be");
    net.run(ms(20_000));
    assert!(net.told(0, Event::Connected).is_some());
    assert!(net.ends[0].is_established() && net.ends[1].is_established());
}

#[test]
fn only_a_client_opens_and_once() {
    let mut net = Net::new(&Spec::default(), arrives(ONE_WAY));
    net.call(1, |e, p, now, out| e.open(p, now, out));
    assert_eq!(net.sent, [0, 0]);
    // What comes to a client that has not opened it does not heed.
    net.call(0, |e, p, now, out| {
        e.on_datagram(p, now, Ecn::NotEct, &[Packet::empty(Space::Initial)], out);
    });
    assert_eq!(net.sent, [0, 0]);
    net.open();
    net.run(ms(1000));
    net.open();
    net.write(1000);
    net.run(ms(2000));
    assert_eq!(net.hosts[1].delivered[&0], 1000);
}

#[test]
fn a_timeout_probes_the_spaces_that_wait_and_no_others() {
    // RFC 9002 section 6.2.4. Of the server's first datagram nothing comes, or its Initial packet
    // alone, which the client acknowledges: after 50 ms, of which three are the timeout.
    let spec = Spec { zero_rtt: Some(true), ..Spec::default() };
    for (arrived, probe_at) in [(0, 50 + 999), (1, 50 + 150)] {
        let first = RefCell::new(Vec::new());
        let probes = RefCell::new(Vec::new());
        let mut net = Net::new(&spec, |flying: Flying<'_>| {
            if flying.from == 0 {
                let lost = flying.number > arrived as u64; // its own probes
                return if lost { vec![] } else { vec![(ONE_WAY, flying.ecn)] };
            }
            if flying.number == 0 {
                *first.borrow_mut() = flying.packets.to_vec();
            } else {
                let spaces: Vec<Space> = flying.packets.iter().map(|packet| packet.space).collect();
                probes.borrow_mut().push(spaces);
            }
            vec![]
        });
        net.open();
        net.run(ms(60));
        let packets = first.borrow()[..arrived].to_vec();
        net.call(0, |e, p, now, out| e.on_datagram(p, now, Ecn::NotEct, &packets, out));
        net.run(ms(probe_at - 1));
        assert_eq!(probes.take(), Vec::<Vec<Space>>::new());
        net.run(ms(probe_at));
        let waits = &[Space::Initial, Space::Handshake][arrived..];
        assert_eq!(probes.take(), [waits; 2], "{arrived}");
    }
}

#[test]
fn who_cuts_takes_back_what_was_not_sent() {
    let mut net = Net::new(&Spec::default(), arrives(ONE_WAY));
    let stream = net.write(1_000_000);
    net.open();
    net.run(ms(200));
    net.call(0, |e, p, now, out| e.cut(p, now, out));
    let sent = net.bytes[0];
    net.call(1, |e, p, now, out| e.close(p, now, out));
    net.run(ms(2000));
    let delivered = net.hosts[1].delivered[&stream];
    assert!((10_000..sent).contains(&delivered), "{delivered} of {sent}");
    assert!(net.told(1, Event::Finished { stream }).is_some());
    assert!(net.ends[0].is_closed() && net.ends[1].is_closed());
}

#[test]
fn both_ends_close_when_all_streams_are_over() {
    let mut net = Net::new(&Spec::default(), arrives(ONE_WAY));
    let stream = net.write(5000);
    net.open();
    net.call(0, |e, p, now, out| e.close(p, now, out));
    net.run(ms(1000));
    assert_eq!(net.told(1, Event::Finished { stream }), Some(ms(150)));
    assert!(!net.ends[0].is_closed());
    net.call(1, |e, p, now, out| e.close(p, now, out));
    net.run(ms(2000));
    assert!(net.ends[0].is_closed() && net.ends[1].is_closed());
    assert_eq!(net.ends.each_ref().map(|end| end.deadline()), [Time::MAX; 2]);
    assert!(!net.ends[0].is_established() && !net.ends[1].is_established());
}

#[test]
fn a_lost_close_is_answered_again_or_given_up() {
    for hears_nothing in [false, true] {
        let mut net = Net::new(&Spec::default(), |flying: Flying<'_>| {
            let close = flying.packets.iter().any(|packet| packet.close);
            let first = close && flying.number < 8;
            let lost = close && (hears_nothing || first);
            if lost { vec![] } else { vec![(ONE_WAY, flying.ecn)] }
        });
        net.write(5000);
        net.open();
        net.call(0, |e, p, now, out| e.close(p, now, out));
        net.run(ms(1000));
        net.call(1, |e, p, now, out| e.close(p, now, out));
        net.run(ms(100_000));
        assert!(net.ends[0].is_closed(), "{hears_nothing}");
        assert!(net.ends[1].is_closed() || net.ends[1].is_failed(), "{hears_nothing}");
    }
}

#[test]
fn messages_are_delivered_and_not_sent_again() {
    let mut lost = 0;
    let mut net = Net::new(&Spec::default(), |flying: Flying<'_>| {
        let message = flying.packets.iter().find_map(|packet| packet.rare()?.message);
        if message == Some(333) {
            lost += 1;
            return vec![];
        }
        vec![(ONE_WAY, flying.ecn)]
    });
    net.open();
    net.run(ms(1000));
    for bytes in [100, 333, 1150] {
        net.call(0, |e, p, now, out| e.send_message(p, now, bytes, out));
    }
    net.run(ms(10_000));
    assert_eq!(net.hosts[1].messages, [100, 1150]);
    assert_eq!(net.ends[0].in_flight(), 0);
    drop(net);
    assert_eq!(lost, 1);
}
