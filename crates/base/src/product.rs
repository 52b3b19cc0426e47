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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_is_full_whatever_the_numbers() {
        assert_eq!(product(3, 5), 15);
        let (small, large) = (u64::from(u32::MAX), u64::MAX);
        assert_eq!(product(small, small), 0xffff_fffe_0000_0001);
        assert_eq!(product(small + 1, small), u128::from(small) << 32);
        assert_eq!(product(large, large), (1 << 64) * (u128::from(large) - 1) + 1);
        assert_eq!(product(large, 0), 0);
    }
}
