//! How RED spaces its hits: packet by packet against the rules of ns-2 and ALTQ in double
//! precision, by the gaps that follow from them, and the presets by what they do with one load.

use super::coin;
use crate::common::{Token, env, marking, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;

/// RED whose average is the queue that a packet finds, p between 10 and 30 packets.
fn red(spacing: Spacing) -> red::Params {
    red::Params {
        // So that no count times p is 1 or 2 but for rounding.
        min_th: 9.97,
        max_th: 30.07,
        max_p: 0.5,
        wq: Some(1.0),
        hits: red::Hits { spacing, min_queue: 2, ..marking() },
        ..Default::default()
    }
}

fn queue(params: &red::Params) -> red::Discipline<Token> {
    red::Discipline::new(params, &env(100, 1500), coin()).unwrap()
}

/// Lets packets go until `length` stand.
fn drain(q: &mut red::Discipline<Token>, length: u32) {
    while q.packets() > length {
        let _ = q.dequeue(Time::ZERO, &mut ());
    }
}

/// Offers a packet: whether it was marked.
fn marks(q: &mut red::Discipline<Token>, bytes: u32) -> bool {
    q.enqueue(Time::ZERO, token(0, bytes, Ecn::Ect0), &mut ()) == Verdict::Marked
}

/// ns-2's and ALTQ's rule for one packet, as their code has it.
struct Rule {
    wait: bool,
    count: f64,
    below: bool,
    coin: Stream,
}

impl Rule {
    fn hits(&mut self, average: f64, worth: f64) -> bool {
        if average < 10.0 {
            self.below = true;
            return false;
        }
        self.count += worth;
        if std::mem::take(&mut self.below) {
            self.count = worth;
            return false;
        }
        let p =
            if average < 30.07 { 0.5 * (average - 9.97) / (30.07 - 9.97) } else { average / 60.14 };
        let used = self.count * p;
        let hit = !(self.wait && used < 1.0) && {
            let draw = (self.coin.next_u64() >> 4) as f64 / (1u64 << 60) as f64;
            used >= 2.0 || draw < worth * p / (2.0 - used)
        };
        if hit {
            self.count = 0.0;
        }
        hit
    }
}

#[test]
fn wait_and_altq_hit_the_very_packets_that_their_sources_hit() {
    for (spacing, scale_by_size) in [
        (Spacing::Wait, false),
        (Spacing::Altq, false),
        (Spacing::Wait, true),
        (Spacing::Altq, true),
    ] {
        let byte_mode = ByteMode { scale_by_size, mean_packet: Some(1000), ..Default::default() };
        let mut params = red(spacing);
        params.hits.byte_mode = byte_mode;
        let mut q = queue(&params);
        let mut rule =
            Rule { wait: spacing == Spacing::Wait, count: 0.0, below: true, coin: coin() };
        let mut draws = Stream::new(9, Kind::Test, 0, 0);
        let mut hits = 0;
        for n in 0..200_000 {
            // The queue wanders from 5 to 45 packets.
            let length = (q.packets() + 1).saturating_sub(draws.below(4) as u32);
            drain(&mut q, length.clamp(5, 45));
            let found = q.packets();
            let bytes = [40, 500, 1000, 1500][draws.below(4) as usize];
            let worth = if scale_by_size { f64::from(bytes) / 1000.0 } else { 1.0 };
            let (marked, wanted) = (marks(&mut q, bytes), rule.hits(f64::from(found), worth));
            assert_eq!(marked, wanted, "packet {n} of {spacing:?}, {found} found");
            hits += u32::from(marked);
        }
        assert!(hits > 5000, "{hits} hits by {spacing:?}");
    }
}

#[test]
fn gaps_at_one_half_are_those_worked_out_by_hand() {
    // p = 1/2 at 30 packets. Uniform: 1 or 2. Wait: p/(2 − count·p) is 0, 1/2, 1: 2 or 3. ALTQ:
    // 1/3, 1/2, 1: 1, 2 or 3. Each as often as the others.
    for (spacing, possible) in
        [(Spacing::Uniform, 1..=2), (Spacing::Wait, 2..=3), (Spacing::Altq, 1..=3)]
    {
        let mut q = queue(&red::Params { max_th: 30.0, ..red(spacing) });
        let mut gaps = [0u32; 8];
        let mut gap = 0;
        while q.packets() < 30 || !marks(&mut q, 1500) {
            marks(&mut q, 1500);
        }
        for _ in 0..60_000 {
            gap += 1;
            drain(&mut q, 30);
            if marks(&mut q, 1500) {
                gaps[std::mem::take(&mut gap)] += 1;
            }
        }
        let hits: u32 = gaps.iter().sum();
        let each = f64::from(hits) / possible.clone().count() as f64;
        for (gap, &n) in gaps.iter().enumerate().skip(1) {
            let expected = if possible.contains(&gap) { each } else { 0.0 };
            let off = (f64::from(n) - expected).abs();
            assert!(off <= 5.0 * expected.sqrt(), "{spacing:?}, gap {gap}: {n} for {expected}");
        }
    }
}

#[test]
fn the_packet_that_finds_the_average_risen_passes_but_for_uniform_gaps() {
    for (spacing, wanted) in [
        (Spacing::Uniform, [false, true, true]),
        (Spacing::Wait, [false, false, true]),
        (Spacing::Altq, [false, false, true]),
    ] {
        // p is 0 with nine packets standing, 1 with ten.
        let mut q = queue(&red::Params { min_th: 9.5, max_th: 10.0, max_p: 1.0, ..red(spacing) });
        for _ in 0..10 {
            drain(&mut q, 0);
            while q.packets() < 9 {
                assert!(!marks(&mut q, 1500));
            }
            assert_eq!([(); 3].map(|()| marks(&mut q, 1500)), wanted, "{spacing:?}");
        }
    }
}

#[test]
fn presets_are_told_apart_by_their_vectors() {
    let env = env(10, 1000);
    let of = |preset: red::Preset| {
        let mut params = preset.params();
        params.hits.ecn = EcnMarking::On;
        let text = vectors::write(&Config::Red(params), &env, 1, 20_000, &|| false).expect("valid");
        let count = |what: &str| text.lines().filter(|line| line.contains(what)).count();
        (count(",marked,"), count(",early,"), count(",overflow,"))
    };
    use red::Preset::{Altq, Floyd, Linux, Ns2};
    let made = [Floyd, Ns2, Altq, Linux].map(of);
    assert_eq!(made, [(6527, 2676, 0), (58, 2715, 0), (264, 3497, 157), (7009, 2864, 0)]);
}
