//! CBQ beside ns-2's (2.35, `benches/peers/ns2/cbq.tcl`): what each class of the same tree gets of
//! a 10 Mb/s link under the same load, within two points.

use super::{Source, assert_close, droptail, run};
use sojourn_qdisc::Config;
use sojourn_qdisc::cbq::{Borrowing, Class, Params};

/// The leaf of `flow` with its share of the class around it.
fn leaf(flow: u32, share: f64) -> Class {
    let label = format!("flow{flow}");
    Class::new(&format!("c{flow}"), share, &[&label], droptail(100))
}

fn config(classes: Vec<Class>, borrowing: Borrowing) -> Config {
    // ns-2 works its maxidle out for eight packets.
    Config::Cbq(Params { classes, borrowing, max_burst: 8, ..Params::default() })
}

fn agencies() -> Vec<Class> {
    vec![
        Class::around("A", 0.5, vec![leaf(0, 0.6), leaf(1, 0.4)]),
        Class::around("B", 0.5, vec![leaf(2, 0.7), leaf(3, 0.3)]),
    ]
}

fn compare<const N: usize>(
    name: &str,
    config: &Config,
    sizes: [u32; N],
    wants: [f64; N],
    ns2: [f64; N],
) {
    let source = |flow: usize| Source::new(flow as u32, sizes[flow], wants[flow] * 1e6);
    let sources: Vec<Source> = (0..N).filter(|&flow| wants[flow] > 0.0).map(source).collect();
    let sent = run(config, 10, &sources, 25.0);
    let ours: [f64; N] = std::array::from_fn(|flow| sent.rate(flow as u32, 5.0, 25.0) / 1e6);
    println!("{name}: ours {ours:.3?} Mb/s, ns-2 {ns2:.3?}");
    for (ours, ns2) in ours.into_iter().zip(ns2) {
        // Two points of 10 Mb/s.
        assert_close(ours, ns2, 0.2, name);
    }
}

#[test]
fn overloaded_classes_of_three_packet_sizes() {
    let classes = vec![leaf(0, 0.5), leaf(1, 0.3), leaf(2, 0.2)];
    let config = config(classes, Borrowing::Ancestor);
    compare("overload", &config, [1000, 500, 200], [12.0; 3], [5.004, 3.004, 1.992]);
}

#[test]
fn classes_that_may_not_borrow_keep_to_their_shares() {
    let alone = |flow, share| Class { borrow: false, ..leaf(flow, share) };
    let classes = vec![alone(0, 0.4), alone(1, 0.3), alone(2, 0.2)];
    let config = config(classes, Borrowing::Ancestor);
    compare("bounded", &config, [1000; 3], [12.0; 3], [4.018, 3.032, 2.022]);
}

#[test]
fn idle_class_share_is_divided() {
    let classes = vec![leaf(0, 0.5), leaf(1, 0.3), leaf(2, 0.2)];
    let config = config(classes, Borrowing::Ancestor);
    compare("idle", &config, [1000; 3], [0.0, 12.0, 12.0], [0.0, 5.996, 4.004]);
}

#[test]
fn two_agencies_with_classes_inside() {
    let config = config(agencies(), Borrowing::Formal);
    compare("agencies", &config, [1000; 4], [12.0; 4], [3.001, 2.018, 3.476, 1.504]);
}

#[test]
fn unused_share_stays_in_agency() {
    let wants = [0.0, 12.0, 12.0, 12.0];
    let formal = config(agencies(), Borrowing::Formal);
    compare("idle, formal", &formal, [1000; 4], wants, [0.0, 4.798, 3.668, 1.533]);
    let top = config(agencies(), Borrowing::TopLevel);
    compare("idle, top-level", &top, [1000; 4], wants, [0.0, 4.902, 3.567, 1.532]);
}

#[test]
fn an_urgent_class_does_not_exceed_its_share_by_the_formal_rule() {
    let below = |flow, share| Class { priority: 2, ..leaf(flow, share) };
    let classes = vec![leaf(0, 0.3), below(1, 0.5), below(2, 0.2)];
    let config = config(classes, Borrowing::Formal);
    compare("priority", &config, [1000; 3], [12.0; 3], [3.060, 4.958, 1.982]);
}
