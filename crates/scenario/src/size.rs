//! How large a run will be, before it hurts: memory and rows of tables.

use sojourn_base::{Rate, Size, Time};
use sojourn_traffic::Source;

use crate::copies::Counts;
use crate::{Group, NamedLink, Scenario};

/// Measured, one flow of many in slow start: docs/explanation/performance.md.
const FLOW_BYTES: f64 = 1_500.0;
/// One web user in a busy group, likewise.
const USER_BYTES: f64 = 1_200.0;
/// One of many links, with CAKE's three times 1024 queues and its histograms, likewise.
const LINK_BYTES: f64 = 440_000.0;
/// A packet under way: its event, in a table that doubles when it is full.
const PACKET_BYTES: f64 = 150.0;
/// A share of the memory that is free: other runs and the system want some.
const SHARE: f64 = 0.8;
/// Sampling that many takes minutes and fills gigabytes.
const MOST_ROWS: f64 = 500e6;

/// What there is for a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// Bytes of memory that can be had; `None` if nobody knows.
    pub free: Option<f64>,
    /// Bytes that a row takes; 0 if rows do not stay in memory.
    pub row: f64,
}

/// What one field of a scenario takes.
struct Part {
    path: String,
    value: String,
    bytes: f64,
    rows: f64,
    remedy: &'static str,
}

impl Scenario {
    /// Why the run would not fit: the field that asks for most, what it takes, and what to do.
    #[must_use]
    pub fn too_large(&self, room: Room) -> Option<String> {
        let parts = self.parts(room.row);
        let wanted: f64 = parts.iter().map(|part| part.bytes).sum();
        let most = parts.iter().max_by(|a, b| a.bytes.total_cmp(&b.bytes))?;
        if let Some(free) = room.free
            && wanted > SHARE * free
        {
            return Some(format!(
                "{}: {} takes about {} GB of memory, and {} GB are free; {}",
                most.path,
                most.value,
                gigabytes(most.bytes),
                gigabytes(free),
                most.remedy,
            ));
        }
        let part = parts.iter().find(|part| part.rows > MOST_ROWS)?;
        Some(format!(
            "{}: {} makes {:.1e} rows, and more than {MOST_ROWS:e} take minutes and gigabytes; \
             {}",
            part.path, part.value, part.rows, part.remedy,
        ))
    }

    /// The fields that make a run large.
    fn parts(&self, row: f64) -> Vec<Part> {
        let mut parts = Vec::new();
        let counts = Counts::new(&self.links);
        let many = |link: &NamedLink| link.count > 1 && link.link.rate.is_some();
        for (number, link) in self.links.iter().enumerate().filter(|(_, link)| many(link)) {
            parts.push(Part {
                path: format!("links[{number}].count"),
                value: link.count.to_string(),
                bytes: f64::from(link.count) * LINK_BYTES,
                rows: 0.0,
                remedy: "ask for less",
            });
        }
        for (number, group) in self.traffic.iter().enumerate() {
            let copies = f64::from(counts.group(group));
            let (field, each) = match &group.source {
                Source::Web(_) | Source::Video(_) => ("users", USER_BYTES),
                Source::Call(call) => ("flows", call.memory()),
                _ => ("flows", FLOW_BYTES),
            };
            parts.extend(group.source.members().map(|count| Part {
                path: format!("traffic[{number}].{field}"),
                value: count.to_string(),
                bytes: copies * f64::from(count) * each,
                rows: 0.0,
                remedy: "ask for less",
            }));
            parts.extend(open_loop(&group.source).map(|(field, value, packets_per_s)| Part {
                path: format!("traffic[{number}].{field}"),
                value: format!("\"{value}\""),
                bytes: copies * packets_per_s * self.under_way_s(group) * PACKET_BYTES,
                rows: 0.0,
                remedy: "send less, or over a shorter round trip",
            }));
            parts.extend(self.arriving(group).map(|(field, value, most)| Part {
                path: format!("traffic[{number}].{field}"),
                value: value.to_string(),
                bytes: copies * most * FLOW_BYTES,
                rows: 0.0,
                remedy: "let fewer arrive",
            }));
        }
        let made: f64 = self.links.iter().map(|link| f64::from(link.count)).sum();
        let links = if self.bottleneck.is_some() { 2.0 } else { made.max(1.0) };
        let probes = &self.probes;
        let sampled = [
            ("interval", probes.queues.then_some(probes.interval)),
            ("packet_counts", probes.packet_counts),
        ];
        for (field, step) in sampled {
            let Some(step) = step.filter(|step| *step > Time::ZERO) else { continue };
            let rows = links * self.duration.as_secs_f64() / step.as_secs_f64();
            parts.push(Part {
                path: format!("probes.{field}"),
                value: format!("\"{step}\""),
                bytes: rows * row,
                rows,
                remedy: "sample less often",
            });
        }
        parts
    }

    /// The field that says how many transfers arrive, its value, and how many are there at once at
    /// most: those under way, and those that the bottleneck cannot carry. `None` for other sources.
    fn arriving(&self, group: &Group) -> Option<(&'static str, f64, f64)> {
        let Source::Transfers(transfers) = &group.source else { return None };
        let mean = transfers.size.sampler("size").ok().map(|size| size.mean());
        let mean = mean.filter(|mean| mean.is_finite())?.max(1.0);
        let rate = self.bottleneck.as_ref().and_then(|dumbbell| dumbbell.link.rate);
        let carried = rate.map_or(f64::INFINITY, |rate| rate.as_f64() / (8.0 * mean));
        let (field, value, arrivals) = match (transfers.rate, transfers.load) {
            (Some(rate), _) => ("rate", rate, rate),
            (None, Some(load)) => ("load", load, load * carried),
            (None, None) => return None,
        };
        let left = (arrivals - carried).max(0.0);
        let most = arrivals * self.under_way_s(group) + left * self.duration.as_secs_f64();
        most.is_finite().then_some((field, value, most))
    }

    /// For how long at most packets of a group are under way, queues aside: a mean round trip, or
    /// as long as the run takes.
    fn under_way_s(&self, group: &Group) -> f64 {
        let written = group.rtt.as_ref().and_then(|rtt| rtt.sampler("rtt").ok());
        let own = written.map_or(0.0, |rtt| rtt.mean() / 1e9);
        let links = self.links.iter().map(|link| link.link.delay);
        let path: Time = links.chain(self.bottleneck.as_ref().map(|link| link.link.delay)).sum();
        own.max(2.0 * path.as_secs_f64()).min(self.duration.as_secs_f64())
    }
}

/// The field that says how fast an open-loop source sends, its value, and the packets a second of
/// that; `None` for what waits for answers.
fn open_loop(source: &Source) -> Option<(&'static str, String, f64)> {
    let at_rate = |flows: u32, rate: Rate, size: Size| {
        let packets_per_s = f64::from(flows) * rate.as_f64() / (8.0 * size.0 as f64);
        Some(("rate", rate.to_string(), packets_per_s))
    };
    match source {
        Source::Udp(udp) => at_rate(udp.flows, udp.rate, udp.packet),
        Source::OnOff(onoff) => at_rate(onoff.flows, onoff.rate, onoff.packet),
        Source::Ping(ping) => {
            let packets_per_s = f64::from(ping.flows) / ping.interval.as_secs_f64();
            Some(("interval", ping.interval.to_string(), packets_per_s))
        }
        _ => None,
    }
}

/// Three digits.
fn gigabytes(bytes: f64) -> String {
    let count = bytes / 1e9;
    let digits = match count {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    let text = format!("{count:.digits$}");
    if digits > 0 { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(more: &str, room: Room) -> Option<String> {
        let text = format!(
            "duration = \"100s\"\n[bottleneck]\nrate = \"1gbit\"\nqdisc = \"droptail\"\n{more}"
        );
        Scenario::from_toml(&text, "test").unwrap().too_large(room)
    }

    const FLOWS: &str = "[[traffic]]\nkind = \"bulk\"\nflows = 2000000";
    const SAMPLES: &str =
        "[[traffic]]\nkind = \"ping\"\n[probes]\nqueues = true\ninterval = \"1us\"";

    #[test]
    fn run_is_refused_when_its_flows_do_not_fit() {
        let room = |free| Room { free: Some(free), row: 0.0 };
        assert_eq!(said(FLOWS, room(4e9)), None);
        assert_eq!(said(FLOWS, Room { free: None, row: 0.0 }), None);
        assert_eq!(
            said(FLOWS, room(3.5e9)).unwrap(),
            "traffic[0].flows: 2000000 takes about 3 GB of memory, and 3.5 GB are free; ask for less"
        );
    }

    #[test]
    fn transfers_that_the_link_cannot_carry_pile_up() {
        let transfers = |rate: f64| {
            let kind = "kind = \"transfers\"\nsize = \"10kB\"\nrtt = \"40ms\"";
            said(&format!("[[traffic]]\n{kind}\nrate = {rate}"), Room { free: Some(4e9), row: 0.0 })
        };
        // 1 Gb/s are 12 500 a second.
        assert_eq!(transfers(12_000.0), None);
        assert_eq!(
            transfers(2_000_000.0).unwrap(),
            "traffic[0].rate: 2000000 takes about 298 GB of memory, and 4 GB are free; let fewer \
             arrive"
        );
    }

    #[test]
    fn links_made_many_times_count_with_what_hangs_on_them() {
        let town = |count: u32, flows: u32| {
            let text = format!(
                "duration = \"1s\"\n[[links]]\nname = \"down\"\nfrom = \"town\"\n\
                 to = \"house\"\nrate = \"1gbit\"\ncount = {count}\n[[links]]\n\
                 name = \"up\"\nfrom = \"house\"\nto = \"town\"\ncount = {count}\n\
                 [[links]]\nname = \"trunk\"\nfrom = \"net\"\nto = \"town\"\n[[links]]\n\
                 name = \"back\"\nfrom = \"town\"\nto = \"net\"\n[[traffic]]\n\
                 kind = \"bulk\"\nflows = {flows}\nfrom = \"net\"\nto = \"house\""
            );
            let scenario = Scenario::from_toml(&text, "test").unwrap();
            scenario.too_large(Room { free: Some(4e9), row: 0.0 })
        };
        assert_eq!(town(100, 100), None);
        assert!(town(10_000, 1).unwrap().starts_with("links[0].count: 10000 takes about 4.4 GB"));
        assert!(town(100, 40_000).unwrap().starts_with("traffic[0].flows: 40000 takes about 6 GB"));
    }

    #[test]
    fn calls_remember_what_they_sent() {
        let calls = "[[traffic]]\nkind = \"call\"\nflows = 100000";
        let room = |free| Room { free: Some(free), row: 0.0 };
        assert_eq!(said(calls, room(40e9)), None);
        let refused = said(calls, room(8e9)).unwrap();
        assert!(refused.starts_with("traffic[0].flows: 100000 takes about"), "{refused}");
    }

    #[test]
    fn packets_under_way_count_where_nobody_waits_for_answers() {
        let pings = "[[traffic]]\nkind = \"ping\"\nflows = 100\ninterval = \"1us\"\nrtt = \"10s\"";
        let room = Room { free: Some(20e9), row: 0.0 };
        let refused = said(pings, room).unwrap();
        assert_eq!(
            refused,
            "traffic[0].interval: \"1us\" takes about 150 GB of memory, and 20 GB are free; \
             send less, or over a shorter round trip"
        );
        assert_eq!(said(&pings.replace("10s", "10ms"), room), None);
        let udp = "[[traffic]]\nkind = \"udp\"\nrate = \"100gbit\"\nrtt = \"20s\"";
        let refused = said(udp, room).unwrap();
        assert!(refused.starts_with("traffic[0].rate: \"100gbit\" takes about 25 GB"), "{refused}");
    }

    #[test]
    fn rows_count_where_they_stay_in_memory() {
        let room = |row| Room { free: Some(4e9), row };
        assert_eq!(said(SAMPLES, room(0.0)), None);
        let kept = said(SAMPLES, room(100.0)).unwrap();
        assert!(kept.starts_with("probes.interval: \"1us\" takes about 20 GB"), "{kept}");
        assert!(kept.ends_with("sample less often"), "{kept}");
        let many = said(&SAMPLES.replace("1us", "100ns"), room(0.0)).unwrap();
        assert!(many.contains("makes 2.0e9 rows, and more than 5e8"), "{many}");
    }
}
