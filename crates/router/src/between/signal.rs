//! Ctrl-C and its like: the run ends, with its result.

use std::sync::atomic::{AtomicBool, Ordering};

static CAME: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_: libc::c_int) {
    CAME.store(true, Ordering::Relaxed);
}

/// From now on a request to end is noted instead of ending the process. Programs that are started
/// later have their own ways again.
pub fn listen() {
    let handler = note as extern "C" fn(libc::c_int);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler does nothing but store to an atomic, which may be done in one.
        #[expect(unsafe_code, reason = "a system call with a handler")]
        unsafe {
            libc::signal(signal, handler as libc::sighandler_t);
        }
    }
}

/// Whether someone has asked for the end.
pub fn came() -> bool {
    CAME.load(Ordering::Relaxed)
}
