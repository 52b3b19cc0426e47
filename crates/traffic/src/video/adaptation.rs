//! Which bit rate comes next.

use super::params::{Adaptation, VideoModel};
use sojourn_base::Time;

/// Segments whose throughput is remembered.
const MEMORY: usize = 5;
/// Of that throughput, what a segment may need.
const SAFETY: f64 = 0.9;
/// How much smooth playing counts beside the bit rate: γp of BOLA.
const SMOOTHNESS: f64 = 5.0;

/// The throughputs of the last segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throughputs {
    /// Seconds for a bit.
    recent: [f64; MEMORY],
    count: usize,
}

impl Throughputs {
    /// A segment of so many bytes took so long.
    pub(super) fn note(&mut self, bytes: u64, took: Time) {
        let seconds = took.max(Time(1)).as_secs_f64();
        self.recent[self.count % MEMORY] = seconds / (bytes as f64 * 8.0);
        self.count += 1;
    }

    /// Their harmonic mean in bits per second; none before the first.
    fn mean(&self) -> Option<f64> {
        let known = &self.recent[..self.count.min(MEMORY)];
        (!known.is_empty()).then(|| known.len() as f64 / known.iter().sum::<f64>())
    }
}

/// The rung of the next segment, with so much still to be played.
pub(super) fn choose(model: &VideoModel, throughputs: &Throughputs, buffered: Time) -> usize {
    match model.adaptation {
        Adaptation::Throughput => {
            let most = throughputs.mean().map_or(0.0, |mean| SAFETY * mean);
            model.ladder.iter().rposition(|rate| rate.as_f64() <= most).unwrap_or(0)
        }
        Adaptation::Bola => bola(model, buffered),
    }
}

/// The rung with the largest (V(υ + γp) − Q)/S, the highest of equals.
fn bola(model: &VideoModel, buffered: Time) -> usize {
    let segments = |time: Time| time.0 as f64 / model.segment.0 as f64;
    let top = model.utilities[model.utilities.len() - 1];
    let v = (segments(model.buffer) - 1.0) / (top + SMOOTHNESS);
    let worth = |rung: usize| {
        let wanted = v * (model.utilities[rung] + SMOOTHNESS) - segments(buffered);
        wanted / model.ladder[rung].as_f64()
    };
    let rungs = 0..model.ladder.len();
    rungs.max_by(|&a, &b| worth(a).total_cmp(&worth(b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Video;

    #[test]
    fn throughput_is_a_harmonic_mean_of_the_last_five() {
        let model = Video::default().compile().unwrap();
        let mut throughputs = Throughputs::default();
        assert_eq!(choose(&model, &throughputs, Time::ZERO), 0, "nothing is known");
        let second = Time::from_secs(1);
        throughputs.note(1_000_000_000, second);
        assert_eq!(choose(&model, &throughputs, Time::ZERO), 9);
        // Of 1, 1, 1, 1 and 4 Mb/s the harmonic mean is 5/4.25 = 1.176 Mb/s, and 90 % of it 1.059.
        for bytes in [125_000, 125_000, 500_000, 125_000, 125_000] {
            throughputs.note(bytes, second);
        }
        assert_eq!(model.ladder[choose(&model, &throughputs, Time::ZERO)].0, 1_050_000);
        throughputs.note(100_000, second);
        assert_eq!(model.ladder[choose(&model, &throughputs, Time::ZERO)].0, 750_000);
    }

    /// Two rungs of utilities 0 and ln 4: they are worth the same at Q = V(γp − ln 4/3).
    #[test]
    fn bola_changes_where_two_rungs_are_worth_the_same() {
        let ladder = vec![sojourn_base::Rate(1_000_000), sojourn_base::Rate(4_000_000)];
        let adaptation = Adaptation::Bola;
        let model = Video { ladder, adaptation, ..Video::default() }.compile().unwrap();
        let v = (30.0 / 4.0 - 1.0) / (libm::log(4.0) + 5.0);
        let edge = 4.0 * v * (5.0 - libm::log(4.0) / 3.0);
        let at = |seconds: f64| bola(&model, Time((seconds * 1e9) as u64));
        assert_eq!((at(edge - 1e-6), at(edge + 1e-6)), (0, 1));
        assert_eq!((at(0.0), at(30.0)), (0, 1));
    }
}
