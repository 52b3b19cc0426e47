//! What real hosts can do, and how long their packets are.

use super::datagrams;
use sojourn_scenario::{Network, NetworkGroup};
use sojourn_traffic::Source;

/// The longest IP packet that the hosts send, bytes.
pub fn longest_packet(network: &Network) -> u32 {
    let longest = |group: &NetworkGroup| match &group.source {
        Source::Udp(udp) => udp.packet.0 as u32,
        Source::OnOff(source) => source.packet.0 as u32,
        Source::Ping(ping) => ping.size.0 as u32,
        _ => group.full_packet(),
    };
    network.groups.iter().map(longest).max().unwrap_or(0)
}

/// What real hosts cannot do.
///
/// # Errors
/// One line that names the group.
pub fn check(network: &Network) -> Result<(), String> {
    if let Some(link) = network.links.iter().find(|link| link.wifi.is_some()) {
        return Err(format!(
            "{}.wifi: the router's links share no medium; leave it out, or use --engine packets",
            link.name
        ));
    }
    if let Some(link) = network.links.iter().find(|link| link.autorate.is_some()) {
        return Err(format!(
            "{}.autorate: the router hears no pings; leave it out, or use --engine packets",
            link.name
        ));
    }
    for group in &network.groups {
        let wrong = |what: String| Err(format!("{}: {what}", group.name));
        if matches!(group.source, Source::Call(_)) {
            return wrong(
                "real hosts make no calls; leave the group out, or use --engine packets".into(),
            );
        }
        let (size, least) = match &group.source {
            Source::Udp(udp) => (udp.packet.0, u64::from(datagrams::HEADER)),
            Source::OnOff(source) => (source.packet.0, u64::from(datagrams::HEADER)),
            // The time of sending must be in it.
            Source::Ping(ping) => (ping.size.0, u64::from(datagrams::HEADER) + 8),
            _ => match &group.quic {
                Some(quic) => (u64::from(quic.max_udp_payload + datagrams::HEADER), 1),
                None => (u64::from(group.tcp.payload), 1),
            },
        };
        if size < least {
            return wrong(format!(
                "{size} bytes: packets of real hosts must have {least} at least"
            ));
        }
        if size > 9000 {
            return wrong(format!("{size} bytes: packets of real hosts have 9000 bytes at most"));
        }
    }
    if network.groups.len() > 20_000 {
        return Err("traffic: more than 20000 groups".into());
    }
    Ok(())
}
