//! HighSpeed TCP, RFC 3649 sections 5 and 7, with the parameters Low_Window 38, High_Window 83000,
//! High_P 1e-7, High_Decrease 0.1.
//!
//! # Difference from the source
//!
//! a(w) is the formula, not the table of appendix B, which rounds it to whole packets; it is not
//! allowed below 1.

const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
/// 10^-3, as the RFC rounds 1.5/38².
const LOW_P: f64 = 1e-3;
const HIGH_P: f64 = 1e-7;
const HIGH_DECREASE: f64 = 0.1;

/// How far a window is from Low_Window to High_Window, on a logarithmic scale.
fn way(w: f64) -> f64 {
    libm::log(w / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW)
}

/// b(w): the fraction of the window that a loss takes.
pub fn decrease(w: f64) -> f64 {
    if w <= LOW_WINDOW { 0.5 } else { (0.5 + (HIGH_DECREASE - 0.5) * way(w)).max(0.01) }
}

/// a(w): packets for each round trip.
pub fn increase(w: f64) -> f64 {
    if w <= LOW_WINDOW {
        return 1.0;
    }
    let p = libm::exp(libm::log(LOW_P) + way(w) * libm::log(HIGH_P / LOW_P));
    let b = decrease(w);
    (w * w * p * 2.0 * b / (2.0 - b)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increase_and_decrease_are_those_of_the_rfcs_table() {
        // RFC 3649 appendix B: cwnd, a(w), b(w).
        for (w, a, b) in
            [(38.0, 1.0, 0.5), (1058.0, 8.0, 0.33), (10661.0, 30.0, 0.21), (84035.0, 71.0, 0.10)]
        {
            assert!((increase(w) / a - 1.0).abs() < 0.06, "a({w}) = {}", increase(w));
            assert!((decrease(w) - b).abs() < 0.006, "b({w}) = {}", decrease(w));
        }
    }
}
