//! Pages in HAR files (HTTP Archive 1.2), as browsers save them: which objects, how large, and who
//! names whom.
//!
//! Sizes are those on the wire: `_transferSize` where the browser tells it, else headers and body.
//! An entry of which nothing came over the network is left out. An object is named by the one whose
//! URL its `_initiator` has; without one, by the last that had come when it was asked for, or by
//! the document. Its server is the scheme, host and port of its URL.

use chrono::DateTime;
use serde::Deserialize;
use serde::de::IgnoredAny;
use sojourn_traffic::{MOST_SERVERS, Recorded};

/// Objects of a page are at most this many.
const MOST: usize = 10_000;

/// The longest file: what came is in it too, if the browser was asked for that.
pub(crate) const MAX_FILE: u64 = 256 << 20;

/// Bytes of a request whose headers are not told.
const REQUEST: i64 = 500;

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    started_date_time: String,
    /// Milliseconds.
    time: f64,
    request: Request,
    response: Response,
    #[serde(rename = "_initiator")]
    initiator: Option<Initiator>,
    /// `"memory"`, `"disk"`: not over the network.
    #[serde(rename = "_fromCache")]
    from_cache: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    url: String,
    #[serde(default)]
    headers_size: i64,
    #[serde(default)]
    body_size: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(default)]
    headers_size: i64,
    #[serde(default)]
    body_size: i64,
    #[serde(rename = "_transferSize")]
    transfer_size: Option<i64>,
}

#[derive(Deserialize)]
struct Initiator {
    url: Option<String>,
}

/// An object as far as the next ones ask for it.
struct Seen<'a> {
    url: &'a str,
    /// Milliseconds.
    ended: f64,
}

/// The objects of a page, the document first.
pub(crate) fn objects(text: &str) -> Result<Vec<Recorded>, String> {
    let har: Har = serde_json::from_str(text).map_err(|error| {
        format!("is no HAR file: {error}; save one from the network panel of a browser")
    })?;
    let mut entries = Vec::new();
    for (at, entry) in har.log.entries.iter().enumerate() {
        let told = &entry.started_date_time;
        let started = DateTime::parse_from_rfc3339(told).map_err(|_| {
            format!("entry {at}: startedDateTime \"{told}\" is not like 2026-01-31T12:00:00.000Z")
        })?;
        if !(0.0..1e9).contains(&entry.time) {
            return Err(format!("entry {at}: time {} is no number of milliseconds", entry.time));
        }
        let started = started.timestamp_micros() as f64 / 1e3;
        let bytes = on_the_wire(&entry.response);
        if bytes > 0 && entry.from_cache.is_none() {
            entries.push((started, bytes, entry));
        }
    }
    // A browser lists them by start; others do not have to. Equal ones keep their order.
    sojourn_base::sort_by(&mut entries, |a, b| a.0.total_cmp(&b.0));
    if !(1..=MOST).contains(&entries.len()) {
        return Err(format!(
            "has {} objects that came over the network; there must be 1 to {MOST}",
            entries.len()
        ));
    }
    let mut seen: Vec<Seen<'_>> = Vec::new();
    let mut servers: Vec<&str> = Vec::new();
    let objects = entries.into_iter().map(|(started, response, entry)| {
        let origin = origin(&entry.request.url);
        let server = servers.iter().position(|known| known.eq_ignore_ascii_case(origin));
        let server = server.unwrap_or_else(|| {
            servers.push(origin);
            servers.len() - 1
        });
        let object = Recorded {
            request: on_the_way(&entry.request),
            response,
            named_by: named_by(&seen, started, entry),
            // Too many of them are refused below.
            server: server.min(usize::from(u8::MAX)) as u8,
        };
        seen.push(Seen { url: &entry.request.url, ended: started + entry.time });
        object
    });
    let objects = objects.collect();
    if servers.len() > usize::from(MOST_SERVERS) {
        return Err(format!(
            "has objects of {} servers; there may be {MOST_SERVERS}: give servers instead",
            servers.len()
        ));
    }
    Ok(objects)
}

/// The part of a URL that says which server it is: all before the path.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

fn on_the_wire(response: &Response) -> u64 {
    let told = response.headers_size.max(0).saturating_add(response.body_size.max(0));
    // Chrome writes 0 for what it has taken from its cache, and less for what it does not know.
    response.transfer_size.filter(|size| *size >= 0).unwrap_or(told).unsigned_abs()
}

fn on_the_way(request: &Request) -> u32 {
    let headers = if request.headers_size > 0 { request.headers_size } else { REQUEST };
    let bytes = headers.saturating_add(request.body_size.max(0));
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn named_by(seen: &[Seen<'_>], started: f64, entry: &Entry) -> u32 {
    let url = entry.initiator.as_ref().and_then(|initiator| initiator.url.as_deref());
    let named = url.and_then(|url| seen.iter().rposition(|other| other.url == url));
    let had_come = || {
        let come = seen.iter().enumerate().filter(|(_, other)| other.ended <= started);
        come.max_by(|a, b| a.1.ended.total_cmp(&b.1.ended)).map(|(at, _)| at)
    };
    named.or_else(had_come).unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at_ms: u32, time: u32, url: &str, rest: &str, response: &str) -> String {
        format!(
            "{{\"startedDateTime\": \"2026-01-31T12:00:{:02}.{:03}+01:00\", \"time\": {time}, \
             \"request\": {{\"url\": \"{url}\", \"headersSize\": 400, \"bodySize\": 0}}, \
             \"response\": {{{response}}}{rest}}}",
            at_ms / 1000,
            at_ms % 1000
        )
    }

    fn har(entries: &[String]) -> String {
        format!("{{\"log\": {{\"version\": \"1.2\", \"entries\": [{}]}}}}", entries.join(", "))
    }

    #[test]
    fn sizes_and_who_names_whom() {
        let wire = "\"_transferSize\": 9000, \"bodySize\": 1";
        let told = "\"headersSize\": 300, \"bodySize\": 700";
        let cached = "\"headersSize\": 300, \"bodySize\": 0, \"_transferSize\": 0";
        let by = ", \"_initiator\": {\"type\": \"script\", \"url\": \"b\"}";
        let text = har(&[
            entry(0, 100, "a", "", wire),
            entry(110, 50, "b", "", told),
            entry(120, 400, "c", "", told),
            entry(130, 1, "cached", "", cached),
            entry(300, 50, "d", by, told),
            entry(600, 50, "e", "", told),
        ]);
        let found = objects(&text).unwrap();
        let object =
            |response, named_by, server| Recorded { request: 400, response, named_by, server };
        // The last that had come before "e" was asked for is "c".
        assert_eq!(
            found,
            [
                object(9000, 0, 0),
                object(1000, 0, 1),
                object(1000, 0, 2),
                object(1000, 1, 3),
                object(1000, 2, 4)
            ]
        );
    }

    #[test]
    fn objects_stay_on_the_hosts_of_their_urls() {
        let urls = [
            "https://a.org/",
            "https://A.org/x.js?y=https://b.org/",
            "https://b.org/z",
            "https://a.org:8443/",
            "http://a.org?q",
            "https://b.org/#1",
        ];
        let entries: Vec<_> =
            urls.iter().map(|url| entry(0, 1, url, "", "\"bodySize\": 5")).collect();
        let found = objects(&har(&entries)).unwrap();
        let servers: Vec<_> = found.iter().map(|object| object.server).collect();
        assert_eq!(servers, [0, 0, 1, 2, 3, 1]);
        let many =
            (0..101).map(|i| entry(0, 1, &format!("https://{i}.org/"), "", "\"bodySize\": 5"));
        let said = objects(&har(&many.collect::<Vec<_>>())).unwrap_err();
        assert!(said.starts_with("has objects of 101 servers; there may be 100"), "{said}");
    }

    #[test]
    fn what_is_no_page_is_refused_in_words() {
        let said = |text: &str| objects(text).unwrap_err();
        assert!(said("{}").starts_with("is no HAR file: missing field `log`"));
        assert!(said("[").starts_with("is no HAR file: "));
        assert!(said(&har(&[])).contains("has 0 objects"));
        let late = entry(0, 1, "a", "", "\"bodySize\": 5").replace("2026-01-31T", "yesterday ");
        assert!(said(&har(&[late])).starts_with("entry 0: startedDateTime \"yesterday 12:00"));
        let slow = entry(0, 1, "a", "", "\"bodySize\": 5").replace("\"time\": 1", "\"time\": -1");
        assert_eq!(said(&har(&[slow])), "entry 0: time -1 is no number of milliseconds");
    }
}
