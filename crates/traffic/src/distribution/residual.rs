//! Residual times: how long a period that is under way at a random instant still lasts.
//!
//! In a stationary renewal process the period that covers an instant is drawn with a probability
//! in proportion to its length, and the instant falls uniformly within it. So: a length-biased
//! draw times a uniform number. The length-biased draw inverts the running integral of the
//! quantile function, tabulated when the run is built.

use super::means::{nodes, piece};
use super::sampler::{Character, Sampler, Shape, uniform};
use sojourn_base::Stream;
use std::f64::consts::LN_2;

/// Draws residual times; made by [`Sampler::residual`].
#[derive(Clone, Debug)]
pub struct Residual(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// A memoryless distribution, or one whose mean is zero or infinite, so that no stationary
    /// process exists: the distribution itself.
    Plain(Sampler),
    /// Nodes u and the share of the mean that lies below each.
    Biased { sampler: Sampler, table: Vec<(f64, f64)> },
    /// Two-level: given its character a member is lognormal, and so is the length-biased draw.
    TwoLevel { sd: f64, sampler: Sampler },
    /// A mixture: a part is chosen by its share of the mean.
    Mixture(Vec<(f64, Residual)>),
}

impl Sampler {
    /// The sampler of the time left at a random instant of a stationary renewal process whose
    /// periods this sampler draws.
    #[must_use]
    pub fn residual(&self) -> Residual {
        Residual::new(self)
    }
}

impl Residual {
    fn new(sampler: &Sampler) -> Self {
        let mean = sampler.mean();
        Self(match &sampler.0 {
            Shape::Exponential { .. } => Kind::Plain(sampler.clone()),
            _ if !(mean.is_finite() && mean > 0.0) => Kind::Plain(sampler.clone()),
            Shape::TwoLevel { sd, .. } => Kind::TwoLevel { sd: *sd, sampler: sampler.clone() },
            Shape::Mixture(branches) => {
                let mut until = 0.0;
                let part = |branch: &super::sampler::Branch| {
                    until += (branch.until - branch.from) * branch.sampler.mean() / mean;
                    (until, Self::new(&branch.sampler))
                };
                Kind::Mixture(branches.iter().map(part).collect())
            }
            _ => {
                let quantile = |u| sampler.quantile(Character::default(), u);
                let mut sum = 0.0;
                let mut table = vec![(0.0, 0.0)];
                for pair in nodes().windows(2) {
                    sum += piece(&quantile, pair[0], pair[1]);
                    table.push((pair[1], sum));
                }
                table.iter_mut().for_each(|node| node.1 /= sum);
                Kind::Biased { sampler: sampler.clone(), table }
            }
        })
    }

    /// The next residual time in base units, for a member of this character; without one, every
    /// period of a two-level distribution has its own.
    pub fn sample(&self, character: Option<Character>, stream: &mut Stream) -> u64 {
        match &self.0 {
            Kind::Plain(sampler) => sampler.sample_as(character, stream),
            Kind::Biased { sampler, table } => {
                let v = uniform(stream);
                let i = table.partition_point(|node| node.1 <= v).clamp(1, table.len() - 1);
                let ((u, below), (next, until)) = (table[i - 1], table[i]);
                let u = u + (next - u) * (v - below) / (until - below);
                // The last piece may end at 1 itself.
                let period = sampler.quantile(Character::default(), u.min(1.0 - f64::EPSILON));
                (period * uniform(stream)) as u64
            }
            Kind::TwoLevel { sd, sampler } => {
                // Length bias multiplies a lognormal by exp(sigma²).
                let character = character.or_else(|| sampler.weighted_character(1.0, stream));
                let character = character.unwrap_or_default();
                let sigma = LN_2 * f64::from(character.scale) * sd;
                let biased =
                    sampler.quantile(character, uniform(stream)) * libm::exp(sigma * sigma);
                (biased * uniform(stream)) as u64
            }
            Kind::Mixture(parts) => {
                let v = uniform(stream);
                let part = parts.iter().find(|part| v < part.0).unwrap_or(&parts[parts.len() - 1]);
                part.1.sample(character, stream)
            }
        }
    }
}
