//! What algorithms are told, and what they set.

use sojourn_base::Time;

/// What an algorithm sets: windows in bytes, the pace in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window: how much may be in the network; at least one segment.
    pub cwnd: u32,
    /// Below this the window grows by slow start; `u32::MAX` until the first congestion.
    pub ssthresh: u32,
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

/// The moment of a loss, a mark or a timeout.
#[derive(Clone, Copy, Debug)]
pub struct Congested {
    /// The present.
    pub now: Time,
    /// The smoothed round trip; zero before the first sample.
    pub srtt: Time,
    /// Bytes outstanding, at most the window.
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
