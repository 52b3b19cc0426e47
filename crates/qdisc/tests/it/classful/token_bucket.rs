//! The token bucket: what its rate and burst promise, to the nanosecond.

use super::{Source, droptail, run};
use crate::common::{Token, env, queue, token};
use sojourn_base::{Rate, Size, Time};
use sojourn_qdisc::{
    Config, Discipline, Ecn, cake, codel, droptail as tail, dualpi2, pi, prio, tbf,
};

fn config(rate: u64, burst: u64, peak: Option<u64>, inner: Config) -> Config {
    Config::Tbf(tbf::Params {
        rate: Some(Rate(rate)),
        burst: Size(burst),
        peak_rate: peak.map(Rate),
        peak_burst: Size(1500),
        qdisc: Box::new(inner),
    })
}

/// No span of time may see more than `burst` and what `rate` adds: the greatest excess, in bits
/// times 10⁹.
fn excess(sent: &[(Time, u32, u32)], rate: u64, burst: u64) -> i128 {
    let mut most = i128::MIN;
    // The largest of sum(i..=j) − rate (t_j − t_i) over all i ≤ j, in one pass.
    let mut best = i128::MIN / 2;
    let mut last = Time::ZERO;
    for &(at, _, bytes) in sent {
        let size = i128::from(bytes) * 8_000_000_000;
        best = (best - i128::from(rate) * i128::from(at.0 - last.0)).max(0) + size;
        most = most.max(best);
        last = at;
    }
    most - i128::from(burst) * 8_000_000_000
}

#[test]
fn a_burst_is_never_exceeded_and_is_used() {
    let sources = [
        Source::new(0, 1500, 20e6).between(0.0, 3.0),
        Source::new(1, 64, 4e6).between(1.0, 2.0),
        Source::new(0, 700, 3e6).between(5.0, 8.0),
    ];
    for (rate, burst, peak) in
        [(3_333_333, 9000, None), (1_000_001, 20_000, Some(7_000_000)), (8_000_000, 1500, None)]
    {
        let config = config(rate, burst, peak, droptail(100));
        let sent = run(&config, 100, &sources, 10.0);
        assert!(excess(&sent.0, rate, burst) <= 0, "{rate}");
        // A burst stands ready after the pause; at the peak rate less of it is used.
        assert!(excess(&sent.0, rate, burst * 2 / 3) > 0, "{rate}");
        if let Some(peak) = peak {
            assert!(excess(&sent.0, peak, 1500) <= 0);
        }
    }
}

#[test]
fn the_long_run_rate_is_exact() {
    // A rate that divides nothing, and always something to send.
    let rate = 1_234_567;
    let mut q = queue(&config(rate, 1500, None, droptail(10)), &env(1000, 1000));
    let (mut now, mut id, mut sent) = (Time::ZERO, 0, 0u64);
    let packets = 100_000;
    while id < packets {
        let _ = q.enqueue(now, token(id, 1000 + (id % 7) as u32, Ecn::NotEct), &mut ());
        id += 1;
        let ready = q.next_ready(now).expect("a packet stands");
        if ready > now {
            assert_eq!(q.dequeue(Time(ready.0 - 1), &mut ()), None, "a nanosecond too early");
        }
        now = ready;
        sent += u64::from(q.dequeue(now, &mut ()).expect("ready").bytes);
    }
    // All but the first bucket has come at the rate: to the nanosecond that the last needs.
    let tokens = u128::from(sent - 1500) * 8_000_000_000;
    let exact = tokens.div_ceil(u128::from(rate)) as u64;
    assert_eq!(now.0, exact);
}

#[test]
fn tbf_holds_rate_over_codel_and_pi() {
    let codel = Config::Codel(codel::Params::default());
    let pi = Config::Pi(pi::Params { a: 1e-3, b: 0.99e-3, qref: 20.0, ..Default::default() });
    for (inner, name) in [(codel, "codel"), (pi, "pi")] {
        let rate = 2_000_000;
        let sources = [Source::new(0, 1000, 2.1e6)];
        let sent = run(&config(rate, 10_000, None, inner), 10, &sources, 60.0);
        assert!(excess(&sent.0, rate, 10_000) <= 0);
        let found = sent.rate(0, 20.0, 60.0);
        assert!((found / 2e6 - 1.0).abs() < 0.005, "{name}: {found}");
    }
}

#[test]
fn tbf_drops_oversized_packet() {
    let mut q = queue(&config(1_000_000, 1500, None, droptail(10)), &env(100, 1000));
    let _ = q.enqueue(Time::ZERO, token(0, 1501, Ecn::NotEct), &mut ());
    assert_eq!((q.packets(), q.counters().overflow.packets), (0, 1));
    let _ = q.enqueue(Time::ZERO, token(1, 1500, Ecn::NotEct), &mut ());
    assert_eq!(q.dequeue(Time::ZERO, &mut ()).map(|packet: Token| packet.id), Some(1));
}

#[test]
fn a_bucket_tells_the_probability_of_the_discipline_inside() {
    let pi = Config::Pi(pi::Params { a: 1e-3, b: 0.99e-3, qref: 20.0, ..Default::default() });
    let mut q = queue(&config(1_000_000, 1500, None, pi), &env(100, 1000));
    assert_eq!(q.probability(), 0.0);
    for id in 0..100 {
        let _ = q.enqueue(Time::ZERO, token(id, 1000, Ecn::NotEct), &mut ());
    }
    q.advance(Time::from_secs(1));
    assert!(q.probability() > 0.0 && q.probability() <= 1.0, "{}", q.probability());
}

#[test]
fn a_limit_in_time_is_that_of_the_bucket() {
    // 25 packets of 1000 bytes in 100 ms at 2 Mb/s, 90 at nine tenths of 8 Mb/s; and one waits in
    // front for its tokens.
    let limit_time = Some(Time::from_millis(100));
    let inner = Config::Droptail(tail::Params { limit_time, ..Default::default() });
    for (rate, packets) in [(Some(Rate(2_000_000)), 25), (None, 90)] {
        let qdisc = Box::new(inner.clone());
        let params = tbf::Params { rate, burst: Size(1000), qdisc, ..Default::default() };
        let mut q = queue(&Config::Tbf(params), &env(8, 1000));
        for id in 0..200 {
            let _ = q.enqueue(Time::ZERO, token(id, 1000, Ecn::NotEct), &mut ());
        }
        assert!((packets..=packets + 1).contains(&q.packets()), "{}", q.packets());
    }
}

#[test]
fn a_class_behind_a_bucket_is_ready_when_its_tokens_are() {
    let bucket = config(1_000_000, 1500, None, droptail(10));
    let bandwidth = Some(Rate(1_000_000));
    let shaper = Config::Cake(cake::Params { bandwidth, ..cake::Params::default() });
    for inner in [bucket, shaper] {
        let classes = vec![prio::Class::new("all", &[], inner)];
        let mut q = queue(&Config::Prio(prio::Params { classes, default: None }), &env(100, 1000));
        for id in 0..3 {
            let packet = Token { flow: 0, ..token(id, 1500, Ecn::NotEct) };
            let _ = q.enqueue(Time::ZERO, packet, &mut ());
        }
        for n in 0..3 {
            // 1500 bytes take 12 ms.
            let ready = Time::from_millis(12 * n);
            assert_eq!(q.next_ready(Time::ZERO), Some(ready));
            assert_eq!(q.dequeue(ready, &mut ()).map(|packet| packet.id), Some(n));
        }
        assert_eq!(q.next_ready(Time::ZERO), None);
    }
}

#[test]
fn a_packet_that_waited_for_tokens_is_of_the_class_that_it_came_out_of() {
    let inner = Config::Dualpi2(dualpi2::Params::default());
    let mut q = queue(&config(1_000_000, 1500, None, inner), &env(100, 1000));
    for (id, ecn) in [Ecn::Ect1, Ecn::Ect1, Ecn::Ect0, Ecn::Ect0].into_iter().enumerate() {
        let _ = q.enqueue(Time::ZERO, token(id as u64, 1500, ecn), &mut ());
    }
    // While one leaves the next is already taken out of the discipline.
    for class in [0, 0, 1, 1] {
        let ready = q.next_ready(Time::ZERO).unwrap();
        let packet = q.dequeue(ready, &mut ()).unwrap();
        assert_eq!(q.class_of(&packet), class, "packet {}", packet.id);
    }
}

#[test]
fn a_bucket_tells_of_the_classes_inside() {
    let class =
        |flow: u32| prio::Class::new(&format!("c{flow}"), &[&format!("flow{flow}")], droptail(10));
    let classes = vec![class(0), class(1), class(2)];
    let inner = Config::Prio(prio::Params { classes, default: None });
    let mut q = queue(&config(1_000_000, 1500, None, inner), &env(100, 1000));
    for (id, flow) in [2, 1, 2, 2].into_iter().enumerate() {
        let packet = Token { flow, ..token(id as u64, 500, Ecn::NotEct) };
        assert_eq!(q.class_of(&packet), flow as usize);
        let _ = q.enqueue(Time::ZERO, packet, &mut ());
    }
    let mut told = Vec::new();
    q.classes(&mut |counters| told.push(counters.arrived().packets));
    assert_eq!(told, [0, 1, 3]);
}
