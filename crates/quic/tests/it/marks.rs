//! Marks: what reaches the congestion control, and paths that take ECN away (RFC 9000 section
//! 13.4).

use crate::common::{Flying, Net, ms};
use sojourn_base::Time;
use sojourn_quic::{Ecn, Spec};
use sojourn_tcp::Algorithm;

const ONE_WAY: Time = Time::from_millis(20);

fn spec(congestion: &str) -> Spec {
    Spec { congestion: Algorithm::named(congestion), ecn: Some(true), ..Spec::default() }
}

/// A transfer whose data packets are marked as `mark` says; the ECN fields sent, and the end.
fn run(spec: &Spec, mut mark: impl FnMut(u64, Ecn) -> Ecn) -> (Vec<Ecn>, Time, u64, Option<u32>) {
    let mut fields = Vec::new();
    let mut net = Net::new(spec, |flying: Flying<'_>| {
        if flying.from == 1 {
            return vec![(ONE_WAY, flying.ecn)];
        }
        fields.push(flying.ecn);
        vec![(ONE_WAY, mark(flying.number, flying.ecn))]
    });
    net.write(3_000_000);
    net.open();
    while net.hosts[1].delivered.get(&0) != Some(&3_000_000) {
        assert!(net.step(ms(100_000)));
    }
    let (now, lost, ssthresh) = (net.now, net.ends[0].retransmissions(), net.ends[0].ssthresh());
    (fields, now, lost, ssthresh)
}

#[test]
fn marks_reduce_the_window_without_a_loss() {
    for name in ["reno", "cubic", "dctcp", "prague"] {
        let marked = |n: u64, ecn: Ecn| if n == 60 { Ecn::Ce } else { ecn };
        let (fields, _, lost, ssthresh) = run(&spec(name), marked);
        assert!(ssthresh.is_some() && lost == 0, "{name}: {ssthresh:?}");
        let ect = if name == "prague" { Ecn::Ect1 } else { Ecn::Ect0 };
        // Packets of the handshake are not ECN-capable.
        assert!(fields[0] == Ecn::NotEct && fields[50..].iter().all(|ecn| *ecn == ect), "{name}");
    }
}

#[test]
fn a_path_that_takes_the_codepoint_away_goes_on_without() {
    let (fields, _, lost, ssthresh) = run(&spec("reno"), |_, _| Ecn::NotEct);
    assert_eq!((lost, ssthresh), (0, None));
    let capable = fields.iter().filter(|ecn| **ecn != Ecn::NotEct).count();
    // RFC 9000 appendix A.4: ten test it.
    assert!(capable <= 10, "{capable}");
}

#[test]
fn ten_percent_of_marks_slow_reno_and_less_so_dctcp() {
    let tenth = |n: u64, ecn: Ecn| if n % 10 == 9 && ecn != Ecn::NotEct { Ecn::Ce } else { ecn };
    let reno = run(&spec("reno"), tenth).1;
    let dctcp = run(&spec("dctcp"), tenth).1;
    let free = run(&spec("reno"), |_, ecn| ecn).1;
    assert!(dctcp < reno && free * 2 < dctcp, "{free} {dctcp} {reno}");
}
