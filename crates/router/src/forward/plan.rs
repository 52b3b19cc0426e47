//! What the router is to be: the network of a scenario, and who lives at its ends.

use crate::net::address::{ENDPOINTS, Side};
use sojourn_scenario::Network;
use std::net::Ipv4Addr;

/// Endpoints of a group whose transfers come and go: each of the first so many has a number of its
/// own, and with it its own draw of the round-trip time; later ones take the numbers again.
pub const TRANSFERS: u32 = 1 << 16;

/// The endpoints of a group: numbers in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first number.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// What becomes of packets from addresses that are no endpoint's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// They go no further.
    Refused,
    /// They take the path of this group; the round-trip time of each connection is drawn by the
    /// hash of its addresses and ports.
    Like(usize),
}

/// A network, and an endpoint for each flow and user of its groups.
#[derive(Clone, Debug)]
pub struct Plan {
    network: Network,
    blocks: Vec<Block>,
    foreign: Foreign,
}

impl Plan {
    /// Counts the endpoints through groups and their members, in the order of the scenario.
    ///
    /// # Errors
    /// If there are more than there are addresses for, or flows that share a machine.
    pub fn new(network: Network, foreign: Foreign) -> Result<Self, String> {
        let (mut blocks, mut first) = (Vec::new(), 0u32);
        for group in &network.groups {
            if group.hosts.is_some() {
                return Err("access.hosts: real flows share no interface; leave it out".into());
            }
            let count = if group.members == 0 { TRANSFERS } else { group.members };
            blocks.push(Block { first, count });
            first = first.saturating_add(count);
        }
        if first > ENDPOINTS {
            return Err(format!(
                "{first} flows and users are too many for real packets: at most {ENDPOINTS}, of \
                 which a group whose transfers come and go takes {TRANSFERS}"
            ));
        }
        Ok(Self { network, blocks, foreign })
    }

    /// The scenario's network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The endpoints of each group.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// What becomes of packets of other addresses.
    #[must_use]
    pub fn foreign(&self) -> Foreign {
        self.foreign
    }

    /// The endpoint of a member (or transfer) of a group.
    #[must_use]
    pub fn endpoint(&self, group: usize, member: u64) -> u32 {
        let Block { first, count } = self.blocks[group];
        first + (member % u64::from(count)) as u32
    }

    /// The address of a member (or transfer) of a group on a side.
    #[must_use]
    pub fn address(&self, group: usize, member: u64, side: Side) -> Ipv4Addr {
        side.endpoint(self.endpoint(group, member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::tests::network;

    #[test]
    fn members_are_numbered_through_all_groups() {
        let text = r#"
            duration = "1s"
            [bottleneck]
            rate = "10mbit"
            [[traffic]]
            kind = "bulk"
            name = "a"
            flows = 3
            [[traffic]]
            kind = "transfers"
            name = "b"
            rate = 10.0
            size = "10kB"
            [[traffic]]
            kind = "bulk"
            name = "c"
            flows = 2
        "#;
        let plan = Plan::new(network(text), Foreign::Refused).unwrap();
        assert_eq!(plan.endpoint(0, 2), 2);
        assert_eq!(plan.endpoint(1, 5), 8);
        assert_eq!(plan.endpoint(1, u64::from(TRANSFERS) + 5), 8);
        assert_eq!(plan.endpoint(2, 1), 3 + TRANSFERS + 1);
        assert_eq!(plan.address(0, 1, Side::Right), Ipv4Addr::new(10, 128, 1, 1));
    }

    #[test]
    fn machines_that_flows_share_are_refused() {
        let text = "duration = \"1s\"\n[bottleneck]\nrate = \"10mbit\"\n[access]\n\
                    rate = \"1gbit\"\nhosts = 2\n[[traffic]]\nkind = \"bulk\"\nflows = 4\n";
        let error = Plan::new(network(text), Foreign::Refused).unwrap_err();
        assert!(error.contains("access.hosts"), "{error}");
    }
}
