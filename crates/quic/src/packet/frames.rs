//! Frames of data, and those that few packets have.

use super::varint::varint;

/// A STREAM frame (RFC 9000 section 19.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFrame {
    /// The stream, by its ID on the wire.
    pub id: u32,
    /// Bytes of payload.
    pub len: u16,
    /// Whether the stream ends with it.
    pub fin: bool,
    /// Where in the stream it begins.
    pub offset: u64,
}

impl StreamFrame {
    /// Bytes of the shortest: type, stream and length.
    pub(crate) const LEAST: u32 = 3;

    /// Bytes in front of `len` bytes from `offset` on; the length is always written.
    pub(crate) const fn header(id: u32, offset: u64, len: u32) -> u32 {
        let at = if offset > 0 { varint(offset) } else { 0 };
        1 + varint(id as u64) + at + varint(len as u64)
    }
}

/// A CRYPTO frame (RFC 9000 section 19.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CryptoFrame {
    /// Where in the handshake messages of its space it begins.
    pub offset: u32,
    /// Bytes of payload.
    pub len: u16,
}

impl CryptoFrame {
    /// Bytes in front of `len` bytes from `offset` on.
    pub(crate) const fn header(offset: u64, len: u32) -> u32 {
        1 + varint(offset) + varint(len as u64)
    }
}

/// Frames that few packets have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rare {
    /// Bytes of PADDING (RFC 9000 section 19.1).
    pub padding: u16,
    /// A DATAGRAM frame of so many bytes (RFC 9221 section 4).
    pub message: Option<u16>,
    /// CRYPTO.
    pub crypto: Option<CryptoFrame>,
    /// MAX_DATA (section 19.9).
    pub max_data: Option<u64>,
    /// MAX_STREAM_DATA of a stream (section 19.10).
    pub max_stream_data: Option<(u32, u64)>,
}

impl Rare {
    pub(super) const NONE: Self =
        Self { padding: 0, message: None, crypto: None, max_data: None, max_stream_data: None };

    #[cold]
    pub(super) fn is_eliciting(&self) -> bool {
        *self != Self { padding: self.padding, ..Self::NONE }
    }

    #[cold]
    pub(super) fn bytes(&self) -> u32 {
        let mut bytes = u32::from(self.padding);
        if let Some(len) = self.message {
            bytes += 1 + varint(u64::from(len)) + u32::from(len);
        }
        if let Some(CryptoFrame { offset, len }) = self.crypto {
            let len = u32::from(len);
            bytes += CryptoFrame::header(u64::from(offset), len) + len;
        }
        if let Some(most) = self.max_data {
            bytes += 1 + varint(most);
        }
        if let Some((id, most)) = self.max_stream_data {
            bytes += 1 + varint(u64::from(id)) + varint(most);
        }
        bytes
    }
}
