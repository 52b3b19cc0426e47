//! What a scenario says of its TCPs, and how that becomes parameters.

use crate::congestion::{Algorithm, Marks};
use crate::params::{Choices, LARGEST_WINDOW, Params};
use alloc::format;
use core::fmt;
use sojourn_base::{Invalid, Size, Time};

/// A set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "lowercase"))]
pub enum Profile {
    /// Hosts of about 2003: initial timeout 3 s, least timeout 1 s, acknowledgements wait up to
    /// 100 ms, initial window 2 segments, receive window 16 KiB, no timestamps.
    #[default]
    Classic,
    /// Hosts of today: initial timeout 1 s, least timeout 200 ms, acknowledgements wait up to
    /// 40 ms, initial window 10 segments, receive window 4 MiB, timestamps.
    Modern,
}

impl Profile {
    fn choices(self) -> Choices {
        let classic = Choices {
            mss: 1460,
            receive_window: 16 << 10,
            initial_window: 2, // RFC 2581 section 3.1
            max_window: None,
            sack: true,
            timestamps: false,
            ecn: false,
            accecn: false,
            accecn_option: true,
            ect_control: false,
            limited_transmit: true,
            byte_counting: true,
            smooth_growth: false,
            simple_pipe: false,
            early_rescue: true,
            lost_syn_threshold: false,
            rack: false,
            tlp: false,
            dsack: false,
            prr: false,
            prr_marks: false,
            frto: false,
            undo: false,
            hystart: false,
            hystart_css: true,
            pacing: false,
            autotune: false,
            sack_compression: false,
            linux_rto: false,
            burst_segments: 1,
            small_queues: false,
            tso: false,
            delayed_ack: true,
            quick_acks: 0,
            idle_restart: true,
            idle_decay: false,
            unused_decay: false,
            syn_retries: 5,
            retries: 12,
            congestion: Algorithm::Reno(Default::default()),
            delayed_ack_time: Time::from_millis(100),
            initial_rto: Time::from_secs(3), // RFC 2988 rule 2.1
            min_rto: Time::from_secs(1),     // RFC 2988 rule 2.4
            max_rto: Time::from_secs(64),
            rto_granularity: Time::from_millis(10),
        };
        match self {
            Self::Classic => classic,
            Self::Modern => Choices {
                receive_window: 4 << 20,
                initial_window: 10, // RFC 6928
                rack: true,
                tlp: true,
                dsack: true,
                prr: true,
                prr_marks: true,
                frto: true,
                undo: true,
                hystart: true,
                burst_segments: 45, // 64 KiB
                small_queues: true,
                idle_decay: true,
                unused_decay: true,
                autotune: true,
                sack_compression: true,
                linux_rto: true,
                timestamps: true,
                syn_retries: 6,
                retries: 15,
                quick_acks: 16,
                delayed_ack_time: Time::from_millis(40),
                initial_rto: Time::from_secs(1), // RFC 6298 rule 2.1
                min_rto: Time::from_millis(200),
                max_rto: Time::from_secs(120),
                // Linux's least timeout is a least deviation: SRTT plus at least 200 ms.
                rto_granularity: Time::from_millis(200),
                ..classic
            },
        }
    }
}

/// TCP settings. What is left out comes from the profile.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "Tcp"))]
pub struct Spec {
    /// The set of defaults: "classic" (the default) or "modern".
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub profile: Option<Profile>,
    /// Congestion control: its name, or a table with `kind` and its settings (default "reno").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub congestion: Option<Algorithm>,
    /// The MSS option in bytes: 88 to 65495 (default 1460). With timestamps a segment carries 12
    /// bytes less.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mss: Option<u32>,
    /// Receive window: at least two segments, at most 1073725440 bytes (classic "16KiB", modern
    /// "4MiB"). Above 65535 bytes the window scale option is used.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub receive_window: Option<Size>,
    /// Initial congestion window in segments: 1 to 1000 (classic 2, modern 10).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub initial_window: Option<u32>,
    /// Most segments that the congestion window may grow to, as `window_` in ns-2: at least 1
    /// (default unlimited).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub max_window: Option<u32>,
    /// Selective acknowledgements; without them recovery is NewReno (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub sack: Option<bool>,
    /// Timestamps in every segment (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub timestamps: Option<bool>,
    /// Explicit congestion notification (default false; true where the congestion control needs
    /// it).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub ecn: Option<bool>,
    /// Count marked packets in three bits of every segment, AccECN, RFC 9768, instead of echoing that
    /// there was one. Turns `ecn` on; needs `sack` (default false; true where the congestion control
    /// needs it).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub accecn: Option<bool>,
    /// With `accecn`: count marked bytes too, in an option on bare acknowledgements, RFC 9768 section
    /// 3.2.3, so that the sender need not guess when acknowledgements are lost or stand for many
    /// segments; eight bytes each (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub accecn_option: Option<bool>,
    /// Mark retransmissions and bare acknowledgements as ECN-capable too, as hosts in data centres do
    /// whose queues drop what is not, instead of data only, RFC 3168 (default false;
    /// retransmissions: true where the congestion control wants it).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub ect_control: Option<bool>,
    /// New data on the first two duplicate acknowledgements (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub limited_transmit: Option<bool>,
    /// Grow the window by bytes acknowledged; if false, by one segment an acknowledgement at most,
    /// so that delayed acknowledgements slow the growth, as in older hosts (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub byte_counting: Option<bool>,
    /// In congestion avoidance grow with every acknowledgement by MSS times its share of the
    /// window, RFC 5681 equation 3, as ns-2; if false, by a whole segment once a window is
    /// acknowledged, RFC 3465 section 2.1, as Linux (default false).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub smooth_growth: Option<bool>,
    /// In recovery with SACK take a segment for under way until an acknowledgement comes in its
    /// place, be it lost or not, as ns-2 (Fall and Floyd, 1996); if false, what is lost has left
    /// the network, RFC 6675 section 4, as Linux (default false).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub simple_pipe: Option<bool>,
    /// In recovery with SACK and without `rack`: send the last segment that is outstanding again
    /// (`NextSeg` rule 4 of RFC 6675) as soon as there is room and nothing else to send; if false, not
    /// before something beyond the first retransmission is acknowledged, RFC 6675 section 5 step 4.3
    /// (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub early_rescue: Option<bool>,
    /// Take a lost SYN for congestion: the slow-start threshold becomes half the initial window,
    /// as ns-2, where it is a timeout like any other; if false, slow start merely begins with one
    /// segment, RFC 5681 section 3.1, as Linux (default false).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub lost_syn_threshold: Option<bool>,
    /// Find losses by time: what was sent a reordering window before something that has arrived is
    /// lost, RFC 8985 section 6. If false, what has three segments above it is, RFC 6675. Needs
    /// `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub rack: Option<bool>,
    /// Send a probe when nothing was acknowledged for two round trips, RFC 8985 section 7. Needs
    /// `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub tlp: Option<bool>,
    /// Tell the sender of data that came twice, RFC 2883. Needs `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub dsack: Option<bool>,
    /// Bring the flight down over the round trip of a recovery, RFC 9937, instead of falling silent
    /// until it has come down. Needs `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub prr: Option<bool>,
    /// Bring the flight down over the round trip after a mark too, with no growth meanwhile, as Linux
    /// (`TCP_CA_CWR`); if false, the window is reduced at once and grows on. Congestion controls
    /// that set the window from measurements, and Prague, do without. Needs `sack` (classic false,
    /// modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub prr_marks: Option<bool>,
    /// Find out by new data whether a timeout was spurious, RFC 5682. Needs `sack` (classic false,
    /// modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub frto: Option<bool>,
    /// Take back the reduction of a recovery or timeout that was for nothing, as timestamps (RFC 3522)
    /// or duplicates (RFC 3708) show. Needs `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub undo: Option<bool>,
    /// Leave slow start when round trips grow: HyStart++, RFC 9406. Congestion controls that set the
    /// window from measurements do without. Needs `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub hystart: Option<bool>,
    /// With `hystart`: grow by a quarter for five round trips first, conservative slow start (RFC 9406
    /// section 4.2); if false, Linux's HyStart instead, which ends slow start at once, also by long
    /// trains of acknowledgements, from 16 segments on (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub hystart_css: Option<bool>,
    /// Spread what the window allows over the round trip, as Linux under the queue discipline fq.
    /// Congestion controls with a pace of their own always do. Needs `sack` (default false).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub pacing: Option<bool>,
    /// Let the receive window begin with 64 KiB and grow with what the application takes in a round
    /// trip, up to `receive_window`, as Linux; if false, it is that from the start. Needs `sack`
    /// (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub autotune: Option<bool>,
    /// Most segments that a paced sender hands down at once, as segmentation offload makes it: 1 to
    /// 1000 (classic 1, modern 45). What the pace sends in a millisecond is a burst otherwise.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub burst_segments: Option<u32>,
    /// Let no more of a flow wait at its own host's interface than two packets, or what it sends in a
    /// millisecond, as Linux does (TCP small queues). Matters where `access.rate` gives hosts an
    /// interface. Needs `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub small_queues: Option<bool>,
    /// Hold new data back until they make a burst of what the pace sends in a millisecond, up to
    /// `burst_segments`, or of a third of the window, as Linux does for segmentation offload. Needs
    /// `sack` (default false).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub tso: Option<bool>,
    /// Acknowledge every second segment only, or after a while (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub delayed_ack: Option<bool>,
    /// With `delayed_ack`: segments at the beginning of a connection that are each acknowledged at
    /// once, 0 to 1000 (classic 0, modern 16, `TCP_MAX_QUICKACKS` of Linux).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub quick_acks: Option<u32>,
    /// Have one acknowledgement tell of what came above a hole in a twentieth of a round trip, a
    /// millisecond at most, after the first three, as Linux does (SACK compression). Needs `sack`
    /// (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub sack_compression: Option<bool>,
    /// How long an acknowledgement may wait: up to "500ms" (classic "100ms", modern "40ms").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub delayed_ack_time: Option<Time>,
    /// Restart from the initial window after a pause longer than the timeout (default true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub idle_restart: Option<bool>,
    /// With `idle_restart`: halve the window once for each timeout of the pause instead, down to
    /// the initial window, and remember three quarters of it as the slow-start threshold, RFC 2861,
    /// as Linux (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub idle_decay: Option<bool>,
    /// While the application leaves part of the window unused, bring it halfway down to what is used
    /// once in each timeout, RFC 2861 section 3.2, as Linux. Needs `sack` and, as there,
    /// `idle_restart` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub unused_decay: Option<bool>,
    /// Retransmission timeout before a round trip is measured (classic "3s", modern "1s").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub initial_rto: Option<Time>,
    /// Least retransmission timeout (classic "1s", modern "200ms").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub min_rto: Option<Time>,
    /// Greatest retransmission timeout: at most "1h" (classic "64s", modern "120s").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub max_rto: Option<Time>,
    /// Least that the timeout exceeds the smoothed round trip by (classic "10ms", modern "200ms").
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub rto_granularity: Option<Time>,
    /// Reckon the deviation for the timeout as Linux does: the largest of a round trip counts and
    /// comes down by a quarter a round trip, and round trips that fall move it by an eighth as much.
    /// Needs `sack` (classic false, modern true).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub linux_rto: Option<bool>,
    /// How often a SYN is sent again before the connection fails: 0 to 30 (classic 5, modern 6).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub syn_retries: Option<u8>,
    /// How often in a row data may time out before the connection fails: 1 to 30 (classic 12,
    /// modern 15).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub retries: Option<u8>,
}

/// Checks that a value lies in a range; says so in the user's terms if not.
pub(crate) fn within<T: PartialOrd + fmt::Display>(
    field: &'static str,
    value: T,
    least: T,
    most: T,
) -> Result<T, Invalid> {
    if value >= least && value <= most {
        return Ok(value);
    }
    let remedy = format!("write a value from {least} to {most}");
    Err(Invalid::new(field, value, remedy))
}

impl Spec {
    /// Lays `specs` over each other, later ones over earlier ones field by field, fills what is
    /// left with the profile that the last of them to name one names, and checks the result.
    pub fn resolve(specs: &[&Self]) -> Result<Params, Invalid> {
        let profile = specs.iter().rev().find_map(|s| s.profile).unwrap_or_default();
        let mut c = profile.choices();
        macro_rules! overlay {
            ($($field:ident),+) => {
                for spec in specs {
                    $(if let Some(value) = spec.$field {
                        c.$field = value;
                    })+
                }
            };
        }
        overlay!(
            mss,
            initial_window,
            sack,
            timestamps,
            ecn,
            accecn,
            accecn_option,
            ect_control,
            limited_transmit,
            byte_counting,
            smooth_growth,
            simple_pipe,
            early_rescue,
            lost_syn_threshold,
            rack,
            tlp,
            dsack,
            prr,
            prr_marks,
            frto,
            undo,
            hystart,
            hystart_css,
            pacing,
            autotune,
            burst_segments,
            small_queues,
            tso,
            delayed_ack,
            quick_acks,
            sack_compression,
            delayed_ack_time,
            idle_restart,
            idle_decay,
            unused_decay,
            initial_rto,
            min_rto,
            max_rto,
            rto_granularity,
            linux_rto,
            syn_retries,
            retries
        );
        for spec in specs {
            if let Some(algorithm) = &spec.congestion {
                c.congestion = algorithm.clone();
            }
            c.receive_window = spec.receive_window.map_or(c.receive_window, |size| size.0);
            c.max_window = spec.max_window.or(c.max_window);
        }
        check(&c)?;
        without_sack(&mut c, specs)?;
        c.congestion.settle(profile);
        let congestion = c.congestion.tune()?;
        let marks = congestion.marks();
        if marks == Marks::Scalable {
            let refused = specs.iter().rev().find_map(|spec| spec.accecn) == Some(false);
            if refused {
                let remedy = format!("{} needs the number of marks: write true", congestion.name());
                return Err(Invalid::new("accecn", "false", remedy));
            }
            c.accecn = true;
        }
        if !c.accecn && specs.iter().rev().find_map(|spec| spec.accecn_option) == Some(true) {
            let remedy = "is part of AccECN: write accecn = true";
            return Err(Invalid::new("accecn_option", "true", remedy));
        }
        if marks.counted() || c.accecn {
            // Without marks it would not be what its name says.
            let refused = specs.iter().rev().find_map(|spec| spec.ecn) == Some(false);
            if refused {
                let who = if marks.counted() { congestion.name() } else { "accecn" };
                let remedy = format!("{who} needs marks: write true");
                return Err(Invalid::new("ecn", "false", remedy));
            }
            c.ecn = true;
        }
        let measures = congestion.samples() || congestion.paced() || marks.counted();
        if measures && !c.sack {
            let remedy =
                format!("{} needs selective acknowledgements: write true", congestion.name());
            return Err(Invalid::new("sack", "false", remedy));
        }
        c.pacing |= congestion.paced();
        Ok(Params::new(&c, congestion))
    }
}

/// What needs selective acknowledgements goes without if a profile asked for it, and is refused if
/// a scenario did.
fn without_sack(c: &mut Choices, specs: &[&Spec]) -> Result<(), Invalid> {
    if c.sack {
        return Ok(());
    }
    macro_rules! refuse {
        ($($field:ident),+) => {
            $(if specs.iter().rev().find_map(|spec| spec.$field) == Some(true) {
                let remedy = "needs selective acknowledgements: write sack = true";
                return Err(Invalid::new(stringify!($field), "true", remedy));
            }
            c.$field = false;)+
        };
    }
    refuse!(
        accecn,
        autotune,
        sack_compression,
        linux_rto,
        rack,
        tlp,
        dsack,
        prr,
        prr_marks,
        frto,
        undo,
        hystart,
        pacing,
        small_queues,
        tso,
        unused_decay
    );
    Ok(())
}

fn check(c: &Choices) -> Result<(), Invalid> {
    within("mss", c.mss, 88, 65495)?;
    within(
        "receive_window",
        Size(c.receive_window),
        Size(2 * u64::from(c.mss)),
        Size(u64::from(LARGEST_WINDOW)),
    )?;
    within("initial_window", c.initial_window, 1, 1000)?;
    if let Some(segments) = c.max_window {
        within("max_window", segments, 1, 1 << 24)?;
    }
    within("burst_segments", c.burst_segments, 1, 1000)?;
    within("quick_acks", c.quick_acks, 0, 1000)?;
    within("delayed_ack_time", c.delayed_ack_time, Time::ZERO, Time::from_millis(500))?;
    within("max_rto", c.max_rto, Time::from_millis(1), Time::from_secs(3600))?;
    within("min_rto", c.min_rto, Time::ZERO, c.max_rto)?;
    within("initial_rto", c.initial_rto, Time::from_millis(1), c.max_rto)?;
    within("rto_granularity", c.rto_granularity, Time::from_micros(1), c.max_rto)?;
    within("syn_retries", c.syn_retries, 0, 30)?;
    within("retries", c.retries, 1, 30)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_specs_override_field_by_field_and_the_last_profile_counts() {
        let first = Spec { mss: Some(1000), ecn: Some(true), ..Spec::default() };
        let second = Spec {
            profile: Some(Profile::Modern),
            mss: Some(500),
            timestamps: Some(false),
            ..Spec::default()
        };
        let p = Spec::resolve(&[&first, &second]).unwrap();
        assert_eq!((p.payload, p.ecn, p.initial_window), (500, true, 5000));
        assert_eq!(p.min_rto, Time::from_millis(200));
        assert_eq!(Spec::resolve(&[&second, &first]).unwrap().payload, 1000);
    }

    #[test]
    fn classic_is_the_default() {
        let p = Spec::resolve(&[]).unwrap();
        assert_eq!((p.initial_window, p.receive_window, p.sack), (2920, 16384, true));
        assert_eq!((p.initial_rto, p.min_rto), (Time::from_secs(3), Time::from_secs(1)));
    }

    #[test]
    fn a_wrong_value_is_named_with_what_would_be_right() {
        let spec = Spec { receive_window: Some(Size(1000)), ..Spec::default() };
        let error = Spec::resolve(&[&spec]).unwrap_err();
        assert_eq!(error.field, "receive_window");
        assert!(error.remedy.contains("2.92kB"), "{error}");
        let spec = Spec { min_rto: Some(Time::from_secs(90)), ..Spec::default() };
        assert_eq!(Spec::resolve(&[&spec]).unwrap_err().field, "min_rto");
    }
}
