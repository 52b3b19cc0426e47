use super::case::{Case, magnitude, qref, rest, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, rem::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let gains = (magnitude(1e-6, 1.0), 0.0..=1.0, magnitude(1e-6, 1.0));
    (gains, qref(), time(1e3, 1e12), rest()).prop_map(|((gamma, alpha, phi), qref, period, r)| {
        let (ecn, byte_mode, limit) = r;
        let config = Config::Rem(Params {
            gamma,
            alpha,
            phi: 1.0 + phi,
            qref,
            period,
            ecn,
            byte_mode,
            limit,
        });
        Case::new(config, limit, ecn)
    })
}
