//! The interfaces of hosts: one for each flow, or one that several flows of a machine share.
//!
//! Nothing is ever lost at either, so that a packet's time of departure follows the moment it
//! comes. What comes to a private interface comes in order. To a shared one it does only if every
//! packet comes at its own time: flows that share a machine never run ahead of the clock.

use crate::side::Side;
use sojourn_base::Time;
use sojourn_link::Serialiser;

/// How the hosts of a group are connected at either end.
#[derive(Clone)]
pub(crate) enum Access {
    /// Without a rate.
    Unlimited,
    /// Each flow has an interface of its own.
    Private(Serialiser),
    /// The interfaces are those of [`Net::interfaces`](crate::net::Net).
    Shared(Serialiser),
}

impl Access {
    /// When a packet of `bytes` that reaches its host's interface at `now` has crossed it. None if
    /// that cannot be told yet, `ahead` of its time.
    #[inline(always)]
    pub(crate) fn enter(
        &self,
        now: Time,
        bytes: u32,
        side: &mut Side,
        interfaces: &mut [Interface],
        ahead: bool,
    ) -> Option<Time> {
        match self {
            Self::Unlimited => Some(now),
            Self::Private(link) => {
                Some(link.cross(now, bytes, &mut side.in_free, &mut side.in_carry))
            }
            Self::Shared(_) if ahead => None,
            Self::Shared(link) => Some(interfaces[side.in_interface()].cross(link, now, bytes)),
        }
    }
}

/// One direction of the interface of a machine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interface {
    /// When it is free.
    pub free: Time,
    /// The fraction that its transmissions left over.
    pub carry: u64,
}

impl Interface {
    /// When a packet that comes at `now` has crossed it.
    #[inline]
    pub(crate) fn cross(&mut self, link: &Serialiser, now: Time, ip_bytes: u32) -> Time {
        link.cross(now, ip_bytes, &mut self.free, &mut self.carry)
    }
}

/// The machines of a group: as many at either end, over which its members are dealt in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machines {
    /// The first of the group's interfaces.
    pub first: u32,
    pub count: u32,
}

impl Machines {
    /// How many interfaces they have: two ends, in and out.
    pub(crate) const fn interfaces(count: u32) -> usize {
        4 * count as usize
    }

    /// The interfaces of member `index`, out of its machine and into it; `back`: at the end that
    /// data go to.
    pub(crate) fn of(&self, index: u64, back: bool) -> [u32; 2] {
        let machine = (index % u64::from(self.count)) as u32 + if back { self.count } else { 0 };
        let out = self.first + 2 * machine;
        [out, out + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_dealt_over_machines_and_no_interface_is_used_twice() {
        let machines = Machines { first: 10, count: 2 };
        let all: Vec<u32> = [(0, false), (1, false), (0, true), (1, true)]
            .iter()
            .flat_map(|&(i, b)| machines.of(i, b))
            .collect();
        assert_eq!(all, (10..18).collect::<Vec<_>>());
        assert_eq!(all.len(), Machines::interfaces(2));
        assert_eq!(machines.of(4, true), machines.of(0, true));
        assert_ne!(machines.of(4, true), machines.of(4, false));
    }

    #[test]
    fn packet_at_a_busy_interface_waits_for_those_before() {
        let link = Serialiser::new(1_000_000_000, 0, 0);
        let mut interface = Interface::default();
        assert_eq!(interface.cross(&link, Time(100), 1250), Time(10_100));
        assert_eq!(interface.cross(&link, Time(200), 1250), Time(20_100));
        assert_eq!(interface.cross(&link, Time(50_000), 125), Time(51_000));
    }
}
