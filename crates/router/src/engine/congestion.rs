//! Which congestion control of the kernel's a group's sockets are given.

use crate::bpf::{self, Registered};
use crate::hosts::knows_congestion;
use crate::hosts::settings::{Settings, has_defaults, is_linux_s, uses_tcp};
use sojourn_scenario::Network;
use sojourn_tcp::Algorithm;

/// Gives each group's sockets the kernel's own congestion control where it has one that does what
/// the scenario says, and a program of ours otherwise. Where there can be none, the kernel's own
/// has to do if the scenario leaves its settings alone; the run says so. The programs must live
/// as long as the sockets are opened.
///
/// # Errors
/// One line that names the group.
pub(super) fn find(network: &Network, settings: &mut Settings) -> Result<Vec<Registered>, String> {
    let mut made: Vec<(Algorithm, Registered)> = Vec::new();
    for (group, socket) in network.groups.iter().zip(&mut settings.sockets) {
        if !uses_tcp(group) || socket.ect1 {
            continue;
        }
        let algorithm = &group.tcp.congestion;
        let known = has_defaults(algorithm) && knows_congestion(&socket.congestion);
        if known && (is_linux_s(algorithm) || !bpf::has(algorithm)) {
            continue;
        }
        let wrong = |what: &str| {
            let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
            let known = std::fs::read_to_string(path).unwrap_or_default();
            let known: Vec<&str> = known.split_whitespace().filter(|n| !ours(n)).collect();
            let (group, name) = (&group.name, algorithm.name());
            format!("{group}: tcp.congestion = {name}: this kernel has {}{what}", known.join(", "))
        };
        if !bpf::has(algorithm) {
            return Err(wrong(""));
        }
        if let Some((_, program)) = made.iter().find(|(with, _)| with == algorithm) {
            socket.congestion.clone_from(&program.name);
            continue;
        }
        if let Algorithm::Westwood(s) = algorithm
            && s.linux_filter == Some(true)
        {
            let line = "linux_filter = true; the kernel without its module: false";
            settings.differences.push(format!("{}: tcp.congestion.{line}", group.name));
        }
        let number = u8::try_from(made.len())
            .map_err(|_| format!("{}: tcp.congestion: more than 256 different ones", group.name))?;
        let program = match Registered::new(algorithm, number) {
            Ok(program) => program,
            Err(_) if known => {
                let (group, name) = (&group.name, &socket.congestion);
                let line = format!("{group}: tcp.congestion = {name}; Linux: its own of that name");
                settings.differences.push(line);
                continue;
            }
            Err(e) => return Err(wrong(&format!("; {e}"))),
        };
        socket.congestion.clone_from(&program.name);
        made.push((algorithm.clone(), program));
    }
    Ok(made.into_iter().map(|(_, program)| program).collect())
}

/// Has Linux's DCTCP stand in for Prague, of which it was made and which Linux lacks, where whoever
/// forwards packets has them say ECT(1).
pub(super) fn stand_in(network: &Network, settings: &mut Settings) {
    for (group, socket) in network.groups.iter().zip(&mut settings.sockets) {
        if uses_tcp(group) && matches!(group.tcp.congestion, Algorithm::Prague(_)) {
            socket.congestion = "dctcp".into();
            socket.ect1 = true;
            let line = "tcp.congestion = prague; Linux: its DCTCP, with ECT(1) in place of ECT(0)";
            settings.differences.push(format!("{}: {line}", group.name));
        }
    }
}

/// Whether a congestion control is that of a run.
fn ours(name: &str) -> bool {
    name.len() == 14
        && name.starts_with("sj")
        && name[5..].bytes().all(|byte| byte.is_ascii_hexdigit())
}
