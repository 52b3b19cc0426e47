//! Why a run could not be made.

use thiserror::Error as ThisError;

/// Why a run could not be made.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// The scenario asks for something that this engine cannot do; says what and what it can.
    #[error("{0}")]
    Scenario(String),
}

impl Error {
    pub(crate) fn scenario(message: impl Into<String>) -> Self {
        Self::Scenario(message.into())
    }
}
