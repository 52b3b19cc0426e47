//! A queue as the equations go through it: with the mode that it is in.

use super::{Layout, Queue};
use crate::QueueLaw;
use crate::queues::{Law, Mode, View};
use crate::scalar::Scalar;

/// How full a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    Empty,
    Between,
    Full,
}

/// A queue and its mode.
#[derive(Clone, Debug)]
pub(super) struct Port {
    queue: Queue,
    /// The capacity in packets that the law counts.
    capacity: f64,
    /// Where its length stands among the states.
    length: usize,
    /// Where its law's state stands.
    own: usize,
    /// Whether its law looks at the rate of arrivals.
    rated: bool,
    pub fill: Fill,
    pub mode: Mode,
    /// In the linear model: whether it counts in that the law samples.
    pub sampled: bool,
}

impl Port {
    /// Queue number `number` with this length.
    pub(super) fn new(mut queue: Queue, number: usize, layout: Layout, length: f64) -> Self {
        let capacity = queue.capacity * queue.unit;
        // An average is updated with each packet, whatever one counts for.
        queue.law.prepare(queue.capacity);
        let fill = match length {
            q if q <= 0.0 => Fill::Empty,
            q if q >= queue.buffer => Fill::Full,
            _ => Fill::Between,
        };
        Self {
            capacity,
            length: layout.queue(number),
            own: layout.own(number),
            rated: queue.law.looks_at_rate(),
            fill,
            mode: Mode::default(),
            sampled: false,
            queue,
        }
    }

    /// The law is in the mode that fits a state.
    pub(super) fn find_mode(&mut self, state: &[f64], inflow: f64) {
        let view = self.view(0.0, state, inflow, self.drift(state, inflow));
        self.mode = self.queue.law.mode_at(state[self.own], &view);
    }

    /// Whether losses or guards depend on the arrivals.
    #[inline]
    pub(super) fn needs_inflow(&self) -> bool {
        self.rated || self.fill != Fill::Between
    }

    /// What the law drops or marks, the buffer apart.
    #[inline(always)]
    pub(super) fn law_loss(&self, state: &[f64], inflow: f64) -> f64 {
        let own = state[self.own];
        let p = match &self.queue.law {
            // The most frequent one sees nothing but its average.
            QueueLaw::Red(red) => red.profile(self.mode.piece, own, red.max_p),
            _ => self.other_loss(state[self.length], own, inflow),
        };
        (p * self.queue.weight).clamp(0.0, 1.0)
    }

    #[inline(never)]
    fn other_loss(&self, length: f64, own: f64, inflow: f64) -> f64 {
        let (queue, inflow) = (length * self.queue.unit, inflow * self.queue.unit);
        let view = View { queue, capacity: self.capacity, inflow, ..View::default() };
        self.queue.law.probability(&self.mode, own, &view)
    }

    /// What enters if there is room, of what arrives.
    #[inline]
    fn entering(&self, state: &[f64], inflow: f64) -> f64 {
        if self.queue.thins { inflow * (1.0 - self.law_loss(state, inflow)) } else { inflow }
    }

    /// How fast the queue grows.
    #[inline]
    fn drift(&self, state: &[f64], inflow: f64) -> f64 {
        match self.fill {
            Fill::Between => self.entering(state, inflow) - self.queue.capacity,
            _ => 0.0,
        }
    }

    /// What the law sees.
    #[inline]
    fn view(&self, time: f64, state: &[f64], inflow: f64, drift: f64) -> View<f64> {
        let unit = self.queue.unit;
        View {
            time,
            queue: state[self.length] * unit,
            drift: drift * unit,
            inflow: inflow * unit,
            capacity: self.capacity,
        }
    }

    /// How fast the queue and the state of its law change.
    #[inline(always)]
    pub(super) fn slopes(&self, time: f64, state: &[f64], inflow: f64) -> (f64, f64) {
        let drift = self.drift(state, inflow);
        let own = match &self.queue.law {
            // The most frequent one sees nothing but the queue.
            QueueLaw::Red(red) => red.follow(state[self.length] * self.queue.unit, state[self.own]),
            _ => self.other_slope(time, state, inflow, drift),
        };
        (drift, own)
    }

    #[inline(never)]
    fn other_slope(&self, time: f64, state: &[f64], inflow: f64, drift: f64) -> f64 {
        let view = self.view(time, state, inflow, drift);
        self.queue.law.slope(&self.mode, state[self.own], &view)
    }

    /// The share of what enters that a full buffer loses.
    #[inline]
    pub(super) fn overflow(&self, state: &[f64], inflow: f64) -> f64 {
        if self.fill != Fill::Full {
            return 0.0;
        }
        (1.0 - self.queue.capacity / self.entering(state, inflow)).max(0.0)
    }

    /// Four guards: two of the buffer, two of the law.
    #[inline]
    pub(super) fn guards(&self, time: f64, state: &[f64], inflow: f64) -> [f64; 4] {
        let Queue { capacity, buffer, law, .. } = &self.queue;
        let surplus = || (self.entering(state, inflow) - capacity) / capacity;
        let length = state[self.length];
        let (low, high) = match self.fill {
            Fill::Empty => (-surplus(), 1.0),
            Fill::Between => (length, buffer - length),
            Fill::Full => (surplus(), 1.0),
        };
        let [below, above] = match law {
            QueueLaw::Red(red) => red.guards_at(self.mode.piece, state[self.own]),
            law => {
                let view = self.view(time, state, inflow, self.drift(state, inflow));
                law.guards(&self.mode, state[self.own], &view)
            }
        };
        [low, high, below, above]
    }

    /// Whether no guard can fall while each state is within its reach; no where guards look at more
    /// than one of them.
    #[inline]
    pub(super) fn clear(&self, state: &[f64], reach: &[f64]) -> bool {
        let (length, far) = (state[self.length], reach[self.length]);
        let between =
            self.fill == Fill::Between && far < length && far < self.queue.buffer - length;
        between
            && match &self.queue.law {
                QueueLaw::Droptail(_) => true,
                QueueLaw::Red(red) => {
                    let [below, above] = red.guards_at(self.mode.piece, state[self.own]);
                    reach[self.own] < below && reach[self.own] < above
                }
                _ => false,
            }
    }

    /// One of the guards of the buffer has fallen below zero.
    pub(super) fn refill(&mut self, guard: usize, state: &mut [f64]) {
        let length = &mut state[self.length];
        (self.fill, *length) = match (self.fill, guard) {
            (Fill::Between, 0) => (Fill::Empty, 0.0),
            (Fill::Between, _) => (Fill::Full, self.queue.buffer),
            (Fill::Empty | Fill::Full, _) => (Fill::Between, *length),
        };
    }

    /// One of the guards of the law has fallen below zero.
    pub(super) fn turn(&mut self, guard: usize, time: f64, state: &mut [f64], inflow: f64) {
        let view = self.view(time, state, inflow, self.drift(state, inflow));
        self.queue.law.crossed(&mut self.mode, guard, &mut state[self.own], &view);
    }

    /// At an equilibrium in which packets meet `met`: the queue moves if what enters is what the
    /// link sends, and the law is in the mode that its linear model has.
    pub(super) fn settle(&mut self, state: &[f64], met: f64, inflow: f64, sampled: bool) {
        let surplus = self.let_in(met, inflow) / self.queue.capacity - 1.0;
        if self.fill == Fill::Empty && surplus.abs() < 1e-6 {
            self.fill = Fill::Between;
        }
        self.sampled = sampled;
        let view = self.view(0.0, state, inflow, 0.0);
        self.mode = self.queue.law.smooth_mode(state[self.own], &view);
    }

    /// Whether the queue can grow and shrink.
    pub(super) fn moves(&self) -> bool {
        self.fill == Fill::Between
    }

    /// Whether the law has a state of its own.
    pub(super) fn has_state(&self) -> bool {
        self.queue.law.has_state()
    }

    /// Seconds between two samples of the law, if that counts.
    pub(super) fn hold(&self) -> f64 {
        if self.sampled { self.queue.law.hold() } else { 0.0 }
    }

    /// Why the law has no derivative in a state, if it has none.
    pub(super) fn kink(&self, state: &[f64], inflow: f64) -> Option<String> {
        let own = state[self.own];
        let view = self.view(0.0, state, inflow, self.drift(state, inflow));
        let near = |guard: &f64| guard.abs() <= 1e-9 * own.abs().max(1e-3);
        let guards = self.queue.law.guards(&self.mode, own, &view);
        guards.iter().any(near).then(|| {
            let length = state[self.length];
            format!(
                "it has no derivative at its operating point of {length:.6} packets: it bends there"
            )
        })
    }

    /// Loss of law and buffer, the law losing `met`.
    pub(super) fn total_loss<S: Scalar>(&self, met: S, inflow: S) -> S {
        if self.fill != Fill::Full {
            return met;
        }
        let entering = self.let_in(met, inflow);
        let overflow = (S::of(-self.queue.capacity) / entering + 1.0).max(S::of(0.0));
        -(-met + 1.0) * (-overflow + 1.0) + 1.0
    }

    /// What enters if there is room, the law losing `met` of what arrives.
    fn let_in<S: Scalar>(&self, met: S, inflow: S) -> S {
        if self.queue.thins { inflow * (-met + 1.0) } else { inflow }
    }

    /// How fast the queue and the state of its law change where packets meet the probability `met`;
    /// `before` is the state a sample ago, and the present one where sampling is left out.
    pub(super) fn open_slopes<S: Scalar>(
        &self,
        state: &[S],
        met: S,
        inflow: S,
        before: &[S],
    ) -> (S, S) {
        let Queue { capacity, unit, law, .. } = &self.queue;
        let entering = self.let_in(met, inflow);
        let drift = if self.moves() { entering - *capacity } else { S::of(0.0) };
        let (queue, old) = (state[self.length] * *unit, before[self.length] * *unit);
        let hold = self.hold();
        let view = if hold > 0.0 {
            // Over a period the queue grows by what has come in, less what the link sent.
            let drift = (queue - old) / hold;
            let inflow = drift + self.capacity + (inflow - entering) * *unit;
            View {
                time: 0.0,
                queue: law.between(queue, old),
                drift,
                inflow,
                capacity: self.capacity,
            }
        } else {
            let (drift, inflow) = (drift * *unit, inflow * *unit);
            View { time: 0.0, queue, drift, inflow, capacity: self.capacity }
        };
        (drift, law.slope(&self.mode, state[self.own], &view))
    }

    /// The law's probability.
    pub(super) fn open_loss<S: Scalar>(&self, state: &[S], inflow: S) -> S {
        let (queue, inflow) = (state[self.length] * self.queue.unit, inflow * self.queue.unit);
        let drift = S::of(0.0);
        let view = View { time: 0.0, queue, drift, inflow, capacity: self.capacity };
        self.queue.law.probability(&self.mode, state[self.own], &view) * self.queue.weight
    }
}

#[cfg(test)]
mod tests;
