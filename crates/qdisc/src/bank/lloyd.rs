//! Tables that are optimal for the probabilities that occur: Lloyd's and Max's conditions, Lloyd,
//! "Least squares quantization in PCM", IEEE Transactions on Information Theory 28(2), 1982.
//!
//! **The cost.** By the square-root law a flow's window is W = √(2/p), so an error of p moves the
//! window, and with it the rate and the queue where the loop settles, by d ln W = −½ d ln p: what
//! counts is the relative error of √p, and the same relative error costs the same at any p. Also in
//! the linearised loop the plant's gain dW/dp = −W/(2p) makes δp felt as δp/p. The cost of using y
//! where p was meant is therefore (½ ln(y/p))², the squared error of ln W. In x = ln p that is a
//! squared error, so the best entry of a cell is the geometric mean of the p in it, and the best
//! threshold is the geometric mean of the two entries beside it.

use crate::Invalid;
use alloc::vec::Vec;

/// What it costs to use `y` where `p` was meant: the squared error of ln W.
#[must_use]
pub fn cost(p: f64, y: f64) -> f64 {
    let half = 0.5 * libm::log(y / p);
    half * half
}

/// The `n` entries, in ascending order, that cost least for `given` values of p, all limited to
/// `least`..`top`. Lloyd's iteration from equal shares of the values; it ends when nothing moves or
/// after 10 000 rounds.
pub fn optimal(given: &[f64], n: usize, least: f64, top: f64) -> Result<Vec<f64>, Invalid> {
    let mut x = Vec::new();
    for &p in given {
        if !(0.0..=1.0).contains(&p) {
            return Err(Invalid::new("optimal_for", p, "must be probabilities, 0 to 1"));
        }
        x.push(libm::log(p.clamp(least, top)));
    }
    sojourn_base::sort_by(&mut x, f64::total_cmp);
    let mut different = x.clone();
    different.dedup();
    if different.len() < n {
        let remedy = alloc::format!(
            "must hold at least as many different values within {least} to {top} as the table has \
             entries above 0, {n}"
        );
        return Err(Invalid::new("optimal_for", different.len(), remedy));
    }
    // Sums of the first i values, so that a mean costs two look-ups.
    let mut sums = Vec::from([0.0]);
    for &v in &x {
        sums.push(sums[sums.len() - 1] + v);
    }
    let m = different.len();
    let mut y: Vec<f64> = (0..n).map(|i| different[(2 * i + 1) * m / (2 * n)]).collect();
    for _ in 0..10_000 {
        let mut from = 0;
        let mut moved = false;
        for i in 0..n {
            let edge = if i + 1 < n { (y[i] + y[i + 1]) / 2.0 } else { f64::INFINITY };
            let to = x.partition_point(|&v| v < edge);
            if to > from {
                let mean = (sums[to] - sums[from]) / (to - from) as f64;
                moved |= (mean - y[i]).abs() > 1e-12;
                y[i] = mean;
            }
            from = from.max(to);
        }
        if !moved {
            break;
        }
    }
    Ok(y.iter().map(|&v| libm::exp(v)).collect())
}
