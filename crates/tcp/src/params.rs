//! The parameters that endpoints work with, checked and in the units of the code.

use crate::congestion::{Algorithm, Marks, Tuning};
use crate::endpoint::bit;
use crate::segment::{Flags, TIMESTAMP_BYTES};
use sojourn_base::{Ecn, Time};

/// How a receiver tells of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Feedback {
    /// From a mark until the sender has reduced its window (RFC 3168 section 6.1.3).
    Latched,
    /// Whether what an acknowledgement is for was marked (RFC 8257 section 3.2).
    Exact,
    /// How many packets were marked: AccECN (RFC 9768).
    Counted,
}

/// What two endpoints of a connection have in common: both ends are given the same, so a SYN need
/// not spell out the options it carries. Made by [`Spec::resolve`](crate::Spec::resolve).
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Most payload bytes of a segment: the MSS option less the timestamps.
    pub payload: u32,
    /// Receive window in bytes, a multiple of 2 to the power of `window_scale`.
    pub receive_window: u32,
    /// Most bytes that the congestion window may grow to.
    pub max_window: u32,
    /// Most bytes that one acknowledgement counts for in growing the window: no limit with byte
    /// counting (RFC 3465), one segment without.
    pub count_limit: u32,
    /// Congestion window at the start and after a pause, in bytes (RFC 5681 section 3.1).
    pub initial_window: u32,
    /// The receive window as segments other than a SYN carry it.
    pub window_field: u16,
    /// Window scale of both ends (RFC 7323 section 2).
    pub window_scale: u8,
    /// Option bytes of a segment without SACK blocks.
    pub options: u8,
    /// Option bytes of a SYN.
    pub syn_options: u8,
    /// Most SACK blocks in a segment.
    pub max_sacks: u8,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Timestamps (RFC 7323).
    pub timestamps: bool,
    /// Explicit congestion notification (RFC 3168), if both ends want it: they do.
    pub ecn: bool,
    /// What makes the next data in order more than that: bits of an endpoint.
    pub(crate) watch: u8,
    /// How marks are told of.
    pub feedback: Feedback,
    /// Whether AccECN's option travels with acknowledgements.
    pub accecn_option: bool,
    /// The codepoint of data where ECN was agreed on.
    pub ect: Ecn,
    /// Whether what is sent again has it too.
    pub ect_again: bool,
    /// Whether bare acknowledgements have it too.
    pub ect_acks: bool,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Whether congestion avoidance grows a little with every acknowledgement (RFC 5681 equation
    /// 3) instead of a segment at a time (RFC 3465).
    pub smooth_growth: bool,
    /// Whether `pipe` counts acknowledgements alone, as Fall and Floyd's, not RFC 6675's.
    pub simple_pipe: bool,
    /// Whether the rescue retransmission may come before the first one is acknowledged.
    pub early_rescue: bool,
    /// Whether a lost SYN sets the slow-start threshold.
    pub lost_syn_threshold: bool,
    /// Whether what is sent is logged: something below needs it.
    pub tracked: bool,
    /// Loss detection by time (RFC 8985 section 6).
    pub rack: bool,
    /// Tail loss probes (RFC 8985 section 7).
    pub tlp: bool,
    /// Duplicate data are reported (RFC 2883).
    pub dsack: bool,
    /// Proportional rate reduction (RFC 9937).
    pub prr: bool,
    /// The same after a mark.
    pub prr_marks: bool,
    /// F-RTO (RFC 5682).
    pub frto: bool,
    /// Undo of needless recoveries and timeouts (RFC 3522, RFC 3708).
    pub undo: bool,
    /// HyStart++ (RFC 9406).
    pub hystart: bool,
    /// Whether conservative slow start comes before its end; if not, it is Linux's HyStart.
    pub hystart_css: bool,
    /// Pacing.
    pub pacing: bool,
    /// Whether the receive window grows with what the application takes, up to `receive_window`.
    pub autotune: bool,
    /// Whether acknowledgements of what comes above a hole may wait for each other.
    pub sack_compression: bool,
    /// Whether the timeout is reckoned as Linux does it.
    pub linux_rto: bool,
    /// Most segments of a paced burst.
    pub burst_segments: u32,
    /// Whether little of a flow may wait at its host's interface (TCP small queues).
    pub small_queues: bool,
    /// Whether new data wait until they make a burst, as for segmentation offload.
    pub tso: bool,
    /// Whether acknowledgements may wait (RFC 5681 section 4.2).
    pub delayed_ack: bool,
    /// Whether the window restarts after a pause longer than the retransmission timeout
    /// (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Whether it is halved for each timeout of the pause instead (RFC 2861).
    pub idle_decay: bool,
    /// Whether the window comes down to what the application uses (RFC 2861 section 3.2).
    pub unused_decay: bool,
    /// How often a SYN or SYN-ACK is sent again before giving up.
    pub syn_retries: u8,
    /// How often the same data or FIN time out before giving up.
    pub retries: u8,
    /// Congestion control, its settings in integers.
    pub congestion: Tuning,
    /// Congestion control as it was chosen, for engines that have a model of it.
    pub algorithm: Algorithm,
    /// Data at the beginning of a connection that are acknowledged at once, bytes.
    pub quick_bytes: u64,
    /// Longest wait of an acknowledgement.
    pub delayed_ack_time: Time,
    /// Retransmission timeout before the first measured round trip (RFC 6298 rule 2.1).
    pub initial_rto: Time,
    /// Least retransmission timeout (RFC 6298 rule 2.4).
    pub min_rto: Time,
    /// Greatest retransmission timeout (RFC 6298 rule 2.5).
    pub max_rto: Time,
    /// Least addition to the smoothed round trip: the clock granularity G of RFC 6298 rule 2.3.
    pub rto_granularity: Time,
}

/// What decides [`Params`], in the terms of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choices {
    pub mss: u32,
    pub receive_window: u64,
    pub initial_window: u32,
    pub max_window: Option<u32>,
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: bool,
    pub accecn: bool,
    pub accecn_option: bool,
    pub ect_control: bool,
    pub limited_transmit: bool,
    pub byte_counting: bool,
    pub smooth_growth: bool,
    pub simple_pipe: bool,
    pub early_rescue: bool,
    pub lost_syn_threshold: bool,
    pub rack: bool,
    pub tlp: bool,
    pub dsack: bool,
    pub prr: bool,
    pub prr_marks: bool,
    pub frto: bool,
    pub undo: bool,
    pub hystart: bool,
    pub hystart_css: bool,
    pub pacing: bool,
    pub autotune: bool,
    pub sack_compression: bool,
    pub linux_rto: bool,
    pub burst_segments: u32,
    pub small_queues: bool,
    pub tso: bool,
    pub delayed_ack: bool,
    pub idle_restart: bool,
    pub idle_decay: bool,
    pub unused_decay: bool,
    pub syn_retries: u8,
    pub retries: u8,
    pub congestion: Algorithm,
    pub quick_acks: u32,
    pub delayed_ack_time: Time,
    pub initial_rto: Time,
    pub min_rto: Time,
    pub max_rto: Time,
    pub rto_granularity: Time,
}

/// Largest window that a scale of 14 can express, in bytes (RFC 7323 section 2.3).
pub(crate) const LARGEST_WINDOW: u32 = 65535 << 14;

impl Params {
    pub(crate) fn new(c: &Choices, congestion: Tuning) -> Self {
        let options = if c.timestamps { TIMESTAMP_BYTES } else { 0 };
        let window = c.receive_window as u32;
        let mut scale = 0;
        while window >> scale > 65535 {
            scale += 1;
        }
        let payload = c.mss - u32::from(options);
        let marks = congestion.marks();
        let segments = |n: u32| n.saturating_mul(payload).min(LARGEST_WINDOW);
        // SACK-permitted takes the two bytes of padding of the timestamps, as in Linux.
        let sack_permitted = if c.sack && !c.timestamps { 4 } else { 0 };
        let scale_option = if scale > 0 { 4 } else { 0 };
        Self {
            payload,
            receive_window: window >> scale << scale,
            max_window: c.max_window.map_or(LARGEST_WINDOW, segments),
            count_limit: if c.byte_counting { u32::MAX } else { payload },
            initial_window: segments(c.initial_window).min(c.max_window.map_or(u32::MAX, segments)),
            window_field: (window >> scale) as u16,
            window_scale: scale,
            options,
            syn_options: 4 + options + sack_permitted + scale_option,
            max_sacks: if !c.sack {
                0
            } else if c.timestamps {
                3
            } else {
                4
            },
            sack: c.sack,
            timestamps: c.timestamps,
            ecn: c.ecn,
            watch: bit::FIN_SEEN
                | match (c.accecn, marks.counted()) {
                    (true, _) => bit::ECN, // every packet is counted
                    (false, true) => bit::ECHO,
                    (false, false) => 0,
                },
            accecn_option: c.accecn && c.accecn_option,
            feedback: if c.accecn {
                Feedback::Counted
            } else if marks.counted() {
                Feedback::Exact
            } else {
                Feedback::Latched
            },
            ect: if marks == Marks::Scalable { Ecn::Ect1 } else { Ecn::Ect0 },
            ect_again: c.ect_control || marks == Marks::Scalable,
            ect_acks: c.ect_control,
            limited_transmit: c.limited_transmit,
            smooth_growth: c.smooth_growth,
            simple_pipe: c.simple_pipe,
            early_rescue: c.early_rescue,
            lost_syn_threshold: c.lost_syn_threshold,
            tracked: congestion.samples()
                || c.accecn
                || c.autotune
                || c.sack_compression
                || c.linux_rto
                || c.small_queues
                || c.tso
                || c.rack
                || c.tlp
                || c.dsack
                || c.prr
                || c.prr_marks
                || c.unused_decay
                || c.frto
                || c.undo
                || c.hystart
                || c.pacing,
            rack: c.rack,
            tlp: c.tlp,
            dsack: c.dsack,
            prr: c.prr,
            // Prague's draft has growth go on.
            prr_marks: c.prr_marks && !congestion.rules_recovery() && marks != Marks::Scalable,
            frto: c.frto,
            undo: c.undo,
            hystart: c.hystart,
            hystart_css: c.hystart_css,
            pacing: c.pacing,
            autotune: c.autotune,
            sack_compression: c.sack_compression,
            linux_rto: c.linux_rto,
            burst_segments: c.burst_segments,
            small_queues: c.small_queues,
            tso: c.tso,
            delayed_ack: c.delayed_ack,
            idle_restart: c.idle_restart,
            idle_decay: c.idle_decay,
            unused_decay: c.unused_decay && c.idle_restart && !congestion.rules_recovery(),
            syn_retries: c.syn_retries,
            retries: c.retries,
            congestion,
            algorithm: c.congestion.clone(),
            quick_bytes: u64::from(c.quick_acks) * u64::from(payload),
            delayed_ack_time: c.delayed_ack_time,
            initial_rto: c.initial_rto,
            min_rto: c.min_rto,
            max_rto: c.max_rto,
            rto_granularity: c.rto_granularity,
        }
    }

    /// The peer's receive window in bytes, from the field of a segment.
    #[inline]
    pub(crate) const fn window_bytes(&self, field: u16, flags: Flags) -> u32 {
        if flags.has(Flags::SYN) { field as u32 } else { (field as u32) << self.window_scale }
    }

    /// The receive window as a SYN carries it, unscaled.
    pub(crate) fn syn_window(&self) -> u16 {
        self.receive_window.min(65535) as u16
    }
}

#[cfg(test)]
mod tests {
    use crate::Spec;
    use sojourn_base::Size;

    #[test]
    fn the_window_scale_is_the_least_that_fits() {
        let scale = |bytes| {
            let spec = Spec { receive_window: Some(Size(bytes)), ..Spec::default() };
            let params = Spec::resolve(&[&spec]).unwrap();
            assert_eq!(
                params.receive_window,
                u32::from(params.window_field) << params.window_scale
            );
            (params.window_scale, params.receive_window)
        };
        assert_eq!(scale(16384), (0, 16384));
        assert_eq!(scale(65535), (0, 65535));
        assert_eq!(scale(65536), (1, 65536));
        assert_eq!(scale(1_000_001), (4, 1_000_000));
        assert_eq!(scale(65535 << 14), (14, 65535 << 14));
    }

    #[test]
    fn options_take_what_they_take_on_the_wire() {
        let options = |sack, timestamps, window| {
            let spec = Spec {
                sack: Some(sack),
                timestamps: Some(timestamps),
                receive_window: Some(Size(window)),
                ..Spec::default()
            };
            let params = Spec::resolve(&[&spec]).unwrap();
            (params.syn_options, params.options, params.max_sacks, params.payload)
        };
        assert_eq!(options(false, false, 16384), (4, 0, 0, 1460));
        assert_eq!(options(true, false, 16384), (8, 0, 4, 1460));
        assert_eq!(options(true, true, 1 << 20), (20, 12, 3, 1448));
    }
}
