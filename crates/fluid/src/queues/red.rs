//! RED in continuous time: Misra, Gong and Towsley, SIGCOMM 2000, section 3: the average x follows
//! the queue with dx/dt = (ln(1 − α)/δ)(x − q), one sample being taken every δ = 1/C, and the
//! probability is a profile of x.
//!
//! **Spacing.** RED spreads its drops: with p_b in force the gap between two is uniform on 1..1/p_b
//! packets (Floyd and Jacobson 1993, section 7), (1/p_b + 1)/2 in the mean. The share of packets
//! that it drops is therefore 2 p_b/(1 + p_b), almost twice p_b; with ns-2's `wait` it is
//! 2 p_b/(3 − p_b), with ALTQ's rule p_b itself. `spacing` says which of them is the loss, as in a
//! packet simulation; without one it is p_b, as in the paper's model.
//!
//! The guard `min_queue` has no counterpart: a fluid has no packets to count, and a queue of two is
//! as good as none.

use sojourn_qdisc::Spacing;
use sojourn_qdisc::red::Params;

use super::{Env, Law, Made, Mode, View, step};
use crate::Invalid;
use crate::scalar::Scalar;

/// RED.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    /// Average queue in packets at which marking starts: 0 to below `max_th`.
    pub min_th: f64,
    /// Average queue in packets at which p reaches `max_p`.
    pub max_th: f64,
    /// Probability at `max_th`: above 0, at most 1.
    pub max_p: f64,
    /// Weight of a sample in the average: above 0, at most 1.
    pub wq: f64,
    /// Whether p rises from `max_p` to 1 at twice `max_th` instead of jumping to 1.
    pub gentle: bool,
    /// How drops are spaced; none: p is the loss itself.
    pub spacing: Option<Spacing>,
    /// The average follows the queue at most this fast, per second: what is faster than a small
    /// part of a round trip makes no difference but for the work. Infinite: as `wq` says.
    pub fastest: f64,
}

impl Red {
    /// Where the pieces of the profile begin.
    fn bends(&self) -> [f64; 3] {
        let top = if self.gentle { 2.0 * self.max_th } else { self.max_th };
        [self.min_th, self.max_th, top]
    }

    /// The piece for an average: 0 below `min_th`, 1 up to `max_th`, 2 the gentle slope, 3 the top.
    fn piece(&self, average: f64) -> usize {
        self.bends().iter().filter(|bend| average >= **bend).count()
    }

    /// The share of packets that is hit at a probability.
    #[inline]
    fn share<S: Scalar>(&self, p: S) -> S {
        match self.spacing {
            Some(Spacing::Uniform) => p * 2.0 / (p + 1.0),
            Some(Spacing::Wait) => p * 2.0 / (-p + 3.0),
            Some(Spacing::Altq) | None => p,
        }
    }

    /// The probability at which a share of packets is hit.
    pub(crate) fn probability_of(&self, share: f64) -> f64 {
        match self.spacing {
            Some(Spacing::Uniform) => share / (2.0 - share),
            Some(Spacing::Wait) => 3.0 * share / (2.0 + share),
            Some(Spacing::Altq) | None => share,
        }
    }

    /// The loss at an average queue, in its piece, with `max_p` at `max_th`.
    #[inline]
    pub(crate) fn profile<S: Scalar>(&self, piece: usize, average: S, max_p: f64) -> S {
        let p = match piece {
            0 => S::of(0.0),
            1 => (average - self.min_th) * max_p / (self.max_th - self.min_th),
            2 => (average - self.max_th) * (1.0 - max_p) / self.max_th + max_p,
            _ => S::of(1.0),
        };
        self.share(p)
    }

    /// The loss at an average queue.
    pub fn loss(&self, average: f64) -> f64 {
        self.profile(self.piece(average), average, self.max_p)
    }

    /// How fast an average follows a queue.
    #[inline]
    pub(crate) fn follow<S: Scalar>(&self, queue: S, average: S) -> S {
        (queue - average) * self.fastest
    }

    /// How far an average is from both ends of its piece of the profile.
    #[inline]
    pub(crate) fn guards_at(&self, piece: usize, average: f64) -> [f64; 2] {
        let [low, high, top] = self.bends();
        match piece {
            0 => [1.0, low - average],
            1 => [average - low, high - average],
            2 => [average - high, top - average],
            _ => [average - top, 1.0],
        }
    }
}

impl Law for Red {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        let law = Self {
            min_th: p.min_th,
            max_th: p.max_th,
            max_p: p.max_p,
            wq: p.weight(env.packets_per_second(p.hits.byte_mode.mean_packet)),
            gentle: p.gentle,
            spacing: env.spaced.then_some(p.hits.spacing),
            fastest: env.fastest,
        };
        let made = Made::new(law, p.limit, p.hits.ecn);
        Ok(made.counting(env, p.hits.byte_mode))
    }

    /// Works out how fast the average follows.
    fn prepare(&mut self, capacity: f64) {
        self.fastest = self.fastest.min(-libm::log1p(-self.wq) * capacity);
    }

    fn looks_at_rate(&self) -> bool {
        false
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn rises(&self) -> Option<[f64; 2]> {
        let top = if self.gentle { 2.0 * self.max_th } else { self.max_th * (1.0 - 1e-12) };
        Some([self.min_th, top])
    }

    fn state_at(&self, queue: f64, _: f64, _: f64) -> f64 {
        queue
    }

    fn mode_at(&self, own: f64, _: &View<f64>) -> Mode {
        Mode { piece: self.piece(own), ..Mode::default() }
    }

    #[inline]
    fn probability<S: Scalar>(&self, mode: &Mode, own: S, _: &View<S>) -> S {
        self.profile(mode.piece, own, self.max_p)
    }

    #[inline]
    fn slope<S: Scalar>(&self, _: &Mode, own: S, view: &View<S>) -> S {
        self.follow(view.queue, own)
    }

    fn guards(&self, mode: &Mode, own: f64, _: &View<f64>) -> [f64; 2] {
        self.guards_at(mode.piece, own)
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, _: &mut f64, _: &View<f64>) {
        step(mode, guard);
        // Without gentle the third piece has no width.
        if mode.piece == 2 && !self.gentle {
            step(mode, guard);
        }
    }
}

#[cfg(test)]
impl Red {
    /// That of tests: gentle, as the paper's model, averaging as fast as packets come.
    pub(crate) const GENTLE: Self = Self {
        min_th: 50.0,
        max_th: 150.0,
        max_p: 0.1,
        wq: 0.002,
        gentle: true,
        spacing: None,
        fastest: f64::INFINITY,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn red(gentle: bool, spacing: Option<Spacing>) -> Red {
        Red { gentle, spacing, fastest: 1e9, ..Red::GENTLE }
    }

    #[test]
    fn the_profile_rises_jumps_or_goes_on_gently() {
        let jump = red(false, None);
        assert_eq!((jump.loss(49.0), jump.loss(100.0), jump.loss(150.0)), (0.0, 0.05, 1.0));
        let gentle = red(true, None);
        assert!((gentle.loss(225.0) - 0.55).abs() < 1e-12);
        assert_eq!(gentle.loss(300.0), 1.0);
    }

    #[test]
    fn the_loss_is_one_in_a_mean_gap() {
        // The mean gaps: (1 + 1/p)/2, 1.5/p − 0.5, 1/p.
        for (spacing, gap) in
            [(Spacing::Uniform, 500.5), (Spacing::Wait, 1499.5), (Spacing::Altq, 1000.0)]
        {
            let law = red(true, Some(spacing));
            assert!((law.loss(51.0) - 1.0 / gap).abs() < 1e-15, "{spacing:?}");
            assert!((law.probability_of(law.loss(51.0)) - 0.001).abs() < 1e-15, "{spacing:?}");
            assert_eq!(law.loss(1000.0), 1.0);
        }
    }

    #[test]
    fn without_gentle_the_top_begins_at_max_th() {
        let law = red(false, None);
        let mut mode = Mode { piece: 1, ..Mode::default() };
        law.crossed(&mut mode, 1, &mut 150.0, &View::default());
        assert_eq!(mode.piece, law.piece(150.1));
        assert!(law.guards(&mode, 150.1, &View::default())[0] > 0.0);
        law.crossed(&mut mode, 0, &mut 150.0, &View::default());
        assert_eq!(mode.piece, 1);
    }

    #[test]
    fn pieces_begin_at_their_thresholds() {
        let law = red(true, None);
        for (average, piece) in
            [(49.9, 0), (50.0, 1), (149.9, 1), (150.0, 2), (299.9, 2), (300.0, 3), (400.0, 3)]
        {
            let mode = law.mode_at(average, &View::default());
            assert_eq!((law.piece(average), mode.piece), (piece, piece), "{average}");
        }
        assert_eq!(
            [0, 1, 2, 3].map(|piece| law.guards_at(piece, 160.0)),
            [[1.0, -110.0], [110.0, -10.0], [10.0, 140.0], [-140.0, 1.0],]
        );
        let jump = red(false, None);
        assert_eq!((jump.piece(149.9), jump.piece(150.0)), (1, 3));
        assert_eq!(jump.guards_at(3, 160.0), [10.0, 1.0]);
        assert_eq!(law.rises(), Some([50.0, 300.0]));
        let [low, top] = jump.rises().unwrap();
        // Just below where it jumps.
        assert!(low == 50.0 && top < 150.0 && top > 150.0 - 1e-9, "{top}");
    }

    #[test]
    fn an_average_follows_by_its_weight_and_no_faster_than_it_needs_to() {
        let rate = |fastest: f64| {
            let mut law = Red { fastest, ..red(true, None) };
            law.prepare(1000.0);
            (
                law.follow(30.0, 20.0),
                law.slope(&Mode::default(), 20.0, &View { queue: 30.0, ..View::default() }),
            )
        };
        let own = -libm::log(0.998) * 1000.0;
        for (fastest, wanted) in [(f64::INFINITY, own), (3.0, own), (1.5, 1.5)] {
            let (follow, slope) = rate(fastest);
            assert!((follow / (10.0 * wanted) - 1.0).abs() < 1e-12, "{fastest}: {follow}");
            assert_eq!(slope, follow);
        }
    }

    #[test]
    fn what_is_hit_is_the_share_of_its_probability() {
        for spacing in [None, Some(Spacing::Uniform), Some(Spacing::Wait), Some(Spacing::Altq)] {
            let law = red(true, spacing);
            for p in [1e-6, 0.1, 0.5, 1.0] {
                let share = match spacing {
                    Some(Spacing::Uniform) => 2.0 / (1.0 / p + 1.0),
                    Some(Spacing::Wait) => 2.0 / (3.0 / p - 1.0),
                    _ => p,
                };
                assert!((law.share(p) / share - 1.0).abs() < 1e-12, "{spacing:?} {p}");
                assert!((law.probability_of(share) / p - 1.0).abs() < 1e-12, "{spacing:?} {p}");
            }
        }
    }
}
