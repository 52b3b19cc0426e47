//! Packet captures in the pcapng format (IETF draft-ietf-opsawg-pcapng), made from header fields.
//!
//! A simulated packet has no bytes: its IPv4 (RFC 791) and TCP (RFC 9293) or UDP (RFC 768) headers
//! are made here. Payload is zeros, which add nothing to a checksum, so checksums are exact even
//! where the payload is left out of the file. Little-endian, nanosecond time stamps, no date, no
//! host name: the same packets give the same bytes.

use sojourn_base::Time;
use std::io::{Error, ErrorKind, Result, Write};

/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// LINKTYPE_IPV4: a packet begins with its IPv4 header.
const LINK_TYPE: u16 = 228;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const OPTION_USER_APPLICATION: u16 = 4;
const OPTION_INTERFACE_NAME: u16 = 2;
const OPTION_TIME_RESOLUTION: u16 = 9;

const IPV4_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// IPv4 and TCP headers with all options.
const LONGEST_HEADERS: usize = IPV4_HEADER + TCP_HEADER + 40;
static ZEROS: [u8; 65536] = [0; 65536];

/// What of each packet goes into the file. The length on the wire is kept in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Headers only.
    Headers,
    /// Headers and the payload, which is zeros.
    Everything,
}

/// A packet to capture. The fields from `seq` to `options` are for TCP only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// When it passed the tap.
    pub time: Time,
    /// Source address.
    pub src: [u8; 4],
    /// Destination address.
    pub dst: [u8; 4],
    /// Source port.
    pub sport: u16,
    /// Destination port.
    pub dport: u16,
    /// [`TCP`] or [`UDP`].
    pub protocol: u8,
    /// DSCP in the upper six bits (RFC 2474), ECN in the lower two (RFC 3168).
    pub tos: u8,
    /// IPv4 identification.
    pub ident: u16,
    /// Bytes of payload.
    pub payload_len: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number.
    pub ack: u32,
    /// The header's control bits as in RFC 9293 (FIN is 1, CWR is 128), AE (RFC 9768) is 256.
    pub flags: u16,
    /// Window as in the header, already scaled.
    pub window: u16,
    /// Options as in the header, at most 40 bytes; padded to a multiple of four here.
    pub options: &'a [u8],
}

/// Writes one capture.
pub struct Writer<W> {
    out: W,
    content: Content,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of the link called `name`. `out` should be buffered.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn new(mut out: W, name: &str, content: Content) -> Result<Self> {
        let mut section = vec![];
        section.extend(0x1a2b_3c4d_u32.to_le_bytes()); // byte order
        section.extend([1, 0, 0, 0]); // version 1.0
        section.extend(u64::MAX.to_le_bytes()); // length unknown
        option(&mut section, OPTION_USER_APPLICATION, b"sojourn");
        option(&mut section, 0, &[]);
        block(&mut out, SECTION_HEADER, &section)?;

        let mut interface = vec![];
        interface.extend(LINK_TYPE.to_le_bytes());
        interface.extend([0, 0]);
        // A limit on the captured length; zero says that there is none.
        interface.extend(0u32.to_le_bytes());
        let most = name.len().min(usize::from(u16::MAX));
        option(&mut interface, OPTION_INTERFACE_NAME, &name.as_bytes()[..most]);
        option(&mut interface, OPTION_TIME_RESOLUTION, &[9]);
        option(&mut interface, 0, &[]);
        block(&mut out, INTERFACE, &interface)?;
        Ok(Self { out, content })
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// If the packet cannot exist (unknown protocol, over 65,535 bytes, over 40 bytes of options),
    /// or the file cannot be written.
    pub fn write(&mut self, packet: &Packet<'_>) -> Result<()> {
        let mut headers = [0; LONGEST_HEADERS];
        let length = packet.headers(&mut headers)?;
        let wire = length + usize::from(packet.payload_len);
        let kept = if self.content == Content::Headers { length } else { wire };
        self.start_packet(packet.time, kept, wire)?;
        self.out.write_all(&headers[..length])?;
        self.out.write_all(&ZEROS[..kept - length])?;
        self.end_packet(kept)
    }

    /// Adds a real packet, which must be one of IPv4: all of it, or its first bytes if the capture
    /// is of headers.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_bytes(&mut self, time: Time, packet: &[u8]) -> Result<()> {
        let most = if self.content == Content::Headers { LONGEST_HEADERS } else { packet.len() };
        let kept = &packet[..packet.len().min(most)];
        self.start_packet(time, kept.len(), packet.len())?;
        self.out.write_all(kept)?;
        self.end_packet(kept.len())
    }

    /// What stands before the bytes of a packet: `kept` of `wire` bytes follow.
    fn start_packet(&mut self, time: Time, kept: usize, wire: usize) -> Result<()> {
        let mut start = [0; 28];
        let fields = [
            ENHANCED_PACKET,
            (32 + kept.next_multiple_of(4)) as u32,
            0, // interface
            (time.0 >> 32) as u32,
            time.0 as u32,
            kept as u32,
            wire as u32,
        ];
        for (place, field) in start.chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        self.out.write_all(&start)
    }

    /// What stands behind them.
    fn end_packet(&mut self, kept: usize) -> Result<()> {
        let padded = kept.next_multiple_of(4);
        self.out.write_all(&ZEROS[..padded - kept])?;
        self.out.write_all(&(32 + padded as u32).to_le_bytes())
    }

    /// Gives back what it wrote to, which is to be flushed.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Writes a block: type, length, body, length again. The body must be a multiple of 4 bytes.
fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> Result<()> {
    let total = (body.len() as u32 + 12).to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&total)?;
    out.write_all(body)?;
    out.write_all(&total)
}

/// Appends an option, padded to four bytes; code 0 ends the list.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

impl Packet<'_> {
    /// Writes both headers and returns their length.
    fn headers(&self, out: &mut [u8; LONGEST_HEADERS]) -> Result<usize> {
        let impossible = |why| Err(Error::new(ErrorKind::InvalidInput, why));
        let transport = match self.protocol {
            TCP if self.options.len() > 40 => return impossible("over 40 bytes of TCP options"),
            TCP => TCP_HEADER + self.options.len().next_multiple_of(4),
            UDP => UDP_HEADER,
            _ => return impossible("a packet that is neither TCP nor UDP"),
        };
        let length = IPV4_HEADER + transport;
        let Ok(total) = u16::try_from(length + usize::from(self.payload_len)) else {
            return impossible("an IPv4 packet over 65,535 bytes");
        };

        let (ip, rest) = out.split_at_mut(IPV4_HEADER);
        ip[0] = 0x45;
        ip[1] = self.tos;
        put(ip, 2, total);
        put(ip, 4, self.ident);
        put(ip, 6, 0x4000); // don't fragment
        ip[8] = 64; // time to live
        ip[9] = self.protocol;
        ip[12..16].copy_from_slice(&self.src);
        ip[16..20].copy_from_slice(&self.dst);
        let header_checksum = checksum(sum_words(ip));
        put(ip, 10, header_checksum);

        // The pseudo-header of RFC 9293, 3.1: addresses, protocol, length with payload.
        let upper = total - IPV4_HEADER as u16;
        let pseudo = sum_words(&ip[12..20]) + u32::from(self.protocol) + u32::from(upper);
        let header = &mut rest[..transport];
        put(header, 0, self.sport);
        put(header, 2, self.dport);
        if self.protocol == UDP {
            put(header, 4, upper);
            // RFC 768: zero means that there is no checksum.
            let checksum = match checksum(pseudo + sum_words(header)) {
                0 => 0xffff,
                other => other,
            };
            put(header, 6, checksum);
        } else {
            header[4..8].copy_from_slice(&self.seq.to_be_bytes());
            header[8..12].copy_from_slice(&self.ack.to_be_bytes());
            let words = (transport / 4) as u16;
            put(header, 12, words << 12 | (self.flags & 0x1ff));
            put(header, 14, self.window);
            header[TCP_HEADER..][..self.options.len()].copy_from_slice(self.options);
            // What is left up to the next word stays 0, the end of the option list.
            let checksum = checksum(pseudo + sum_words(header));
            put(header, 16, checksum);
        }
        Ok(length)
    }
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// The sum of 16-bit words; `bytes` is even and short.
fn sum_words(bytes: &[u8]) -> u32 {
    bytes.chunks_exact(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]]))).sum()
}

/// RFC 1071: the complement of the sum with the carries added back.
const fn checksum(sum: u32) -> u16 {
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}
