//! What passes a device, seen by packet sockets: the beginning of every packet, with the kernel's
//! time stamp.
#![expect(unsafe_code, reason = "system calls")]

use crate::headers::{IPV4_HEADER, TCP, UDP_HEADER, word};
use crate::net::Namespace;
use sojourn_base::{Ecn, Time};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes of a packet that are looked at: the headers of IP and TCP, or the number of a datagram.
const LOOK: usize = 72;
/// Packets that are read at a time.
const BURST: usize = 64;
/// Room for what is not read yet: seconds of a fast link.
const BUFFER: libc::c_int = 256 << 20;
/// Room for a time stamp beside a packet.
const BESIDE: usize = 64;

/// A packet that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// When, on the clock of the whole machine.
    pub at: Time,
    /// Names the packet: a hash of what does not change on its way.
    pub name: u64,
    /// Names its flow.
    pub flow: u32,
    /// Length of the IP packet.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// Which packets of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Those that come in.
    In,
    /// Those that go out, when the device is given them: behind its queue.
    Out,
}

/// A packet socket on a device.
pub(super) struct Tap {
    socket: OwnedFd,
    /// What was seen.
    pub seen: Vec<Seen>,
}

impl Tap {
    /// A tap inside a namespace, with room for so many packets before memory is asked for again.
    ///
    /// # Errors
    /// What the kernel refuses, in one line.
    pub(super) fn new(
        space: &Namespace,
        device: &str,
        way: Way,
        room: usize,
    ) -> Result<Self, String> {
        let opened = std::thread::scope(|scope| {
            let work = || {
                space.enter().map_err(io::Error::other)?;
                open(device, way)
            };
            scope.spawn(work).join().unwrap_or_else(|_| Err(io::Error::other("a thread died")))
        });
        let socket = opened.map_err(|error| format!("a tap on {device}: {error}"))?;
        Ok(Self { socket, seen: Vec::with_capacity(room) })
    }

    /// Reads what has come.
    ///
    /// # Errors
    /// If the socket fails.
    pub(super) fn read(&mut self) -> io::Result<()> {
        let mut packets = [[0u8; LOOK]; BURST];
        let mut beside = [[0u64; BESIDE / 8]; BURST];
        loop {
            let mut vectors: [libc::iovec; BURST] = std::array::from_fn(|at| libc::iovec {
                iov_base: packets[at].as_mut_ptr().cast(),
                iov_len: LOOK,
            });
            // SAFETY: all bytes zero are a valid header; the pointers are to locals that outlive
            // the call, with their lengths.
            let (mut headers, count) = unsafe {
                let mut headers: [libc::mmsghdr; BURST] = std::mem::zeroed();
                for (at, header) in headers.iter_mut().enumerate() {
                    header.msg_hdr.msg_iov = &raw mut vectors[at];
                    header.msg_hdr.msg_iovlen = 1;
                    header.msg_hdr.msg_control = beside[at].as_mut_ptr().cast();
                    header.msg_hdr.msg_controllen = BESIDE;
                }
                let count = libc::recvmmsg(
                    self.socket.as_raw_fd(),
                    headers.as_mut_ptr(),
                    BURST as libc::c_uint,
                    libc::MSG_DONTWAIT,
                    std::ptr::null_mut(),
                );
                (headers, count)
            };
            if count < 0 {
                let error = io::Error::last_os_error();
                let nothing = error.kind() == io::ErrorKind::WouldBlock;
                return if nothing { Ok(()) } else { Err(error) };
            }
            let count = count as usize;
            for (header, packet) in headers.iter_mut().zip(&packets).take(count) {
                let length = (header.msg_len as usize).min(LOOK);
                let at = stamp(&header.msg_hdr);
                self.seen.extend(at.and_then(|at| read(&packet[..length], at)));
            }
            if count < BURST {
                return Ok(());
            }
        }
    }

    /// Packets that the kernel had no room for; asking sets them to none.
    #[must_use]
    pub(super) fn missed(&self) -> u32 {
        // linux/if_packet.h: struct tpacket_stats, packets and drops.
        let mut counts = [0u32; 2];
        let mut length = 8 as libc::socklen_t;
        // SAFETY: eight bytes of a local.
        unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                counts.as_mut_ptr().cast(),
                &raw mut length,
            );
        }
        counts[1]
    }
}

fn open(device: &str, way: Way) -> io::Result<OwnedFd> {
    let name = CString::new(device)?;
    // All protocols: others than IP would not see what goes out, and what comes in only after IP
    // has forwarded it.
    let all = (libc::ETH_P_ALL as u16).to_be();
    // SAFETY: system calls with pointers to locals that outlive them, and their sizes.
    unsafe {
        let descriptor = libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(descriptor);
        let set = |level, option, value: *const libc::c_void, length: usize| {
            let length = length as libc::socklen_t;
            match libc::setsockopt(descriptor, level, option, value, length) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        let number = |level, option, value: libc::c_int| {
            set(level, option, (&raw const value).cast(), size_of::<libc::c_int>())
        };
        // Only packets of the way that is wanted, and their first bytes: linux/filter.h, with the
        // kind of packet as the extension at SKF_AD_OFF + SKF_AD_PKTTYPE.
        let outgoing = u32::from(libc::PACKET_OUTGOING);
        let (same, other) = if way == Way::Out { (0, 1) } else { (1, 0) };
        let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
        let mut filter = [
            step(libc::BPF_LD | libc::BPF_B | libc::BPF_ABS, 0, 0, (-0x1000i32 + 4) as u32),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, same, other, outgoing),
            step(libc::BPF_RET | libc::BPF_K, 0, 0, LOOK as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
        ];
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        set(
            libc::SOL_SOCKET,
            libc::SO_ATTACH_FILTER,
            (&raw const program).cast(),
            size_of::<libc::sock_fprog>(),
        )?;
        number(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, BUFFER)?;
        number(libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
        let mut address: libc::sockaddr_ll = std::mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = all;
        address.sll_ifindex = libc::if_nametoindex(name.as_ptr()) as libc::c_int;
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        if address.sll_ifindex == 0
            || libc::bind(descriptor, (&raw const address).cast(), length) != 0
        {
            return Err(io::Error::last_os_error());
        }
        Ok(socket)
    }
}

/// The time stamp beside a packet, ns.
fn stamp(header: &libc::msghdr) -> Option<Time> {
    // SAFETY: the kernel has filled the header in; a time stamp has the size of a `timespec`.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(header);
        while let Some(each) = control.as_ref() {
            if each.cmsg_level == libc::SOL_SOCKET && each.cmsg_type == libc::SCM_TIMESTAMPNS {
                let time = libc::CMSG_DATA(control).cast::<libc::timespec>().read_unaligned();
                return Some(Time(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64));
            }
            control = libc::CMSG_NXTHDR(header, control);
        }
        None
    }
}

/// What the first bytes of a packet say; none if it is no IPv4.
fn read(packet: &[u8], at: Time) -> Option<Seen> {
    if packet.len() < IPV4_HEADER + UDP_HEADER || packet[0] >> 4 != 4 {
        return None;
    }
    let header = usize::from(packet[0] & 15) * 4;
    // On the way the ECN field (1), the time to live (8) and the checksum (10, 11) change, and the
    // transport's checksum is filled in late by whoever sends: it lies at 16 in TCP, at 6 in UDP.
    let checksum = header + if packet[9] == TCP { 16 } else { 6 };
    let steady = |place: &usize| !matches!(place, 1 | 8 | 10 | 11) && place - place % 2 != checksum;
    let name = (0..packet.len()).filter(steady).fold(0xcbf2_9ce4_8422_2325, |hash: u64, place| {
        // FNV-1a.
        (hash ^ u64::from(packet[place])).wrapping_mul(0x0100_0000_01b3)
    });
    let ports = packet.get(header..header + 4).unwrap_or_default();
    let flow = packet[12..20]
        .iter()
        .chain(ports)
        .fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    let bytes = u32::from(word(packet, 2));
    Some(Seen { at, name, flow, bytes, ecn: Ecn::from_bits(packet[1]) })
}

/// How far the clock of the whole machine is ahead of the monotonic one.
#[must_use]
pub(super) fn ahead() -> Time {
    let clock = |which| {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call gets a time that outlives it.
        unsafe { libc::clock_gettime(which, &raw mut now) };
        Time(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
    };
    let before = clock(libc::CLOCK_MONOTONIC);
    let real = clock(libc::CLOCK_REALTIME);
    let after = clock(libc::CLOCK_MONOTONIC);
    real.saturating_sub(before + (after - before) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(tos: u8, ttl: u8, number: u16) -> Vec<u8> {
        let mut bytes = vec![0u8; 60];
        (bytes[0], bytes[1], bytes[3], bytes[8], bytes[9]) = (0x45, tos, 200, ttl, 6);
        bytes[4..6].copy_from_slice(&number.to_be_bytes());
        bytes[12..20].copy_from_slice(&[10, 0, 1, 0, 10, 128, 1, 0]);
        bytes[20..24].copy_from_slice(&[4, 0, 0x9c, 0x40]);
        bytes
    }

    #[test]
    fn a_packet_keeps_its_name_on_its_way_and_another_has_another() {
        let before = read(&packet(2, 64, 7), Time(5)).unwrap();
        let mut changed = packet(3, 63, 7);
        (changed[10], changed[36]) = (9, 9);
        let after = read(&changed, Time(9)).unwrap();
        assert_eq!((before.name, before.flow), (after.name, after.flow));
        assert_eq!((before.ecn, after.ecn, before.bytes), (Ecn::Ect0, Ecn::Ce, 200));
        let next = read(&packet(2, 64, 8), Time(5)).unwrap();
        assert_ne!(before.name, next.name);
        assert_eq!(before.flow, next.flow);
    }

    #[test]
    fn other_frames_are_ignored() {
        assert_eq!(read(&[0x45; 10], Time(0)), None);
        assert_eq!(read(&[0x60; 40], Time(0)), None);
    }
}
