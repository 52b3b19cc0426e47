//! Classes as the equations go through them: four at a time, side by side.

use super::lane::Lane;

/// Classes that are computed together.
pub(super) const FOUR: usize = 4;
/// A number for each of four classes.
pub(super) type Four = [f64; FOUR];

/// A queue, and a factor for each class: 0 for those that do not come by.
#[derive(Clone, Debug)]
struct Share {
    queue: usize,
    of: Four,
}

/// Four classes, or the last few, filled up with some that send nothing.
#[derive(Clone, Debug)]
pub(super) struct Quad {
    /// The number of the first class, and how many there are.
    first: usize,
    pub len: usize,
    rtt: Four,
    flows: Four,
    since: Four,
    /// 1, or 0 where there are no flows.
    live: Four,
    /// What a loss takes of a window, times what the spread of windows makes of it.
    cuts: Four,
    /// The windows up to which nothing tapers their growth.
    tapers: Four,
    /// Whether the law of all of them is Reno's without timeouts.
    plain: bool,
    /// Whether a queue on their paths keeps what it drops from the queues behind.
    pub thins: bool,
    /// The queues that their data or acknowledgements wait in, by place among the states, and the
    /// seconds that the links take for a packet.
    waits: Vec<Share>,
    /// The queues that their data pass.
    visits: Vec<Share>,
}

impl Quad {
    /// All classes in fours.
    pub(super) fn all(lanes: &[Lane]) -> Vec<Self> {
        let chunks = lanes.chunks(FOUR).enumerate();
        chunks.map(|(number, lanes)| Self::new(number * FOUR, lanes)).collect()
    }

    fn new(first: usize, lanes: &[Lane]) -> Self {
        let each = |value: &dyn Fn(&Lane) -> f64, none: f64| -> Four {
            std::array::from_fn(|i| lanes.get(i).map_or(none, value))
        };
        let (mut waits, mut visits) = (Vec::new(), Vec::new());
        for (i, lane) in lanes.iter().enumerate() {
            for &(queue, service) in &lane.waits {
                share(&mut waits, queue, i, service);
            }
            for hop in &lane.hops {
                share(&mut visits, hop.queue, i, 1.0);
            }
        }
        Self {
            first,
            len: lanes.len(),
            rtt: each(&|lane| lane.rtt(), 1.0),
            flows: each(&|lane| lane.flows, 0.0),
            since: each(&|lane| lane.since, f64::INFINITY),
            live: each(&|lane| f64::from(u8::from(lane.flows > 0.0)), 0.0),
            cuts: each(&|lane| lane.cut_of_one(), 0.0),
            tapers: each(&|lane| lane.tapers, f64::INFINITY),
            plain: lanes.iter().all(|lane| lane.plain),
            thins: lanes.iter().any(Lane::thins),
            waits,
            visits,
        }
    }

    /// The numbers of the classes.
    #[inline]
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.len
    }

    /// The windows; behind the last class anything.
    #[inline]
    pub(super) fn windows(&self, state: &[f64]) -> Four {
        let state = &state[self.first..];
        match state.first_chunk() {
            Some(windows) => *windows,
            None => std::array::from_fn(|i| state.get(i).copied().unwrap_or(0.0)),
        }
    }

    /// The round trips.
    #[inline]
    pub(super) fn round_trips(&self, state: &[f64]) -> Four {
        let mut sum = self.rtt;
        for wait in &self.waits {
            let length = state[wait.queue];
            for (sum, of) in sum.iter_mut().zip(wait.of) {
                *sum += length * of;
            }
        }
        sum
    }

    /// What is lost on the paths, the queues losing `losses`. A small loss keeps its digits.
    #[inline]
    pub(super) fn losses(&self, losses: &[f64]) -> Four {
        let mut lost = [0.0; FOUR];
        for visit in &self.visits {
            let loss = losses[visit.queue];
            for (lost, of) in lost.iter_mut().zip(visit.of) {
                *lost += of * loss * (1.0 - *lost);
            }
        }
        lost
    }

    /// What each class sends per second, `per` being one over the round trips.
    #[inline]
    pub(super) fn rates(&self, windows: &Four, per: &Four) -> Four {
        std::array::from_fn(|i| self.flows[i] * windows[i] * per[i])
    }

    /// Calls `add` with what the classes bring to each queue if they send at `rates` and nothing
    /// thins that.
    #[inline]
    pub(super) fn send(&self, rates: &Four, mut add: impl FnMut(usize, f64)) {
        for visit in &self.visits {
            let [a, b, c, d]: Four = std::array::from_fn(|i| visit.of[i] * rates[i]);
            add(visit.queue, (a + c) + (b + d));
        }
    }

    /// What each flow of the classes lost per second a round trip ago, by what `lookup` finds for a
    /// class at a moment; nothing before there were flows.
    #[inline]
    pub(super) fn hits(
        &self,
        time: f64,
        round_trips: &Four,
        lookup: impl Fn(usize, f64) -> f64,
    ) -> Four {
        let mut hits = [0.0; FOUR];
        for i in 0..self.len {
            let sent = time - round_trips[i];
            if sent >= self.since[i] {
                hits[i] = lookup(self.first + i, sent);
            }
        }
        hits
    }

    /// How fast the windows change where the law is Reno's, `hits` being lost; none where some
    /// class has another law, or a window so large that its growth is tapered.
    #[inline]
    pub(super) fn slopes(&self, windows: &Four, per: &Four, hits: &Four) -> Option<Four> {
        let mut large = false;
        for (window, tapers) in windows.iter().zip(&self.tapers) {
            large |= window > tapers;
        }
        let slope = |i: usize| self.live[i] * (per[i] - hits[i] * (self.cuts[i] * windows[i]));
        (self.plain && !large).then(|| std::array::from_fn(slope))
    }
}

/// Adds the share of a class that comes by a queue: as another one if it has come by before.
fn share(shares: &mut Vec<Share>, queue: usize, class: usize, of: f64) {
    let known = shares.iter_mut().find(|share| share.queue == queue && share.of[class] == 0.0);
    match known {
        Some(share) => share.of[class] = of,
        None => {
            let mut share = Share { queue, of: [0.0; FOUR] };
            share.of[class] = of;
            shares.push(share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Class, Layout, Queue};
    use super::*;
    use crate::queues::Droptail;

    #[test]
    fn what_is_computed_for_four_is_what_each_has() {
        // Six classes over three queues, with acknowledgements that wait, and one that comes twice.
        let queues = [900.0, 1300.0, 700.0]
            .map(|capacity| Queue { buffer: 100.0, ..Queue::new(capacity, Droptail) });
        let paths = [vec![0], vec![1, 0], vec![2], vec![0, 1, 2], vec![2, 0, 2], vec![1]];
        let layout = Layout { classes: 6, queues: 3 };
        let lanes: Vec<Lane> = paths
            .into_iter()
            .enumerate()
            .map(|(number, path)| {
                let mut class = Class::reno(10.0 + number as f64, 0.1 * (1 + number) as f64, path);
                class.back = vec![number % 3];
                Lane::new(class, &queues, layout)
            })
            .collect();
        let state: Vec<f64> = (0..layout.states()).map(|i| 3.0 + 7.0 * i as f64).collect();
        let losses = [0.01, 1e-9, 0.3];
        let (mut rates, mut expected) = ([0.0; 3], [0.0; 3]);
        let quads = Quad::all(&lanes);
        assert_eq!(quads.iter().map(Quad::range).collect::<Vec<_>>(), [0..4, 4..6]);
        for quad in &quads {
            let (windows, round_trips) = (quad.windows(&state), quad.round_trips(&state));
            let (lost, per) = (quad.losses(&losses), round_trips.map(|r| 1.0 / r));
            quad.send(&quad.rates(&windows, &per), |queue, rate| rates[queue] += rate);
            for (i, class) in quad.range().enumerate() {
                let lane = &lanes[class];
                assert_eq!(windows[i], state[class]);
                let round_trip = lane.round_trip(|at| state[at]);
                assert!((round_trips[i] / round_trip - 1.0).abs() < 1e-14);
                let passed: f64 = lane.hops.iter().map(|hop| 1.0 - losses[hop.queue]).product();
                assert!((lost[i] - (1.0 - passed)).abs() < 1e-15, "{class}: {lost:?}");
                for hop in &lane.hops {
                    expected[hop.queue] += lane.flows * state[class] / round_trip;
                }
            }
        }
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate / expected - 1.0).abs() < 1e-14);
        }
        // One queue only: the loss is that of the queue to the last digit.
        assert_eq!(quads[1].losses(&losses)[1], 1e-9);
    }
}
