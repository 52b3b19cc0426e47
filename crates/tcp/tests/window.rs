//! The receive window that grows with what the application takes.

mod common;

use common::script::{MSS, Script, modern};
use sojourn_base::Size;
use sojourn_tcp::Spec;

/// Windows that were told, in bytes, in a transfer of `segments` a round trip of 100 ms, doubling.
fn told(spec: &Spec, rounds: u32) -> Vec<u32> {
    let mut s = Script::connected(spec);
    let scale = s.p.window_scale;
    let (mut n, mut windows) = (0, Vec::new());
    for round in 0..rounds {
        for _ in 0..10 << round {
            s.data(n);
            n += 1;
        }
        let last = s.segments().last().map(|s| u32::from(s.window) << scale);
        windows.extend(last);
        s.wait(100);
    }
    windows
}

#[test]
fn the_window_keeps_ahead_of_a_sender_in_slow_start_up_to_its_limit() {
    let spec = Spec { receive_window: Some(Size(1_000_000)), autotune: Some(true), ..modern() };
    let windows = told(&spec, 7);
    assert!(windows[0] <= 65535);
    for (round, pair) in windows.windows(2).enumerate() {
        assert!(pair[1] >= pair[0]);
        let next = (10 << (round + 2)) * MSS; // what the next round brings
        assert!(pair[1] >= next.min(990_000), "{round}: {windows:?}");
    }
    assert!(windows[6] > 990_000 && windows[6] <= 1_000_000);
}

#[test]
fn without_it_the_window_is_the_limit_from_the_start() {
    let size = Some(Size(1_000_000));
    let spec = Spec { receive_window: size, autotune: Some(false), ..modern() };
    assert!(told(&spec, 1)[0] > 990_000);
}

#[test]
fn a_slow_sender_leaves_the_window_as_it_was() {
    let spec = Spec { receive_window: Some(Size(1_000_000)), autotune: Some(true), ..modern() };
    let mut s = Script::connected(&spec);
    for n in 0..50 {
        s.data(n);
        s.wait(50);
    }
    let last = s.segments().last().map(|g| u32::from(g.window) << s.p.window_scale).unwrap();
    assert!(last <= 65535, "{last}");
}
