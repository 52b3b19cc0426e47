//! The full product of two numbers.

/// a·b. WebAssembly has no instruction for it and calls a function, around which the browser's
/// compiler saves what it holds; where both numbers fit into 32 bits one multiplication does.
#[inline(always)]
#[must_use]
pub fn product(a: u64, b: u64) -> u128 {
    if cfg!(target_arch = "wasm32") && (a | b) >> 32 == 0 {
        u128::from(a * b)
    } else {
        u128::from(a) * u128::from(b)
    }
}
