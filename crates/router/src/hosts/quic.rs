//! QUIC of real hosts: [quinn](https://github.com/quinn-rs/quinn) 0.11, as client and as server.
//!
//! A connection carries one bidirectional stream, which the client opens, and is used as a TCP
//! connection would be, as in the packet engine. A client has a socket of its own, a group's server
//! one for all of its connections.
//!
//! # Differences from the simulated QUIC
//!
//! 1. Datagrams of full size may be sent from the start, not only once the handshake is complete.
//! 2. Its pacer sends what 2 ms let through at once, and ten datagrams at least; a pause that lasts
//!    longer than that is lost. The simulated pacer sends what a millisecond lets through, two
//!    datagrams at least and `burst_packets` at most.
//!    In slow start its pace is 5/4 of the window over the round trip, the simulated one's 5/2.
//! 3. Its Reno counts what is acknowledged in whole windows, and neither it nor CUBIC grows on an
//!    acknowledgement that finds the application without data. The simulated sender asks whether
//!    the window was the limit when it last sent.
//! 4. Its CUBIC is RFC 8312's with RFC 9438's fast convergence: K comes from W_max alone, also
//!    where fast convergence has lowered it; the estimate of Reno's window is a function of time,
//!    with the gain 0.53; the window grows by whole datagrams; and a window above the cubic stays.
//! 5. Persistent congestion, the end of an idle time and key updates are quinn's. The idle timeout
//!    runs also while nothing is awaited.
//! 6. The client's Finished and its first data are in datagrams of their own, since the application
//!    learns of the handshake when Finished has gone out.
//! 7. Probe timeouts and what the handshake sent again are not told: `timeouts` is null, and
//!    `syn_retries` of single exchanges 0. What counts as sent again are the packets taken for
//!    lost.
//! 8. What it has been given and not yet sent is given up at a group's `stop`, by RESET_STREAM.
//! 9. With `zero_rtt` each connection gets the ticket for the next one, some 100 bytes.
//! 10. Everything is encrypted (AES, P-256), which costs time that the simulated hosts do not need.
//!
//! # Differences from quinn as others run it
//!
//! 1. Its timers are the kernel's, like those of the other hosts; tokio's, with which it comes, go
//!    by milliseconds.
//! 2. Each datagram is a system call: no segmentation offload, whose bursts no router of ours cuts.

pub mod settings;
mod socket;
mod timers;
mod watched;

use super::addresses::server_port;
use super::certificate::NAME;
use super::tls::{self, FIRST_TICKETS, Tickets};
use bytes::Bytes;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, Connecting, Connection, Endpoint, EndpointConfig, ReadError, RecvStream,
    SendStream, ServerConfig, VarInt,
};
use socket::{Class, Socket};
use sojourn_base::Time;
use sojourn_quic::Params;
use sojourn_records::Totals;
use sojourn_scenario::NetworkGroup;
use sojourn_traffic::{Http, Source};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use timers::Punctual;
use tokio::sync::Mutex;
pub use watched::Window;

/// The longest that a first visit may take, which is over the loopback.
const VISIT: Duration = Duration::from_secs(5);
/// What is said of a client that has no ticket left.
const NO_TICKET: &str = "quic.zero_rtt: more clients shake hands at a time than have tickets";
/// The code of what is given up.
const OVER: VarInt = VarInt::from_u32(0);

/// A group's QUIC, for both sides.
pub struct Stack {
    server: ServerConfig,
    client: ClientConfig,
    endpoint: EndpointConfig,
    class: Class,
    /// Whether streams are those of HTTP/3, which opens them itself.
    http: bool,
    /// What clients have that have been there before.
    early: Option<Early>,
}

/// What clients need to send data in their first flight.
struct Early {
    tickets: Arc<Tickets>,
    /// A server that gives many at once.
    first: ServerConfig,
}

impl Stack {
    /// The QUIC of a group; none if it has none.
    ///
    /// # Errors
    /// One line on what could not be made.
    pub fn of(group: &NetworkGroup) -> Result<Option<Self>, String> {
        let http = matches!(&group.source, Source::Web(web) if web.http == Http::V3);
        let made = |p| Self::new(p, group.dscp.bits(), http);
        let made = group.quic.as_ref().map(made).transpose();
        made.map_err(|error| format!("{}: {error}", group.name))
    }

    fn new(p: &Params, dscp: u8, http: bool) -> Result<Self, String> {
        let ends = tls::ends(p.certificate.0 as usize, p.zero_rtt, if http { b"h3" } else { b"" })?;
        let failed = |error: &dyn std::error::Error| format!("QUIC: {error}");
        let server = |tls: rustls::ServerConfig| -> Result<ServerConfig, String> {
            let crypto = QuicServerConfig::try_from(tls).map_err(|error| failed(&error))?;
            let mut server = ServerConfig::with_crypto(Arc::new(crypto));
            server.transport_config(Arc::new(settings::transport(p)));
            Ok(server)
        };
        let early = if p.zero_rtt {
            let mut first = ends.server.clone();
            first.send_tls13_tickets = FIRST_TICKETS;
            Some(Early { tickets: ends.tickets, first: server(first)? })
        } else {
            None
        };
        let crypto = QuicClientConfig::try_from(ends.client).map_err(|error| failed(&error))?;
        let mut client = ClientConfig::new(Arc::new(crypto));
        client.transport_config(Arc::new(settings::transport(p)));
        let mut endpoint = EndpointConfig::default();
        let size = endpoint.max_udp_payload_size(p.max_udp_payload as u16);
        size.map_err(|error| failed(&error))?;
        let class = Class { dscp, ecn: p.ecn };
        Ok(Self { server: server(ends.server)?, client, endpoint, class, http, early })
    }

    /// A server on this side, for all addresses.
    pub(super) fn listen(&self, group: usize) -> io::Result<Endpoint> {
        let address = SocketAddr::from((Ipv4Addr::UNSPECIFIED, server_port(group)));
        self.at(address, Some(self.server.clone()))
    }

    fn at(&self, at: SocketAddr, server: Option<ServerConfig>) -> io::Result<Endpoint> {
        let socket = Arc::new(Socket::bind(at, self.class)?);
        let runtime = Arc::new(Punctual);
        Endpoint::new_with_abstract_socket(self.endpoint.clone(), server, socket, runtime)
    }

    /// Has a client be there for the first time, over the loopback, if it is to have been there.
    pub(super) async fn visit(&self) -> io::Result<()> {
        let Some(Early { tickets, first }) = &self.early else { return Ok(()) };
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = self.at(here, Some(first.clone()))?;
        let client = self.at(here, None)?;
        let connecting = self.begin(&client, server.local_addr()?)?;
        let both = async {
            let incoming = server.accept().await.ok_or(io::ErrorKind::NotConnected)?;
            let (_here, _there) = tokio::try_join!(incoming, connecting)?;
            while tickets.count() < FIRST_TICKETS {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Ok(())
        };
        tokio::time::timeout(VISIT, both).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    fn begin(&self, client: &Endpoint, to: SocketAddr) -> io::Result<Connecting> {
        let begun = client.connect_with(self.client.clone(), to, NAME);
        begun.map_err(io::Error::other)
    }

    /// Opens a connection, and its stream.
    pub(super) async fn connect(&self, from: SocketAddr, to: SocketAddr) -> io::Result<Channel> {
        let connecting = self.begin(&self.at(from, None)?, to)?;
        let connection = match self.early {
            Some(_) => connecting.into_0rtt().map_err(|_| io::Error::other(NO_TICKET))?.0,
            None => connecting.await?,
        };
        if self.http {
            return Ok(Channel { connection, streams: None });
        }
        let streams = connection.open_bi().await?;
        Ok(Channel::new(connection, streams))
    }

    /// Takes a connection that comes in, when its first bytes are there.
    pub(super) async fn accept(&self, incoming: quinn::Incoming) -> io::Result<Channel> {
        let connecting = incoming.accept()?;
        let connection = match self.early {
            // What came in the first flight is read before the handshake is complete.
            Some(_) => match connecting.into_0rtt() {
                Ok((connection, _)) => connection,
                Err(connecting) => connecting.await?,
            },
            None => connecting.await?,
        };
        if self.http {
            return Ok(Channel { connection, streams: None });
        }
        let streams = connection.accept_bi().await?;
        Ok(Channel::new(connection, streams))
    }
}

/// An end of a connection, with its stream unless that is for HTTP/3 to open.
pub struct Channel {
    connection: Connection,
    streams: Option<Streams>,
}

/// Both directions of a stream.
struct Streams {
    send: Mutex<SendStream>,
    receive: Mutex<RecvStream>,
}

impl Channel {
    fn new(connection: Connection, (send, receive): (SendStream, RecvStream)) -> Self {
        let streams = Streams { send: Mutex::new(send), receive: Mutex::new(receive) };
        Self { connection, streams: Some(streams) }
    }

    /// The connection that it is of.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    fn streams(&self) -> io::Result<&Streams> {
        self.streams.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Writes some of these bytes; how many, which is not none.
    pub(super) async fn write(&self, bytes: Bytes) -> io::Result<u64> {
        let written = self.streams()?.send.lock().await.write_chunks(&mut [bytes]).await?;
        Ok(written.bytes as u64)
    }

    /// Reads up to `most` bytes; none: the peer is done, or has given up.
    pub(super) async fn read(&self, most: usize) -> io::Result<Bytes> {
        match self.streams()?.receive.lock().await.read_chunk(most, true).await {
            Ok(chunk) => Ok(chunk.map(|chunk| chunk.bytes).unwrap_or_default()),
            Err(ReadError::Reset(_)) => Ok(Bytes::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends no more, but for what has been written.
    pub(super) async fn finish(&self) {
        if let Some(streams) = &self.streams {
            // It may be finished already.
            let _ = streams.send.lock().await.finish();
        }
    }

    /// Sends no more, not even what has been written.
    pub(super) async fn give_up(&self) {
        if let Some(streams) = &self.streams {
            let _ = streams.send.lock().await.reset(OVER);
        }
    }

    /// Waits until the peer has closed the connection.
    pub(super) async fn closed(&self) {
        self.connection.closed().await;
    }

    /// Smoothed round trip, once there is a sample.
    pub(super) fn srtt(&self) -> Option<Time> {
        let stats = self.connection.stats();
        (stats.frame_rx.acks > 0).then_some(Time(stats.path.rtt.as_nanos() as u64))
    }

    /// What the sender knows of its window.
    pub(super) fn window(&self) -> Window {
        watched::window(&self.connection)
    }

    /// What it has counted, beside what its application has read.
    pub(super) fn totals(&self) -> Totals {
        let stats = self.connection.stats();
        Totals {
            sent: stats.udp_tx.datagrams,
            retransmissions: stats.path.lost_packets,
            ..Totals::default()
        }
    }
}
