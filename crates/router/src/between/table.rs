//! The table at the end of a run.

use sojourn_records::{LinkSummary, RouterSummary, Summary};
use std::fmt::Write;

/// The links and the router, for a person.
pub(super) fn table(summary: &Summary) -> String {
    let head = [
        "link",
        "Mbit/s",
        "util %",
        "packets",
        "dropped",
        "marked",
        "queue",
        "p99",
        "sojourn ms",
        "p99",
    ];
    let mut rows: Vec<Vec<String>> = vec![head.map(String::from).to_vec()];
    rows.extend(summary.links.iter().map(link));
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // Names to the left, numbers to the right. A string takes all that is written.
            let _ = match column {
                0 => write!(text, "{cell:width$}"),
                _ => write!(text, "  {cell:>width$}"),
            };
        }
        text.push('\n');
    }
    if let Some(router) = &summary.router {
        text.push_str(&lateness(router, summary.simulated_s));
    }
    text
}

fn link(link: &LinkSummary) -> Vec<String> {
    let number = |value: Option<f64>, unit: f64, digits: usize| {
        value.map_or_else(|| "–".into(), |v| format!("{:.digits$}", v / unit))
    };
    vec![
        link.name.clone(),
        number(link.throughput_bps, 1e6, 2),
        number(link.utilisation, 0.01, 1),
        link.counts.dequeued.to_string(),
        link.counts.dropped.to_string(),
        link.counts.marked.to_string(),
        number(link.queue_packets.mean, 1.0, 1),
        number(link.queue_packets.p99, 1.0, 0),
        number(link.sojourn_s.mean, 1e-3, 2),
        number(link.sojourn_s.p99, 1e-3, 2),
    ]
}

fn lateness(router: &RouterSummary, seconds: f64) -> String {
    let late = &router.lateness_s.quantiles;
    let micros = |value: Option<f64>| value.map_or(0.0, |v| v * 1e6);
    let share = if seconds > 0.0 { router.cpu_s / seconds * 100.0 } else { 0.0 };
    let mut text = format!(
        "late by {:.0} µs (median), {:.0} µs (99 %), {:.1} ms (most); {share:.0} % of a core\n",
        micros(late.p50),
        micros(late.p99),
        micros(late.max) / 1e3,
    );
    if router.merged > 0 {
        let (merged, delivered) = (router.merged, router.delivered);
        let _ = writeln!(text, "{merged} of {delivered} packets were merged with others");
    }
    if router.refused > 0 {
        let _ = writeln!(text, "{} packets were refused", router.refused);
    }
    if router.late {
        let _ = writeln!(
            text,
            "THE MACHINE WAS TOO BUSY: 1 % of packets were late by more than {:.1} ms",
            router.lateness_limit_s * 1e3
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_aligned_and_flags_late_run() {
        let mut summary = Summary { simulated_s: 2.0, ..Summary::default() };
        for name in ["bottleneck", "reverse"] {
            let throughput_bps = Some(9.6e6);
            summary.links.push(LinkSummary {
                name: name.into(),
                throughput_bps,
                ..LinkSummary::default()
            });
        }
        let router =
            RouterSummary { cpu_s: 0.2, late: true, merged: 3, delivered: 8, ..<_>::default() };
        summary.router = Some(router);
        let text = table(&summary);
        let lines: Vec<&str> = text.lines().collect();
        let at = |line: usize, what: &str| lines[line].find(what).map(|at| at + what.len());
        assert_eq!(at(1, "9.60"), at(0, "Mbit/s"));
        assert_eq!(lines[1].chars().count(), lines[2].chars().count());
        assert!(text.contains("10 % of a core") && text.contains("TOO BUSY"), "{text}");
        assert!(text.contains("3 of 8 packets were merged"), "{text}");
    }
}
