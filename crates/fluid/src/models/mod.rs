//! The models, one file each.

pub mod kelly;
pub mod mgt;
