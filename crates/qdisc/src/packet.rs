//! What a queue discipline sees of a packet, and the interface every discipline has.

use crate::Counters;
use sojourn_base::Time;

pub use sojourn_base::Ecn;

/// A packet as a queue sees it: the simulator's few words or the router's handle to a buffer.
/// Copying must be cheap.
pub trait Packet: Copy {
    /// Length of the IP packet in bytes, headers included.
    fn bytes(&self) -> u32;
    /// Its ECN field.
    fn ecn(&self) -> Ecn;
    /// Sets the ECN field to [`Ecn::Ce`]; called only on a packet that is ECT.
    fn set_ce(&mut self);
    /// A hash of the flow the packet belongs to, for disciplines that keep flows apart.
    fn flow_hash(&self) -> u32;
    /// The [hash](label_hash) of the label its traffic carries, by which classes are chosen; 0 if
    /// it has none.
    #[inline]
    fn label(&self) -> u32 {
        0
    }
    /// Its differentiated services codepoint: 0 to 63 (RFC 2474).
    #[inline]
    fn dscp(&self) -> u8 {
        0
    }
    /// What it acknowledges, if it is of TCP and does; none where that is not known.
    #[inline]
    fn ack(&self) -> Option<Ack> {
        None
    }
    /// Its IPv4 source address; 0 where the packet has no addresses.
    #[inline]
    fn source(&self) -> u32 {
        0
    }
    /// Its IPv4 destination address; 0 where the packet has no addresses.
    #[inline]
    fn destination(&self) -> u32 {
        0
    }
}

/// What a TCP segment acknowledges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The next byte expected.
    pub number: u32,
    /// Timestamps (RFC 7323), 0 without.
    pub tsval: u32,
    /// See `tsval`.
    pub tsecr: u32,
    /// Its flags ECE and CWR, as on the wire.
    pub echo: u8,
    /// It has SACK blocks.
    pub blocks: bool,
    /// It carries nothing else: no data, no other flags, no options but timestamps and SACK blocks.
    pub bare: bool,
}

/// SACK blocks (RFC 2018 section 3): the first byte held, and the first that is not. What is empty
/// is none.
pub type Sacks = [(u32, u32); 4];

/// What stands for a label in a packet: 32-bit FNV-1a of its text, and 0 for no text only.
#[must_use]
pub const fn label_hash(label: &str) -> u32 {
    let bytes = label.as_bytes();
    let (mut hash, mut at) = (0x811c_9dc5_u32, 0);
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    match (bytes.len(), hash) {
        (0, _) => 0,
        (_, 0) => 1,
        (_, hash) => hash,
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// A limit was reached.
    Overflow,
    /// The discipline's own decision.
    Early,
}

/// What became of the packet that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is in the queue, unchanged.
    Queued,
    /// It is in the queue and was set to CE on the way in.
    Marked,
    /// It was dropped and has been given to the sink.
    Dropped(DropReason),
}

/// Where every dropped packet goes, be it the one offered or another; and where that lies which
/// packets are too small to carry.
pub trait Sink<P> {
    /// `packet` was dropped at `now`.
    fn dropped(&mut self, now: Time, packet: P, reason: DropReason);
    /// The SACK blocks of a packet whose [`Ack`] has some.
    fn sacks(&self, packet: &P) -> Sacks {
        let _ = packet;
        Sacks::default()
    }
}

/// Lets every dropped packet vanish; the counters still know of it.
impl<P> Sink<P> for () {
    #[inline]
    fn dropped(&mut self, _: Time, _: P, _: DropReason) {}
}

/// A queue discipline. Calls must come in order of time; what is due at `now` runs first.
pub trait Discipline<P: Packet> {
    /// Offers a packet.
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict;
    /// Takes the next packet for transmission, at the instant its transmission starts.
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P>;
    /// The earliest instant, not before `now`, at which `dequeue` would give a packet if nothing
    /// else arrived; `None` if the queue is empty.
    #[inline]
    fn next_ready(&self, now: Time) -> Option<Time> {
        if self.packets() == 0 { None } else { Some(now) }
    }
    /// Runs what is due up to and including `now`. The other calls do so themselves: this is for
    /// a probe that wants to see the state at `now`, and changes no decision.
    #[inline]
    fn advance(&mut self, now: Time) {
        let _ = now;
    }
    /// The packet `dequeue` would give next, where that is known beforehand.
    #[inline]
    fn peek(&self) -> Option<&P> {
        None
    }
    /// Packets standing, without the one in service.
    #[inline]
    fn packets(&self) -> u32 {
        self.counters().standing().packets as u32
    }
    /// Bytes standing, without the packet in service.
    #[inline]
    fn bytes(&self) -> u64 {
        self.counters().standing().bytes
    }
    /// What has passed so far.
    fn counters(&self) -> &Counters;
    /// The probability with which a packet of mean size would now be dropped or marked; 0 where
    /// the discipline has none. For probes.
    fn probability(&self) -> f64 {
        0.0
    }
    /// Tells every packet that stands, from the head to the tail; where there are several queues,
    /// one after another. For probes.
    fn each(&self, tell: &mut dyn FnMut(&P));
    /// The number of the class that `packet`, which left last, came out of, in the order in which
    /// [`Config::classes`](crate::Config::classes) names them; 0 where there are none.
    fn class_of(&self, packet: &P) -> usize {
        let _ = packet;
        0
    }
    /// Tells the counters of each class, in the same order; nothing where there are none.
    fn classes(&self, tell: &mut dyn FnMut(&Counters)) {
        let _ = tell;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Plain;

    impl Packet for Plain {
        fn bytes(&self) -> u32 {
            40
        }
        fn ecn(&self) -> Ecn {
            Ecn::NotEct
        }
        fn set_ce(&mut self) {}
        fn flow_hash(&self) -> u32 {
            9
        }
    }

    #[test]
    fn a_packet_has_no_more_than_it_says() {
        let addresses = (Plain.source(), Plain.destination());
        assert_eq!((Plain.label(), Plain.dscp(), Plain.ack(), addresses), (0, 0, None, (0, 0)));
        assert_eq!(Sink::sacks(&(), &Plain), [(0, 0); 4]);
    }

    #[test]
    fn labels_have_the_hashes_of_fnv_1a() {
        // Vectors of draft-eastlake-fnv.
        assert_eq!(label_hash("a"), 0xe40c_292c);
        assert_eq!(label_hash("foobar"), 0xbf9c_f968);
        assert_eq!(label_hash(""), 0);
    }
}
