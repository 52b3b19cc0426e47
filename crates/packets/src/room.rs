//! Room for many flows and their packets. Tables that grow as they fill move, and lie in memory
//! twice while they do; room that is not used yet takes none, but in browsers.

use crate::sim::Sim;
use sojourn_scenario::{Network, NetworkGroup};
use sojourn_traffic::Source;

/// Connections that there is room for, at most.
const CONNECTIONS: u64 = 1 << 20;
/// Events that there is room for, at most.
const EVENTS: u64 = 1 << 24;
/// Flows from which on there is room for events: those of fewer take little to move.
const MANY: u64 = 1 << 13;

/// Makes room for the bulk flows of `network`, and for what they may have on its way.
pub(crate) fn make(network: &Network, sim: &mut Sim) {
    let bulk = |group: &&NetworkGroup| matches!(group.source, Source::Bulk(_));
    let groups = || network.groups.iter().filter(bulk);
    let flows: u64 = groups().map(|group| u64::from(group.members)).sum();
    let transfers =
        groups().any(|group| matches!(&group.source, Source::Bulk(b) if b.size.is_some()));
    let connections = flows.min(CONNECTIONS) as usize;
    sim.conns.reserve(connections);
    if flows >= MANY && !cfg!(target_family = "wasm") {
        sim.connected.reserve_exact(connections);
        sim.timers.reserve(connections);
        if transfers {
            sim.exchanges.reserve_exact(connections);
        }
        let events: u64 = groups().map(events).sum();
        sim.net.wheel.reserve(events.min(EVENTS) as usize);
    }
}

/// Events of a group of flows at once: all that a window lets them have on its way.
fn events(group: &NetworkGroup) -> u64 {
    let window = group.tcp.rcv_window / group.tcp.payload;
    u64::from(group.members) * (u64::from(window) + 2)
}
