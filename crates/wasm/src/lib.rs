//! The packet and fluid engines for WebAssembly: nothing but conversion.
//!
//! Settings, names and summaries go in and out as text (TOML and JSON), observations and tables as
//! numbers. JavaScript writes into buffers of this module and reads from others ([`exports`]);
//! `js/engine.js` is the other half. Nothing of the browser is imported, so the module runs in
//! whatever runs WebAssembly, and gives the same results there as natively, to the bit.
//!
//! Everything but [`exports`] is ordinary Rust without knowledge of WebAssembly.

pub mod exports;
mod numbers;
mod settings;
mod simulations;
mod theory;

pub use settings::{changed, fields};
pub use simulations::Simulations;
pub use theory::{linearise, margins, nyquist};

/// Memory that an engine in WebAssembly can have: pointers have 32 bits.
pub const MEMORY: f64 = 4.294_967_296e9;

/// An error as one line.
fn words(error: impl ToString) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
