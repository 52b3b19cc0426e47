//! Timers for quinn that go off when they are asked to: one of the kernel's for each connection.

use crate::hosts::sys;
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime};
use sojourn_base::Time;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::unix::AsyncFd;

/// Tokio with such timers.
#[derive(Debug)]
pub(super) struct Punctual;

impl Runtime for Punctual {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        let timer = sys::timer().and_then(sys::pollable);
        let Ok(timer) = timer else { return TokioRuntime.new_timer(at) };
        let mut timer = Box::pin(Timer(timer));
        timer.as_mut().reset(at);
        timer
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        TokioRuntime.spawn(task);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }
}

struct Timer(AsyncFd<OwnedFd>);

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timer").field(self.0.get_ref()).finish()
    }
}

impl AsyncTimer for Timer {
    fn reset(self: Pin<&mut Self>, at: Instant) {
        let left = at.saturating_duration_since(Instant::now());
        let instant = sys::monotonic().saturating_add(Time(left.as_nanos() as u64));
        // The timer is there and the setting right: nothing can fail.
        let _ = sys::set_timer(self.0.get_ref().as_fd(), instant);
    }

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let Ok(mut ready) = ready!(self.0.poll_read_ready(context)) else {
                return Poll::Pending;
            };
            ready.clear_ready();
            // It may have been set anew since it went off.
            if sys::clear_timer(self.0.get_ref().as_fd()) {
                return Poll::Ready(());
            }
        }
    }
}
