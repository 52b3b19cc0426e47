//! A scenario run with real TCP: hosts at both ends of the router, one summary.
