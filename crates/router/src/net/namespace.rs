//! A network namespace that is held by a file descriptor and has no name.

use super::Error;
use std::fs::File;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::thread;

/// A network namespace. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Namespace(Arc<File>);

/// The namespace of the calling thread (`/proc/self` would be that of the first thread).
const OWN: &str = "/proc/thread-self/ns/net";

impl Namespace {
    /// Makes an empty one. The calling thread stays where it is.
    ///
    /// # Errors
    /// If the process may not; see [`acquire`](super::acquire).
    pub fn new() -> Result<Self, Error> {
        on_a_thread(|| {
            // SAFETY: a system call without pointers; it concerns this thread, which ends here.
            #[expect(unsafe_code, reason = "a system call")]
            let done = unsafe { libc::unshare(libc::CLONE_NEWNET) };
            if done != 0 {
                return Err(Error::last("a network namespace"));
            }
            Self::current()
        })
    }

    /// That of the calling thread.
    ///
    /// # Errors
    /// If /proc is not there.
    pub fn current() -> Result<Self, Error> {
        let file = File::open(OWN).map_err(|e| Error::of(OWN, e))?;
        Ok(Self(Arc::new(file)))
    }

    /// Moves the calling thread into it. What the thread opens from then on, sockets and threads,
    /// belongs there.
    ///
    /// # Errors
    /// If the process may not.
    pub fn enter(&self) -> Result<(), Error> {
        enter(self.descriptor()).map_err(|e| Error::of("entering a network namespace", e))
    }

    /// Runs `work` inside, on a thread of its own.
    ///
    /// # Errors
    /// If the namespace cannot be entered, or what `work` gives.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        on_a_thread(|| {
            self.enter()?;
            work()
        })
    }

    /// A path by which other programs can name it as long as this process has it.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.descriptor())
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Moves the calling thread into the namespace behind a descriptor. Async-signal-safe.
pub(super) fn enter(descriptor: RawFd) -> std::io::Result<()> {
    // SAFETY: a system call without pointers.
    #[expect(unsafe_code, reason = "a system call")]
    let done = unsafe { libc::setns(descriptor, libc::CLONE_NEWNET) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

fn on_a_thread<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        thread::Builder::new()
            .name("namespace".into())
            .spawn_scoped(scope, work)
            .map_err(|e| Error::of("a thread", e))?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
