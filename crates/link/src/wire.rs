//! What happens to packets on the wire, after their transmission: losses and jitter.
//!
//! Losses are independent, or come in bursts after Gilbert ("Capacity of a burst-noise channel",
//! Bell System Technical Journal 39, 1960, with nothing received in the bad state): with the
//! probability p of a loss and b losses in a row on average, each packet leaves the bad state with
//! probability 1/b and the good one with p/(b(1 − p)).

use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::Count;
use sojourn_scenario::Impairments;
use sojourn_traffic::Sampler;

/// Of a link's random numbers, those of losses and those of jitter (0 is the rate's).
const LOSS_STREAM: u64 = 1;
const JITTER_STREAM: u64 = 2;

/// A year, ns: no jitter is longer.
const LONGEST: u64 = 8760 * 3600 * 1_000_000_000;

/// The wire of one link.
#[derive(Clone)]
pub(crate) struct Wire {
    losses: Option<Losses>,
    jitter: Option<Jitter>,
    /// Packets lost since the start of the run.
    pub lost: Count,
}

#[derive(Clone)]
struct Losses {
    stream: Stream,
    /// Probabilities, in 2⁻⁶⁴, that a packet is lost after one that was not, and after one that
    /// was.
    after_arrival: u64,
    after_loss: u64,
    losing: bool,
}

#[derive(Clone)]
struct Jitter {
    stream: Stream,
    sampler: Sampler,
    reorder: bool,
    /// When the last packet was through.
    last: Time,
}

/// A probability in 2⁻⁶⁴.
fn threshold(probability: f64) -> u64 {
    // A float of 2⁶⁴ becomes the largest integer.
    (probability * 18_446_744_073_709_551_616.0) as u64
}

impl Wire {
    /// The wire of the link with this number.
    pub(crate) fn new(impairments: &Impairments, seed: u64, link: u32) -> Self {
        let Impairments { loss, loss_burst, ref jitter, reorder } = *impairments;
        let (after_arrival, after_loss) = match loss_burst {
            None => (loss, loss),
            Some(burst) => (loss / (burst * (1.0 - loss)), 1.0 - 1.0 / burst),
        };
        let mut stream = Stream::new(seed, Kind::Link, link, LOSS_STREAM);
        // As if it had been going on for ever.
        let losing = stream.next_u64() < threshold(loss);
        Self {
            losses: (loss > 0.0).then(|| Losses {
                stream,
                after_arrival: threshold(after_arrival),
                after_loss: threshold(after_loss),
                losing,
            }),
            jitter: jitter.clone().map(|sampler| Jitter {
                stream: Stream::new(seed, Kind::Link, link, JITTER_STREAM),
                sampler,
                reorder,
                last: Time::ZERO,
            }),
            lost: Count::default(),
        }
    }

    /// When a packet whose transmission ends at `ends` is through, the delay of the link not
    /// counted; none if it is lost.
    pub(crate) fn pass(&mut self, ends: Time, bytes: u32) -> Option<Time> {
        if let Some(losses) = &mut self.losses
            && losses.lose()
        {
            self.lost.add(bytes);
            return None;
        }
        let Some(jitter) = &mut self.jitter else { return Some(ends) };
        let delay = jitter.sampler.sample(&mut jitter.stream).min(LONGEST);
        let mut through = ends + Time(delay);
        if !jitter.reorder {
            through = through.max(jitter.last);
            jitter.last = through;
        }
        Some(through)
    }

    /// Whether packets may overtake one another.
    pub(crate) fn reorders(&self) -> bool {
        self.jitter.as_ref().is_some_and(|jitter| jitter.reorder)
    }
}

impl Losses {
    fn lose(&mut self) -> bool {
        let probability = if self.losing { self.after_loss } else { self.after_arrival };
        self.losing = self.stream.next_u64() < probability;
        self.losing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_traffic::Distribution;

    fn wire(loss: f64, loss_burst: Option<f64>, jitter: &str, reorder: bool) -> Wire {
        let jitter: Option<Distribution<Time>> = (!jitter.is_empty()).then(|| {
            let (min, max) = jitter.split_once("..").unwrap();
            Distribution::Uniform {
                min: min.parse().unwrap(),
                max: max.parse().unwrap(),
                step: None,
            }
        });
        let jitter = jitter.map(|jitter| jitter.sampler("jitter").unwrap());
        Wire::new(&Impairments { loss, loss_burst, jitter, reorder }, 5, 0)
    }

    /// Fraction lost, and mean length of a burst.
    fn losses(wire: &mut Wire) -> (f64, f64) {
        let lost: Vec<bool> = (0..400_000).map(|at| wire.pass(Time(at), 1000).is_none()).collect();
        let count = lost.iter().filter(|&&lost| lost).count() as f64;
        assert_eq!(wire.lost, Count { packets: count as u64, bytes: count as u64 * 1000 });
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        (count / lost.len() as f64, count / bursts)
    }

    #[test]
    fn losses_have_their_probability_and_their_bursts() {
        // Independent losses come 1/(1 − p) in a row.
        let (loss, burst) = losses(&mut wire(0.02, None, "", false));
        assert!((loss / 0.02 - 1.0).abs() < 0.04, "{loss}");
        assert!((burst * 0.98 - 1.0).abs() < 0.02, "{burst}");
        let (loss, burst) = losses(&mut wire(0.05, Some(6.0), "", false));
        assert!((loss / 0.05 - 1.0).abs() < 0.06, "{loss}");
        assert!((burst / 6.0 - 1.0).abs() < 0.05, "{burst}");
        // With one loss at a time no two follow each other.
        let (_, burst) = losses(&mut wire(0.05, Some(1.0), "", false));
        assert_eq!(burst, 1.0);
    }

    #[test]
    fn jitter_keeps_the_order_unless_it_may_change_it() {
        let times = |reorder| {
            let mut wire = wire(0.0, None, "0ms..5ms", reorder);
            (0..10_000u64).map(|i| wire.pass(Time(i * 1_000_000), 1).unwrap().0).collect::<Vec<_>>()
        };
        let (kept, mixed) = (times(false), times(true));
        assert!(kept.is_sorted() && !mixed.is_sorted());
        let mean = mixed.iter().zip(0u64..).map(|(t, i)| t - i * 1_000_000).sum::<u64>() / 10_000;
        assert!((2_450_000..2_550_000).contains(&mean), "{mean}");
        // Each is the latest so far.
        let mut latest = 0;
        for (kept, mixed) in kept.iter().zip(&mixed) {
            latest = latest.max(*mixed);
            assert_eq!(*kept, latest);
        }
    }
}
