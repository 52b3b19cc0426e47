//! A network that loses, delays, reorders and duplicates as it likes: every byte of every stream
//! arrives once and in order, and both ends come to rest.

use crate::common::{Flying, Net, ms};
use proptest::prelude::*;
use sojourn_base::{Size, Stream, Time};
use sojourn_quic::{Ecn, Spec};
use sojourn_tcp::Algorithm;

#[derive(Clone, Debug)]
struct Case {
    spec: Spec,
    seed: u64,
    /// Percent.
    loss: u64,
    duplicates: u64,
    marks: u64,
    /// Least delay and how much more it can be, ms.
    delay: (u64, u64),
    /// Of each stream, and of what comes back on it.
    streams: Vec<(u64, u64)>,
}

fn cases() -> impl Strategy<Value = Case> {
    const NAMES: [&str; 8] =
        ["reno", "cubic", "bbr", "prague", "dctcp", "vegas", "ledbat", "westwood"];
    let spec = (
        prop::sample::select(&NAMES[..]),
        any::<[bool; 3]>(),
        prop::sample::select(&[1200u32, 1350, 1452][..]),
        prop::sample::select(&[100u64, 3000, 9000][..]),
        16_000u64..200_000,
        16_000u64..200_000,
        1u32..5,
    )
        .prop_map(|(name, [zero_rtt, ecn, pacing], payload, certificate, all, each, every)| Spec {
            congestion: Algorithm::named(name),
            zero_rtt: Some(zero_rtt),
            ecn: (!matches!(name, "prague" | "dctcp")).then_some(ecn),
            pacing: Some(pacing),
            max_udp_payload: Some(payload),
            certificate: Some(Size(certificate)),
            max_data: Some(Size(all)),
            max_stream_data: Some(Size(each)),
            ack_every: Some(every),
            idle_timeout: Some(Time::from_secs(3600)),
            ..Spec::default()
        });
    let streams = prop::collection::vec((0u64..60_000, 0u64..60_000), 1..8);
    (spec, any::<u64>(), 0u64..30, 0u64..30, 0u64..30, (1u64..80, 0u64..80), streams).prop_map(
        |(spec, seed, loss, duplicates, marks, delay, streams)| Case {
            spec,
            seed,
            loss,
            duplicates,
            marks,
            delay,
            streams,
        },
    )
}

fn run(case: &Case) {
    let mut random = Stream::new(case.seed, sojourn_base::Kind::Delay, 0, 0);
    let mut net = Net::new(&case.spec, |flying: Flying<'_>| {
        let mut chance = |percent| random.below(100) < percent;
        let (lost, twice) = (chance(case.loss), chance(case.duplicates));
        let marked = chance(case.marks) && flying.ecn != Ecn::NotEct;
        let ecn = if marked { Ecn::Ce } else { flying.ecn };
        let mut delay = || ms(case.delay.0 + random.below(case.delay.1 + 1));
        let copies = if lost { 0 } else { 1 + usize::from(twice) };
        (0..copies).map(|_| (delay(), ecn)).collect()
    });
    let ids: Vec<u32> = case.streams.iter().map(|(there, _)| net.write(*there)).collect();
    net.open();
    net.call(0, |e, p, now, out| e.close(p, now, out));
    let mut answered = vec![false; ids.len()];
    let mut closed = false;
    while net.step(Time::from_secs(50_000)) {
        for (at, &stream) in ids.iter().enumerate() {
            let all = sojourn_quic::Event::Finished { stream };
            if !answered[at] && net.told(1, all).is_some() {
                answered[at] = true;
                let back = case.streams[at].1;
                net.call(1, |e, p, now, out| e.write(p, now, stream, back, out));
                net.call(1, |e, p, now, out| e.finish(p, now, stream, out));
            }
        }
        if !closed && answered.iter().all(|answered| *answered) {
            closed = true;
            net.call(1, |e, p, now, out| e.close(p, now, out));
        }
    }
    for (&id, &(there, back)) in ids.iter().zip(&case.streams) {
        let got = [1, 0].map(|end: usize| net.hosts[end].delivered.get(&id).copied());
        assert_eq!(got.map(Option::unwrap_or_default), [there, back], "stream {id}");
    }
    assert!(net.ends[0].is_closed(), "{:?}", net.hosts[0].events);
    // The last word may be lost.
    assert!(net.ends[1].is_closed(), "{:?}", net.hosts[1].events);
    assert_eq!(net.ends.each_ref().map(|end| end.deadline()), [Time::MAX; 2]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order(case in cases()) {
        run(&case);
    }
}
