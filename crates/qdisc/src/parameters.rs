//! What the parameters of every discipline can say, and how a queue takes others.

use crate::{Config, Env};
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::Invalid;

/// A class at the end of a branch, seen from outside: what the summary calls it, and what chooses
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassInfo {
    /// Its name; that of a class inside another begins with the outer one's and a slash.
    pub name: String,
    /// The labels it names, each with where it stands: `classes[0].classes[1].labels[0]`.
    pub labels: Vec<(String, String)>,
}

/// What every parameter struct can say.
pub trait Parameters: Clone + Default {
    /// Whether the discipline can be built on such a link.
    fn validate(&self, env: &Env) -> Result<(), Invalid>;

    /// Its classes, those inside classes included; none if it has none.
    fn classes(&self) -> Vec<ClassInfo> {
        Vec::new()
    }

    /// The disciplines inside this one; none if it has none.
    fn inner(&self) -> Vec<&Config> {
        Vec::new()
    }

    /// Whether packets may stand and none be ready.
    fn holds_back(&self) -> bool {
        self.inner().into_iter().any(Config::holds_back)
    }

    /// Whether it asks packets for their source and destination.
    fn looks_at_machines(&self) -> bool {
        self.inner().into_iter().any(Config::looks_at_machines)
    }

    /// How many disciplines lie in each other here, this one included.
    fn depth(&self) -> u32 {
        1 + self.inner().into_iter().map(Config::depth).max().unwrap_or(0)
    }
}

/// A queue whose parameters may change while packets stand in it.
pub trait Change<Params> {
    /// Goes on with other parameters and the state it is in; `false` if it cannot, and nothing
    /// has changed. What was due before has been [advanced](crate::Discipline::advance) to.
    ///
    /// # Errors
    /// If the parameters are not allowed on such a link.
    fn change(&mut self, params: &Params, env: &Env) -> Result<bool, Invalid> {
        let _ = (params, env);
        Ok(false)
    }
}
