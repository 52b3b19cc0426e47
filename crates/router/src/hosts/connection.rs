//! A connection as both its ends and the books see it.
//!
//! Both hosts live in one process, so what the simulator's applications know of each other they
//! know here too: the server learns from shared memory how long the request is, how long to think
//! and what to answer. Only packets go over the network, and exactly those.

use super::quic;
use super::sys::{self, TcpInfo};
use sojourn_base::Time;
use sojourn_records::{Exchange, Totals};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;

/// The client's end: it opened.
pub(super) const CLIENT: usize = 0;
/// The server's.
pub(super) const SERVER: usize = 1;

/// Which connection: its endpoint, and the client's port.
pub(super) type Key = (u32, u16);

/// One end.
pub struct End {
    /// What it sends and receives over.
    pub channel: Channel,
    /// SYNs or SYN-ACKs that were sent again until it was open.
    handshake: TcpInfo,
    /// Bytes that its application has read.
    pub delivered: AtomicU64,
}

/// What an end sends and receives over.
pub enum Channel {
    /// TCP of the kernel.
    Tcp(TcpStream),
    /// QUIC.
    Quic(Box<quic::Channel>),
}

/// What a sender knows of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Smoothed round trip, once there is a sample.
    pub srtt: Option<Time>,
    /// Its window, bytes.
    pub window: quic::Window,
    /// Bytes of payload that are acknowledged, if it tells.
    pub acked: Option<u64>,
}

impl End {
    /// An end over TCP that has just been opened.
    pub fn tcp(stream: TcpStream) -> Self {
        let handshake = sys::tcp_info(stream.as_fd()).unwrap_or_default();
        Self { channel: Channel::Tcp(stream), handshake, delivered: AtomicU64::new(0) }
    }

    /// An end over QUIC that has just been opened.
    pub fn quic(channel: quic::Channel) -> Self {
        let channel = Channel::Quic(Box::new(channel));
        Self { channel, handshake: TcpInfo::default(), delivered: AtomicU64::new(0) }
    }

    /// Smoothed round trip, once there is a sample; none of an end that failed.
    pub fn srtt(&self) -> Option<Time> {
        match &self.channel {
            Channel::Tcp(stream) => srtt_of(&info(stream)),
            Channel::Quic(channel) => channel.srtt(),
        }
    }

    /// What the sender knows; nothing of an end that failed.
    pub fn path(&self) -> Path {
        match &self.channel {
            Channel::Tcp(stream) => {
                let info = info(stream);
                let window = quic::Window {
                    cwnd: u64::from(info.cwnd) * u64::from(info.mss),
                    ssthresh: info.ssthresh_bytes(),
                    in_flight: info.in_flight_bytes(),
                };
                Path { srtt: srtt_of(&info), window, acked: Some(info.acked_bytes()) }
            }
            Channel::Quic(channel) => {
                Path { srtt: channel.srtt(), window: channel.window(), acked: None }
            }
        }
    }

    /// What it has counted.
    pub fn totals(&self) -> Totals {
        let delivered = self.delivered.load(Relaxed);
        let stream = match &self.channel {
            Channel::Tcp(stream) => stream,
            Channel::Quic(channel) => return Totals { delivered, ..channel.totals() },
        };
        let info = info(stream);
        let expiries = |info: &TcpInfo| u64::from(info.timeouts.unwrap_or(0));
        let retries = u64::from(self.handshake.retransmissions);
        Totals {
            delivered,
            sent: u64::from(info.segments),
            retransmissions: u64::from(info.retransmissions).saturating_sub(retries),
            timeouts: expiries(&info).saturating_sub(expiries(&self.handshake)),
            syn_retries: retries,
            received: 0,
        }
    }
}

/// What the kernel knows; nothing of a socket that failed.
fn info(stream: &TcpStream) -> TcpInfo {
    sys::tcp_info(stream.as_fd()).unwrap_or_default()
}

fn srtt_of(info: &TcpInfo) -> Option<Time> {
    (info.srtt_us > 0).then(|| Time::from_micros(u64::from(info.srtt_us)))
}

/// A connection.
pub struct Connection {
    /// Its group.
    pub group: usize,
    /// The flow, the user or the transfer.
    pub member: u32,
    /// Its name.
    pub key: Key,
    state: Mutex<State>,
}

/// What both ends share.
#[derive(Default)]
pub struct State {
    /// The ends that are open.
    pub ends: [Option<Arc<End>>; 2],
    /// What ends that are closed have counted.
    pub retired: Totals,
    /// What is under way.
    pub exchange: Option<Exchange>,
    /// What is under way on streams, if the connection has several: by the client's slots.
    pub streams: BTreeMap<u16, Exchange>,
    /// Exchanges that the server has not yet begun with.
    pub asked: std::collections::VecDeque<Exchange>,
}

impl Connection {
    /// A connection that is about to be opened.
    pub fn new(group: usize, member: u32, key: Key) -> Self {
        Self { group, member, key, state: Mutex::default() }
    }

    /// What both ends share, for a moment.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What both ends have counted.
    pub fn totals(&self) -> Totals {
        self.state().totals()
    }
}

impl State {
    /// What both ends have counted.
    pub fn totals(&self) -> Totals {
        let mut totals = self.retired;
        for end in self.ends.iter().flatten() {
            totals += end.totals();
        }
        totals
    }

    /// An end is closed; its socket goes when the last who holds it lets go.
    pub fn retire(&mut self, end: usize) {
        if let Some(end) = self.ends[end].take() {
            self.retired += end.totals();
        }
    }
}
