//! From a scenario's TCP settings to what Linux can be told, and what it cannot.
//!
//! Some settings are a socket's, some a namespace's (sysctls), and some are in the kernel's code.
//! The first are set for each connection. The second must be the same for all groups: two that
//! differ are an error. Of the third a run says what is different, unless the setting is the very
//! point of a scenario: then it is refused.

use super::quic::settings::differences;
use crate::bpf;
use sojourn_scenario::{Network, NetworkGroup};
use sojourn_tcp::{Algorithm, Feedback, LARGEST_WINDOW, Params, Profile};
use sojourn_traffic::{Priorities, RttPer, Source};

/// What every socket of a group is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketSettings {
    /// Congestion control, as the kernel calls it; before that is known, as the scenario does.
    pub congestion: String,
    /// The MSS option, bytes.
    pub mss: u32,
    /// The greatest receive window, bytes; none: as the kernel tunes it.
    pub window: Option<u32>,
    /// Spread what is sent over the round trip.
    pub pacing: bool,
    /// How often a SYN is sent again.
    pub syn_retries: u8,
    /// The upper six bits of the traffic class.
    pub dscp: u8,
    /// Whether packets that say ECT(0) are to say ECT(1) once they have left the socket.
    pub ect1: bool,
}

/// Settings of both namespaces: names and values.
pub type Sysctls = Vec<(String, String)>;

/// What is to be set, and in what the hosts will differ from the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// For each group.
    pub sockets: Vec<SocketSettings>,
    /// For both namespaces.
    pub sysctls: Sysctls,
    /// The initial window in segments.
    pub initial_window: u32,
    /// Whether every segment is acknowledged at once.
    pub quick_acks: bool,
    /// One line for each difference.
    pub differences: Vec<String>,
}

/// A setting of a whole namespace: the scenario's name for it, the sysctl, and its value; and what
/// kernels do that do not have it.
struct Wide {
    field: &'static str,
    sysctl: &'static str,
    value: String,
    otherwise: Option<&'static str>,
}

fn wide(p: &Params) -> Vec<Wide> {
    let flag = |on: bool| u32::from(on).to_string();
    let ecn = match (p.ecn, p.feedback) {
        (false, _) => "0",
        (true, Feedback::Counted) => "3",
        (true, _) => "1",
    };
    let must = |field, sysctl, value| Wide { field, sysctl, value, otherwise: None };
    let may =
        |field, sysctl, value, default| Wide { field, sysctl, value, otherwise: Some(default) };
    vec![
        must("ecn", "tcp_ecn", ecn.into()),
        must("sack", "tcp_sack", flag(p.sack)),
        must("timestamps", "tcp_timestamps", flag(p.timestamps)),
        must("dsack", "tcp_dsack", flag(p.dsack)),
        must("frto", "tcp_frto", if p.frto { "2".into() } else { "0".into() }),
        must("rack", "tcp_recovery", flag(p.rack)),
        must("tlp", "tcp_early_retrans", if p.tlp { "3".into() } else { "0".into() }),
        must("idle_restart", "tcp_slow_start_after_idle", flag(p.idle_restart)),
        must("autotune", "tcp_moderate_rcvbuf", flag(p.autotune)),
        must(
            "sack_compression",
            "tcp_comp_sack_nr",
            if p.sack_compression { "44".into() } else { "0".into() },
        ),
        must("retries", "tcp_retries2", p.retries.to_string()),
        may("min_rto", "tcp_rto_min_us", (p.min_rto.0 / 1000).to_string(), "200000"),
        may("max_rto", "tcp_rto_max_ms", (p.max_rto.0 / 1_000_000).to_string(), "120000"),
    ]
}

/// What the kernel does whatever the scenario says: the field, whether the scenario agrees, what
/// it says, and what the kernel does.
fn fixed(p: &Params) -> Vec<(&'static str, bool, String, &'static str)> {
    let on = |on: bool| on.to_string();
    let reno = matches!(p.congestion, Algorithm::Reno(_));
    let cubic = matches!(p.congestion, Algorithm::Cubic(_));
    let css = cubic && p.hystart && p.hystart_css;
    let alpha_rises = matches!(&p.congestion, Algorithm::Cubic(s) if s.alpha_rises == Some(true));
    vec![
        ("limited_transmit", p.limited_transmit, on(p.limited_transmit), "always"),
        ("byte_counting", p.count_limit == u32::MAX, on(p.count_limit == u32::MAX), "always"),
        ("smooth_growth", !p.smooth_growth, on(p.smooth_growth), "never"),
        ("simple_pipe", !p.simple_pipe, on(p.simple_pipe), "never"),
        ("lost_syn_threshold", !p.lost_syn_threshold, on(p.lost_syn_threshold), "never"),
        ("prr", p.prr, on(p.prr), "always"),
        ("undo", p.undo, on(p.undo), "always"),
        ("hystart", p.hystart != reno, on(p.hystart), "HyStart with cubic only"),
        ("hystart_css", !css, on(css), "never"),
        ("congestion.alpha_rises", !alpha_rises, on(alpha_rises), "never"),
        ("tso", p.tso, on(p.tso), "always"),
        ("ect_control", !p.ect_control, on(p.ect_control), "never"),
        ("linux_rto", p.linux_rto, on(p.linux_rto), "always"),
        ("linux_handshake", p.linux_handshake, on(p.linux_handshake), "always"),
        ("initial_rto", p.initial_rto.0 == 1_000_000_000, p.initial_rto.to_string(), "1s"),
        (
            "quick_acks",
            !p.delayed_ack || p.quick_bytes == 16 * u64::from(p.payload),
            (p.quick_bytes / u64::from(p.payload.max(1))).to_string(),
            "16",
        ),
        ("quick_marks", !p.ecn || p.quick_marks, on(p.quick_marks), "always"),
        (
            "delayed_ack_time",
            !p.delayed_ack || p.delayed_ack_time.0 == 40_000_000,
            p.delayed_ack_time.to_string(),
            "40ms",
        ),
    ]
}

/// What the groups of `network` are to be given, by a kernel that knows those sysctls below
/// `net.ipv4` of which `known` is true.
///
/// # Errors
/// One line for what cannot be had, naming the group.
pub fn settings(network: &Network, known: &dyn Fn(&str) -> bool) -> Result<Settings, String> {
    let mut made = Settings { initial_window: 10, ..Settings::default() };
    let mut first: Option<(&NetworkGroup, Vec<Wide>)> = None;
    for group in &network.groups {
        made.sockets.push(socket(group)?);
        if let Source::Web(web) = &group.source
            && web.priorities != Priorities::None
        {
            let line = "priorities = \"rfc9218\"; h2 and h3: streams take turns";
            made.differences.push(format!("{}: {line}", group.name));
        }
        if let Some(quic) = &group.quic {
            let wrong = |why| format!("{}: {why}", group.name);
            let lines = differences(quic).map_err(wrong)?;
            made.differences.extend(lines.into_iter().map(wrong));
        }
        if !uses_tcp(group) {
            continue;
        }
        let p = &group.tcp;
        let own = wide(p);
        let Some((other, theirs)) = &first else {
            made.initial_window = (p.initial_cwnd / p.payload.max(1)).max(1);
            made.quick_acks = !p.delayed_ack;
            first = Some((group, own));
            note(group, &mut made.differences);
            continue;
        };
        if let Some((own, _)) = own.iter().zip(theirs).find(|(own, other)| own.value != other.value)
        {
            return Err(both_ways(group, other, own.field));
        }
        if (p.initial_cwnd / p.payload.max(1)).max(1) != made.initial_window {
            return Err(both_ways(group, other, "initial_window"));
        }
        if p.delayed_ack == made.quick_acks {
            return Err(both_ways(group, other, "delayed_ack"));
        }
        note(group, &mut made.differences);
    }
    let most = network.groups.iter().filter(|g| uses_tcp(g)).map(|g| g.tcp.rcv_window).max();
    for Wide { field, sysctl, value, otherwise } in first.into_iter().flat_map(|(_, wide)| wide) {
        match otherwise {
            Some(fixed) if !known(sysctl) => {
                if value != fixed {
                    let line = format!("tcp.{field}: this kernel has no {sysctl}");
                    made.differences.push(line);
                }
            }
            _ => made.sysctls.push((format!("net.ipv4.{sysctl}"), value)),
        }
    }
    // Half of a buffer counts as window; what waits to be sent never limits.
    let rmem = u64::from(most.unwrap_or(0)).saturating_mul(2).max(1 << 20);
    for (name, value) in [
        ("tcp_rmem", format!("4096 131072 {rmem}")),
        ("tcp_wmem", "4096 65536 67108864".into()),
        ("tcp_no_metrics_save", "1".into()),
        ("tcp_max_syn_backlog", "8192".into()),
        ("tcp_syncookies", "0".into()),
        ("tcp_fin_timeout", "5".into()),
        ("ip_local_port_range", "1024 65535".into()),
    ] {
        made.sysctls.push((format!("net.ipv4.{name}"), value));
    }
    Ok(made)
}

fn both_ways(group: &NetworkGroup, other: &NetworkGroup, field: &str) -> String {
    format!(
        "{}: tcp.{field} differs from that of {}; with real hosts it holds for all groups",
        group.name, other.name
    )
}

/// Whether a group's members open connections over TCP.
pub fn uses_tcp(group: &NetworkGroup) -> bool {
    let connects = matches!(
        group.source,
        Source::Bulk(_)
            | Source::Web(_)
            | Source::Video(_)
            | Source::Transfers(_)
            | Source::Replay(_)
    );
    connects && group.quic.is_none()
}

/// Whether an algorithm is what its name alone stands for, in either profile.
pub fn has_defaults(algorithm: &Algorithm) -> bool {
    is_of(Profile::Classic, algorithm) || is_linux_s(algorithm)
}

/// Whether an algorithm is what its name stands for in Linux.
pub fn is_linux_s(algorithm: &Algorithm) -> bool {
    is_of(Profile::Modern, algorithm)
}

fn is_of(profile: Profile, algorithm: &Algorithm) -> bool {
    let mut named = Algorithm::named(algorithm.name());
    if let Some(named) = &mut named {
        named.settle(profile);
    }
    named.as_ref() == Some(algorithm)
}

fn socket(group: &NetworkGroup) -> Result<SocketSettings, String> {
    let p = &group.tcp;
    let name = p.congestion.name();
    if group.server_rtt.is_some() {
        let why = "real hosts have all servers at the same distance; use --engine packets";
        return Err(format!("{}: server_rtt: {why}", group.name));
    }
    if matches!(&group.source, Source::Web(web) if web.rtt_per == RttPer::Connection) {
        let why = "real hosts have one distance each; use --engine packets";
        return Err(format!("{}: rtt_per: {why}", group.name));
    }
    if uses_tcp(group) {
        if !has_defaults(&p.congestion) && !bpf::has(&p.congestion) {
            return Err(format!(
                "{}: tcp.congestion = {name} has settings of its own; those of the kernel are \
                 fixed: leave them out",
                group.name
            ));
        }
        // The greatest window that can be said stands for no limit.
        if p.max_cwnd != LARGEST_WINDOW {
            return Err(format!(
                "{}: tcp.max_window: the kernel has no such limit; use receive_window",
                group.name
            ));
        }
    }
    Ok(SocketSettings {
        congestion: name.into(),
        mss: p.payload + u32::from(p.options),
        window: (!p.autotune).then_some(p.rcv_window),
        pacing: p.pacing && name != "bbr",
        syn_retries: p.syn_retries,
        dscp: group.dscp.bits(),
        ect1: false,
    })
}

fn note(group: &NetworkGroup, differences: &mut Vec<String>) {
    for (field, same, here, there) in fixed(&group.tcp) {
        if !same {
            let line = format!("{}: tcp.{field} = {here}; Linux: {there}", group.name);
            differences.push(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;
    use std::path::Path;

    fn network(tcp: &str, groups: &str) -> Network {
        let text = format!(
            "duration = \"5s\"\n[tcp]\n{tcp}\n[bottleneck]\nrate = \"10mbit\"\ndelay = \"5ms\"\n\
             qdisc = {{ kind = \"droptail\", limit = 50 }}\n{groups}"
        );
        let scenario = Scenario::from_toml(&text, "test").unwrap();
        scenario.network(Path::new(".")).unwrap()
    }

    fn made(network: &Network) -> Result<Settings, String> {
        settings(network, &|_| true)
    }

    const BULK: &str = "[[traffic]]\nkind = \"bulk\"\n";

    #[test]
    fn modern_cubic_differs_from_linux_in_hystart_only() {
        let tcp = "profile = \"modern\"\ncongestion = \"cubic\"\ntso = true";
        let modern = made(&network(tcp, BULK)).unwrap();
        assert_eq!(modern.differences, ["bulk1: tcp.hystart_css = true; Linux: never"]);
        let made = made(&network(&format!("{tcp}\nhystart_css = false"), BULK)).unwrap();
        assert_eq!(made.differences, Vec::<String>::new());
        assert_eq!(made.initial_window, 10);
        assert!(!made.quick_acks);
        assert_eq!((made.sockets[0].mss, made.sockets[0].window), (1460, None));
        assert!(made.sysctls.contains(&("net.ipv4.tcp_ecn".into(), "0".into())));
        assert!(made.sysctls.contains(&("net.ipv4.tcp_comp_sack_nr".into(), "44".into())));
    }

    #[test]
    fn kernel_differences_are_reported() {
        let made = made(&network("profile = \"classic\"", BULK)).unwrap();
        let told = made.differences.join("\n");
        assert!(told.contains("bulk1: tcp.initial_rto = 3s; Linux: 1s"), "{told}");
        assert!(told.contains("tcp.prr = false; Linux: always"), "{told}");
        assert_eq!(made.initial_window, 2);
        assert_eq!(made.sockets[0].window, Some(16 << 10));
        assert!(made.sysctls.contains(&("net.ipv4.tcp_timestamps".into(), "0".into())));
        assert!(made.sysctls.contains(&("net.ipv4.tcp_comp_sack_nr".into(), "0".into())));
        assert!(made.sysctls.contains(&("net.ipv4.tcp_rto_min_us".into(), "1000000".into())));
        let network = network("profile = \"classic\"", BULK);
        let old = settings(&network, &|name| !name.contains("rto")).unwrap();
        assert!(old.differences.contains(&"tcp.min_rto: this kernel has no tcp_rto_min_us".into()));
    }

    #[test]
    fn rfc_cubic_runs_as_linux_cubic_with_remark() {
        let told = |tcp| made(&network(tcp, BULK)).unwrap().differences.join("\n");
        let line = "bulk1: tcp.congestion.alpha_rises = true; Linux: never";
        assert!(told("profile = \"classic\"\ncongestion = \"cubic\"").contains(line));
        assert!(!told("profile = \"modern\"\ncongestion = \"cubic\"").contains("alpha_rises"));
        let own = "congestion = { kind = \"cubic\", alpha_rises = true, whole_segments = false }";
        assert!(told(&format!("profile = \"modern\"\n{own}")).contains(line));
    }

    #[test]
    fn groups_that_want_a_namespace_both_ways_are_refused() {
        let groups = format!("{BULK}{BULK}tcp = {{ ecn = true }}\n");
        let error = made(&network("profile = \"modern\"", &groups)).unwrap_err();
        assert_eq!(
            error,
            "bulk2: tcp.ecn differs from that of bulk1; with real hosts it holds for all groups"
        );
        let groups = format!("{BULK}{BULK}tcp = {{ congestion = \"cubic\" }}\n");
        let made = made(&network("profile = \"modern\"", &groups)).unwrap();
        assert_eq!(made.sockets[1].congestion, "cubic", "each socket has its own");
    }

    #[test]
    fn settings_without_kernel_support_are_refused() {
        let error = made(&network("max_window = 10", BULK)).unwrap_err();
        assert!(error.starts_with("bulk1: tcp.max_window"), "{error}");
        let own = "congestion = { kind = \"cubic\", c = 1.0 }";
        let error = made(&network(own, BULK)).unwrap_err();
        assert!(error.contains("settings of its own"), "{error}");
    }

    #[test]
    fn servers_farther_away_are_refused_and_priorities_are_listed() {
        let web = |more: &str| {
            let group = "[[traffic]]\nkind = \"web\"\nname = \"people\"\nusers = 1\n";
            made(&network("", &format!("{group}{more}\n")))
        };
        let error = web("servers = 2\nserver_rtt = \"90ms\"").unwrap_err();
        let why = "real hosts have all servers at the same distance; use --engine packets";
        assert_eq!(error, format!("people: server_rtt: {why}"));
        let error = web("rtt = \"20ms..80ms\"\nrtt_per = \"connection\"").unwrap_err();
        let why = "real hosts have one distance each; use --engine packets";
        assert_eq!(error, format!("people: rtt_per: {why}"));
        let made = web("http = \"3\"\npriorities = \"rfc9218\"").unwrap();
        let line = "people: priorities = \"rfc9218\"; h2 and h3: streams take turns";
        assert!(made.differences.contains(&line.into()), "{:?}", made.differences);
        assert!(!web("http = \"2\"").unwrap().differences.iter().any(|l| l.contains("priorities")));
    }
}
