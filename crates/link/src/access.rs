//! What a link waits for that does not send when it likes: grants, or a medium that others share.

use crate::docsis::Docsis;
use sojourn_base::Time;

/// When a link may send.
#[derive(Clone)]
pub(crate) enum Access<S> {
    /// When it has been granted.
    Modem(Docsis<S>),
    /// When it has won the medium.
    Air(Air),
}

/// A link's side of a shared medium.
#[derive(Clone)]
pub(crate) struct Air {
    /// Its number.
    pub medium: u32,
    /// Whether there is no room for another aggregate, so that packets that come need not be told
    /// of.
    pub full: bool,
    /// When the medium was told last.
    pub told: Time,
}

impl Air {
    pub(crate) fn new(medium: u32) -> Self {
        Self { medium, full: false, told: Time::MAX }
    }
}
