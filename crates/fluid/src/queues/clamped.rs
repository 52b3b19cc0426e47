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
