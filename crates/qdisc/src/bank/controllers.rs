//! The controllers of a bank, in arrays, and the pass that updates them.

use super::gains::{P_BITS, REST_BITS};
use super::table::THRESHOLD_BITS;
use super::{Gains, MOST_CLASSES, Table};
use crate::{Invalid, Probability};
use alloc::vec::Vec;
use sojourn_base::Stream;

/// Largest p, one step below 1: its upper half is the largest threshold there is.
const P_MOST: i32 = (1 << P_BITS) - 1;

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

/// A queue's length as 15 bits.
#[inline]
fn short(queue: u16) -> i16 {
    queue.min(i16::MAX as u16) as i16
}

impl Class {
    fn update(&mut self, queues: &[u16]) {
        if !self.started {
            // The queue before the first instant counts as that at the first.
            self.previous.iter_mut().zip(queues).for_each(|(old, &q)| *old = short(q));
            self.started = true;
        }
        let (a, d) = (&self.gains.a, &self.gains.difference);
        // Which way the products are shifted is the same for all: it stays out of the loop.
        match (a.right > 0, d.right > 0) {
            (true, true) => self.pass::<true, true>(queues),
            (true, false) => self.pass::<true, false>(queues),
            (false, true) => self.pass::<false, true>(queues),
            (false, false) => self.pass::<false, false>(queues),
        }
        self.set_levels();
    }

    /// `FINE`: products of a have places to be shifted off. They are shifted before they are
    /// subtracted from each other, so that nothing is lost over time. `SLOW`: products of a − b
    /// have such places, which go into the rest.
    #[inline(never)]
    fn pass<const FINE: bool, const SLOW: bool>(&mut self, queues: &[u16]) {
        let Gains { a, difference: d, qref } = self.gains;
        let (ma, md) = (i32::from(a.mantissa), i32::from(d.mantissa));
        let n = queues.len();
        let (ps, rests, olds) = (&mut self.p[..n], &mut self.rest[..n], &mut self.previous[..n]);
        for i in 0..n {
            let (queue, old) = (short(queues[i]), olds[i]);
            let proportional = if FINE {
                ((ma * i32::from(queue)) >> a.right) - ((ma * i32::from(old)) >> a.right)
            } else {
                (ma * i32::from((queue - old).clamp(-a.most, a.most))) << a.left
            };
            let excess = md * i32::from((old - qref).clamp(-d.most, d.most));
            let integral = if SLOW {
                let sum = excess + i32::from(rests[i]);
                rests[i] = (sum & ((1 << d.right) - 1)) as u16;
                sum >> d.right
            } else {
                excess << d.left
            };
            ps[i] = (ps[i] + proportional + integral).clamp(0, P_MOST);
            olds[i] = queue;
        }
    }

    /// Comparisons with all 15 thresholds, 16 controllers at a time in numbers of 16 bits; those
    /// out of reach are taken off at the end.
    #[inline(never)]
    fn set_levels(&mut self) {
        let thresholds = *self.table.thresholds();
        let last = (self.table.entries().len() - 1) as i16;
        let (ps, some) = self.p.as_chunks::<LANES>();
        let (levels, others) = self.level.as_chunks_mut::<LANES>();
        for (levels, ps) in levels.iter_mut().zip(ps) {
            let upper = ps.map(upper);
            let mut reached = [0i16; LANES];
            for t in thresholds {
                for (n, &p) in reached.iter_mut().zip(&upper) {
                    *n += i16::from(p >= t);
                }
            }
            *levels = reached.map(|n| n.min(last) as u8);
        }
        for (level, &p) in others.iter_mut().zip(some) {
            *level = self.table.level(upper(p));
        }
    }
}

/// Controllers whose levels are set at a time.
const LANES: usize = 16;

/// p, Q.29, as it is compared with thresholds.
#[inline]
fn upper(p: i32) -> i16 {
    (p >> (P_BITS - THRESHOLD_BITS as i32)) as i16
}

const _: () = assert!(REST_BITS <= 16 && P_BITS + 2 <= 31);
