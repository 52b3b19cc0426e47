//! A state that is a probability: it moves between 0 and 1, and is held at either.

use super::{Mode, step};
use crate::scalar::Scalar;

/// It is held at 0.
pub(super) const LOW: usize = 0;
/// It moves.
pub(super) const FREE: usize = 1;
/// It is held at 1.
pub(super) const HIGH: usize = 2;

/// The mode that fits a state.
pub(super) fn mode_at(own: f64) -> Mode {
    let piece = match own {
        p if p <= 0.0 => LOW,
        p if p >= 1.0 => HIGH,
        _ => FREE,
    };
    Mode { piece, ..Mode::default() }
}

/// The state as its mode has it.
pub(super) fn within<S: Scalar>(mode: &Mode, own: S) -> S {
    match mode.piece {
        LOW => S::of(0.0),
        HIGH => S::of(1.0),
        _ => own,
    }
}

/// How fast it moves: as it is driven, unless it is held.
pub(super) fn slope<S: Scalar>(mode: &Mode, drive: impl FnOnce() -> S) -> S {
    if mode.piece == FREE { drive() } else { S::of(0.0) }
}

/// What keeps it in its piece while it is positive; `drive` is of the order of 1 where that counts.
pub(super) fn guards(mode: &Mode, own: f64, drive: impl FnOnce() -> f64) -> [f64; 2] {
    match mode.piece {
        LOW => [1.0, -drive()],
        HIGH => [drive(), 1.0],
        _ => [own, 1.0 - own],
    }
}

/// Goes on to the next piece, and puts right what rounding did at an end.
pub(super) fn crossed(mode: &mut Mode, guard: usize, own: &mut f64) {
    step(mode, guard);
    match mode.piece {
        LOW => *own = 0.0,
        HIGH => *own = 1.0,
        _ => *own = own.clamp(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_held_at_its_ends_and_moves_between_them() {
        for (own, piece, shown) in [
            (-0.1, LOW, 0.0),
            (0.0, LOW, 0.0),
            (0.3, FREE, 0.3),
            (1.0, HIGH, 1.0),
            (1.1, HIGH, 1.0),
        ] {
            let mode = mode_at(own);
            assert_eq!((mode.piece, within(&mode, own)), (piece, shown), "{own}");
            assert_eq!(slope(&mode, || 5.0), if piece == FREE { 5.0 } else { 0.0 });
        }
    }

    #[test]
    fn it_leaves_an_end_when_it_is_driven_away_and_meets_one_where_it_is() {
        let guards = |piece, own, drive| guards(&Mode { piece, ..Mode::default() }, own, || drive);
        // Driven down from above, up from below.
        assert_eq!(guards(LOW, 0.0, -2.0), [1.0, 2.0]);
        assert_eq!(guards(LOW, 0.0, 2.0), [1.0, -2.0]);
        assert_eq!(guards(HIGH, 1.0, 2.0), [2.0, 1.0]);
        assert_eq!(guards(HIGH, 1.0, -2.0), [-2.0, 1.0]);
        assert_eq!(guards(FREE, 0.25, -2.0), [0.25, 0.75]);
    }

    #[test]
    fn crossing_puts_it_where_its_piece_has_it() {
        for (from, guard, own, to, wanted) in [
            (FREE, 0, -1e-9, LOW, 0.0),
            (FREE, 1, 1.0 + 1e-9, HIGH, 1.0),
            (LOW, 1, -1e-9, FREE, 0.0),
            (HIGH, 0, 1.0 + 1e-9, FREE, 1.0),
            (HIGH, 0, 0.7, FREE, 0.7),
        ] {
            let (mut mode, mut own) = (Mode { piece: from, ..Mode::default() }, own);
            crossed(&mut mode, guard, &mut own);
            assert_eq!((mode.piece, own), (to, wanted), "{from} {guard}");
        }
    }
}
