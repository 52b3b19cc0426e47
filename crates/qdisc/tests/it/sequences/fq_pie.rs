use super::case::{Case, Limits};
use proptest::prelude::*;
use sojourn_base::Size;
use sojourn_qdisc::{Config, fq_pie::Params, pie};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let bytes = prop_oneof![9000u64..200_000, Just(1 << 40)];
    (super::pie::cases(), 1u32..12, prop::option::of(256u32..10_000), bytes).prop_map(
        |(pie, flows, quantum, bytes)| {
            let Config::Pie(pie) = pie.config else { unreachable!("PIE's cases are PIE") };
            let memory_limit = Size(bytes);
            let pie::Params { control, limit } = pie;
            let ecn = control.ecn;
            let config = Config::FqPie(Params { control, flows, quantum, limit, memory_limit });
            Case {
                drops_capable: true,
                limits: Limits { packets: limit, bytes: Some(memory_limit), time: None },
                ..Case::new(config, limit, ecn)
            }
        },
    )
}
