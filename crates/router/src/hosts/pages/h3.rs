//! HTTP/3 (RFC 9114), by the crate h3, over quinn.

use super::message::{PIECE, asked_for, body_of, failed, request};
use super::visitor::{Asked, Visitor};
use crate::hosts::connection::{CLIENT, Channel, Connection, End};
use crate::hosts::host::Host;
use bytes::{Buf, Bytes};
use h3::server::RequestResolver;
use h3::{client, server};
use http::Response;
use sojourn_base::Time;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_local;

/// Opens a connection, and sends requests and reads their responses as often as asked.
pub(super) async fn fetch(
    visitor: &Rc<Visitor>,
    mut asked: UnboundedReceiver<Asked>,
) -> io::Result<()> {
    let Connection { group, key, .. } = *visitor.connection;
    let end = visitor.host.connect(group, key).await?;
    visitor.connection.state().ends[CLIENT] = Some(Arc::clone(&end));
    let below = connection_of(&end)?;
    let (mut driver, requests) = client::builder()
        .send_grease(false)
        .build::<_, _, Bytes>(h3_quinn::Connection::new(below.clone()))
        .await
        .map_err(failed)?;
    let driven = spawn_local(async move { poll_fn(|context| driver.poll_close(context)).await });
    let sending = async {
        while let Some(Asked { slot, exchange }) = asked.recv().await {
            let mut requests = requests.clone();
            let request = request(slot)?;
            visitor.host.common.ledger.requested_of(&visitor.connection, slot, visitor.host.now());
            let mut stream = requests.send_request(request).await.map_err(failed)?;
            let (visitor, end) = (Rc::clone(visitor), Arc::clone(&end));
            spawn_local(async move {
                let host = &visitor.host;
                let whole = async {
                    let body = host.common.pattern.share(0, body_of(&exchange));
                    stream.send_data(body).await.map_err(failed)?;
                    stream.finish().await.map_err(failed)?;
                    stream.recv_response().await.map_err(failed)?;
                    let first_byte = host.now();
                    let mut received = 0;
                    while let Some(mut piece) = stream.recv_data().await.map_err(failed)? {
                        let piece = piece.copy_to_bytes(piece.remaining());
                        received += host.delivered(&end, received, &piece);
                    }
                    if received == exchange.response {
                        Ok(first_byte)
                    } else {
                        Err(io::Error::from(io::ErrorKind::UnexpectedEof))
                    }
                };
                match whole.await {
                    Ok(first_byte) => visitor.done(slot, first_byte),
                    Err(_) => visitor.fails(),
                }
            });
        }
        io::Result::Ok(())
    };
    let went = sending.await;
    // H3_NO_ERROR, RFC 9114 section 8.1.
    below.close(0x100_u32.into(), b"");
    drop(requests);
    // Whatever happens now happens to nobody.
    let _ = driven.await;
    went
}

/// The connection that an end over QUIC is of.
fn connection_of(end: &End) -> io::Result<quinn::Connection> {
    match &end.channel {
        Channel::Quic(channel) => Ok(channel.connection().clone()),
        Channel::Tcp(_) => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Answers requests until the client is done.
pub(super) async fn serve(
    host: &Rc<Host>,
    connection: &Arc<Connection>,
    end: &Arc<End>,
) -> io::Result<()> {
    let below = connection_of(end)?;
    let mut requests = server::builder()
        .send_grease(false)
        .build::<_, Bytes>(h3_quinn::Connection::new(below))
        .await
        .map_err(failed)?;
    while let Some(request) = requests.accept().await.map_err(failed)? {
        let (host, connection, end) = (Rc::clone(host), Arc::clone(connection), Arc::clone(end));
        spawn_local(async move {
            // That it failed, the client says.
            let _ = answer(&host, &connection, &end, request).await;
        });
    }
    Ok(())
}

async fn answer(
    host: &Host,
    connection: &Connection,
    end: &End,
    request: RequestResolver<h3_quinn::Connection, Bytes>,
) -> io::Result<()> {
    let (request, mut stream) = request.resolve_request().await.map_err(failed)?;
    let exchange = asked_for(connection, request.uri().path())?;
    let mut received = 0;
    while let Some(mut piece) = stream.recv_data().await.map_err(failed)? {
        let piece = piece.copy_to_bytes(piece.remaining());
        received += host.delivered(end, received, &piece);
    }
    if exchange.server_delay > Time::ZERO {
        host.alarms.until(host.now() + exchange.server_delay).await;
    }
    stream.send_response(Response::new(())).await.map_err(failed)?;
    let mut sent = 0;
    while sent < exchange.response {
        let piece = host.common.pattern.share(sent, (exchange.response - sent).min(PIECE));
        sent += piece.len() as u64;
        stream.send_data(piece).await.map_err(failed)?;
    }
    stream.finish().await.map_err(failed)
}
