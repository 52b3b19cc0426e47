//! The endpoints of a run: which number each flow, user and transfer has, and so which addresses;
//! and the ports there.

use crate::forward::{Plan, TRANSFERS};
use crate::net::address::{Side, endpoint_of};
use sojourn_base::Time;
use sojourn_scenario::{Network, NetworkGroup};
use sojourn_traffic::{Invalid, Source};
use std::net::Ipv4Addr;
use std::sync::Arc;

/// Ports from here on are clients'; a name server's and the like would be below.
pub(super) const FIRST_PORT: u16 = 1024;
/// Ports from here on are servers', one for each group.
pub(super) const SERVERS: u16 = 40_000;

/// The port of a group's server.
pub(super) fn server_port(group: usize) -> u16 {
    SERVERS + group as u16
}

/// The addresses of endpoint `n`: on the left, and on the right.
pub fn of(n: u32) -> [Ipv4Addr; 2] {
    Side::BOTH.map(|side| side.endpoint(n))
}

/// The endpoint with this address on either side.
pub fn endpoint(address: Ipv4Addr) -> Option<u32> {
    endpoint_of(address.to_bits()).map(|(_, n)| n)
}

/// Start and bytes of transfers, by start.
pub type Transfers = Arc<[(Time, u64)]>;

/// The endpoints of all groups.
#[derive(Clone, Debug)]
pub struct Endpoints {
    plan: Plan,
    count: u32,
    /// For each group whose members come and go, what comes within the run.
    pub transfers: Vec<Transfers>,
}

impl Endpoints {
    /// The endpoints of a plan. Transfers come when they come, whatever the network does, so all
    /// of a run are known beforehand.
    ///
    /// # Errors
    /// If there are too many.
    pub fn new(plan: &Plan) -> Result<Self, String> {
        let network = plan.network();
        let mut lists = Vec::new();
        for group in &network.groups {
            let list = transfers(network, group).map_err(|e| format!("{}: {e}", group.name))?;
            if list.len() > TRANSFERS as usize {
                return Err(format!(
                    "{}: more than {TRANSFERS} transfers would come within the run; real hosts \
                     take that many at most",
                    group.name
                ));
            }
            lists.push(list.into());
        }
        let last = plan.blocks().iter().map(|block| block.first + block.count).max();
        Ok(Self { plan: plan.clone(), count: last.unwrap_or(0), transfers: lists })
    }

    /// The endpoint of a group's member.
    pub fn number(&self, group: usize, member: u32) -> u32 {
        self.plan.endpoint(group, u64::from(member))
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }
}

/// The transfers of a group that begin within the run.
fn transfers(network: &Network, group: &NetworkGroup) -> Result<Vec<(Time, u64)>, Invalid> {
    let end = group.stop.map_or(network.duration, |stop| stop.min(network.duration));
    let begun = group.start_of(network.seed, 0);
    let mut list = Vec::new();
    match &group.source {
        Source::Transfers(source) => {
            let rate = group.load_rate.unwrap_or_default();
            let mut arrivals = source.compile(rate, network.seed, group.key)?;
            let mut at = begun;
            loop {
                let (gap, bytes) = arrivals.next_arrival();
                at = at.saturating_add(gap);
                if at >= end || list.len() > TRANSFERS as usize {
                    break;
                }
                list.push((at, bytes));
            }
        }
        Source::Replay(_) => {
            let all = group.replay.iter().map(|(start, bytes)| (begun + *start, *bytes));
            list.extend(all.take_while(|(start, _)| *start < end));
        }
        _ => {}
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_and_each_transfer_has_an_endpoint() {
        let text = "duration = \"10s\"\n[bottleneck]\nrate = \"10mbit\"\ndelay = \"5ms\"\n\
            qdisc = { kind = \"droptail\", limit = 50 }\n\
            [[traffic]]\nkind = \"bulk\"\nflows = 3\n\
            [[traffic]]\nkind = \"transfers\"\nrate = 20.0\nsize = \"20kB\"\nstart = \"2s\"\n\
            stop = \"7s\"\n[[traffic]]\nkind = \"web\"\nusers = 5\n";
        let scenario = sojourn_scenario::Scenario::from_toml(text, "test").unwrap();
        let network = scenario.network(".".as_ref()).unwrap();
        let plan = Plan::new(network, crate::forward::Foreign::Refused).unwrap();
        let endpoints = Endpoints::new(&plan).unwrap();
        let transfers = &endpoints.transfers[1];
        assert!((60..140).contains(&transfers.len()), "{}", transfers.len());
        assert!(
            transfers.iter().all(|(at, _)| (Time::from_secs(2)..Time::from_secs(7)).contains(at))
        );
        assert!(transfers.is_sorted());
        assert_eq!(endpoints.number(1, 7), 10);
        assert_eq!(endpoints.number(2, 0), 3 + TRANSFERS);
        assert_eq!(endpoints.count(), 8 + TRANSFERS);
        for n in [0, 255, 70_000] {
            assert_eq!(of(n).map(endpoint), [Some(n); 2]);
        }
    }
}
