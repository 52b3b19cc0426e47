//! The hosts on one side of a tin, and how many busy queues each has.

use super::sets::{QUEUES, places};
use alloc::{vec, vec::Vec};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Host {
    tag: u32,
    /// Queues of this host that have used up a quantum and have more.
    bulk: u16,
}

/// Hosts of one side: sources, or destinations.
#[derive(Clone, Debug)]
pub(super) struct Hosts(Vec<Host>);

impl Hosts {
    /// None yet. The table is empty if this side is not to share evenly.
    pub(super) fn new(counts: bool) -> Self {
        Self(vec![Host::default(); if counts { QUEUES } else { 0 }])
    }

    /// The place of the host with this hash. One without busy queues gives its place up; where
    /// all have some, the hash's own place is shared.
    pub(super) fn find(&mut self, hash: u32) -> u16 {
        if self.0.is_empty() {
            return 0;
        }
        let known = places(hash).find(|&at| self.0[at].tag == hash);
        let at = known.unwrap_or_else(|| {
            let idle = places(hash).find(|&at| self.0[at].bulk == 0);
            let at = idle.unwrap_or(hash as usize % QUEUES);
            self.0[at].tag = hash;
            at
        });
        at as u16
    }

    /// A queue of the host becomes busy.
    #[inline]
    pub(super) fn busier(&mut self, at: u16) {
        if let Some(host) = self.0.get_mut(usize::from(at)) {
            host.bulk += 1;
        }
    }

    /// A busy queue of the host has become empty.
    #[inline]
    pub(super) fn quieter(&mut self, at: u16) {
        if let Some(host) = self.0.get_mut(usize::from(at)) {
            host.bulk -= 1;
        }
    }

    /// How many busy queues the host has.
    #[inline]
    pub(super) fn load(&self, at: u16) -> u16 {
        self.0.get(usize::from(at)).map_or(0, |host| host.bulk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_place_of_its_set_while_it_is_busy() {
        let mut hosts = Hosts::new(true);
        let own = hosts.find(1024 + 3);
        assert_eq!(own, 3);
        // An idle host gives its place up.
        assert_eq!(hosts.find(3), 3);
        hosts.busier(3);
        assert_eq!((hosts.find(1024 + 3), hosts.find(3)), (4, 3));
        hosts.busier(4);
        hosts.busier(4);
        assert_eq!((hosts.load(3), hosts.load(4), hosts.load(5)), (1, 2, 0));
        hosts.quieter(4);
        assert_eq!((hosts.load(4), hosts.find(1024 + 3)), (1, 4));
        // With all eight busy the hash's own place is shared, and takes the newcomer's name.
        for at in [0, 1, 2, 5, 6, 7] {
            assert_eq!(hosts.find(at), at as u16);
            hosts.busier(at as u16);
        }
        assert_eq!((hosts.find(2048 + 6), hosts.load(6)), (6, 1));
        assert_eq!(hosts.find(2048 + 6), 6);
    }

    #[test]
    fn a_side_that_is_not_shared_evenly_counts_nothing() {
        let mut hosts = Hosts::new(false);
        hosts.busier(0);
        hosts.quieter(0);
        assert_eq!((hosts.find(77), hosts.load(0)), (0, 0));
    }
}
