//! The bank of controllers and its tables: against PI in double precision, and against what each
//! grid promises.

use crate::common::{Token, env, offer, queue};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::bank::{Bank, Gains, Grid, IndexBank, IndexGains, Table, cost, optimal};
use sojourn_qdisc::*;

fn geometric() -> Table {
    Grid::Geometric.table(16, 0.001, 0.5, &[]).unwrap()
}

/// Queues that wander about, one step.
fn wander(queues: &mut [u16], random: &mut Stream, centre: u16, most: u64) {
    for q in queues {
        let up = random.below(256) < if *q < centre { 140 } else { 116 };
        let step = random.below(most) as u16;
        *q = if up { (*q + step).min(32_767) } else { q.saturating_sub(step) };
    }
}

#[test]
fn the_bank_follows_pi_with_bounded_error() {
    // a and b, setpoint, steps of the queue, and how far rounded gains may lead in the end.
    for (a, b, qref, most, drift) in [
        // The paper's example sampled each millisecond: K = 9.64e-6, z = 0.53.
        (1.8194e-5, 1.8184e-5, 200u16, 40, 2e-3),
        // 10 Gb/s in packets: gains that are hardly there.
        (1.3e-8, 1.3e-8 - 4e-12, 8000, 900, 1e-6),
        // Short pipes: large gains.
        (0.0074, 0.0073, 40, 12, 2e-2),
        // One change of the queue stays below 1/a, or the step counts as 1 and no more.
        (0.11, 0.10, 40, 9, 2e-2),
    ] {
        let gains = Gains::new(a, b, qref).unwrap();
        let (ea, ed) = gains.exact();
        assert!((ea / a - 1.0).abs() < 3.1e-5 && (ed / (a - b) - 1.0).abs() < 0.01, "{ea} {ed}");
        const EACH: usize = 12;
        let mut bank = Bank::new(&[(gains, geometric())], EACH).unwrap();
        let mut random = Stream::new(3, Kind::Test, 0, 0);
        let mut queues = [qref; EACH];
        let mut old = queues;
        let (mut p, mut meant) = ([0.0f64; EACH], [0.0f64; EACH]);
        let (mut worst, mut worst_meant, mut inside) = (0.0f64, 0.0f64, 0);
        for k in 0..20_000 {
            // Some way above, then below the setpoint.
            let centre = if (k / 2000) % 2 == 0 { qref + qref / 2 } else { qref / 2 };
            wander(&mut queues, &mut random, centre, most);
            if k == 0 {
                old = queues;
            }
            bank.update(&queues);
            for i in 0..EACH {
                let change = f64::from(queues[i]) - f64::from(old[i]);
                let excess = f64::from(old[i]) - f64::from(qref);
                p[i] = (p[i] + ea * change + ed * excess).clamp(0.0, 1.0);
                meant[i] = (meant[i] + a * change + (a - b) * excess).clamp(0.0, 1.0);
                worst = worst.max((bank.exact(0, i) - p[i]).abs());
                worst_meant = worst_meant.max((bank.exact(0, i) - meant[i]).abs());
                inside += u64::from(p[i] > 0.0 && p[i] < 1.0);
                // What is in force is what the table has for it.
                let exact = Probability::from_f64(bank.exact(0, i));
                assert_eq!(bank.probability(0, i), geometric().quantised(exact));
            }
            old = queues;
        }
        assert!(inside > 8_000, "a = {a}: p was inside (0, 1) {inside} times only");
        assert!(worst < 1.2e-8, "a = {a}: off by {worst:e} from its own gains");
        assert!(worst_meant < drift, "a = {a}: off by {worst_meant:e} from the gains as given");
    }
}

/// Where p would be in a table with 7 fraction bits of a level.
fn place_of(gains: &IndexGains, p: f64) -> f64 {
    (0..2048u16).take_while(|&x| gains.probability(x) <= p).count() as f64 / 128.0
}

#[test]
fn a_bank_in_table_form_follows_pi_as_its_dither_lets_it() {
    const EACH: usize = 12;
    // The paper's example sampled each millisecond, in which a queue changes by few packets.
    let (a, b, qref) = (1.8194e-5, 1.8184e-5, 200u16);
    for grid in [Grid::Geometric, Grid::Linear, Grid::Sqrt, Grid::Log] {
        let table = grid.table(16, 0.001, 0.5, &[]).unwrap();
        let gains = IndexGains::new(a, b, qref, &table).unwrap();
        let mut bank = IndexBank::new(core::slice::from_ref(&gains), EACH).unwrap();
        let mut random = Stream::new(5, Kind::Test, 0, 0);
        let mut queues = [qref; EACH];
        let (mut old, mut p) = (queues, [0.0f64; EACH]);
        let (mut worst, mut inside) = (0.0f64, 0);
        for k in 0..24_000 {
            let centre = if (k / 6000) % 2 == 0 { 12 * qref } else { qref / 2 };
            wander(&mut queues, &mut random, centre, 4);
            if k == 0 {
                old = queues;
            }
            bank.update(&queues);
            for i in 0..EACH {
                let change = f64::from(queues[i]) - f64::from(old[i]);
                let excess = f64::from(old[i]) - f64::from(qref);
                p[i] = (p[i] + a * change + (a - b) * excess).clamp(0.0, 1.0);
            }
            old = queues;
            for i in (0..EACH).filter(|_| k % 100 == 0) {
                let x = f64::from(bank.place(0, i)) / 128.0;
                worst = worst.max((x - place_of(&gains, p[i])).abs());
                inside += u64::from(bank.level(0, i) > 0);
            }
        }
        assert!(inside > 1000, "{grid:?}: above the first entry {inside} times only");
        // Of 24 000 steps that dither rounds, the sum has a deviation of 0.6 levels at most.
        assert!(worst < 1.8, "{grid:?}: off by {worst} levels");
    }
}

#[test]
fn gains_that_no_table_form_has_are_refused() {
    let refused = |a: f64, b: f64| IndexGains::new(a, b, 40, &geometric()).unwrap_err().to_string();
    assert!(refused(0.5, 0.4).contains("smaller units"));
    assert!(refused(1e-9, 0.9e-9).contains("larger units"));
    assert!(refused(1e-4, 1e-4 * (1.0 - 1e-5)).contains("sample less often"));
    assert!(refused(1e-4, 1e-4).contains("must be 0 to below a"));
}

#[test]
fn valid_banks_never_overflow() {
    let mut random = Stream::new(7, Kind::Test, 0, 0);
    for _ in 0..150 {
        let a = libm::exp2(-30.0 * random.uniform());
        let b = a * (1.0 - libm::exp2(-10.0 * random.uniform()));
        let qref = random.below(32_768) as u16;
        let Ok(gains) = Gains::new(a, b, qref) else { continue };
        let mut bank = Bank::new(&[(gains, geometric())], 8).unwrap();
        for _ in 0..100 {
            let q = || [0, u16::MAX, 32_767, qref][random.below(4) as usize];
            let queues: Vec<u16> = std::iter::repeat_with(q).take(8).collect();
            bank.update(&queues);
            (0..8).for_each(|i| assert!((0.0..=1.0).contains(&bank.exact(0, i))));
        }
        // Far above the setpoint for long: p ends at its largest, far below at 0.
        for (q, end) in [(u16::MAX, 1.0), (0, 0.0)] {
            if a - b > 1e-5 && (q == 0) == (qref > 100) {
                (0..30_000).for_each(|_| bank.update(&[q; 8]));
                assert!((bank.exact(0, 3) - end).abs() < 1e-8, "{a} {b} {qref}");
            }
        }
    }
}

#[test]
fn classes_have_their_own_gains_and_tables() {
    let linear = Grid::Linear.table(4, 0.0, 0.9, &[]).unwrap();
    let strong = Gains::new(1e-2, 9e-3, 10).unwrap();
    let weak = Gains::new(1e-4, 9e-5, 10).unwrap();
    let mut bank = Bank::new(&[(strong, linear), (weak, geometric())], 3).unwrap();
    assert_eq!((bank.len(), Bank::state_bytes()), (6, 8));
    (0..=100).for_each(|_| bank.update(&[10, 15, 0, 10, 15, 15]));
    // 101 instants of 5 too many, times a − b.
    assert!((bank.exact(0, 1) - 0.505).abs() < 1e-4 && (bank.exact(1, 1) - 0.00505).abs() < 1e-6);
    assert_eq!((bank.exact(0, 0), bank.exact(0, 2), bank.exact(1, 0)), (0.0, 0.0, 0.0));
    assert_eq!(bank.level(0, 1), 2);
    assert!((bank.probability(0, 1).as_f64() - 0.6).abs() < 1e-12);
    let mut coin = Stream::new(1, Kind::Test, 0, 0);
    let n = (0..100_000).filter(|_| bank.drops(0, 1, &mut coin)).count();
    assert!(n.abs_diff(60_000) < 5 * 155, "{n}");
}

#[test]
fn grid_points_match_their_definition() {
    let p = |table: &Table| -> Vec<f64> { table.entries().iter().map(|p| p.as_f64()).collect() };
    let even = |x: Vec<f64>| {
        let step = x[1] - x[0];
        x.windows(2).for_each(|w| assert!((w[1] - w[0] - step).abs() < 1e-12, "{x:?}"));
    };
    even(p(&Grid::Linear.table(16, 0.0, 1.0, &[]).unwrap()));
    even(p(&Grid::Sqrt.table(16, 0.0, 1.0, &[]).unwrap()).iter().map(|p| p.sqrt()).collect());
    let log = Grid::Log.table(16, 0.0, 0.9, &[]).unwrap();
    even(p(&log).iter().map(|p| -libm::log1p(-p)).collect());
    let ratio = p(&geometric());
    assert!(ratio[0] == 0.0 && ratio.len() == 16);
    even(ratio[1..].iter().map(|p| p.ln()).collect());
    for table in [geometric(), log] {
        // Each entry lies in its own stretch, and the ends have the first and last entry.
        for (level, &entry) in table.entries().iter().enumerate() {
            let (from, to) = table.stretch(level);
            assert!(from <= entry.as_f64() && entry.as_f64() <= to, "{level} {from} {to}");
            assert_eq!(table.quantised(entry), entry);
        }
        assert_eq!(table.quantised(Probability::ZERO), table.entries()[0]);
        assert_eq!(table.quantised(Probability::ONE), table.entries()[15]);
    }
}

/// Mean cost of a table for `given`, p below `least` left out: nothing is dropped there.
fn mean_cost(table: &Table, given: &[f64]) -> f64 {
    let of = |&p: &f64| {
        let y = table.quantised(Probability::from_f64(p)).as_f64();
        // No drop at all where there should be some: as if at a hundredth of the least.
        cost(p, y.max(1e-5))
    };
    given.iter().map(of).sum::<f64>() / given.len() as f64
}

/// p as a loop has it whose N and R vary: ln p normal about ln 0.02.
fn occurring() -> Vec<f64> {
    let mut random = Stream::new(5, Kind::Test, 0, 0);
    let normal = |r: &mut Stream| (0..12).map(|_| r.uniform()).sum::<f64>() - 6.0;
    (0..4000)
        .map(|_| 0.02 * (0.8 * normal(&mut random)).exp())
        .map(|p| p.clamp(1e-3, 0.5))
        .collect()
}

#[test]
fn a_logarithmic_grid_ends_at_9999_of_10000() {
    assert!(Grid::Log.table(4, 0.0, 0.9999, &[]).is_ok());
    assert_eq!(Grid::Log.table(4, 0.0, 0.99991, &[]).unwrap_err().field, "top");
    for (least, top, field) in
        [(1e-4, 1.0, ""), (0.9e-4, 1.0, "least"), (0.5, 0.5, "least"), (0.1, 1.01, "top")]
    {
        let error = Grid::Geometric.table(4, least, top, &[]).err();
        assert_eq!(error.map_or(String::new(), |e| e.field.to_string()), field, "{least} {top}");
    }
}

#[test]
fn optimal_entries_are_geometric_means_of_their_cells() {
    let close = |found: Vec<f64>, wanted: &[f64]| {
        assert_eq!(found.len(), wanted.len());
        for (f, w) in found.iter().zip(wanted) {
            assert!((f / w - 1.0).abs() < 1e-12, "{found:?} {wanted:?}");
        }
    };
    let given = [0.1, 0.8, 0.2, 0.4];
    close(optimal(&given, 2, 1e-3, 1.0).unwrap(), &[0.02f64.sqrt(), 0.32f64.sqrt()]);
    close(optimal(&given, 1, 1e-3, 1.0).unwrap(), &[(0.1f64 * 0.2 * 0.4 * 0.8).powf(0.25)]);
    close(optimal(&given, 4, 1e-3, 1.0).unwrap(), &[0.1, 0.2, 0.4, 0.8]);
    // Values beyond the limits count as these, and a value that comes often counts as often.
    let given = [0.0, 0.4, 0.4, 0.05, 0.9];
    close(optimal(&given, 2, 0.01, 0.8).unwrap(), &[0.0005f64.sqrt(), 0.128f64.powf(1.0 / 3.0)]);
    assert_eq!(optimal(&[0.1, 0.1], 2, 1e-3, 1.0).unwrap_err().field, "optimal_for");
    assert_eq!(optimal(&[0.1, 1.1], 1, 1e-3, 1.0).unwrap_err().field, "optimal_for");
    assert!((cost(0.1, 0.4) - 2.0f64.ln().powi(2)).abs() < 1e-15);
}

#[test]
fn places_in_a_table_are_probabilities_along_its_stretches() {
    // Entries n/16, thresholds in the middle between them.
    let table = Grid::Linear.table(16, 0.0, 15.0 / 16.0, &[]).unwrap();
    let gains = IndexGains::new(1e-3, 0.9e-3, 40, &table).unwrap();
    for level in 0..16u16 {
        let (low, high) = table.stretch(level.into());
        let wanted = [if level == 0 { 0.0 } else { (f64::from(level) - 0.5) / 16.0 }];
        assert!((low - wanted[0]).abs() < 1e-4 && low < high);
        for part in [0, 32, 127] {
            let p = low + f64::from(part) / 128.0 * (high - low);
            assert!((gains.probability(level * 128 + part) - p).abs() < 1e-12);
        }
    }
}

#[test]
fn the_optimal_table_costs_least_and_the_linear_one_most() {
    let given = occurring();
    let of = |grid: Grid| mean_cost(&grid.table(16, 1e-3, 0.5, &given).unwrap(), &given);
    let [linear, sqrt, log, geometric, best] =
        [Grid::Linear, Grid::Sqrt, Grid::Log, Grid::Geometric, Grid::Optimal].map(of);
    assert!(best < geometric && geometric < sqrt, "{best} {geometric} {sqrt}");
    // Both have nothing between 0 and the probabilities that occur most.
    assert!(log > 20.0 * best && linear > 20.0 * best, "{log} {linear}");
    // Panter and Dite: cells of a 15-entry quantiser of ln √p, σ = 0.4: √3·π/2·σ²/15².
    assert!((best / (2.72 * 0.16 / 225.0) - 1.0).abs() < 0.15, "{best}");
}

#[test]
fn lloyd_and_max_conditions_hold() {
    let given = occurring();
    let y = optimal(&given, 7, 1e-3, 0.5).unwrap();
    let nearest = |p: f64| {
        let by = |a: &usize, b: &usize| cost(p, y[*a]).total_cmp(&cost(p, y[*b]));
        (0..7).min_by(by).unwrap()
    };
    for (i, entry) in y.iter().enumerate() {
        // Each entry is the geometric mean of what it stands for.
        let cell: Vec<f64> = given.iter().copied().filter(|&p| nearest(p) == i).collect();
        let mean = cell.iter().map(|p| p.ln()).sum::<f64>() / cell.len() as f64;
        assert!((mean - entry.ln()).abs() < 1e-6, "{i}: {entry}");
    }
    // For p even in ln p the best table is the geometric one.
    let flat: Vec<f64> =
        (0..20_000).map(|i| 1e-3 * (500f64.ln() * f64::from(i) / 19_999.0).exp()).collect();
    let y = optimal(&flat, 15, 1e-3, 0.5).unwrap();
    let step = (y[14] / y[0]).ln() / 14.0;
    y.windows(2).for_each(|w| assert!(((w[1] / w[0]).ln() / step - 1.0).abs() < 0.01, "{y:?}"));
}

#[test]
fn invalid_table_is_refused() {
    let fields = [
        Grid::Linear.table(1, 0.0, 1.0, &[]).unwrap_err().field,
        Grid::Linear.table(17, 0.0, 1.0, &[]).unwrap_err().field,
        Grid::Linear.table(16, 0.0, 1.5, &[]).unwrap_err().field,
        Grid::Log.table(16, 0.0, 1.0, &[]).unwrap_err().field,
        Grid::Geometric.table(16, 1e-5, 1.0, &[]).unwrap_err().field,
        Grid::Geometric.table(16, 1e-4, 2e-4, &[]).unwrap_err().field,
        Grid::Optimal.table(16, 1e-4, 1.0, &[0.1; 40]).unwrap_err().field,
        Grid::Optimal.table(3, 1e-4, 1.0, &[0.1, 0.2, 1.2]).unwrap_err().field,
        Gains::new(0.0, 0.0, 1).unwrap_err().field,
        Gains::new(0.1, 0.1, 1).unwrap_err().field,
        Gains::new(0.1, 0.05, 40_000).unwrap_err().field,
        Bank::new(&[], 512).unwrap_err().field,
    ];
    let expected = "entries entries top top least entries optimal_for optimal_for a b qref classes";
    assert_eq!(fields.join(" "), expected);
}

#[test]
fn pi_table_uses_the_entry_for_what_pi_works_out() {
    let plain = pi::Params { a: 2e-4, b: 1.9e-4, qref: 20.0, ..Default::default() };
    let params = pi_table::Params { pi: plain.clone(), ..Default::default() };
    let (mut q, mut exact): (Qdisc<Token>, Qdisc<Token>) = (
        queue(&Config::PiTable(params), &env(100, 1500)),
        queue(&Config::Pi(plain), &env(100, 1500)),
    );
    let table = geometric();
    let mut seen = std::collections::BTreeSet::new();
    for k in 1..=2000u64 {
        let now = Time::from_millis(6 * k);
        // Both have the same queue, whatever they drop.
        let length = [60, 25, 5][(k / 500) as usize % 3];
        for q in [&mut q, &mut exact] {
            q.advance(now);
        }
        let p = exact.probability();
        assert_eq!(q.probability(), table.quantised(Probability::from_f64(p)).as_f64());
        let (from, to) = table
            .stretch(table.entries().iter().position(|e| e.as_f64() == q.probability()).unwrap());
        assert!((from..=to).contains(&p));
        seen.insert(q.probability().to_bits());
        for q in [&mut q, &mut exact] {
            while q.packets() < length {
                offer(q, now, 1, Ecn::Ect0);
            }
            crate::common::drain(q, now, length);
        }
    }
    assert!(seen.len() >= 8, "{} entries were in force", seen.len());
}

#[test]
fn an_operating_point_between_two_entries_is_held_by_alternating() {
    // A queue that grows while p is below what is needed and shrinks while it is above.
    for needed in [0.0123, 0.03, 0.2] {
        let gains = Gains::new(2e-4, 1.99e-4, 100).unwrap();
        let mut bank = Bank::new(&[(gains, geometric())], 1).unwrap();
        let (mut length, mut sum, mut queues) = (100.0f64, 0.0, 0.0);
        for k in 0..200_000 {
            let p = bank.probability(0, 0).as_f64();
            length = (length + 40.0 * (needed - p)).clamp(0.0, 1000.0);
            bank.update(&[length.round() as u16]);
            if k >= 100_000 {
                (sum, queues) = (sum + p, queues + length);
            }
        }
        let (p, length) = (sum / 100_000.0, queues / 100_000.0);
        assert!((p / needed - 1.0).abs() < 0.01, "{p} instead of {needed}");
        assert!((length - 100.0).abs() < 10.0, "a queue of {length} instead of 100");
    }
}
