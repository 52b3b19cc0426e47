//! The router: packets from one namespace through delays, queues and rate limiters into the other.
