//! Taking hops together must change neither results nor samples of the queues, and nothing may be
//! lost: random small scenarios.

use crate::common::{difference, records, unfused};
use proptest::prelude::*;

fn qdisc() -> impl Strategy<Value = String> {
    let limit = prop_oneof![Just(1u32), 2u32..20, 20u32..200];
    const PLAIN: [&str; 9] =
        ["droptail", "pie", "pi2", "proportional", "avq", "blue", "codel", "fq_codel", "fq_pie"];
    (0..5 + PLAIN.len(), limit, any::<bool>(), 1u32..60).prop_map(|(kind, limit, ecn, qref)| {
        match kind {
            0 => format!("{{ kind = \"droptail\", limit = {limit} }}"),
            1 => format!("{{ kind = \"pi\", qref = {qref}, ecn = {ecn}, limit = {} }}", limit + 60),
            2 => format!(
                "{{ kind = \"red\", min_th = {qref}, max_th = {}, ecn = {ecn}, gentle = {} }}",
                qref * 3,
                limit % 2 == 0
            ),
            3 => format!(
                "{{ kind = \"ared\", min_th = {qref}, max_th = {}, ecn = {ecn} }}",
                qref * 3
            ),
            4 => {
                format!("{{ kind = \"rem\", qref = {qref}, ecn = {ecn}, limit = {} }}", limit + 60)
            }
            plain => format!("\"{}\"", PLAIN[plain - 5]),
        }
    })
}

/// Mostly none, or a rate that changes.
fn schedule() -> impl Strategy<Value = String> {
    let rate = || prop_oneof![1 => Just(0u32), 4 => 100u32..9000];
    prop_oneof![
        6 => Just(String::new()),
        1 => (rate(), rate(), 1u32..3000, any::<bool>()).prop_map(|(a, b, at, repeats)| {
            let repeat = if repeats { format!(", repeat = \"{}ms\"", at * 2 + 1) } else { String::new() };
            let steps = format!("[[\"{at}ms\", \"{a}kbit\"], [\"{}ms\", \"{b}kbit\"]]", at * 2);
            format!("schedule = {{ kind = \"steps\", steps = {steps}{repeat} }}\n")
        }),
        1 => (0.1..2.0f64, 1u32..300).prop_map(|(sigma, every)| format!(
            "schedule = {{ kind = \"lognormal\", sigma = {sigma}, every = \"{every}ms\", max = \"1gbit\" }}\n"
        )),
        1 => (rate(), 100u32..9000, 1u32..2000).prop_map(|(a, b, hold)| format!(
            "schedule = {{ kind = \"markov\", rates = [\"{a}kbit\", \"{b}kbit\"], hold = \"{hold}ms\" }}\n"
        )),
        1 => (prop::sample::select(&["lte", "5g", "starlink"][..]), 1u32..20).prop_map(|(model, n)| {
            let (every, hold) = (n * 7, n * 35);
            format!(
                "schedule = {{ kind = \"radio\", model = \"{model}\", every = \"{every}ms\", hold = \"{hold}ms\" }}\n"
            )
        }),
        1 => Just("schedule = { kind = \"trace\", file = \"tests/golden/cellular.trace\" }\n".to_string()),
    ]
}

/// Mostly nothing, or what happens below the discipline.
fn wire() -> impl Strategy<Value = String> {
    let jitter = prop_oneof![
        (0u32..20_000).prop_map(|us| format!("\"0us..{us}us\"")),
        Just("\"5ms\"".to_string()),
        Just("{ dist = \"exponential\", mean = \"2ms\" }".to_string()),
    ];
    let device = prop_oneof![
        (0u32..300).prop_map(|n| format!("{{ packets = {n} }}")),
        (1u32..100).prop_map(|kb| format!("{{ bytes = \"{kb}kB\" }}")),
        (1u32..300, 0u32..3).prop_map(|(n, ms)| format!(
            "{{ packets = {n}, bql = true, interrupts = \"{ms}ms\" }}"
        )),
    ];
    prop_oneof![
        4 => Just(String::new()),
        1 => (1u32..200, any::<bool>()).prop_map(|(permille, bursts)| format!(
            "loss = 0.{permille:03}\n{}", if bursts { "loss_burst = 3.5\n" } else { "" }
        )),
        1 => (jitter, any::<bool>()).prop_map(|(jitter, reorder)| format!(
            "jitter = {jitter}\nreorder = {reorder}\n"
        )),
        1 => device.prop_map(|device| format!("device = {device}\n")),
        1 => (1u32..40, 0u32..50, 2000u32..90_000).prop_map(|(map, delay, burst)| format!(
            "docsis = {{ map_interval = \"{}us\", request_delay = \"{}us\", channel = \"100mbit\", burst = \"{burst}B\" }}\n", map * 137, delay * 100
        )),
        1 => Just("loss = 0.02\njitter = \"0ms..4ms\"\nreorder = true\ndevice = { packets = 5 }\n".to_string()),
    ]
}

fn link(rate: std::ops::Range<u32>) -> impl Strategy<Value = String> {
    // Delays of zero and whole milliseconds make ties; others avoid them.
    let delay = prop_oneof![
        Just("0ms".into()),
        Just("10ms".into()),
        (1u32..30_000_000).prop_map(|n| format!("{n}ns"))
    ];
    let frame = prop_oneof![Just((0, 0)), Just((38, 84))];
    (rate, delay, qdisc(), frame, schedule(), wire()).prop_map(
        |(rate, delay, qdisc, (over, least), schedule, wire): (_, String, _, _, _, _)| {
            // A modem's rate is what it is granted.
            let schedule = if wire.starts_with("docsis") { String::new() } else { schedule };
            format!(
                "rate = \"{rate}kbit\"\ndelay = \"{delay}\"\nqdisc = {qdisc}\nframe_overhead = {over}\nmin_frame = {least}\n{schedule}{wire}"
            )
        },
    )
}

/// Three nodes in a ring, one way round quicker than the other, one link perhaps ideal; what goes
/// from `a` to `c` takes two links, what comes back takes one.
fn ring() -> impl Strategy<Value = String> {
    (link(300..9000), link(300..9000), link(300..9000), any::<bool>()).prop_map(
        |(one, two, back, ideal)| {
            let two = if ideal { "delay = \"7ms\"\n".to_string() } else { two };
            format!(
                "[[links]]\nname = \"one\"\nfrom = \"a\"\nto = \"b\"\n{one}\
                 [[links]]\nname = \"two\"\nfrom = \"b\"\nto = \"c\"\n{two}\
                 [[links]]\nname = \"back\"\nfrom = \"c\"\nto = \"a\"\n{back}"
            )
        },
    )
}

/// Two nodes on one medium.
fn air() -> impl Strategy<Value = String> {
    (200u32..20_000, qdisc(), 1u32..70, 1u32..4, 0u32..40).prop_map(
        |(rate, qdisc, packets, hardware, ms)| {
            format!(
                "[[wifi]]\naggregate_packets = {packets}\nhardware = {hardware}\n[bottleneck]\n\
                 rate = \"{rate}kbit\"\ndelay = \"{ms}ms\"\nqdisc = {qdisc}\nwifi = \"wifi\"\n"
            )
        },
    )
}

fn topology() -> impl Strategy<Value = String> {
    let reverse = prop_oneof![
        Just(String::new()),
        Just("reverse = \"ideal\"\n".to_string()),
        (100u32..5000).prop_map(|r| format!("reverse = {{ rate = \"{r}kbit\" }}\n")),
    ];
    prop_oneof![
        (link(200..20_000), reverse.clone()).prop_map(|(l, r)| format!("[bottleneck]\n{l}{r}")),
        (1u32..4, link(500..20_000), reverse)
            .prop_map(|(hops, l, r)| format!("[parking_lot]\nhops = {hops}\n{l}{r}")),
        ring(),
        air(),
    ]
}

fn traffic() -> impl Strategy<Value = String> {
    let rtt = prop_oneof![
        Just(String::new()),
        Just("rtt = \"240ms\"\n".to_string()),
        Just("rtt = \"240ms..300ms\"\n".to_string()),
    ];
    let direction = prop_oneof![Just("forward"), Just("reverse"), Just("both")];
    let tcp = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(modern, ecn, sack, delayed)| {
            format!(
                "tcp = {{ profile = \"{}\", ecn = {ecn}, sack = {sack}{} }}\n",
                if modern { "modern" } else { "classic" },
                if delayed { "" } else { ", delayed_ack = false" }
            )
        },
    );
    let body = prop_oneof![
        (1u32..6).prop_map(|n| format!("kind = \"bulk\"\nflows = {n}\nstart = \"0s..1s\"\n")),
        (1u32..4, 1u32..200).prop_map(|(n, kb)| format!(
            "kind = \"bulk\"\nflows = {n}\nsize = \"{kb}kB\"\nrepeat = true\n"
        )),
        (1u32..40).prop_map(|n| format!("kind = \"web\"\nusers = {n}\nmodel = \"packmime\"\n")),
        (1u32..10).prop_map(|n| format!("kind = \"web\"\nusers = {n}\nmodel = \"3gpp\"\n")),
        (1u32..10, 2u32..4).prop_map(|(n, http)| format!(
            "kind = \"web\"\nusers = {n}\nmodel = \"3gpp\"\nhttp = \"{http}\"\n"
        )),
        (1u32..30).prop_map(|r| format!("kind = \"transfers\"\nrate = {r}.0\nsize = \"20kB\"\n")),
        (10u32..3000, any::<bool>()).prop_map(|(r, p)| format!(
            "kind = \"udp\"\nrate = \"{r}kbit\"\npacket = \"700B\"\npoisson = {p}\n"
        )),
        Just("kind = \"ping\"\ninterval = \"100ms\"\n".to_string()),
    ];
    let stop = prop_oneof![3 => Just(""), 1 => Just("stop = \"9s\"\n")];
    (body, rtt, direction, tcp, stop).prop_map(|(body, rtt, direction, tcp, stop)| {
        let without = ["http = \"3\"", "kind = \"udp\"", "kind = \"ping\""];
        let none = without.iter().any(|field| body.contains(field));
        let tcp = if none { String::new() } else { tcp };
        format!("[[traffic]]\n{body}{rtt}direction = \"{direction}\"\n{tcp}{stop}")
    })
}

pub(crate) fn scenario() -> impl Strategy<Value = String> {
    let access = prop_oneof![
        2 => Just(String::new()),
        1 => Just("[access]\nrate = \"3mbit\"\n".to_string()),
        1 => Just("[access]\nprocessing = \"2ms\"\n".to_string()),
        1 => Just("[access]\nrate = \"30mbit\"\nprocessing = \"300us\"\n".to_string()),
    ];
    (1u64..1000, topology(), access, prop::collection::vec(traffic(), 1..4)).prop_map(
        |(seed, topology, access, traffic)| {
            let ring = topology.starts_with("[[links]]");
            let ends = if ring { "[[traffic]]\nfrom = \"a\"\nto = \"c\"" } else { "[[traffic]]" };
            let traffic = traffic.concat().replace("[[traffic]]", ends);
            format!(
                "duration = \"20s\"\nwarmup = \"3s\"\nseed = {seed}\n{topology}{access}{traffic}"
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        // PROPTEST_CASES asks for more.
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150),
        max_shrink_iters: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// `simulate` checks the conservation of packets and bytes at every link.
    #[test]
    fn fused_and_unfused_runs_agree_to_the_bit(text in scenario()) {
        let text = format!("{text}[probes]\nqueues = true\ninterval = \"10ms\"\n");
        let (fused, tables) = records(&text);
        let (plain, plain_tables) = records(&unfused(&text));
        prop_assert!(tables == plain_tables, "the samples of the queues differ");
        prop_assert_eq!(difference(&fused, &plain), None);
        prop_assert!(fused.events <= plain.events);
    }
}
