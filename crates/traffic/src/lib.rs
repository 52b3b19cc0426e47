//! Who sends what and when, without I/O.
