//! One endpoint and a peer that follows a script, in the manner of packetdrill. Data are told in
//! segments of 1000 bytes, from 0.

use super::{Record, classic, params};
use sojourn_base::{Size, Time};
use sojourn_tcp::{
    Ecn, Endpoint, Event, Feedback, Flags, Output, Params, Profile, SackBlock, Segment, Spec,
};

pub(crate) const MSS: u32 = 1000;
pub(crate) const ISS: u32 = u32::MAX - 4500; // wraps within the fifth segment
pub(crate) const PEER: u32 = 77_000;

/// Settings for scripts: hosts of 2003, whole segments, a wide window.
pub(crate) fn spec() -> Spec {
    Spec { mss: Some(MSS), receive_window: Some(Size(60_000)), ..classic() }
}

/// The same with today's machinery, without timestamps, and with every acknowledgement delayed
/// but those of what comes above a hole.
pub(crate) fn modern() -> Spec {
    let (quick_acks, sack_compression) = (Some(0), Some(false));
    let profile = Some(Profile::Modern);
    Spec { profile, timestamps: Some(false), quick_acks, sack_compression, ..spec() }
}

/// A sender whose window of ten segments, 0 to 9, is outstanding, a round trip after it was sent.
pub(crate) fn ten(spec: &Spec) -> Script {
    let mut s = Script::sending(spec);
    assert_eq!(s.sent(), (0..10).collect::<Vec<_>>());
    s.wait(100);
    s
}

pub(crate) struct Script {
    pub p: Params,
    pub end: Endpoint,
    pub now: Time,
    pub out: Record,
}

impl Script {
    /// A client that has not been opened.
    pub(crate) fn idle(spec: &Spec) -> Self {
        let p = params(spec);
        Self { end: Endpoint::client(&p, ISS), p, now: Time::ZERO, out: Record::default() }
    }

    /// A client that is connected, 100 ms after it opened, and has nothing to send.
    pub(crate) fn connected(spec: &Spec) -> Self {
        let mut s = Self::idle(spec);
        s.open();
        s.wait(100);
        let ecn = match s.p.feedback {
            _ if !s.p.ecn => Flags::NONE,
            Feedback::Counted => Flags::CWR,
            Feedback::Latched | Feedback::Exact => Flags::ECE,
        };
        s.arrives(s.syn_ack(ecn));
        assert_eq!(s.out.events, [Event::Connected]);
        s.forget();
        s
    }

    /// The same with data without end, of which the first window was sent.
    pub(crate) fn sending(spec: &Spec) -> Self {
        let mut s = Self::connected(spec);
        s.write(u64::MAX);
        s
    }

    /// A server that has got a SYN, which came with an ECN field.
    pub(crate) fn asked(spec: &Spec, extra: Flags, ecn: Ecn) -> Self {
        let mut s = Self { end: Endpoint::server(&params(spec), ISS), ..Self::idle(spec) };
        let flags = Flags::SYN | extra;
        s.arrives(Segment { seq: PEER, flags, window: 60_000, ecn, ..Segment::EMPTY });
        s
    }

    pub(crate) fn syn_ack(&self, extra: Flags) -> Segment {
        Segment {
            seq: PEER,
            ack: ISS.wrapping_add(1),
            flags: Flags::SYN | Flags::ACK | extra,
            window: 60_000,
            ..Segment::EMPTY
        }
    }

    pub(crate) fn open(&mut self) {
        self.end.open(&self.p, self.now, &mut self.out);
    }
    pub(crate) fn write(&mut self, bytes: u64) {
        self.end.write(&self.p, self.now, bytes, &mut self.out);
    }
    pub(crate) fn close(&mut self) {
        self.end.close(&self.p, self.now, &mut self.out);
    }

    /// Lets time pass; timers that are due run at their time.
    pub(crate) fn wait(&mut self, ms: u64) {
        let until = self.now + Time::from_millis(ms);
        while self.end.deadline() <= until {
            self.now = self.end.deadline();
            self.end.on_timer(&self.p, self.now, &mut self.out);
        }
        self.now = until;
    }

    pub(crate) fn arrives(&mut self, segment: Segment) {
        self.end.on_segment(&self.p, self.now, &segment, &[], &mut self.out);
    }

    /// An acknowledgement of the first `n` segments, with SACK blocks.
    pub(crate) fn sack(&mut self, n: u32, blocks: &[(u32, u32)]) {
        self.ack_with(n, blocks, Flags::NONE);
    }

    pub(crate) fn ack(&mut self, n: u32) {
        self.ack_with(n, &[], Flags::NONE);
    }

    pub(crate) fn ack_with(&mut self, n: u32, blocks: &[(u32, u32)], extra: Flags) {
        let block = |&(a, b): &(u32, u32)| SackBlock { start: place(a), end: place(b) };
        let blocks: Vec<SackBlock> = blocks.iter().map(block).collect();
        self.ack_of(n, extra, blocks.len() as u8, &blocks);
    }

    /// The same without SACK, with the counter of marked bytes in AccECN's option.
    pub(crate) fn ack_counting(&mut self, n: u32, extra: Flags, marked: u32) {
        let option = SackBlock { start: 1, end: marked };
        self.ack_of(n, extra, Segment::COUNTERS, &[option]);
    }

    /// The same with counters that a path has emptied.
    pub(crate) fn ack_empty(&mut self, n: u32, extra: Flags) {
        self.ack_of(n, extra, Segment::COUNTERS, &[SackBlock { start: 0, end: 0 }]);
    }

    fn ack_of(&mut self, n: u32, extra: Flags, sacks: u8, blocks: &[SackBlock]) {
        let segment = Segment {
            seq: PEER.wrapping_add(1),
            ack: place(n),
            window: 60_000,
            flags: Flags::ACK | extra,
            sacks,
            ..Segment::EMPTY
        };
        self.end.on_segment(&self.p, self.now, &segment, blocks, &mut self.out);
    }

    /// An acknowledgement that echoes the time of what was sent at `sent`.
    pub(crate) fn ack_echo(&mut self, n: u32, sent: Time) {
        self.arrives(Segment {
            seq: PEER.wrapping_add(1),
            ack: place(n),
            tsecr: (sent.0 / 1000) as u32,
            window: 60_000,
            flags: Flags::ACK,
            ..Segment::EMPTY
        });
    }

    /// Segment `n` of the peer's data arrives.
    pub(crate) fn data(&mut self, n: u32) {
        self.data_with(n, MSS, Flags::NONE, Ecn::NotEct);
    }

    pub(crate) fn data_with(&mut self, n: u32, len: u32, extra: Flags, ecn: Ecn) {
        self.arrives(Segment {
            seq: from_peer(n),
            ack: ISS.wrapping_add(1),
            window: 60_000,
            len: len as u16,
            flags: Flags::ACK | extra,
            ecn,
            ..Segment::EMPTY
        });
    }

    /// The numbers of the data segments that were sent since last asked; all must be full.
    pub(crate) fn sent(&mut self) -> Vec<u32> {
        let number = |(s, _): &(Segment, Vec<SackBlock>)| {
            let from = s.seq.wrapping_sub(ISS + 1);
            assert_eq!((from % MSS, u32::from(s.len)), (0, MSS), "{s:?}");
            from / MSS
        };
        self.out.sent.drain(..).filter(|(s, _)| s.len > 0).map(|s| number(&s)).collect()
    }

    /// All segments that were sent since last asked.
    pub(crate) fn segments(&mut self) -> Vec<Segment> {
        self.out.sent.drain(..).map(|s| s.0).collect()
    }

    /// What the acknowledgements since last asked say: the next segment, and blocks in segments.
    pub(crate) fn acks(&mut self) -> Vec<(u32, Vec<(u32, u32)>)> {
        let unit = |seq: u32| seq.wrapping_sub(PEER + 1) / MSS;
        let say = |(s, blocks): (Segment, Vec<SackBlock>)| {
            (unit(s.ack), blocks.iter().map(|b| (unit(b.start), unit(b.end))).collect())
        };
        self.out.sent.drain(..).map(say).collect()
    }

    pub(crate) fn forget(&mut self) {
        self.out = Record::default();
    }

    /// Congestion window in segments, rounded down.
    pub(crate) fn cwnd(&self) -> u32 {
        self.end.cwnd() / MSS
    }
}

/// Sequence number of the start of data segment `n`.
pub(crate) fn place(n: u32) -> u32 {
    ISS.wrapping_add(n.wrapping_mul(MSS).wrapping_add(1))
}

/// The same for the peer's data.
pub(crate) fn from_peer(n: u32) -> u32 {
    PEER.wrapping_add(1 + n * MSS)
}

/// A sink for calls whose output does not matter.
pub(crate) struct Nothing;
impl Output for Nothing {
    fn send(&mut self, _: Segment, _: &[SackBlock]) {}
    fn deliver(&mut self, _: u32) {}
    fn event(&mut self, _: Event) {}
}
