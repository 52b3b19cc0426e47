//! Large pages for large tables: with a hundred thousand flows most of the time would go into
//! finding out where a page is. Linux gives large pages to whoever asks; elsewhere this does
//! nothing. Results do not depend on it.

/// Tables from this size on are worth it: a few large pages.
const LARGE: usize = 8 << 20;

/// Asks for large pages under the memory that `table` has room in, if it is large.
pub(crate) fn pages<T>(table: &mut Vec<T>) {
    let bytes = table.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let start = (table.as_mut_ptr() as usize).next_multiple_of(PAGE);
        let end = (table.as_mut_ptr() as usize + bytes) / PAGE * PAGE;
        // SAFETY: the range lies within one allocation of this process, and the advice changes
        // how it is mapped, not what it holds. A refusal is no harm.
        #[expect(unsafe_code, reason = "a system call")]
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
    }
}
