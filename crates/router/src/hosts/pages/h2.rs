//! HTTP/2 (RFC 9113), by the crate h2.

use super::message::{PIECE, asked_for, body_of, failed, request};
use super::tcp::Shared;
use super::visitor::{Asked, Visitor};
use crate::hosts::certificate::NAME;
use crate::hosts::connection::{CLIENT, Connection, End};
use crate::hosts::host::Host;
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{RecvStream, SendStream, client, server};
use http::{Request, Response};
use sojourn_base::Time;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_local;

/// Bytes that a browser lets a server send ahead, on a stream and on all.
const WINDOWS: [u32; 2] = [6 << 20, 15 << 20];

/// Opens a connection, and sends requests and reads their responses as often as asked.
pub(super) async fn fetch(
    visitor: &Rc<Visitor>,
    asked: UnboundedReceiver<Asked>,
) -> io::Result<()> {
    let Connection { group, key, .. } = *visitor.connection;
    let end = visitor.host.connect(group, key).await?;
    visitor.connection.state().ends[CLIENT] = Some(Arc::clone(&end));
    let stream = Shared::new(&end);
    match visitor.host.common.tls(group) {
        Some(tls) => {
            let name = NAME.try_into().map_err(failed)?;
            visit(visitor, &end, tls.connector.connect(name, stream).await?, asked).await
        }
        None => visit(visitor, &end, stream, asked).await,
    }
}

async fn visit(
    visitor: &Rc<Visitor>,
    end: &Arc<End>,
    io: impl AsyncRead + AsyncWrite + Unpin + 'static,
    mut asked: UnboundedReceiver<Asked>,
) -> io::Result<()> {
    let (requests, connection) = client::Builder::new()
        .initial_window_size(WINDOWS[0])
        .initial_connection_window_size(WINDOWS[1])
        .initial_max_send_streams(1 << 16)
        .enable_push(false)
        .handshake::<_, Bytes>(io)
        .await
        .map_err(failed)?;
    let driven = spawn_local(connection);
    let sending = async {
        while let Some(Asked { slot, exchange }) = asked.recv().await {
            let mut requests = requests.clone().ready().await.map_err(failed)?;
            let request = request(slot)?;
            visitor.host.common.ledger.requested_of(&visitor.connection, slot, visitor.host.now());
            let (response, body) = requests.send_request(request, false).map_err(failed)?;
            let (visitor, end) = (Rc::clone(visitor), Arc::clone(end));
            spawn_local(async move {
                let host = &visitor.host;
                let whole = async {
                    send(host, body, body_of(&exchange)).await?;
                    let response = response.await.map_err(failed)?;
                    let first_byte = host.now();
                    let body = response.into_body();
                    receive(host, &end, body, Some(exchange.response)).await?;
                    io::Result::Ok(first_byte)
                };
                match whole.await {
                    Ok(first_byte) => visitor.done(slot, first_byte),
                    Err(_) => visitor.fails(),
                }
            });
        }
        Ok(())
    };
    let went = sending.await;
    drop(requests);
    // Whatever happens now happens to nobody.
    let _ = driven.await;
    went
}

/// Answers requests until the client is done.
pub(super) async fn serve(
    host: &Rc<Host>,
    connection: &Arc<Connection>,
    end: &Arc<End>,
) -> io::Result<()> {
    let stream = Shared::new(end);
    match host.common.tls(connection.group) {
        Some(tls) => attend(host, connection, end, tls.acceptor.accept(stream).await?).await,
        None => attend(host, connection, end, stream).await,
    }
}

async fn attend(
    host: &Rc<Host>,
    connection: &Arc<Connection>,
    end: &Arc<End>,
    io: impl AsyncRead + AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut requests = server::Builder::new()
        .initial_window_size(WINDOWS[0])
        .initial_connection_window_size(WINDOWS[1])
        .handshake::<_, Bytes>(io)
        .await
        .map_err(failed)?;
    while let Some(request) = requests.accept().await {
        let (request, respond) = request.map_err(failed)?;
        let (host, connection, end) = (Rc::clone(host), Arc::clone(connection), Arc::clone(end));
        spawn_local(async move {
            // That it failed, the client says.
            let _ = answer(&host, &connection, &end, request, respond).await;
        });
    }
    Ok(())
}

async fn answer(
    host: &Host,
    connection: &Connection,
    end: &End,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> io::Result<()> {
    let exchange = asked_for(connection, request.uri().path())?;
    receive(host, end, request.into_body(), None).await?;
    if exchange.server_delay > Time::ZERO {
        host.alarms.until(host.now() + exchange.server_delay).await;
    }
    let body = respond.send_response(Response::new(()), false).map_err(failed)?;
    send(host, body, exchange.response).await
}

/// Sends a body of so many bytes.
async fn send(host: &Host, mut body: SendStream<Bytes>, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return body.send_data(Bytes::new(), true).map_err(failed);
    }
    let mut sent = 0;
    while sent < bytes {
        body.reserve_capacity((bytes - sent).min(PIECE) as usize);
        let room = poll_fn(|context| body.poll_capacity(context)).await;
        let Some(room) = room.transpose().map_err(failed)? else {
            return Err(io::ErrorKind::ConnectionAborted.into());
        };
        let piece = host.common.pattern.share(sent, (bytes - sent).min(room as u64));
        sent += piece.len() as u64;
        body.send_data(piece, sent == bytes).map_err(failed)?;
    }
    Ok(())
}

/// Receives a body, which must have so many bytes if that is known.
async fn receive(
    host: &Host,
    end: &End,
    mut body: RecvStream,
    bytes: Option<u64>,
) -> io::Result<()> {
    let mut received = 0;
    while let Some(piece) = body.data().await {
        let piece = piece.map_err(failed)?;
        received += host.delivered(end, received, &piece);
        body.flow_control().release_capacity(piece.len()).map_err(failed)?;
    }
    match bytes {
        Some(bytes) if bytes != received => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}
