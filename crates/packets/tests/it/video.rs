//! Viewers of adaptive video over a link.

use crate::common::{difference, simulate, some, unfused};
use sojourn_packets::{Summary, VideoSummary};

/// Viewers over a link of this rate and 40 ms, from 20 s to 100 s.
fn viewers(rate: &str, rest: &str) -> String {
    format!(
        "duration = \"100s\"\nwarmup = \"20s\"\n[bottleneck]\nrate = \"{rate}\"\n\
         qdisc = {{ kind = \"droptail\", limit = 60 }}\n[tcp]\nprofile = \"modern\"\n\
         [[traffic]]\nkind = \"video\"\nrtt = \"40ms\"\n{rest}\n"
    )
}

fn seen(summary: &Summary) -> &VideoSummary {
    summary.groups[0].video.as_ref().unwrap()
}

#[test]
fn video_that_fits_plays_without_a_stall() {
    for extra in ["", "adaptation = \"bola\"", "users = 3\nstart = \"0s..4s\""] {
        let text = viewers("20mbit", &format!("ladder = [\"2mbit\"]\n{extra}"));
        let summary = simulate(&text);
        let video = seen(&summary);
        let users = summary.groups[0].members;
        assert_eq!((video.stalls, video.switches, video.begun), (0, 0, users), "{extra}");
        assert_eq!((video.played_s, video.stalled), (80.0 * users as f64, Some(0.0)));
        // As much comes as is played: a segment in four seconds.
        assert!(video.segments.abs_diff(20 * users) <= users, "{}", video.segments);
        assert_eq!(video.bitrate_bps, Some(2e6));
        let goodput = some(summary.groups[0].goodput_bps);
        assert!((goodput / (2e6 * users as f64) - 1.0).abs() < 0.06, "{goodput}");
        // A handshake, a request, and a megabyte that slow start and the link take their time for.
        assert!((0.4..3.0).contains(&some(video.startup_s)), "{:?}", video.startup_s);
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{extra}");
    }
}

/// Four seconds of 4 Mb/s take about eight over 2 Mb/s: half of the time is a stall, and every
/// segment that comes ends one.
#[test]
fn video_that_does_not_fit_stalls_for_what_is_missing() {
    let summary = simulate(&viewers("2mbit", "ladder = [\"4mbit\"]"));
    let video = seen(&summary);
    // Of 1500 bytes of a packet 1448 are payload; a request takes a round trip.
    let each = 4.0 * 2.0 * 1500.0 / 1448.0 + 0.04;
    let wanted = 80.0 * 4.0 / each;
    assert!((video.played_s - wanted).abs() < 4.0, "within a segment: {video:?} {wanted}");
    assert!(video.stalls.abs_diff(video.segments) <= 1, "{video:?}");
    assert!((video.played_s + video.stalled_s - 80.0).abs() < 1e-6, "{video:?}");
}

#[test]
fn player_takes_what_its_share_allows() {
    for adaptation in ["throughput", "bola"] {
        let fields = format!("users = 2\nstart = \"0s..4s\"\nadaptation = \"{adaptation}\"");
        let [slow, fast] = ["2mbit", "10mbit"].map(|rate| {
            let summary = simulate(&viewers(rate, &fields));
            assert_eq!(seen(&summary).stalls, 0, "{adaptation} {rate}");
            some(seen(&summary).bitrate_bps)
        });
        // Never more than a viewer's share of the link; not half of it either.
        assert!((0.45e6..1e6).contains(&slow), "{adaptation}: {slow}");
        assert!((2.3e6..5e6).contains(&fast), "{adaptation}: {fast}");
    }
}

#[test]
fn viewers_who_have_gone_see_no_stall() {
    let summary = simulate(&viewers("10mbit", "users = 2\nstop = \"60s\""));
    let video = seen(&summary);
    assert_eq!((video.stalls, video.stalled_s, video.played_s), (0, 0.0, 80.0));
}

/// Connections that fail are opened anew after a second, and the segment is asked for again.
#[test]
fn lost_connections_are_replaced() {
    let hasty = "tcp = { profile = \"classic\", initial_rto = \"1ms\", syn_retries = 0 }";
    let summary = simulate(&viewers("10mbit", hasty));
    let group = &summary.groups[0];
    assert!((75..=80).contains(&group.failed), "{}", group.failed);
    assert_eq!((group.finished, seen(&summary).begun), (0, 0));
    assert_eq!(seen(&summary).stalled, None);
}
