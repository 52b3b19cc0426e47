//! TLS of both ends, over QUIC and over TCP: the certificate that they agree on in the handshake,
//! and what a client keeps that has been there before.

use super::certificate::Certificate;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConfig, Tls13ClientSessionValue};
use rustls::client::{ClientSessionStore, Resumption, Tls12ClientSessionValue};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::{ServerConfig, ServerSessionMemoryCache};
use rustls::version::TLS13;
use rustls::{CertificateError, DigitallySignedStruct, Error, NamedGroup, SignatureScheme};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Tickets that the first visit gives: as many clients may shake hands at a time.
pub(super) const FIRST_TICKETS: usize = 1024;

/// The settings of both ends.
pub(super) struct Ends {
    pub client: ClientConfig,
    pub server: ServerConfig,
    /// The clients' tickets.
    pub tickets: Arc<Tickets>,
}

/// Makes them, for a certificate of `length` bytes; with `early` a client with a ticket sends data
/// in its first flight. Both speak a protocol of this name (RFC 7301), unless that is empty.
pub(super) fn ends(length: usize, early: bool, speaks: &[u8]) -> Result<Ends, String> {
    let Certificate { chain, key } = Certificate::new(length)?;
    let provider = Arc::new(ring::default_provider());
    let failed = |error: Error| format!("TLS: {error}");
    let known = Known { certificate: chain.clone(), provider: Arc::clone(&provider) };
    let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(failed)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(known))
        .with_no_client_auth();
    let mut server = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .map_err(failed)?
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
        .map_err(failed)?;
    let tickets = Arc::new(Tickets::default());
    client.resumption = Resumption::disabled();
    server.send_tls13_tickets = 0;
    if !speaks.is_empty() {
        client.alpn_protocols = vec![speaks.to_vec()];
        server.alpn_protocols = vec![speaks.to_vec()];
    }
    if early {
        client.resumption = Resumption::store(Arc::clone(&tickets) as Arc<dyn ClientSessionStore>);
        client.enable_early_data = true;
        server.session_storage = ServerSessionMemoryCache::new(8 * FIRST_TICKETS);
        server.send_tls13_tickets = 1;
        server.max_early_data_size = u32::MAX;
    }
    Ok(Ends { client, server, tickets })
}

/// Bytes of a server's certificates over TCP, as of QUIC's by default.
const CERTIFICATE: usize = 3000;

/// TLS over TCP, for HTTP/2.
pub(super) struct Tls {
    pub connector: TlsConnector,
    pub acceptor: TlsAcceptor,
}

impl Tls {
    /// With a certificate made for the run.
    ///
    /// # Errors
    /// One line on what could not be made.
    pub(super) fn new() -> Result<Self, String> {
        let Ends { client, server, .. } = ends(CERTIFICATE, false, b"h2")?;
        Ok(Self { connector: Arc::new(client).into(), acceptor: Arc::new(server).into() })
    }
}

/// A client that knows the server's certificate.
#[derive(Debug)]
struct Known {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if *shown == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::UnknownIssuer))
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _of: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not spoken".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        of: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, of, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The tickets that clients have from earlier visits. Each serves once (RFC 8446 section 8.1), and
/// each visit gives another.
#[derive(Default)]
pub(super) struct Tickets(Mutex<Vec<Tls13ClientSessionValue>>);

impl Tickets {
    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl std::fmt::Debug for Tickets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tickets").field(&self.count()).finish()
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _server: ServerName<'static>, _group: NamedGroup) {}
    fn kx_hint(&self, _server: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }
    fn set_tls12_session(&self, _server: ServerName<'static>, _value: Tls12ClientSessionValue) {}
    fn tls12_session(&self, _server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }
    fn remove_tls12_session(&self, _server: &ServerName<'static>) {}
    fn insert_tls13_ticket(&self, _server: ServerName<'static>, value: Tls13ClientSessionValue) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }
    fn take_tls13_ticket(&self, _server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
