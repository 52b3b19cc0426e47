//! One side: the sockets, the clock and the books that its tasks share.

use super::addresses::{self, Endpoints, FIRST_PORT, SERVERS, server_port};
use super::clock::Alarms;
use super::connection::{Channel, Connection, End, Key, SERVER};
use super::ledger::Ledger;
use super::payload::Pattern;
use super::quic::Stack;
use super::receipts::Receipts;
use super::settings::{Settings, SocketSettings};
use super::sys;
use super::tls::Tls;
use sojourn_base::Time;
use sojourn_scenario::Network;
use sojourn_traffic::{Http, Source};
use std::cell::RefCell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::spawn_local;

/// The left side, where data come from.
pub(super) const LEFT: usize = 0;
/// The right side.
pub(super) const RIGHT: usize = 1;

/// What both sides share.
#[derive(Clone)]
pub struct Common {
    /// The scenario.
    pub network: Arc<Network>,
    /// Who has which address.
    pub endpoints: Arc<Endpoints>,
    /// What sockets are given.
    pub settings: Arc<Settings>,
    /// For each group, its QUIC, if it has one.
    pub quic: Arc<Vec<Option<Stack>>>,
    /// The TLS of HTTP/2, if any group speaks that.
    pub(super) tls: Option<Arc<Tls>>,
    /// The books.
    pub ledger: Arc<Ledger>,
    /// The books of datagrams.
    pub receipts: Arc<Receipts>,
    /// What is sent.
    pub pattern: Arc<Pattern>,
}

impl Common {
    /// The HTTP that a group of web users speaks.
    pub(super) fn http(&self, group: usize) -> Http {
        match &self.network.groups[group].source {
            Source::Web(web) => web.http,
            _ => Http::V1,
        }
    }

    /// The TLS of a group over HTTP/2, unless it has none.
    pub(super) fn tls(&self, group: usize) -> Option<&Tls> {
        let bare = matches!(&self.network.groups[group].source, Source::Web(web)
            if web.tls == Some(false));
        self.tls.as_deref().filter(|_| !bare)
    }
}

/// One side, for the tasks of its thread.
pub(super) struct Host {
    /// What both share.
    pub common: Common,
    /// Who waits for what time.
    pub alarms: Alarms,
    /// [`LEFT`] or [`RIGHT`].
    pub side: usize,
    /// The next port of each endpoint, from the first on.
    ports: RefCell<Vec<u16>>,
    /// Where everything is read into; no task keeps it over an await.
    pub buffer: RefCell<Vec<u8>>,
}

/// Bytes that are read at once.
const READ: usize = 1 << 18;
/// Unsent bytes that may lie in the kernel: a flow that is stopped sends no more than these.
const UNSENT: i32 = 1 << 16;
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

impl Host {
    /// One side, with nothing open.
    pub(super) fn new(common: Common, alarms: Alarms, side: usize) -> Self {
        let ports = vec![0; common.endpoints.count() as usize];
        Self { common, alarms, side, ports: ports.into(), buffer: vec![0; READ].into() }
    }

    /// Time of the run.
    pub(super) fn now(&self) -> Time {
        self.alarms.clock().now()
    }

    /// A name for an endpoint's next connection.
    pub(super) fn next_key(&self, endpoint: u32) -> Key {
        let port = &mut self.ports.borrow_mut()[endpoint as usize];
        let key = (endpoint, FIRST_PORT + *port);
        *port = (*port + 1) % (SERVERS - FIRST_PORT);
        key
    }

    /// Opens a connection from this side to the other.
    pub(super) async fn connect(&self, group: usize, key: Key) -> io::Result<Arc<End>> {
        let addresses = addresses::of(key.0);
        let from = SocketAddr::from((addresses[self.side], key.1));
        let to = SocketAddr::from((addresses[1 - self.side], server_port(group)));
        if let Some(stack) = &self.common.quic[group] {
            let opened = stack.connect(from, to).await.inspect_err(|error| {
                if error.kind() == io::ErrorKind::Other {
                    self.common.ledger.fault(error.to_string());
                }
            });
            return Ok(Arc::new(End::quic(opened?)));
        }
        let settings = &self.common.settings.sockets[group];
        let socket = socket(settings)?;
        socket.bind(from)?;
        let stream = socket.connect(to).await?;
        tune(&stream, settings)?;
        Ok(Arc::new(End::tcp(stream)))
    }

    /// A group's server on this side, for all addresses.
    pub(super) fn listen(&self, group: usize) -> io::Result<Listener> {
        match &self.common.quic[group] {
            Some(stack) => stack.listen(group).map(Listener::Quic),
            None => listen(&self.common.settings.sockets[group], group).map(Listener::Tcp),
        }
    }

    /// Waits for the next connection of a group's server, which has yet to be
    /// [taken](Self::take).
    pub(super) async fn accept(&self, listener: &Listener) -> io::Result<Coming> {
        match listener {
            Listener::Tcp(listener) => {
                listener.accept().await.map(|(stream, from)| Coming::Tcp(stream, from))
            }
            Listener::Quic(endpoint) => {
                let incoming = endpoint.accept().await;
                incoming
                    .map(|incoming| Coming::Quic(Box::new(incoming)))
                    .ok_or(io::ErrorKind::NotConnected.into())
            }
        }
    }

    /// Takes a connection that has come; none if it is nobody's.
    pub(super) async fn take(
        &self,
        coming: Coming,
        group: usize,
    ) -> io::Result<Option<(Arc<Connection>, Arc<End>)>> {
        let from = match &coming {
            Coming::Tcp(_, from) => *from,
            Coming::Quic(incoming) => incoming.remote_address(),
        };
        let SocketAddr::V4(from) = from else { return Ok(None) };
        let Some(endpoint) = addresses::endpoint(*from.ip()) else { return Ok(None) };
        let Some(connection) = self.common.ledger.find((endpoint, from.port())) else {
            return Ok(None);
        };
        let end = match (coming, &self.common.quic[group]) {
            (Coming::Tcp(stream, _), _) => {
                tune(&stream, &self.common.settings.sockets[group])?;
                End::tcp(stream)
            }
            (Coming::Quic(incoming), Some(stack)) => End::quic(stack.accept(*incoming).await?),
            (Coming::Quic(_), None) => return Ok(None),
        };
        Ok(Some((connection, Arc::new(end))))
    }

    /// Writes up to `most` bytes of a stream from `offset` on; how many, which is not none.
    pub(super) async fn write(&self, end: &End, offset: u64, most: u64) -> io::Result<u64> {
        let stream = match &end.channel {
            Channel::Tcp(stream) => stream,
            Channel::Quic(channel) => {
                return channel.write(self.common.pattern.share(offset, most)).await;
            }
        };
        loop {
            stream.writable().await?;
            match stream.try_write(self.common.pattern.at(offset, most)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
                Ok(written) => return Ok(written as u64),
            }
        }
    }

    /// Reads up to `most` bytes of a stream that must go on at `offset`; none: the peer is done.
    pub(super) async fn read(&self, end: &End, offset: u64, most: u64) -> io::Result<u64> {
        let most = most.min(READ as u64) as usize;
        let stream = match &end.channel {
            Channel::Tcp(stream) => stream,
            Channel::Quic(channel) => {
                let bytes = channel.read(most).await?;
                return Ok(self.delivered(end, offset, &bytes));
            }
        };
        loop {
            stream.readable().await?;
            let mut buffer = self.buffer.borrow_mut();
            match stream.try_read(&mut buffer[..most]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
                Ok(read) => return Ok(self.delivered(end, offset, &buffer[..read])),
            }
        }
    }

    /// Takes note of bytes that have come; how many.
    pub(super) fn delivered(&self, end: &End, offset: u64, bytes: &[u8]) -> u64 {
        let read = bytes.len() as u64;
        if !self.common.pattern.matches(offset, bytes) {
            let altered = format!("bytes {offset} to {} of a connection", offset + read);
            self.common.ledger.fault(format!("{altered} arrived altered"));
        }
        end.delivered.fetch_add(read, std::sync::atomic::Ordering::Relaxed);
        read
    }

    /// Reads until the peer is done.
    pub(super) async fn drain(&self, end: &End, mut offset: u64) -> io::Result<()> {
        loop {
            match self.read(end, offset, u64::MAX).await? {
                0 => return Ok(()),
                read => offset += read,
            }
        }
    }
}

/// A group's server, as long as the run: `each` looks after a connection that has come.
pub(super) async fn attend(
    host: Rc<Host>,
    group: usize,
    listener: Listener,
    each: impl AsyncFn(&Rc<Host>, &Arc<Connection>, Arc<End>) + Copy + 'static,
) {
    loop {
        match host.accept(&listener).await {
            Ok(coming) => {
                let host = Rc::clone(&host);
                spawn_local(async move {
                    // That it failed, the client says.
                    if let Ok(Some((connection, end))) = host.take(coming, group).await {
                        connection.state().ends[SERVER] = Some(Arc::clone(&end));
                        each(&host, &connection, end).await;
                    }
                });
            }
            Err(error) => host.common.ledger.fault(format!("accept: {error}")),
        }
    }
}

/// What listens for connections.
pub(super) enum Listener {
    Tcp(TcpListener),
    Quic(quinn::Endpoint),
}

/// A connection that has come.
pub(super) enum Coming {
    Tcp(TcpStream, SocketAddr),
    Quic(Box<quinn::Incoming>),
}

/// Sends no more, but for what is under way.
pub(super) async fn shut(end: &End) -> io::Result<()> {
    match &end.channel {
        Channel::Tcp(stream) => sys::shut(stream.as_fd()),
        Channel::Quic(channel) => {
            channel.finish().await;
            Ok(())
        }
    }
}

/// Sends no more, and nothing of what has not been sent, where that can be helped.
pub(super) async fn cut(end: &End) -> io::Result<()> {
    match &end.channel {
        Channel::Tcp(stream) => sys::shut(stream.as_fd()),
        Channel::Quic(channel) => {
            channel.give_up().await;
            Ok(())
        }
    }
}

/// The server is done with a connection, whose client is: it closes, but QUIC's is the client's to
/// close.
pub(super) async fn leave(end: &End) {
    if let Channel::Quic(channel) = &end.channel {
        channel.finish().await;
        channel.closed().await;
    }
}

/// The mark that the kernel gives packets which are to say ECT(1).
pub(crate) const ECT1: i32 = 1;

fn socket(settings: &SocketSettings) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    let fd = socket.as_fd();
    sys::set_text(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &settings.congestion)?;
    let set = |level, name, value| sys::set_option(fd, level, name, value);
    set(libc::IPPROTO_TCP, libc::TCP_MAXSEG, settings.mss as i32)?;
    set(libc::IPPROTO_TCP, libc::TCP_SYNCNT, i32::from(settings.syn_retries).max(1))?;
    if settings.dscp > 0 {
        set(libc::IPPROTO_IP, libc::IP_TOS, i32::from(settings.dscp) << 2)?;
    }
    if settings.ect1 {
        set(libc::SOL_SOCKET, libc::SO_MARK, ECT1)?;
    }
    if let Some(window) = settings.window {
        // The kernel doubles the buffer, and counts at most half of it as window; a buffer that is
        // set is not tuned, and so the clamp stays.
        let room = i32::try_from(u64::from(window) * 2).unwrap_or(i32::MAX);
        set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, room)?;
        set(libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, window as i32)?;
    }
    Ok(socket)
}

/// What a connection keeps after it is open.
fn tune(stream: &TcpStream, settings: &SocketSettings) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let fd = stream.as_fd();
    sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, UNSENT)?;
    if settings.pacing {
        // Any rate but "unlimited" turns the kernel's own pacing on.
        sys::set_option(fd, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, i32::MAX)?;
    }
    Ok(())
}

/// A group's server on this side, for all addresses.
fn listen(settings: &SocketSettings, group: usize) -> io::Result<TcpListener> {
    let socket = socket(settings)?;
    let address = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, server_port(group));
    socket.bind(SocketAddr::V4(address))?;
    socket.listen(BACKLOG)
}

/// Whether the kernel has a congestion control of this name, or finds a module that has it.
pub fn knows_congestion(name: &str) -> bool {
    let set = |socket: TcpSocket| {
        sys::set_text(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_CONGESTION, name)
    };
    TcpSocket::new_v4().and_then(set).is_ok()
}
