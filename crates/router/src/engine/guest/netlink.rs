//! A socket by which the kernel is asked and told about the devices of a namespace, and what its
//! messages call the discipline at the link.

use crate::net::Namespace;
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use std::ffi::CString;
use std::io;

/// The handle of the discipline below the shaper: `10:`.
pub(super) const QUEUE: u32 = 0x0010_0000;

/// Opens one in a namespace: it stays there. Also the number of the device of this name.
///
/// # Errors
/// What the kernel refuses.
pub(super) fn open(space: &Namespace, device: &str) -> io::Result<(Socket, i32)> {
    let open = || -> io::Result<(Socket, i32)> {
        space.enter().map_err(io::Error::other)?;
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let name = CString::new(device)?;
        // SAFETY: the call gets a terminated string that outlives it.
        #[expect(unsafe_code, reason = "a system call with a C string")]
        let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
        Ok((socket, index as i32))
    };
    std::thread::scope(|scope| {
        scope.spawn(open).join().unwrap_or_else(|_| Err(io::Error::other("a thread died")))
    })
}
