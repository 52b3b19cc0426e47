//! One instant of the controllers of a class: loops that a compiler makes vector instructions of.
//!
//! They are compiled twice on x86-64, for every processor and for those with AVX2, which is chosen
//! when the program runs (feature `std`: without a system there is nobody to ask). It is the same
//! text in integers, so that both give the same bits; a test holds them against each other.

use super::gains::{Gains, P_BITS, REST_BITS};
use super::table::{THRESHOLD_BITS, Table};

/// Largest p, one step below 1: its upper half is the largest threshold there is.
const P_MOST: i32 = (1 << P_BITS) - 1;
/// Controllers whose levels are set at a time.
const LANES: usize = 16;

/// The controllers of one class: the same place in each array is the same controller.
#[derive(Debug)]
pub(super) struct State<'a> {
    /// p, Q.29.
    pub p: &'a mut [i32],
    /// What the integral part has left over below a step of p.
    pub rest: &'a mut [u16],
    /// The queue at the last instant.
    pub previous: &'a mut [i16],
    /// Which entry of the table is in force.
    pub level: &'a mut [u8],
}

/// A queue's length as 15 bits.
#[inline]
pub(super) fn short(queue: u16) -> i16 {
    queue.min(i16::MAX as u16) as i16
}

/// Updates p, then sets the levels. All slices are of the same length.
#[allow(unsafe_code)]
pub(super) fn instant(gains: &Gains, table: &Table, state: State<'_>, queues: &[u16]) {
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, and the system keeps its registers: both were asked. The
        // function needs nothing else; its text is safe.
        return unsafe { with_avx2(gains, table, state, queues) };
    }
    portable(gains, table, state, queues);
}

/// For every processor.
#[inline(never)]
fn portable(gains: &Gains, table: &Table, state: State<'_>, queues: &[u16]) {
    both(gains, table, state, queues);
}

/// Sixteen numbers of 16 bits at a time.
#[cfg(all(feature = "std", target_arch = "x86_64"))]
#[target_feature(enable = "avx2")]
#[inline(never)]
fn with_avx2(gains: &Gains, table: &Table, state: State<'_>, queues: &[u16]) {
    both(gains, table, state, queues);
}

#[inline(always)]
fn both(gains: &Gains, table: &Table, mut state: State<'_>, queues: &[u16]) {
    // Which way the products are shifted is the same for all: it stays out of the loop.
    match (gains.a.right > 0, gains.difference.right > 0) {
        (true, true) => step::<true, true>(gains, &mut state, queues),
        (true, false) => step::<true, false>(gains, &mut state, queues),
        (false, true) => step::<false, true>(gains, &mut state, queues),
        (false, false) => step::<false, false>(gains, &mut state, queues),
    }
    set_levels(table, state.p, state.level);
}

/// `FINE`: products of a have places to be shifted off. They are shifted before they are
/// subtracted from each other, so that nothing is lost over time. `SLOW`: products of a − b
/// have such places, which go into the rest.
#[inline(always)]
fn step<const FINE: bool, const SLOW: bool>(gains: &Gains, state: &mut State<'_>, queues: &[u16]) {
    let Gains { a, difference: d, qref } = *gains;
    let (ma, md) = (i32::from(a.mantissa), i32::from(d.mantissa));
    let n = queues.len();
    let ps = &mut state.p[..n];
    let (rests, olds) = (&mut state.rest[..n], &mut state.previous[..n]);
    for i in 0..n {
        let (queue, old) = (short(queues[i]), olds[i]);
        let proportional = if FINE {
            ((ma * i32::from(queue)) >> a.right) - ((ma * i32::from(old)) >> a.right)
        } else {
            (ma * i32::from((queue - old).clamp(-a.most, a.most))) << a.left
        };
        let excess = md * i32::from((old - qref).clamp(-d.most, d.most));
        let integral = if SLOW {
            let sum = excess + i32::from(rests[i]);
            rests[i] = (sum & ((1 << d.right) - 1)) as u16;
            sum >> d.right
        } else {
            excess << d.left
        };
        ps[i] = (ps[i] + proportional + integral).clamp(0, P_MOST);
        olds[i] = queue;
    }
}

/// Comparisons with all 15 thresholds, 16 controllers at a time in numbers of 16 bits; those
/// out of reach are taken off at the end.
#[inline(always)]
fn set_levels(table: &Table, ps: &[i32], levels: &mut [u8]) {
    let thresholds = *table.thresholds();
    let last = (table.entries().len() - 1) as i16;
    let (ps, some) = ps.as_chunks::<LANES>();
    let (levels, others) = levels.as_chunks_mut::<LANES>();
    for (levels, ps) in levels.iter_mut().zip(ps) {
        let upper = ps.map(upper);
        let mut reached = [0i16; LANES];
        for t in thresholds {
            for (n, &p) in reached.iter_mut().zip(&upper) {
                *n += i16::from(p >= t);
            }
        }
        *levels = reached.map(|n| n.min(last) as u8);
    }
    for (level, &p) in others.iter_mut().zip(some) {
        *level = table.level(upper(p));
    }
}

/// p, Q.29, as it is compared with thresholds.
#[inline]
fn upper(p: i32) -> i16 {
    (p >> (P_BITS - THRESHOLD_BITS as i32)) as i16
}

const _: () = assert!(REST_BITS <= 16 && P_BITS + 2 <= 31);

#[cfg(all(test, feature = "std", target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::bank::Grid;
    use alloc::vec::Vec;
    use sojourn_base::{Kind, Stream};

    /// Arrays of one class.
    #[derive(Clone, Debug, PartialEq)]
    struct Arrays(Vec<i32>, Vec<u16>, Vec<i16>, Vec<u8>);

    impl Arrays {
        fn state(&mut self) -> State<'_> {
            State { p: &mut self.0, rest: &mut self.1, previous: &mut self.2, level: &mut self.3 }
        }
    }

    #[test]
    fn levels_are_those_of_the_table_in_lanes_and_beside_them() {
        let gains = Gains::new(0.01, 0.009, 40).expect("valid");
        for entries in [16, 9, 2] {
            let table = Grid::Geometric.table(entries, 0.001, 0.9, &[]).expect("valid");
            let n = 5 * LANES + 3;
            let even = |i: usize| (i as i64 * i64::from(P_MOST) / (n as i64 - 1)) as i32;
            let mut all = Arrays(
                // Half of them at the lower end, where the entries lie close together.
                (0..n).map(|i| if i % 2 == 0 { even(i) } else { even(i) / 1000 }).collect(),
                alloc::vec![0; n],
                alloc::vec![40; n],
                alloc::vec![0; n],
            );
            // Queues that stand at the setpoint move nothing.
            let before = all.0.clone();
            instant(&gains, &table, all.state(), &alloc::vec![40; n]);
            assert_eq!(all.0, before);
            for (&p, &level) in all.0.iter().zip(&all.3) {
                assert_eq!(level, table.level(upper(p)));
            }
            assert_eq!(all.3.iter().max(), Some(&(entries as u8 - 1)));
        }
    }

    #[test]
    #[allow(unsafe_code)]
    fn with_avx2_every_bit_is_that_of_the_portable_pass() {
        if !std::arch::is_x86_feature_detected!("avx2") {
            std::eprintln!("SKIPPED: this processor has no AVX2");
            return;
        }
        let mut draws = Stream::new(11, Kind::Test, 0, 0);
        let mut kinds = [0; 3];
        // Miri takes seconds for each.
        let turns = if cfg!(miri) { 9 } else { 300 };
        for turn in 0..turns {
            let between = |draws: &mut Stream, low: f64, high: f64| {
                libm::exp2(low + (high - low) * draws.uniform())
            };
            // Shifted to the left or to the right; a − b is not above a.
            let (a, difference) = match turn % 3 {
                0 => (between(&mut draws, -29.0, -15.0), between(&mut draws, -38.0, -30.0)),
                1 => (between(&mut draws, -13.0, -0.5), between(&mut draws, -38.0, -18.0)),
                _ => (between(&mut draws, -10.0, -0.5), between(&mut draws, -13.0, -11.0)),
            };
            let qref = draws.below(32_768) as u16;
            let gains = Gains::new(a, a - difference, qref).expect("valid");
            kinds[usize::from(gains.a.right > 0) + usize::from(gains.difference.right > 0)] += 1;
            let entries = [16, 9, 2][(turn / 3 % 3) as usize];
            let table = Grid::Geometric.table(entries, 0.001, 0.9, &[]).expect("valid");
            // Not a multiple of the lanes, so that what is left over is held against each other.
            let n = 1 + draws.below(100) as usize;
            let mut one = Arrays(
                (0..n).map(|_| draws.below(1 << P_BITS) as i32).collect(),
                (0..n).map(|_| draws.below(1 << gains.difference.right) as u16).collect(),
                (0..n).map(|_| draws.below(1 << 15) as i16).collect(),
                alloc::vec![0; n],
            );
            let mut other = one.clone();
            for _ in 0..20 {
                let queues: Vec<u16> = (0..n)
                    .map(|_| match draws.below(8) {
                        0 => [0, 32_767, 32_768, u16::MAX][draws.below(4) as usize],
                        _ => (u64::from(qref) + draws.below(64)).saturating_sub(32) as u16,
                    })
                    .collect();
                portable(&gains, &table, one.state(), &queues);
                // SAFETY: there is AVX2, as was asked above.
                unsafe { with_avx2(&gains, &table, other.state(), &queues) };
                assert_eq!(one, other, "a = {a}, a − b = {difference}, qref = {qref}");
            }
        }
        assert!(kinds.iter().all(|&n| n >= turns / 9), "{kinds:?}");
    }
}
