//! What a window law is, and what it is told of acknowledgements.

use crate::scalar::Scalar;

/// A congestion control as a law of the mean window.
///
/// Reno and AIMD grow by a fixed amount for each round trip, so that their growth is a/R with the
/// round trip of now (Misra, Gong and Towsley, SIGCOMM 2000, equation 3). Scalable and HighSpeed
/// are defined by acknowledgement: their growth is clocked by what was sent a round trip ago.
pub(super) trait Law: Copy {
    /// Packets per second that a window `w` grows by without loss, the round trip now being
    /// `round_trip` and packets having been sent at `rate` a round trip ago.
    fn growth<S: Scalar>(&self, w: S, round_trip: S, rate: S) -> S;

    /// Packets that a loss takes from a window `w`.
    fn cut<S: Scalar>(&self, w: S) -> S;

    /// Whether growth looks at the rate of a round trip ago.
    fn clocked(&self) -> bool {
        false
    }

    /// The window at which growth and cuts are equal under loss `p`, where that has a closed form.
    fn window(&self, _p: f64) -> Option<f64> {
        None
    }
}

/// How acknowledgements of a connection come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acks {
    /// One for two segments.
    pub delayed: bool,
    /// Such a one counts once, as there is no byte counting.
    pub halved: bool,
    /// They report marks, not losses.
    pub marked: bool,
}
