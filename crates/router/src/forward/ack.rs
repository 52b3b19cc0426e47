//! What a TCP segment acknowledges, read from its bytes. As of all else nothing is trusted.

use crate::headers::{ACK, CWR, ECE, IPV4_HEADER, IPV6_HEADER, SYN, TCP_HEADER, long};
use sojourn_qdisc::{Ack, Sacks};

/// Both echoes of ECN together.
const ECHOES: u8 = ECE | CWR;
/// Options (RFC 9293 section 3.2, RFC 2018, RFC 7323).
const END: u8 = 0;
const NOTHING: u8 = 1;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// What a segment acknowledges; none if its header is damaged, if it begins a connection, or
/// acknowledges nothing.
pub(super) fn acknowledged(segment: &[u8]) -> Option<Ack> {
    let flags = *segment.get(13)?;
    if flags & (ACK | SYN) != ACK {
        return None;
    }
    let options = options(segment)?;
    let (number, echo) = (long(segment, 8), flags & ECHOES);
    let mut ack = Ack { number, echo, ..Ack::default() };
    // The three bits beside the flags are reserved but for AE (RFC 9768).
    ack.bare = flags & !ECHOES == ACK && segment[12] & 15 == 0 && segment.len() == options.header;
    for option in options {
        match option? {
            (NOTHING, _) => {}
            (TIMESTAMPS, times @ &[_, _, _, _, _, _, _, _]) => {
                (ack.tsval, ack.tsecr) = (long(times, 0), long(times, 4));
            }
            (SACK, _) => ack.blocks = true,
            _ => ack.bare = false,
        }
    }
    Some(ack)
}

/// The SACK blocks of an IP packet that carries TCP.
pub(super) fn sacks(packet: &[u8]) -> Sacks {
    let mut sacks = Sacks::default();
    let segment = match packet.first().map(|first| (first >> 4, usize::from(first & 15) * 4)) {
        Some((4, header)) => packet.get(header.max(IPV4_HEADER)..),
        _ => packet.get(IPV6_HEADER..),
    };
    let Some(mut options) = segment.and_then(options) else { return sacks };
    if let Some((_, blocks)) = options.find_map(|option| option.filter(|(kind, _)| *kind == SACK)) {
        for (sack, block) in sacks.iter_mut().zip(blocks.chunks_exact(8)) {
            *sack = (long(block, 0), long(block, 4));
        }
    }
    sacks
}

/// The options of a segment: kinds, and what follows their lengths; none where they are damaged,
/// and nothing behind that.
struct Options<'a> {
    /// Bytes of the header, with them.
    header: usize,
    rest: &'a [u8],
}

/// The options of a segment; none if its header is damaged.
fn options(segment: &[u8]) -> Option<Options<'_>> {
    let header = usize::from(segment.get(12)? >> 4) * 4;
    Some(Options { header, rest: segment.get(TCP_HEADER..header)? })
}

impl<'a> Iterator for Options<'a> {
    type Item = Option<(u8, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        let (&kind, behind) = self.rest.split_first()?;
        if kind <= NOTHING {
            self.rest = if kind == END { &[] } else { behind };
            return Some(Some((NOTHING, &[])));
        }
        // The length counts itself and the kind.
        let option = behind.first().and_then(|&length| self.rest.get(..usize::from(length).max(2)));
        self.rest = option.map_or(&[], |option| &self.rest[option.len()..]);
        Some(option.map(|option| (kind, &option[2..])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;
    use proptest::prelude::*;

    /// An acknowledgement with these optionsafter `change`.
    fn ack(options: &[u8], payload: &[u8], change: impl Fn(&mut [u8])) -> Option<Ack> {
        let builder = PacketBuilder::ipv4([10, 0, 1, 7], [10, 128, 1, 7], 64)
            .tcp(4321, 80, 1, 1000)
            .ack(77)
            .options_raw(options)
            .unwrap();
        let mut bytes = Vec::new();
        builder.write(&mut bytes, payload).unwrap();
        change(&mut bytes[20..]);
        acknowledged(&bytes[20..])
    }

    #[test]
    fn an_acknowledgement_is_bare_if_it_says_nothing_else() {
        let times = [1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 4];
        let sack = [1, 1, 5, 10, 0, 0, 0, 90, 0, 0, 0, 99];
        let bare = Ack { number: 77, bare: true, ..Ack::default() };
        assert_eq!(ack(&[], &[], |_| ()), Some(bare));
        assert_eq!(ack(&times, &[], |_| ()), Some(Ack { tsval: 5, tsecr: 4, ..bare }));
        assert_eq!(ack(&sack, &[], |_| ()), Some(Ack { blocks: true, ..bare }));
        // ECE is told; data, PSH, the bit AE and options that are not known are more than an
        // acknowledgement.
        assert_eq!(ack(&[], &[], |tcp| tcp[13] |= 0x40), Some(Ack { echo: 0x40, ..bare }));
        let more = Some(Ack { bare: false, ..bare });
        assert_eq!(ack(&[], b"x", |_| ()), more);
        assert_eq!(ack(&[], &[], |tcp| tcp[13] |= 0x08), more);
        assert_eq!(ack(&[], &[], |tcp| tcp[12] |= 0x01), more);
        assert_eq!(ack(&[30, 4, 0, 0], &[], |_| ()), more);
        // What follows the end of the list is nothing.
        assert_eq!(ack(&[0, 30, 9, 9], &[], |_| ()), Some(bare));
    }

    #[test]
    fn no_acknowledgement_is_read_from_a_syn_or_a_damaged_header() {
        assert_eq!(ack(&[], &[], |tcp| tcp[13] |= SYN), None);
        assert_eq!(ack(&[], &[], |tcp| tcp[13] &= !ACK), None);
        assert_eq!(ack(&[], &[], |tcp| tcp[12] = 0x40), None);
        assert_eq!(ack(&[], &[], |tcp| tcp[12] = 0xf0), None);
        assert_eq!(ack(&[8, 200, 0, 0], &[], |_| ()), None);
        assert_eq!(ack(&[1, 1, 1, 8], &[], |_| ()), None);
    }

    #[test]
    fn blocks_of_both_versions_of_ip_are_read() {
        let options = [1, 1, 5, 18, 0, 0, 0, 90, 0, 0, 0, 99, 0, 0, 0, 7, 0, 0, 0, 8];
        let expected = [(90, 99), (7, 8), (0, 0), (0, 0)];
        let four = PacketBuilder::ipv4([10, 0, 1, 7], [10, 128, 1, 7], 64).tcp(1, 2, 3, 4);
        let six = PacketBuilder::ipv6([1; 16], [2; 16], 64).tcp(1, 2, 3, 4);
        for builder in [four, six] {
            let mut bytes = Vec::new();
            builder.options_raw(&options).unwrap().write(&mut bytes, &[]).unwrap();
            assert_eq!(sacks(&bytes), expected);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = (acknowledged(&bytes), sacks(&bytes));
        }

        #[test]
        fn any_options_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 40)) {
            let mut segment = vec![0; TCP_HEADER];
            (segment[12], segment[13]) = (0xf0, ACK);
            segment.extend(bytes);
            let _ = acknowledged(&segment);
        }
    }
}
