//! Users of pages over each version of HTTP, and viewers of films.

use super::{check_router, number, summary};
use serde_json::Value;

#[test]
fn web_users_get_their_pages() {
    let Some(summary) = summary(
        "web",
        r#"
        duration = "6s"
        warmup = "1s"
        [tcp]
        profile = "classic"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "pi", qref = 24 }
        [[traffic]]
        kind = "web"
        users = 40
        model = "custom"
        think = { dist = "exponential", mean = "500ms" }
        response = { dist = "exponential", mean = "20kB" }
        rtt = "20ms..60ms"
        "#,
    ) else {
        return;
    };
    check_router(&summary);
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
    let Some(summary) = summary(
        "quic-web",
        r#"
        duration = "6s"
        warmup = "1s"
        [bottleneck]
        rate = "10mbit"
        delay = "5ms"
        qdisc = { kind = "pi", qref = 24 }
        [[traffic]]
        kind = "web"
        users = 20
        model = "custom"
        transport = "quic"
        think = { dist = "exponential", mean = "500ms" }
        response = { dist = "exponential", mean = "20kB" }
        rtt = "20ms..60ms"
        [[traffic]]
        kind = "video"
        transport = "quic"
        ladder = ["1mbit"]
        segment = "1s"
        buffer = "4s"
        "#,
    ) else {
        return;
    };
    check_router(&summary);
    let [web, video] = [0, 1].map(|group| &summary["groups"][group]);
    assert!(number(&web["finished"]) > 50.0, "{web}");
    assert_eq!(web["failed"], 0, "{web}");
    assert!(number(&web["response_time_s"]["p50"]) > 0.03, "{web}");
    assert_eq!(video["video"]["stalls"], 0, "{video}");
    assert!(number(&video["video"]["played_s"]) > 3.5, "{video}");
}

#[test]
fn pages_come_whole_over_http_2_and_3() {
    let group = |name: &str, more: &str| {
        format!(
            r#"
        [[traffic]]
        kind = "web"
        name = "{name}"
        users = 3
        model = "custom"
        think = {{ dist = "exponential", mean = "300ms" }}
        embedded = 12.0
        request = "700B"
        response = {{ dist = "exponential", mean = "20kB" }}
        server_delay = "5ms"
        rtt = "40ms"
        {more}
        "#
        )
    };
    let groups = group("secured", "http = \"2\"")
        + &group("bare", "http = \"2\"\ntls = false")
        + &group("quinn", "http = \"3\"\npriorities = \"rfc9218\"");
    let Some(summary) = summary(
        "pages",
        &format!(
            "duration = \"6s\"\n[tcp]\nprofile = \"modern\"\n[bottleneck]\nrate = \"30mbit\"\n\
             delay = \"5ms\"\nqdisc = {{ kind = \"fq_codel\" }}\n{groups}"
        ),
    ) else {
        return;
    };
    check_router(&summary);
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
    let Some(summary) = summary(
        "viewers",
        r#"
        duration = "9s"
        warmup = "3s"
        [tcp]
        profile = "modern"
        congestion = "cubic"
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        [[traffic]]
        kind = "video"
        users = 2
        ladder = ["1mbit"]
        segment = "1s"
        buffer = "4s"
        [[traffic]]
        kind = "video"
        ladder = ["2mbit"]
        segment = "1s"
        buffer = "4s"
        stop = "6s"
        "#,
    ) else {
        return;
    };
    check_router(&summary);
    let [two, one] = [0, 1].map(|group| &summary["groups"][group]["video"]);
    for (video, users, seconds) in [(two, 2.0, 6.0), (one, 1.0, 3.0)] {
        assert_eq!((number(&video["begun"]), number(&video["stalls"])), (users, 0.0), "{video}");
        // The window begins and ends when the thread that counts gets round to it.
        assert!((number(&video["played_s"]) - users * seconds).abs() < 0.5, "{video}");
        assert!((number(&video["segments"]) - users * seconds).abs() <= users + 1.0, "{video}");
    }
    assert_eq!(number(&two["bitrate_bps"]), 1e6);
}
