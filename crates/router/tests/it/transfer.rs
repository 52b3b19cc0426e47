//! Random bytes through the router with real TCP: intact, whatever happens to packets, and every
//! packet accounted for. Needs the right to make network namespaces.

use crate::common::{dumbbell, lab, server, with_settings};
use sojourn_base::{Kind, Stream};
use sojourn_router::forward::{Report, Settings};
use sojourn_router::hosts::sys;
use sojourn_router::net::Lab;
use sojourn_router::net::address::Side;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

/// Longer than any transfer takes.
const PATIENCE: Duration = Duration::from_secs(20);

fn random_bytes(count: usize) -> Vec<u8> {
    let mut stream = Stream::new(1, Kind::Test, 0, 0);
    (0..count.div_ceil(8)).flat_map(|_| stream.next_u64().to_le_bytes()).take(count).collect()
}

/// Sends bytes from left to right and gives back those that came.
fn transfer(lab: &Lab, bytes: &[u8]) -> Vec<u8> {
    let listener = lab.side(Side::Right).run(|| Ok(TcpListener::bind((server(), 5000)))).unwrap();
    let listener = listener.unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut came = Vec::new();
            stream.read_to_end(&mut came).unwrap();
            came
        });
        let stream = lab.side(Side::Left).run(|| Ok(TcpStream::connect((server(), 5000)))).unwrap();
        let mut stream = stream.unwrap();
        // Whatever the machine's own is, which need not fill a queue.
        let (tcp, option) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
        sys::set_text(stream.as_fd(), tcp, option, "reno").unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        drop(stream);
        reader.join().unwrap()
    })
}

/// Whether every packet is accounted for, in the router and at each link.
fn check(report: &Report) {
    let r = &report.router;
    assert_eq!(r.received, r.delivered + r.refused + r.dropped + r.lost + r.held, "{r:?}");
    assert_eq!((r.malformed, r.no_buffer, r.undeliverable, r.too_long), (0, 0, 0, 0), "{r:?}");
    for link in &report.links {
        link.check_conservation().unwrap();
    }
    let sum =
        |of: fn(&sojourn_records::LinkSummary) -> u64| report.links.iter().map(of).sum::<u64>();
    assert_eq!(r.dropped, sum(|l| l.counts.dropped));
    assert_eq!(r.lost, sum(|l| l.lost));
}

fn intact(test: &str, bottleneck: &str, bytes: usize) -> Option<Report> {
    intact_if(test, bottleneck, bytes, Settings::default())
}

fn intact_if(test: &str, bottleneck: &str, bytes: usize, settings: Settings) -> Option<Report> {
    let (lab, tuns) = lab(test, &[("net.ipv4.tcp_ecn", "1")])?;
    let sent = random_bytes(bytes);
    let (came, report) =
        with_settings(dumbbell(bottleneck), tuns, settings, || transfer(&lab, &sent));
    assert!(came == sent, "{} bytes sent, {} came", sent.len(), came.len());
    check(&report);
    Some(report)
}

#[test]
fn bytes_arrive_intact_through_every_discipline_with_ecn() {
    for qdisc in [
        "{ kind = \"droptail\", limit = 30 }",
        "{ kind = \"pi\", qref = 20, ecn = true }",
        "{ kind = \"red\", min_th = 5, max_th = 15, ecn = true }",
        "{ kind = \"codel\", ecn = true }",
        "{ kind = \"fq_codel\", ecn = true }",
        "{ kind = \"pie\", ecn = true }",
        "{ kind = \"dualpi2\" }",
        "{ kind = \"tbf\", rate = \"20mbit\", burst = \"10kB\" }",
    ] {
        let bottleneck = format!("rate = \"40mbit\"\ndelay = \"5ms\"\nqdisc = {qdisc}");
        let Some(report) = intact("every discipline", &bottleneck, 1_500_000) else { return };
        let link = &report.links[0];
        assert!(link.counts.dequeued_bytes > 1_500_000, "{qdisc}: {link:?}");
    }
}

#[test]
fn marks_are_set_in_the_packets_and_heeded() {
    // A threshold that a single flow crosses, and no drops of the discipline's own.
    let bottleneck = "rate = \"20mbit\"\ndelay = \"5ms\"\n\
                      qdisc = { kind = \"red\", min_th = 2, max_th = 15, wq = 0.1, ecn = true }";
    let Some(report) = intact("marks", bottleneck, 2_500_000) else { return };
    let counts = &report.links[0].counts;
    assert!(counts.marked > 0, "{counts:?}");
    assert!(counts.queued_at_end < 5);
}

#[test]
fn bytes_arrive_intact_over_a_wire_that_loses_and_reorders() {
    let bottleneck = "rate = \"40mbit\"\ndelay = \"2ms\"\nloss = 0.01\njitter = \"0ms..2ms\"\n\
                      reorder = true\nreverse = \"ideal\"";
    let Some(report) = intact("loss and reordering", bottleneck, 1_000_000) else { return };
    assert!(report.router.lost > 0, "{:?}", report.router);
}

#[test]
fn bytes_arrive_intact_while_the_rate_changes_and_fails() {
    let bottleneck = "rate = \"40mbit\"\ndelay = \"2ms\"\nschedule = { kind = \"steps\", steps = \
                      [[\"100ms\", \"8mbit\"], [\"300ms\", \"0bit\"], [\"500ms\", \"30mbit\"]] }";
    let Some(report) = intact("changing rates", bottleneck, 1_500_000) else { return };
    assert!(report.end_s > 0.7, "an outage of 0.2 s is within: {}", report.end_s);
}

#[test]
fn bytes_arrive_intact_when_packets_are_merged() {
    let bottleneck = "rate = \"10gbit\"\ndelay = \"100us\"\nloss = 0.0005\n\
                      qdisc = { kind = \"red\", min_th = 20, max_th = 200, ecn = true }";
    for merge in [false, true] {
        let settings = Settings { merge, ..Settings::default() };
        let Some(report) = intact_if("merged packets", bottleneck, 30_000_000, settings) else {
            return;
        };
        // A burst may come in a few pieces, but these are long.
        let expected = if merge { report.router.delivered / 2 } else { 0 };
        let merged = report.router.merged;
        assert!(merged >= expected && (merge || merged == 0), "{:?}", report.router);
    }
}
