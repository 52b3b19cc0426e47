use crate::case::{Case, magnitude, qref, rest, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, rem::Params};

pub fn cases() -> impl Strategy<Value = Case> {
    let gains = (magnitude(1e-6, 1.0), 0.0..=1.0, magnitude(1e-6, 1.0));
    (gains, qref(), time(1e3, 1e12), rest()).prop_map(|((gamma, alpha, phi), qref, period, r)| {
        let (ecn, queue_in_bytes, scale_by_size, mean_packet, limit) = r;
        let config = Config::Rem(Params {
            gamma,
            alpha,
            phi: 1.0 + phi,
            qref,
            period,
            ecn,
            queue_in_bytes,
            scale_by_size,
            mean_packet,
            limit,
        });
        Case::new(config, limit, ecn)
    })
}
