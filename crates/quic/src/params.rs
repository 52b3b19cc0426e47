//! The settings of a QUIC as a scenario writes them, and what endpoints make of them.

use alloc::format;
use core::ops::Deref;
use sojourn_base::{Ecn, Invalid, Size, Time, within};
use sojourn_tcp::congestion::Marks;
use sojourn_tcp::congestion::pacing::Bursts;
use sojourn_tcp::{Algorithm, Tuning};

use crate::packet::LEAST_DATAGRAM;

/// Most bytes of a window: as TCP's, so that congestion controls need no more than 32 bits.
const LARGEST_WINDOW: u64 = 1 << 30;

/// A line is a setting: its name, its type, its default and its range.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+
    $setting:ident: $type:ty = $default:expr $(, within $least:expr => $most:expr)?;)+) => {
        /// QUIC settings. What is left out has its default.
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(
            feature = "schema",
            derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)
        )]
        #[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
        #[cfg_attr(feature = "schema", schemars(rename = "Quic"))]
        pub struct Spec {
            $($(#[doc = $doc])+
            #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
            pub $setting: Option<$type>,)+
        }

        /// The settings, each with its value.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($(#[doc = $doc])+
            pub $setting: $type,)+
        }

        impl Settings {
            /// As a scenario would write them, none left out: resolves to the same.
            #[must_use]
            pub fn spec(&self) -> Spec {
                Spec { $($setting: Some(self.$setting.clone())),+ }
            }

            /// Lays `specs` over each other, later ones over earlier ones setting by setting, over
            /// the defaults, and checks the result.
            fn resolve(specs: &[&Spec]) -> Result<Self, Invalid> {
                let mut settings = Self { $($setting: $default),+ };
                for spec in specs {
                    $(if let Some(value) = &spec.$setting {
                        settings.$setting = value.clone();
                    })+
                }
                $($(within(stringify!($setting), settings.$setting, $least, $most)?;)?)+
                Ok(settings)
            }
        }
    };
}

settings! {
    /// Congestion control: its name, or a table with `kind` and its settings, as TCP's (default
    /// "reno", which is what RFC 9002 section 7 describes).
    congestion: Algorithm = Algorithm::Reno(Default::default());
    /// Bytes of UDP payload in a full datagram once the handshake is complete: 1200 to 65507
    /// (default 1452). Until then it is 1200; larger ones are not probed for.
    max_udp_payload: u32 = 1452, within LEAST_DATAGRAM => 65507;
    /// Initial congestion window in full datagrams, 14720 bytes at most unless two are more (RFC
    /// 9002 section 7.2): 1 to 1000 (default 10).
    initial_window: u32 = 10, within 1 => 1000;
    /// Most full datagrams that the congestion window may grow to: at least 2 (default
    /// unlimited).
    max_window: u32 = 1 << 24, within 2 => 1 << 24;
    /// Explicit congestion notification (RFC 9000 section 13.4; default false; true where the
    /// congestion control needs it).
    ecn: bool = false;
    /// Spread what the window allows over the round trip (RFC 9002 section 7.7; default true).
    pacing: bool = true;
    /// Most datagrams that a paced sender hands down at once: 1 to 1000 (default 10). What the
    /// pace sends in a millisecond is a burst otherwise.
    burst_packets: u32 = 10, within 1 => 1000;
    /// Acknowledge after so many packets that ask for it: 1 to 100 (default 2, RFC 9000 section
    /// 13.2.2).
    ack_every: u32 = 2, within 1 => 100;
    /// How long an acknowledgement may wait, `max_ack_delay`: up to "500ms" (default "25ms", RFC
    /// 9000 section 18.2).
    max_ack_delay: Time = Time::from_millis(25), within Time::ZERO => Time::from_millis(500);
    /// Round trip that is assumed before one is measured: "1ms" to "10s" (default "333ms", RFC
    /// 9002 section 6.2.2).
    initial_rtt: Time = Time::from_millis(333),
        within Time::from_millis(1) => Time::from_secs(10);
    /// Bytes of the server's chain of certificates: "100B" to "64kB" (default "3kB"). Until it
    /// hears the client's second flight a server sends three times what it got at most.
    certificate: Size = Size(3000), within Size(100) => Size(64_000);
    /// The client has been there before and sends data in its first flight, 0-RTT; the server
    /// sends no certificate then (default false).
    zero_rtt: bool = false;
    /// Bytes that the peer may send ahead of what the application has taken, on all streams
    /// together: "16kB" to "1GB" (default "15MiB").
    max_data: Size = Size(15 << 20), within Size(16_000) => Size(1_000_000_000);
    /// The same on each stream (default "6MiB").
    max_stream_data: Size = Size(6 << 20), within Size(16_000) => Size(1_000_000_000);
    /// How long nothing may come while something is awaited before the connection fails: "1s" to
    /// "1h" (default "30s").
    idle_timeout: Time = Time::from_secs(30), within Time::from_secs(1) => Time::from_secs(3600);
}

/// What the two endpoints of a connection have in common. Made by [`Spec::resolve`]; gives each of
/// its [`Settings`] as a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    set: Settings,
    /// Congestion control, its settings in integers.
    pub tuning: Tuning,
    /// The codepoint of packets where ECN is used.
    pub ect: Ecn,
    /// Congestion window at the start, bytes.
    pub initial_cwnd: u32,
    /// Most bytes that the congestion window may grow to.
    pub max_cwnd: u32,
}

impl Deref for Params {
    type Target = Settings;
    #[inline]
    fn deref(&self) -> &Settings {
        &self.set
    }
}

impl Spec {
    /// Lays `specs` over each other, later ones over earlier ones setting by setting, fills what
    /// is left with the defaults, and checks the result.
    ///
    /// # Errors
    /// For the first value out of its range, and for a congestion control that cannot have what it
    /// needs.
    pub fn resolve(specs: &[&Self]) -> Result<Params, Invalid> {
        let mut set = Settings::resolve(specs)?;
        let tuning = set.congestion.tune()?;
        let marks = tuning.marks();
        if marks.counted() {
            if specs.iter().rev().find_map(|spec| spec.ecn) == Some(false) {
                let remedy = format!("{} needs marks: write true", tuning.name());
                return Err(Invalid::new("ecn", "false", remedy));
            }
            set.ecn = true;
        }
        set.pacing |= tuning.paced();
        let full = u64::from(set.max_udp_payload);
        let initial = (u64::from(set.initial_window) * full).min(14_720.max(2 * full));
        let most = (u64::from(set.max_window) * full).min(LARGEST_WINDOW);
        Ok(Params {
            ect: if marks == Marks::Scalable { Ecn::Ect1 } else { Ecn::Ect0 },
            initial_cwnd: initial.min(most) as u32,
            max_cwnd: most as u32,
            tuning,
            set,
        })
    }
}

impl Params {
    /// What a sender that paces hands down at once.
    #[inline]
    pub(crate) const fn bursts(&self) -> Bursts {
        Bursts { payload: self.set.max_udp_payload, packets: self.set.burst_packets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_specs_count_and_the_rest_is_default() {
        let first = Spec { max_udp_payload: Some(1200), ecn: Some(true), ..Spec::default() };
        let second = Spec { max_udp_payload: Some(1350), ..Spec::default() };
        let p = Spec::resolve(&[&first, &second]).unwrap();
        assert_eq!((p.max_udp_payload, p.ecn, p.ack_every), (1350, true, 2));
        assert_eq!(Spec::resolve(&[&p.spec()]).unwrap(), p);
    }

    #[test]
    fn initial_window_follows_the_rfc() {
        let initial = |payload, packets| {
            let spec = Spec {
                max_udp_payload: Some(payload),
                initial_window: Some(packets),
                ..Spec::default()
            };
            Spec::resolve(&[&spec]).unwrap().initial_cwnd
        };
        // RFC 9002 section 7.2: ten datagrams, but 14,720 bytes or two datagrams at most.
        assert_eq!(initial(1200, 10), 12_000);
        assert_eq!(initial(1472, 10), 14_720);
        assert_eq!(initial(9000, 10), 18_000);
        assert_eq!(initial(1200, 2), 2400);
    }

    #[test]
    fn congestion_controls_get_the_ecn_that_they_need() {
        let spec = |ecn| Spec { congestion: Algorithm::named("prague"), ecn, ..Spec::default() };
        let p = Spec::resolve(&[&spec(None)]).unwrap();
        assert_eq!((p.ecn, p.ect, p.pacing), (true, Ecn::Ect1, true));
        let error = Spec::resolve(&[&spec(Some(false))]).unwrap_err();
        assert_eq!(error.field, "ecn");
        assert!(error.remedy.contains("prague"), "{error}");
    }

    #[test]
    fn a_value_out_of_its_range_is_named() {
        let spec = Spec { max_udp_payload: Some(1000), ..Spec::default() };
        let error = Spec::resolve(&[&spec]).unwrap_err();
        assert_eq!((&*error.field, &*error.value), ("max_udp_payload", "1000"));
        assert!(error.remedy.contains("1200"), "{error}");
    }
}
