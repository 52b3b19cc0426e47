//! What can go wrong with namespaces and devices, in one line each.

use std::io;
use thiserror::Error as ThisError;

/// A system call that failed, with what it was for.
#[derive(Debug, ThisError)]
pub enum Error {
    /// The process may not make namespaces.
    #[error(
        "no network namespaces: {why}; run as root (sudo), or allow user namespaces \
         (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0)"
    )]
    Privilege {
        /// What was refused.
        why: String,
    },
    /// There is no TUN device to open.
    #[error("/dev/net/tun: {source}; load the module (modprobe tun) and allow its use")]
    Tun {
        /// The reason.
        source: io::Error,
    },
    /// Anything else.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// The reason.
        source: io::Error,
    },
}

impl Error {
    /// The last system call failed; it was for `what`.
    pub(crate) fn last(what: impl Into<String>) -> Self {
        Self::of(what, io::Error::last_os_error())
    }

    /// `what` failed with `source`.
    pub(crate) fn of(what: impl Into<String>, source: io::Error) -> Self {
        Self::System { what: what.into(), source }
    }
}
