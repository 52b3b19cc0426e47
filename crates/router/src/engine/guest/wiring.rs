//! The dumbbell between the hosts, made of the kernel's own parts: four namespaces in a row, pairs
//! of virtual Ethernet devices between them, `netem` for delays and private links, and whatever
//! shapes and queues at the link itself.
//!
//! ```text
//!  left            core                    wire             right
//!  sojourn ═══ left    queue ═══════ back      right ═══ sojourn
//!  netem:      netem:  htb and      (htb and   netem:    netem:
//!  flows' own  way     the queue    queue of   way there flows' own
//!  delays      back                 the way              delays
//!                                   back)
//! ```
//!
//! The forward queue stands at `queue`, that of the way back at `back`. A link's propagation lies
//! behind its queue; so does the time that a packet spends on the wire, as `netem`'s rate, for the
//! shaper lets a packet go when its transmission begins.

use crate::forward::Plan as Endpoints;
use crate::hosts::ECT1;
use crate::net::address::Side;
use crate::net::{self, Device, Namespace};
use sojourn_base::Rate;
use sojourn_qdisc::Config as Qdisc;
use sojourn_qdisc::cake::Isolation;
use sojourn_scenario::{Network, NetworkLink};
use std::fmt::Write as _;
use std::process::Command;

use super::dualpi2;
use super::plan::{LinkPlan, Plan};

/// Packets that may wait in a `netem`: never reached.
const NEVER: u32 = 10_000_000;
/// Bytes of an Ethernet header, which devices count and scenarios do not.
const ETHERNET: i64 = 14;
/// The discipline below the shaper.
const QUEUE: &str = "10:";
/// Flows that may differ in their delays, or have private links.
const MOST: usize = 1024;

/// The namespaces in a row.
pub(super) struct Wiring {
    /// With the left hosts, and with the right ones.
    pub hosts: [Namespace; 2],
    /// Where the forward queue stands.
    pub core: Namespace,
    /// Where the way back has its queue.
    pub wire: Namespace,
}

impl Wiring {
    /// Has packets of the left hosts' marked sockets say ECT(1) where they say ECT(0).
    ///
    /// # Errors
    /// What the kernel refuses, in one line.
    pub(super) fn say_ect1(&self, device: &str) -> Result<(), String> {
        let lines = [
            format!("qdisc add dev {device} clsact"),
            format!(
                "filter add dev {device} egress protocol ip u32 match mark {ECT1} 0xffffffff \
                 match ip tos 0x02 0x03 action pedit ex munge ip tos set 0x01 retain 0x03 pipe \
                 action csum ip4h"
            ),
        ];
        batch(&self.hosts[0], "tc", &lines)
    }
}

/// A flow's own way from its host: what it adds to the round trip on either side, ns, and the rate
/// of its private links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Private {
    number: u32,
    delay: [u64; 2],
    rate: Option<Rate>,
}

/// Makes all of it.
///
/// # Errors
/// What the kernel refuses, in one line.
pub(super) fn wire(
    endpoints: &Endpoints,
    come: &dyn Fn(usize) -> u32,
    device: &Device,
    plan: &Plan,
    segments: bool,
) -> Result<Wiring, String> {
    let space = || Namespace::new().map_err(|error| error.to_string());
    let made = Wiring { hosts: [space()?, space()?], core: space()?, wire: space()? };
    let [left, right] = &made.hosts;
    let mut pairs = Vec::new();
    for (number, (one, name, other, peer)) in [
        (left, device.name.as_str(), &made.core, "left"),
        (&made.core, "queue", &made.wire, "back"),
        (right, device.name.as_str(), &made.wire, "right"),
    ]
    .into_iter()
    .enumerate()
    {
        // Both ends have one address: without ARP that is where a packet goes.
        let mac = format!("02:00:00:00:00:{number:02x}");
        let mtu = device.mtu;
        pairs.push(format!(
            "link add name {name} address {mac} mtu {mtu} netns {} type veth \
             peer name {peer} address {mac} mtu {mtu} netns {}",
            one.path(),
            other.path()
        ));
    }
    let own = Namespace::current().map_err(|error| error.to_string())?;
    batch(&own, "ip", &pairs)?;
    for (space, devices) in [
        (left, vec![device.name.as_str()]),
        (right, vec![device.name.as_str()]),
        (&made.core, vec!["left", "queue"]),
        (&made.wire, vec!["back", "right"]),
    ] {
        let mut lines = vec!["link set dev lo up".to_string()];
        for name in &devices {
            let one = if segments { " gso_max_segs 1" } else { "" };
            lines.push(format!("link set dev {name} arp off up{one}"));
        }
        super::offload::switch_off(space, &devices)?;
        batch(space, "ip", &lines)?;
    }
    for (space, to_left, to_right) in [(&made.core, "left", "queue"), (&made.wire, "back", "right")]
    {
        let forwarding = [("net.ipv4.ip_forward", "1"), ("net.ipv4.conf.all.rp_filter", "0")];
        net::set(space, &forwarding).map_err(|error| error.to_string())?;
        let route = |side: Side, name: &str| {
            let (network, prefix) = side.network();
            format!("route add {network}/{prefix} dev {name}")
        };
        batch(space, "ip", &[route(Side::Left, to_left), route(Side::Right, to_right)])?;
    }
    for (space, side) in made.hosts.iter().zip(Side::BOTH) {
        net::configure(space, side, device).map_err(|error| error.to_string())?;
        // The kernel hashes a packet once, for its socket, and from one space to the next the hash
        // goes along, which no wire would carry. FQ-CoDel and CAKE find the flow's queue by it, and
        // TCP draws another at each timeout: what it sends again would overtake what still waits.
        net::set(space, &[("net.core.txrehash", "0")]).map_err(|error| error.to_string())?;
    }
    let private = private(endpoints, come)?;
    for (side, space) in made.hosts.iter().enumerate() {
        batch(space, "tc", &delays(&private, side, &device.name))?;
    }
    let network = endpoints.network();
    batch(&made.wire, "tc", &behind(&network.links[0], "right"))?;
    batch(&made.core, "tc", &behind(&network.links[1], "left"))?;
    let places = [(&made.core, "queue", Side::Right), (&made.wire, "back", Side::Left)];
    for (link, (space, name, to)) in plan.links.iter().zip(places) {
        let LinkPlan { commands, dualpi2, .. } = link;
        let lines: Vec<String> = commands.iter().map(|line| line.replace("{dev}", name)).collect();
        let lines = [lines, machines(endpoints, come, to, name)?].concat();
        let put = batch(space, "tc", &lines).and_then(|()| match dualpi2 {
            Some(settings) => dualpi2::put(space, name, settings),
            None => Ok(()),
        });
        put.map_err(|error| format!("link {}: {error}", link.name))?;
    }
    Ok(made)
}

/// What lies behind a link's queue: its wire.
fn behind(link: &NetworkLink, device: &str) -> Vec<String> {
    netem(link.delay.0, link.rate, i64::from(link.frame_overhead) - ETHERNET)
        .map(|words| format!("qdisc add dev {device} root {words}"))
        .into_iter()
        .collect()
}

/// A delay, and a rate with so many bytes more than the device counts; nothing of neither.
fn netem(delay: u64, rate: Option<Rate>, overhead: i64) -> Option<String> {
    if delay == 0 && rate.is_none() {
        return None;
    }
    // This tc knows no nanoseconds, but fractions of microseconds.
    let mut words = format!("netem limit {NEVER} delay {}.{:03}us", delay / 1000, delay % 1000);
    if let Some(Rate(bps)) = rate {
        let _ = write!(words, " rate {bps}bit {overhead}");
    }
    Some(words)
}

/// The private ways of all endpoints; `come` says how many transfers of a group come and go.
fn private(endpoints: &Endpoints, come: &dyn Fn(usize) -> u32) -> Result<Vec<Private>, String> {
    let network: &Network = endpoints.network();
    let mut all = Vec::new();
    for (at, group) in network.groups.iter().enumerate() {
        let count = if group.members == 0 { come(at) } else { group.members };
        for member in 0..u64::from(count) {
            let extra = group.private_delay(network.seed, member);
            all.push(Private {
                number: endpoints.endpoint(at, member),
                // As in the packet engine: the smaller half is at the end where data come from.
                delay: [extra / 2, extra - extra / 2],
                rate: group.access_rate,
            });
        }
    }
    let alike = all.iter().all(|one| one.rate.is_none() && one.delay == all[0].delay);
    if !alike && all.len() > MOST {
        return Err(format!(
            "traffic: {} flows, users and transfers with round trips or private links of their \
             own; the kernel engine takes {MOST} at most, or any number that are alike",
            all.len()
        ));
    }
    Ok(all)
}

/// The commands that delay what leaves the hosts of a side.
fn delays(private: &[Private], side: usize, device: &str) -> Vec<String> {
    let Some(first) = private.first() else { return Vec::new() };
    if private.iter().all(|one| one.rate.is_none() && one.delay == first.delay) {
        let words = netem(first.delay[side], None, 0);
        return words
            .map(|words| format!("qdisc add dev {device} root {words}"))
            .into_iter()
            .collect();
    }
    let mut lines = vec![format!("qdisc add dev {device} root handle 1: htb default 0")];
    for one in private {
        // The endpoints' addresses begin at .1.0; a class of 0 there is none.
        let minor = 0x101 + one.number;
        lines.push(format!(
            "class add dev {device} parent 1: classid 1:{minor:x} htb rate 100gbit quantum 60000"
        ));
        if let Some(words) = netem(one.delay[side], one.rate, -ETHERNET) {
            lines.push(format!("qdisc add dev {device} parent 1:{minor:x} {words}"));
        }
    }
    lines.push(format!(
        "filter add dev {device} parent 1: handle 1 protocol ip flow map key src and 0xffff \
         baseclass 1:1"
    ));
    lines
}

/// The filters by which cake, on the way to a side, takes flows that share a machine for those of
/// one host, though each has addresses of its own: their class's upper half stands for the hash of
/// either address (tc-cake(8)).
fn machines(
    endpoints: &Endpoints,
    come: &dyn Fn(usize) -> u32,
    to: Side,
    device: &str,
) -> Result<Vec<String>, String> {
    let network = endpoints.network();
    let Qdisc::Cake(cake) = &network.links[1 - to as usize].qdisc else { return Ok(Vec::new()) };
    // Machines are on the right: where data go, and where acknowledgements come from.
    let counts = match cake.isolation {
        Isolation::Flowblind | Isolation::Flows => false,
        Isolation::TripleIsolate => true,
        Isolation::Dsthost | Isolation::DualDsthost => to == Side::Right,
        Isolation::Srchost | Isolation::DualSrchost => to == Side::Left,
        Isolation::Hosts => {
            let mut named = network.groups.iter().filter(|group| group.host != 0);
            return match named.next() {
                None => Ok(Vec::new()),
                Some(group) => Err(format!(
                    "{}: host: Linux's cake cannot be told of one with isolation = \"hosts\"; take \
                     another isolation, or --engine packets or linux",
                    group.name
                )),
            };
        }
    };
    let mut lines = Vec::new();
    let which = if to == Side::Right { "dst" } else { "src" };
    let sharing = network.groups.iter().enumerate().filter(|(_, group)| counts && group.host != 0);
    for (at, group) in sharing {
        let count = if group.members == 0 { come(at) } else { group.members };
        for member in 0..u64::from(count) {
            lines.push(format!(
                "filter add dev {device} parent {QUEUE} protocol ip u32 match ip {which} {} \
                 flowid {:x}:0",
                endpoints.address(at, member, Side::Right),
                group.host
            ));
        }
    }
    Ok(lines)
}

/// Runs `ip` or `tc` on lines, inside a namespace.
fn batch(space: &Namespace, program: &str, lines: &[String]) -> Result<(), String> {
    if lines.is_empty() {
        return Ok(());
    }
    let file = std::env::temp_dir().join(format!("sojourn-{program}"));
    let ran = std::fs::write(&file, lines.join("\n") + "\n").and_then(|()| {
        std::thread::scope(|scope| {
            let work = || {
                space.enter().map_err(std::io::Error::other)?;
                Command::new(program).arg("-batch").arg(&file).output()
            };
            scope.spawn(work).join().unwrap_or_else(|_| Err(std::io::Error::other("a thread died")))
        })
    });
    let output = ran.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program}: {} (of: {})", said.trim(), lines.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::Foreign;
    use sojourn_scenario::Scenario;

    fn endpoints(more: &str, flows: u32) -> Endpoints {
        let text = format!(
            "duration = \"10s\"\n{more}[bottleneck]\nrate = \"10mbit\"\ndelay = \"3ms\"\n\
             reverse = \"ideal\"\n[[traffic]]\nkind = \"bulk\"\nflows = {flows}\n\
             rtt = \"20ms..40ms\"\n"
        );
        let network = Scenario::from_toml(&text, "test").unwrap().network(".".as_ref()).unwrap();
        Endpoints::new(network, Foreign::Refused).unwrap()
    }

    #[test]
    fn one_flow_has_one_delay_and_many_have_classes() {
        let one = private(&endpoints("", 1), &|_| 0).unwrap();
        let lines = delays(&one, 0, "sojourn");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("qdisc add dev sojourn root netem"), "{lines:?}");
        let three = private(&endpoints("", 3), &|_| 0).unwrap();
        let lines = delays(&three, 1, "sojourn");
        assert_eq!(lines.len(), 1 + 2 * 3 + 1, "{lines:?}");
        assert!(lines[3].contains("classid 1:102 "), "{lines:?}");
        let sum: u64 = three[2].delay.iter().sum();
        assert!((14_000_000..=34_000_000).contains(&sum), "{sum}");
    }

    #[test]
    fn private_links_have_a_rate_that_counts_packets_only() {
        let one = private(&endpoints("[access]\nrate = \"100mbit\"\n", 1), &|_| 0).unwrap();
        let lines = delays(&one, 0, "sojourn");
        assert!(lines[2].ends_with("rate 100000000bit -14"), "{lines:?}");
    }

    #[test]
    fn cake_is_told_of_machines_where_it_looks_at_their_side() {
        let of = |isolation: &str, to: Side| {
            let text = format!(
                "duration = \"9s\"\n[bottleneck]\nrate = \"10mbit\"\nqdisc = {{ kind = \"cake\", \
                 isolation = \"{isolation}\" }}\n[[traffic]]\nkind = \"bulk\"\nname = \"a\"\n\
                 [[traffic]]\nkind = \"bulk\"\nflows = 2\nhost = \"b\"\n"
            );
            let network = Scenario::from_toml(&text, "test").unwrap().network(".".as_ref());
            let endpoints = Endpoints::new(network.unwrap(), Foreign::Refused).unwrap();
            machines(&endpoints, &|_| 0, to, "queue")
        };
        let there = of("dual_dsthost", Side::Right).unwrap();
        let filter = "filter add dev queue parent 10: protocol ip u32 match ip";
        assert_eq!(there, [2, 3].map(|n| format!("{filter} dst 10.128.1.{} flowid 1:0", n - 1)));
        assert_eq!(of("dual_dsthost", Side::Left).unwrap(), [""; 0]);
        assert_eq!(of("flows", Side::Right).unwrap(), [""; 0]);
        let back = of("triple_isolate", Side::Left).unwrap();
        assert_eq!(back[0], format!("{filter} src 10.128.1.1 flowid 1:0"));
        let error = of("hosts", Side::Right).unwrap_err();
        assert!(error.starts_with("bulk2: host: "), "{error}");
    }

    #[test]
    fn too_many_private_links_are_refused() {
        let error = private(&endpoints("", 2000), &|_| 0).unwrap_err();
        assert!(error.starts_with("traffic: 2000 flows"), "{error}");
    }

    #[test]
    fn a_wire_takes_the_time_of_a_packet_and_an_ideal_one_only_its_delay() {
        let endpoints = endpoints("", 1);
        let links = &endpoints.network().links;
        assert_eq!(
            behind(&links[0], "right"),
            [format!(
                "qdisc add dev right root netem limit {NEVER} delay 3000.000us rate 10000000bit -14"
            )]
        );
        assert_eq!(
            behind(&links[1], "left"),
            [format!("qdisc add dev left root netem limit {NEVER} delay 3000.000us")]
        );
    }
}
