//! Time on the wall, for those who have a clock.

/// A clock that the caller of an engine gives it: seconds since any instant. Engines read no other,
/// so that they also run where there is none.
#[derive(Clone, Copy, Debug)]
pub struct Clock(pub fn() -> f64);

impl Default for Clock {
    /// A clock that stands still: what it measures takes no time.
    fn default() -> Self {
        Self(|| 0.0)
    }
}

impl Clock {
    /// Seconds since its instant.
    #[must_use]
    pub fn now(self) -> f64 {
        (self.0)()
    }
}
