//! Breaking points: where something bends, everything that sees it through a lag bends later. A
//! step that ends there keeps its order (Bellen and Zennaro, *Numerical Methods for Delay
//! Differential Equations*, Oxford 2003, chapter 2).
//!
//! Each passage through a lag makes the bend smoother by one derivative, so only a few are
//! followed. With one lag or two every step ends at its bends. With more the points would crowd:
//! then it ends at jumps only, and at a bend if a step across it was too inexact, since a bend that
//! did no harm costs nothing. Of very many lags none are followed, and the control of the error
//! finds what matters by itself.

/// With so many lags every step ends at its bends.
pub(super) const FEW: usize = 2;
/// With so many it ends at jumps.
const SOME: usize = 8;

/// The bends that are still to be seen through some lag.
#[derive(Clone, Debug)]
pub(super) struct Breaks {
    /// Time and generation, in order of time.
    points: Vec<(f64, u32)>,
    /// For each lag the next point that it has not passed.
    next: Vec<usize>,
    /// How many points are before some lag, each counted for every lag.
    ahead: usize,
    generations: u32,
}

impl Breaks {
    /// All bends of `lags` lags.
    pub(super) fn new(lags: usize) -> Self {
        let generations = match lags {
            0..=1 => 4,
            FEW => 2,
            3..=SOME => 1,
            _ => 0,
        };
        Self { points: Vec::new(), next: vec![0; lags], ahead: 0, generations }
    }

    /// Bends that are not followed any further.
    pub(super) fn once(lags: usize) -> Self {
        let generations = u32::from(lags <= SOME);
        Self { points: Vec::new(), next: vec![0; lags], ahead: 0, generations }
    }

    /// Something bends at `time`, which is not before what was added last.
    pub(super) fn add(&mut self, time: f64) {
        self.add_generation(time, 0);
    }

    fn add_generation(&mut self, time: f64, generation: u32) {
        let known = self.points.last_mut().filter(|(last, _)| *last >= time);
        if let Some((_, youngest)) = known {
            *youngest = generation.min(*youngest);
        } else if generation < self.generations {
            self.points.push((time, generation));
            self.ahead += self.next.len();
        }
    }

    /// Whether some lag has a point before it.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.ahead > 0
    }

    /// The next point that `lag` will pass.
    pub(super) fn next(&self, lag: usize) -> Option<f64> {
        self.points.get(self.next[lag]).map(|(time, _)| *time)
    }

    /// `lag` passes its next point at time `now`.
    pub(super) fn passed(&mut self, lag: usize, now: f64) {
        let (_, generation) = self.points[self.next[lag]];
        self.next[lag] += 1;
        self.ahead -= 1;
        self.add_generation(now, generation + 1);
        let gone = self.next.iter().copied().min().unwrap_or(0);
        if gone > 256 {
            self.points.drain(..gone);
            self.next.iter_mut().for_each(|next| *next -= gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bend_comes_back_a_lag_later_until_it_is_smooth() {
        let mut breaks = Breaks::new(1);
        breaks.add(0.0);
        let mut seen = Vec::new();
        for tenth in 0..100 {
            let now = f64::from(tenth) * 0.1;
            if breaks.next(0).is_some_and(|point| now - 0.95 > point) {
                breaks.passed(0, now);
                seen.push(tenth);
            }
        }
        assert_eq!(seen, [10, 20, 30, 40]);
        assert!(!breaks.any());
    }

    #[test]
    fn with_many_lags_bends_are_not_followed() {
        let mut breaks = Breaks::new(20);
        breaks.add(0.0);
        assert_eq!(breaks.next(3), None);
    }
}
