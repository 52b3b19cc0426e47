//! A TUN device: packets are read, also in bursts of many, and written as bytes.

use super::burst::{Burst, HEADER};
use super::{Merge, Namespace};
use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, IoSlice};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

/// `ioctl` that makes the device: `_IOW('T', 202, int)`.
const TUNSETIFF: libc::Ioctl = 0x4004_54ca;

/// `ioctl` that says what the device does for its host: `_IOW('T', 208, unsigned int)`.
const TUNSETOFFLOAD: libc::Ioctl = 0x4004_54d0;

/// Packets of layer 3, before each of which stands what is left to do of it.
const FLAGS: libc::c_short = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as _;

/// It completes checksums (1) and cuts bursts of TCP over IPv4 (2).
const OFFLOADS: libc::c_ulong = 1 | 2;

/// What stands before a packet of which nothing is left to do.
const DONE: [u8; HEADER] = [0; HEADER];

/// The longest that a device gives in one read, bytes.
pub const LONGEST: usize = HEADER + 65_536;

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
                match libc::ioctl(file.as_raw_fd(), TUNSETIFF, &raw mut request) {
                    0 => libc::ioctl(file.as_raw_fd(), TUNSETOFFLOAD, OFFLOADS),
                    failed => failed,
                }
            };
            if done < 0 {
                return Err(super::Error::last(format!("TUN device {name}")));
            }
            Ok(Self { file })
        })
    }

    /// Reads what the namespace sends, if there is anything, into a buffer of [`LONGEST`] bytes.
    ///
    /// # Errors
    /// If the device is gone.
    #[inline]
    pub fn read<'a>(&mut self, buffer: &'a mut [u8]) -> std::io::Result<Option<Burst<'a>>> {
        // SAFETY: the kernel writes at most as many bytes as the buffer has. The bare call, here
        // and below: C libraries wrap the others so that threads can be cancelled in them, which is
        // a thirtieth of a router's time.
        #[expect(unsafe_code, reason = "a system call with a buffer")]
        let read = unsafe {
            let start = buffer.as_mut_ptr();
            libc::syscall(libc::SYS_read, self.file.as_raw_fd(), start, buffer.len())
        };
        if read >= 0 {
            return Ok(Some(Burst::new(&mut buffer[..read as usize])));
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
        self.write_parts([IoSlice::new(&DONE), IoSlice::new(packet)])
    }

    /// Hands over what was merged: how many packets, and whether the kernel takes them.
    pub fn write_merged(&mut self, merge: &mut Merge) -> (u32, bool) {
        let Some((bytes, packets)) = merge.finish() else { return (0, true) };
        (packets, self.write_parts([IoSlice::new(bytes), IoSlice::new(&[])]))
    }

    #[inline]
    fn write_parts(&mut self, parts: [IoSlice<'_>; 2]) -> bool {
        loop {
            // SAFETY: the kernel reads as many bytes as both parts have, which outlive the call.
            #[expect(unsafe_code, reason = "a system call with buffers")]
            let written = unsafe {
                libc::syscall(libc::SYS_writev, self.file.as_raw_fd(), parts.as_ptr(), 2)
            };
            if written >= 0 {
                return written as usize == parts[0].len() + parts[1].len();
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
