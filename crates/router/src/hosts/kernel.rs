//! What a namespace's own kernel has counted, to be held against the router's counts and ours.

use crate::net::{Error, Namespace};

/// Counters of one namespace since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounters {
    /// Segments that were sent again (`Tcp: RetransSegs`).
    pub retransmitted: u64,
    /// Of those, SYNs (`TcpExt: TCPSynRetrans`).
    pub syns_retransmitted: u64,
    /// Packets that came with the mark CE (`IpExt: InCEPkts`).
    pub marked: u64,
    /// Packets that came (`Ip: InReceives`).
    pub received: u64,
    /// Duplicates that receivers told of (`TcpExt: TCPDSACKRecv`).
    pub duplicates: u64,
}

/// Reads them.
///
/// # Errors
/// If the namespace cannot be entered or its files cannot be read.
pub fn counters(space: &Namespace) -> Result<KernelCounters, Error> {
    let mut text = String::new();
    for file in ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"] {
        text += &space.run(|| std::fs::read_to_string(file).map_err(|e| Error::of(file, e)))?;
    }
    Ok(parse(&text))
}

/// Lines come in pairs: names, and values.
fn parse(text: &str) -> KernelCounters {
    let value = |table: &str, wanted: &str| {
        let mut lines = text.lines().filter(|line| line.split(':').next() == Some(table));
        let (names, values) = (lines.next()?, lines.next()?);
        let mut columns = names.split_whitespace().zip(values.split_whitespace());
        columns.find(|(name, _)| *name == wanted)?.1.parse().ok()
    };
    let or_none = |table, wanted| value(table, wanted).unwrap_or(0);
    KernelCounters {
        retransmitted: or_none("Tcp", "RetransSegs"),
        syns_retransmitted: or_none("TcpExt", "TCPSynRetrans"),
        marked: or_none("IpExt", "InCEPkts"),
        received: or_none("Ip", "InReceives"),
        duplicates: or_none("TcpExt", "TCPDSACKRecv"),
    }
}

impl std::ops::Sub for KernelCounters {
    type Output = Self;
    fn sub(self, start: Self) -> Self {
        Self {
            retransmitted: self.retransmitted - start.retransmitted,
            syns_retransmitted: self.syns_retransmitted - start.syns_retransmitted,
            marked: self.marked - start.marked,
            received: self.received - start.received,
            duplicates: self.duplicates - start.duplicates,
        }
    }
}

impl std::ops::Add for KernelCounters {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            retransmitted: self.retransmitted + other.retransmitted,
            syns_retransmitted: self.syns_retransmitted + other.syns_retransmitted,
            marked: self.marked + other.marked,
            received: self.received + other.received,
            duplicates: self.duplicates + other.duplicates,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_name() {
        let text = "Ip: Forwarding InReceives\nIp: 2 77\nTcp: ActiveOpens RetransSegs InErrs\n\
                    Tcp: 1 5 0\nTcpExt: TCPDSACKRecv TCPSynRetrans\nTcpExt: 3 2\n\
                    IpExt: InNoRoutes InCEPkts\nIpExt: 0 9\n";
        let wanted = KernelCounters {
            retransmitted: 5,
            syns_retransmitted: 2,
            marked: 9,
            received: 77,
            duplicates: 3,
        };
        assert_eq!(parse(text), wanted);
        assert_eq!(parse(""), KernelCounters::default());
    }
}
