//! The parameters that endpoints work with: the options, and what follows from them in the units of
//! the code.

use crate::congestion::pacing::Bursts;
use crate::congestion::{Marks, Tuning};
use crate::connection::bit;
use crate::ecn::Feedback;
use crate::options::{LARGEST_WINDOW, Options, Spec};
use crate::segment::{Flags, TIMESTAMP_BYTES};
use alloc::format;
use core::mem::discriminant;
use core::ops::Deref;
use sojourn_base::{Ecn, Invalid};

/// What two endpoints of a connection have in common: both ends are given the same, so a SYN need
/// not spell out the options it carries. Made by [`Spec::resolve`]; gives each of its [`Options`]
/// as a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    set: Options,
    /// Most payload bytes of a segment: the MSS option less the timestamps.
    pub payload: u32,
    /// Receive window in bytes, a multiple of 2 to the power of `window_scale`.
    pub rcv_window: u32,
    /// Most bytes that the congestion window may grow to.
    pub max_cwnd: u32,
    /// Most bytes that one acknowledgement counts for in growing the window: no limit with byte
    /// counting (RFC 3465), one segment without.
    pub count_limit: u32,
    /// Congestion window at the start and after a pause, in bytes (RFC 5681 section 3.1).
    pub initial_cwnd: u32,
    /// Data at the beginning of a connection that are acknowledged at once, bytes.
    pub quick_bytes: u64,
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
    /// What makes the next data in order more than that: bits of an endpoint.
    pub(crate) watch: u8,
    /// How marks are reported.
    pub feedback: Feedback,
    /// The codepoint of data where ECN was agreed on.
    pub ect: Ecn,
    /// Whether what is sent again has it too.
    pub ect_again: bool,
    /// Whether the sender logs its segments: an option, or the congestion control, needs it.
    pub(crate) keeps_log: bool,
    /// Congestion control, its settings in integers.
    pub tuning: Tuning,
}

impl Deref for Params {
    type Target = Options;
    #[inline]
    fn deref(&self) -> &Options {
        &self.set
    }
}

impl Spec {
    /// Lays `specs` over each other, later ones over earlier ones option by option, fills what is
    /// left with the profile that the last of them to name one names, and checks the result.
    pub fn resolve(specs: &[&Self]) -> Result<Params, Invalid> {
        let mut set = Options::resolve(specs)?;
        let tuning = set.congestion.tune()?;
        let marks = tuning.marks();
        set.settle_ecn(marks, specs)?;
        if (tuning.samples() || tuning.paced() || marks.counted()) && !set.sack {
            let remedy = format!("{} needs selective acknowledgements: write true", tuning.name());
            return Err(Invalid::new("sack", "false", remedy));
        }
        set.pacing |= tuning.paced();
        Ok(Params::new(set, tuning))
    }
}

impl Params {
    /// Whether connections can go on with `other`: nothing but settings of the same congestion
    /// control differs. One from outside keeps its own.
    #[must_use]
    pub fn goes_on_with(&self, other: &Self) -> bool {
        let mut same = other.clone();
        same.set.congestion = self.set.congestion.clone();
        same.tuning = self.tuning.clone();
        discriminant(&self.tuning) == discriminant(&other.tuning)
            && !matches!(self.tuning, Tuning::External(_))
            && same == *self
    }

    fn new(mut set: Options, tuning: Tuning) -> Self {
        let keeps_log = tuning.samples() || set.need_log();
        let marks = tuning.marks();
        // Prague's draft has growth go on.
        set.prr_marks &= !tuning.rules_recovery() && marks != Marks::Scalable;
        set.unused_decay &= set.idle_restart && !tuning.rules_recovery();
        let options = if set.timestamps { TIMESTAMP_BYTES } else { 0 };
        let window = set.receive_window.0 as u32;
        let mut scale = 0;
        while window >> scale > 65535 {
            scale += 1;
        }
        let payload = set.mss - u32::from(options);
        let segments = |n: u32| n.saturating_mul(payload).min(LARGEST_WINDOW);
        // SACK-permitted takes the two bytes of padding of the timestamps, as in Linux.
        let sack_permitted = if set.sack && !set.timestamps { 4 } else { 0 };
        let scale_option = if scale > 0 { 4 } else { 0 };
        Self {
            payload,
            rcv_window: window >> scale << scale,
            max_cwnd: segments(set.max_window),
            count_limit: if set.byte_counting { u32::MAX } else { payload },
            initial_cwnd: segments(set.initial_window).min(segments(set.max_window)),
            quick_bytes: u64::from(set.quick_acks) * u64::from(payload),
            window_field: (window >> scale) as u16,
            window_scale: scale,
            options,
            syn_options: 4 + options + sack_permitted + scale_option,
            max_sacks: match (set.sack, set.timestamps) {
                (false, _) => 0,
                (true, true) => 3,
                (true, false) => 4,
            },
            watch: bit::FIN_SEEN
                | match (set.accecn, marks.counted()) {
                    (true, _) => bit::ECN, // every packet is counted
                    // What comes after a mark.
                    (false, false) if set.quick_marks => bit::ECHO,
                    (false, true) => bit::ECHO,
                    (false, false) => 0,
                },
            feedback: match (set.accecn, marks.counted()) {
                (true, _) => Feedback::Counted,
                (false, true) => Feedback::Exact,
                (false, false) => Feedback::Latched,
            },
            ect: if marks == Marks::Scalable { Ecn::Ect1 } else { Ecn::Ect0 },
            ect_again: set.ect_control || marks == Marks::Scalable,
            keeps_log,
            tuning,
            set,
        }
    }

    /// What a sender that paces hands down at once.
    #[inline]
    pub(crate) const fn bursts(&self) -> Bursts {
        Bursts { payload: self.payload, packets: self.set.burst_segments }
    }

    /// The peer's receive window in bytes, from the field of a segment.
    #[inline]
    pub(crate) const fn window_bytes(&self, field: u16, flags: Flags) -> u32 {
        if flags.has(Flags::SYN) { field as u32 } else { (field as u32) << self.window_scale }
    }

    /// The receive window as a SYN carries it, unscaled.
    pub(crate) fn syn_window(&self) -> u16 {
        self.rcv_window.min(65535) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, Profile};
    use sojourn_base::{Size, Time};

    #[test]
    fn spec_overrides_field_by_field_and_last_profile_counts() {
        let first = Spec { mss: Some(1000), ecn: Some(true), ..Spec::default() };
        let second = Spec {
            profile: Some(Profile::Modern),
            mss: Some(500),
            timestamps: Some(false),
            ..Spec::default()
        };
        let p = Spec::resolve(&[&first, &second]).unwrap();
        assert_eq!((p.payload, p.ecn, p.initial_cwnd), (500, true, 5000));
        assert_eq!(p.min_rto, Time::from_millis(200));
        assert_eq!(Spec::resolve(&[&second, &first]).unwrap().payload, 1000);
    }

    #[test]
    fn profile_defaults_to_modern() {
        let p = Spec::resolve(&[]).unwrap();
        assert_eq!((p.initial_cwnd, p.rcv_window, p.sack), (14480, 4 << 20, true));
        assert_eq!((p.initial_rto, p.min_rto), (Time::from_secs(1), Time::from_millis(200)));
        let classic = Spec { profile: Some(Profile::Classic), ..Spec::default() };
        let p = Spec::resolve(&[&classic]).unwrap();
        assert_eq!((p.initial_cwnd, p.rcv_window, p.sack), (2920, 16384, true));
        assert_eq!((p.initial_rto, p.min_rto), (Time::from_secs(3), Time::from_secs(1)));
    }

    #[test]
    fn freebsd4_differs_from_classic_in_four_options() {
        let resolved = |profile| {
            Spec::resolve(&[&Spec { profile: Some(profile), ..Spec::default() }]).unwrap().spec()
        };
        let freebsd4 = resolved(Profile::Freebsd4);
        assert_eq!((freebsd4.initial_window, freebsd4.byte_counting), (Some(1), Some(false)));
        assert_eq!((freebsd4.sack, freebsd4.limited_transmit), (Some(false), Some(false)));
        let alike = Spec {
            profile: Some(Profile::Classic),
            initial_window: Some(2),
            byte_counting: Some(true),
            sack: Some(true),
            limited_transmit: Some(true),
            ..freebsd4
        };
        assert_eq!(alike, resolved(Profile::Classic));
    }

    #[test]
    fn options_spelled_out_resolve_to_the_same() {
        for name in Algorithm::NAMES.iter().filter(|name| **name != "python") {
            for profile in [Profile::Classic, Profile::Freebsd4, Profile::Modern] {
                let congestion = Algorithm::named(name);
                let spec = Spec { profile: Some(profile), congestion, ..Spec::default() };
                let params = match Spec::resolve(&[&spec]) {
                    // Some need what works on the log of segments.
                    Err(error) if profile == Profile::Freebsd4 => {
                        assert_eq!(error.field, "sack", "{name}: {error}");
                        continue;
                    }
                    found => found.unwrap(),
                };
                assert_eq!(Spec::resolve(&[&params.spec()]).unwrap(), params, "{name}");
            }
        }
    }

    #[test]
    fn invalid_value_is_named_with_its_range() {
        let spec = Spec { receive_window: Some(Size(1000)), ..Spec::default() };
        let error = Spec::resolve(&[&spec]).unwrap_err();
        assert_eq!(error.field, "receive_window");
        assert!(error.remedy.contains("2.92kB"), "{error}");
        let spec = Spec { min_rto: Some(Time::from_secs(200)), ..Spec::default() };
        assert_eq!(Spec::resolve(&[&spec]).unwrap_err().field, "min_rto");
    }

    #[test]
    fn window_scale_is_least_that_fits() {
        let scale = |bytes| {
            let spec = Spec { receive_window: Some(Size(bytes)), ..Spec::default() };
            let params = Spec::resolve(&[&spec]).unwrap();
            assert_eq!(params.rcv_window, u32::from(params.window_field) << params.window_scale);
            (params.window_scale, params.rcv_window)
        };
        assert_eq!(scale(16384), (0, 16384));
        assert_eq!(scale(65535), (0, 65535));
        assert_eq!(scale(65536), (1, 65536));
        assert_eq!(scale(1_000_001), (4, 1_000_000));
        assert_eq!(scale(65535 << 14), (14, 65535 << 14));
    }

    #[test]
    fn option_bytes_match_wire_format() {
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
