//! The loop of a scenario: its long flows over its bottleneck, as if all had the mean round trip.

use sojourn_qdisc::Ecn;
use sojourn_scenario::{Network, NetworkGroup};
use sojourn_traffic::Source;

use super::bottleneck::{Bottleneck, largest};
use crate::mgt::Form;
use crate::queues::{Env, Law as _};
use crate::windows::KINDS;
use crate::{QueueLaw, WindowLaw};

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
        let capacity = rate.as_f64() / (8.0 * f64::from(link.mean_packet));
        let env = Env::packets(capacity, link.mean_packet);
        let marks = QueueLaw::of(&link.qdisc, &env).is_ok_and(|made| made.ecn.applies(Ecn::Ect0));
        let law = |group: &NetworkGroup| WindowLaw::of_sender(&group.tcp, marks && group.tcp.ecn);
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
            capacity,
            rtt: None,
            propagation: Some(sum / flows * 1e-9),
            congestion,
            qdisc: Some(link.qdisc.clone()),
            price: None,
            averaging: 0.0,
            queue: None,
            form: Form::default(),
            sampled: false,
            // As the fluid engine and the discipline itself have it.
            spaced: true,
            gain: 1.0,
            amplitude: None,
            mean_packet: link.mean_packet,
            branch: largest(),
            window: 1.0,
            held: false,
            coefficients: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    fn bottleneck(traffic: &str) -> Result<Bottleneck, String> {
        let text = format!(
            r#"
duration = "60s"
[bottleneck]
rate = "15mbit"
delay = "20ms"
mean_packet = 500
qdisc = "pi"
{traffic}"#
        );
        let scenario = Scenario::from_toml(&text, "loop").unwrap();
        Bottleneck::of(&scenario.network(std::path::Path::new(".")).unwrap())
    }

    fn bulk(name: &str, more: &str) -> String {
        format!("[[traffic]]\nkind = \"bulk\"\nname = \"{name}\"\n{more}\n")
    }

    #[test]
    fn flows_are_taken_at_the_mean_of_their_round_trips() {
        let traffic = bulk("near", "flows = 10\nrtt = \"60ms\"\ntcp.congestion = \"reno\"")
            + &bulk("far", "flows = 30\nrtt = \"100ms\"\ntcp.congestion = \"reno\"")
            + &bulk("short", "flows = 5\nsize = \"1MB\"\ntcp.congestion = \"cubic\"");
        let found = bottleneck(&traffic).unwrap();
        assert_eq!((found.flows, found.capacity), (40.0, 3750.0));
        let propagation = found.propagation.unwrap();
        assert!((propagation - 0.09).abs() < 1e-12, "{propagation}");
    }

    #[test]
    fn what_has_no_law_is_refused_by_its_name() {
        let wrong = |traffic: &str| bottleneck(traffic).unwrap_err();
        let two =
            bulk("a", "tcp.congestion = \"reno\"") + &bulk("b", "tcp.congestion = \"scalable\"");
        assert!(
            wrong(&two).starts_with("traffic.b.tcp: the linear model has one"),
            "{}",
            wrong(&two)
        );
        let none = wrong(&bulk("a", "tcp.congestion = \"cubic\""));
        assert!(
            none.starts_with("traffic.a.tcp.congestion = \"cubic\": there is no law"),
            "{none}"
        );
        let short = wrong(&bulk("a", "size = \"1MB\""));
        assert!(short.contains("no long flows over the bottleneck"), "{short}");
        let quic = wrong(&bulk("a", "transport = \"quic\""));
        assert!(quic.starts_with("traffic.a.transport: there is no linear model"), "{quic}");
    }
}
