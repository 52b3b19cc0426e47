//! How exact the rate of a bottleneck is in real time. Needs the right to make network namespaces.
//! A binary of its own, so that no other test runs beside it.

#[path = "it/common/mod.rs"]
mod common;

use common::{dumbbell, lab, server, with_router};
use sojourn_router::net::address::Side;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Packets of this payload are sent: 1000 bytes of IP.
const PAYLOAD: usize = 972;

/// The link is out of order so long, in which the queue is filled: then it is busy until the last
/// packet, however late this machine wakes whoever sends.
const OUTAGE: Duration = Duration::from_secs(3);

/// Fills the queue with numbered packets and looks at when they come. Reader and router may be held
/// up and see some late, never early: so it is the earliest ones that tell the rate.
fn drain(test: &str, mbit: u64, packets: u64) -> Option<()> {
    let (lab, tuns) = lab(test, &[])?;
    let network = dumbbell(&format!(
        "rate = \"{mbit}mbit\"\nframe_overhead = 0\nmin_frame = 0\nreverse = \"ideal\"\n\
         schedule = {{ kind = \"steps\", steps = [[\"1ms\", \"0bit\"], [\"{}s\", \"{mbit}mbit\"]] }}\n\
         qdisc = {{ kind = \"droptail\", limit = 50000 }}",
        OUTAGE.as_secs(),
    ));
    let socket = |side: Side, port: u16| {
        lab.side(side).run(|| Ok(UdpSocket::bind((side.device(), port)).unwrap())).unwrap()
    };
    let (from, to) = (socket(Side::Left, 7000), socket(Side::Right, 7001));
    to.set_read_timeout(Some(OUTAGE + Duration::from_secs(1))).unwrap();
    let per_packet = 8000.0 / (mbit as f64 * 1e6);
    let ((mut came, filled), report) = with_router(network, tuns, || {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut buffer, mut came) = ([0; 2000], Vec::new());
                while came.last().is_none_or(|&(last, _)| last + 1 < packets) {
                    // Without the last packet, which its socket may have had no room for.
                    let Ok((bytes, _)) = to.recv_from(&mut buffer) else { break };
                    assert_eq!(bytes, PAYLOAD);
                    came.push((number(&buffer), begun.elapsed().as_secs_f64()));
                }
                came
            });
            for number in 0..packets {
                let mut payload = [0; PAYLOAD];
                payload[..8].copy_from_slice(&number.to_be_bytes());
                from.send_to(&payload, (server(), 7001)).unwrap();
            }
            let filled = begun.elapsed();
            (reader.join().unwrap(), filled)
        })
    });
    assert!(filled < OUTAGE, "{filled:?} to send {packets} packets: this machine is too busy");
    // A packet or two may have left before the outage.
    came.retain(|&(_, at)| at > OUTAGE.as_secs_f64() / 2.0);
    assert!(came.len() > 100, "{} packets came", came.len());
    // How far behind the rate the earliest packet of a part is.
    let behind = |part: &[(u64, f64)]| {
        part.iter().map(|&(n, at)| at - n as f64 * per_packet).fold(f64::INFINITY, f64::min)
    };
    let third = came.len() / 3;
    let slip = behind(&came[2 * third..]) - behind(&came[..third]);
    let seconds = came[came.len() - 1].1 - came[0].1;
    let error = slip / (seconds * 2.0 / 3.0);
    println!("{mbit} Mbit/s: wrong by {:.4} % over {seconds:.2} s", error * 100.0);
    assert!(error.abs() < 0.001, "{error} of the time of a packet");
    assert_eq!(report.links[0].counts.dropped, 0, "{:?}", report.links[0].counts);
    Some(())
}

fn number(packet: &[u8]) -> u64 {
    packet[..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[test]
fn ten_megabit_rate_is_exact() {
    drain("ten megabits", 10, 1500);
}

#[test]
fn hundred_megabit_rate_is_exact() {
    drain("a hundred megabits", 100, 12_000);
}
