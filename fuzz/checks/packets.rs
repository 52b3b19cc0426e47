//! Any bytes as packets that hosts send through the router: each is delivered or accounted for.

use sojourn_base::Time;
use sojourn_records::Recorder;
use sojourn_router::forward::{Core, Foreign, Lateness, Output, Plan};
use sojourn_router::net::address::Side;
use sojourn_scenario::{Network, Scenario};
use std::path::Path;
use std::sync::OnceLock;

const SCENARIO: &str = "duration = \"1h\"\n[bottleneck]\nrate = \"5mbit\"\ndelay = \"2ms\"\n\
                        loss = 0.05\njitter = \"0ms..3ms\"\nreorder = true\n\
                        qdisc = { kind = \"fq_codel\", ecn = true, limit = 20 }\n\
                        [[traffic]]\nkind = \"bulk\"\n";

/// Counts what is delivered, and refuses some.
struct Sink {
    delivered: u64,
    asked: u8,
    refuses: u8,
}

impl Output for Sink {
    fn deliver(&mut self, _: Time, _: Side, packet: &[u8]) -> bool {
        assert!(!packet.is_empty());
        self.asked = self.asked.wrapping_add(1);
        let taken = self.refuses == 0 || !self.asked.is_multiple_of(self.refuses);
        self.delivered += u64::from(taken);
        taken
    }
}

fn network() -> &'static Network {
    static NETWORK: OnceLock<Network> = OnceLock::new();
    NETWORK.get_or_init(|| {
        Scenario::from_toml(SCENARIO, "test").unwrap().network(Path::new(".")).unwrap()
    })
}

/// The bytes say, packet after packet: how long to wait, from where, how long it is, and itself.
pub(crate) fn check(mut bytes: &[u8]) {
    let network = network();
    let plan = Plan::new(network.clone(), Foreign::Like(0)).unwrap();
    let mut core = Core::new(&plan, Recorder::none(), 1500, 12, None).unwrap();
    let refuses = bytes.first().map_or(0, |first| first % 8);
    let mut sink = Sink { delivered: 0, asked: 0, refuses };
    let (mut now, mut sent) = (Time::ZERO, 0);
    while let [wait, about, length, rest @ ..] = bytes {
        let length = usize::from(*length) | usize::from(about & 7) << 8;
        let (packet, rest) = rest.split_at(length.min(rest.len()));
        bytes = rest;
        now += Time(u64::from(*wait) << 14);
        let side = if about & 8 == 0 { Side::Left } else { Side::Right };
        core.packet(now, side, packet, &mut sink);
        sent += 1;
        assert!(core.counts().balanced(), "{:?}", core.counts());
    }
    let end = now + Time::from_secs(3600);
    core.run(end, &mut sink);
    let (report, _) = core.finish(end, &Lateness::new(network));
    let router = &report.router;
    assert_eq!((router.held, router.received), (0, sent));
    assert_eq!(router.received, router.delivered + router.refused + router.dropped + router.lost);
    assert_eq!(router.delivered, sink.delivered);
    for link in &report.links {
        link.check_conservation().unwrap();
    }
}
