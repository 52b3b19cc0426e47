//! How exact the rate of a bottleneck is in real time. Needs the right to make network namespaces.

mod common;

use common::{dumbbell, lab, server, with_router};
use sojourn_router::net::address::Side;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// Packets of this payload are sent: 1000 bytes of IP.
const PAYLOAD: usize = 972;

/// Packets that stand in the queue before the clock runs, so that the link is busy however late
/// this machine wakes its threads.
const BACKLOG: u64 = 8000;

/// Floods the link with numbered packets and looks at when they come. Reader and router may be held
/// up and see some late, never early: so it is the earliest ones that tell the rate.
fn flood(test: &str, mbit: u64, span: Duration) -> Option<()> {
    let (lab, tuns) = lab(test, &[])?;
    let network = dumbbell(&format!(
        "rate = \"{mbit}mbit\"\nframe_overhead = 0\nmin_frame = 0\nreverse = \"ideal\"\n\
         qdisc = {{ kind = \"droptail\", limit = 50000 }}",
    ));
    let socket = |side: Side, port: u16| {
        lab.side(side).run(|| Ok(UdpSocket::bind((side.device(), port)).unwrap())).unwrap()
    };
    let (from, to) = (socket(Side::Left, 7000), socket(Side::Right, 7001));
    to.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let per_packet = 8000.0 / (mbit as f64 * 1e6);
    let (came, report) = with_router(network, tuns, || {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let (mut buffer, mut came) = ([0; 2000], Vec::new());
                while begun.elapsed() < span {
                    let Ok((bytes, _)) = to.recv_from(&mut buffer) else { continue };
                    assert_eq!(bytes, PAYLOAD);
                    came.push((number(&buffer), begun.elapsed().as_secs_f64()));
                }
                came
            });
            let mut sent = 0u64;
            while !reader.is_finished() {
                // Always a backlog ahead of what can have left.
                let due = BACKLOG + (begun.elapsed().as_secs_f64() / per_packet) as u64;
                for number in sent..due {
                    let mut payload = [0; PAYLOAD];
                    payload[..8].copy_from_slice(&number.to_be_bytes());
                    from.send_to(&payload, (server(), 7001)).unwrap();
                }
                sent = sent.max(due);
                std::thread::sleep(Duration::from_millis(1));
            }
            reader.join().unwrap()
        })
    });
    assert!(came.len() > 100, "{} packets came", came.len());
    // How far behind the first packet and the rate the earliest packet of a part is.
    let behind = |part: &[(u64, f64)]| {
        part.iter().map(|&(n, at)| at - n as f64 * per_packet).fold(f64::INFINITY, f64::min)
    };
    let third = came.len() / 3;
    let slip = behind(&came[2 * third..]) - behind(&came[..third]);
    let seconds = came[came.len() - 1].1 - came[0].1;
    let error = slip / (seconds * 2.0 / 3.0);
    println!("{mbit} Mbit/s: wrong by {:.4} % over {seconds:.2} s", error * 100.0);
    assert!(error.abs() < 0.003, "{error} of the time of a packet, {:?}", report.router);
    assert_eq!(report.links[0].counts.dropped, 0, "{:?}", report.links[0].counts);
    Some(())
}

fn number(packet: &[u8]) -> u64 {
    packet[..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

#[test]
fn ten_megabits_are_ten_megabits() {
    flood("ten megabits", 10, Duration::from_millis(1500));
}

#[test]
fn a_hundred_megabits_are_a_hundred_megabits() {
    flood("a hundred megabits", 100, Duration::from_millis(1500));
}
