//! Long-range dependence and heavy tails, estimated from a series. Not for use within a run.
