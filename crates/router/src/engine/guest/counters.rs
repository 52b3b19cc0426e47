//! A discipline's own counters, asked of the kernel: what it dropped, why, and its probability.

use super::fate::{Lanes, Reading};
use super::netlink;
use crate::net::Namespace;
use libc::{RTM_GETQDISC, RTM_NEWQDISC, TCA_KIND, TCA_STATS2};
use netlink_packet_core::{NLA_TYPE_MASK, NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE};
use netlink_sys::Socket;
use std::io;

/// In a discipline's statistics those of the queue and the discipline's own (linux/gen_stats.h).
const TCA_STATS_QUEUE: u16 = 3;
const TCA_STATS_APP: u16 = 4;
/// Lengths of the headers.
const MESSAGE: usize = 16;
const TC: usize = 20;

/// Asks for the discipline below the shaper of one device.
pub(super) struct Asker {
    socket: Socket,
    device: i32,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Asker {
    /// One for the device of this name in a namespace.
    ///
    /// # Errors
    /// In one line.
    pub(super) fn new(space: &Namespace, device: &str) -> Result<Self, String> {
        let (socket, index) = netlink::open(space, device)
            .map_err(|error| format!("counters of {device}: {error}"))?;
        let mut request = Vec::with_capacity(MESSAGE + TC);
        request.extend(((MESSAGE + TC) as u32).to_ne_bytes());
        request.extend(RTM_GETQDISC.to_ne_bytes());
        request.extend((NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
        request.extend([0; MESSAGE + TC - 8]);
        request[MESSAGE + 4..MESSAGE + 8].copy_from_slice(&index.to_ne_bytes());
        Ok(Self { socket, device: index, request, answer: Vec::with_capacity(1 << 16) })
    }

    /// The counters now; the time is the caller's to set.
    ///
    /// # Errors
    /// If the kernel does not answer.
    pub(super) fn ask(&mut self) -> io::Result<Reading> {
        self.socket.send(&self.request, 0)?;
        let mut reading = Reading::default();
        loop {
            self.answer.clear();
            self.socket.recv(&mut self.answer, 0)?;
            let mut rest = self.answer.as_slice();
            while let Some(length) = word(rest, 0).map(|length| length as usize)
                && (MESSAGE..=rest.len()).contains(&length)
            {
                match half(rest, 4) {
                    Some(NLMSG_DONE) => return Ok(reading),
                    Some(RTM_NEWQDISC) => self.look(&rest[MESSAGE..length], &mut reading),
                    _ => return Err(io::Error::other("an answer that is none")),
                }
                rest = &rest[length.next_multiple_of(4).min(rest.len())..];
            }
        }
    }

    /// A discipline of the device, if it is the one below the shaper, by its number.
    fn look(&self, message: &[u8], reading: &mut Reading) {
        let (index, handle) = (word(message, 4), word(message, 8));
        if index != Some(self.device as u32)
            || handle.map(|handle| handle >> 16) != Some(netlink::QUEUE >> 16)
        {
            return;
        }
        let attributes = message.get(TC..).unwrap_or_default();
        let kind = find(attributes, TCA_KIND).unwrap_or_default();
        let kind = std::str::from_utf8(kind).unwrap_or_default().trim_end_matches('\0');
        let statistics = find(attributes, TCA_STATS2).unwrap_or_default();
        // linux/gen_stats.h: qlen, backlog, drops, requeues, overlimits.
        let dropped = find(statistics, TCA_STATS_QUEUE).and_then(|queue| word(queue, 8));
        reading.dropped = dropped.unwrap_or(0).into();
        let own = find(statistics, TCA_STATS_APP).unwrap_or_default();
        let limited = find(statistics, TCA_STATS_QUEUE).and_then(|queue| word(queue, 16));
        reading.overflow = match kind {
            // Of its own it has none; the queue's overlimits are its packets beyond the limit.
            "dualpi2" => limited.unwrap_or(0).into(),
            _ => overflow(kind, own).unwrap_or(reading.dropped),
        };
        reading.lanes = (kind == "dualpi2").then(|| lanes(own)).flatten();
        reading.probability = probability(kind, own);
    }
}

/// Drops because of a limit, of the statistics of each kind in linux/pkt_sched.h; none: all of
/// them.
fn overflow(kind: &str, own: &[u8]) -> Option<u64> {
    let at = |place: usize| word(own, 4 * place).map(u64::from);
    match kind {
        // early, pdrop, …
        "red" | "choke" => at(1),
        // prob (8 bytes), delay, avg_dq_rate, dq_rate_estimating, packets_in, dropped, overlimit
        "pie" => at(7),
        // packets_in, dropped, overlimit, overmemory
        "fq_pie" => Some(at(2)? + at(3)?),
        // maxpacket, count, lastcount, ldelay, drop_next, drop_overlimit
        "codel" => at(5),
        // type, maxpacket, drop_overlimit
        "fq_codel" => at(2),
        "cake" => Some(0),
        _ => None,
    }
}

/// Of those that have one and tell it.
fn probability(kind: &str, own: &[u8]) -> f64 {
    match (kind, own.get(..8)) {
        ("pie", Some(bytes)) => {
            let mut value = [0; 8];
            value.copy_from_slice(bytes);
            u64::from_ne_bytes(value) as f64 / u64::MAX as f64
        }
        // prob, in 32 bits: that of the base, whose square is the classic queue's.
        ("dualpi2", Some(_)) => {
            let base = f64::from(word(own, 0).unwrap_or(0)) / f64::from(u32::MAX);
            base * base
        }
        _ => 0.0,
    }
}

/// What `sch_dualpi2` counts of its queues: prob, delay_c, delay_l, packets_in_c, packets_in_l,
/// maxq, ecn_mark, step_marks, …
fn lanes(own: &[u8]) -> Option<Lanes> {
    let at = |place: usize| word(own, 4 * place).map(u64::from);
    // Those of the step are among the marks.
    let (marks, step) = (at(6)?, at(7)?);
    Some(Lanes { entered: [at(4)?, at(3)?], marks: [marks.saturating_sub(step), step] })
}

/// The contents of the first attribute of this type.
fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(half(attributes, 0)?);
        let contents = attributes.get(4..length)?;
        if half(attributes, 2)? & NLA_TYPE_MASK == wanted {
            return Some(contents);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|b| u16::from_ne_bytes([b[0], b[1]]))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[u32]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_ne_bytes()).collect()
    }

    #[test]
    fn attributes_are_found_behind_others() {
        let mut bytes = Vec::new();
        bytes.extend(6u16.to_ne_bytes());
        bytes.extend(1u16.to_ne_bytes());
        bytes.extend([b'a', 0, 0, 0]);
        bytes.extend(8u16.to_ne_bytes());
        bytes.extend(7u16.to_ne_bytes());
        bytes.extend([1, 2, 3, 4]);
        assert_eq!(find(&bytes, 1), Some(&[b'a', 0][..]));
        assert_eq!(find(&bytes, 7), Some(&[1, 2, 3, 4][..]));
        assert_eq!(find(&bytes, 9), None);
        assert_eq!(find(&bytes[..3], 1), None);
    }

    #[test]
    fn limit_drops_are_read_for_each_qdisc() {
        assert_eq!(overflow("codel", &words(&[0, 0, 0, 0, 0, 6, 0])), Some(6));
        assert_eq!(overflow("red", &words(&[5, 2, 0, 0])), Some(2));
        assert_eq!(overflow("fq_pie", &words(&[9, 9, 1, 2, 0])), Some(3));
        assert_eq!(overflow("pfifo", &[]), None, "all of them");
        let half = (u64::MAX / 2).to_ne_bytes();
        assert!((probability("pie", &half) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn dualpi2_counts_each_of_its_queues() {
        let own = words(&[u32::MAX / 2, 15_000, 400, 70, 30, 9, 12, 5, 0, 0, 0, 0]);
        assert_eq!(lanes(&own), Some(Lanes { entered: [30, 70], marks: [7, 5] }));
        assert_eq!(lanes(&own[..20]), None, "a kernel that says less");
        assert!((probability("dualpi2", &own) - 0.25).abs() < 1e-6);
    }
}
