//! PI whose probability comes from a small table, as hardware that cannot compute one has it: the
//! controller of Hollot, Misra, Towsley and Gong, INFOCOM 2001 (see `pi`), and of what it works out
//! the nearest of at most 16 entries takes effect.
//!
//! The controller itself is exact, so an operating point between two entries is held by changing
//! from one to the other; how often, and how much the queue swings by it, depends on where the
//! entries lie.
//!
//! # Differences from the source
//!
//! 1. All of those of `pi`.
//! 2. The source has no table. Thresholds between entries are multiples of 2⁻¹⁵.
//! 3. The geometric table has its thresholds at the geometric mean of two entries, those even in p,
//!    in √p and in −ln(1 − p) half way on that scale. The optimal one makes the squared error of
//!    ln √p least, by which a TCP's window is off, for the given values of p (Lloyd and Max).
//!
//! # Differences from Linux
//!
//! Linux has no such discipline.

use crate::bank::{Grid, Table};
use crate::managed::{Common, Law, LawParams, Managed, Signal};
use crate::pi::{self, Pi};
use crate::{Env, Invalid, Probability, Standing};
use alloc::vec::Vec;
use sojourn_base::{Stream, Time};

/// PI with a table. The controller's defaults are those of `pi`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The controller.
    #[cfg_attr(feature = "schema", serde(rename = "$pi"))]
    pub pi: pi::Params,
    /// How the entries lie: "linear", "sqrt", "log", "geometric" (default, ours) or "optimal".
    pub table: Grid,
    /// How many entries, 0 among them: 2 to 16 (default 16, what such hardware has).
    pub entries: u32,
    /// The least entry above 0 of a geometric table, and the least p of an optimal one: 0.0001 to
    /// below `top` (default 0.001, ours).
    pub least: f64,
    /// The largest entry: up to 1; for "log" up to 0.9999 (default 0.5, ours).
    pub top: f64,
    /// For "optimal": the probabilities that occur, for example those of a run of `pi`; at least as
    /// many different ones as entries (default: none).
    pub optimal_for: Vec<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            pi: pi::Params::default(),
            table: Grid::Geometric,
            entries: 16,
            least: 0.001,
            top: 0.5,
            optimal_for: Vec::new(),
        }
    }
}

impl LawParams for Params {
    type Law = PiTable;

    fn common(&self) -> Common {
        self.pi.common()
    }
}

/// The control law.
#[derive(Clone, Debug)]
pub struct PiTable {
    pi: Pi,
    table: Table,
    quantised: Probability,
}

/// A queue under PI with a table.
pub type Discipline<P> = Managed<P, PiTable>;

impl PiTable {
    /// The exact controller.
    #[must_use]
    pub fn pi(&self) -> &Pi {
        &self.pi
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }
}

impl Law for PiTable {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let n = params.entries as usize;
        Ok(Self {
            pi: Pi::new(&params.pi, env)?,
            table: params.table.table(n, params.least, params.top, &params.optimal_for)?,
            quantised: Probability::ZERO,
        })
    }

    #[inline]
    fn advance(&mut self, now: Time, queue: Standing) {
        if self.pi.state().clock.due(now) {
            self.pi.advance(now, queue);
            self.quantised = self.table.quantised(self.pi.state().probability);
        }
    }

    #[inline]
    fn arrival(&mut self, _: Time, bytes: u32, _: Standing, coin: &mut Stream) -> Signal {
        self.pi.tossed(self.quantised, bytes, coin)
    }

    /// The entry in force.
    fn probability(&self) -> f64 {
        self.quantised.as_f64()
    }
}
