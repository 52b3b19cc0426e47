//! Test vectors of a bank: passes over queues that wander, p and level of each controller after
//! each, and decisions about packets, for banks in hardware.

use super::gains::P_BITS;
use super::{Bank, Decide, Gains, Grid, IndexBank, IndexGains, MOST_CLASSES};
use super::{Profile, RedBank, Table};
use crate::{Ecn, Invalid};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{Display, Write};
use sojourn_base::{Kind, Stream};

/// Gains of all kinds: fine and coarse, with and without a rest. `turn` picks the kind.
fn gains(turn: u64, draws: &mut Stream) -> Result<Gains, Invalid> {
    let between =
        |draws: &mut Stream, low: f64, high: f64| libm::exp2(low + (high - low) * draws.uniform());
    let (a, difference) = match turn % 4 {
        0 => (between(draws, -29.0, -18.0), between(draws, -38.0, -30.0)),
        1 => (between(draws, -12.0, -6.0), between(draws, -28.0, -18.0)),
        2 => (between(draws, -10.0, -1.0), between(draws, -14.0, -11.0)),
        _ => (between(draws, -17.0, -13.0), between(draws, -24.0, -18.0)),
    };
    let qref = [draws.below(40), draws.below(2000), draws.below(32_768)][draws.below(3) as usize];
    Gains::new(a, a - difference, qref as u16)
}

fn table(turn: u64, top: f64) -> Result<Table, Invalid> {
    let grid = [Grid::Geometric, Grid::Linear, Grid::Sqrt, Grid::Log][(turn % 4) as usize];
    grid.table([16, 9, 16, 2][(turn / 2 % 4) as usize], 0.001, top, &[])
}

/// The next queue of a controller: mostly near the last, at times anywhere, beyond 15 bits too.
fn moved(queue: u16, draws: &mut Stream) -> u16 {
    match draws.below(64) {
        0 => draws.below(65_536) as u16,
        1 => 0,
        2 => u16::MAX,
        _ => {
            let step = draws.below(65) as i32 - 32;
            (i32::from(queue) + step).clamp(0, i32::from(u16::MAX)) as u16
        }
    }
}

/// `passes` passes over a bank of eight classes with `each` controllers, drawn with `seed`, in
/// lines of whole numbers:
///
/// ```text
/// bank CLASSES EACH
/// seed   of the generator
/// class qref, then mantissa left right most of a and of a − b, 15 thresholds
///       (Q.15), 16 entries (Q.32)
/// queues one for each controller
/// p      one for each controller (Q.29)
/// levels one for each controller
/// packets controller and ECN field of packets that come then, one after the other
/// decisions one for each packet: 0 passes, 1 is marked, 2 is dropped
/// ```
///
/// It ends early if `over` says so before a pass.
///
/// # Errors
/// If there are no controllers, or too many.
pub fn write(
    seed: u64,
    each: usize,
    passes: u64,
    over: &dyn Fn() -> bool,
) -> Result<String, Invalid> {
    let mut draws = Stream::new(seed, Kind::Test, 0, 0);
    let mut classes = Vec::new();
    for turn in 0..MOST_CLASSES as u64 {
        classes.push((gains(turn, &mut draws)?, table(seed.wrapping_add(turn), 0.9)?));
    }
    let mut bank = Bank::new(&classes, each)?;
    let mut text = String::new();
    let coin = draws.next_u64() as u32;
    let mut path = Decide::new(classes.iter().map(|(_, table)| table), coin);
    let _ = writeln!(text, "bank {MOST_CLASSES} {each}\nseed {coin}");
    for (gains, table) in &classes {
        line(&mut text, "class", gains.numbers(table).into_iter());
    }
    let update = |text: &mut String, bank: &mut Bank, queues: &[u16]| {
        bank.update(queues);
        let places = || (0..MOST_CLASSES).flat_map(|class| (0..each).map(move |at| (class, at)));
        let p = |(class, at)| libm::ldexp(bank.exact(class, at), P_BITS) as u32;
        line(text, "p", places().map(p));
        line(text, "levels", places().map(|(class, at)| u32::from(bank.level(class, at))));
        places().map(|(class, at)| bank.level(class, at)).collect()
    };
    let passes = (0..passes).take_while(|_| !over());
    run(&mut text, &mut bank, update, &mut path, each, passes, &mut draws);
    Ok(text)
}

/// The same over a bank in table form, in lines of whole numbers:
///
/// ```text
/// table_bank CLASSES EACH
/// seed   of the generator of decisions
/// class  64 words of 18 bits: 16 slopes, qref and exponent, ratio, from 32 on 16 entries
/// queues one for each controller
/// x      one for each controller, 7 fraction bits
/// packets, decisions as above
/// ```
///
/// # Errors
/// If there are no controllers, or too many.
pub fn write_index(
    seed: u64,
    each: usize,
    passes: u64,
    over: &dyn Fn() -> bool,
) -> Result<String, Invalid> {
    let mut draws = Stream::new(seed, Kind::Test, 0, 0);
    let mut classes = Vec::new();
    for turn in 0..MOST_CLASSES as u64 {
        classes.push(index_gains(turn, seed, &mut draws)?);
    }
    let mut bank = IndexBank::new(&classes, each)?;
    let coin = draws.next_u64() as u32;
    let mut path = bank.decide(coin);
    let mut text = String::new();
    let _ = writeln!(text, "table_bank {MOST_CLASSES} {each}\nseed {coin}");
    for gains in &classes {
        line(&mut text, "class", gains.words().into_iter());
    }
    let update = |text: &mut String, bank: &mut IndexBank, queues: &[u16]| {
        bank.update(queues);
        let places = || (0..MOST_CLASSES).flat_map(|class| (0..each).map(move |at| (class, at)));
        line(text, "x", places().map(|(class, at)| u32::from(bank.place(class, at))));
        places().map(|(class, at)| bank.level(class, at)).collect()
    };
    let passes = (0..passes).take_while(|_| !over());
    run(&mut text, &mut bank, update, &mut path, each, passes, &mut draws);
    Ok(text)
}

/// The same over averages of queues for RED, in lines of whole numbers:
///
/// ```text
/// red_bank CLASSES EACH
/// seed   of the generator of decisions
/// class  shift, 15 thresholds, 16 entries (Q.32)
/// queues one for each average
/// averages of each queue (Q.16), levels
/// packets, decisions as above
/// ```
///
/// # Errors
/// If there are no queues, or too many.
pub fn write_red(
    seed: u64,
    each: usize,
    passes: u64,
    over: &dyn Fn() -> bool,
) -> Result<String, Invalid> {
    let mut draws = Stream::new(seed, Kind::Test, 0, 0);
    let mut classes = Vec::new();
    for turn in 0..MOST_CLASSES as u64 {
        let min_th = draws.below([40, 2000, 20_000][(turn % 3) as usize]) as u16;
        let range = 14 + draws.below([50, 2000, 10_000][(turn % 3) as usize]) as u16;
        // A weight of 1 among them, whatever the seed: its averages come to both ends.
        let shift = if turn == 0 { 0 } else { turn as u32 + 8 * draws.below(2) as u32 };
        classes.push(Profile::new(min_th, min_th + range, draws.uniform().max(0.01), shift)?);
    }
    let mut bank = RedBank::new(&classes, each)?;
    let coin = draws.next_u64() as u32;
    let mut path = bank.decide(coin);
    let mut text = String::new();
    let _ = writeln!(text, "red_bank {MOST_CLASSES} {each}\nseed {coin}");
    for profile in &classes {
        line(&mut text, "class", profile.numbers().into_iter());
    }
    let update = |text: &mut String, bank: &mut RedBank, queues: &[u16]| {
        bank.update(queues);
        let places = || (0..MOST_CLASSES).flat_map(|class| (0..each).map(move |at| (class, at)));
        line(text, "averages", places().map(|(class, at)| bank.average(class, at)));
        line(text, "levels", places().map(|(class, at)| bank.level(class, at)));
        places().map(|(class, at)| bank.level(class, at)).collect()
    };
    let passes = (0..passes).take_while(|_| !over());
    run(&mut text, &mut bank, update, &mut path, each, passes, &mut draws);
    Ok(text)
}

/// Gains of all exponents, from the gentlest to such that every change crosses the table.
fn index_gains(turn: u64, seed: u64, draws: &mut Stream) -> Result<IndexGains, Invalid> {
    let turn_of_table = seed.wrapping_add(turn);
    // Entries of 1 too, on those grids that have an end there.
    let table = table(turn_of_table, if turn_of_table % 4 < 3 { 1.0 } else { 0.9 })?;
    let qref = [draws.below(40), draws.below(2000), draws.below(65_536)][draws.below(3) as usize];
    let ratio = libm::exp2(-13.0 * draws.uniform());
    // From the largest that the table allows down: each class a sixteenth of the last.
    let mut a = 1.0;
    let mut allowed = 0;
    loop {
        a *= 0.75;
        if let Ok(gains) = IndexGains::new(a, a * (1.0 - ratio), qref as u16, &table) {
            allowed += 1;
            if allowed > 10 * (turn % 4) {
                return Ok(gains);
            }
        } else if a < 1e-9 {
            return IndexGains::new(a, a * (1.0 - ratio), qref as u16, &table);
        }
    }
}

/// Passes over queues that wander, and packets after each. `update` makes one and writes what it
/// gave; it returns the levels.
fn run<B>(
    text: &mut String,
    bank: &mut B,
    update: impl Fn(&mut String, &mut B, &[u16]) -> Vec<u8>,
    path: &mut Decide,
    each: usize,
    passes: impl Iterator,
    draws: &mut Stream,
) {
    let all = MOST_CLASSES * each;
    let mut queues: Vec<u16> = (0..all).map(|_| draws.below(2000) as u16).collect();
    for _ in passes {
        line(text, "queues", queues.iter().map(|&q| u32::from(q)));
        let levels = update(text, bank, &queues);
        let mut packets = Vec::new();
        let mut decisions = Vec::new();
        for _ in 0..all {
            let (at, ecn) = (draws.below(all as u64) as usize, draws.below(4) as u8);
            let ecn = Ecn::from_bits(ecn);
            packets.extend([at as u32, ecn as u32]);
            decisions.push(path.decide(at / each, levels[at], ecn) as u32);
        }
        line(text, "packets", packets.into_iter());
        line(text, "decisions", decisions.into_iter());
        queues.iter_mut().for_each(|q| *q = moved(*q, draws));
    }
}

fn line(text: &mut String, name: &str, numbers: impl Iterator<Item = impl Display>) {
    text.push_str(name);
    numbers.for_each(|n| {
        let _ = write!(text, " {n}");
    });
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_a_seed_stay_as_others_have_them() {
        let texts = [
            write(1, 4, 400, &|| false),
            write_index(1, 4, 400, &|| false),
            write_red(1, 4, 400, &|| false),
        ];
        let stamps = texts.map(|text| crate::label_hash(&text.expect("valid")));
        assert_eq!(stamps, [3_614_439_642, 489_789_356, 1_063_438_480]);
    }

    #[test]
    fn vectors_of_red_reach_both_ends_and_every_level() {
        let text = write_red(1, 4, 400, &|| false).expect("valid");
        assert_ne!(text, write_red(2, 4, 400, &|| false).expect("valid"));
        let of = |name: &str| -> Vec<u32> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.flat_map(|line| line.split(' ')).map(|n| n.parse().unwrap()).collect()
        };
        let averages = of("averages ");
        assert_eq!(averages.len(), 400 * 32);
        [0, 32_767 << 16].iter().for_each(|end| assert!(averages.contains(end), "{end}"));
        let levels: alloc::collections::BTreeSet<_> = of("levels ").into_iter().collect();
        assert_eq!(levels.len(), 16);
    }

    #[test]
    fn vectors_in_table_form_reach_both_ends_and_all_exponents() {
        let text = write_index(1, 4, 400, &|| false).expect("valid");
        assert_ne!(text, write_index(2, 4, 400, &|| false).expect("valid"));
        let of = |name: &str| -> Vec<Vec<u32>> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect()).collect()
        };
        let exponents: alloc::collections::BTreeSet<_> =
            of("class ").iter().map(|words| words[16] >> 16).collect();
        assert!(exponents.len() >= 3, "{exponents:?}");
        let x = of("x ");
        assert_eq!((x.len(), x[0].len()), (400, 32));
        [0, 2047].iter().for_each(|end| assert!(x.iter().flatten().any(|x| x == end), "{end}"));
    }

    #[test]
    fn vectors_reach_both_ends_of_p_and_every_kind_of_gain() {
        let text = write(1, 4, 400, &|| false).expect("valid");
        assert_eq!(text, write(1, 4, 400, &|| false).expect("valid"));
        assert_ne!(text, write(2, 4, 400, &|| false).expect("valid"));
        let of = |name: &str| -> Vec<Vec<u32>> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect()).collect()
        };
        let (classes, p) = (of("class "), of("p "));
        assert_eq!((classes.len(), p.len(), p[0].len()), (8, 400, 32));
        // Shifted to the right or not, a and a − b.
        let kinds: alloc::collections::BTreeSet<_> =
            classes.iter().map(|c| (c[3] > 0, c[7] > 0)).collect();
        assert!(kinds.len() >= 3, "{kinds:?}");
        let ends = [0, (1 << P_BITS) - 1];
        ends.iter().for_each(|end| assert!(p.iter().flatten().any(|p| p == end), "{end}"));
    }
}
