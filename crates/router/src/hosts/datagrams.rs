//! Datagrams from left to right: constant-rate, Poisson and on/off sources, and probes that are
//! echoed. Payload begins with the time of sending, where there is room for it.

use super::addresses;
use super::host::{Host, LEFT, RIGHT};
use super::sys;
use crate::headers::{IPV4_HEADER, UDP_HEADER};
use sojourn_base::Time;
use sojourn_scenario::NetworkGroup;
use sojourn_traffic::{OnOffModel, OnOffSource, Ping, UdpModel, UdpSource};
use std::io;
use std::net::{SocketAddr, UdpSocket as Blocking};
use std::os::fd::AsFd;
use std::rc::Rc;
use tokio::net::UdpSocket;

/// Bytes of the IPv4 and UDP headers.
pub(super) const HEADER: u32 = (IPV4_HEADER + UDP_HEADER) as u32;

/// When a member's next packet comes and how long it is.
pub(super) enum Sending {
    /// At a constant rate, or as a Poisson process.
    Udp(Rc<UdpModel>, UdpSource),
    /// In turns.
    OnOff(Rc<OnOffModel>, OnOffSource),
}

impl Sending {
    fn next(&mut self) -> (Time, u32) {
        match self {
            Self::Udp(model, source) => source.next_packet(model),
            Self::OnOff(model, source) => source.next_packet(model),
        }
    }
}

/// A member's socket on one side, to the other.
fn socket(host: &Host, group: usize, member: u32, ecn: u8) -> io::Result<UdpSocket> {
    let addresses = addresses::of(host.common.endpoints.number(group, member));
    let port = addresses::server_port(group);
    let socket = Blocking::bind(SocketAddr::from((addresses[host.side], port)))?;
    socket.connect(SocketAddr::from((addresses[1 - host.side], port)))?;
    socket.set_nonblocking(true)?;
    let class = i32::from(host.common.settings.sockets[group].dscp) << 2 | i32::from(ecn);
    sys::set_option(socket.as_fd(), libc::IPPROTO_IP, libc::IP_TOS, class)?;
    sys::set_option(socket.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, 1 << 20)?;
    UdpSocket::from_std(socket)
}

/// The sockets of a group on this side.
pub(super) fn sockets(
    host: &Host,
    group: usize,
    of: &NetworkGroup,
    ecn: u8,
) -> io::Result<Vec<UdpSocket>> {
    (0..of.members).map(|member| socket(host, group, member, ecn)).collect()
}

/// Puts the time into a packet that has room for it.
fn stamp(packet: &mut [u8], now: Time) {
    if let Some(place) = packet.first_chunk_mut::<8>() {
        *place = now.0.to_be_bytes();
    }
}

fn stamped(packet: &[u8]) -> Option<Time> {
    packet.first_chunk::<8>().map(|bytes| Time(u64::from_be_bytes(*bytes)))
}

/// Sends a member's datagrams, on the left.
pub(super) async fn send(
    host: Rc<Host>,
    group: usize,
    member: u32,
    socket: UdpSocket,
    mut from: Sending,
) {
    debug_assert_eq!(host.side, LEFT);
    let network = &host.common.network;
    let mut at = network.groups[group].start_of(network.seed, u64::from(member));
    loop {
        let (gap, bytes) = from.next();
        at = at.saturating_add(gap);
        host.alarms.until(at).await;
        if host.common.ledger.is_stopped(group) {
            return;
        }
        let mut packet = host.buffer.borrow_mut();
        let packet = &mut packet[..(bytes - HEADER) as usize];
        stamp(packet, host.now());
        host.common.receipts.page(group, member).totals.sent += 1;
        // One that the host itself has no room for is lost like any other.
        let _ = socket.try_send(packet);
    }
}

/// Receives a member's datagrams, on the right.
pub(super) async fn receive(host: Rc<Host>, group: usize, member: u32, socket: UdpSocket) {
    debug_assert_eq!(host.side, RIGHT);
    while socket.readable().await.is_ok() {
        let mut buffer = host.buffer.borrow_mut();
        while let Ok(read) = socket.try_recv(&mut buffer) {
            let delay = stamped(&buffer[..read]).map(|sent| host.now().saturating_sub(sent));
            let measuring = host.common.receipts.measuring();
            host.common.receipts.page(group, member).arrive(read as u64, delay, measuring);
        }
    }
}

/// Sends a member's probes and counts the answers, on the left.
pub(super) async fn probe(
    host: Rc<Host>,
    group: usize,
    member: u32,
    socket: UdpSocket,
    ping: Ping,
) {
    let socket = Rc::new(socket);
    let hearing = hear(Rc::clone(&host), group, member, Rc::clone(&socket));
    let answers = tokio::task::spawn_local(hearing);
    let network = &host.common.network;
    let mut at = network.groups[group].start_of(network.seed, u64::from(member));
    loop {
        host.alarms.until(at).await;
        if host.common.ledger.is_stopped(group) {
            break;
        }
        host.common.ledger.books().groups[group].book.ask();
        let mut packet = host.buffer.borrow_mut();
        let packet = &mut packet[..(ping.size.0 as u32 - HEADER) as usize];
        stamp(packet, host.now());
        let _ = socket.try_send(packet);
        at = at.saturating_add(ping.interval);
    }
    // Answers to the last may still come.
    let _ = answers.await;
}

async fn hear(host: Rc<Host>, group: usize, member: u32, socket: Rc<UdpSocket>) {
    while socket.readable().await.is_ok() {
        let mut buffer = host.buffer.borrow_mut();
        while let Ok(read) = socket.try_recv(&mut buffer) {
            let Some(sent) = stamped(&buffer[..read]) else { continue };
            let books = &mut *host.common.ledger.books();
            let (book, recorder) = (&mut books.groups[group].book, &mut books.recorder);
            book.echoed(member, read as u64, sent, host.now(), recorder);
        }
    }
}

/// Sends a member's probes back, on the right.
pub(super) async fn echo(host: Rc<Host>, socket: UdpSocket) {
    while socket.readable().await.is_ok() {
        let mut buffer = host.buffer.borrow_mut();
        while let Ok(read) = socket.try_recv(&mut buffer) {
            let _ = socket.try_send(&buffer[..read]);
        }
    }
}
