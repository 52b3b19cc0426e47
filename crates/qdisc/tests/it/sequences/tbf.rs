use super::case::{Case, Limits, magnitude};
use super::classes::plain;
use proptest::prelude::*;
use sojourn_base::{Rate, Size};
use sojourn_qdisc::{Config, EcnMarking, tbf::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let depth = || magnitude(40.0, 1e9).prop_map(|bytes| Size(bytes as u64));
    let rate = magnitude(1e3, 1e12).prop_map(|rate| Rate(rate as u64));
    (plain(), rate, prop::option::of(1.01f64..10.0), depth(), depth()).prop_map(
        |(inner, rate, peak, burst, peak_burst)| {
            let codel = matches!(inner.config, Config::Codel(_));
            let qdisc = match inner.config {
                // It marks what waits in the bucket: that is not told before the packet leaves.
                Config::Codel(params) => Config::Codel(sojourn_qdisc::codel::Params {
                    ecn: EcnMarking::Off,
                    ce_threshold: None,
                    ..params
                }),
                config => config,
            };
            let peak_rate = peak.map(|factor| Rate((rate.0 as f64 * factor) as u64 + 1));
            let qdisc = Box::new(qdisc);
            let params = Params { rate: Some(rate), burst, peak_rate, peak_burst, qdisc };
            Case {
                limits: Limits::packets(u32::MAX),
                ecn: if codel { EcnMarking::Off } else { inner.ecn },
                drops_capable: true,
                inner_limits: true,
                holds_back: true,
                most_drops: (u32::MAX, u32::MAX),
                ..Case::new(Config::Tbf(params), u32::MAX, EcnMarking::Off)
            }
        },
    )
}
