//! A server of one page over HTTP/2 with TLS and over HTTP/3, for browsers: what
//! benches/browser_pages.py starts behind the router.
//!
//! Its argument is a folder with the page: a file `objects`, in each line of which are a path, a
//! content type and the name of a file beside it. It listens at port 4433, TCP and UDP, and first
//! writes its certificate to `certificate.der` there.

use bytes::{Buf, Bytes};
use h3::server::RequestResolver;
use http::{Response, header::CONTENT_TYPE};
use quinn::crypto::rustls::QuicServerConfig;
use sojourn_router::hosts::certificate::Certificate;
use std::collections::HashMap;
use std::error::Error;
use std::future::poll_fn;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

type Failure = Box<dyn Error + Send + Sync>;

/// Bytes of the certificate, as in the scenarios that this is compared with.
const CERTIFICATE: usize = 3000;
const PORT: u16 = 4433;
/// Bytes of a full datagram.
const DATAGRAM: u16 = 1452;
/// Bytes that a stream hands down at once.
const PIECE: usize = 1 << 16;

/// The objects of the page: by path, their type and bytes.
type Page = Arc<HashMap<String, (String, Bytes)>>;

fn main() -> Result<(), Failure> {
    let folder = std::env::args().nth(1).ok_or("give the folder with the page")?;
    let folder = Path::new(&folder);
    let mut page = HashMap::new();
    for line in std::fs::read_to_string(folder.join("objects"))?.lines() {
        let [path, kind, file] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(format!("objects: \"{line}\" is not like \"/1 image/gif 1\"").into());
        };
        let bytes = Bytes::from(std::fs::read(folder.join(file))?);
        page.insert(path.to_string(), (kind.to_string(), bytes));
    }
    let page = Arc::new(page);
    let Certificate { chain, key } = Certificate::new(CERTIFICATE)?;
    std::fs::write(folder.join("certificate.der"), &chain)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![chain], key)?;
        let at = SocketAddr::from((Ipv4Addr::UNSPECIFIED, PORT));
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let quic = QuicServerConfig::try_from(tls.clone())?;
        let mut config = quinn::ServerConfig::with_crypto(Arc::new(quic));
        config.transport_config(Arc::new(transport()));
        let endpoint = quinn::Endpoint::server(config, at)?;
        let over_quic = Arc::clone(&page);
        tokio::spawn(async move {
            while let Some(incoming) = endpoint.accept().await {
                tokio::spawn(quietly(http3(incoming, Arc::clone(&over_quic))));
            }
        });
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind(at).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(quietly(http2(stream, acceptor.clone(), Arc::clone(&page))));
        }
    })
}

/// Datagrams and a first window as in the scenarios that this is compared with.
fn transport() -> quinn::TransportConfig {
    let mut cubic = quinn::congestion::CubicConfig::default();
    cubic.initial_window(10 * u64::from(DATAGRAM));
    let mut transport = quinn::TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(cubic)).initial_mtu(DATAGRAM);
    transport.mtu_discovery_config(None);
    transport
}

/// What fails is a browser that has gone.
async fn quietly(work: impl Future<Output = Result<(), Failure>>) {
    let _ = work.await;
}

async fn http2(stream: TcpStream, acceptor: TlsAcceptor, page: Page) -> Result<(), Failure> {
    let stream = acceptor.accept(stream).await?;
    let mut requests = h2::server::handshake(stream).await?;
    while let Some(request) = requests.accept().await {
        let (request, mut respond) = request?;
        let page = Arc::clone(&page);
        tokio::spawn(quietly(async move {
            let (response, mut bytes) = answer(&page, request.uri().path())?;
            let mut body = respond.send_response(response, bytes.is_empty())?;
            while !bytes.is_empty() {
                body.reserve_capacity(bytes.len().min(PIECE));
                let room = poll_fn(|context| body.poll_capacity(context)).await;
                let piece = bytes.split_to(room.ok_or("closed")??.min(bytes.len()));
                body.send_data(piece, bytes.is_empty())?;
            }
            Ok(())
        }));
    }
    Ok(())
}

async fn http3(incoming: quinn::Incoming, page: Page) -> Result<(), Failure> {
    let connection = h3_quinn::Connection::new(incoming.await?);
    let mut requests = h3::server::Connection::<_, Bytes>::new(connection).await?;
    while let Some(request) = requests.accept().await? {
        tokio::spawn(quietly(stream(request, Arc::clone(&page))));
    }
    Ok(())
}

async fn stream(
    request: RequestResolver<h3_quinn::Connection, Bytes>,
    page: Page,
) -> Result<(), Failure> {
    let (request, mut stream) = request.resolve_request().await?;
    while let Some(mut piece) = stream.recv_data().await? {
        piece.advance(piece.remaining());
    }
    let (response, mut bytes) = answer(&page, request.uri().path())?;
    stream.send_response(response).await?;
    while !bytes.is_empty() {
        stream.send_data(bytes.split_to(bytes.len().min(PIECE))).await?;
    }
    Ok(stream.finish().await?)
}

fn answer(page: &Page, path: &str) -> Result<(Response<()>, Bytes), Failure> {
    let Some((kind, bytes)) = page.get(path) else {
        return Ok((Response::builder().status(404).body(())?, Bytes::new()));
    };
    let response = Response::builder().header(CONTENT_TYPE, kind);
    Ok((response.header("cache-control", "no-store").body(())?, bytes.clone()))
}
