//! The UDP socket below quinn: one system call for each datagram, so that each reaches the router
//! when quinn sends it, and the traffic class that the scenario wants.

use crate::hosts::sys;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Bytes that may wait to be read, and to be taken by the router.
const ROOM: i32 = 1 << 24;

/// What each packet says in its traffic class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// The upper six bits.
    pub dscp: u8,
    /// Whether the lower two are quinn's; otherwise they are none.
    pub ecn: bool,
}

#[derive(Debug)]
pub(super) struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    class: Class,
}

impl Socket {
    /// One with this address.
    pub(super) fn bind(address: SocketAddr, class: Class) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(address)?;
        for name in [libc::SO_RCVBUFFORCE, libc::SO_SNDBUFFORCE] {
            sys::set_option(socket.as_fd(), libc::SOL_SOCKET, name, ROOM)?;
        }
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { io: UdpSocket::from_std(socket)?, state, class })
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let ecn = transmit.ecn.filter(|_| self.class.ecn).map_or(0, |ecn: EcnCodepoint| ecn as u8);
        let from = transmit.src_ip.and_then(|from| match from {
            IpAddr::V4(from) => Some(from),
            IpAddr::V6(_) => None,
        });
        let SocketAddr::V4(to) = transmit.destination else { return Ok(()) };
        let class = self.class.dscp << 2 | ecn;
        let sent = self.io.try_io(Interest::WRITABLE, || {
            sys::send_datagram(self.io.as_fd(), transmit.contents, from, to, class)
        });
        match sent {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            // One that the host itself has no room for is lost like any other.
            _ => Ok(()),
        }
    }

    fn poll_recv(
        &self,
        context: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        about: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(context))?;
            let read = || self.state.recv((&self.io).into(), buffers, about);
            if let Ok(read) = self.io.try_io(Interest::READABLE, read) {
                return Poll::Ready(Ok(read));
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// Waits until a socket has room; each connection of a server has one of its own.
struct Writable {
    socket: Arc<Socket>,
    waiting: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>>,
}

impl std::fmt::Debug for Writable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Writable").field(&self.socket).finish()
    }
}

impl UdpPoller for Writable {
    fn poll_writable(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, waiting } = &mut *self;
        let future = waiting.get_or_insert_with(|| {
            let socket = Arc::clone(socket);
            Box::pin(async move { socket.io.writable().await })
        });
        let done = ready!(future.as_mut().poll(context));
        *waiting = None;
        Poll::Ready(done)
    }
}
