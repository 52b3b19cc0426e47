//! Users of pages over each version of HTTP, and viewers of films.

use super::scenario::Scenario;
use super::{number, summary};
use serde_json::Value;

/// Half a second between answers of 20 kB.
const BROWSING: &str = r#"model = "custom", think = { dist = "exponential", mean = "500ms" },
    response = { dist = "exponential", mean = "20kB" }, rtt = "20ms..60ms""#;
/// A film in segments of a second, of which four are kept.
const FILM: &str = r#"segment = "1s", buffer = "4s""#;

#[test]
fn web_users_get_their_pages() {
    let scenario = Scenario::new("6s", "10mbit", "5ms", r#"{ kind = "pi", qref = 24 }"#)
        .with(r#"warmup = "1s""#)
        .with(r#"tcp.profile = "classic""#)
        .group("web", &format!("users = 40, {BROWSING}"));
    let Some(summary) = summary("web", &scenario) else { return };
    let web = &summary["groups"][0];
    assert!(number(&web["finished"]) > 100.0, "{web}");
    assert_eq!(web["failed"], 0, "{web}");
    // Two round trips at least, and a window of 16 KiB.
    assert!(number(&web["response_time_s"]["p50"]) > 0.03, "{web}");
    let told = summary["hosts"]["differences"].to_string();
    assert!(told.contains("tcp.initial_rto = 3s; Linux: 1s"), "{told}");
}

#[test]
fn web_users_get_their_pages_over_quic() {
    let scenario = Scenario::new("6s", "10mbit", "5ms", r#"{ kind = "pi", qref = 24 }"#)
        .with(r#"warmup = "1s""#)
        .group("web", &format!(r#"users = 20, transport = "quic", {BROWSING}"#))
        .group("video", &format!(r#"ladder = ["1mbit"], transport = "quic", {FILM}"#));
    let Some(summary) = summary("quic-web", &scenario) else { return };
    let [web, video] = [0, 1].map(|group| &summary["groups"][group]);
    assert!(number(&web["finished"]) > 50.0, "{web}");
    assert_eq!(web["failed"], 0, "{web}");
    assert!(number(&web["response_time_s"]["p50"]) > 0.03, "{web}");
    assert_eq!(video["video"]["stalls"], 0, "{video}");
    assert!(number(&video["video"]["played_s"]) > 3.5, "{video}");
}

#[test]
fn pages_come_whole_over_http_2_and_3() {
    let pages = r#"users = 3, model = "custom", embedded = 12.0, request = "700B",
        think = { dist = "exponential", mean = "300ms" }, server_delay = "5ms",
        response = { dist = "exponential", mean = "20kB" }, rtt = "40ms""#;
    let scenario = Scenario::new("6s", "30mbit", "5ms", r#""fq_codel""#)
        .with(r#"tcp.profile = "modern""#)
        .group("web", &format!(r#"name = "secured", http = "2", {pages}"#))
        .group("web", &format!(r#"name = "bare", http = "2", tls = false, {pages}"#))
        .group("web", &format!(r#"name = "quinn", http = "3", priorities = "rfc9218", {pages}"#));
    let Some(summary) = summary("pages", &scenario) else { return };
    let [secured, bare, quinn] = [0, 1, 2].map(|at| &summary["groups"][at]);
    for group in [secured, bare, quinn] {
        assert_eq!((&group["failed"], &group["pages"]["incomplete"]), (&0.into(), &0.into()));
        let pages = number(&group["pages"]["load_time_s"]["count"]);
        assert!(pages > 9.0, "{group}");
        // Of three users each may be in the midst of a page.
        let objects = number(&group["finished"]);
        assert!((13.0 * pages..=13.0 * (pages + 3.0)).contains(&objects), "{group}");
        assert!(number(&group["goodput_bps"]) > 1e6, "{group}");
    }
    // A round trip for TCP, one for TLS, one for the document; QUIC's handshake is one.
    let first = |group: &Value| number(&group["pages"]["first_byte_s"]["p50"]);
    assert!(first(bare) > 0.08, "{bare}");
    assert!(first(secured) > first(bare) + 0.03, "{secured} {bare}");
    assert!((0.08..first(secured) - 0.01).contains(&first(quinn)), "{quinn} {secured}");
    let told = summary["hosts"]["differences"].to_string();
    assert!(told.contains("quinn: priorities = "), "{told}");
    assert!(!told.contains("bare: priorities"), "{told}");
}

#[test]
fn viewers_play_what_comes() {
    let scenario = Scenario::new("9s", "20mbit", "5ms", r#""droptail""#)
        .modern("cubic")
        .with(r#"warmup = "3s""#)
        .group("video", &format!(r#"users = 2, ladder = ["1mbit"], {FILM}"#))
        .group("video", &format!(r#"ladder = ["2mbit"], stop = "6s", {FILM}"#));
    let Some(summary) = summary("viewers", &scenario) else { return };
    let [two, one] = [0, 1].map(|group| &summary["groups"][group]["video"]);
    for (video, users, seconds) in [(two, 2.0, 6.0), (one, 1.0, 3.0)] {
        assert_eq!((number(&video["begun"]), number(&video["stalls"])), (users, 0.0), "{video}");
        // The window begins and ends when the thread that counts gets round to it.
        assert!((number(&video["played_s"]) - users * seconds).abs() < 0.5, "{video}");
        assert!((number(&video["segments"]) - users * seconds).abs() <= users + 1.0, "{video}");
    }
    assert_eq!(number(&two["bitrate_bps"]), 1e6);
}
