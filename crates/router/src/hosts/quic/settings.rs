//! From a scenario's QUIC settings to what quinn can be told, and what it cannot.

use super::watched::Watching;
use crate::hosts::certificate;
use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::{AckFrequencyConfig, IdleTimeout, TransportConfig, VarInt};
use sojourn_base::Time;
use sojourn_quic::Params;
use sojourn_tcp::congestion::cubic;
use sojourn_tcp::{Algorithm, Tuning};
use std::sync::Arc;
use std::time::Duration;

/// Datagrams that quinn sends at once at least (`MIN_BURST_SIZE` of its pacer).
const BURST: u32 = 10;
/// What quinn acknowledges within if nobody asks for anything else (RFC 9000 section 18.2).
const ACK_DELAY: Time = Time::from_millis(25);
/// Packets after which quinn acknowledges if nobody asks for anything else.
const ACK_EVERY: u32 = 2;
/// Streams at a time: the most that web users have. Quinn makes room for all of them at once.
const STREAMS: u32 = 100;
/// A window that never limits.
const UNLIMITED: u64 = 1 << 30;

/// Which settings of a QUIC quinn does not follow, a line each: the field, what the scenario says,
/// what quinn does.
///
/// # Errors
/// One line for what is the very point of a scenario and cannot be had, without the group's name.
pub fn differences(p: &Params) -> Result<Vec<String>, String> {
    let name = p.congestion.name();
    let own = || {
        let why = "has settings of its own; those of quinn are fixed: leave them out";
        Err(format!("quic.congestion = {name} {why}"))
    };
    let mut lines = Vec::new();
    let mut note = |same: bool, field: &str, here: String, there: &str| {
        if !same {
            lines.push(format!("quic.{field} = {here}; quinn: {there}"));
        }
    };
    match &p.congestion {
        Algorithm::Reno(settings) if *settings == Default::default() => {}
        Algorithm::Cubic(settings) => {
            let rest = cubic::Settings { alpha_rises: None, whole_segments: None, ..*settings };
            if rest != Default::default() {
                return own();
            }
            let rises = settings.alpha_rises != Some(false);
            note(!rises, "congestion.alpha_rises", rises.to_string(), "never");
        }
        Algorithm::Bbr(_) => {
            if Algorithm::named("bbr").as_ref() != Some(&p.congestion) {
                return own();
            }
            note(false, "congestion", "bbr, version 3".into(), "version 1");
        }
        Algorithm::Reno(_) => return own(),
        _ => {
            return Err(format!(
                "quic.congestion = {name}: quinn has reno, cubic and bbr; take one of them, or \
                 use --engine packets"
            ));
        }
    }
    if p.max_window != 1 << 24 {
        return Err("quic.max_window: quinn has no such limit; use max_data".into());
    }
    note(p.pacing, "pacing", "false".into(), "always");
    let burst = p.burst_packets.to_string();
    note(p.burst_packets == BURST, "burst_packets", burst, "10, or what the pace sends in 2 ms");
    let follows = (Time::from_millis(1)..=ACK_DELAY).contains(&p.max_ack_delay);
    let delay = p.max_ack_delay.to_string();
    note(follows, "max_ack_delay", delay, "1ms at least, and 25ms or the round trip at most");
    let long = p.certificate.0 >= certificate::LEAST as u64;
    note(long, "certificate", p.certificate.to_string(), "400 bytes at least");
    Ok(lines)
}

/// What every connection of a group is given.
pub(super) fn transport(p: &Params) -> TransportConfig {
    let mut to = TransportConfig::default();
    let number = |value: u64| VarInt::from_u64(value).unwrap_or(VarInt::MAX);
    let datagram = p.max_udp_payload as u16;
    to.congestion_controller_factory(congestion(&p.tuning, u64::from(p.initial_cwnd)))
        .stream_receive_window(number(p.max_stream_data.0))
        .receive_window(number(p.max_data.0))
        .send_window(UNLIMITED)
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .initial_rtt(Duration::from_nanos(p.initial_rtt.0))
        .max_idle_timeout(Some(IdleTimeout::from(number(p.idle_timeout.0 / 1_000_000))))
        // The path carries what the scenario says, and nothing probes for more.
        .initial_mtu(datagram)
        .min_mtu(datagram)
        .mtu_discovery_config(None);
    if p.ack_every != ACK_EVERY || p.max_ack_delay != ACK_DELAY {
        let mut ask = AckFrequencyConfig::default();
        ask.ack_eliciting_threshold(VarInt::from_u32(p.ack_every - 1))
            .max_ack_delay(Some(Duration::from_nanos(p.max_ack_delay.0)))
            .reordering_threshold(VarInt::from_u32(1));
        to.ack_frequency_config(Some(ask));
    }
    to
}

/// Quinn's congestion control of this name.
fn congestion(tuning: &Tuning, window: u64) -> Arc<dyn ControllerFactory + Send + Sync> {
    match tuning {
        Tuning::Cubic(_) => {
            let mut settings = CubicConfig::default();
            settings.initial_window(window);
            Arc::new(Watching(Arc::new(settings)))
        }
        Tuning::Bbr(_) => {
            let mut settings = BbrConfig::default();
            settings.initial_window(window);
            Arc::new(Watching(Arc::new(settings)))
        }
        // Anything else has been refused.
        _ => {
            let mut settings = NewRenoConfig::default();
            settings.initial_window(window);
            Arc::new(Watching(Arc::new(settings)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Size;
    use sojourn_quic::Spec;
    use sojourn_tcp::congestion::reno;

    fn told(spec: &Spec) -> Result<Vec<String>, String> {
        differences(&Spec::resolve(&[spec]).unwrap())
    }

    #[test]
    fn the_defaults_are_followed_and_the_rest_is_listed() {
        assert_eq!(told(&Spec::default()), Ok(Vec::new()));
        let kept = Spec {
            initial_window: Some(4),
            max_udp_payload: Some(1350),
            ecn: Some(true),
            ack_every: Some(10),
            max_ack_delay: Some(Time::from_millis(5)),
            certificate: Some(Size(5000)),
            zero_rtt: Some(true),
            ..Spec::default()
        };
        assert_eq!(told(&kept), Ok(Vec::new()));
        let lost = Spec {
            congestion: Algorithm::named("bbr"),
            burst_packets: Some(2),
            max_ack_delay: Some(Time::from_millis(100)),
            certificate: Some(Size(200)),
            ..Spec::default()
        };
        let lines = told(&lost).unwrap();
        let fields: Vec<&str> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
        let expected =
            ["quic.congestion", "quic.burst_packets", "quic.max_ack_delay", "quic.certificate"];
        assert_eq!(fields, expected);
    }

    #[test]
    fn cubic_differs_in_its_estimate_of_reno_unless_that_is_linuxs() {
        let cubic = |alpha_rises| {
            let settings = cubic::Settings { alpha_rises, ..Default::default() };
            told(&Spec { congestion: Some(Algorithm::Cubic(settings)), ..Spec::default() })
        };
        let line = "quic.congestion.alpha_rises = true; quinn: never";
        assert_eq!(cubic(None).unwrap(), [line]);
        assert_eq!(cubic(Some(true)).unwrap(), [line]);
        assert_eq!(cubic(Some(false)).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_quinn_has_not_is_refused() {
        let beta = Algorithm::Reno(reno::Settings { beta_ecn: 0.8 });
        for (spec, said) in [
            (Spec { congestion: Some(beta), ..Spec::default() }, "quic.congestion = reno has"),
            (
                Spec { congestion: Algorithm::named("vegas"), ..Spec::default() },
                "quic.congestion = vegas: quinn has reno, cubic and bbr",
            ),
            (Spec { max_window: Some(40), ..Spec::default() }, "quic.max_window: quinn has"),
        ] {
            let error = told(&spec).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
