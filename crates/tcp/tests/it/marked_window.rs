//! The window that a sender of counted marks holds where each segment is marked with the same
//! probability, end to end, beside the closed form.
//!
//! With growth of a segment a round trip throughout and a reduction by half the share that is
//! marked, p W / 2, in each round trip, W = 2/p (RFC 8257 section 3.4). A sender in Linux's state
//! CWR does not grow in the round trip after a mark, only from its end to the next mark, 1/p
//! segments later: it gains 1/(p W) for what it loses, so that W = √2/p.
//!
//! 2/p itself supposes a reduction in each round trip. But the next one waits for the first mark
//! after the round trip of the last, so they are 1 + 1/(p W) round trips apart, and a sender that
//! grows all that time has 1 + 1/(p W) = p W / 2, so that W = (1 + √3)/p.

use crate::common::script::modern;
use crate::common::{Fate, World, ms, params};
use sojourn_base::{Kind, Size, Stream, Time};
use sojourn_tcp::{Algorithm, Ecn, Spec};

/// The mean window in segments over so many round trips, marked with a probability of one in so
/// many.
fn mean(spec: &Spec, one_in: u64, rounds: u64) -> f64 {
    let spec = Spec {
        receive_window: Some(Size(8 << 20)),
        autotune: Some(false),
        hystart: Some(false),
        ..spec.clone()
    };
    let mut coin = Stream::new(3, Kind::Test, 0, 0);
    let mut world = World::new(params(&spec), [1, 50_000], ms(20), move |_, _, s| {
        let marked = s.len > 0 && s.ecn.capable() && coin.below(one_in) == 0;
        Fate { ecn: marked.then_some(Ecn::Ce), ..Fate::default() }
    });
    world.keep_log = false;
    world.open();
    world.write(0, u64::from(u32::MAX));
    let warm = rounds / 10;
    let mut sum = 0.0;
    for round in 0..rounds {
        let now = world.now;
        world.run(now + ms(40));
        if round >= warm {
            sum += f64::from(world.hosts[0].end.cwnd());
        }
    }
    assert_eq!(world.hosts[0].end.retransmissions(), 0);
    assert!(world.now >= Time::from_millis(40 * rounds - 40));
    sum / (rounds - warm) as f64 / f64::from(world.params.payload)
}

#[test]
fn dctcp_window_matches_linux_under_constant_marking() {
    let dctcp = Spec { congestion: Algorithm::named("dctcp"), ..modern() };
    for (one_in, rounds) in [(20, 2000), (100, 1500)] {
        let law = core::f64::consts::SQRT_2 * one_in as f64;
        let ratio = mean(&dctcp, one_in, rounds) / law;
        assert!((0.9..1.1).contains(&ratio), "p = 1/{one_in}: {ratio}");
    }
}

#[test]
fn window_with_growth_every_rtt_exceeds_two_over_p() {
    let rfc = Spec { congestion: Algorithm::named("dctcp"), prr_marks: Some(false), ..modern() };
    let prague = Spec { congestion: Algorithm::named("prague"), ..modern() };
    for (name, spec) in [("dctcp", rfc), ("prague", prague)] {
        for (one_in, rounds) in [(20, 2000), (50, 1500)] {
            let law = (1.0 + 3f64.sqrt()) * one_in as f64;
            let ratio = mean(&spec, one_in, rounds) / law;
            assert!((0.9..1.1).contains(&ratio), "{name}, p = 1/{one_in}: {ratio}");
        }
    }
}
