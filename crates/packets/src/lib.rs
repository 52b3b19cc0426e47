//! The packet-by-packet event simulator.
