use crate::case::{Case, Limits};
use proptest::prelude::*;
use sojourn_base::Size;
use sojourn_qdisc::{Config, fq_pie::Params};

pub fn cases() -> impl Strategy<Value = Case> {
    let bytes = prop_oneof![9000u64..200_000, Just(1 << 40)];
    (crate::pie::cases(), 1u32..12, prop::option::of(256u32..10_000), bytes).prop_map(
        |(pie, flows, quantum, bytes)| {
            let Config::Pie(pie) = pie.config else { unreachable!("PIE's cases are PIE") };
            let memory_limit = Size(bytes);
            let config = Config::FqPie(Params {
                target: pie.target,
                tupdate: pie.tupdate,
                first_update: pie.first_update,
                decay: pie.decay,
                alpha: pie.alpha,
                beta: pie.beta,
                max_burst: pie.max_burst,
                linux_guards: pie.linux_guards,
                delay: pie.delay,
                derandomize: pie.derandomize,
                high_delay: pie.high_delay,
                max_probability: pie.max_probability,
                ecn: pie.ecn,
                mark_ecn_th: pie.mark_ecn_th,
                scale_by_size: pie.scale_by_size,
                mean_packet: pie.mean_packet,
                flows,
                quantum,
                limit: pie.limit,
                memory_limit,
            });
            Case {
                drops_capable: true,
                limits: Limits { packets: pie.limit, bytes: Some(memory_limit), time: None },
                ..Case::new(config, pie.limit, pie.ecn)
            }
        },
    )
}
