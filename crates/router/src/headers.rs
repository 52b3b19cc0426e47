//! Headers of IP, TCP and UDP as they lie in a packet: lengths, protocol numbers and flags, and
//! numbers read in the network's byte order.

/// Bytes of a header of IPv4 without options (RFC 791, section 3.1).
pub(crate) const IPV4_HEADER: usize = 20;
/// Bytes of a header of IPv6 (RFC 8200, section 3).
pub(crate) const IPV6_HEADER: usize = 40;
/// Bytes of a header of TCP without options (RFC 9293, section 3.1).
pub(crate) const TCP_HEADER: usize = 20;
/// Bytes of a header of UDP (RFC 768).
pub(crate) const UDP_HEADER: usize = 8;

/// Protocol numbers.
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// Flags of TCP, in byte 13 of its header.
pub(crate) const FIN: u8 = 0x01;
pub(crate) const SYN: u8 = 0x02;
pub(crate) const PSH: u8 = 0x08;
pub(crate) const ACK: u8 = 0x10;
pub(crate) const ECE: u8 = 0x40;
pub(crate) const CWR: u8 = 0x80;

/// A number of 16 bits.
#[inline]
pub(crate) fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// A number of 32 bits.
#[inline]
pub(crate) fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
