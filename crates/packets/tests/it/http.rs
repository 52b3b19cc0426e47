//! Web users over HTTP/2 and HTTP/3: round trips, turns, losses, and what is told of them.

use crate::common::{difference, records, simulate, some, unfused};
use sojourn_records::Summary;

/// Users over 100 Mb/s and 40 ms whose pages have a document and so many objects.
fn users(objects: u32, bytes: &str, rest: &str) -> String {
    format!(
        "duration = \"100s\"\nwarmup = \"20s\"\n[bottleneck]\nrate = \"100mbit\"\n\
         [[traffic]]\nkind = \"web\"\nmodel = \"custom\"\nusers = 5\nthink = \"2s\"\n\
         response = \"1kB\"\nembedded = {objects}\nembedded_response = \"{bytes}\"\n\
         rtt = \"40ms\"\n{rest}\n"
    )
}

fn load(summary: &Summary) -> f64 {
    some(summary.groups[0].pages.as_ref().unwrap().load_time_s.quantiles.max)
}

const TWO: &str = "http = \"2\"";
const PLAIN: &str = "http = \"2\"\ntls = false";
const THREE: &str = "http = \"3\"";

#[test]
fn a_page_takes_the_round_trips_of_one_connection() {
    // A handshake, one more for TLS over TCP, the document, and all that it names at once.
    for (http, handshakes) in [(TWO, 2), (PLAIN, 1), (THREE, 1)] {
        for (objects, exchanges) in [(0, 1), (1, 2), (10, 2), (100, 2)] {
            let text = users(objects, "50B", http);
            let summary = simulate(&text);
            let pages = summary.groups[0].pages.as_ref().unwrap();
            let wanted = 0.04 * f64::from(handshakes + exchanges);
            let found = load(&summary);
            // A hundred requests, 35 kB, exceed the first window: up to two more round trips.
            let slack = if objects == 100 { 0.085 } else { 0.004 };
            assert!((wanted..wanted + slack).contains(&found), "{http} {objects}: {found}");
            assert_eq!(
                (pages.incomplete, pages.begun),
                (0, pages.load_time_s.count + pages.censored)
            );
            assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{http} {objects}");
        }
    }
}

#[test]
fn each_server_has_a_connection_with_a_handshake_of_its_own() {
    for (http, handshakes) in [(TWO, 2), (PLAIN, 1), (THREE, 1)] {
        for (servers, objects) in [(2, 1), (2, 10), (5, 10)] {
            // Everything but the document comes from others, all at once.
            let rest = format!("{http}\nservers = {servers}\nfirst_share = 0");
            let text = users(objects, "50B", &rest);
            let summary = simulate(&text);
            let wanted = 0.04 * f64::from(2 * handshakes + 2);
            let found = load(&summary);
            assert!((wanted..wanted + 0.004).contains(&found), "{rest}: {found}");
            assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{rest}");
            // The connection to the first is kept for the next page, those to others are not.
            let kept = format!("{text}pages_per_connection = 1000\n");
            let found = load(&simulate(&kept));
            let wanted = wanted - 0.04 * f64::from(handshakes);
            assert!((wanted..wanted + 0.004).contains(&found), "{rest} kept: {found}");
        }
    }
}

#[test]
fn servers_at_their_own_distances_lose_packets_one_by_one() {
    for http in [TWO, THREE] {
        let rest = format!("{http}\nservers = 4\nserver_rtt = \"60ms..200ms\"");
        let text = users(20, "30kB", &rest).replace("rate = ", "loss = 0.05\nrate = ");
        let summary = simulate(&text);
        let group = &summary.groups[0];
        assert!(group.finished > 500, "{http}: {}", group.finished);
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{http}");
    }
}

#[test]
fn objects_of_a_recording_stay_on_their_hosts_unless_servers_are_given() {
    // The document and a script on its host, a picture on another: two exchanges over HTTP/2, and
    // with a host of its own the picture takes two round trips more for its handshakes.
    let drawn = users(0, "1kB", TWO);
    let without = "response = \"1kB\"\nembedded = 0\nembedded_response = \"1kB\"";
    assert!(drawn.contains(without));
    for (servers, round_trips) in [("", 6), ("servers = 1", 4)] {
        let recorded =
            format!("model = \"httparchive\"\nhar = \"tests/golden/hosts.har\"\n{servers}");
        let text = drawn.replace(without, &recorded).replace("model = \"custom\"\n", "");
        let wanted = 0.04 * f64::from(round_trips);
        let found = load(&simulate(&text));
        assert!((wanted..wanted + 0.004).contains(&found), "{servers}: {found}");
    }
}

#[test]
fn with_priorities_a_script_comes_first_and_what_it_names_needs_no_round_trip_of_its_own() {
    // A picture and a script of half a megabyte come in turns, both at the end, and the link idles
    // for a round trip until what the script names does. With priorities the picture fills that.
    for http in [PLAIN, TWO, THREE] {
        let load = |priorities: &str| {
            let text = users(0, "1kB", &format!("{http}\npriorities = \"{priorities}\""));
            let drawn = "response = \"1kB\"\nembedded = 0\nembedded_response = \"1kB\"";
            let text = text.replace(drawn, "har = \"tests/golden/chain.har\"");
            let text = text.replace("custom", "httparchive").replace("100mbit", "20mbit");
            let text = text.replace("users = 5", "users = 1");
            let summary = simulate(&text);
            assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{http}");
            let pages = summary.groups[0].pages.as_ref().unwrap();
            assert!(pages.load_time_s.count > 20 && pages.incomplete == 0);
            let index = some(pages.byte_index_s.quantiles.mean);
            (some(pages.load_time_s.quantiles.mean), index)
        };
        let (turns, urgent) = (load("none"), load("rfc9218"));
        let gain = turns.0 - urgent.0;
        assert!((0.0395..0.0415).contains(&gain), "{http}: {turns:?} {urgent:?}");
        assert!(urgent.1 < turns.1 - 0.04, "{http}: {turns:?} {urgent:?}");
    }
}

#[test]
fn a_connection_that_is_kept_needs_no_handshake_for_the_next_page() {
    for http in [TWO, THREE] {
        let text = users(1, "1kB", &format!("{http}\npages_per_connection = 1000"));
        let summary = simulate(&text);
        assert!((0.08..0.085).contains(&load(&summary)), "{http}: {}", load(&summary));
    }
}

#[test]
fn objects_take_turns() {
    // Twenty objects of 100 kB take 0.16 s of the link. In turns half of them are there when nearly
    // all are; one by one half would be there at half the time.
    for http in [TWO, THREE] {
        let text = users(20, "100kB", http);
        let summary = simulate(&text);
        let response = &summary.groups[0].response_time_s.quantiles;
        assert!(some(response.p50) > 0.8 * some(response.p90), "{http}: {response:?}");
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
    }
}

#[test]
fn a_loss_holds_all_objects_of_a_tcp_connection_and_those_in_the_packet_over_quic() {
    // Ten objects of 500 bytes, which come in five packets or so: of those that follow a lost one
    // over TCP none is there before it.
    let mean = |http: &str| {
        let text = users(10, "500B", http).replace("rate = ", "loss = 0.02\nrate = ");
        let text = text.replace("users = 5", "users = 50");
        let summary = simulate(&text);
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{http}");
        some(summary.groups[0].response_time_s.quantiles.mean)
    };
    let (two, three) = (mean(PLAIN), mean(THREE));
    assert!(three < 0.95 * two, "{two} {three}");
}

#[test]
fn every_exchange_is_in_the_table_with_its_first_byte() {
    for http in [TWO, PLAIN, THREE] {
        let text = users(10, "30kB", &format!("{http}\n[probes]\nexchanges = true"));
        let (summary, files) = records(&text);
        let group = &summary.groups[0];
        assert!(files.iter().any(|(name, _)| name.contains("exchanges")), "{http}");
        // Eleven objects a page; some are under way at the end.
        let pages = group.pages.as_ref().unwrap().load_time_s.count;
        assert!(group.finished.abs_diff(11 * pages) <= 55, "{http}: {} {pages}", group.finished);
        assert_eq!(group.failed, 0);
    }
}

#[test]
fn first_bytes_come_a_round_trip_after_requests_and_the_handshakes_before_the_document() {
    for (http, handshakes) in [(TWO, 2), (PLAIN, 1), (THREE, 1)] {
        for kept in [1, 1000] {
            let rest = format!("{http}\npages_per_connection = {kept}\nserver_delay = \"10ms\"");
            // The first object is much longer than what comes in a packet.
            let text =
                users(1, "300kB", &rest).replace("response = \"1kB\"", "response = \"99kB\"");
            let summary = simulate(&text);
            let pages = summary.groups[0].pages.as_ref().unwrap();
            let document = some(pages.first_byte_s.quantiles.p50);
            let wanted = 0.05 + if kept == 1 { 0.04 * f64::from(handshakes) } else { 0.0 };
            assert!((wanted..wanted * 1.02).contains(&document), "{http} {kept}: {document}");
            let exchanges = summary.groups[0].first_byte_s.as_ref().unwrap();
            let (least, most) = (exchanges.cdf[0].0, some(exchanges.quantiles.max));
            assert!(0.05 <= least && most < 0.0515, "{http} {kept}: {least} to {most}");
            assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{http} {kept}");
        }
    }
}

#[test]
fn requests_of_0_rtt_need_no_handshake_before_their_first_byte() {
    let summary = simulate(&users(0, "1kB", &format!("{THREE}\nquic = {{ zero_rtt = true }}")));
    let pages = summary.groups[0].pages.as_ref().unwrap();
    assert!((0.04..0.042).contains(&some(pages.first_byte_s.quantiles.max)), "{pages:?}");
    let exchanges = summary.groups[0].first_byte_s.as_ref().unwrap();
    assert!((0.04..0.042).contains(&some(exchanges.quantiles.max)), "{exchanges:?}");
}

#[test]
fn what_is_lost_for_good_fails_every_object_on_the_connection() {
    let hasty = "tcp = { profile = \"classic\", initial_rto = \"1ms\", syn_retries = 0 }";
    let summary = simulate(&users(3, "1kB", &format!("{PLAIN}\n{hasty}")));
    let pages = summary.groups[0].pages.as_ref().unwrap();
    assert_eq!((pages.load_time_s.count, pages.censored), (0, 0));
    assert!(pages.incomplete > 100 && pages.incomplete == pages.begun, "{}", pages.incomplete);
    // The document arrives, and nothing from servers that are further away.
    let far = "servers = 4\nfirst_share = 0\nserver_rtt = \"300ms\"";
    let hasty = "tcp = { profile = \"classic\", initial_rto = \"100ms\", syn_retries = 0 }";
    let summary = simulate(&users(9, "1kB", &format!("{PLAIN}\n{hasty}\n{far}")));
    let pages = summary.groups[0].pages.as_ref().unwrap();
    assert_eq!((pages.load_time_s.count, pages.incomplete + pages.censored), (0, pages.begun));
    assert!(pages.incomplete > 100, "{}", pages.incomplete);
    assert!(summary.groups[0].finished >= pages.incomplete, "{}", summary.groups[0].finished);
}

#[test]
fn a_recorded_page_takes_the_round_trips_of_who_names_whom() {
    // The document, the script and the picture, and what the script asks for: three exchanges. Over
    // HTTP/1.1 the script comes over the connection that is open, the picture needs a handshake.
    for (http, round_trips) in [("", 4), (TWO, 5), (THREE, 4)] {
        let drawn = users(0, "1kB", http);
        let without = "response = \"1kB\"\nembedded = 0\nembedded_response = \"1kB\"";
        assert!(drawn.contains(without));
        let recorded = "model = \"httparchive\"\nhar = \"tests/golden/page.har\"\nparallel = 6";
        let text = drawn.replace(without, recorded).replace("model = \"custom\"\n", "");
        let summary = simulate(&text);
        let wanted = 0.04 * f64::from(round_trips);
        let found = load(&summary);
        assert!((wanted..wanted + 0.004).contains(&found), "{http}: {found}");
        let group = &summary.groups[0];
        let pages = group.pages.as_ref().unwrap().load_time_s.count;
        assert!(pages > 100 && group.finished.abs_diff(4 * pages) <= 20, "{http}: {pages}");
    }
}

#[test]
fn the_bytes_of_a_handshake_are_no_goodput() {
    // Every page is a document alone, on a connection of its own.
    for http in [TWO, PLAIN, THREE] {
        let rest = format!("{http}\npages_per_connection = 1");
        let text = users(0, "50B", &rest).replace("think", "request = \"500B\"\nthink");
        let summary = simulate(&text);
        let group = &summary.groups[0];
        let bytes = some(group.goodput_bps) * 80.0 / 8.0;
        let exchanges = group.finished as f64 * 1500.0;
        assert!(group.finished > 150, "{http}: {}", group.finished);
        assert!((bytes - exchanges).abs() < 4.0 * 1500.0, "{http}: {bytes} for {exchanges}");
    }
}
