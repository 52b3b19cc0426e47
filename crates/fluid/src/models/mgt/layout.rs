//! Where what stands among the states and signals.

/// Where what stands among the states and signals: windows, then queues, then the laws' own
/// states; the signals are what each flow of a class loses, which is looked up a round trip later,
/// and then the losses of the queues, the arrivals there, and what full buffers lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of classes.
    pub classes: usize,
    /// Number of queues.
    pub queues: usize,
}

impl Layout {
    /// The window of a class.
    pub fn window(&self, class: usize) -> usize {
        class
    }

    /// The length of a queue.
    pub fn queue(&self, queue: usize) -> usize {
        self.classes + queue
    }

    /// The state of a queue's law; without meaning if it has none.
    pub fn own(&self, queue: usize) -> usize {
        self.classes + self.queues + queue
    }

    /// Packets per second of what a flow sends that are lost or marked: a signal.
    pub fn hits(&self, class: usize) -> usize {
        self.states() + class
    }

    /// The loss at a queue: a signal.
    pub fn loss(&self, queue: usize) -> usize {
        self.states() + self.classes + queue
    }

    /// Arrivals at a queue in packets per second: a signal.
    pub fn inflow(&self, queue: usize) -> usize {
        self.states() + self.classes + self.queues + queue
    }

    /// The share of what a queue's law lets pass that its full buffer loses: a signal.
    pub fn overflow(&self, queue: usize) -> usize {
        self.states() + self.classes + 2 * self.queues + queue
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.classes + 2 * self.queues
    }

    /// Number of signals.
    pub fn signals(&self) -> usize {
        3 * self.queues + self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_a_place_of_its_own() {
        let layout = Layout { classes: 3, queues: 2 };
        let places = (0..3).flat_map(|class| [layout.window(class), layout.hits(class)]);
        let of_queue = |v| [layout.queue(v), layout.own(v), layout.loss(v), layout.inflow(v)];
        let mut places: Vec<_> = places.chain((0..2).flat_map(of_queue)).collect();
        places.extend((0..2).map(|queue| layout.overflow(queue)));
        places.sort_unstable();
        let all: Vec<_> = (0..layout.states() + layout.signals()).collect();
        assert_eq!(places, all);
    }
}
