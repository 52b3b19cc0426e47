//! Programs that run inside a namespace and do not outlive this process.

use super::{Error, Namespace, enclosed, namespace};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};

/// A program that runs inside a namespace. It is ended when this is dropped, with all that it has
/// started.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    name: String,
}

/// Starts `command` inside `namespace`. When the calling *thread* ends, the program is killed, and
/// when the program ends, whatever it has started: even if this process is killed, nothing stays
/// behind.
///
/// # Errors
/// If there is no such program, or it cannot be started.
pub fn spawn(namespace: &Namespace, mut command: Command) -> Result<Child, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let descriptor = namespace.descriptor();
    // SAFETY: after fork and before exec only system calls are made.
    #[expect(unsafe_code, reason = "system calls between fork and exec")]
    unsafe {
        let parent = libc::getpid();
        command.pre_exec(move || {
            namespace::enter(descriptor)?;
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
            // It may have died before it was asked for.
            if libc::getppid() != parent {
                libc::_exit(1);
            }
            enclosed::enclose()
        });
    }
    let process = command.spawn().map_err(|e| Error::of(&name, e))?;
    Ok(Child { process, name })
}

impl Child {
    /// The program's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A process in its network namespace.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// If that cannot be found out.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.process.try_wait().map_err(|e| Error::of(&self.name, e))
    }

    /// Asks it to end, with SIGTERM.
    pub fn ask_to_end(&self) {
        self.signal(libc::SIGTERM);
    }

    fn signal(&self, signal: i32) {
        // SAFETY: a system call without pointers; the process has not been waited for.
        #[expect(unsafe_code, reason = "a system call")]
        unsafe {
            libc::kill(self.process.id() as libc::pid_t, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // If it has ended, it has been waited for, and its number may be another's.
        if matches!(self.process.try_wait(), Ok(None)) {
            self.signal(enclosed::END);
            let _ = self.process.wait();
        }
    }
}
