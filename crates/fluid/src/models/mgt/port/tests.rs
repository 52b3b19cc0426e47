//! One queue by itself, against what its words say.

use super::*;
use crate::Price;
use crate::queues::{Codel, DelayPi, Droptail, Pi, Pie, Rate, Red, Rem};

/// One class before one queue: its length is the second state, its law's the third.
const LAYOUT: Layout = Layout { classes: 1, queues: 1 };

fn state(length: f64, own: f64) -> [f64; 3] {
    [1.0, length, own]
}

fn port(queue: Queue, length: f64) -> Port {
    Port::new(queue, 0, LAYOUT, length)
}

fn codel() -> Codel {
    Codel { target: 0.005, interval: 0.1, amplitude: 0.005 }
}

fn rem() -> Rem {
    Rem { gamma: 0.001, alpha: 0.1, phi: 1.001, qref: 20.0, period: 0.01, capacity: 2000.0 }
}

fn pi() -> Pi {
    Pi { integral: 1e-3, proportional: 2e-3, qref: 100.0, period: 0.01 }
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{got} {want}");
}

/// With the mode that fits a state.
fn fitting(queue: Queue, [_, length, own]: [f64; 3], inflow: f64) -> Port {
    let mut port = port(queue, length);
    port.find_mode(&state(length, own), inflow);
    port
}

#[test]
fn a_queue_is_empty_full_or_between() {
    let queue = Queue { buffer: 80.0, ..Queue::new(1000.0, Droptail) };
    for (length, fill) in
        [(0.0, Fill::Empty), (1e-3, Fill::Between), (79.9, Fill::Between), (80.0, Fill::Full)]
    {
        assert_eq!(port(queue.clone(), length).fill, fill, "{length}");
    }
}

#[test]
fn arrivals_are_asked_for_where_something_depends_on_them() {
    let needs = |law: QueueLaw, length| {
        port(Queue { buffer: 80.0, ..Queue::new(1000.0, law) }, length).needs_inflow()
    };
    for (length, wanted) in [(0.0, true), (10.0, false), (80.0, true)] {
        assert_eq!(needs(Droptail.into(), length), wanted);
        assert_eq!(needs(Red::GENTLE.into(), length), wanted);
        assert!(needs(pi().into(), length));
    }
}

#[test]
fn a_law_sees_queue_and_rates_in_the_packets_that_it_counts() {
    // A packet counts as two; the probability is a quarter of the law's word.
    let counted = |law: QueueLaw| Queue { unit: 2.0, weight: 0.25, ..Queue::new(1000.0, law) };
    // RED: an average of 100 is half way to 0.1.
    let at = state(60.0, 100.0);
    let port = fitting(counted(Red::GENTLE.into()), at, 0.0);
    near(port.law_loss(&at, 0.0), 0.25 * 0.05);
    // It follows 120 with each of 1000 packets.
    near(port.slopes(0.0, &at, 1000.0).1, -libm::log1p(-0.002) * 1000.0 * 20.0);
    // CoDel: 30 of 2000 a second.
    let at = state(60.0, 30.0);
    let port = fitting(counted(codel().into()), at, 0.0);
    near(port.law_loss(&at, 0.0), 0.25 * 30.0 / 2000.0);
    // A price on the present load: 1600 of 2000.
    let price = Price::Power { exponent: 2.0 };
    let law = QueueLaw::Rate(Rate { price, averaging: 0.0, capacity: 2000.0 });
    let at = state(60.0, 0.0);
    let mut port = fitting(counted(law), at, 800.0);
    near(port.law_loss(&at, 800.0), 0.25 * 0.64);
    port.mode.piece = 2;
    near(port.law_loss(&at, 800.0), 0.25);
    // PI: 20 packets too many, and 200 more every second.
    let at = state(60.0, 0.5);
    let port = fitting(counted(pi().into()), at, 1100.0);
    let (drift, own) = port.slopes(0.0, &at, 1100.0);
    near(drift, 100.0);
    near(own, 20.0 * 1e-3 + 200.0 * 2e-3);
    // REM: 200 more arrive than are sent, and 100 packets too many.
    let port = fitting(counted(rem().into()), at, 1100.0);
    near(port.slopes(0.0, &at, 1100.0).1, 0.001 * (200.0 + 100.0 * 0.1 / 0.01));
}

#[test]
fn a_probability_is_held_to_one() {
    let queue = Queue { weight: 40.0, ..Queue::new(1000.0, Red::GENTLE) };
    let at = state(60.0, 100.0);
    assert_eq!(fitting(queue, at, 0.0).law_loss(&at, 0.0), 1.0);
}

#[test]
fn a_queue_grows_by_what_enters_and_shrinks_by_what_the_link_sends() {
    for (thins, grows) in [(false, 200.0), (true, 1200.0 * 0.95 - 1000.0)] {
        let queue = Queue { thins, buffer: 300.0, ..Queue::new(1000.0, Red::GENTLE) };
        let slope = |length: f64| {
            let at = state(length, 100.0);
            fitting(queue.clone(), at, 1200.0).slopes(0.0, &at, 1200.0).0
        };
        near(slope(60.0), grows);
        assert_eq!((slope(0.0), slope(300.0)), (0.0, 0.0));
    }
}

#[test]
fn a_full_buffer_loses_the_share_that_does_not_fit() {
    for (thins, arrive) in [(false, 1250.0), (true, 1250.0 / 0.95)] {
        let queue = Queue { thins, buffer: 300.0, ..Queue::new(1000.0, Red::GENTLE) };
        let overflow = |length: f64, inflow: f64| {
            let at = state(length, 100.0);
            fitting(queue.clone(), at, inflow).overflow(&at, inflow)
        };
        near(overflow(300.0, arrive), 0.2);
        assert_eq!(overflow(300.0, 900.0), 0.0);
        assert_eq!((overflow(299.0, arrive), overflow(0.0, arrive)), (0.0, 0.0));
        // Of what the law marks or lets pass the buffer loses its share.
        let port = port(queue, 300.0);
        near(port.total_loss(0.05, arrive), 1.0 - 0.95 * 0.8);
        near(port.total_loss(0.05, 900.0), 0.05);
    }
    let free = port(Queue { buffer: 300.0, ..Queue::new(1000.0, Red::GENTLE) }, 100.0);
    near(free.total_loss(0.05, 1250.0), 0.05);
}

#[test]
fn guards_say_how_far_a_queue_is_from_another_mode() {
    let queue = Queue { buffer: 300.0, thins: true, ..Queue::new(1000.0, Red::GENTLE) };
    let guards = |length: f64, inflow: f64| {
        let at = state(length, 100.0);
        fitting(queue.clone(), at, inflow).guards(0.0, &at, inflow)
    };
    // 1.14 times the capacity enters, or 0.76 times. The average is 50 from both its thresholds.
    for (length, inflow, wanted) in [
        (0.0, 1200.0, [-0.14, 1.0]),
        (0.0, 800.0, [0.24, 1.0]),
        (60.0, 1200.0, [60.0, 240.0]),
        (300.0, 1200.0, [0.14, 1.0]),
        (300.0, 800.0, [-0.24, 1.0]),
    ] {
        let [low, high, below, above] = guards(length, inflow);
        near(low, wanted[0]);
        near(high, wanted[1]);
        assert_eq!([below, above], [50.0, 50.0]);
    }
    // Those of another law are the law's own: CoDel's excess over 5 packets, in targets.
    let at = state(9.0, 0.0);
    let port = fitting(Queue::new(1000.0, codel()), at, 1200.0);
    assert_eq!(port.guards(0.0, &at, 1200.0)[2], 1.0);
    near(port.guards(0.0, &at, 1200.0)[3], -0.8);
}

#[test]
fn no_guard_can_fall_while_queue_and_average_are_far_from_all_ends() {
    let clear = |law: QueueLaw, length: f64, far: [f64; 2]| {
        let at = state(length, 100.0);
        let queue = Queue { buffer: 300.0, ..Queue::new(1000.0, law) };
        fitting(queue, at, 0.0).clear(&at, &[0.0, far[0], far[1]])
    };
    for law in [QueueLaw::from(Droptail), Red::GENTLE.into()] {
        assert!(clear(law.clone(), 60.0, [59.0, 49.0]));
        assert!(!clear(law.clone(), 60.0, [60.0, 49.0]), "it may run empty");
        assert!(clear(law.clone(), 250.0, [49.0, 49.0]));
        assert!(!clear(law.clone(), 250.0, [50.0, 49.0]), "it may run full");
        assert!(!clear(law.clone(), 0.0, [0.0, 0.0]) && !clear(law, 300.0, [0.0, 0.0]));
    }
    // The average at 100 of 50 to 150: either end is as far.
    assert!(!clear(Red::GENTLE.into(), 60.0, [1.0, 50.0]));
    let lower = Red { max_th: 120.0, ..Red::GENTLE };
    assert!(!clear(lower.into(), 60.0, [1.0, 20.0]));
    let higher = Red { min_th: 80.0, ..Red::GENTLE };
    assert!(!clear(higher.into(), 60.0, [1.0, 20.0]));
    assert!(clear(Droptail.into(), 60.0, [1.0, f64::INFINITY]), "it has no state");
    assert!(!clear(pi().into(), 60.0, [1.0, 0.1]), "it looks at the rate");
}

#[test]
fn a_queue_that_runs_empty_or_full_stands_there_until_it_leaves() {
    let mut port = port(Queue { buffer: 80.0, ..Queue::new(1000.0, Droptail) }, 10.0);
    let mut step = |guard: usize, length: f64| {
        let mut at = state(length, 0.0);
        port.refill(guard, &mut at);
        (port.fill, at[1])
    };
    assert_eq!(step(0, -1e-9), (Fill::Empty, 0.0));
    assert_eq!(step(0, 0.0), (Fill::Between, 0.0));
    assert_eq!(step(1, 80.1), (Fill::Full, 80.0));
    assert_eq!(step(0, 80.0), (Fill::Between, 80.0));
}

#[test]
fn a_law_turns_by_what_it_sees_at_that_time() {
    let mut port = port(Queue { unit: 2.0, ..Queue::new(1000.0, codel()) }, 40.0);
    let mut at = state(40.0, 0.0);
    // The delay is above its target from 3 s on, for longer than its interval at 3.2 s.
    port.turn(1, 3.0, &mut at, 900.0);
    assert_eq!((port.mode.piece, port.mode.since), (1, 3.0));
    assert!(port.guards(3.2, &at, 900.0)[3] < 0.0);
    port.turn(1, 3.2, &mut at, 900.0);
    assert_eq!(at[2], 10.0, "a first drop an interval");
}

#[test]
fn the_linear_model_has_a_derivative_but_where_a_guard_is() {
    let bend = |own: f64| {
        let at = state(60.0, own);
        fitting(Queue::new(1000.0, Red::GENTLE), at, 1000.0).kink(&at, 1000.0)
    };
    assert!(bend(150.0 * (1.0 + 1e-8)).is_none() && bend(100.0).is_none());
    let why = bend(150.0).unwrap();
    assert!(why.starts_with("it has no derivative at its operating point of 60.000000"), "{why}");
    // What is near is measured by the state: PIE's bounds are much below 1.
    let pie = Pie(DelayPi { target: 0.015, alpha: 0.125, beta: 1.25, period: 0.015 });
    let at = state(15.0, 0.01 * (1.0 + 1e-6));
    assert!(fitting(Queue::new(1000.0, pie), at, 1000.0).kink(&at, 1000.0).is_none());
}

#[test]
fn at_rest_an_empty_queue_moves_if_as_much_enters_as_leaves() {
    let moves = |thins: bool, inflow: f64, length: f64| {
        let queue = Queue { thins, buffer: 80.0, ..Queue::new(1000.0, Red::GENTLE) };
        let mut port = port(queue, length);
        port.settle(&state(length, 0.0), 0.2, inflow, false);
        port.moves()
    };
    assert!(moves(false, 1000.0, 0.0) && moves(true, 1250.0, 0.0));
    assert!(!moves(false, 1250.0, 0.0) && !moves(true, 1000.0, 0.0));
    assert!(!moves(false, 1000.01, 0.0) && moves(false, 1000.0 + 5e-4, 0.0));
    assert!(moves(false, 1250.0, 40.0) && !moves(false, 1000.0, 80.0));
    // CoDel's switch has its describing function there.
    let mut port = port(Queue::new(1000.0, codel()), 5.0);
    port.settle(&state(5.0, 30.0), 0.03, 1000.0, true);
    assert_eq!(port.mode.piece, 3);
    assert!(port.sampled && port.hold() == 0.0);
    let mut port = fitting(Queue::new(1000.0, pi()), state(100.0, 0.5), 1000.0);
    assert_eq!(port.hold(), 0.0);
    port.settle(&state(100.0, 0.5), 0.5, 1000.0, true);
    assert_eq!(port.hold(), 0.01);
}

#[test]
fn the_open_loop_moves_as_the_closed_one_does() {
    for thins in [false, true] {
        for (law, own) in
            [(QueueLaw::from(Red::GENTLE), 100.0), (rem().into(), 100.0), (pi().into(), 0.3)]
        {
            let queue = Queue { thins, unit: 2.0, weight: 0.25, ..Queue::new(1000.0, law) };
            let at = state(60.0, own);
            let port = fitting(queue, at, 1200.0);
            let met = port.law_loss(&at, 1200.0);
            let (drift, own) = port.slopes(3.0, &at, 1200.0);
            let opened = port.open_slopes(&at, met, 1200.0, &at);
            near(opened.0, drift);
            near(opened.1, own);
            near(port.open_loss(&at, 1200.0), met);
        }
    }
}

#[test]
fn a_law_that_samples_sees_what_has_come_since_the_last_sample() {
    // A packet counts as two. A period of 10 ms ago the queue was 57, and now it is 60.
    for (thins, dropped) in [(false, 0.0), (true, 0.1)] {
        let queue = |law: QueueLaw| Queue { thins, unit: 2.0, ..Queue::new(1000.0, law) };
        let (now, before) = (state(60.0, 0.5), state(57.0, 0.4));
        let sampled = |law: QueueLaw| {
            let mut port = fitting(queue(law), now, 1200.0);
            port.sampled = true;
            port.open_slopes(&now, dropped, 1200.0, &before)
        };
        // 600 a second more, and as many as the link sends; those that are dropped came, too.
        let came = 600.0 + 2000.0 + 2.0 * dropped * 1200.0;
        let (drift, own) = sampled(rem().into());
        near(drift, 1200.0 * (1.0 - dropped) - 1000.0);
        near(own, 0.001 * (came - 2000.0 + (120.0 - 20.0) * 0.1 / 0.01));
        // Tustin's rule takes the mean of both.
        near(sampled(pi().into()).1, (117.0 - 100.0) * 1e-3 + 600.0 * 2e-3);
    }
}
