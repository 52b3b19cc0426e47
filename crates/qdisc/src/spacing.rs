//! How RED spreads its hits over the packets that pass, as different programs do it.

use crate::Probability;
use crate::fixed::QUEUE_BITS;
use sojourn_base::Stream;

/// How far apart hits lie while p_b stays what it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Spacing {
    /// 1 to 1/p_b packets, (1 + 1/p_b)/2 in the mean: the paper's second method, and Linux's.
    #[default]
    Uniform,
    /// 1/p_b to 2/p_b − 1 packets, 1.5/p_b − 0.5 in the mean: ns-2's `wait_`, its default.
    Wait,
    /// 1 to 2/p_b − 1 packets, 1/p_b in the mean: ALTQ's.
    Altq,
}

/// Whether the packet is hit that is number `count` since the last hit, itself counted (Q.36), by
/// ns-2's or ALTQ's rule: p/(2 − count·p), without the division. `own` is p for its size.
pub(crate) fn hits_late(
    spacing: Spacing,
    base: Probability,
    own: Probability,
    count: u64,
    coin: &mut Stream,
) -> bool {
    let one = u128::from(Probability::ONE.raw());
    let used = (u128::from(count) * u128::from(base.raw())) >> QUEUE_BITS;
    if spacing == Spacing::Wait && used < one {
        return false;
    }
    let draw = u128::from(coin.next_u64() >> (64 - Probability::BITS));
    draw * (2 * one).saturating_sub(used) < u128::from(own.raw()) << Probability::BITS
}
