//! Which way a packet goes: from its addresses to links and delays.

use super::parse::Facts;
use super::plan::{Foreign, Plan};
use crate::net::address::{Side, endpoint_of};
use sojourn_base::{Kind, Stream};
use sojourn_link::Serialiser;
use sojourn_qdisc::label_hash;
use sojourn_scenario::{NetworkGroup, private_delay};

/// No further step: the host is next.
pub const HOST: u32 = u32::MAX;

/// One stage of a path: a link that is not ideal, and what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The link, counted among those that are not ideal.
    pub link: u32,
    /// The next step, or [`HOST`].
    pub next: u32,
    /// From the end of the transmission to whatever is next, ns.
    pub delay: u64,
    /// The hash of its group's label.
    pub label: u32,
}

/// How a packet sets out: the delay before its first step, and that step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// When it reaches the first step, ns.
    pub at: u64,
    /// The first step, or [`HOST`].
    pub step: u32,
}

/// One end of a flow: how what it sends sets out.
#[derive(Clone, Copy)]
struct End {
    delay: u64,
    step: u32,
    /// The group, for its private links.
    group: u32,
    /// When the private link is free, and the fraction of a nanosecond that it is behind.
    free: u64,
    carry: u64,
}

/// The way of a group in one direction: the delay of ideal links before the first step.
#[derive(Clone, Copy)]
struct Way {
    lead: u64,
    step: u32,
}

/// Packets of other addresses.
struct Others {
    ways: [Way; 2],
    group: NetworkGroup,
    seed: u64,
}

/// All paths.
pub struct Paths {
    steps: Vec<Step>,
    ends: Vec<[End; 2]>,
    access: Vec<Option<Serialiser>>,
    others: Option<Others>,
}

impl Paths {
    pub fn new(plan: &Plan) -> Self {
        let network = plan.network();
        let mut places = Vec::new();
        let mut finite = 0;
        for link in &network.links {
            places.push(link.rate.map(|_| finite));
            finite += u32::from(link.rate.is_some());
        }
        let mut paths =
            Self { steps: Vec::new(), ends: Vec::new(), access: Vec::new(), others: None };
        for (number, group) in network.groups.iter().enumerate() {
            let way = |paths: &mut Self, links: &[usize]| {
                let delays: Vec<(Option<u32>, u64)> =
                    links.iter().map(|&l| (places[l], network.links[l].delay.0)).collect();
                paths.way(label_hash(&group.label), &delays)
            };
            let ways = [way(&mut paths, &group.forward), way(&mut paths, &group.backward)];
            for member in 0..u64::from(plan.blocks()[number].count) {
                // As in the packet engine: the smaller half is at the end where data come from.
                let extra = group.private_delay(network.seed, member);
                let end = |way: Way, delay| End {
                    delay: way.lead + delay,
                    step: way.step,
                    group: number as u32,
                    free: 0,
                    carry: 0,
                };
                paths.ends.push([end(ways[0], extra / 2), end(ways[1], extra - extra / 2)]);
            }
            paths.access.push(group.access_rate.map(|rate| Serialiser::new(rate.0, 0, 0)));
            if plan.foreign() == Foreign::Like(number) {
                paths.others = Some(Others { ways, group: group.clone(), seed: network.seed });
            }
        }
        paths
    }

    /// The way along links, each with its place (none: ideal) and its delay.
    fn way(&mut self, label: u32, links: &[(Option<u32>, u64)]) -> Way {
        let mut way = Way { lead: 0, step: HOST };
        let mut last: Option<usize> = None;
        for &(place, delay) in links {
            match (place, last) {
                (Some(link), _) => {
                    let step = self.steps.len();
                    self.steps.push(Step { link, next: HOST, delay, label });
                    match last.replace(step) {
                        Some(before) => self.steps[before].next = step as u32,
                        None => way.step = step as u32,
                    }
                }
                (None, Some(before)) => self.steps[before].delay += delay,
                (None, None) => way.lead += delay,
            }
        }
        way
    }

    /// A step.
    #[inline]
    pub fn step(&self, number: u32) -> Step {
        self.steps[number as usize]
    }

    /// The least time from any link to the hosts behind it, ns.
    pub fn shortest(&self) -> u64 {
        let behind = |step: &Step| {
            let (mut delay, mut next) = (step.delay, step.next);
            while let Some(step) = self.steps.get(next as usize) {
                (delay, next) = (delay + step.delay, step.next);
            }
            delay
        };
        self.steps.iter().map(behind).min().unwrap_or(0)
    }

    /// How a packet that `side` sends at `now` sets out; none if its addresses have no path.
    #[inline]
    pub fn start(&mut self, now: u64, side: Side, facts: &Facts) -> Option<Start> {
        let (local, remote) = (endpoint_of(facts.source), endpoint_of(facts.destination));
        let (left, right) = if side == Side::Left { (local, remote) } else { (remote, local) };
        // Of two endpoints the left one counts, in both directions.
        let number = match (left, right) {
            (Some((Side::Left, number)), _) | (None, Some((Side::Right, number))) => number,
            (None, None) => return self.foreign(now, side, facts),
            _ => return None,
        };
        let Some(ends) = self.ends.get_mut(number as usize) else {
            return self.foreign(now, side, facts);
        };
        let end = &mut ends[side as usize];
        let mut at = now;
        if let Some(link) = &self.access[end.group as usize] {
            let starts = now.max(end.free);
            end.free = link.end(starts, facts.bytes, end.free < now, &mut end.carry);
            at = end.free;
        }
        Some(Start { at: at + end.delay, step: end.step })
    }

    fn foreign(&self, now: u64, side: Side, facts: &Facts) -> Option<Start> {
        let Others { ways, group, seed } = self.others.as_ref()?;
        let (network, prefix) = side.other().network();
        let beyond = (facts.destination ^ network.to_bits()) >> (32 - prefix) == 0;
        // IPv6 has no addresses here: whatever wants to be carried is.
        if !beyond && facts.destination != 0 {
            return None;
        }
        let stream = &mut Stream::new(*seed, Kind::Delay, group.key, facts.connection);
        let extra =
            private_delay(group.rtt.as_ref(), group.propagation.0, group.members, 0, stream);
        let way = ways[side as usize];
        let half = if side == Side::Left { extra / 2 } else { extra - extra / 2 };
        Some(Start { at: now + way.lead + half, step: way.step })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::tests::network;
    use sojourn_base::Ecn;

    fn facts(source: u32, destination: u32) -> Facts {
        let ecn = Ecn::NotEct;
        Facts { bytes: 1500, ecn, dscp: 0, source, destination, connection: 7, flow: 7 }
    }

    const TEXT: &str = r#"
        duration = "1s"
        seed = 5
        [bottleneck]
        rate = "10mbit"
        delay = "3ms"
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        name = "flows"
        flows = 4
        rtt = "20ms..80ms"
    "#;

    fn paths(foreign: Foreign) -> Paths {
        Paths::new(&Plan::new(network(TEXT), foreign).unwrap())
    }

    #[test]
    fn both_directions_together_take_the_round_trip_that_was_drawn() {
        let network = network(TEXT);
        let mut paths = paths(Foreign::Refused);
        for flow in 0..4u32 {
            let (left, right) =
                (Side::Left.endpoint(flow).to_bits(), Side::Right.endpoint(flow).to_bits());
            let there = paths.start(0, Side::Left, &facts(left, right)).unwrap();
            let back = paths.start(0, Side::Right, &facts(right, left)).unwrap();
            let extra = network.groups[0].private_delay(network.seed, u64::from(flow));
            let behind = paths.step(there.step).delay;
            assert_eq!(behind, 3_000_000);
            assert_eq!(back.step, HOST, "ideal links are nothing but delay");
            assert_eq!(there.at + behind + back.at, 6_000_000 + extra);
            assert!((14_000_000..=74_000_000).contains(&extra), "{extra}");
        }
    }

    #[test]
    fn an_endpoint_is_known_by_either_address() {
        let mut paths = paths(Foreign::Refused);
        let (left, right) = (Side::Left.endpoint(2).to_bits(), Side::Right.endpoint(2).to_bits());
        let device = [Side::Left.device().to_bits(), Side::Right.device().to_bits()];
        let both = paths.start(0, Side::Left, &facts(left, right));
        assert!(both.is_some());
        assert_eq!(paths.start(0, Side::Left, &facts(left, device[1])), both);
        assert_eq!(paths.start(0, Side::Left, &facts(device[0], right)), both);
        // Not the wrong way round, not without an endpoint, not beyond the last.
        assert_eq!(paths.start(0, Side::Left, &facts(right, left)), None);
        assert_eq!(paths.start(0, Side::Left, &facts(device[0], device[1])), None);
        let beyond = Side::Left.endpoint(4).to_bits();
        assert_eq!(paths.start(0, Side::Left, &facts(beyond, right)), None);
    }

    #[test]
    fn foreign_connections_have_a_round_trip_of_their_own() {
        let mut paths = paths(Foreign::Like(0));
        let device = [Side::Left.device().to_bits(), Side::Right.device().to_bits()];
        let mut round_trips = Vec::new();
        for connection in 0..50 {
            let there = Facts { connection, ..facts(device[0], device[1]) };
            let back = Facts { connection, ..facts(device[1], device[0]) };
            let there = paths.start(0, Side::Left, &there).unwrap();
            let back = paths.start(0, Side::Right, &back).unwrap();
            let sum = there.at + paths.step(there.step).delay + back.at;
            assert!((20_000_000..=80_000_000).contains(&sum), "{sum}");
            round_trips.push(sum);
        }
        round_trips.dedup();
        assert!(round_trips.len() > 40);
        let outside = facts(device[0], 0x0808_0808);
        assert_eq!(paths.start(0, Side::Left, &outside), None);
    }
}
