use super::case::{Case, limit, magnitude, time};
use proptest::prelude::*;
use sojourn_base::Time;
use sojourn_qdisc::{
    Config, EcnMarking,
    dualpi2::{Decision, Marking, Params, Scheduler},
};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let times = (time(1e3, 1e12), time(1e3, 1e12), time(1.0, 1e9), time(1.0, 1e9), time(1.0, 1e12));
    let gains = (prop_oneof![Just(0.0), magnitude(1e-9, 32.0)], 0.0..=32.0, 1.0..=16.0);
    let share = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    let switches = any::<[bool; 5]>();
    let packets = (0u32..4, prop::option::of(40u32..=65_535), limit());
    (times, gains, share, switches, packets).prop_map(
        |((target, tupdate, from, range, shift), gains, classic_weight, on, packets)| {
            let (alpha, beta, coupling) = gains;
            let (min_packets, mean_packet, limit) = packets;
            let config = Config::Dualpi2(Params {
                target,
                tupdate,
                alpha,
                beta,
                coupling,
                marking: if on[0] { Marking::Ramp } else { Marking::Step },
                min_th: from,
                max_th: from + range + Time(1),
                step_th: range,
                min_packets,
                scheduler: if on[1] { Scheduler::Wrr } else { Scheduler::TimeShifted },
                classic_weight,
                time_shift: on[2].then_some(shift),
                decision: if on[3] { Decision::Recur } else { Decision::Random },
                drop_on_overload: on[4],
                mean_packet,
                limit,
            });
            Case {
                drops_capable: on[4],
                most_drops: (1, 64),
                // Packets of one flow keep their order within a queue only, and which queue that
                // was cannot be seen of one that is CE now: tests/it/dualpi2.rs looks at the order.
                line: |packet| packet.id,
                ..Case::new(config, limit, EcnMarking::On)
            }
        },
    )
}
