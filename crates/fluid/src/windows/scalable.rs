//! Scalable TCP, T. Kelly, "Scalable TCP: improving performance in highspeed wide area networks",
//! PFLDnet 2003: above `lwnd` a window grows by `a` for each acknowledgement and shrinks by the
//! fraction `b` for each loss; below, it is Reno's.
//!
//! # Difference from the source
//!
//! The two laws do not meet at `lwnd`: for some loss rates one pushes up and the other down, and
//! the mean window of a model stays there. From 99 to 101 % of `lwnd` the law is interpolated, so
//! that this is an equilibrium and not a flutter.

/// Half the width of the transition, as a fraction of `lwnd`.
const BAND: f64 = 0.01;

/// `below` under `lwnd`, `above` over it.
#[inline]
pub fn blend(w: f64, lwnd: f64, below: impl FnOnce() -> f64, above: impl FnOnce() -> f64) -> f64 {
    let share = 0.5 + 0.5 * (w - lwnd) / (BAND * lwnd);
    if share >= 1.0 || lwnd <= 0.0 {
        above()
    } else if share <= 0.0 {
        below()
    } else {
        share * above() + (1.0 - share) * below()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_changes_continuously_at_lwnd() {
        let at = |w| blend(w, 16.0, || 1.0, || 3.0);
        assert_eq!((at(15.0), at(16.0), at(17.0)), (1.0, 2.0, 3.0));
        assert_eq!(blend(0.5, 0.0, || 1.0, || 3.0), 3.0);
    }
}
