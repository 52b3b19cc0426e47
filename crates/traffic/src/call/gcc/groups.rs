//! Packets in groups: how much longer one was under way than the one before it (section 5.2).

use sojourn_base::Time;

/// Packets sent within this time of a group's first are of that group.
const BURST: Time = Time::from_millis(5);

/// Packets sent together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    sent: Time,
    arrived: Time,
}

/// What a complete group says; all in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variation {
    /// By how much longer it was under way than the one before.
    pub delay: f64,
    /// Time between the two at the sender.
    pub sent: f64,
    /// Time between the two at the receiver.
    pub received: f64,
}

/// The group under way, and the last complete one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    last: Option<Group>,
}

impl Groups {
    /// A packet that was sent and arrived at these times; what it says if it ends a group.
    pub(super) fn take(&mut self, sent: Time, arrived: Time) -> Option<Variation> {
        let new = Group { first_sent: sent, sent, arrived };
        let Some(group) = &mut self.current else {
            self.current = Some(new);
            return None;
        };
        if sent < group.first_sent {
            // One of an earlier group says nothing more.
            return None;
        }
        if sent <= group.first_sent + BURST {
            group.sent = group.sent.max(sent);
            group.arrived = group.arrived.max(arrived);
            return None;
        }
        let done = std::mem::replace(group, new);
        let before = self.last.replace(done)?;
        let sent = milliseconds(done.sent) - milliseconds(before.sent);
        let received = milliseconds(done.arrived) - milliseconds(before.arrived);
        Some(Variation { delay: received - sent, sent, received })
    }
}

fn milliseconds(time: Time) -> f64 {
    time.0 as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_ends_with_the_first_packet_of_the_next() {
        let mut groups = Groups::default();
        let mut at = |sent: f64, arrived: f64| {
            groups.take(Time((sent * 1e6) as u64), Time((arrived * 1e6) as u64))
        };
        // Two groups of two, then a packet that was overtaken, then the next group.
        assert!(
            [at(0.0, 50.0), at(2.0, 53.0), at(33.0, 83.0), at(38.0, 95.0)]
                .iter()
                .all(Option::is_none)
        );
        assert!(at(2.5, 96.0).is_none());
        let found = at(66.0, 120.0).unwrap();
        assert_eq!((found.sent, found.received), (36.0, 42.0));
        assert!((found.delay - 6.0).abs() < 1e-9);
    }
}
