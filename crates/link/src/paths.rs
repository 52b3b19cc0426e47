//! Compiled paths: what lies between the hosts of a group, as steps from queue to queue.
//!
//! A step is a link that can contend and the delay behind it. An ideal link is nothing but delay:
//! it adds to the step before it or, ahead of the first step, to the lead of the path.

use sojourn_base::{Dscp, Time};
use sojourn_qdisc::label_hash;
use sojourn_scenario::{Network, NetworkGroup, NetworkLink};

/// In place of a step's number: the host is next.
pub const HOST: u32 = u32::MAX;

/// The machine that a group's members share, if they do, as a path sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine(u16);

impl Machine {
    /// The machine of this number, 0 for none, and whether packets on the path come from it.
    #[must_use]
    pub const fn new(number: u16, sends: bool) -> Self {
        Self(number << 1 | (number != 0 && sends) as u16)
    }

    /// The IPv4 addresses, source and destination, of a packet on the path: `own`, those of its
    /// connection, but for the machine's, which is in 192.168/16.
    #[must_use]
    pub const fn addresses(self, own: (u32, u32)) -> (u32, u32) {
        let shared = 0xc0a8_0000 | (self.0 >> 1) as u32;
        match self.0 {
            0 => own,
            bits if bits & 1 == 1 => (shared, own.1),
            _ => (own.0, shared),
        }
    }
}

/// One stage of a path: a link with a rate, and what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The link, counted among those with a rate.
    pub link: u32,
    /// The number of the next step, or [`HOST`].
    pub next: u32,
    /// From the end of the transmission to whatever is next.
    pub delay: Time,
    /// The hash of the label of the group whose path this is.
    pub label: u32,
    /// The codepoint of that group.
    pub dscp: Dscp,
    /// Its machine.
    pub machine: Machine,
    /// Whether the link's discipline asks packets for the machines of their members.
    pub asks: bool,
}

/// One direction of a group's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The number of the first step, or [`HOST`].
    pub first: u32,
    /// Delay before the first step.
    pub lead: Time,
    /// Propagation over the whole path, `lead` included.
    pub propagation: Time,
}

/// The steps of all paths of a network.
#[derive(Clone, Debug)]
pub struct Paths(Vec<Step>);

impl Paths {
    /// Compiles the paths of a network: for each group that of data and that of acknowledgements.
    #[must_use]
    pub fn compile(network: &Network) -> (Self, Vec<[Path; 2]>) {
        let places = places(network);
        let mut paths = Self(Vec::new());
        let both = |group: &NetworkGroup| {
            let machine = |sends| Machine::new(group.host, sends);
            let (data, back) = (machine(group.host_sends), machine(!group.host_sends));
            [(&group.forward, data), (&group.backward, back)]
                .map(|(links, machine)| paths.add(network, &places, group, links, machine))
        };
        let of_groups = network.groups.iter().map(both).collect();
        (paths, of_groups)
    }

    /// The path of a group along `links`.
    fn add(
        &mut self,
        network: &Network,
        places: &[Option<u32>],
        group: &NetworkGroup,
        links: &[usize],
        machine: Machine,
    ) -> Path {
        let (label, dscp) = (label_hash(&group.label), group.dscp);
        let mut path = Path { first: HOST, lead: Time::ZERO, propagation: Time::ZERO };
        let mut last: Option<usize> = None;
        for &link in links {
            let NetworkLink { delay, ref qdisc, .. } = network.links[link];
            let asks = qdisc.looks_at_machines();
            path.propagation += delay;
            match (places[link], last) {
                (Some(link), _) => {
                    let step = self.0.len();
                    self.0.push(Step { link, next: HOST, delay, label, dscp, machine, asks });
                    match last.replace(step) {
                        Some(before) => self.0[before].next = step as u32,
                        None => path.first = step as u32,
                    }
                }
                (None, Some(before)) => self.0[before].delay += delay,
                (None, None) => path.lead += delay,
            }
        }
        path
    }

    /// A step.
    #[inline(always)]
    #[must_use]
    pub fn step(&self, number: u32) -> Step {
        self.0[number as usize]
    }

    /// The least delay from any link to the host behind it.
    #[must_use]
    pub fn shortest(&self) -> Time {
        let behind = |step: &Step| {
            let (mut delay, mut next) = (step.delay, step.next);
            while let Some(step) = self.0.get(next as usize) {
                (delay, next) = (delay + step.delay, step.next);
            }
            delay
        };
        self.0.iter().map(behind).min().unwrap_or_default()
    }
}

/// For each link of a network its place among those with a rate; none for an ideal one.
#[must_use]
pub fn places(network: &Network) -> Vec<Option<u32>> {
    let mut finite = 0..;
    network.links.iter().map(|link| link.rate.and_then(|_| finite.next())).collect()
}

/// The private delay of a flow, shared by its ends: the smaller half is where data come from.
#[must_use]
pub fn halves(private_delay: u64) -> [Time; 2] {
    [Time(private_delay / 2), Time(private_delay - private_delay / 2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machine_stands_where_its_packets_come_from_or_go_and_its_step_is_no_larger() {
        let own = (1, 2);
        assert_eq!(Machine::new(0, true).addresses(own), own);
        assert_eq!(Machine::new(7, true).addresses(own), (0xc0a8_0007, 2));
        assert_eq!(Machine::new(32_767, false).addresses(own), (1, 0xc0a8_7fff));
        assert_eq!(size_of::<Step>(), 24);
    }

    #[test]
    fn ends_share_a_private_delay_to_the_nanosecond() {
        for delay in [0, 1, 20_000_000, 20_000_001] {
            let [data, acks] = halves(delay);
            assert_eq!((data.0 + acks.0, acks.0 - data.0), (delay, delay % 2));
        }
    }

    use sojourn_scenario::Scenario;
    use std::path::Path as File;

    const ACROSS: &str = r#"
        duration = "1s"
        [[links]]
        name = "near"
        from = "a"
        to = "b"
        delay = "1ms"
        [[links]]
        name = "slow"
        from = "b"
        to = "c"
        rate = "10mbit"
        delay = "2ms"
        [[links]]
        name = "between"
        from = "c"
        to = "d"
        delay = "4ms"
        [[links]]
        name = "fast"
        from = "d"
        to = "e"
        rate = "20mbit"
        delay = "8ms"
        [[links]]
        name = "far"
        from = "e"
        to = "f"
        delay = "16ms"
        [[links]]
        name = "back"
        from = "f"
        to = "a"
        delay = "32ms"
        [[traffic]]
        kind = "bulk"
        from = "a"
        to = "f"
    "#;

    fn network(text: &str) -> Network {
        Scenario::from_toml(text, "test").unwrap().network(File::new(".")).unwrap()
    }

    #[test]
    fn ideal_links_become_lead_and_delay() {
        let network = network(ACROSS);
        let (paths, of_groups) = Paths::compile(&network);
        let [data, acks] = of_groups[0];
        assert_eq!((data.lead, data.propagation), (Time::from_millis(1), Time::from_millis(31)));
        let first = paths.step(data.first);
        assert_eq!(first.delay, Time::from_millis(6));
        let second = paths.step(first.next);
        assert_eq!((second.delay, second.next), (Time::from_millis(24), HOST));
        assert_eq!(paths.shortest(), second.delay);
        assert_eq!((acks.first, acks.lead), (HOST, Time::from_millis(32)));
    }
}
