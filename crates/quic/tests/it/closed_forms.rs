//! Transfers whose length, and rates whose value, are known in closed form.

use crate::common::{Flying, Net, arrives, ms};
use sojourn_base::{Kind, Stream, Time};
use sojourn_quic::Spec;
use sojourn_tcp::Algorithm;

/// Bytes of payload in a full packet of one stream, about: header, number, tag and frame take 31
/// to 36.
const PAYLOAD: u64 = 1418;

#[test]
fn slow_start_takes_the_round_trips_of_its_doubling() {
    // A window of w bytes carries so many full datagrams in the first round trip; what of them is
    // acknowledged is added to it for the second, and so on. The client's Finished, 77 bytes in
    // the first datagram, is never acknowledged: the server drops the space with it (RFC 9001
    // section 4.9.2).
    let (mut window, mut sum) = (14_520, 0);
    for round in 1..=6 {
        let full = window / 1452;
        sum += full;
        window += full * 1452 - if round == 1 { 77 } else { 0 };
        for (datagrams, rounds) in [(sum - 1, round), (sum + 1, round + 1)] {
            let spec = Spec { pacing: Some(false), ack_every: Some(1), ..Spec::default() };
            let mut net = Net::new(&spec, arrives(ms(50)));
            let bytes = datagrams * PAYLOAD;
            net.write(bytes);
            net.open();
            while net.hosts[1].delivered.get(&0) != Some(&bytes) {
                assert!(net.step(ms(100_000)));
            }
            // One for the handshake, and half of one for the last to arrive.
            assert_eq!(net.now, ms(100) * rounds + ms(50), "{datagrams} datagrams");
        }
    }
}

#[test]
fn zero_rtt_saves_the_round_trip_of_the_handshake() {
    let done = |zero_rtt| {
        let mut net =
            Net::new(&Spec { zero_rtt: Some(zero_rtt), ..Spec::default() }, arrives(ms(50)));
        net.write(5000);
        net.open();
        while net.hosts[1].delivered.get(&0) != Some(&5000) {
            assert!(net.step(ms(100_000)));
        }
        net.now
    };
    assert_eq!((done(true), done(false)), (ms(50), ms(150)));
}

#[test]
fn a_control_by_delay_sees_none_where_there_is_no_queue() {
    let congestion = Algorithm::named("vegas");
    let mut net = Net::new(&Spec { congestion, ..Spec::default() }, arrives(ms(50)));
    net.write(u64::MAX);
    net.open();
    net.run(ms(1500));
    // It doubles every second round trip.
    assert!(net.ends[0].cwnd() > 14_520 * 32, "{}", net.ends[0].cwnd());
    assert_eq!(net.ends[0].ssthresh(), None);
}

/// Datagrams in a round trip of a long transfer with Reno, of which each is lost with this
/// probability, in millionths.
fn reno_window(loss: u64) -> f64 {
    let mut random = Stream::new(11, Kind::Delay, 0, 0);
    let rtt = ms(50) * 2;
    let mut net = Net::new(&Spec::default(), |flying: Flying<'_>| {
        let lost = flying.from == 0 && random.below(1_000_000) < loss;
        if lost { vec![] } else { vec![(rtt / 2, flying.ecn)] }
    });
    net.write(u64::MAX);
    net.open();
    let (from, to) = (Time::from_secs(100), Time::from_secs(2100));
    net.run(from);
    let before = net.hosts[1].delivered[&0];
    net.run(to);
    let bytes = net.hosts[1].delivered[&0] - before;
    bytes as f64 / PAYLOAD as f64 / (to - from).as_secs_f64() * rtt.as_secs_f64()
}

#[test]
fn reno_under_random_loss_has_the_window_of_the_square_root_law() {
    // Mathis et al. (1997): sqrt(3 / (2 p)) segments in a round trip where every packet counts, as
    // bytes acknowledged do here; it holds for small p within what random losses leave of it
    // (their section 3 finds C between 1.2 and 1.3 for independent losses).
    for loss in [1000, 4000] {
        let p = loss as f64 / 1e6;
        let c = reno_window(loss) * p.sqrt();
        assert!((1.1..1.45).contains(&c), "{loss}: {c}");
    }
}
