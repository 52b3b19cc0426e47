//! The handshake as far as it takes time and bytes (RFC 9001 section 4): which messages must have
//! come before packets of which space can be read and sent, how long they are, and how much a
//! server may send to an address that it does not know (RFC 9000 section 8.1).
//!
//! # Differences from the source
//!
//! 1. Nothing is encrypted, and every message is taken: no Retry, no version negotiation, no
//!    HelloRetryRequest, no rejection of 0-RTT, no key update.
//! 2. Messages are as long as those of TLS 1.3 with X25519 and an ECDSA certificate are, and a
//!    server sends no new session tickets: who has been there before is a setting.
//! 3. Packets that cannot be read yet are dropped, not kept (RFC 9001 section 5.7 lets both).

use crate::params::Params;

/// ClientHello with the transport parameters; one that resumes has a pre-shared key and
/// early_data, and its binder.
pub const CLIENT_HELLO: u64 = 300;
const RESUMPTION: u64 = 160;

/// ServerHello: X25519 share and supported_versions.
const SERVER_HELLO: u64 = 90;

/// EncryptedExtensions with the transport parameters.
const ENCRYPTED_EXTENSIONS: u64 = 100;

/// CertificateVerify with a P-256 signature.
const CERTIFICATE_VERIFY: u64 = 80;

/// Finished with SHA-256 (RFC 8446 section 4.4.4): four bytes and the hash.
pub const FINISHED: u64 = 36;

/// Bytes of all that a server answers, with certificates of so many: TLS over TCP has the same
/// messages.
#[must_use]
pub const fn server_answer(certificates: u64) -> u64 {
    SERVER_HELLO + ENCRYPTED_EXTENSIONS + certificates + CERTIFICATE_VERIFY + FINISHED
}

/// Bytes of the client's Initial messages.
pub(crate) fn client_hello(params: &Params) -> u64 {
    CLIENT_HELLO + if params.zero_rtt { RESUMPTION } else { 0 }
}

/// Bytes of the server's Initial messages.
pub(crate) fn server_hello() -> u64 {
    SERVER_HELLO
}

/// Bytes of the server's Handshake messages; without a certificate where a key is shared already
/// (RFC 8446 section 2.2).
pub(crate) fn server_flight(params: &Params) -> u64 {
    let proof = if params.zero_rtt { 0 } else { params.certificate.0 + CERTIFICATE_VERIFY };
    ENCRYPTED_EXTENSIONS + proof + FINISHED
}

/// Bytes of the client's Handshake messages.
pub(crate) fn client_flight() -> u64 {
    FINISHED
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// RFC 9001 section 4.1.1: all messages of the peer have come.
    pub complete: bool,
    /// RFC 9001 section 4.1.2: the peer is known to be so far.
    pub confirmed: bool,
    /// The client's address is known to be its own: at a server, a Handshake packet has come (RFC
    /// 9000 section 8.1); at a client, the server has said so (`PeerCompletedAddressValidation` of
    /// RFC 9002 appendix A.8).
    pub validated: bool,
    /// HANDSHAKE_DONE is to be sent.
    pub done_due: bool,
}

/// What a server may send to an address that is not validated: three times what came from there
/// (RFC 9000 section 8.1).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amplification {
    pub received: u64,
    pub sent: u64,
}

impl Amplification {
    pub(crate) fn left(&self) -> u64 {
        (3 * self.received).saturating_sub(self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    #[test]
    fn resumption_leaves_the_certificate_out() {
        let flight = |zero_rtt| {
            let spec = Spec { zero_rtt: Some(zero_rtt), ..Spec::default() };
            server_flight(&Spec::resolve(&[&spec]).unwrap())
        };
        assert_eq!((flight(false), flight(true)), (3216, 136));
    }

    #[test]
    fn three_times_what_came_may_be_sent() {
        let mut budget = Amplification { received: 1200, sent: 0 };
        assert_eq!(budget.left(), 3600);
        budget.sent = 4000;
        assert_eq!(budget.left(), 0);
    }

    #[test]
    fn an_answer_has_all_messages_of_the_server() {
        let params = Spec::resolve(&[]).unwrap();
        assert_eq!(server_answer(3000), server_hello() + server_flight(&params));
        assert_eq!(server_answer(0), 90 + 100 + 80 + 36);
    }
}
