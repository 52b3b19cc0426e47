//! Which way a packet goes: from its addresses to links and delays.

use super::parse::Facts;
use super::plan::{Foreign, Plan};
use crate::net::address::{Side, endpoint_of};
use sojourn_base::{Kind, Stream, Time};
use sojourn_link::{Path, Paths, Serialiser, halves};
use sojourn_scenario::{NetworkGroup, private_delay};

/// How a packet sets out: the delay before its first step, and that step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// When it reaches the first step.
    pub at: Time,
    /// The number of the first step, or [`HOST`](sojourn_link::HOST).
    pub step: u32,
}

/// One end of a flow: how what it sends sets out.
#[derive(Clone, Copy)]
struct End {
    delay: Time,
    step: u32,
    /// The group, for its private links.
    group: u32,
    /// When the private link is free, and the fraction of a nanosecond that it is behind.
    free: Time,
    carry: u64,
}

/// Packets of other addresses.
struct Others {
    paths: [Path; 2],
    group: NetworkGroup,
    seed: u64,
}

/// The routes of all endpoints.
pub(super) struct Routes {
    ends: Vec<[End; 2]>,
    access: Vec<Option<Serialiser>>,
    others: Option<Others>,
}

impl Routes {
    /// The routes of a plan's endpoints, and the steps that they lead along.
    pub(super) fn new(plan: &Plan) -> (Self, Paths) {
        let network = plan.network();
        let (paths, of_groups) = Paths::compile(network);
        let mut routes = Self { ends: Vec::new(), access: Vec::new(), others: None };
        for (number, (group, paths)) in network.groups.iter().zip(of_groups).enumerate() {
            for member in 0..u64::from(plan.blocks()[number].count) {
                let own = halves(group.private_delay(network.seed, member));
                routes.ends.push([0, 1].map(|side| End {
                    delay: paths[side].lead + own[side],
                    step: paths[side].first,
                    group: number as u32,
                    free: Time::ZERO,
                    carry: 0,
                }));
            }
            routes.access.push(group.access_rate.map(|rate| Serialiser::new(rate.0, 0, 0)));
            if plan.foreign() == Foreign::Like(number) {
                routes.others = Some(Others { paths, group: group.clone(), seed: network.seed });
            }
        }
        (routes, paths)
    }

    /// How a packet that `side` sends at `now` sets out; none if its addresses have no path.
    #[inline]
    pub(super) fn start(&mut self, now: Time, side: Side, facts: &Facts) -> Option<Start> {
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
            at = link.cross(now, facts.bytes, &mut end.free, &mut end.carry);
        }
        Some(Start { at: at + end.delay, step: end.step })
    }

    fn foreign(&self, now: Time, side: Side, facts: &Facts) -> Option<Start> {
        let Others { paths, group, seed } = self.others.as_ref()?;
        let (network, prefix) = side.other().network();
        let beyond = (facts.destination ^ network.to_bits()) >> (32 - prefix) == 0;
        // IPv6 has no addresses here: whatever wants to be carried is.
        if !beyond && facts.destination != 0 {
            return None;
        }
        let stream = &mut Stream::new(*seed, Kind::Delay, group.key, facts.connection);
        let extra =
            private_delay(group.rtt.as_ref(), group.propagation.0, group.members, 0, stream);
        let path = paths[side as usize];
        Some(Start { at: now + path.lead + halves(extra)[side as usize], step: path.first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::tests::network;
    use sojourn_base::Ecn;
    use sojourn_link::HOST;

    fn facts(source: u32, destination: u32) -> Facts {
        let ecn = Ecn::NotEct;
        Facts { bytes: 1500, ecn, dscp: 0, source, destination, connection: 7, flow: 7, ack: None }
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

    fn routes(foreign: Foreign) -> (Routes, Paths) {
        Routes::new(&Plan::new(network(TEXT), foreign).unwrap())
    }

    #[test]
    fn both_directions_together_take_the_round_trip_that_was_drawn() {
        let network = network(TEXT);
        let (mut routes, paths) = routes(Foreign::Refused);
        for flow in 0..4u32 {
            let (left, right) =
                (Side::Left.endpoint(flow).to_bits(), Side::Right.endpoint(flow).to_bits());
            let there = routes.start(Time::ZERO, Side::Left, &facts(left, right)).unwrap();
            let back = routes.start(Time::ZERO, Side::Right, &facts(right, left)).unwrap();
            let extra = network.groups[0].private_delay(network.seed, u64::from(flow));
            let behind = paths.step(there.step).delay;
            assert_eq!(behind, Time::from_millis(3));
            assert_eq!(back.step, HOST, "ideal links are nothing but delay");
            assert_eq!(there.at + behind + back.at, Time(6_000_000 + extra));
            assert!((14_000_000..=74_000_000).contains(&extra), "{extra}");
        }
    }

    #[test]
    fn an_endpoint_is_known_by_either_address() {
        let (mut routes, _) = routes(Foreign::Refused);
        let (left, right) = (Side::Left.endpoint(2).to_bits(), Side::Right.endpoint(2).to_bits());
        let device = [Side::Left.device().to_bits(), Side::Right.device().to_bits()];
        let both = routes.start(Time::ZERO, Side::Left, &facts(left, right));
        assert!(both.is_some());
        assert_eq!(routes.start(Time::ZERO, Side::Left, &facts(left, device[1])), both);
        assert_eq!(routes.start(Time::ZERO, Side::Left, &facts(device[0], right)), both);
        // Not the wrong way round, not without an endpoint, not beyond the last.
        assert_eq!(routes.start(Time::ZERO, Side::Left, &facts(right, left)), None);
        assert_eq!(routes.start(Time::ZERO, Side::Left, &facts(device[0], device[1])), None);
        let beyond = Side::Left.endpoint(4).to_bits();
        assert_eq!(routes.start(Time::ZERO, Side::Left, &facts(beyond, right)), None);
    }

    #[test]
    fn foreign_connections_have_a_round_trip_of_their_own() {
        let (mut routes, paths) = routes(Foreign::Like(0));
        let device = [Side::Left.device().to_bits(), Side::Right.device().to_bits()];
        let mut round_trips = Vec::new();
        for connection in 0..50 {
            let there = Facts { connection, ..facts(device[0], device[1]) };
            let back = Facts { connection, ..facts(device[1], device[0]) };
            let there = routes.start(Time::ZERO, Side::Left, &there).unwrap();
            let back = routes.start(Time::ZERO, Side::Right, &back).unwrap();
            let sum = there.at + paths.step(there.step).delay + back.at;
            assert!((20_000_000..=80_000_000).contains(&sum.0), "{sum:?}");
            round_trips.push(sum);
        }
        round_trips.dedup();
        assert!(round_trips.len() > 40);
        let outside = facts(device[0], 0x0808_0808);
        assert_eq!(routes.start(Time::ZERO, Side::Left, &outside), None);
    }
}
