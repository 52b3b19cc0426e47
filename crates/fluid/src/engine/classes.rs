//! From a group's flows to classes of the model.
//!
//! Every flow's round trip and start are those that the packet engine draws: same seed, same flows.
//! Flows that are alike are one class. Up to 64 that are not have a class each; more are put
//! together by round trip, and among those by start, with the means of both.

use sojourn_scenario::NetworkGroup;

/// Most classes that a group makes.
const MOST: usize = 64;

/// Like flows of a group.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bundle {
    /// Their numbers in the group.
    pub members: Vec<u32>,
    /// Mean of their minimum round trips, in seconds.
    pub rtt: f64,
    /// Mean of their starts, in seconds.
    pub start: f64,
}

#[derive(Clone, Copy)]
struct Flow {
    member: u32,
    rtt: u64,
    start: u64,
}

/// The flows of a group in bundles.
pub(super) fn bundles(group: &NetworkGroup, seed: u64) -> Vec<Bundle> {
    let mut flows: Vec<Flow> = (0..group.members)
        .map(|member| {
            let index = u64::from(member);
            let rtt = group.propagation.0 + group.private_delay(seed, index);
            Flow { member, rtt, start: group.start_of(seed, index).0 }
        })
        .collect();
    sojourn_base::sort_by_key(&mut flows, |flow| (flow.rtt, flow.start, flow.member));
    let alike = flows.chunk_by(|a, b| (a.rtt, a.start) == (b.rtt, b.start));
    if alike.clone().count() <= MOST {
        return alike.map(bundle).collect();
    }
    let one_rtt = flows[0].rtt == flows[flows.len() - 1].rtt;
    let one_start = flows.iter().all(|flow| flow.start == flows[0].start);
    let (by_rtt, by_start) = match (one_rtt, one_start) {
        (_, true) => (MOST, 1),
        (true, _) => (1, MOST),
        _ => (MOST / 8, 8),
    };
    let mut made = Vec::new();
    for part in parts(&flows, by_rtt) {
        let mut part = part.to_vec();
        sojourn_base::sort_by_key(&mut part, |flow| (flow.start, flow.member));
        made.extend(parts(&part, by_start).map(bundle));
    }
    made
}

/// At most `count` parts of nearly the same size.
fn parts(flows: &[Flow], count: usize) -> impl Iterator<Item = &[Flow]> {
    let all = flows.len();
    (0..count)
        .map(move |part| &flows[part * all / count..(part + 1) * all / count])
        .filter(|part| !part.is_empty())
}

fn bundle(flows: &[Flow]) -> Bundle {
    let mean = |of: fn(&Flow) -> u64| {
        let sum: u128 = flows.iter().map(|flow| u128::from(of(flow))).sum();
        sum as f64 / flows.len() as f64 * 1e-9
    };
    Bundle {
        members: flows.iter().map(|flow| flow.member).collect(),
        rtt: mean(|flow| flow.rtt),
        start: mean(|flow| flow.start),
    }
}
