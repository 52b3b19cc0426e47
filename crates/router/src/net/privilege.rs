//! The right to make network namespaces: as root, or as root of a user namespace of our own.

use super::{Error, Namespace};
use std::fs;

/// Makes sure that the process may make network namespaces and configure them; without the
/// capabilities it becomes root of a user namespace of its own, where it has them. To be called
/// first of all: a process with several threads cannot enter a user namespace.
///
/// # Errors
/// What is missing, in one line.
pub fn acquire() -> Result<(), Error> {
    let Err(refused) = Namespace::new() else { return Ok(()) };
    // SAFETY: system calls without pointers.
    #[expect(unsafe_code, reason = "system calls")]
    let (user, group, done) =
        unsafe { (libc::geteuid(), libc::getegid(), libc::unshare(libc::CLONE_NEWUSER)) };
    if done != 0 {
        let own = std::io::Error::last_os_error();
        return Err(Error::Privilege { why: format!("{refused}; a user namespace: {own}") });
    }
    // user_namespaces(7): without privilege, setgroups must be denied before a group is mapped.
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_string()),
        ("/proc/self/uid_map", format!("0 {user} 1")),
        ("/proc/self/gid_map", format!("0 {group} 1")),
    ] {
        fs::write(file, text)
            .map_err(|e| Error::Privilege { why: format!("{refused}; {file}: {e}") })?;
    }
    Namespace::new().map(|_| ()).map_err(|e| Error::Privilege { why: e.to_string() })
}
