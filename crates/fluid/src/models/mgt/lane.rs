//! A class of flows as the equations go through it.

use super::port::Port;
use super::{Class, Layout, Queue, window_slope};
use crate::WindowLaw;

/// A queue on the path of data.
#[derive(Clone, Copy, Debug)]
pub struct Hop {
    pub queue: usize,
    /// Whether what it drops does not reach the queue behind.
    thins: bool,
}

/// A class as the equations go through it.
#[derive(Clone, Debug)]
pub struct Lane {
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
    pub fn new(class: &Class, queues: &[Queue], layout: Layout) -> Self {
        let waits = class.path.iter().chain(&class.back);
        let last = class.path.len() - 1;
        let hop = |(number, &queue): (usize, &usize)| Hop {
            queue,
            thins: number < last && queues[queue].thins,
        };
        Self {
            flows: flows_at(class, 0.0),
            // What was lost before the start is in the past that the solver is given.
            since: f64::NEG_INFINITY,
            plain: class.law == WindowLaw::Reno && !class.timeouts,
            tapers: 0.99 * class.max_window,
            waits: waits
                .map(|&queue| (layout.queue(queue), 1.0 / queues[queue].capacity))
                .collect(),
            hops: class.path.iter().enumerate().map(hop).collect(),
            clocked: class.law.clocked(),
            class: class.clone(),
        }
    }

    /// The round trip without queueing.
    pub fn rtt(&self) -> f64 {
        self.class.rtt
    }

    /// What the spread of its windows makes of losses.
    pub fn spread(&self) -> f64 {
        self.class.spread
    }

    /// Whether a queue on its path keeps what it drops from the queues behind.
    pub fn thins(&self) -> bool {
        self.hops.iter().any(|hop| hop.thins)
    }

    /// The round trip, by the queues that `length` gives.
    #[inline]
    pub fn round_trip(&self, length: impl Fn(usize) -> f64) -> f64 {
        let mut sum = self.class.rtt;
        for &(queue, service) in &self.waits {
            sum += length(queue) * service;
        }
        sum
    }

    /// Calls `add` with what the class brings to each queue on its path if it sends at `rate`.
    #[inline]
    pub fn send(
        &self,
        mut rate: f64,
        state: &[f64],
        ports: &[Port],
        mut add: impl FnMut(usize, f64),
    ) {
        for hop in &self.hops {
            add(hop.queue, rate);
            if hop.thins {
                // Laws that thin do not look at the present rate.
                rate *= 1.0 - ports[hop.queue].law_loss(state, 0.0);
            }
        }
    }

    /// dW/dt of its flows with window `w`: `rate` was theirs a round trip ago, and `hits` they lost
    /// of it.
    #[inline]
    pub fn slope(&self, w: f64, round_trip: f64, rate: f64, hits: f64) -> f64 {
        let Class { law, timeouts, spread, max_window, .. } = &self.class;
        let change = window_slope(law, *timeouts, w, round_trip, rate, hits * spread);
        if w <= self.tapers {
            return change;
        }
        let taper = ((max_window - w) / (0.01 * max_window)).clamp(0.0, 1.0);
        change - (1.0 - taper) * law.growth(w, round_trip, rate)
    }
}

/// Flows of a class at a time.
pub fn flows_at(class: &Class, time: f64) -> f64 {
    class.flows.iter().take_while(|(from, _)| *from <= time).last().map_or(0.0, |(_, n)| *n)
}
