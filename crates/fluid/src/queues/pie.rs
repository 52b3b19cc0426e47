//! PIE in continuous time: RFC 8033 section 4.2. Every T the probability moves by
//! α (D − target) + β (D − D_old), scaled down while it is small; so dp/dt = f(p) (α (D − target)/T
//! + β dD/dt) with the delay D = q/C.
//!
//! Left out: the burst allowance, the limit of 0.02 on a step above 10 %, the decay while idle, and
//! derandomisation, which leaves the mean as it is.

use sojourn_qdisc::ByteMode;
use sojourn_qdisc::pie::{BANDS, Params};

use super::delay_pi::DelayPi;
use super::{Env, Law, Made, Mode, View, step};
use crate::Invalid;
use crate::scalar::Scalar;

/// PIE.
#[derive(Clone, Debug, PartialEq)]
pub struct Pie(pub DelayPi);

/// The pieces: 0 held at 0, then one below each bound of the discipline's table, the one above
/// them, and the top, held at 1.
const TOP: usize = BANDS.len() + 2;

/// Where a piece that moves begins and ends.
fn bounds(piece: usize) -> [f64; 2] {
    let bound = |band: usize| 1.0 / f64::from(BANDS[band].0);
    let low = if piece < 2 { 0.0 } else { bound(piece - 2) };
    [low, if piece == TOP - 1 { 1.0 } else { bound(piece - 1) }]
}

/// By how much the gains are scaled down in a piece that moves.
fn factor(piece: usize) -> f64 {
    BANDS.get(piece - 1).map_or(1.0, |(_, halvings)| libm::ldexp(1.0, -(*halvings as i32)))
}

/// The piece that fits a probability.
fn piece(p: f64) -> usize {
    if p <= 0.0 { 0 } else { 1 + (1..TOP).filter(|piece| p >= bounds(*piece)[1]).count() }
}

impl Law for Pie {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        let c = &p.control;
        let law = Self(DelayPi::of(c.target, c.alpha, c.beta, c.tupdate));
        let bytes = ByteMode {
            queue_in_bytes: false,
            scale_by_size: c.scale_by_size,
            mean_packet: c.mean_packet,
        };
        Ok(Made::new(law, p.limit, c.ecn).counting(env, bytes))
    }

    fn scale(&self) -> f64 {
        1e-4
    }

    fn hold(&self) -> f64 {
        self.0.period
    }

    fn setpoint(&self, capacity: f64) -> Option<f64> {
        Some(self.0.setpoint(capacity))
    }

    fn state_at(&self, _: f64, probability: f64, _: f64) -> f64 {
        probability
    }

    fn mode_at(&self, own: f64, _: &View<f64>) -> Mode {
        Mode { piece: piece(own), ..Mode::default() }
    }

    fn probability<S: Scalar>(&self, mode: &Mode, own: S, _: &View<S>) -> S {
        match mode.piece {
            0 => S::of(0.0),
            TOP => S::of(1.0),
            _ => own,
        }
    }

    fn slope<S: Scalar>(&self, mode: &Mode, _: S, view: &View<S>) -> S {
        match mode.piece {
            0 | TOP => S::of(0.0),
            piece => self.0.drive(view) * factor(piece),
        }
    }

    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2] {
        match mode.piece {
            0 => [1.0, -self.0.drive(view)],
            TOP => [self.0.drive(view), 1.0],
            // Relative to the bound, as the smallest is no larger than rounding elsewhere; a little
            // room keeps the piece from changing back at once.
            piece => {
                let [low, high] = bounds(piece);
                [(own - low) / low.max(1e-6), (high - own) / high]
            }
        }
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, _: &View<f64>) {
        step(mode, guard);
        *own = match mode.piece {
            0 => 0.0,
            TOP => 1.0,
            _ => own.max(0.0),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_follows_the_table_of_the_rfc() {
        let pie = Pie(DelayPi { target: 0.015, alpha: 0.125, beta: 1.25, period: 0.015 });
        let view = View { queue: 100.0, capacity: 1000.0, ..View::default() };
        for (p, scale) in [(5e-7, 2048.0), (5e-5, 128.0), (0.05, 2.0), (0.5, 1.0)] {
            let mode = Mode { piece: piece(p), ..Mode::default() };
            let want = 0.125 * 0.085 / 0.015 / scale;
            assert!((pie.slope(&mode, p, &view) / want - 1.0).abs() < 1e-12, "{p}");
            assert!(pie.guards(&mode, p, &view).iter().all(|guard| *guard > 0.0));
        }
    }

    #[test]
    fn bands_are_those_of_the_rfc() {
        // RFC 8033 section 5.3: 2048, 512, 128, 32, 8 and 2 below these probabilities, and no
        // scaling above.
        let table =
            [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)];
        let mut low = 0.0;
        for (number, (bound, scale)) in table.into_iter().enumerate() {
            let piece = 1 + number;
            assert_eq!(super::piece(0.99 * bound), piece);
            assert_eq!(super::piece(bound), piece + 1, "at its end the next one begins");
            assert_eq!(bounds(piece), [low, bound]);
            assert_eq!(factor(piece), 1.0 / scale);
            low = bound;
        }
        assert_eq!((bounds(TOP - 1), factor(TOP - 1)), ([0.1, 1.0], 1.0));
        assert_eq!((super::piece(0.0), super::piece(-0.1)), (0, 0));
        assert_eq!((super::piece(0.99), super::piece(1.0), super::piece(1.1)), (TOP - 1, TOP, TOP));
    }

    #[test]
    fn it_is_held_at_its_ends_and_its_guards_are_relative_to_its_bounds() {
        let pie = Pie(DelayPi { target: 0.015, alpha: 0.125, beta: 1.25, period: 0.015 });
        let view = |queue| View { queue, capacity: 1000.0, ..View::default() };
        let mode = |piece| Mode { piece, ..Mode::default() };
        // 15 ms above the target, and below.
        let drive = 0.125;
        for (piece, own, shown) in [(0, 0.3, 0.0), (TOP, 0.3, 1.0)] {
            assert_eq!(pie.probability(&mode(piece), own, &view(30.0)), shown);
            assert_eq!(pie.slope(&mode(piece), own, &view(30.0)), 0.0);
        }
        assert_eq!(pie.probability(&mode(3), 0.3, &view(30.0)), 0.3);
        let near = |got: [f64; 2], want: [f64; 2]| {
            for (got, want) in got.iter().zip(want) {
                assert!((got - want).abs() < 1e-9, "{got} {want}");
            }
        };
        near(pie.guards(&mode(0), 0.0, &view(30.0)), [1.0, -drive]);
        near(pie.guards(&mode(0), 0.0, &view(0.0)), [1.0, drive]);
        near(pie.guards(&mode(TOP), 1.0, &view(30.0)), [drive, 1.0]);
        near(pie.guards(&mode(TOP), 1.0, &view(0.0)), [-drive, 1.0]);
        // Half way into a band, and a quarter of the smallest.
        near(pie.guards(&mode(5), 2e-3, &view(30.0)), [1.0, 0.8]);
        near(pie.guards(&mode(1), 2.5e-7, &view(30.0)), [0.25, 0.75]);
        for (from, guard, own, to, wanted) in [
            (1, 0, -1e-9, 0, 0.0),
            (0, 1, -1e-9, 1, 0.0),
            (TOP - 1, 1, 1.1, TOP, 1.0),
            (TOP, 0, 1.0, TOP - 1, 1.0),
            (4, 1, 1e-3, 5, 1e-3),
        ] {
            let (mut mode, mut own) = (mode(from), own);
            pie.crossed(&mut mode, guard, &mut own, &view(30.0));
            assert_eq!((mode.piece, own), (to, wanted), "{from} {guard}");
        }
    }
}
