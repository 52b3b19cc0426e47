//! The tests of `sojourn-wasm` from outside: what it does does not depend on WebAssembly.

mod settings;
mod simulations;
mod theory;
