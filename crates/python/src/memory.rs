//! The allocator of the engines.
//!
//! On Linux it asks for large pages under all that they hold: with thousands of flows the processor
//! would otherwise spend a tenth of its time, and more, finding out where a page is.

use libmimalloc_sys::{mi_option_set, mi_option_t};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// `mi_option_purge_delay` of mimalloc.h: milliseconds until memory that was freed is given back.
const PURGE_DELAY: mi_option_t = 15;

/// Has memory given back when it is freed. A table that grows leaves its smaller copies behind,
/// which would be a fifth of the memory of a hundred thousand flows at their peak.
pub(crate) fn give_back_at_once() {
    // SAFETY: it stores a number.
    #[expect(unsafe_code, reason = "a function in C")]
    unsafe {
        mi_option_set(PURGE_DELAY, 0);
    }
}
