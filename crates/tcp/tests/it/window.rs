//! The receive window that grows with what the application takes, and the peer's.

use crate::common::script::{MSS, PEER, Script, from_peer, modern, place, spec};
use sojourn_base::Size;
use sojourn_tcp::{Flags, Segment, Spec};

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
fn rcvbuf_autotuning_stays_ahead_of_slow_start() {
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
fn receive_window_is_at_limit_without_autotuning() {
    let size = Some(Size(1_000_000));
    let spec = Spec { receive_window: size, autotune: Some(false), ..modern() };
    assert!(told(&spec, 1)[0] > 990_000);
}

#[test]
fn rcvbuf_autotuning_ignores_slow_sender() {
    let spec = Spec { receive_window: Some(Size(1_000_000)), autotune: Some(true), ..modern() };
    let mut s = Script::connected(&spec);
    for n in 0..50 {
        s.data(n);
        s.wait(50);
    }
    let last = s.segments().last().map(|g| u32::from(g.window) << s.p.window_scale).unwrap();
    assert!(last <= 65535, "{last}");
}

#[test]
fn rcvbuf_growth_acks_every_segment() {
    // Nothing else makes acknowledgements quick.
    let spec = Spec {
        receive_window: Some(Size(1_000_000)),
        autotune: Some(true),
        quick_acks: Some(0),
        ..modern()
    };
    let mut s = Script::connected(&spec);
    let scale = s.p.window_scale;
    let mut n = 0;
    let mut round = |s: &mut Script, segments: u32| -> Vec<u32> {
        for _ in 0..segments {
            s.data(n);
            n += 1;
        }
        let told = s.segments().iter().map(|g| u32::from(g.window) << scale).collect();
        s.wait(100);
        told
    };
    // The first window is no more than was reckoned with; that 20 came then is found out by the
    // last of them, or the first of the round after.
    assert_eq!(round(&mut s, 10).len(), 5);
    round(&mut s, 20);
    let windows = round(&mut s, 40);
    assert!(windows.len() >= 39, "{} acknowledgements of 40", windows.len());
    for pair in windows.windows(2).skip(1) {
        let more = pair[1] - pair[0];
        assert!(more.abs_diff(2 * MSS) <= 1 << scale, "{windows:?}");
    }
    // When it is as large as it is to be they are delayed again.
    let mut steady = 0;
    for _ in 0..8 {
        steady = round(&mut s, 40).len();
    }
    assert_eq!(steady, 20);
}

/// RFC 7323 section 4.3 would have the time of every segment that is in order echoed; here it is
/// that of data alone, but where the receiver needs round trips to size its window.
#[test]
fn time_of_bare_acknowledgement_is_echoed_where_the_window_is_tuned() {
    for (autotune, echoed) in [(true, 555), (false, 0)] {
        let spec = Spec { autotune: Some(autotune), timestamps: Some(true), ..modern() };
        let mut s = Script::connected(&spec);
        let bare = Segment {
            seq: from_peer(0),
            ack: place(0),
            flags: Flags::ACK,
            window: 60_000,
            tsval: 555,
            ..Segment::EMPTY
        };
        // One that is not in order says nothing.
        s.arrives(Segment { seq: from_peer(1), tsval: 777, ..bare });
        s.arrives(bare);
        s.forget();
        s.write(1000);
        assert_eq!(s.segments()[0].tsecr, echoed, "{autotune}");
    }
}

#[test]
fn data_go_out_up_to_the_edge_of_the_window() {
    // RFC 9293 section 3.4: up to SND.UNA + SND.WND.
    for (spec, window) in [(modern(), 5), (spec(), 2)] {
        let mut s = Script::connected(&spec);
        s.arrives(Segment {
            seq: PEER + 1,
            ack: place(0),
            window: (window * MSS) as u16,
            flags: Flags::ACK,
            ..Segment::EMPTY
        });
        s.write(u64::MAX);
        assert_eq!(s.sent(), (0..window).collect::<Vec<_>>());
    }
}
