//! What a sender is doing about congestion, for those who look on.

/// The state of a sender with regard to congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// The window is below the threshold.
    SlowStart,
    /// It is not.
    CongestionAvoidance,
    /// What was lost is being mended.
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged.
    Loss,
    /// Neither of the first two: a mode of the algorithm's own.
    Mode(&'static str),
}

impl CongestionState {
    /// Its name, those of the first three as in RFC 9002 section 7.3.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowStart => "slow_start",
            Self::CongestionAvoidance => "congestion_avoidance",
            Self::Recovery => "recovery",
            Self::Loss => "loss",
            Self::Mode(name) => name,
        }
    }

    /// Outside of recoveries: the `mode` of the algorithm, or what the window tells.
    #[must_use]
    pub fn of(mode: Option<&'static str>, cwnd: u32, ssthresh: u32) -> Self {
        match mode {
            Some(mode) => Self::Mode(mode),
            None if cwnd < ssthresh => Self::SlowStart,
            None => Self::CongestionAvoidance,
        }
    }
}
