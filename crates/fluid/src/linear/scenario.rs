//! The loop of a scenario: its long flows over its bottleneck, as if all had the mean round trip.

use sojourn_qdisc::Ecn;
use sojourn_scenario::{Changed, Network, NetworkGroup};
use sojourn_tcp::Algorithm;
use sojourn_traffic::Source;

use super::bottleneck::{Bottleneck, largest};
use crate::mgt::Form;
use crate::queues::{Env, Law as _};
use crate::windows::{Acks, KINDS};
use crate::{QueueLaw, WindowLaw};

/// The part of the link that datagrams may take without a word.
const NEGLIGIBLE: f64 = 0.05;

impl Bottleneck {
    /// The loop of a scenario's long flows over its bottleneck: of those that are there when it
    /// ends. Other traffic that heeds losses is not in it.
    ///
    /// # Errors
    /// If there are no such flows, there is no law for their congestion control, the link's rate
    /// changes, or datagrams, which heed nothing, take more than a twentieth of it.
    pub fn of(network: &Network) -> Result<Self, String> {
        let link = &network.links[network.bottleneck];
        if let Some(what) = changing(network) {
            return Err(format!("link {}: the linear model has one rate, not {what}", link.name));
        }
        let takes = |group: &NetworkGroup| match &group.source {
            Source::Udp(udp) => udp.rate.as_f64(),
            Source::OnOff(source) => source.rate.as_f64(),
            _ => 0.0,
        };
        let there = network.groups.iter().filter(|group| {
            group.forward.contains(&network.bottleneck)
                && (0..u64::from(group.members)).any(|flow| stays(network, group, flow))
        });
        let there: Vec<&NetworkGroup> = there.collect();
        let taken: f64 = there.iter().map(|group| f64::from(group.members) * takes(group)).sum();
        let rate = link.rate.map_or(f64::INFINITY, |rate| rate.as_f64());
        let unresponsive = there.iter().find(|group| takes(group) > 0.0);
        if let Some(group) = unresponsive.filter(|_| taken > NEGLIGIBLE * rate) {
            return Err(format!(
                "traffic.{}: the linear model has no datagrams, which take their part of the link \
                 whatever is lost",
                group.name
            ));
        }
        let long = |group: &&NetworkGroup| match &group.source {
            Source::Bulk(bulk) => bulk.size.is_none() && bulk.rate.is_none(),
            _ => false,
        };
        let groups: Vec<&NetworkGroup> = there.into_iter().filter(long).collect();
        let Some(first) = groups.first() else {
            return Err("traffic: no long flows are over the bottleneck at the end".into());
        };
        let packet = first.full_packet();
        if let Some(other) = groups.iter().find(|group| group.full_packet() != packet) {
            return Err(format!(
                "traffic.{}: the linear model has packets of one size, but its packets have {} \
                 bytes, and those of {} {packet}",
                other.name,
                other.full_packet(),
                first.name
            ));
        }
        let Some(env) = Env::of_link(link, packet) else {
            return Err(format!("link {}: it has no rate, and so no queue", link.name));
        };
        let marks = QueueLaw::of(&link.qdisc, &env).is_ok_and(|made| made.ecn.applies(Ecn::Ect0));
        let law = |group: &NetworkGroup| law_of(group, marks);
        if let Some(other) = groups.iter().find(|group| law(group) != law(first)) {
            return Err(format!(
                "traffic.{}.{}: the linear model has one congestion control, and {} has another",
                other.name,
                transport(other),
                first.name
            ));
        }
        let Some(congestion) = law(first) else {
            return Err(format!(
                "traffic.{}.{}.congestion = \"{}\": there is no law for it; use {KINDS}",
                first.name,
                transport(first),
                control(first).name()
            ));
        };
        let round_trips = groups.iter().flat_map(|group| {
            (0..u64::from(group.members))
                .filter(|&flow| stays(network, group, flow))
                .map(|flow| group.propagation.0 + group.private_delay(network.seed, flow))
        });
        let (flows, sum) =
            round_trips.fold((0.0, 0.0), |(flows, sum), time| (flows + 1.0, sum + time as f64));
        Ok(Self {
            flows,
            capacity: env.capacity(),
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
            spaced: env.spaced,
            gain: 1.0,
            amplitude: None,
            mean_packet: link.mean_packet,
            link: Some(env),
            branch: largest(),
            window: 1.0,
            held: false,
            coefficients: false,
        })
    }
}

/// Whether a flow is there when the run ends.
fn stays(network: &Network, group: &NetworkGroup, flow: u64) -> bool {
    group.stop.is_none_or(|stop| stop >= network.duration)
        && group.start_of(network.seed, flow) < network.duration
}

/// What makes the rate of the bottleneck change, if anything does.
fn changing(network: &Network) -> Option<&'static str> {
    let link = &network.links[network.bottleneck];
    let changes = network.changes.iter().any(
        |change| matches!(change.what, Changed::Link(at, _, Some(_)) if at == network.bottleneck),
    );
    [
        (changes, "one that [[changes]] set"),
        (link.schedule.is_some(), "a schedule"),
        (link.docsis.is_some(), "that of a cable modem's grants"),
        (link.wifi.is_some(), "that of a shared medium"),
        (link.autorate.is_some(), "one that follows delays"),
    ]
    .into_iter()
    .find_map(|(there, what)| there.then_some(what))
}

/// What its connections run over: the name of the table that sets it.
fn transport(group: &NetworkGroup) -> &'static str {
    if group.quic.is_some() { "quic" } else { "tcp" }
}

fn control(group: &NetworkGroup) -> &Algorithm {
    group.quic.as_ref().map_or(&group.tcp.congestion, |quic| &quic.congestion)
}

/// How the windows of a group move; `marks`: its link marks packets instead of dropping them.
fn law_of(group: &NetworkGroup, marks: bool) -> Option<WindowLaw> {
    let Some(quic) = &group.quic else {
        return WindowLaw::of_sender(&group.tcp, marks && group.tcp.ecn);
    };
    // RFC 9002 counts the bytes that an acknowledgement is of.
    let (delayed, marked) = (quic.ack_every > 1, marks && quic.ecn);
    WindowLaw::of(&quic.congestion, Acks { delayed, halved: false, marked })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    fn bottleneck(traffic: &str) -> Result<Bottleneck, String> {
        with("qdisc = \"pi\"", "", traffic)
    }

    fn with(link: &str, tcp: &str, traffic: &str) -> Result<Bottleneck, String> {
        let text = format!(
            r#"
duration = "60s"
[bottleneck]
rate = "15mbit"
delay = "20ms"
{link}
[tcp]
timestamps = false
{tcp}
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
        assert_eq!((found.flows, found.capacity), (40.0, 1250.0));
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
        assert!(short.contains("no long flows are over the bottleneck"), "{short}");
        let quic = "transport = \"quic\"\nquic.congestion = \"cubic\"";
        let quic = wrong(&bulk("a", quic));
        assert!(quic.starts_with("traffic.a.quic.congestion = \"cubic\": there is no"), "{quic}");
        let sizes = bulk("a", "tcp.congestion = \"reno\"")
            + &bulk("b", "tcp.congestion = \"reno\"\ntcp.mss = 536");
        let sizes = wrong(&sizes);
        assert!(sizes.starts_with("traffic.b: the linear model has packets of one"), "{sizes}");
        assert!(sizes.contains("have 576 bytes, and those of a 1500"), "{sizes}");
    }

    #[test]
    fn a_packet_is_one_of_the_flows_and_takes_its_frame_on_the_link() {
        let capacity = |link: &str, tcp: &str, more: &str| {
            with(&format!("qdisc = \"pi\"\n{link}"), tcp, &bulk("a", more)).unwrap().capacity
        };
        let reno = "congestion = \"reno\"";
        let small = "congestion = \"reno\"\nmss = 460";
        assert_eq!(capacity("", small, ""), 3750.0);
        assert_eq!(capacity("mean_packet = 700", small, ""), 3750.0);
        assert_eq!(capacity("mean_packet = 500", reno, ""), 1250.0);
        assert_eq!(capacity("frame_overhead = 250", small, ""), 2500.0);
        // 1452 bytes of a datagram, and 28 of headers.
        let quic = capacity("", reno, "transport = \"quic\"");
        assert!((quic - 15e6 / 8.0 / 1480.0).abs() < 1e-9, "{quic}");
    }

    #[test]
    fn a_group_the_other_way_is_not_in_the_loop_and_one_without_a_round_trip_has_the_paths() {
        let reno = "tcp.congestion = \"reno\"";
        let traffic = bulk("down", reno) + &bulk("up", &format!("{reno}\ndirection = \"reverse\""));
        let found = bottleneck(&traffic).unwrap();
        assert_eq!((found.flows, found.propagation), (1.0, Some(0.04)));
    }

    #[test]
    fn laws_that_reckon_in_mean_packets_still_do() {
        let traffic = bulk("a", "flows = 20\nrtt = \"100ms\"");
        let queue = |link: &str| {
            let tcp = "congestion = \"reno\"\nmss = 460\necn = true";
            let rem = "qdisc = { kind = \"rem\", ecn = true, gamma = 1e-5 }";
            with(&format!("{rem}\n{link}"), tcp, &traffic)?.linearise().map(|it| it.point.queue)
        };
        assert!((queue("mean_packet = 500").unwrap() - 20.0).abs() < 1e-6);
        // 3750 packets leave, 75 fewer than REM reckons with: 75·T/α.
        let longer = queue("mean_packet = 500\nframe_overhead = 10").unwrap();
        assert!((longer - 20.0 - 3750.0 * (1.0 - 50.0 / 51.0) * 0.02).abs() < 1e-6, "{longer}");
        let none = queue("mean_packet = 1500").unwrap_err();
        assert!(none.starts_with("mean_packet: no operating point: "), "{none}");
    }

    #[test]
    fn flows_count_that_are_there_at_the_end() {
        let traffic = bulk("stay", "flows = 40\ntcp.congestion = \"reno\"\nstart = \"10s\"")
            + &bulk("leave", "flows = 20\ntcp.congestion = \"reno\"\nstop = \"30s\"");
        assert_eq!(bottleneck(&traffic).unwrap().flows, 40.0);
        let gone = bulk("leave", "tcp.congestion = \"reno\"\nstop = \"30s\"");
        assert!(bottleneck(&gone).unwrap_err().contains("no long flows"));
    }

    #[test]
    fn a_rate_that_changes_and_datagrams_are_refused() {
        let flows = bulk("a", "tcp.congestion = \"reno\"");
        let steps = "schedule = { kind = \"steps\", steps = [[\"20s\", \"10mbit\"]] }";
        let wrong = with(&format!("qdisc = \"pi\"\n{steps}"), "", &flows).unwrap_err();
        assert_eq!(wrong, "link bottleneck: the linear model has one rate, not a schedule");
        let udp = "[[traffic]]\nkind = \"udp\"\nname = \"tv\"\nrate = \"4mbit\"\n";
        let wrong = bottleneck(&(flows.clone() + udp)).unwrap_err();
        assert!(wrong.starts_with("traffic.tv: the linear model has no datagrams"), "{wrong}");
        for more in ["direction = \"reverse\"", "stop = \"30s\""] {
            assert_eq!(bottleneck(&format!("{flows}{udp}{more}\n")).unwrap().flows, 1.0);
        }
        let voice = udp.replace("4mbit", "100kbit\"\nflows = \"7").replace("\"7\"", "7");
        assert_eq!(bottleneck(&(flows.clone() + &voice)).unwrap().flows, 1.0);
        let set = "[[changes]]\nat = \"5s\"\nset = { \"bottleneck.rate\" = \"10mbit\" }\n";
        let wrong = bottleneck(&(flows + set)).unwrap_err();
        assert!(wrong.ends_with("one rate, not one that [[changes]] set"), "{wrong}");
    }
}
