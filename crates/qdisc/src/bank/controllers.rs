//! The controllers of a bank, in arrays, and what is read of them.

use super::gains::P_BITS;
use super::pass::{State, instant, short};
use super::{Gains, MOST_CLASSES, Table};
use crate::{Invalid, Probability};
use alloc::vec::Vec;
use sojourn_base::Stream;

/// The controllers of one class: the same place in each array is the same controller. 8 bytes of
/// state, and the level that a queue's arrivals look up.
#[derive(Clone, Debug)]
struct Class {
    gains: Gains,
    table: Table,
    /// p, Q.29.
    p: Vec<i32>,
    /// What the integral part has left over below a step of p.
    rest: Vec<u16>,
    /// The queue at the last instant.
    previous: Vec<i16>,
    /// Which entry of the table is in force.
    level: Vec<u8>,
    started: bool,
}

/// Many PI controllers, in up to eight classes.
///
/// At every instant, for each controller
///
/// ```text
/// p += a (q − q before) + (a − b)(q before − qref), clamped to 0..1
/// ```
///
/// and then the level is set to the table's entry for p. Differences from [`crate::pi`]: p has 29
/// fraction bits and the sum that slowly moves it 16 more; gains have 15 significant bits; either
/// of the two parts counts as ±1 if it is more; queues are at most 32767.
#[derive(Clone, Debug)]
pub struct Bank {
    classes: Vec<Class>,
    each: usize,
}

impl Bank {
    /// `each` controllers in every one of `classes`, all at p = 0.
    pub fn new(classes: &[(Gains, Table)], each: usize) -> Result<Self, Invalid> {
        if !(1..=MOST_CLASSES).contains(&classes.len()) {
            return Err(Invalid::new("classes", classes.len(), "must be 1 to 8"));
        }
        if !(1..=1 << 24).contains(&each) {
            return Err(Invalid::new("each", each, "must be 1 to 16777216 controllers of a class"));
        }
        let class = |(gains, table): &(Gains, Table)| Class {
            gains: *gains,
            table: table.clone(),
            p: alloc::vec![0; each],
            rest: alloc::vec![0; each],
            previous: alloc::vec![0; each],
            level: alloc::vec![0; each],
            started: false,
        };
        Ok(Self { classes: classes.iter().map(class).collect(), each })
    }

    /// Controllers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.classes.len() * self.each
    }

    /// Never: a bank has at least one controller.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes of state of one controller, without the level that is its output.
    #[must_use]
    pub const fn state_bytes() -> usize {
        size_of::<i32>() + size_of::<u16>() + size_of::<i16>()
    }

    /// One instant: `queues` holds the queue of each controller, class after class. Longer ones
    /// count as 32767.
    ///
    /// # Panics
    ///
    /// If there are not as many queues as controllers.
    pub fn update(&mut self, queues: &[u16]) {
        assert_eq!(queues.len(), self.len(), "a queue for each controller");
        for (class, queues) in self.classes.iter_mut().zip(queues.chunks_exact(self.each)) {
            class.update(queues);
        }
    }

    /// The probability that controller `at` of class `class` has worked out.
    #[must_use]
    pub fn exact(&self, class: usize, at: usize) -> f64 {
        libm::ldexp(f64::from(self.classes[class].p[at]), -P_BITS)
    }

    /// The entry in force for controller `at` of class `class`.
    #[must_use]
    pub fn level(&self, class: usize, at: usize) -> u8 {
        self.classes[class].level[at]
    }

    /// The probability in force there.
    #[inline]
    #[must_use]
    pub fn probability(&self, class: usize, at: usize) -> Probability {
        let class = &self.classes[class];
        class.table.entries()[usize::from(class.level[at])]
    }

    /// Whether a packet that arrives there is dropped.
    #[inline]
    #[must_use]
    pub fn drops(&self, class: usize, at: usize, coin: &mut Stream) -> bool {
        self.probability(class, at).toss(coin)
    }
}

impl Class {
    fn update(&mut self, queues: &[u16]) {
        let Self { gains, table, p, rest, previous, level, started } = self;
        if !*started {
            // The queue before the first instant counts as that at the first.
            previous.iter_mut().zip(queues).for_each(|(old, &q)| *old = short(q));
            *started = true;
        }
        instant(gains, table, State { p, rest, previous, level }, queues);
    }
}
