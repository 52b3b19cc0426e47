//! Times of the members of a group.

use super::Resolver;
use crate::error::{Fault, steps};
use sojourn_base::Time;
use sojourn_traffic::{Distribution, Sampler};

impl Resolver<'_> {
    /// A sampler of times, and the least time that can come out.
    pub(super) fn times(
        &self,
        field: &str,
        times: &Distribution<Time>,
        members: Option<u32>,
    ) -> Result<(Sampler, Time), Fault> {
        if matches!(times, Distribution::Even { .. }) && members.is_none() && !self.may_get_users()
        {
            let message =
                "even needs a fixed number of members; write a range like \"50ms..150ms\"";
            return Err(Fault::new(steps![field], message));
        }
        let mut times = times.clone();
        times.load_files(field, &mut |path| self.read(path)).map_err(Fault::from)?;
        Ok((times.member_sampler(field).map_err(Fault::from)?, least(&times)))
    }
}

/// The least value a distribution can give.
fn least(times: &Distribution<Time>) -> Time {
    match times {
        Distribution::Constant(time) => *time,
        Distribution::Uniform { min, .. }
        | Distribution::Pareto { min, .. }
        | Distribution::BoundedPareto { min, .. } => *min,
        Distribution::Even { min, max } => *min.min(max),
        Distribution::Lognormal { min, .. } => min.unwrap_or_default(),
        Distribution::Quantiles { points, .. } => points.first().map_or(Time::ZERO, |p| p.1),
        Distribution::Mixture { parts } => {
            parts.iter().map(|part| least(&part.value)).min().unwrap_or_default()
        }
        Distribution::Exponential { .. }
        | Distribution::Lomax { .. }
        | Distribution::Weibull { .. }
        | Distribution::InverseWeibull { .. }
        | Distribution::Packmime { .. } => Time::ZERO,
    }
}
