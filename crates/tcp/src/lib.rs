//! TCP without I/O: segments in, segments out, wake me at.
