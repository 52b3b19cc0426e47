//! Self-configuring RED: Feng, Kandlur, Saha and Shin, "A self-configuring RED gateway", INFOCOM
//! 1999. Often called Feng's adaptive RED, to tell it from the later ARED of Floyd et al.
//!
//! RED that adapts `max_p` by where its average goes. Whenever the average falls below `min_th`,
//! RED has been too aggressive and `max_p` is divided by `alpha`; whenever it rises above `max_th`,
//! too timid, and `max_p` is multiplied by `beta`. Once per crossing: the average must come back or
//! cross to the other side before `max_p` moves again.
//!
//! # Differences from the source
//!
//! 1. All of RED's (see `red`).
//! 2. `max_p` stays within `bottom` and `top`; the paper has no bounds, and `max_p` would go to 0
//!    on a link that is hardly used.
//! 3. At the start the average counts as between the thresholds, so that the first arrival, which
//!    finds it below `min_th`, already divides `max_p`.
//! 4. Above `max_th` the paper drops everything: `gentle = false`.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline. `sch_red adaptive` is `ared`.

use crate::fixed::bounded;
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::red::{self, Hits, Red};
use crate::{Env, Invalid, Probability, Standing};
use sojourn_base::{Stream, Time};

/// Self-configuring RED. The factors are the paper's, the rest is RED's.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Average queue in packets (of mean size if `queue_in_bytes`) at which marking starts:
    /// 0 to below `max_th` (default 5, RED's).
    pub min_th: f64,
    /// Average queue in packets at which p reaches `max_p`: up to 33554432 (default 15, RED's).
    pub max_th: f64,
    /// Probability at `max_th` at the start: `bottom` to `top` (default 0.1, RED's).
    pub max_p: f64,
    /// What `max_p` is divided by when the average falls below `min_th`: 1 to 1000 (default 3, the
    /// paper's).
    pub alpha: f64,
    /// What `max_p` is multiplied by when the average rises above `max_th`: 1 to 1000 (default 2,
    /// the paper's).
    pub beta: f64,
    /// Least `max_p`: 1e-9 to `top` (default 0.0001; none in the paper).
    pub bottom: f64,
    /// Largest `max_p`: up to 1 (default 1; none in the paper).
    pub top: f64,
    /// Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    /// link's rate in mean packets per second.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub wq: Option<f64>,
    /// From `max_th` let p rise to 1 at twice `max_th`, instead of jumping to 1 (default false, the
    /// paper's).
    pub gentle: bool,
    /// Which packets are hit.
    #[cfg_attr(feature = "schema", serde(rename = "$hits"))]
    pub hits: Hits,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            min_th: 5.0,
            max_th: 15.0,
            max_p: 0.1,
            alpha: 3.0,
            beta: 2.0,
            bottom: 1e-4,
            top: 1.0,
            wq: None,
            gentle: false,
            hits: Hits::default(),
            limit: LIMIT,
        }
    }
}

impl LawParams for Params {
    type Law = FengRed;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.hits.ecn }
    }
}

/// Where the average was last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Below `min_th`.
    Below,
    /// Between the thresholds.
    Between,
    /// Above `max_th`.
    Above,
}

/// The control law: RED, and what moves its `max_p`.
#[derive(Clone, Debug)]
pub struct FengRed {
    red: Red,
    place: Place,
    bottom: Probability,
    top: Probability,
    /// 1/alpha in Q.60, and beta in Q.32.
    less: Probability,
    more: u64,
    moves: u64,
}

/// A queue under self-configuring RED.
pub type Discipline<P> = Managed<P, FengRed>;

impl FengRed {
    /// The RED below.
    #[must_use]
    pub fn red(&self) -> &Red {
        &self.red
    }

    /// How often `max_p` was moved, at a bound too.
    #[must_use]
    pub fn moves(&self) -> u64 {
        self.moves
    }

    #[cold]
    fn cross(&mut self, place: Place) {
        self.place = place;
        let p = u128::from(self.red.state().max_p.raw());
        let moved = match place {
            Place::Below => (p * u128::from(self.less.raw())) >> Probability::BITS,
            Place::Between => return,
            Place::Above => (p * u128::from(self.more)) >> 32,
        };
        self.moves += 1;
        self.red.set_max_p(Probability::clamped(moved as i128).clamp(self.bottom, self.top));
    }
}

impl Law for FengRed {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let range = |field, x: f64, low: f64, high: f64| {
            bounded(field, x, low, high, Probability::BITS)
                .map(|raw| Probability::clamped(i128::from(raw)))
        };
        let top = range("top", params.top, 1e-9, 1.0)?;
        let bottom = range("bottom", params.bottom, 1e-9, params.top)?;
        range("max_p", params.max_p, params.bottom, params.top)?;
        bounded("alpha", params.alpha, 1.0, 1000.0, 0)?;
        let red = Red::new(
            &red::Params {
                min_th: params.min_th,
                max_th: params.max_th,
                max_p: params.max_p,
                wq: params.wq,
                gentle: params.gentle,
                hits: params.hits,
                limit: params.limit,
                ..Default::default()
            },
            env,
        )?;
        Ok(Self {
            red,
            place: Place::Between,
            bottom,
            top,
            less: Probability::from_f64(1.0 / params.alpha),
            more: bounded("beta", params.beta, 1.0, 1000.0, 32)? as u64,
            moves: 0,
        })
    }

    #[inline]
    fn arrival(&mut self, now: Time, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal {
        let average = self.red.observe(now, queue);
        let place = if average < self.red.constants.min_th {
            Place::Below
        } else if average > self.red.constants.max_th {
            Place::Above
        } else {
            Place::Between
        };
        if place != self.place {
            self.cross(place);
        }
        self.red.decide(bytes, queue, coin)
    }

    #[inline]
    fn overflowed(&mut self) {
        self.red.overflowed();
    }

    #[inline]
    fn departure(&mut self, now: Time, bytes: u32, queue: Standing) {
        self.red.departure(now, bytes, queue);
    }

    fn probability(&self) -> f64 {
        self.red.probability()
    }
}
