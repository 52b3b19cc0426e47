//! The system calls that no safe library offers: namespaces of threads, precise timers, and what
//! the kernel knows of a TCP connection.
#![expect(unsafe_code, reason = "system calls")]

use sojourn_base::Time;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Lets the calling thread wake when it asked to, not up to 50 µs later.
pub fn wake_punctually() {
    // SAFETY: a system call without pointers; a failure only leaves the slack as it was.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1u64, 0u64, 0u64, 0u64) };
}

/// Time of the monotonic clock.
pub fn monotonic() -> Time {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    Time(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}

/// Sleeps until an instant of the monotonic clock.
pub fn sleep_until(instant: Time) {
    let until = timespec(instant);
    // SAFETY: the pointers are to a local and null; a signal ends the call and it is made anew.
    while unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const until,
            std::ptr::null_mut(),
        )
    } == libc::EINTR
    {}
}

fn timespec(Time(nanos): Time) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
    }
}

/// A timer of the monotonic clock that can be polled.
pub fn timer() -> io::Result<OwnedFd> {
    let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
    // SAFETY: a system call without pointers.
    let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// A descriptor that tasks of this thread's event loop can wait for to become readable.
pub fn pollable(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: what is registered owns the descriptor, nobody else has it, and it is never replaced.
    Ok(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?)
}

/// Lets a timer go off at an instant, at once if it is past.
pub fn set_timer(timer: BorrowedFd<'_>, instant: Time) -> io::Result<()> {
    let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // Zero would disarm it.
    let setting = libc::itimerspec { it_interval: none, it_value: timespec(instant.max(Time(1))) };
    // SAFETY: the pointers are to a local and null.
    let done = unsafe {
        libc::timerfd_settime(
            timer.as_raw_fd(),
            libc::TFD_TIMER_ABSTIME,
            &raw const setting,
            std::ptr::null_mut(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes note that a timer went off; whether it had.
pub fn clear_timer(timer: BorrowedFd<'_>) -> bool {
    let mut count = 0u64;
    // SAFETY: eight bytes are read into a local of eight; that there may be none does no harm.
    let read = unsafe { libc::read(timer.as_raw_fd(), (&raw mut count).cast(), 8) };
    read == 8
}

/// Sets a number as a socket option.
pub fn set_option(fd: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> io::Result<()> {
    // SAFETY: four bytes of a local.
    let done =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, (&raw const value).cast(), 4) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets a text as a socket option.
pub fn set_text(fd: BorrowedFd<'_>, level: i32, name: i32, text: &str) -> io::Result<()> {
    let length = text.len() as libc::socklen_t;
    // SAFETY: as many bytes as the text has.
    let done =
        unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, text.as_ptr().cast(), length) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends a datagram with this traffic class, from this address of the host's if it has several.
pub fn send_datagram(
    fd: BorrowedFd<'_>,
    bytes: &[u8],
    from: Option<Ipv4Addr>,
    to: SocketAddrV4,
    class: u8,
) -> io::Result<()> {
    let mut address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: to.port().to_be(),
        sin_addr: libc::in_addr { s_addr: to.ip().to_bits().to_be() },
        sin_zero: [0; 8],
    };
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut notes = Notes::default();
    // SAFETY: all zeros is a header of nothing.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_name = (&raw mut address).cast();
    header.msg_namelen = size_of_val(&address) as libc::socklen_t;
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = (&raw mut notes).cast();
    notes.class = Note::new(libc::IP_TOS, libc::c_int::from(class));
    let mut length = size_of_val(&notes.class);
    if let Some(from) = from {
        let from = libc::in_addr { s_addr: from.to_bits().to_be() };
        let any = libc::in_addr { s_addr: 0 };
        let about = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: from, ipi_addr: any };
        notes.from = Note::new(libc::IP_PKTINFO, about);
        length += size_of_val(&notes.from);
    }
    header.msg_controllen = length as _;
    // SAFETY: everything that the header names is there as long as the call takes.
    match unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const header, 0) } {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What is said about a datagram beside where it goes (`cmsg(3)`).
#[repr(C)]
struct Notes {
    class: Note<libc::c_int>,
    from: Note<libc::in_pktinfo>,
}

/// One of these: a header of twice a word, and what follows it, at the next word.
#[repr(C, align(8))]
struct Note<T> {
    header: libc::cmsghdr,
    value: T,
}

impl<T> Note<T> {
    fn new(kind: libc::c_int, value: T) -> Self {
        let length = size_of::<libc::cmsghdr>() + size_of::<T>();
        let header =
            libc::cmsghdr { cmsg_len: length as _, cmsg_level: libc::IPPROTO_IP, cmsg_type: kind };
        Self { header, value }
    }
}

impl Default for Notes {
    fn default() -> Self {
        let none = libc::in_addr { s_addr: 0 };
        let about = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst: none, ipi_addr: none };
        Self { class: Note::new(libc::IP_TOS, 0), from: Note::new(libc::IP_PKTINFO, about) }
    }
}

/// Closes a connection's direction from here.
pub fn shut(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a system call without pointers.
    match unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Allows as many open files as the system lets; how many that is.
pub fn allow_files() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a local of the right type.
    unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        // Root may go up to the system's own limit, which is a million everywhere.
        let wanted = libc::rlimit { rlim_cur: 1 << 20, rlim_max: limit.rlim_max.max(1 << 20) };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const wanted) == 0 {
            return 1 << 20;
        }
        limit.rlim_cur = limit.rlim_max;
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
    }
    limit.rlim_cur
}

/// The flag that a signal raises.
static RAISED: std::sync::atomic::AtomicPtr<std::sync::atomic::AtomicBool> =
    std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());

extern "C" fn raise(_: libc::c_int) {
    let flag = RAISED.load(std::sync::atomic::Ordering::Acquire);
    // SAFETY: null, or a flag that lives as long as the process.
    if let Some(flag) = unsafe { flag.as_ref() } {
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

/// Lets a signal set `flag`; all signals have the same.
pub fn on_signal(signal: libc::c_int, flag: &'static std::sync::atomic::AtomicBool) {
    let flag = std::ptr::from_ref(flag).cast_mut();
    RAISED.store(flag, std::sync::atomic::Ordering::Release);
    let handler = raise as extern "C" fn(libc::c_int);
    // SAFETY: the handler only stores to an atomic, which is safe in a handler.
    unsafe { libc::signal(signal, handler as libc::sighandler_t) };
}

/// What the kernel knows of a TCP connection (`struct tcp_info` of linux/tcp.h).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Segments sent again, SYNs included.
    pub retransmissions: u32,
    /// Expiries of the retransmission timer, SYNs included; from Linux 6.7 on.
    pub timeouts: Option<u16>,
    /// Smoothed round-trip time, µs; 0 before the first.
    pub srtt_us: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments; 2³¹ − 1 or more before the first congestion.
    pub ssthresh: u32,
    /// Bytes of a full segment.
    pub mss: u32,
    /// Segments sent and not acknowledged, of those the ones that arrived, that are lost, and that
    /// were sent again.
    pub unacked: u32,
    /// Of the unacknowledged, known to have arrived.
    pub sacked: u32,
    /// Of the unacknowledged, taken for lost.
    pub lost: u32,
    /// Of the lost, under way again.
    pub again: u32,
    /// Bytes acknowledged, the SYN as one of them.
    pub acked: u64,
    /// Segments sent, data or not.
    pub segments: u32,
    /// Segments with data sent.
    pub data_segments: u32,
}

impl TcpInfo {
    /// Bytes that are under way as the sender believes.
    pub fn in_flight_bytes(&self) -> u64 {
        let left = u64::from(self.unacked).saturating_sub(u64::from(self.sacked + self.lost));
        (left + u64::from(self.again)) * u64::from(self.mss)
    }

    /// Bytes of payload that are acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.acked.saturating_sub(1)
    }

    /// The slow-start threshold in bytes, after congestion.
    pub fn ssthresh_bytes(&self) -> Option<u64> {
        (self.ssthresh < i32::MAX as u32).then(|| u64::from(self.ssthresh) * u64::from(self.mss))
    }

    fn read(bytes: &[u8]) -> Self {
        let word = |at: usize| {
            bytes.get(at..at + 4).map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
        };
        Self {
            retransmissions: word(100),
            timeouts: bytes.get(240..242).map(|b| u16::from_ne_bytes([b[0], b[1]])),
            srtt_us: word(68),
            cwnd: word(80),
            ssthresh: word(76),
            mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            again: word(36),
            acked: bytes
                .get(120..128)
                .and_then(|b| b.try_into().ok())
                .map_or(0, u64::from_ne_bytes),
            segments: word(136),
            data_segments: word(156),
        }
    }
}

/// Asks for it.
pub fn tcp_info(fd: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut bytes = [0u8; 512];
    let mut length = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into the local and says how many.
    let done = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(TcpInfo::read(&bytes[..length as usize]))
}

/// Whether this kernel counts timeouts of connections.
pub fn knows_timeouts() -> bool {
    let socket = tokio::net::TcpSocket::new_v4();
    let info = socket.and_then(|socket| tcp_info(std::os::fd::AsFd::as_fd(&socket)));
    info.is_ok_and(|info| info.timeouts.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;
    use std::os::fd::AsFd;

    #[test]
    fn a_connection_over_the_loopback_has_sent_what_it_sent() {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 1000]).unwrap();
        server.read_exact(&mut [0; 1000]).unwrap();
        let info = tcp_info(client.as_fd()).unwrap();
        assert_eq!((info.data_segments, info.retransmissions), (1, 0));
        assert!(info.cwnd >= 2 && info.mss > 500 && info.srtt_us > 0, "{info:?}");
        assert_eq!(info.ssthresh_bytes(), None);
    }

    #[test]
    fn a_shorter_answer_of_an_older_kernel_has_no_timeouts() {
        let info = TcpInfo::read(&[1; 232]);
        assert_eq!(info.timeouts, None);
        assert_eq!(info.retransmissions, 0x0101_0101);
        assert_eq!(TcpInfo::read(&[1; 248]).timeouts, Some(0x0101));
    }

    #[test]
    fn a_datagram_has_the_class_and_the_source_that_it_is_given() {
        let server = std::net::UdpSocket::bind("127.0.0.9:0").unwrap();
        let SocketAddr::V4(to) = server.local_addr().unwrap() else { unreachable!() };
        set_option(server.as_fd(), libc::IPPROTO_IP, libc::IP_RECVTOS, 1).unwrap();
        let client = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
        let state = quinn::udp::UdpSocketState::new((&server).into()).unwrap();
        for (from, class, marked) in [("127.0.0.7", 0xba, true), ("127.0.0.8", 0, false)] {
            let from: Ipv4Addr = from.parse().unwrap();
            send_datagram(client.as_fd(), &[5; 77], Some(from), to, class).unwrap();
            let mut poll =
                libc::pollfd { fd: server.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one descriptor, one structure.
            assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 1000) }, 1);
            let mut bytes = [0; 100];
            let mut about = [quinn::udp::RecvMeta::default()];
            let mut buffers = [io::IoSliceMut::new(&mut bytes)];
            assert_eq!(state.recv((&server).into(), &mut buffers, &mut about).unwrap(), 1);
            assert_eq!((about[0].addr.ip(), about[0].len), (from.into(), 77));
            assert_eq!(about[0].ecn.map(|ecn| ecn as u8), marked.then_some(2));
        }
    }

    #[test]
    fn a_timer_in_the_past_goes_off_at_once() {
        let timer = timer().unwrap();
        set_timer(timer.as_fd(), monotonic() - Time(5)).unwrap();
        let mut poll = libc::pollfd { fd: timer.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, one structure.
        assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 1000) }, 1);
        clear_timer(timer.as_fd());
        // SAFETY: as above.
        assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 0) }, 0);
    }
}
