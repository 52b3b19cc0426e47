use super::case::{Case, magnitude, rest, time};
use proptest::prelude::*;
use sojourn_qdisc::{ByteMode, Config, EcnMarking, pi2::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let times = (time(1e3, 1e12), time(1e3, 1e12));
    let gains = (prop_oneof![Just(0.0), magnitude(1e-9, 32.0)], 0.0..=32.0, 1.0..=16.0);
    (times, gains, any::<bool>(), rest()).prop_map(|(times, gains, scalable, r)| {
        let ((target, tupdate), (alpha, beta, coupling)) = (times, gains);
        let (ecn, ByteMode { mean_packet, .. }, limit) = r;
        let scalable = scalable && ecn == EcnMarking::On;
        let config = Config::Pi2(Params {
            target,
            tupdate,
            alpha,
            beta,
            scalable,
            coupling,
            ecn,
            mean_packet,
            limit,
        });
        Case::new(config, limit, ecn)
    })
}
