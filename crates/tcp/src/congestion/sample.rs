//! What algorithms are told, and what they set.

use sojourn_base::Time;

/// How an algorithm uses ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Data are ECT(0); the echo tells of a mark once per window (RFC 3168).
    Classic,
    /// Data are ECT(0) and ECN must be agreed on; the algorithm wants to know how many bytes were
    /// marked (RFC 8257).
    Counted,
    /// Data, retransmissions too, are ECT(1) and ECN must be agreed on; the algorithm wants to know
    /// how many bytes were marked (RFC 9331).
    Scalable,
}

impl Marks {
    /// Whether the number of marked bytes counts, not only that there were some.
    #[must_use]
    pub const fn counted(self) -> bool {
        !matches!(self, Self::Classic)
    }
}

/// What an algorithm sets, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window: how much may be in the network; at least one segment.
    pub cwnd: u32,
    /// Below this the window grows by slow start; `u32::MAX` until the first congestion.
    pub ssthresh: u32,
}

impl Window {
    /// Slow start, if the window is below its threshold: grows it by what is acknowledged, but by
    /// at most two segments, or one after a timeout (RFC 3465 sections 2.2 and 2.3: L is 2, or 1).
    /// The acknowledgement that crosses the threshold counts wholly as slow start.
    #[inline]
    pub(crate) fn slow_start(&mut self, acked: &Acked) -> bool {
        let slow = self.cwnd < self.ssthresh;
        if slow {
            let limit = if acked.after_timeout { acked.mss } else { 2 * acked.mss };
            self.cwnd = self.cwnd.saturating_add(acked.bytes.min(limit));
        }
        slow
    }

    /// Sets window and threshold to `bytes`, but at least to two segments.
    pub(crate) fn reduce(&mut self, bytes: u32, mss: u32) {
        self.ssthresh = bytes.max(2 * mss);
        self.cwnd = self.ssthresh;
    }

    /// A timeout: one segment, and `bytes` for the threshold if it is the first (RFC 5681 section
    /// 3.1: the threshold stays when the same segment times out again).
    pub(crate) fn collapse(&mut self, bytes: u32, mss: u32, first: bool) {
        if first {
            self.ssthresh = bytes.max(2 * mss);
        }
        self.cwnd = mss;
    }
}

/// An acknowledgement of new data that may grow the window.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// The present.
    pub now: Time,
    /// The smoothed round trip; zero before the first sample.
    pub srtt: Time,
    /// Bytes it acknowledges for the first time; a segment at most without byte counting.
    pub bytes: u32,
    /// Payload of a full segment.
    pub mss: u32,
    /// Whether what was lost before a timeout is still being sent again.
    pub after_timeout: bool,
    /// Whether congestion avoidance grows with every acknowledgement.
    pub smooth: bool,
}

/// The moment of a loss, a mark, a timeout or a restart.
#[derive(Clone, Copy, Debug)]
pub struct Congested {
    /// The present.
    pub now: Time,
    /// The smoothed round trip; zero before the first sample.
    pub srtt: Time,
    /// What a reduction starts from: in TCP the bytes outstanding, at most the window (RFC 5681
    /// equation 4); in QUIC the window (RFC 9002 appendix B.6). Zero at a restart.
    pub flight: u32,
    /// Payload of a full segment.
    pub mss: u32,
}

/// How fast data arrived over about the last round trip: the delivery rate of
/// draft-ietf-ccwg-bbr section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes delivered over the interval.
    pub delivered: u32,
    /// The interval: the longer of the time to send them and the time to have them acknowledged.
    pub interval: Time,
    /// Whether the application, not the network, set the pace: then it is a lower bound.
    pub app_limited: bool,
    /// Bytes in flight when the newest of them was sent, itself included.
    pub flight_then: u32,
    /// Bytes lost since then.
    pub lost_since: u32,
}

/// A packet that is taken for lost, and how the connection stood when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The present.
    pub now: Time,
    /// Its bytes.
    pub bytes: u32,
    /// Where it begins and ends in the order of what is sent, in the protocol's own numbers:
    /// sequence numbers of TCP, packet numbers of QUIC.
    pub start: u64,
    /// See `start`: the next packet begins there.
    pub end: u64,
    /// Bytes in flight when it was sent, itself included.
    pub flight_then: u32,
    /// Bytes lost since then, itself included.
    pub lost_since: u32,
    /// Whether the application, not the network, set the pace when it was sent.
    pub app_limited: bool,
    /// Bytes delivered since the connection began.
    pub delivered: u64,
}

/// What one acknowledgement shows of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The present.
    pub now: Time,
    /// The round trip it measures, if it does.
    pub rtt: Option<Time>,
    /// The smoothed round trip; zero before the first sample.
    pub srtt: Time,
    /// Payload of a full segment.
    pub mss: u32,
    /// Bytes newly delivered, acknowledged or selectively acknowledged.
    pub acked: u32,
    /// Bytes newly taken for lost.
    pub lost: u32,
    /// Of the bytes newly delivered, those that the peer reports as marked (AccECN), or all of
    /// them if the segment has the ECN echo.
    pub marked: u32,
    /// Bytes taken to be in the network now.
    pub flight: u32,
    /// Bytes delivered since the connection began, with these.
    pub delivered: u64,
    /// Whether a round trip begins: something sent after the previous one began is acknowledged.
    pub round: bool,
    /// Whether fast recovery or what follows a timeout is under way.
    pub recovering: bool,
    /// The delivery rate, where it can be told.
    pub rate: Option<Rate>,
}
