//! A PID namespace for a program and whatever it starts: when its first process
//! ends, the kernel ends all others, also those that have become daemons.
//!
//! Three processes come of a fork: the *guard* stays outside and is what the caller knows, the
//! *first* inside does nothing but wait, and the third becomes the program. (As the first one
//! inside, the program would not be ended by signals that it does not handle.) Guard and first wait
//! between fork and exec, so that they make system calls only.

use std::io::{Error, Result};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

/// What the guard is sent to end everything at once.
pub(super) const END: i32 = libc::SIGUSR2;

/// What guard and first take in turn instead of ending. A terminal sends its signals to the program
/// as well; SIGTERM is handed on.
const TAKEN: [i32; 6] =
    [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, END];

/// Returns in the program-to-be, inside; the calling process goes on as the guard. To be called
/// between fork and exec.
pub(super) fn enclose() -> Result<()> {
    let before = block()?;
    // SAFETY: system calls; `ends` outlives them.
    #[expect(unsafe_code, reason = "system calls between fork and exec")]
    unsafe {
        let mut ends = [0; 2];
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        check(libc::unshare(libc::CLONE_NEWPID | libc::CLONE_NEWNS))?;
        let first = check(libc::fork())?;
        if first != 0 {
            // Whoever started us waits for the end of a pipe to learn whether the program began;
            // ours stays open as long as this process is there.
            close_but(ends[1]);
            attend(first);
        }
        libc::close(ends[1]);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong);
        // The guard may have died before that.
        let mut guard = libc::pollfd { fd: ends[0], events: 0, revents: 0 };
        if libc::poll(&raw mut guard, 1, 0) != 0 {
            libc::_exit(1);
        }
        own_numbers();
        let program = check(libc::fork())?;
        if program != 0 {
            close_but(-1);
            attend(program);
        }
        check(libc::sigprocmask(libc::SIG_SETMASK, &raw const before, null_mut()))?;
    }
    Ok(())
}

/// The program sees the numbers of its namespace in /proc; where that cannot be mounted, those
/// outside.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
unsafe fn own_numbers() {
    let root = c"/".as_ptr();
    // SAFETY: strings that end with a zero, or none.
    unsafe {
        let flags = libc::MS_REC | libc::MS_SLAVE;
        if libc::mount(null(), root, null(), flags, null()) == 0 {
            let proc = c"proc".as_ptr();
            let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
            libc::mount(proc, c"/proc".as_ptr(), proc, flags, null());
        }
    }
}

/// Waits until `child` ends, and ends as a shell does then.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
unsafe fn attend(child: libc::pid_t) -> ! {
    let taken = set();
    loop {
        let mut status = 0;
        // SAFETY: system calls on values of this function.
        unsafe {
            match libc::sigwaitinfo(&raw const taken, null_mut()) {
                libc::SIGTERM => {
                    libc::kill(child, libc::SIGTERM);
                }
                END => {
                    libc::kill(child, libc::SIGKILL);
                }
                _ => {}
            }
            loop {
                let ended = libc::waitpid(-1, &raw mut status, libc::WNOHANG);
                if ended == child {
                    libc::_exit(code(status));
                }
                if ended <= 0 {
                    break;
                }
            }
        }
    }
}

fn code(status: i32) -> i32 {
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

/// Closes all that was inherited but for the terminal's and one more.
#[expect(unsafe_code, reason = "system calls between fork and exec")]
unsafe fn close_but(kept: i32) {
    // SAFETY: descriptors of this process, none of which is used again.
    unsafe {
        let most = match libc::sysconf(libc::_SC_OPEN_MAX) {
            most @ 4..=65_536 => most as i32,
            _ => 65_536,
        };
        for descriptor in (3..most).filter(|&each| each != kept) {
            libc::close(descriptor);
        }
    }
}

fn set() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call fills it.
    #[expect(unsafe_code, reason = "sets of signals")]
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in TAKEN {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Blocks what is taken in turn; what was blocked before.
fn block() -> Result<libc::sigset_t> {
    let taken = set();
    let mut before = MaybeUninit::uninit();
    // SAFETY: filled if it succeeds.
    #[expect(unsafe_code, reason = "sets of signals")]
    unsafe {
        // Where it is ignored, children vanish without being waited for.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const taken, before.as_mut_ptr()))?;
        Ok(before.assume_init())
    }
}

fn check(result: i32) -> Result<i32> {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(result) }
}
