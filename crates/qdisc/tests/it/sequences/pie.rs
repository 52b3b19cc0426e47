use super::case::{Case, magnitude, rest, time};
use proptest::prelude::*;
use sojourn_qdisc::{
    ByteMode, Config,
    pie::{Control, Delay, Params},
};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let times =
        (time(1e3, 1e12), time(1e3, 1e12), time(1.0, 1e12), prop::option::of(time(1.0, 1e15)));
    let update = (prop::option::of(time(1e3, 1e12)), 0.5..=1.0);
    let gains = (prop_oneof![Just(0.0), magnitude(1e-6, 32.0)], 0.0..=32.0);
    (times, update, gains, (0.0..=1.0, 1.0..=4.0), any::<[bool; 3]>(), rest()).prop_map(
        |(
            (target, tupdate, max_burst, high_delay),
            (first_update, decay),
            (alpha, beta),
            (th, most),
            [rate, space, linux_guards],
            r,
        )| {
            let (ecn, ByteMode { scale_by_size, mean_packet, .. }, limit) = r;
            let control = Control {
                target,
                tupdate,
                first_update,
                decay,
                alpha,
                beta,
                max_burst,
                linux_guards,
                delay: if rate { Delay::Rate } else { Delay::Timestamps },
                derandomize: space,
                high_delay: high_delay.map(|t| target + t),
                max_probability: most,
                ecn,
                mark_ecn_th: th,
                scale_by_size,
                mean_packet,
            };
            let config = Config::Pie(Params { control, limit });
            Case { drops_capable: true, ..Case::new(config, limit, ecn) }
        },
    )
}
