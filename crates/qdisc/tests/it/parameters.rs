//! Parameters: what is refused says which field, which value and what would be right; the
//! integers stand for what was written.

use crate::common::{env, queue};
use sojourn_base::{Rate, Size, Time};
use sojourn_qdisc::*;

fn refused(config: Config, env: &Env) -> Invalid {
    config.validate(env).expect_err("must be refused")
}

#[test]
fn a_refusal_names_field_value_and_remedy() {
    let link = env(100, 1500);
    let red = red::Params::default;
    let ared = ared::Params::default;
    let proportional = proportional::Params::default;
    let pi = pi::Params::default;
    let pi_table = pi_table::Params::default;
    let pie = pie::Control::default;
    let pie_with = |control| Config::Pie(pie::Params::from(control));
    let feng = feng_red::Params::default;
    let choke = choke::Params::default;
    let blue = blue::Params::default;
    let avq = avq::Params::default;
    let pi2 = pi2::Params::default;
    let dualpi2 = dualpi2::Params::default;
    let rem = rem::Params::default;
    let droptail = droptail::Params::default;
    let codel = codel::Params::default;
    let tbf = tbf::Params::default;
    let leaf = |name: &str, share| cbq::Class::new(name, share, &[name], droptail::config());
    let cbq = |classes| Config::Cbq(cbq::Params { classes, ..Default::default() });
    let bad_pi = Config::Pi(pi::Params { qref: -1.0, ..pi() });
    let drr = |classes| Config::Drr(drr::Params { classes, ..Default::default() });
    let prio = |classes| Config::Prio(prio::Params { classes, default: None });
    let fq_codel = fq_codel::Params::default;
    let cobalt = cobalt::Params::default;
    let cake = cake::Params::default;
    let sfq = sfq::Params::default;
    let fq_pie = fq_pie::Params::default;
    let cases: Vec<(Config, &str, &str, &str)> = vec![
        (Config::Red(red::Params { min_th: 15.0, ..red() }), "min_th", "15", "max_th = 15"),
        (Config::Red(red::Params { min_th: f64::NAN, ..red() }), "min_th", "NaN", "0 to"),
        (Config::Red(red::Params { max_p: 0.0, ..red() }), "max_p", "0", "0.1"),
        (Config::Red(red::Params { max_p: 1.5, ..red() }), "max_p", "1.5", "at most 1"),
        (Config::Red(red::Params { wq: Some(0.0), ..red() }), "wq", "0", "1e-9 to 1"),
        (Config::Red(red::Params { limit: 0, ..red() }), "limit", "0", "1 to 67108864"),
        (Config::Ared(ared::Params { max_p: 0.6, ..ared() }), "max_p", "0.6", "0.01 to 0.5"),
        (Config::Ared(ared::Params { bottom: 0.7, ..ared() }), "bottom", "0.7", "to 0.5"),
        (
            Config::Ared(ared::Params { max_th: Some(2.0), ..ared() }),
            "min_th",
            "20.8",
            "max_th = 2",
        ),
        (Config::Ared(ared::Params { interval: Time(5), ..ared() }), "interval", "5ns", "1ms"),
        (
            Config::Proportional(proportional::Params { slope: 0.0, ..proportional() }),
            "slope",
            "0",
            "above 0",
        ),
        (
            Config::Proportional(proportional::Params { slope: 3.0, ..proportional() }),
            "slope",
            "3",
            "0 to 2",
        ),
        (
            Config::Proportional(proportional::Params { offset: -1.0, ..proportional() }),
            "offset",
            "-1",
            "0 to",
        ),
        (Config::Pi(pi::Params { b: 2e-5, ..pi() }), "b", "0.00002", "below a = 0.00001822"),
        (Config::Pi(pi::Params { a: -1.0, ..pi() }), "a", "-1", "0 to 2"),
        (Config::Pi(pi::Params { a: 0.0, ..pi() }), "a", "0", "above 0"),
        (Config::Pi(pi::Params { frequency: 0.0, ..pi() }), "frequency", "0", "170"),
        (Config::Pi(pi::Params { qref: -1.0, ..pi() }), "qref", "-1", "0 to"),
        (
            Config::Pi(pi::Params {
                byte_mode: ByteMode { mean_packet: Some(7), ..Default::default() },
                ..pi()
            }),
            "mean_packet",
            "7",
            "40 to",
        ),
        (Config::Rem(rem::Params { phi: 1.0, ..rem() }), "phi", "1", "1.000001 to 2"),
        (Config::Rem(rem::Params { gamma: 2.0, ..rem() }), "gamma", "2", "to 1"),
        (Config::Rem(rem::Params { period: Time::ZERO, ..rem() }), "period", "0ns", "2ms"),
        (pie_with(pie::Control { target: Time::ZERO, ..pie() }), "target", "0ns", "15ms"),
        (pie_with(pie::Control { tupdate: Time(10), ..pie() }), "tupdate", "10ns", "1us"),
        (Config::Pi2(pi2::Params { scalable: true, ..pi2() }), "scalable", "true", "ecn = true"),
        (
            Config::Pi2(pi2::Params { scalable: true, ecn: EcnMarking::Ect0, ..pi2() }),
            "scalable",
            "true",
            "ecn = true",
        ),
        (Config::Pi2(pi2::Params { coupling: 0.5, ..pi2() }), "coupling", "0.5", "1 to 16"),
        (Config::Pi2(pi2::Params { tupdate: Time(1), ..pi2() }), "tupdate", "1ns", "1us"),
        (
            Config::Dualpi2(dualpi2::Params { max_th: Time(800_000), ..dualpi2() }),
            "max_th",
            "800us",
            "\"800.001us\" to",
        ),
        (
            Config::Dualpi2(dualpi2::Params { classic_weight: 1.5, ..dualpi2() }),
            "classic_weight",
            "1.5",
            "0 to 1",
        ),
        (
            Config::Dualpi2(dualpi2::Params { time_shift: Some(Time::MAX), ..dualpi2() }),
            "time_shift",
            "s",
            "1000s",
        ),
        (Config::Dualpi2(dualpi2::Params { limit: 0, ..dualpi2() }), "limit", "0", "1 to"),
        (
            Config::PiTable(pi_table::Params { entries: 17, ..pi_table() }),
            "entries",
            "17",
            "2 to 16",
        ),
        (Config::PiTable(pi_table::Params { top: 0.0, ..pi_table() }), "top", "0", "above 0"),
        (Config::PiTable(pi_table::Params { least: 0.6, ..pi_table() }), "least", "0.6", "below"),
        (
            Config::PiTable(pi_table::Params { table: bank::Grid::Optimal, ..pi_table() }),
            "optimal_for",
            "0",
            "entries above 0, 15",
        ),
        (Config::FengRed(feng_red::Params { alpha: 0.5, ..feng() }), "alpha", "0.5", "1 to 1000"),
        (Config::FengRed(feng_red::Params { beta: 0.0, ..feng() }), "beta", "0", "1 to 1000"),
        (Config::FengRed(feng_red::Params { top: 0.05, ..feng() }), "max_p", "0.1", "to 0.05"),
        (Config::FengRed(feng_red::Params { min_th: 15.0, ..feng() }), "min_th", "15", "below"),
        (Config::Choke(choke::Params { max_p: 0.0, ..choke() }), "max_p", "0", "0.1"),
        (Config::Choke(choke::Params { limit: 1 << 26, ..choke() }), "limit", "67108864", "33554"),
        (Config::Blue(blue::Params { increment: 0.0, ..blue() }), "increment", "0", "above 0"),
        (Config::Blue(blue::Params { decrement: 1.5, ..blue() }), "decrement", "1.5", "0 to 1"),
        (
            Config::Blue(blue::Params { freeze_time: Time(9), ..blue() }),
            "freeze_time",
            "9ns",
            "1us",
        ),
        (
            Config::Blue(blue::Params { high_water: Some(1001), ..blue() }),
            "high_water",
            "1001",
            "the limit, 1000",
        ),
        (Config::Avq(avq::Params { gamma: 1.1, ..avq() }), "gamma", "1.1", "0.01 to 1"),
        (Config::Avq(avq::Params { alpha: 0.0, ..avq() }), "alpha", "0", "0.15"),
        (
            Config::Avq(avq::Params { virtual_buffer: 0, ..avq() }),
            "virtual_buffer",
            "0",
            "1 to 67108864",
        ),
        (pie_with(pie::Control { alpha: -0.1, ..pie() }), "alpha", "-0.1", "0 to 32"),
        (pie_with(pie::Control { beta: 33.0, ..pie() }), "beta", "33", "0 to 32"),
        (pie_with(pie::Control { decay: 1.5, ..pie() }), "decay", "1.5", "0.5 to 1"),
        (
            pie_with(pie::Control { first_update: Some(Time(1)), ..pie() }),
            "first_update",
            "1ns",
            "1us",
        ),
        (
            pie_with(pie::Control { max_probability: 0.5, ..pie() }),
            "max_probability",
            "0.5",
            "1 to 4",
        ),
        (
            pie_with(pie::Control { high_delay: Some(Time::from_millis(9)), ..pie() }),
            "high_delay",
            "9ms",
            "the target, \"15ms\"",
        ),
        (pie_with(pie::Control { mark_ecn_th: 2.0, ..pie() }), "mark_ecn_th", "2", "0 to 1"),
        (pie_with(pie::Control { max_burst: Time::MAX, ..pie() }), "max_burst", "s", "1000s"),
        (
            Config::Codel(codel::Params { target: Time::ZERO, ..codel() }),
            "target",
            "0ns",
            "\"1us\" to",
        ),
        (
            Config::Codel(codel::Params { interval: Time::from_secs(101), ..codel() }),
            "interval",
            "101s",
            "\"100s\"",
        ),
        (
            Config::Codel(codel::Params { ce_threshold: Some(Time(999)), ..codel() }),
            "ce_threshold",
            "999ns",
            "\"1us\" to",
        ),
        (Config::Codel(codel::Params { mtu: Some(39), ..codel() }), "mtu", "39", "40 to 65535"),
        (Config::Codel(codel::Params { limit: 0, ..codel() }), "limit", "0", "1 to 67108864"),
        (Config::Cobalt(cobalt::Params { increment: 1.5, ..cobalt() }), "increment", "1.5", "0 to"),
        (
            Config::Cobalt(cobalt::Params { decrement: -0.1, ..cobalt() }),
            "decrement",
            "-0.1",
            "0 to",
        ),
        (
            Config::Cobalt(cobalt::Params { blue_threshold: Time::ZERO, ..cobalt() }),
            "blue_threshold",
            "0ns",
            "400ms",
        ),
        (
            Config::Cake(cake::Params { bandwidth: Some(Rate(999)), ..cake() }),
            "bandwidth",
            "999bit",
            "\"1kbit\" to",
        ),
        (Config::Cake(cake::Params { rtt: Time(19_000), ..cake() }), "rtt", "19us", "20us"),
        (Config::Cake(cake::Params { rtt: Time::from_secs(101), ..cake() }), "rtt", "101s", "100s"),
        (Config::Cake(cake::Params { overhead: -65, ..cake() }), "overhead", "-65", "-64 to 256"),
        (Config::Cake(cake::Params { mpu: Some(257), ..cake() }), "mpu", "257", "0 to 256"),
        (
            Config::Cake(cake::Params { memory_limit: Some(Size(1499)), ..cake() }),
            "memory_limit",
            "1499B",
            "one packet, \"1500B\"",
        ),
        (Config::Sfq(sfq::Params { divisor: 0, ..sfq() }), "divisor", "0", "1 to 65536"),
        (Config::Sfq(sfq::Params { depth: 65_537, ..sfq() }), "depth", "65537", "1 to 65536"),
        (
            Config::Sfq(sfq::Params { perturb: Some(Time::from_micros(999)), ..sfq() }),
            "perturb",
            "999us",
            "\"1ms\" to",
        ),
        (Config::Sfq(sfq::Params { quantum: Some(100), ..sfq() }), "quantum", "100", "256 to"),
        (
            Config::FqPie(fq_pie::Params {
                control: pie::Control { alpha: 33.0, ..pie() },
                ..fq_pie()
            }),
            "alpha",
            "33",
            "0 to 32",
        ),
        (Config::FqPie(fq_pie::Params { flows: 70_000, ..fq_pie() }), "flows", "70000", "65536"),
        (Config::FqCodel(fq_codel::Params { flows: 0, ..fq_codel() }), "flows", "0", "1 to 65536"),
        (
            Config::FqCodel(fq_codel::Params { quantum: Some(255), ..fq_codel() }),
            "quantum",
            "255",
            "256 to",
        ),
        (
            Config::FqCodel(fq_codel::Params { memory_limit: Size(1499), ..fq_codel() }),
            "memory_limit",
            "1499B",
            "at least \"1500B\"",
        ),
        (
            Config::Tbf(tbf::Params { burst: Size(1499), ..tbf() }),
            "burst",
            "1.499kB",
            "at most \"1GB\"",
        ),
        (Config::Tbf(tbf::Params { rate: Some(Rate(9)), ..tbf() }), "rate", "9bit", "\"1kbit\" to"),
        (
            Config::Tbf(tbf::Params { peak_rate: Some(Rate(2000)), ..tbf() }),
            "peak_rate",
            "2kbit",
            "above the rate, \"90mbit\"",
        ),
        (
            Config::Tbf(tbf::Params { qdisc: Box::new(bad_pi.clone()), ..tbf() }),
            "qdisc.qref",
            "-1",
            "0 to",
        ),
        (prio(vec![]), "classes", "[]", "a class at least"),
        (
            prio(vec![prio::Class::new("", &[], droptail::config())]),
            "classes[0].name",
            "\"\"",
            "a name without",
        ),
        (
            prio(vec![
                prio::Class::new("a", &["x"], droptail::config()),
                prio::Class::new("b", &["y", "x"], droptail::config()),
            ]),
            "classes[1].labels[1]",
            "\"x\"",
            "class \"a\" names it already; leave it to one (class \"b\")",
        ),
        (
            drr(vec![drr::Class::new("a", 0.0, &[], droptail::config())]),
            "classes[0].weight",
            "0",
            "from 0.001 to 1000 (class \"a\")",
        ),
        (
            drr(vec![drr::Class::new("a", 1.0, &[], bad_pi.clone())]),
            "classes[0].qdisc.qref",
            "-1",
            "(class \"a\")",
        ),
        (
            Config::Drr(drr::Params { quantum: Some(Size(0)), ..Default::default() }),
            "quantum",
            "0B",
            "\"1B\" to",
        ),
        (
            Config::Drr(drr::Params { default: Some("al".into()), ..Default::default() }),
            "default",
            "\"al\"",
            "a class with a queue: all",
        ),
        (
            cbq(vec![leaf("a", 0.7), leaf("b", 0.4)]),
            "classes[1].share",
            "0.4",
            "the link add up to more than 1: at most 0.3 is left (class \"b\")",
        ),
        (
            cbq(vec![cbq::Class::around("a", 0.7, vec![leaf("b", 1.5)])]),
            "classes[0].classes[0].share",
            "1.5",
            "a part of class \"a\"",
        ),
        (
            cbq(vec![cbq::Class::around("a", 0.7, vec![leaf("a", 0.5)])]),
            "classes[0].classes[0].name",
            "\"a\"",
            "another class of that name, classes[0]",
        ),
        (
            cbq(vec![cbq::Class {
                labels: vec!["x".into()],
                ..cbq::Class::around("a", 0.7, vec![leaf("b", 0.5)])
            }]),
            "classes[0].labels",
            "x",
            "the classes inside (class \"a\")",
        ),
        (
            cbq(vec![cbq::Class { priority: 9, ..leaf("a", 0.5) }]),
            "classes[0].priority",
            "9",
            "1 to 8",
        ),
        (
            Config::Cbq(cbq::Params { max_burst: 0, ..Default::default() }),
            "max_burst",
            "0",
            "1 to 1000",
        ),
        (
            cbq((0..65).map(|n| leaf(&format!("c{n}"), 0.01)).collect()),
            "classes",
            "65",
            "64 classes",
        ),
        (
            (0..8).fold(droptail::config(), |inner, _| {
                Config::Tbf(tbf::Params { qdisc: Box::new(inner), ..tbf() })
            }),
            "qdisc",
            "{...}",
            "8 deep",
        ),
        (
            Config::Droptail(droptail::Params {
                limit: Some(5),
                limit_time: Some(Time::from_millis(3)),
                ..droptail()
            }),
            "limit",
            "limit = 5, limit_time = \"3ms\"",
            "give one of",
        ),
        (
            Config::Droptail(droptail::Params { limit_bytes: Some(Size(100)), ..droptail() }),
            "limit_bytes",
            "100B",
            "at least \"1500B\"",
        ),
        (
            Config::Droptail(droptail::Params { limit_time: Some(Time(100)), ..droptail() }),
            "limit_time",
            "100ns",
            "at least \"120us\"",
        ),
    ];
    for (config, field, value, remedy) in cases {
        let error = refused(config.clone(), &link);
        assert_eq!(error.field, field, "{error}");
        assert!(error.value.contains(value), "{error}");
        assert!(error.remedy.contains(remedy), "{error}");
        let coin = sojourn_base::Stream::new(1, sojourn_base::Kind::Qdisc, 0, 0);
        assert_eq!(Qdisc::<crate::common::Token>::new(&config, &link, coin).unwrap_err(), error);
    }
    let error = refused(Config::Droptail(droptail()), &Env { rate: Rate(0), mean_packet: 1500 });
    assert_eq!(error.field, "rate");
    let error = refused(Config::Droptail(droptail()), &Env { rate: Rate(1), mean_packet: 20 });
    assert_eq!(error.field, "mean_packet");
}

#[test]
fn codel_takes_an_ethernet_mtu_or_a_larger_mean_packet() {
    let mtu = |mtu, mean| {
        let params = codel::Params { mtu, ..Default::default() };
        params.constants(&env(100, mean)).unwrap().mtu
    };
    assert_eq!([mtu(None, 1500), mtu(None, 500), mtu(None, 9000)], [1500, 1500, 9000]);
    assert_eq!([mtu(Some(576), 1500), mtu(Some(9000), 1500)], [576, 9000]);
}

#[test]
fn a_bucket_may_hold_a_gigabyte() {
    let tbf = |burst| Config::Tbf(tbf::Params { burst: Size(burst), ..Default::default() });
    assert!(tbf(1_000_000_000).validate(&env(100, 1500)).is_ok());
    assert_eq!(refused(tbf(1_000_000_001), &env(100, 1500)).field, "burst");
}

#[test]
fn classes_lie_at_most_eight_deep_in_each_other() {
    let nested = |depth| {
        let leaf = cbq::Class::new("leaf", 1.0, &["leaf"], droptail::config());
        let around = |inner, at| cbq::Class::around(&format!("around{at}"), 1.0, vec![inner]);
        let class = (1..depth).fold(leaf, around);
        Config::Cbq(cbq::Params { classes: vec![class], ..Default::default() })
    };
    let depth = (1..20).find(|&depth| nested(depth).validate(&env(100, 1500)).is_err());
    // The discipline of the innermost class is one more.
    assert_eq!(depth, Some(8));
    assert_eq!(refused(nested(8), &env(100, 1500)).field, "classes");
}

#[test]
fn cake_holds_what_comes_in_four_round_trips_at_its_rate() {
    // 200 Mb/s in 400 ms are 10 MB: between the bounds of 4 MiB and 10240 packets of 1514 bytes.
    for (mbit, most) in [(200, 10_000_000), (1, 4 << 20)] {
        let bandwidth = Some(Rate(mbit * 1_000_000));
        let params = cake::Params { bandwidth, ..Default::default() };
        let mut q = queue(&Config::Cake(params), &env(1000, 1500));
        crate::common::offer(&mut q, Time::ZERO, 9000, Ecn::NotEct);
        let standing = q.counters().standing().bytes;
        assert!((most - 1500..=most).contains(&standing), "{standing} of {most}");
    }
}

#[test]
fn droptail_limits_in_packets_bytes_and_time() {
    let fill = |params: droptail::Params| {
        let mut q = queue(&Config::Droptail(params), &env(100, 1500));
        crate::common::offer(&mut q, Time::ZERO, 2000, Ecn::Ect0)
    };
    let none = droptail::Params::default();
    assert_eq!(fill(none.clone()), [1000, 0, 0, 1000]);
    assert_eq!(fill(droptail::Params::packets(240)), [240, 0, 0, 1760]);
    let bytes = Some(Size(361_000));
    assert_eq!(fill(droptail::Params { limit_bytes: bytes, ..none.clone() }), [240, 0, 0, 1760]);
    // 100 ms at 100 Mb/s: 1.25 MB.
    let time = Some(Time::from_millis(100));
    assert_eq!(fill(droptail::Params { limit_time: time, ..none }), [833, 0, 0, 1167]);
}

#[test]
fn droptail_byte_limit_takes_small_packet_where_large_one_fails() {
    let params = droptail::Params { limit_bytes: Some(Size(2000)), ..Default::default() };
    let mut q = queue(&Config::Droptail(params), &env(100, 1500));
    assert_eq!(crate::common::offer(&mut q, Time::ZERO, 2, Ecn::Ect0), [1, 0, 0, 1]);
    let small = crate::common::token(9, 500, Ecn::Ect0);
    assert_eq!(q.enqueue(Time::ZERO, small, &mut ()), Verdict::Queued);
    assert_eq!(q.bytes(), 2000);
}

#[test]
fn pi_gains_as_integers_keep_their_tiny_difference() {
    // INFOCOM 2001's example, and the two vectors of the authors' design script.
    for (a, b, frequency) in [
        (1.822e-5, 1.816e-5, 160.0),
        (1.822e-5, 1.816e-5, 170.0),
        (0.007_434_885_956_89, 0.007_360_906_992_16, 435.374_149_659_863_9),
        (0.110_862_498_612_25, 0.109_759_389_173_35, 2_370.370_370_370_37),
    ] {
        let params = pi::Params { a, b, frequency, ..Default::default() };
        let constants = pi::Constants::new(&params).unwrap();
        let [gain, difference, qref] = constants.error(&params);
        assert!(gain.abs() <= 4.4e-19 + a * 1e-16, "{gain:e}");
        assert!(difference.abs() <= 8.7e-19 + a * 2e-16, "{difference:e}");
        assert_eq!(qref, 0.0);
        // One step by hand: from 0.1 with 52 after 50.5 packets, qref 50.
        let p = constants.step(Probability::from_f64(0.1), 52 << 36, 101 << 35);
        let exact = 0.1 + a * 2.0 - b * 0.5;
        assert!((p.as_f64() - exact).abs() < 1e-15, "{} {exact}", p.as_f64());
    }
}

#[test]
fn ared_derives_its_thresholds_from_the_link() {
    // Floyd, Gummadi, Shenker, section 6.1: 15 Mb/s, 500-byte packets, 5 ms: 9.375 packets.
    let params = ared::Params { max_th: Some(9.4), ..Default::default() };
    Config::Ared(params).validate(&env(15, 500)).expect("min_th is 9.375");
    let params = ared::Params { max_th: Some(9.3), ..Default::default() };
    assert_eq!(refused(Config::Ared(params), &env(15, 500)).value, "9.375");
    // At least 5.
    let params = ared::Params { max_th: Some(4.9), ..Default::default() };
    assert_eq!(refused(Config::Ared(params), &env(1, 1500)).value, "5");
}

#[test]
fn random_number_is_drawn_only_if_needed() {
    let mut coin = sojourn_base::Stream::new(1, sojourn_base::Kind::Test, 0, 0);
    let untouched = coin.clone();
    assert!(!Probability::ZERO.toss(&mut coin));
    assert!(Probability::ONE.toss(&mut coin));
    assert_eq!(coin, untouched);
    let n = (0..100_000).filter(|_| Probability::from_f64(0.2).toss(&mut coin)).count();
    assert!(n.abs_diff(20_000) < 5 * 127, "{n}");
    assert_ne!(coin, untouched);
}

#[cfg(feature = "schema")]
mod text {
    use super::*;
    use serde_json::Value;

    #[test]
    fn documentation_states_differences_from_source_and_linux() {
        for name in Config::NAMES {
            let text = Config::documentation(name).expect("listed");
            let (about, rest) = text
                .split_once("\n# Differences from the source\n")
                .unwrap_or_else(|| panic!("{name}: no differences from the source"));
            let (source, linux) = rest
                .split_once("\n# Differences from Linux\n")
                .unwrap_or_else(|| panic!("{name}: no differences from Linux"));
            for (part, least) in [(about, 40), (source, 40), (linux, 25)] {
                assert!(part.trim().len() >= least, "{name}: {part:?} says too little");
            }
        }
    }

    #[test]
    fn every_parameter_is_described_and_has_its_default_in_the_schema() {
        let schema = serde_json::to_value(schemars::schema_for!(Config)).expect("a schema");
        let text = schema.to_string();
        for name in Config::NAMES {
            assert!(text.contains(&format!("\"const\":\"{name}\"")), "{name} is missing: {text}");
        }
        let mut seen = 0;
        let mut stack = vec![&schema];
        while let Some(value) = stack.pop() {
            if let Some(properties) = value.get("properties").and_then(Value::as_object) {
                for (name, property) in properties {
                    if name != "kind" {
                        assert!(property["description"].is_string(), "{name}: {property}");
                        seen += 1;
                    }
                }
            }
            match value {
                Value::Object(map) => stack.extend(map.values()),
                Value::Array(list) => stack.extend(list),
                _ => {}
            }
        }
        assert!(seen >= 45, "{seen} parameters");
        assert!(text.contains("0.00001822") || text.contains("1.822e-5"), "defaults: {text}");
    }
}

#[test]
fn what_is_true_of_a_discipline_inside_is_true_of_the_one_around_it() {
    let cake = || Config::Cake(cake::Params::default());
    let flows = cake::Params { isolation: cake::Isolation::Flows, ..Default::default() };
    let outside = || Config::External(external::Params::default());
    let tbf =
        |inner: Config| Config::Tbf(tbf::Params { qdisc: Box::new(inner), ..Default::default() });
    let cbq = |inner: Config| {
        let classes = vec![cbq::Class::new("a", 0.5, &["a"], inner)];
        Config::Cbq(cbq::Params { classes, ..Default::default() })
    };
    let drr = |inner: Config| {
        let classes = vec![drr::Class::new("a", 1.0, &["a"], inner)];
        Config::Drr(drr::Params { classes, ..Default::default() })
    };
    assert!(cake().looks_at_machines() && outside().is_external());
    assert!(!Config::Cake(flows).looks_at_machines() && !cake().is_external());
    let around: [&dyn Fn(Config) -> Config; 4] = [&tbf, &cbq, &drr, &|inner| tbf(cbq(inner))];
    for (at, around) in around.iter().enumerate() {
        assert!(around(cake()).looks_at_machines(), "{at}");
        assert!(around(outside()).is_external(), "{at}");
        let plain = around(droptail::config());
        assert!(!plain.looks_at_machines() && !plain.is_external(), "{at}");
    }
}
