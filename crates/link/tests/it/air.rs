//! Links that do not send when they like: Wi-Fi alone on its medium, and a cable modem.

use crate::host::{Datagram, Offer, Plan, Way, network, read, run};
use sojourn_base::Time;
use sojourn_link::Link;
use sojourn_scenario::Network;
use std::fmt::Write as _;

const MEDIUM: &str = "[[wifi]]\nname = \"home\"\nslot = \"9us\"\nsifs = \"16us\"\n\
    aifs = \"43us\"\ncw_min = 15\npreamble = \"40us\"\nack = \"32us\"\nmpdu_overhead = 40\n";

/// A station on a medium, at 100 Mb/s.
fn station(medium: &str) -> Network {
    station_with(medium, "{ kind = \"droptail\", limit = 2000 }")
}

fn station_with(medium: &str, qdisc: &str) -> Network {
    read(&format!(
        "{MEDIUM}{medium}[[links]]\nname = \"up\"\nfrom = \"phone\"\nto = \"ap\"\n\
         rate = \"100mbit\"\nwifi = \"home\"\nqdisc = {qdisc}\n[[links]]\nname = \"down\"\n\
         from = \"ap\"\nto = \"phone\"\n[[traffic]]\nkind = \"bulk\"\nfrom = \"phone\"\n\
         to = \"ap\"\n"
    ))
}

/// On air with its preamble, ns: so many packets of 1460 bytes, which frames make 1500.
fn on_air(packets: u64) -> u64 {
    40_000 + packets * 120_000
}

#[test]
fn who_is_alone_sends_at_the_next_slot() {
    let network = station("");
    let offers: Vec<_> =
        (0..200).map(|n| Offer::new(Time(1_000_000 + n * 10_000_123), 1460)).collect();
    let outcome = run(&network, Way::Fused, &offers, Plan::until(Time(3_000_000_000)));
    let mut idle = 0;
    for (offer, through) in offers.iter().zip(&outcome.through) {
        let begins = through.unwrap().0 - on_air(1);
        // Longer after the last exchange than any backoff.
        assert_eq!((begins - idle - 43_000) % 9000, 0);
        assert!((0..9000).contains(&(begins - offer.at.0)), "{begins}");
        idle = through.unwrap().0 + 48_000;
    }
}

#[test]
fn frames_are_padded_to_four_bytes_in_aggregates_only() {
    // 1501 bytes with their header, 80 ns each.
    for (medium, bytes) in [("aggregate_packets = 1\n", 1501), ("aggregate_packets = 2\n", 1504)] {
        let offers = [Offer::new(Time(1_000_000), 1461)];
        let network = station(medium);
        let outcome = run(&network, Way::Fused, &offers, Plan::until(Time(10_000_000)));
        let begins = outcome.through[0].unwrap().0 - 40_000 - bytes * 80;
        assert_eq!((begins - 43_000) % 9000, 0, "{medium}");
    }
}

#[test]
fn saturated_station_sends_full_aggregates_after_backoffs() {
    let cases = [("", 33), ("aggregate_packets = 7\n", 7), ("aggregate_time = \"1300us\"\n", 10)];
    for (medium, most) in [("aggregate_bytes = \"16499B\"\n", 10)].into_iter().chain(cases) {
        let network = station(&format!("{medium}hardware = 2\n"));
        let offers: Vec<_> = (0..1280).map(|_| Offer::new(Time::ZERO, 1460)).collect();
        let outcome = run(&network, Way::Fused, &offers, Plan::until(Time(1_000_000_000)));
        let times: Vec<u64> = outcome.through.iter().flatten().map(|through| through.0).collect();
        assert_eq!(times.len() + outcome.dropped.len(), offers.len());
        let aggregates: Vec<_> = times.chunk_by(|a, b| a == b).collect();
        let mut backoffs = Vec::new();
        // The first two were made before there was more, of the last it is what was left.
        for pair in aggregates[1..aggregates.len() - 1].windows(2) {
            let (idle, through) = (pair[0][0] + 48_000, pair[1][0]);
            assert_eq!(pair[1].len(), most, "{medium}");
            let slots = through - on_air(most as u64) - idle - 43_000;
            assert_eq!(slots % 9000, 0);
            backoffs.push(slots / 9000);
        }
        assert!(backoffs.iter().all(|&slots| slots <= 15));
        assert!(backoffs.iter().any(|&slots| slots > 7) && backoffs.iter().any(|&s| s < 8));
    }
}

/// Two stations on a medium, at 100 Mb/s.
fn stations(medium: &str) -> Network {
    let mut text = medium.to_string();
    for station in ["one", "two"] {
        write!(
            text,
            "[[links]]\nname = \"{station}\"\nfrom = \"{station}\"\nto = \"ap\"\nrate = \
             \"100mbit\"\nwifi = \"home\"\nqdisc = {{ kind = \"droptail\", limit = 2000 }}\n\
             [[links]]\nname = \"to_{station}\"\nfrom = \"ap\"\nto = \"{station}\"\n[[traffic]]\n\
             kind = \"bulk\"\nfrom = \"{station}\"\nto = \"ap\"\n"
        )
        .unwrap();
    }
    read(&text)
}

#[test]
fn who_finds_the_medium_busy_backs_off() {
    let network = stations(MEDIUM);
    // The second has its packet 100 µs after the first, which is on air.
    let offers: Vec<_> = (0..400)
        .map(|n| {
            let at = 1_000_000 + n / 2 * 20_000_000 + n % 2 * 100_000;
            Offer { link: (n % 2) as u32, ..Offer::new(Time(at), 1460) }
        })
        .collect();
    let outcome = run(&network, Way::Fused, &offers, Plan::until(Time(5_000_000_000)));
    let mut drawn = [0; 16];
    for pair in outcome.through.chunks(2) {
        let [first, second] = [0, 1].map(|at| pair[at].unwrap().0);
        let slots = second - on_air(1) - (first + 48_000) - 43_000;
        assert_eq!(slots % 9000, 0);
        drawn[(slots / 9000) as usize] += 1;
    }
    // 200 draws from sixteen.
    assert!(drawn.iter().all(|times| (2..=28).contains(times)), "{drawn:?}");
}

#[test]
fn those_that_collide_draw_from_twice_the_window() {
    let network = stations(
        &format!("{MEDIUM}cw_max = 3\nack_timeout = \"100us\"\n")
            .replace("cw_min = 15", "cw_min = 1\naggregate_packets = 1\nhardware = 1"),
    );
    let offers: Vec<_> =
        (0..4000).map(|n| Offer { link: n % 2, ..Offer::new(Time::ZERO, 1460) }).collect();
    let outcome = run(&network, Way::Fused, &offers, Plan::until(Time(10_000_000_000)));
    let mut times: Vec<u64> = outcome.through.iter().map(|through| through.unwrap().0).collect();
    times.sort_unstable();
    // The most slots between two deliveries without a collision, and with one.
    let mut most = [0; 2];
    // A frame of 1500 bytes after AIFS; after a collision the medium is busy for 100 µs more.
    let exchange = 43_000 + on_air(1);
    // As long as both have packets.
    for pair in times[..3000].windows(2) {
        let rest = pair[1] - pair[0] - 48_000 - exchange;
        let (collisions, slots) = (rest / (exchange + 100_000), rest % (exchange + 100_000));
        assert_eq!(slots % 9000, 0);
        if let Some(most) = most.get_mut(collisions as usize) {
            *most = slots.max(*most);
        }
        // One slot to the first collision, three to each of the others, then two.
        assert!(slots / 9000 <= 1 + 3 * collisions.saturating_sub(1) + 2, "{collisions} {slots}");
    }
    // One slot to the collision; then two at most before another that drew three.
    assert_eq!(most[1], 27_000);
    assert_eq!(most[0], 9000, "who has just sent draws from 0 and 1");
}

#[test]
fn those_behind_an_access_point_get_the_same_airtime() {
    let mut text = MEDIUM.to_string() + "aggregate_packets = 1\nhardware = 1\n";
    for (to, rate) in [("near", 100), ("far", 10)] {
        write!(
            text,
            "[[links]]\nname = \"to_{to}\"\nfrom = \"ap\"\nto = \"{to}\"\nrate = \
             \"{rate}mbit\"\nwifi = \"home\"\nqdisc = {{ kind = \"droptail\", limit = 4000 }}\n\
             [[links]]\nname = \"from_{to}\"\nfrom = \"{to}\"\nto = \"ap\"\n[[traffic]]\n\
             kind = \"bulk\"\nfrom = \"ap\"\nto = \"{to}\"\n"
        )
        .unwrap();
    }
    let offers: Vec<_> =
        (0..8000).map(|n| Offer { link: n % 2, ..Offer::new(Time::ZERO, 1460) }).collect();
    let outcome = run(&read(&text), Way::Fused, &offers, Plan::until(Time(1_000_000_000)));
    let sent = |link| outcome.through.iter().skip(link).step_by(2).flatten().count() as f64;
    // 1500 bytes with their headers; preamble, SIFS and acknowledgement are the station's, too.
    let (near, far) = (sent(0) * (88.0 + 120.0), sent(1) * (88.0 + 1200.0));
    assert!((near / far - 1.0).abs() < 0.01, "{near} and {far} µs");
}

#[test]
fn only_a_link_on_air_has_a_medium() {
    let medium = |network: &_| {
        let links: Vec<Link<Datagram>> = Link::all(network, true).unwrap();
        links[0].medium()
    };
    assert_eq!(medium(&station("")), Some(0));
    assert_eq!(medium(&network("rate = \"12mbit\"\ndocsis = {}")), None);
    assert_eq!(medium(&network("rate = \"12mbit\"")), None);
}

#[test]
fn a_modem_asks_waits_and_sends_at_its_rate() {
    let modem = "rate = \"12mbit\"\ndocsis = { channel = \"120mbit\" }";
    // Alone: from the request's delay and its own time up to four intervals more.
    let alone: Vec<_> = (0..200).map(|n| Offer::new(Time(n * 50_123_457), 1500)).collect();
    let network = network(&format!("{modem}\nqdisc = {{ kind = \"droptail\", limit = 5000 }}"));
    let outcome = run(&network, Way::Fused, &alone, Plan::until(Time(11_000_000_000)));
    for (offer, through) in alone.iter().zip(&outcome.through) {
        let took = through.unwrap() - offer.at;
        assert!((Time(1_300_000)..Time(9_200_000)).contains(&took), "{took:?}");
    }
    // Always something to send: 1 ms each, and a burst ahead.
    let many: Vec<_> = (0..4000).map(|_| Offer::new(Time::ZERO, 1500)).collect();
    let outcome = run(&network, Way::Fused, &many, Plan::until(Time(10_000_000_000)));
    let times: Vec<_> = outcome.through.iter().map(|through| through.unwrap().0).collect();
    assert!(times.is_sorted());
    let last = times[3999] as f64 / 1e6;
    assert!((3990.0..4010.0).contains(&last), "{last}");
    let row = &outcome.summaries[0];
    assert_eq!((row.counts.dequeued, row.counts.dropped), (4000, 0));
    let utilisation = row.utilisation.unwrap();
    assert!((utilisation - 0.4).abs() < 1e-9, "{utilisation}");
}

#[test]
fn a_modem_asks_for_packets_as_frames_make_them() {
    // Ten packets of 28 bytes, of which frames make 84: 5.6 µs each.
    for frames in ["min_frame = 84", "frame_overhead = 56"] {
        let modem = "rate = \"12mbit\"\ndocsis = { channel = \"120mbit\" }";
        let offers: Vec<_> = (0..10).map(|_| Offer::new(Time(1_000_000), 28)).collect();
        let network = network(&format!("{modem}\n{frames}"));
        let outcome = run(&network, Way::Fused, &offers, Plan::until(Time(100_000_000)));
        for pair in outcome.through.windows(2) {
            assert_eq!(pair[1].unwrap() - pair[0].unwrap(), Time(5600), "all are in one grant");
        }
    }
}

#[test]
fn a_station_sends_what_its_discipline_held_back() {
    let held = "{ kind = \"tbf\", rate = \"6mbit\", burst = \"1500B\" }";
    let network = station_with("aggregate_packets = 1\n", held);
    let offers: Vec<_> = (0..20).map(|_| Offer::new(Time(1_000_000), 1500)).collect();
    let outcome = run(&network, Way::Fused, &offers, Plan::until(Time(1_000_000_000)));
    for (through, number) in outcome.through.iter().zip(0..) {
        // 2 ms each at 6 Mb/s, and then a millisecond at most to contend and to send.
        let after = through.unwrap() - Time(1_000_000 + number * 2_000_000);
        assert!(after <= Time(1_000_000), "{number}: {after:?}");
    }
}

#[test]
fn what_is_ready_at_the_next_instant_waits_for_the_next_slot() {
    // Found waiting 1.17 ms after its first packet, the class may send at the next instant.
    let held = "{ kind = \"cbq\", borrowing = \"none\", classes = [{ name = \"slow\", share = \
                0.1 }, { name = \"fast\", share = 0.9 }], default = \"slow\" }";
    // It has used up its turn, lest it be asked again at once.
    let network = station_with("quantum = \"10us\"\n", held);
    let through = |offers: &[Offer]| {
        let outcome = run(&network, Way::Fused, offers, Plan::until(Time(1_000_000_000)));
        outcome.through.last().unwrap().unwrap().0
    };
    let first = Offer::new(Time::ZERO, 1460);
    // A slot begins when it comes.
    let comes = through(&[first]) + 48_000 + 43_000 + 150 * 9000;
    let begins = through(&[first, Offer::new(Time(comes), 1460)]) - on_air(1);
    assert_eq!(begins, comes + 9000);
}
