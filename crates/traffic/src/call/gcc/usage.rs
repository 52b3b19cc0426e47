//! Use of the network, as both detectors of over-use tell it from delays.

/// Groups that a gradient is multiplied with at most.
pub(super) const GROUPS: u32 = 60;
/// How long it must be above the threshold, ms.
pub(super) const LASTING: f64 = 10.0;

/// What the delay says about the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Use {
    #[default]
    Normal,
    Over,
    Under,
}
