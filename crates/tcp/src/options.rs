//! The options of a TCP, one table: what a scenario may write ([`Spec`]), the defaults of
//! the profiles, how specs override each other, what an option needs, and the range of its values.

use crate::congestion::{Algorithm, Marks};
use crate::profile::Profile;
use alloc::format;
use sojourn_base::within;
use sojourn_base::{Invalid, Size, Time};

/// Largest window that a scale of 14 can express, in bytes (RFC 7323 section 2.3).
pub const LARGEST_WINDOW: u32 = 65535 << 14;

/// What the last of `specs` to say anything says.
fn last<T>(specs: &[&Spec], option: impl Fn(&Spec) -> Option<T>) -> Option<T> {
    specs.iter().rev().find_map(|spec| option(spec))
}

/// A line is an option: its name, its type, its value in `classic`, and in `modern` where that
/// differs; then its range, which is `relative` where it depends on other options (`o` is all of
/// them), and the option without which it is refused, or off where a profile alone asked for it.
macro_rules! options {
    ($o:ident; $($(#[doc = $doc:literal])+
    $option:ident: $type:ty = $classic:expr $(, modern $modern:expr)?
        $(, within $least:expr => $most:expr)? $(, relative $low:expr => $high:expr)?
        $(, needs $needs:ident)?;)+) => {
        /// TCP settings. What is left out comes from the profile.
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(
            feature = "schema",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)
        )]
        #[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
        #[cfg_attr(feature = "schema", schemars(rename = "Tcp"))]
        pub struct Spec {
            /// The set of defaults: "modern" (the default), "classic" or "freebsd4".
            #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
            pub profile: Option<Profile>,
            $($(#[doc = $doc])+
            #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
            pub $option: Option<$type>,)+
        }

        /// The options, each with its value.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Options {
            /// The set of defaults.
            pub profile: Profile,
            $($(#[doc = $doc])+
            pub $option: $type,)+
        }

        impl Options {
            /// The defaults of a profile.
            fn of(profile: Profile) -> Self {
                match profile {
                    Profile::Classic => Self { profile, $($option: $classic),+ },
                    Profile::Freebsd4 => Self {
                        profile,
                        initial_window: 1,
                        byte_counting: false,
                        sack: false,
                        limited_transmit: false,
                        ..Self::of(Profile::Classic)
                    },
                    Profile::Modern => Self {
                        profile,
                        $($option: either!($classic $(, $modern)?)),+
                    },
                }
            }

            /// As a scenario would write them, none left out: resolves to the same.
            #[must_use]
            pub fn spec(&self) -> Spec {
                Spec {
                    profile: Some(self.profile),
                    $($option: Some(self.$option.clone())),+
                }
            }

            /// Takes what `spec` gives.
            fn overlay(&mut self, spec: &Spec) {
                $(if let Some(value) = &spec.$option {
                    self.$option = value.clone();
                })+
            }

            fn check_ranges(&self) -> Result<(), Invalid> {
                let $o = self;
                $($(within(stringify!($option), $o.$option, $least, $most)?;)?)+
                $($(within(stringify!($option), $o.$option, $low, $high)?;)?)+
                Ok(())
            }

            /// Whether an option is on that needs another: all of them work on the log of segments.
            pub(crate) fn need_log(&self) -> bool {
                false $($(|| self.$option && self.$needs)?)+
            }

            /// An option without the one that it needs is off if the profile asked for it, and
            /// refused if a scenario did.
            fn check_needs(&mut self, specs: &[&Spec]) -> Result<(), Invalid> {
                $($(if !self.$needs {
                    if last(specs, |spec| spec.$option) == Some(true) {
                        return Err(Invalid::new(stringify!($option), "true", needs!($needs)));
                    }
                    self.$option = false;
                })?)+
                Ok(())
            }
        }
    };
}

/// The value in `modern`: its own, or that of `classic`.
macro_rules! either {
    ($classic:expr) => {
        $classic
    };
    ($classic:expr, $modern:expr) => {
        $modern
    };
}

/// What an option is refused with.
macro_rules! needs {
    (sack) => {
        "needs selective acknowledgements: write sack = true"
    };
}

options! {
    o;
    /// Congestion control: its name, or a table with `kind` and its settings (default "reno").
    congestion: Algorithm = Algorithm::Reno(Default::default());
    /// The MSS option in bytes: 88 to 65495 (default 1460). With timestamps a segment carries 12
    /// bytes less.
    mss: u32 = 1460, within 88 => 65495;
    /// Receive window: at least two segments, at most 1073725440 bytes (classic "16KiB", modern
    /// "4MiB"). Above 65535 bytes the window scale option is used.
    receive_window: Size = Size(16 << 10),
        modern Size(4 << 20),
        relative Size(2 * u64::from(o.mss)) => Size(u64::from(LARGEST_WINDOW));
    /// Initial congestion window in segments: 1 to 1000 (classic 2, modern 10).
    // RFC 2581 section 3.1, RFC 6928
    initial_window: u32 = 2, modern 10, within 1 => 1000;
    /// Most segments that the congestion window may grow to, as `window_` in ns-2: at least 1
    /// (default unlimited).
    max_window: u32 = 1 << 24, within 1 => 1 << 24;
    /// Selective acknowledgements; without them recovery is NewReno (default true).
    sack: bool = true;
    /// Timestamps in every segment (classic false, modern true).
    timestamps: bool = false, modern true;
    /// Explicit congestion notification (default false; true where the congestion control needs
    /// it).
    ecn: bool = false;
    /// Count marked packets in three bits of every segment, AccECN, RFC 9768, instead of echoing
    /// that there was one. Turns `ecn` on; needs `sack` (default false; true where the congestion
    /// control needs it).
    accecn: bool = false, needs sack;
    /// With `accecn`: count marked bytes too, in an option on bare acknowledgements, RFC 9768
    /// section 3.2.3, so that the sender need not guess when acknowledgements are lost or cover
    /// many segments; eight bytes each (default true).
    accecn_option: bool = true;
    /// Mark retransmissions and bare acknowledgements as ECN-capable too, as hosts in data centres
    /// do whose queues drop what is not, instead of data only, RFC 3168 (default false;
    /// retransmissions: true where the congestion control wants it).
    ect_control: bool = false;
    /// New data on the first two duplicate acknowledgements (default true).
    limited_transmit: bool = true;
    /// Grow the window by bytes acknowledged; if false, by one segment an acknowledgement at most,
    /// so that delayed acknowledgements slow the growth, as in older hosts (default true).
    byte_counting: bool = true;
    /// In congestion avoidance grow with every acknowledgement by MSS times its share of the
    /// window, RFC 5681 equation 3, as ns-2; if false, by a whole segment once a window is
    /// acknowledged, RFC 3465 section 2.1, as Linux (default false).
    smooth_growth: bool = false;
    /// In recovery with SACK take a segment for under way until an acknowledgement comes in its
    /// place, be it lost or not, as ns-2 (Fall and Floyd, 1996); if false, what is lost has left
    /// the network, RFC 6675 section 4, as Linux (default false).
    simple_pipe: bool = false;
    /// In recovery with SACK and without `rack`: send the last segment that is outstanding again
    /// (`NextSeg` rule 4 of RFC 6675) as soon as there is room and nothing else to send; if false,
    /// not before something beyond the first retransmission is acknowledged, RFC 6675 section 5
    /// step 4.3 (default true).
    early_rescue: bool = true;
    /// Take a lost SYN for congestion: the slow-start threshold becomes half the initial window,
    /// as ns-2, where it is a timeout like any other; if false, slow start merely begins with one
    /// segment, RFC 5681 section 3.1 (default false).
    lost_syn_threshold: bool = false;
    /// Find losses by time: what was sent a reordering window before something that has arrived is
    /// lost, RFC 8985 section 6. If false, what has three segments above it is, RFC 6675. Needs
    /// `sack` (classic false, modern true).
    rack: bool = false, modern true, needs sack;
    /// Send a probe when nothing was acknowledged for two round trips, RFC 8985 section 7. Needs
    /// `sack` (classic false, modern true).
    tlp: bool = false, modern true, needs sack;
    /// Report data that came twice to the sender, RFC 2883. Needs `sack` (classic false, modern
    /// true).
    dsack: bool = false, modern true, needs sack;
    /// Bring the flight down over the round trip of a recovery, RFC 9937, instead of falling silent
    /// until it has come down. Needs `sack` (classic false, modern true).
    prr: bool = false, modern true, needs sack;
    /// Bring the flight down over the round trip after a mark too, with no growth meanwhile, as
    /// Linux (`TCP_CA_CWR`); if false, the window is reduced at once and grows on. Congestion
    /// controls that set the window from measurements, and Prague, do without. Needs `sack`
    /// (classic false, modern true).
    prr_marks: bool = false, modern true, needs sack;
    /// Find out by new data whether a timeout was spurious, RFC 5682. Needs `sack` (classic false,
    /// modern true).
    frto: bool = false, modern true, needs sack;
    /// Take back the reduction of a spurious recovery or timeout, as timestamps (RFC 3522)
    /// or duplicates (RFC 3708) show. Needs `sack` (classic false, modern true).
    undo: bool = false, modern true, needs sack;
    /// Leave slow start when round trips grow: HyStart++, RFC 9406. Congestion controls that set
    /// the window from measurements do without. Needs `sack` (classic false, modern true).
    hystart: bool = false, modern true, needs sack;
    /// With `hystart`: grow by a quarter for five round trips first, conservative slow start (RFC
    /// 9406 section 4.2); if false, Linux's HyStart instead, which ends slow start at once, also by
    /// long trains of acknowledgements, from 16 segments on (default true).
    hystart_css: bool = true;
    /// Spread what the window allows over the round trip, as Linux under the queue discipline fq.
    /// Congestion controls with a pace of their own always do. Needs `sack` (default false).
    pacing: bool = false, needs sack;
    /// Let the receive window begin with 64 KiB and grow with what the application takes in a round
    /// trip, up to `receive_window`, as Linux; if false, it is that from the start. Needs `sack`
    /// (classic false, modern true).
    autotune: bool = false, modern true, needs sack;
    /// Most segments that a paced sender hands down at once, as segmentation offload makes it: 1 to
    /// 1000 (classic 1, modern 45). What the pace sends in a millisecond is a burst otherwise.
    // 64 KiB
    burst_segments: u32 = 1, modern 45, within 1 => 1000;
    /// Let no more of a flow wait at its own host's interface than two packets, or what it sends in
    /// a millisecond, as Linux does (TCP small queues). Matters where `access.rate` gives hosts an
    /// interface. Needs `sack` (classic false, modern true).
    small_queues: bool = false, modern true, needs sack;
    /// Hold new data back until they make a burst of what the pace sends in a millisecond, up to
    /// `burst_segments`, or of a third of the window, as Linux does for segmentation offload. Needs
    /// `sack` (default false).
    tso: bool = false, needs sack;
    /// Acknowledge every second segment only, or after a while (default true).
    delayed_ack: bool = true;
    /// With `delayed_ack`: segments at the beginning of a connection that are each acknowledged at
    /// once, 0 to 1000 (classic 0, modern 16, `TCP_MAX_QUICKACKS` of Linux).
    quick_acks: u32 = 0, modern 16, within 0 => 1000;
    /// With `ecn` as in RFC 3168: acknowledge at once what carries CWR, and the first two segments
    /// from a mark on that is not echoed yet, as Linux does, because the sender's window may be so
    /// small that it would wait for an acknowledgement that is delayed. Needs `sack` (classic
    /// false, modern true).
    quick_marks: bool = false, modern true, needs sack;
    /// Have one acknowledgement report what came above a hole in a twentieth of a round trip, a
    /// millisecond at most, after the first three, as Linux does (SACK compression). Needs `sack`
    /// (classic false, modern true).
    sack_compression: bool = false, modern true, needs sack;
    /// How long an acknowledgement may wait: up to "500ms" (classic "100ms", modern "40ms").
    delayed_ack_time: Time = Time::from_millis(100),
        modern Time::from_millis(40),
        within Time::ZERO => Time::from_millis(500);
    /// Restart from the initial window after a pause longer than the timeout (default true).
    idle_restart: bool = true;
    /// With `idle_restart`: halve the window once for each timeout of the pause instead, down to
    /// the initial window, and remember three quarters of it as the slow-start threshold, RFC 2861,
    /// as Linux (classic false, modern true).
    idle_decay: bool = false, modern true;
    /// While the application leaves part of the window unused, bring it halfway down to what is
    /// used once in each timeout, RFC 2861 section 3.2, as Linux. Needs `sack` and, as there,
    /// `idle_restart` (classic false, modern true).
    unused_decay: bool = false, modern true, needs sack;
    /// Retransmission timeout before a round trip is measured (classic "3s", modern "1s").
    // RFC 2988 rule 2.1, RFC 6298 rule 2.1
    initial_rto: Time = Time::from_secs(3),
        modern Time::from_secs(1),
        relative Time::from_millis(1) => o.max_rto;
    /// Least retransmission timeout (classic "1s", modern "200ms").
    // RFC 2988 rule 2.4
    min_rto: Time = Time::from_secs(1),
        modern Time::from_millis(200),
        relative Time::ZERO => o.max_rto;
    /// Greatest retransmission timeout: at most "1h" (classic "64s", modern "120s").
    max_rto: Time = Time::from_secs(64),
        modern Time::from_secs(120),
        within Time::from_millis(1) => Time::from_secs(3600);
    /// Least that the timeout exceeds the smoothed round trip by (classic "10ms", modern "200ms").
    // Linux's least timeout is a least deviation: SRTT plus at least 200 ms.
    rto_granularity: Time = Time::from_millis(10),
        modern Time::from_millis(200),
        relative Time::from_micros(1) => o.max_rto;
    /// Compute the deviation for the timeout as Linux does: the largest of a round trip counts and
    /// comes down by a quarter a round trip, and round trips that fall move it by an eighth as
    /// much. Needs `sack` (classic false, modern true).
    linux_rto: bool = false, modern true, needs sack;
    /// Begin with the initial window after one lost SYN too, and with one segment from two on;
    /// start the timer of a SYN-ACK anew where the SYN comes again, as Linux does. If false, begin
    /// with one segment after any lost SYN, RFC 5681 section 3.1 (classic false, modern true).
    linux_handshake: bool = false, modern true;
    /// How often a SYN is sent again before the connection fails: 0 to 30 (classic 5, modern 6).
    syn_retries: u8 = 5, modern 6, within 0 => 30;
    /// How often in a row data may time out before the connection fails: 1 to 30 (classic 12,
    /// modern 15).
    retries: u8 = 12, modern 15, within 1 => 30;
}

impl Options {
    /// Lays `specs` over each other, later ones over earlier ones option by option, over the
    /// defaults of the profile that the last of them to name one names, and checks the result.
    pub(crate) fn resolve(specs: &[&Spec]) -> Result<Self, Invalid> {
        let profile = last(specs, |spec| spec.profile).unwrap_or_default();
        let mut o = Self::of(profile);
        specs.iter().for_each(|spec| o.overlay(spec));
        o.check_ranges()?;
        o.check_needs(specs)?;
        o.congestion.settle(profile);
        Ok(o)
    }

    /// What a congestion control that uses ECN in this way has to have: accurate feedback, ECN
    /// itself.
    pub(crate) fn settle_ecn(&mut self, marks: Marks, specs: &[&Spec]) -> Result<(), Invalid> {
        let name = self.congestion.name();
        if marks == Marks::Scalable {
            if last(specs, |spec| spec.accecn) == Some(false) {
                let remedy = format!("{name} needs the number of marks: write true");
                return Err(Invalid::new("accecn", "false", remedy));
            }
            self.accecn = true;
        }
        if !self.accecn && last(specs, |spec| spec.accecn_option) == Some(true) {
            let remedy = "is part of AccECN: write accecn = true";
            return Err(Invalid::new("accecn_option", "true", remedy));
        }
        self.accecn_option &= self.accecn;
        if marks.counted() || self.accecn {
            // Without marks it would not be what its name says.
            if last(specs, |spec| spec.ecn) == Some(false) {
                let who = if marks.counted() { name } else { "accecn" };
                return Err(Invalid::new("ecn", "false", format!("{who} needs marks: write true")));
            }
            self.ecn = true;
        }
        Ok(())
    }
}
