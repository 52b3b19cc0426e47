//! The user-space router for real packets, and the real hosts at its ends.
//!
//! One process holds everything. Its threads make two network namespaces without a name, *left*
//! and *right*, with a TUN device in each; one thread reads packets from either, takes them
//! through delays, queues and rate limiters, and writes them into the other. The queue
//! disciplines are those of `sojourn-qdisc`, the very code that the packet engine simulates.
//! Namespaces and devices live as long as the process: there is nothing to clean up after it.
//!
//! - [`net`]: namespaces, devices, addresses.
//! - [`bpf`]: congestion controls that the kernel has not.
//! - [`forward`]: the router itself.
//! - [`hosts`]: real servers, clients and flows.
//! - [`engine`]: a scenario run with real TCP.
//! - [`between`]: a bottleneck for any program.

pub mod between;
pub mod bpf;
pub mod engine;
pub mod forward;
mod headers;
pub mod hosts;
pub mod net;
