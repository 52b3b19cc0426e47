//! The loop of a scenario: its long flows over its bottleneck, as if all had the mean round trip.

use sojourn_scenario::{Network, NetworkGroup};
use sojourn_traffic::Source;

use super::{Bottleneck, Form};
use crate::WindowLaw;
use crate::windows::KINDS;

impl Bottleneck {
    /// The loop of a scenario's long flows over its bottleneck. Other traffic is not in it.
    ///
    /// # Errors
    /// If there are no such flows, or there is no law for their congestion control.
    pub fn of(network: &Network) -> Result<Self, String> {
        let link = &network.links[network.bottleneck];
        let Some(rate) = link.rate else {
            return Err(format!("link {}: it has no rate, and so no queue", link.name));
        };
        let law = |group: &NetworkGroup| WindowLaw::of_sender(&group.tcp);
        let long = |group: &&NetworkGroup| {
            matches!(&group.source, Source::Bulk(bulk) if bulk.size.is_none() && bulk.rate.is_none())
                && group.forward.contains(&network.bottleneck)
        };
        let groups: Vec<&NetworkGroup> = network.groups.iter().filter(long).collect();
        let Some(first) = groups.first() else {
            return Err("traffic: there are no long flows over the bottleneck".into());
        };
        if let Some(quic) = groups.iter().find(|group| group.quic.is_some()) {
            let name = &quic.name;
            return Err(format!("traffic.{name}.transport: there is no linear model of QUIC"));
        }
        if let Some(other) = groups.iter().find(|group| law(group) != law(first)) {
            return Err(format!(
                "traffic.{}.tcp: the linear model has one congestion control, and {} has another",
                other.name, first.name
            ));
        }
        let Some(congestion) = law(first) else {
            return Err(format!(
                "traffic.{}.tcp.congestion = \"{}\": there is no law for it; use {KINDS}",
                first.name,
                first.tcp.congestion.name()
            ));
        };
        let round_trips = groups.iter().flat_map(|group| {
            (0..u64::from(group.members))
                .map(|flow| group.propagation.0 + group.private_delay(network.seed, flow))
        });
        let (flows, sum) =
            round_trips.fold((0.0, 0.0), |(flows, sum), time| (flows + 1.0, sum + time as f64));
        Ok(Self {
            flows,
            capacity: rate.as_f64() / (8.0 * f64::from(link.mean_packet)),
            rtt: None,
            propagation: Some(sum / flows * 1e-9),
            congestion,
            qdisc: Some(link.qdisc.clone()),
            price: None,
            averaging: 0.0,
            queue: None,
            form: Form::default(),
            sampled: false,
            spaced: false,
            gain: 1.0,
            amplitude: None,
            mean_packet: link.mean_packet,
            branch: super::bottleneck::largest(),
            window: 1.0,
            held: false,
            coefficients: false,
        })
    }
}
