//! What an endpoint tells those who look on, and what it takes back.

use crate::common::script::{MSS, Script, modern, spec, ten};
use crate::common::{ms, params};
use sojourn_base::{Size, Time};
use sojourn_tcp::congestion::{CongestionState, bbr, constant, external};
use sojourn_tcp::{Algorithm, Event, Flags, Spec};

/// RFC 6298 rule 2.2: half of the first sample.
#[test]
fn rttvar_is_half_of_first_rtt_and_unknown_before() {
    assert_eq!(Script::idle(&spec()).end.rttvar(), None);
    assert_eq!(Script::connected(&spec()).end.rttvar(), Some(ms(50)));
}

#[test]
fn congestion_state_follows_window_loss_and_timeout() {
    let mut s = ten(&modern());
    assert_eq!(s.end.congestion_state(), CongestionState::SlowStart);
    s.sack(0, &[(1, 4)]);
    assert_eq!(s.end.congestion_state(), CongestionState::Recovery);
    s.wait(100);
    let all = (s.end.in_flight() / MSS).max(10);
    s.ack(all);
    assert_eq!(s.end.congestion_state(), CongestionState::CongestionAvoidance);
    s.wait(2000);
    assert!(s.end.timeouts() > 0);
    assert_eq!(s.end.congestion_state(), CongestionState::Loss);
}

/// RFC 9002 section 7.3 names the first three; they are what qlog writes.
#[test]
fn congestion_states_have_their_names_in_logs() {
    let named = [
        (CongestionState::SlowStart, "slow_start"),
        (CongestionState::CongestionAvoidance, "congestion_avoidance"),
        (CongestionState::Recovery, "recovery"),
        (CongestionState::Loss, "loss"),
        (CongestionState::Mode("probe_bw_up"), "probe_bw_up"),
    ];
    for (state, name) in named {
        assert_eq!(state.name(), name);
    }
}

#[test]
fn slow_start_is_over_where_window_is_at_threshold() {
    assert_eq!(CongestionState::of(None, 4999, 5000), CongestionState::SlowStart);
    assert_eq!(CongestionState::of(None, 5000, 5000), CongestionState::CongestionAvoidance);
    assert_eq!(CongestionState::of(Some("drain"), 1, 2), CongestionState::Mode("drain"));
}

#[test]
fn bbr_tells_its_own_mode() {
    let congestion = Some(Algorithm::Bbr(bbr::Settings::default()));
    let s = Script::connected(&Spec { congestion, ..modern() });
    assert_eq!(s.end.congestion_state(), CongestionState::Mode("startup"));
}

/// `pipe` of RFC 6675 section 4: neither what has arrived nor what is lost, and what was sent
/// again.
#[test]
fn in_network_leaves_out_what_arrived_or_is_lost() {
    let mut s = ten(&Spec { limited_transmit: Some(false), ..modern() });
    assert_eq!(s.end.in_network(), 10 * MSS);
    s.sack(0, &[(1, 2)]);
    assert_eq!((s.end.in_flight(), s.end.in_network()), (10 * MSS, 9 * MSS));
    s.forget();
    s.sack(0, &[(1, 4)]);
    // 0 is lost and sent again, 1 to 3 have arrived.
    assert_eq!(s.sent()[0], 0);
    assert_eq!(s.end.in_network(), 7 * MSS);
    // Without a log of segments nothing is known of them, and limited transmit has sent one more.
    let mut s = Script::sending(&Spec { sack: Some(false), ..spec() });
    s.wait(100);
    s.ack(0);
    assert_eq!((s.end.in_flight(), s.end.in_network()), (3 * MSS, 3 * MSS));
}

#[test]
fn cut_takes_back_what_is_unsent_and_closes_after_the_rest() {
    let mut s = Script::connected(&spec());
    s.write(u64::MAX);
    assert_eq!(s.sent(), [0, 1]);
    s.end.cut(&s.p, s.now, &mut s.out);
    s.wait(100);
    s.ack(2);
    let segments = s.segments();
    assert!(segments.iter().all(|s| s.len == 0), "no data after the cut: {segments:?}");
    assert_eq!(segments.iter().filter(|s| s.flags.has(Flags::FIN)).count(), 1);
    assert_eq!(s.end.bytes_acked(), u64::from(2 * MSS));
    assert!(s.out.events.contains(&Event::AllAcked));
}

#[test]
fn sends_at_tells_of_delayed_ack_and_not_of_retransmission_timer() {
    let mut s = Script::sending(&spec());
    assert!(s.end.deadline() < Time::MAX);
    assert_eq!(s.end.sends_at(), Time::MAX);
    s.data(0);
    assert_eq!(s.end.sends_at(), s.now + ms(100));
}

/// Twice the window over the round trip in slow start (`tcp_pacing_ss_ratio`): 22 segments in 100
/// ms, of which the first window went at once.
#[test]
fn sends_at_tells_when_pacing_goes_on() {
    let paced = Spec { pacing: Some(true), burst_segments: Some(1), ..modern() };
    let mut s = ten(&paced);
    s.ack(1);
    assert_eq!(s.sent(), [10]);
    let at = s.end.sends_at();
    assert!(at > s.now + ms(4) && at < s.now + ms(5), "{at}");
    assert_eq!(s.end.deadline(), at);
    s.wait(4);
    assert!(s.sent().is_empty());
    s.wait(1);
    assert_eq!((s.sent(), s.end.sends_at()), (vec![11], Time::MAX));
}

/// HyStart as in Linux: a round trip that grows by an eighth ends slow start, with the window that
/// there is as its threshold.
#[test]
fn linux_hystart_ends_slow_start_when_round_trips_grow() {
    let threshold = |hystart: bool, grown: u64| {
        let mut s = Script::connected(&Spec {
            hystart: Some(hystart),
            hystart_css: Some(false),
            initial_window: Some(20),
            receive_window: Some(Size(1_000_000)),
            ..modern()
        });
        s.write(u64::MAX);
        let mut sent = vec![s.now; s.sent().len()];
        // Acknowledgements 3 ms apart, a round trip after their segments or later.
        for n in 0..60 {
            let due = sent[n] + ms(if n < 20 { 100 } else { grown });
            s.wait((due.max(s.now + ms(3)) - s.now).0 / 1_000_000);
            s.ack(n as u32 + 1);
            sent.resize(sent.len() + s.sent().len(), s.now);
        }
        (s.end.ssthresh(), s.end.cwnd())
    };
    assert_eq!(threshold(true, 100).0, None);
    assert_eq!(threshold(false, 160).0, None);
    let (ssthresh, cwnd) = threshold(true, 160);
    let ssthresh = ssthresh.expect("slow start has ended");
    assert!((20 * MSS..=cwnd).contains(&ssthresh), "{ssthresh} of {cwnd}");
}

/// A connection goes on with other settings of the same congestion control, and with nothing else.
#[test]
fn settings_are_exchanged_within_one_congestion_control_only() {
    let window = |cwnd| {
        let settings = constant::Settings { cwnd: Size(cwnd), ..Default::default() };
        Spec { congestion: Some(Algorithm::Constant(settings)), ..spec() }
    };
    let is = params(&window(20_000));
    assert!(is.goes_on_with(&params(&window(30_000))));
    assert!(!is.goes_on_with(&params(&spec())), "another algorithm");
    assert!(!is.goes_on_with(&params(&Spec { mss: Some(500), ..window(20_000) })));
    let class = external::Settings { class: "a.py:A".into(), ..Default::default() };
    let outside = params(&Spec { congestion: Some(Algorithm::External(class)), ..spec() });
    assert!(!outside.goes_on_with(&outside), "a class keeps what it was made with");
}

/// RFC 9293 section 3.8.6: a FIN takes a place in the peer's window as a byte does.
#[test]
fn fin_waits_for_room_in_the_peers_window() {
    for (segments, at_once) in [(59, 1), (60, 0)] {
        let mut s = Script::connected(&Spec { initial_window: Some(100), ..spec() });
        s.write(u64::from(segments * MSS));
        s.close();
        let fins = |s: &mut Script| {
            s.segments().iter().filter(|segment| segment.flags.has(Flags::FIN)).count()
        };
        assert_eq!(s.end.in_flight(), segments * MSS + at_once as u32);
        assert_eq!(fins(&mut s), at_once, "{segments}");
        s.wait(50);
        s.ack(10);
        assert_eq!(fins(&mut s), 1 - at_once, "{segments}");
    }
}
