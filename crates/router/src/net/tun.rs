//! A TUN device: its packets are read and written as bytes.

use super::Namespace;
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

/// `ioctl` that makes the device: `_IOW('T', 202, int)`.
const TUNSETIFF: libc::Ioctl = 0x4004_54ca;

/// Packets of layer 3, and nothing before each. Without a header that says so there are no
/// offloads: what is read is what would be on a wire, never a burst of many segments.
const FLAGS: libc::c_short = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;

/// A TUN device inside a namespace. It vanishes when it is dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Makes the device `name` (at most 15 bytes) within `namespace`.
    ///
    /// # Errors
    /// If there is no `/dev/net/tun`, or it may not be used.
    pub fn new(namespace: &Namespace, name: &str) -> Result<Self, super::Error> {
        assert!(name.len() < libc::IFNAMSIZ, "a device's name has at most 15 bytes");
        namespace.run(|| {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .custom_flags(libc::O_NONBLOCK)
                .open("/dev/net/tun")
                .map_err(|source| super::Error::Tun { source })?;
            // SAFETY: all bytes zero are a valid `ifreq`; the call gets one that outlives it.
            #[expect(unsafe_code, reason = "a system call with a C structure")]
            let done = unsafe {
                let mut request: libc::ifreq = std::mem::zeroed();
                for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
                    *to = from as libc::c_char;
                }
                request.ifr_ifru.ifru_flags = FLAGS;
                libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut request)
            };
            if done < 0 {
                return Err(super::Error::last(format!("TUN device {name}")));
            }
            Ok(Self { file })
        })
    }

    /// Reads a packet that the namespace sends, if there is one; longer ones are cut to `buffer`.
    ///
    /// # Errors
    /// If the device is gone.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
        // SAFETY: the kernel writes at most as many bytes as the buffer has. The bare call, here and
        // below: C libraries wrap the others so that threads can be cancelled in them, which is a
        // thirtieth of a router's time.
        #[expect(unsafe_code, reason = "a system call with a buffer")]
        let read = unsafe {
            let start = buffer.as_mut_ptr();
            libc::syscall(libc::SYS_read, self.file.as_raw_fd(), start, buffer.len())
        };
        if read >= 0 {
            return Ok(Some(read as usize));
        }
        let error = Error::last_os_error();
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(None),
            _ => Err(error),
        }
    }

    /// Hands a packet to the namespace; false if its kernel refuses it, as it does a packet
    /// that is no IP.
    #[inline]
    pub fn write(&mut self, packet: &[u8]) -> bool {
        loop {
            // SAFETY: the kernel reads as many bytes as the packet has.
            #[expect(unsafe_code, reason = "a system call with a buffer")]
            let written = unsafe {
                let start = packet.as_ptr();
                libc::syscall(libc::SYS_write, self.file.as_raw_fd(), start, packet.len())
            };
            if written >= 0 {
                return written as usize == packet.len();
            }
            if Error::last_os_error().kind() != ErrorKind::Interrupted {
                return false;
            }
        }
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}
