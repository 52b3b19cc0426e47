//! Asking the processor for memory before it is needed. With ten thousand flows nearly every
//! event finds its connection and its slot outside the caches; results are the same without.

/// Cache lines hold 64 bytes on every processor that this runs on.
const LINE: usize = 64;

/// Asks for the cache lines of `bytes` bytes from `at` on.
#[inline(always)]
pub(crate) fn lines<T>(at: &T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(at).cast::<i8>();
        for offset in (0..bytes).step_by(LINE) {
            // SAFETY: a prefetch is a hint; it neither reads nor faults at any address.
            #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(offset));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (at, bytes, LINE);
}
