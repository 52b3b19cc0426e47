//! How large a run will be, before it hurts: memory and rows of tables.

use sojourn_base::Time;
use sojourn_traffic::Source;

use crate::Scenario;

/// Measured, one flow of many in slow start: docs/explanation/performance.md.
const FLOW_BYTES: f64 = 1_500.0;
/// One web user in a busy group, likewise.
const USER_BYTES: f64 = 1_200.0;
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
            let remedy = if most.rows > 0.0 { "sample less often" } else { "ask for less" };
            return Some(format!(
                "{}: {} takes about {} GB of memory, and {} GB are free; {remedy}",
                most.path,
                most.value,
                gigabytes(most.bytes),
                gigabytes(free),
            ));
        }
        let part = parts.iter().find(|part| part.rows > MOST_ROWS)?;
        Some(format!(
            "{}: {} makes {:.1e} rows, and more than {MOST_ROWS:e} take minutes and gigabytes; \
             sample less often",
            part.path, part.value, part.rows,
        ))
    }

    /// The fields that make a run large.
    fn parts(&self, row: f64) -> Vec<Part> {
        let mut parts = Vec::new();
        for (number, group) in self.traffic.iter().enumerate() {
            let (field, each) = match &group.source {
                Source::Web(_) | Source::Video(_) => ("users", USER_BYTES),
                Source::Call(call) => ("flows", call.memory()),
                _ => ("flows", FLOW_BYTES),
            };
            parts.extend(group.source.members().map(|count| Part {
                path: format!("traffic[{number}].{field}"),
                value: count.to_string(),
                bytes: f64::from(count) * each,
                rows: 0.0,
            }));
        }
        let links = if self.bottleneck.is_some() { 2 } else { self.links.len().max(1) } as f64;
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
            });
        }
        parts
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
    fn calls_remember_what_they_sent() {
        let calls = "[[traffic]]\nkind = \"call\"\nflows = 100000";
        let room = |free| Room { free: Some(free), row: 0.0 };
        assert_eq!(said(calls, room(40e9)), None);
        let refused = said(calls, room(8e9)).unwrap();
        assert!(refused.starts_with("traffic[0].flows: 100000 takes about"), "{refused}");
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
