//! A discipline in the only class of another does what it does on its own.

use crate::common::{Bin, Token, env, outside, queue, token};
use proptest::prelude::*;
use sojourn_base::{Kind, Rate, Size, Stream, Time};
use sojourn_qdisc::{Config, Discipline, Ecn, Env, Qdisc, cbq, drr, prio, tbf};

/// Under each discipline with classes, as its only one.
fn only_class(inner: &Config) -> [Config; 3] {
    let inner = || inner.clone();
    [
        Config::Prio(prio::Params {
            classes: vec![prio::Class::new("all", &[], inner())],
            default: None,
        }),
        Config::Drr(drr::Params {
            classes: vec![drr::Class::new("all", 1.0, &[], inner())],
            ..drr::Params::default()
        }),
        Config::Cbq(cbq::Params {
            classes: vec![cbq::Class::new("all", 1.0, &[], inner())],
            ..cbq::Params::default()
        }),
    ]
}

/// The queue on its own, with the random numbers that it has as the only class.
fn bare(inner: &Config, env: &Env) -> Qdisc<Token> {
    let mut coin = Stream::new(1, Kind::Qdisc, 0, 0);
    let own = Stream::new(coin.next_u64(), Kind::Qdisc, 0, 0);
    Qdisc::new(inner, env, own).expect("valid parameters")
}

/// Bytes and flow of a packet that comes; none: one is asked for.
type Step = Option<(u32, u32)>;

fn steps() -> impl Strategy<Value = Vec<(Time, Step)>> {
    let gap = prop_oneof![
        1 => Just(0),
        12 => 0u64..20_000_000,
        1 => 0u64..3_000_000_000,
    ];
    // As many go as come, so that the queue is empty again and again.
    let packet = (prop_oneof![40u32..=100, Just(1500u32)], 0u32..4);
    let step = prop_oneof![packet.prop_map(Some), Just(None)];
    prop::collection::vec((gap.prop_map(Time), step), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100, failure_persistence: None, ..ProptestConfig::default()
    })]
    #[test]
    fn the_only_class_is_as_the_queue_on_its_own(steps in steps()) {
        let env = env(1, 1500);
        for inner in Config::NAMES.iter().map(|name| outside::sample(name)) {
            for config in only_class(&inner) {
                let (mut class, mut alone) = (queue(&config, &env), bare(&inner, &env));
                let (mut of_class, mut of_alone) = (Bin::default(), Bin::default());
                let mut now = Time::ZERO;
                for (id, &(gap, step)) in steps.iter().enumerate() {
                    now += gap;
                    if let Some((bytes, flow)) = step {
                        let packet = Token { flow, ..token(id as u64, bytes, Ecn::NotEct) };
                        let verdict = class.enqueue(now, packet, &mut of_class);
                        prop_assert_eq!(verdict, alone.enqueue(now, packet, &mut of_alone));
                    } else {
                        let packet = class.dequeue(now, &mut of_class);
                        prop_assert_eq!(packet, alone.dequeue(now, &mut of_alone), "{:?}", config);
                    }
                    prop_assert_eq!(&of_class.packets, &of_alone.packets, "{:?}", config);
                }
            }
        }
    }
}

#[test]
fn a_flow_that_comes_back_after_a_minute_loses_nothing() {
    let inner = Config::named("fq_codel").unwrap();
    let rate = Some(Rate(1_000_000));
    let (burst, qdisc) = (Size(1_000_000), Box::new(inner.clone()));
    let bucket = Config::Tbf(tbf::Params { rate, burst, qdisc, ..tbf::Params::default() });
    let [prio, drr, cbq] = only_class(&inner);
    let env = env(1, 1500);
    // Flow 1 has nothing more to send before flow 2 is through, and so has a deficit then and has
    // had packets for longer than CoDel's target.
    let start = [(3, 1500), (5, 1500), (1, 1500)].into_iter().chain([(2, 100); 14]);
    let start: Vec<(u32, u32)> = start.chain([(2, 1500)]).collect();
    let back = [(4, 1500), (6, 1500), (1, 1500), (1, 1500), (1, 1500)];
    for config in [inner, bucket, prio, drr, cbq] {
        let mut q = queue(&config, &env);
        for (begins, packets) in [(Time::ZERO, &start[..]), (Time::from_secs(60), &back)] {
            for (id, &(flow, bytes)) in packets.iter().enumerate() {
                let packet = Token { flow, ..token(id as u64, bytes, Ecn::NotEct) };
                let _ = q.enqueue(begins, packet, &mut ());
            }
            // As a link does: it asks at the end of the last transmission too.
            let mut now = begins;
            while let Some(packet) = q.dequeue(now, &mut ()) {
                now += env.rate.time_for(u64::from(packet.bytes));
            }
        }
        assert_eq!(q.counters().dropped().packets, 0, "{}", config.name());
    }
}
