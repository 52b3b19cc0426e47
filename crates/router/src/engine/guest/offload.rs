//! Segmentation and coalescing by devices, switched off: queues are to see packets as a wire does.
#![expect(unsafe_code, reason = "system calls")]

use crate::net::Namespace;
use std::io;
use std::os::fd::AsRawFd;

/// linux/ethtool.h: the commands that set transmit segmentation, TCP's and generic, and generic
/// receive coalescing.
const OFF: [(u32, &str); 3] = [(0x1f, "tso"), (0x24, "gso"), (0x2c, "gro")];
/// linux/sockios.h.
const SIOCETHTOOL: libc::Ioctl = 0x8946;

#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Switches them off on devices of a namespace.
///
/// # Errors
/// The device and what it refuses.
pub(super) fn switch_off(space: &Namespace, devices: &[&str]) -> Result<(), String> {
    std::thread::scope(|scope| {
        let work = || {
            space.enter().map_err(|error| error.to_string())?;
            for device in devices {
                device_off(device)?;
            }
            Ok(())
        };
        scope.spawn(work).join().unwrap_or_else(|_| Err("a thread died".into()))
    })
}

fn device_off(device: &str) -> Result<(), String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").map_err(|error| error.to_string())?;
    for (command, name) in OFF {
        let mut value = Value { command, data: 0 };
        // SAFETY: all bytes zero are a valid `ifreq`; the call gets one that outlives it, with a
        // pointer to a local of the size that the command wants.
        let done = unsafe {
            let mut request: libc::ifreq = std::mem::zeroed();
            for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
                *to = from as libc::c_char;
            }
            request.ifr_ifru.ifru_data = (&raw mut value).cast();
            libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request)
        };
        let error = io::Error::last_os_error();
        // A device that does not know a thing does not do it.
        if done != 0 && error.raw_os_error() != Some(libc::EOPNOTSUPP) {
            return Err(format!("{device}: {name} off: {error}"));
        }
    }
    Ok(())
}
