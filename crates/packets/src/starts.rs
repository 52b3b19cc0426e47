//! Members that have not started yet. Only the next of them is an event, so that a hundred thousand
//! flows that start within a minute are not as many events before the first packet.

use crate::events::{Call, Event};
use crate::wheel::Wheel;
use sojourn_base::Time;

/// When each member starts, by its number; the last is the next one.
#[derive(Clone, Default)]
pub(crate) struct Starts(Vec<(Time, u32)>);

impl Starts {
    /// Members with their starts, in any order.
    pub(crate) fn new(mut starts: Vec<(Time, u32)>) -> Self {
        // As the events would come: by member where they start at one instant.
        starts.sort_unstable_by(|a, b| b.cmp(a));
        Self(starts)
    }

    /// Makes the next start an event.
    pub(crate) fn schedule(&mut self, wheel: &mut Wheel<Event>) {
        match self.0.pop() {
            Some((at, member)) => wheel.push(at, Event::Member { member, call: Call::Start }),
            None => self.0 = Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_come_one_by_one_in_order_of_time_and_member() {
        let (early, late) = (Time(5), Time(8));
        let mut starts = Starts::new(vec![(late, 0), (early, 2), (late, 3), (early, 1)]);
        let mut wheel = Wheel::new(1);
        starts.schedule(&mut wheel);
        for wanted in [(early, 1), (early, 2), (late, 0), (late, 3)] {
            let (at, place) = wheel.pop(Time::MAX).expect("a start");
            let Event::Member { member, call: Call::Start } = *wheel.event(place) else {
                panic!("no start")
            };
            assert_eq!((at, member), wanted);
            assert!(wheel.pop(Time::MAX).is_none(), "one at a time");
            starts.schedule(&mut wheel);
        }
        assert!(wheel.pop(Time::MAX).is_none());
        assert_eq!(starts.0.capacity(), 0);
    }
}
