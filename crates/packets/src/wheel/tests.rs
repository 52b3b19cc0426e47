use super::*;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event with a number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbered {
    order: u32,
    number: u32,
}

impl Ordered for Numbered {
    fn order(&self) -> u32 {
        self.order
    }

    /// Even ones are brief.
    fn brief(&self) -> Option<u32> {
        self.number.is_multiple_of(2).then_some(self.number << 2 | self.order)
    }

    fn of_brief(brief: u32) -> Self {
        Self { order: brief & 3, number: brief >> 2 }
    }
}

fn take(wheel: &mut Wheel<Numbered>, until: Time) -> Option<(Time, Numbered)> {
    wheel.pop(until).map(|(at, place)| (at, *wheel.event(place)))
}

/// How many events wait: the slots that are not free, and what waits without one.
fn len(wheel: &Wheel<Numbered>) -> usize {
    let next = |&slot: &u32| wheel.next.get(slot as usize).copied();
    let free = std::iter::successors(Some(wheel.free), next).filter(|&slot| slot != NONE);
    wheel.slots.len() - free.count() + wheel.overflow.brief()
}

#[test]
fn slot_of_an_event_is_one_cache_line() {
    assert_eq!(size_of::<Slot<crate::events::Event>>(), 64);
}

#[test]
fn equal_events_come_out_in_the_order_they_went_in() {
    for start in [0, u32::MAX - 2] {
        let mut wheel = Wheel::new(1024);
        wheel.counter = start;
        for i in 0..100 {
            wheel.push(Time::from_millis(50), Numbered { order: 7, number: i });
        }
        for i in 0..100 {
            assert_eq!(take(&mut wheel, Time::MAX).unwrap().1.number, i);
        }
    }
}

#[test]
fn events_beyond_horizon_stay_in_wheel() {
    let mut wheel = Wheel::new(64);
    wheel.push(Time(1000), Numbered { order: 0, number: 0 });
    assert!(take(&mut wheel, Time(999)).is_none());
    wheel.push(Time(999), Numbered { order: 0, number: 1 });
    assert_eq!(take(&mut wheel, Time(1000)).unwrap().1.number, 1);
    assert_eq!(take(&mut wheel, Time(1000)).unwrap().1.number, 0);
    assert!(take(&mut wheel, Time::MAX).is_none());
}

/// Thousands at nearly the same time wait apart, and those that come meanwhile take their
/// places among them.
#[test]
fn a_crowd_comes_out_in_order_whoever_joins_it() {
    let mut draws = sojourn_base::Stream::new(1, sojourn_base::Kind::Test, 0, 0);
    for joining in [0u64, 1, 2] {
        let (mut wheel, mut heap) = (Wheel::new(1 << 20), BinaryHeap::new());
        let (mut now, mut count) = (0, 0);
        let mut push = |wheel: &mut Wheel<Numbered>, heap: &mut BinaryHeap<_>, at: u64| {
            wheel.push(Time(at), Numbered { order: count % 3, number: count });
            heap.push(Reverse((Time(at), count % 3, count)));
            count += 1;
        };
        // One that opens the bucket, and a crowd in it.
        push(&mut wheel, &mut heap, 0);
        assert!(take(&mut wheel, Time::MAX).is_some() && heap.pop().is_some());
        for _ in 0..5000 {
            push(&mut wheel, &mut heap, draws.below(1000));
        }
        let mut taken = 0;
        while let Some(Reverse(wanted)) = heap.pop() {
            let got = take(&mut wheel, Time::MAX).map(|(at, e)| (at, e.order, e.number));
            assert_eq!(got, Some(wanted), "{taken}");
            now = now.max(wanted.0.0);
            taken += 1;
            // As many again join the crowd, at once or ahead of it.
            for _ in 0..if taken < 4000 { joining } else { 0 } {
                push(&mut wheel, &mut heap, now + draws.below(1200));
            }
        }
        assert!(take(&mut wheel, Time::MAX).is_none());
    }
}

#[derive(Clone, Debug)]
enum Op {
    Push { ahead: u64, order: u32 },
    Pop,
}

fn op() -> impl Strategy<Value = Op> {
    let ahead = prop_oneof![
        Just(0u64),
        0u64..100,
        0u64..100_000,
        0u64..50_000_000,
        0u64..20_000_000_000,
        0u64..100_000_000_000_000,
    ];
    prop_oneof![
        3 => (ahead, 0u32..4).prop_map(|(ahead, order)| Op::Push { ahead, order }),
        2 => Just(Op::Pop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_order_is_that_of_a_binary_heap(
        ops in prop::collection::vec(op(), 1..600),
        width in prop_oneof![Just(1u64), Just(128), Just(4096), Just(1 << 20)],
        start in prop_oneof![Just(0u32), Just(u32::MAX - 50)],
    ) {
        let mut wheel = Wheel::new(width);
        wheel.counter = start;
        let mut heap = BinaryHeap::new();
        let (mut now, mut count) = (Time::ZERO, 0u32);
        for op in ops.into_iter().chain(std::iter::repeat_n(Op::Pop, 600)) {
            match op {
                Op::Push { ahead, order } => {
                    let at = now + Time(ahead);
                    wheel.push(at, Numbered { order, number: count });
                    heap.push(Reverse((at, order, count)));
                    count += 1;
                }
                Op::Pop => {
                    let expected = heap.pop().map(|Reverse(e)| e);
                    let got = take(&mut wheel, Time::MAX);
                    prop_assert_eq!(got.map(|(at, e)| (at, e.order, e.number)), expected);
                    if let Some((at, _)) = got {
                        now = at;
                    }
                    prop_assert_eq!(len(&wheel), heap.len());
                }
            }
        }
    }
}

#[test]
fn far_turns_come_round_again() {
    // Each event lies nearly all turns of the far level ahead of the one before.
    let ahead = Time((BUCKETS - 2) * BUCKETS);
    let (mut wheel, mut now) = (Wheel::new(1), Time::ZERO);
    for number in 0..5 {
        wheel.push(now + ahead, Numbered { order: 0, number });
        let (at, event) = take(&mut wheel, Time::MAX).unwrap();
        assert_eq!((at, event.number), (now + ahead, number));
        now = at;
    }
}
