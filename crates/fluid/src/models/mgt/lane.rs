//! A class of flows as the equations go through it.

use super::{Class, Layout, Queue};
use crate::WindowLaw;
use crate::scalar::Scalar;

/// A queue on the path of data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub queue: usize,
    /// Whether what it drops does not reach the queue behind.
    thins: bool,
}

/// A class as the equations go through it.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    class: Class,
    /// Flows now.
    pub flows: f64,
    /// Since when there have been any.
    pub since: f64,
    /// Whether its law is Reno's without timeouts.
    pub plain: bool,
    /// Growth is tapered over the last hundredth below the greatest window.
    pub tapers: f64,
    /// The queues that its data or its acknowledgements wait in: which states they are, and the
    /// seconds that their links take for a packet.
    pub waits: Vec<(usize, f64)>,
    pub hops: Vec<Hop>,
    /// Whether its growth is clocked by what was sent a round trip ago.
    pub clocked: bool,
}

impl Lane {
    /// A class at time 0.
    pub(super) fn new(class: Class, queues: &[Queue], layout: Layout) -> Self {
        let waits = class.path.iter().chain(&class.back);
        let last = class.path.len() - 1;
        let hop = |(number, &queue): (usize, &usize)| Hop {
            queue,
            thins: number < last && queues[queue].thins,
        };
        Self {
            flows: flows_at(&class, 0.0),
            // What was lost before the start is in the past that the solver is given.
            since: f64::NEG_INFINITY,
            plain: matches!(class.law, WindowLaw::Reno(_)) && !class.timeouts,
            tapers: 0.99 * class.max_window,
            waits: waits
                .map(|&queue| (layout.queue(queue), 1.0 / queues[queue].capacity))
                .collect(),
            hops: class.path.iter().enumerate().map(hop).collect(),
            clocked: class.law.clocked(),
            class,
        }
    }

    /// The round trip without queueing.
    pub(super) fn rtt(&self) -> f64 {
        self.class.rtt
    }

    /// What a loss takes of a window of one packet, times what the spread of windows makes of it.
    pub(super) fn cut_of_one(&self) -> f64 {
        self.class.law.cut(1.0) * self.class.spread
    }

    /// Whether a queue on its path keeps what it drops from the queues behind.
    pub(super) fn thins(&self) -> bool {
        self.hops.iter().any(|hop| hop.thins)
    }

    /// The round trip, by the queues that `length` gives.
    #[inline]
    pub(super) fn round_trip<S: Scalar>(&self, length: impl Fn(usize) -> S) -> S {
        let mut sum = S::of(self.class.rtt);
        for &(queue, service) in &self.waits {
            sum = sum + length(queue) * service;
        }
        sum
    }

    /// Calls `add` with what the class brings to each queue on its path if it sends at `rate`, the
    /// laws losing `loss`.
    #[inline]
    pub(super) fn send<S: Scalar>(
        &self,
        mut rate: S,
        loss: impl Fn(usize) -> S,
        mut add: impl FnMut(usize, S),
    ) {
        for hop in &self.hops {
            add(hop.queue, rate);
            if hop.thins {
                rate = rate * (-loss(hop.queue) + 1.0);
            }
        }
    }

    /// What is lost on its path, the queues losing `loss`. A small loss keeps its digits.
    pub(super) fn loss<S: Scalar>(&self, loss: impl Fn(usize) -> S) -> S {
        match self.hops[..] {
            [hop] => loss(hop.queue),
            _ => {
                let passed = |passed: S, hop: &Hop| passed * (-loss(hop.queue) + 1.0);
                -self.hops.iter().fold(S::of(1.0), passed) + 1.0
            }
        }
    }

    /// dW/dt of its flows with window `w`: `rate` was theirs a round trip ago, and `hits` they lost
    /// of it.
    #[inline]
    pub(super) fn slope<S: Scalar>(&self, w: S, round_trip: S, rate: S, hits: S) -> S {
        let Class { law, timeouts, spread, max_window, .. } = &self.class;
        let change = law.slope(*timeouts, w, round_trip, rate, hits * *spread);
        if w.value() <= self.tapers {
            return change;
        }
        let taper = ((-w + *max_window) / (0.01 * max_window)).max(S::of(0.0)).min(S::of(1.0));
        change - (-taper + 1.0) * law.growth(w, round_trip, rate)
    }
}

/// Flows of a class at a time.
pub(super) fn flows_at(class: &Class, time: f64) -> f64 {
    class.flows.iter().take_while(|(from, _)| *from <= time).last().map_or(0.0, |(_, n)| *n)
}
