//! Pages of web users: how long they take to load.

use crate::common::{difference, simulate, some, unfused};

/// Users over 100 Mb/s and 40 ms whose pages have a document and so many objects, 1 kB each.
fn users(objects: u32, rest: &str) -> String {
    format!(
        "duration = \"100s\"\nwarmup = \"20s\"\n[bottleneck]\nrate = \"100mbit\"\n\
         [[traffic]]\nkind = \"web\"\nmodel = \"custom\"\nusers = 5\nthink = \"2s\"\n\
         response = \"1kB\"\nembedded = {objects}\nparallel = 6\nrtt = \"40ms\"\n{rest}\n"
    )
}

#[test]
fn page_takes_the_round_trips_of_its_connections() {
    // The document: a handshake and an exchange. Then six at a time: the connection that is open
    // asks at once, the others shake hands first; what is left asks on the connection that is
    // done, or on a new one where none is kept.
    for (objects, kept, round_trips) in
        [(0, 1, 2), (1, 1, 3), (2, 1, 4), (6, 1, 4), (7, 1, 4), (0, 0, 2), (1, 0, 4), (6, 0, 4)]
    {
        let text = users(objects, &format!("persistent = {kept}"));
        let summary = simulate(&text);
        let pages = summary.groups[0].pages.as_ref().unwrap();
        let load = &pages.load_time_s;
        // A packet of a kilobyte takes 0.1 ms.
        let wanted = 0.04 * f64::from(round_trips);
        let found = some(load.quantiles.max);
        assert!((wanted..wanted + 0.003).contains(&found), "{objects}, {kept}: {found}");
        // Before the document's first byte there is the handshake; of exchanges, whose request is
        // sent behind it, a round trip each.
        let first = some(pages.first_byte_s.quantiles.max);
        assert!((0.08..0.082).contains(&first), "{objects}, {kept}: {first}");
        assert_eq!(pages.first_byte_s.count, load.count);
        let exchanges = summary.groups[0].first_byte_s.as_ref().unwrap();
        let (least, most) = (exchanges.cdf[0].0, some(exchanges.quantiles.max));
        assert!(0.04 < least && most < 0.042, "{objects}, {kept}: {least} to {most}");
        assert_eq!(exchanges.count, summary.groups[0].response_time_s.count);
        // The document's byte index is when it came; with six objects, one comes a round trip
        // later and five when the page ends.
        let index = some(pages.byte_index_s.quantiles.max);
        if objects == 0 {
            assert_eq!(index.to_bits(), found.to_bits());
        } else if objects == 6 && kept == 1 {
            let wanted = 0.04 * f64::from(2 + 3 + 5 * 4) / 7.0;
            assert!((wanted..wanted + 0.003).contains(&index), "{index}");
        }
        assert_eq!((pages.incomplete, pages.begun), (0, load.count + pages.censored));
        // One after another with two seconds between.
        let each = 80.0 / (2.0 + wanted);
        assert!((load.count as f64 / (5.0 * each) - 1.0).abs() < 0.05, "{}", load.count);
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
    }
}

#[test]
fn each_server_takes_a_handshake_when_its_first_object_is_asked_for() {
    // The document from the first, everything else from the other, which may be farther away.
    let two = "servers = 2\nfirst_share = 0\npersistent = 1";
    for (objects, rtt, seconds) in [
        (0, "", 0.08),
        (1, "", 0.16),
        (6, "", 0.16),
        (7, "", 0.2),
        (1, "server_rtt = \"100ms\"", 0.28),
        (0, "server_rtt = \"100ms\"", 0.08),
    ] {
        let text = users(objects, &format!("{two}\n{rtt}"));
        let summary = simulate(&text);
        let pages = summary.groups[0].pages.as_ref().unwrap();
        let found = some(pages.load_time_s.quantiles.max);
        assert!((seconds..seconds + 0.003).contains(&found), "{objects}, {rtt}: {found}");
        assert_eq!((pages.incomplete, pages.begun), (0, pages.load_time_s.count + pages.censored));
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
    }
}

#[test]
fn round_trips_are_drawn_for_each_user_or_each_connection() {
    let seen = |per: &str, kept: u32| {
        let text = users(0, &format!("persistent = {kept}\nrtt_per = \"{per}\""))
            .replace("rtt = \"40ms\"", "rtt = \"40ms..120ms\"");
        let summary = simulate(&text);
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
        let group = &summary.groups[0];
        let load = group.pages.as_ref().unwrap().load_time_s.quantiles;
        (group.first_byte_s.clone().unwrap(), load)
    };
    let (users, _) = seen("user", 0);
    assert!(users.cdf.len() <= 6, "{:?}", users.cdf);
    let (each, load) = seen("connection", 0);
    assert!(each.cdf.len() > 30, "{:?}", each.cdf);
    // Uniform: a tenth of it below 48 ms, half of it below 80; 170 connections.
    let low = each.cdf.iter().find(|(_, share)| *share >= 0.1).unwrap().0;
    let (middle, high) = (some(each.quantiles.p50), some(each.quantiles.p90));
    assert!((low - 0.048).abs() < 0.008 && (high - 0.112).abs() < 0.008, "{low} {high}");
    assert!((middle - 0.08).abs() < 0.012, "{middle}");
    // Both round trips of a connection, its handshake's and its exchange's, are the same.
    let twice = some(load.p50) / middle;
    assert!((twice - 2.0).abs() < 0.01, "{twice}");
}

#[test]
fn more_servers_have_more_connections_at_a_time() {
    // Sixty objects of one server take ten rounds over six connections; of twelve, about one.
    let load = |servers: u32| {
        let summary = simulate(&users(60, &format!("servers = {servers}\npersistent = 1")));
        some(summary.groups[0].pages.as_ref().unwrap().load_time_s.quantiles.p50)
    };
    let (one, twelve) = (load(1), load(12));
    assert!((0.52..0.56).contains(&one), "{one}");
    assert!(twelve < 0.75 * one, "{one} {twelve}");
}

#[test]
fn page_whose_connections_fail_is_incomplete() {
    let hasty = "tcp = { profile = \"classic\", initial_rto = \"1ms\", syn_retries = 0 }";
    let summary = simulate(&users(1, hasty));
    let pages = summary.groups[0].pages.as_ref().unwrap();
    assert_eq!((pages.load_time_s.count, pages.censored), (0, 0));
    assert!(pages.incomplete > 100 && pages.incomplete == pages.begun, "{}", pages.incomplete);
}

#[test]
fn pages_of_today_load_over_a_home_line() {
    let text = "duration = \"200s\"\nwarmup = \"20s\"\n[tcp]\nprofile = \"modern\"\n\
                [bottleneck]\nrate = \"50mbit\"\nqdisc = \"fq_codel\"\n\
                [[traffic]]\nkind = \"web\"\nmodel = \"httparchive\"\nusers = 10\nrtt = \"40ms\"\n";
    let summary = simulate(text);
    let load = &summary.groups[0].pages.as_ref().unwrap().load_time_s;
    // 2.7 MB take 0.44 s at this rate, and the round trips of 71 requests, six at a time, 0.5 s.
    assert!((0.6..1.8).contains(&some(load.quantiles.p50)), "{:?}", load.quantiles);
    assert!(load.count > 30, "{}", load.count);
}

#[test]
fn page_takes_a_round_trip_more_for_each_level_of_its_graph() {
    // With sixty objects every level has some; each has a place of its own. The document and what
    // it names take four round trips as above, and connections are open for what comes below if
    // there are as many above.
    let load = |levels: u32| {
        let level = format!("level = {{dist = \"uniform\", min = 1, max = {levels}, step = 1}}");
        let text = users(60, &level).replace("parallel = 6", "persistent = 1\nparallel = 64");
        let summary = simulate(&text);
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
        let pages = summary.groups[0].pages.clone().unwrap();
        assert_eq!(pages.incomplete, 0);
        (some(pages.load_time_s.quantiles.p50), some(pages.byte_index_s.quantiles.p50))
    };
    let (flat, above) = (load(1), load(3));
    assert!((0.16..0.18).contains(&flat.0), "{flat:?}");
    // A connection that is not open yet takes two round trips instead of one.
    assert!((0.08 - 0.01..0.16 + 0.01).contains(&(above.0 - flat.0)), "{above:?}");
    assert!(flat.1 < flat.0 && above.1 < above.0 && above.1 > flat.1, "{flat:?}, {above:?}");
}
