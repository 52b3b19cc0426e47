//! The number by which packets and events name an end of a connection.

/// An end of a connection, or of a datagram flow with [`DATAGRAM`](crate::packet::DATAGRAM) set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndId(u32);

impl EndId {
    /// The end that opened the connection at this place: end 0.
    #[inline]
    pub(crate) const fn client(conn: u32) -> Self {
        Self(conn << 1)
    }

    /// The other end of the connection at this place: end 1.
    #[inline]
    pub(crate) const fn server(conn: u32) -> Self {
        Self(conn << 1 | 1)
    }

    /// The place of its connection.
    #[inline]
    pub(crate) const fn conn(self) -> u32 {
        self.0 >> 1
    }

    /// Which end of the connection: 0, the client, or 1, the server.
    #[inline]
    pub(crate) const fn end(self) -> usize {
        (self.0 & 1) as usize
    }

    /// Whether it is the server's end.
    #[inline]
    pub(crate) const fn is_server(self) -> bool {
        self.0 & 1 == 1
    }

    /// The other end of the same connection.
    #[inline]
    pub(crate) const fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// The end of this number.
    #[inline]
    pub(crate) const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// As a number: ends of the same connection lie side by side.
    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}
