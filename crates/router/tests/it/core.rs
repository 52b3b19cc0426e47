//! The network without sockets: whatever programs send into it, nothing panics and every packet is
//! accounted for; and what comes out comes in time.

use crate::common::{dumbbell, network};
use etherparse::PacketBuilder;
use proptest::prelude::*;
use sojourn_base::Time;
use sojourn_records::Recorder;
use sojourn_router::forward::{Core, Foreign, Lateness, Output, Plan};
use sojourn_router::net::address::Side;

/// Notes what is delivered, and refuses every so many.
#[derive(Default)]
struct Sink {
    came: Vec<(Time, Side, Vec<u8>)>,
    refuse_every: usize,
    asked: usize,
}

impl Output for Sink {
    fn deliver(&mut self, due: Time, side: Side, packet: &[u8]) -> bool {
        self.asked += 1;
        if self.refuse_every > 0 && self.asked.is_multiple_of(self.refuse_every) {
            return false;
        }
        self.came.push((due, side, packet.to_vec()));
        true
    }
}

fn core(network: &sojourn_scenario::Network, buffers: u32) -> Core {
    let plan = Plan::new(network.clone(), Foreign::Like(0)).unwrap();
    Core::new(&plan, Recorder::none(), 1500, buffers, None).unwrap()
}

/// A UDP packet between the devices, with a codepoint and ports.
fn udp(from: Side, tos: u8, port: u16, payload: usize) -> Vec<u8> {
    let (a, b) = (from.device().octets(), from.other().device().octets());
    let builder = PacketBuilder::ipv4(a, b, 64).udp(port, 9);
    let mut bytes = Vec::new();
    builder.write(&mut bytes, &vec![7; payload]).unwrap();
    bytes[1] = tos;
    let header = etherparse::Ipv4HeaderSlice::from_slice(&bytes).unwrap().to_header();
    bytes[10..12].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
    bytes
}

const ROUGH: &str = "rate = \"5mbit\"\ndelay = \"2ms\"\nloss = 0.05\njitter = \"0ms..3ms\"\n\
                     reorder = true\nqdisc = { kind = \"codel\", ecn = true, limit = 20 }";

/// Packets of every kind: whole, cut, damaged, fragments, IPv6, and noise.
fn packets() -> impl Strategy<Value = Vec<u8>> {
    let whole = (any::<u8>(), any::<u16>(), 0usize..1600, any::<bool>()).prop_map(
        |(tos, port, payload, left)| {
            udp(if left { Side::Left } else { Side::Right }, tos, port, payload)
        },
    );
    let version6 = (0usize..300).prop_map(|payload| {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5, 6);
        builder.write(&mut bytes, &vec![7; payload]).unwrap();
        bytes[1] |= 0x20;
        bytes
    });
    let damaged = (whole.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut bytes, at, value)| {
            let at = at.index(bytes.len().min(28));
            bytes[at] = value;
            bytes
        },
    );
    let cut = (whole.clone(), any::<prop::sample::Index>()).prop_map(|(mut bytes, at)| {
        bytes.truncate(at.index(bytes.len() + 1));
        bytes
    });
    let fragment = (whole.clone(), any::<u16>()).prop_map(|(mut bytes, fragment)| {
        bytes[6..8].copy_from_slice(&fragment.to_be_bytes());
        bytes
    });
    let noise = prop::collection::vec(any::<u8>(), 0..2000);
    prop_oneof![4 => whole, 1 => version6, 2 => damaged, 2 => cut, 1 => fragment, 1 => noise]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_is_forwarded_or_counted(
        arrivals in prop::collection::vec((0u64..2_000_000, any::<bool>(), packets()), 1..200),
        buffers in 1u32..100,
        refuse_every in 0usize..20,
    ) {
        let network = dumbbell(ROUGH);
        let mut core = core(&network, buffers);
        let mut sink = Sink { refuse_every, ..Sink::default() };
        let mut now = Time::ZERO;
        for (wait, left, packet) in &arrivals {
            now += Time(*wait);
            core.run(now, &mut sink);
            core.packet(now, if *left { Side::Left } else { Side::Right }, packet, &mut sink);
            prop_assert!(core.counts().balanced(), "{:?}", core.counts());
        }
        // All of it comes out at last, when its time has come and in order of time.
        let end = now + Time::from_secs(3600);
        core.run(end, &mut sink);
        prop_assert!(sink.came.is_sorted_by_key(|(due, ..)| *due));
        let lateness = Lateness::new(&network);
        let (report, _) = core.finish(end, &lateness);
        let r = &report.router;
        prop_assert_eq!(r.held, 0);
        prop_assert_eq!(r.received, arrivals.len() as u64);
        prop_assert_eq!(r.received, r.delivered + r.refused + r.dropped + r.lost);
        prop_assert_eq!(r.delivered, sink.came.len() as u64);
        for link in &report.links {
            link.check_conservation().unwrap();
        }
    }
}

#[test]
fn a_late_wake_up_costs_no_rate_and_delays_no_departure() {
    let network =
        dumbbell("rate = \"10mbit\"\nframe_overhead = 0\nmin_frame = 0\nqdisc = \"droptail\"");
    // Nobody looks for a whole second, or all the time: the instants are the same.
    let due = |look: u64| {
        let (mut core, mut sink) = (core(&network, 200), Sink::default());
        for at in 0..50 {
            core.run(Time::from_micros(at), &mut sink);
            core.packet(Time::from_micros(at), Side::Left, &udp(Side::Left, 0, 7, 1222), &mut sink);
        }
        for step in 1..=1_000_000_000 / look {
            core.run(Time(step * look), &mut sink);
        }
        sink.came.iter().map(|(due, ..)| *due).collect::<Vec<Time>>()
    };
    let (seldom, often) = (due(1_000_000_000), due(100_000));
    assert_eq!(seldom, often);
    // 1250 bytes at 10 Mbit/s take a millisecond each.
    assert_eq!(seldom, (1..=50).map(Time::from_millis).collect::<Vec<_>>());
}

#[test]
fn packets_are_captured_when_they_leave_the_queue() {
    let folder = std::env::temp_dir().join(format!("sojourn-core-{}", std::process::id()));
    // One discipline decides at enqueue, the other holds packets until they leave.
    for qdisc in ["droptail", "fq_codel"] {
        let network = network(&format!(
            "duration = \"1h\"\n[bottleneck]\nrate = \"10mbit\"\nframe_overhead = 0\n\
             min_frame = 0\nqdisc = \"{qdisc}\"\n[[traffic]]\nkind = \"bulk\"\n\
             [probes]\npcap = [\"bottleneck\"]\n"
        ));
        let plan = Plan::new(network.clone(), Foreign::Like(0)).unwrap();
        let recorder = Recorder::to_directory(&folder).unwrap();
        let mut core = Core::new(&plan, recorder, 1500, 200, None).unwrap();
        let (mut sink, end) = (Sink::default(), Time::from_millis(100));
        core.run(Time(0), &mut sink);
        for _ in 0..50 {
            core.packet(Time(0), Side::Left, &udp(Side::Left, 0, 7, 1222), &mut sink);
        }
        core.run(end, &mut sink);
        let (report, recorder) = core.finish(end, &Lateness::new(&network));
        recorder.finish().unwrap();
        let bytes = std::fs::read(folder.join("bottleneck.pcapng")).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let blocks = std::iter::successors(Some(0), |at| {
            Some(at + word(at + 4) as usize).filter(|next| *next < bytes.len())
        });
        let times: Vec<u32> = blocks.filter(|at| word(*at) == 6).map(|at| word(at + 16)).collect();
        // 1250 bytes at 10 Mbit/s take a millisecond each.
        assert_eq!(times, (0..50).map(|n| n * 1_000_000).collect::<Vec<u32>>(), "{qdisc}");
        assert_eq!(report.links[0].counts.dequeued, 50);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn a_mark_of_the_discipline_is_in_the_bytes_that_arrive() {
    let network = dumbbell(
        "rate = \"1mbit\"\nqdisc = { kind = \"red\", min_th = 2, max_th = 400, max_p = 1.0, wq = 1.0, ecn = true }",
    );
    let (mut core, mut sink) = (core(&network, 200), Sink::default());
    // The measured window begins at 0, after what comes at that very instant.
    core.run(Time(0), &mut sink);
    for _ in 0..100 {
        core.packet(Time(0), Side::Left, &udp(Side::Left, 2, 7, 500), &mut sink);
    }
    core.run(Time(10_000_000_000), &mut sink);
    let lateness = Lateness::new(&network);
    let (report, _) = core.finish(Time(10_000_000_000), &lateness);
    let marked = sink.came.iter().filter(|(.., bytes)| bytes[1] & 3 == 3).count() as u64;
    assert!(marked > 0);
    assert_eq!(marked, report.links[0].counts.marked);
    for (.., bytes) in &sink.came {
        let header = etherparse::Ipv4HeaderSlice::from_slice(bytes).unwrap();
        assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
    }
}

#[test]
fn every_topology_is_forwarded_between_two_sides() {
    let network = network(
        r#"
        duration = "1h"
        [parking_lot]
        hops = 3
        rate = "10mbit"
        delay = "4ms"
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        from = "n0"
        to = "n3"
        "#,
    );
    let (mut core, mut sink) = (core(&network, 10), Sink::default());
    core.packet(Time(0), Side::Left, &udp(Side::Left, 0, 7, 972), &mut sink);
    core.packet(Time(0), Side::Right, &udp(Side::Right, 0, 7, 972), &mut sink);
    core.run(Time(1_000_000_000), &mut sink);
    let due = |side| sink.came.iter().find(|came| came.1 == side).unwrap().0;
    // 1000 bytes and their frame, three times; back there is nothing but delay.
    let frame = u64::from(network.links[0].frame(1000)) * 800;
    assert_eq!(due(Side::Right), Time(3 * (frame + 4_000_000)));
    assert_eq!(due(Side::Left), Time::from_millis(12));
}

#[test]
fn core_sleeps_through_invisible_events() {
    // One discipline decides at enqueue, the other holds packets until they leave.
    for qdisc in ["droptail", "codel"] {
        let network = dumbbell(&format!(
            "rate = \"10mbit\"\ndelay = \"100us\"\nreverse = \"ideal\"\nframe_overhead = 0\n\
         min_frame = 0\nqdisc = \"{qdisc}\"",
        ));
        let (mut core, mut sink) = (core(&network, 10), Sink::default());
        core.run(Time(0), &mut sink);
        for _ in 0..2 {
            core.packet(Time(0), Side::Left, &udp(Side::Left, 0, 7, 1222), &mut sink);
        }
        // The first transmission ends at 1 ms; the delay lies behind it.
        assert_eq!(core.next(), Time(1_100_000));
        core.run(Time(1_100_000), &mut sink);
        assert_eq!(sink.came.last().map(|(due, ..)| *due), Some(Time(1_100_000)));
        assert_eq!(core.next(), Time(2_100_000), "nobody sees the second transmission begin");
    }
}

#[test]
fn undelayed_packets_are_delivered_at_once_in_order() {
    let network = dumbbell("rate = \"10mbit\"\nreverse = \"ideal\"\nqdisc = \"droptail\"");
    let (mut core, mut sink) = (core(&network, 10), Sink::default());
    core.run(Time(5), &mut sink);
    core.packet(Time(7), Side::Right, &udp(Side::Right, 0, 7, 100), &mut sink);
    assert_eq!(sink.came.len(), 1);
    assert_eq!((sink.came[0].0, sink.came[0].1), (Time(7), Side::Left));
    // A packet that is due earlier goes first.
    core.packet(Time(10), Side::Left, &udp(Side::Left, 0, 7, 100), &mut sink);
    core.packet(Time(9_000_000), Side::Right, &udp(Side::Right, 0, 7, 100), &mut sink);
    let sides: Vec<Side> = sink.came.iter().map(|came| came.1).collect();
    assert_eq!(sides, [Side::Left, Side::Right, Side::Left]);
    assert!(sink.came.is_sorted_by_key(|(due, ..)| *due));
    assert!(core.counts().balanced());
}

/// A packet of a flow's own addresses.
fn of_flow(flow: u32, from: Side, bytes: usize) -> Vec<u8> {
    let [a, b] = [from, from.other()].map(|side| side.endpoint(flow).octets());
    let mut packet = Vec::new();
    PacketBuilder::ipv4(a, b, 64).udp(5, 9).write(&mut packet, &vec![7; bytes - 28]).unwrap();
    packet
}

#[test]
fn flows_of_one_machine_share_what_cake_gives_a_host() {
    let shares = |isolation: &str| {
        let network = network(&format!(
            "duration = \"9s\"\n[bottleneck]\nrate = \"10mbit\"\ndelay = \"1ms\"\nqdisc = {{ kind \
             = \"cake\", isolation = \"{isolation}\" }}\n[[traffic]]\nkind = \"bulk\"\nhost = \"a\"\n\
             [[traffic]]\nkind = \"bulk\"\nflows = 3\nhost = \"b\"\n"
        ));
        let (mut core, mut sink) = (core(&network, 20_000), Sink::default());
        // Each of the four flows brings what the line carries.
        for at in 0..2000 {
            let now = Time::from_millis(at);
            core.run(now, &mut sink);
            for flow in 0..4 {
                core.packet(now, Side::Left, &of_flow(flow, Side::Left, 1250), &mut sink);
            }
        }
        core.run(Time::from_secs(2), &mut sink);
        let alone = Side::Right.endpoint(0).octets();
        let own = sink.came.iter().filter(|(.., packet)| packet[16..20] == alone).count();
        own as f64 / sink.came.len() as f64
    };
    for isolation in ["dual_dsthost", "triple_isolate"] {
        let share = shares(isolation);
        assert!((share - 0.5).abs() < 0.02, "{isolation}: {share}");
    }
    for isolation in ["flows", "dual_srchost"] {
        let share = shares(isolation);
        assert!((share - 0.25).abs() < 0.02, "{isolation}: {share}");
    }
}

#[test]
fn acknowledgements_that_a_later_one_covers_are_filtered() {
    let delivered = |filter: &str, number: fn(u32) -> u32| {
        let network = dumbbell(&format!(
            "rate = \"1mbit\"\nreverse = {{ qdisc = {{ kind = \"cake\", ack_filter = \"{filter}\" }} }}"
        ));
        let (mut core, mut sink) = (core(&network, 200), Sink::default());
        let (from, to) = (Side::Right.endpoint(0).octets(), Side::Left.endpoint(0).octets());
        for at in 0..10 {
            let builder = PacketBuilder::ipv4(from, to, 64).tcp(80, 4321, 1, 1000).ack(number(at));
            let mut packet = Vec::new();
            builder.write(&mut packet, &[]).unwrap();
            core.packet(Time(u64::from(at)), Side::Right, &packet, &mut sink);
        }
        core.run(Time::from_secs(1), &mut sink);
        let ack = |packet: &[u8]| u32::from_be_bytes(packet[28..32].try_into().unwrap());
        sink.came.iter().map(|(.., packet)| ack(packet)).collect::<Vec<u32>>()
    };
    assert_eq!(delivered("off", |at| at), (0..10).collect::<Vec<_>>());
    // The first is sent at once. Of those that stand, none but the last says something new; the
    // careful filter lets one more stay.
    assert_eq!(delivered("aggressive", |at| at), [0, 9]);
    assert_eq!(delivered("normal", |at| at), [0, 8, 9]);
    // One that says the same again may be the third duplicate that a sender waits for.
    assert_eq!(delivered("aggressive", |_| 7), [7; 10]);
}
