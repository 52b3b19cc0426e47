//! Two endpoints over a network that drops, doubles, delays, reorders and marks as it likes, and
//! then behaves.

use crate::common::{Fate, World, ms, params};
use proptest::prelude::*;
use sojourn_base::{Size, Time};
use sojourn_tcp::{Algorithm, Ecn, Event, Profile, Spec};

fn fate() -> impl Strategy<Value = Fate> {
    (0u8..16, 0u8..16, prop_oneof![3 => Just(0u64), 1 => 0u64..400], 0u8..8).prop_map(
        |(drop, twice, extra, ecn)| Fate {
            drop: drop < 4,
            twice: twice == 0,
            extra: ms(extra),
            ecn: match ecn {
                0 => Some(Ecn::Ce),
                1 => Some(Ecn::NotEct),
                _ => None,
            },
            ..Fate::default()
        },
    )
}

prop_compose! {
    fn spec()(
        sack in any::<bool>(),
        timestamps in any::<bool>(),
        ecn in any::<bool>(),
        limited in any::<bool>(),
        delayed in any::<bool>(),
        idle in any::<bool>(),
        mss in 100u32..1460,
        window in 3000u64..200_000,
        initial in 1u32..11,
        max in prop::option::of(1u32..40),
        switches in prop::option::of(prop::array::uniform12(any::<bool>())),
        burst in 1u32..50,
        modern in any::<bool>(),
        name in prop::sample::select(&[
            "reno", "cubic", "scalable", "westwood", "dctcp", "prague", "bbr",
        ][..]),
        accecn in any::<bool>(),
        ect_control in any::<bool>(),
    ) -> Spec {
        // What needs selective acknowledgements is refused without them.
        let congestion = Algorithm::named(if sack { name } else { "reno" }).unwrap();
        let counts = congestion.tune().unwrap().marks().counted();
        let accecn = sack && (accecn || name == "prague");
        let on = |n: usize| switches.filter(|_| sack).map(|s| s[n]);
        Spec {
            sack: Some(sack),
            timestamps: Some(timestamps),
            ecn: Some(ecn || accecn || counts),
            accecn: Some(accecn),
            accecn_option: on(11).filter(|_| accecn),
            ect_control: Some(ect_control),
            congestion: Some(congestion),
            limited_transmit: Some(limited),
            delayed_ack: Some(delayed),
            idle_restart: Some(idle),
            mss: Some(mss),
            receive_window: Some(Size(window)),
            initial_window: Some(initial),
            max_window: max,
            initial_rto: Some(ms(1000)),
            min_rto: Some(ms(200)),
            max_rto: Some(ms(3000)),
            syn_retries: Some(30),
            retries: Some(30),
            rack: on(0),
            tlp: on(1),
            dsack: on(2),
            prr: on(3),
            prr_marks: on(8),
            idle_decay: on(9),
            unused_decay: on(10),
            frto: on(4),
            undo: on(5),
            hystart: on(6),
            pacing: on(7),
            burst_segments: Some(burst),
            profile: Some(if modern { Profile::Modern } else { Profile::Classic }),
            ..Spec::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn transfer_delivers_every_byte_once_in_order_and_closes(
        spec in spec(),
        iss in prop::array::uniform2(prop_oneof![any::<u32>(), u32::MAX - 20_000..=u32::MAX]),
        fates in prop::collection::vec(fate(), 0..300),
        writes in prop::collection::vec((0usize..2, 0u64..60_000, 0u64..2000), 0..8),
        close_after in prop::array::uniform2(0u64..4000),
    ) {
        let p = params(&spec);
        let mut world = World::new(p, iss, ms(30), move |n, _, _| {
            fates.get(n as usize).copied().unwrap_or_default()
        });
        world.keep_log = false;
        let mut acts: Vec<(u64, usize, Option<u64>)> =
            writes.iter().map(|&(who, bytes, at)| (at, who, Some(bytes))).collect();
        acts.extend((0..2).map(|who| (close_after[who], who, None)));
        acts.sort_by_key(|act| act.0);
        let mut written = [0, 0];
        let mut closed = [false, false];
        world.open();
        for (at, who, act) in acts {
            world.run(ms(at));
            world.now = ms(at);
            match act {
                Some(bytes) => {
                    if !closed[who] {
                        written[who] += bytes;
                    }
                    world.write(who, bytes);
                }
                None => {
                    closed[who] = true;
                    world.close(who);
                }
            }
        }
        world.run(Time::from_secs(100_000));
        for who in 0..2 {
            let host = &world.hosts[who];
            prop_assert!(host.end.is_closed());
            let count = |event| host.events.iter().filter(|&&e| e == event).count();
            prop_assert_eq!(count(Event::Connected), 1);
            prop_assert_eq!(count(Event::PeerClosed), 1);
            prop_assert_eq!(count(Event::Closed), 1);
            prop_assert_eq!(count(Event::Failed), 0);
            prop_assert_eq!(count(Event::AllAcked) > 0, written[who] > 0);
            prop_assert_eq!(host.end.bytes_acked(), written[who]);
            prop_assert_eq!(host.delivered, written[1 - who]);
            prop_assert_eq!(host.end.deadline(), Time::MAX);
        }
    }
}
