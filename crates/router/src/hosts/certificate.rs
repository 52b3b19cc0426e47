//! A server's certificate: self-signed, with a key made for the run, and as long as the scenario
//! says (X.509, RFC 5280; ECDSA over P-256, RFC 5480 and 5758).
//!
//! Its time and names are fixed; clients know the certificate itself. What it lacks in length is an
//! extension of zeros that nobody reads.

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Bytes below which no chain of certificates can be had.
pub const LEAST: usize = 400;

/// The server's name.
pub const NAME: &str = "sojourn.test";

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTETS: u8 = 0x04;
const OBJECT: u8 = 0x06;
const TEXT: u8 = 0x0c;
const TIME: u8 = 0x17;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;

/// Object identifiers, as they are encoded.
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const EC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const ALTERNATIVE_NAME: &[u8] = &[0x55, 0x1d, 0x11];
/// Of the arc for examples (RFC 5612's number): nobody knows it.
const FILLING: &[u8] = &[0x2b, 6, 1, 4, 1, 0x81, 0xfd, 0x59, 1];

/// A certificate and its key.
pub struct Certificate {
    /// The certificate.
    pub chain: CertificateDer<'static>,
    /// Its key.
    pub key: PrivateKeyDer<'static>,
}

impl Certificate {
    /// One of `length` bytes, or as short as there can be one. A signature's length differs by a
    /// byte or two from one to the next, and so may the certificate's.
    ///
    /// # Errors
    /// If the machine gives no random numbers.
    pub fn new(length: usize) -> Result<Self, String> {
        let failed = |_| "a certificate could not be made: no random numbers".to_string();
        let (of, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(of, &random).map_err(failed)?;
        let pair = EcdsaKeyPair::from_pkcs8(of, key.as_ref(), &random)
            .map_err(|error| format!("a certificate could not be made: {error}"))?;
        let signed = |filling: usize| {
            let body = body(pair.public_key().as_ref(), filling);
            let signature = pair.sign(&random, &body)?;
            let algorithm = sequence(&[tagged(OBJECT, ECDSA_WITH_SHA256)]);
            Ok(sequence(&[body, algorithm, bits(signature.as_ref())]))
        };
        let mut certificate = signed(0).map_err(failed)?;
        // Lengths of lengths grow with what they count: a second time it fits.
        let mut filling = 0;
        for _ in 0..2 {
            filling = (filling + length).saturating_sub(certificate.len());
            certificate = signed(filling).map_err(failed)?;
        }
        let key = PrivatePkcs8KeyDer::from(key.as_ref().to_vec());
        Ok(Self { chain: certificate.into(), key: key.into() })
    }
}

/// What is signed.
fn body(key: &[u8], filling: usize) -> Vec<u8> {
    let algorithm = sequence(&[tagged(OBJECT, ECDSA_WITH_SHA256)]);
    let name = sequence(&[tagged(
        SET,
        &sequence(&[tagged(OBJECT, COMMON_NAME), tagged(TEXT, NAME.as_bytes())]),
    )]);
    let valid = sequence(&[tagged(TIME, b"200101000000Z"), tagged(TIME, b"491231235959Z")]);
    let kind = sequence(&[tagged(OBJECT, EC_KEY), tagged(OBJECT, P256)]);
    let names = sequence(&[tagged(0x82, NAME.as_bytes())]);
    let mut extensions =
        vec![sequence(&[tagged(OBJECT, ALTERNATIVE_NAME), tagged(OCTETS, &names)])];
    if filling > 0 {
        let zeros = tagged(OCTETS, &vec![0; filling]);
        extensions.push(sequence(&[tagged(OBJECT, FILLING), zeros]));
    }
    sequence(&[
        tagged(0xa0, &tagged(INTEGER, &[2])),
        tagged(INTEGER, &[1]),
        algorithm,
        name.clone(),
        valid,
        name,
        sequence(&[kind, bits(key)]),
        tagged(0xa3, &sequence(&extensions)),
    ])
}

/// A value with its tag and length (DER).
fn tagged(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    if value.len() < 128 {
        bytes.push(value.len() as u8);
    } else {
        let length = value.len().to_be_bytes();
        let length = &length[length.iter().position(|byte| *byte > 0).unwrap_or(0)..];
        bytes.push(0x80 | length.len() as u8);
        bytes.extend_from_slice(length);
    }
    bytes.extend_from_slice(value);
    bytes
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tagged(SEQUENCE, &parts.concat())
}

/// Bits, all bytes of which are used.
fn bits(value: &[u8]) -> Vec<u8> {
    tagged(BIT_STRING, &[&[0], value].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_as_long_as_it_is_to_be() {
        for wanted in [1000, 3000, 16_384, 64_000] {
            let length = Certificate::new(wanted).unwrap().chain.len();
            assert!(length.abs_diff(wanted) <= 8, "{length} for {wanted}");
        }
        let least = Certificate::new(100).unwrap().chain.len();
        assert!((300..LEAST).contains(&least), "{least}");
    }
}
