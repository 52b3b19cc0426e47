//! Nothing is allocated after the high-water mark.
#![allow(unsafe_code)] // a counting allocator is one

use crate::common::{ms, params};
use sojourn_base::Time;
use sojourn_quic::{Ecn, Endpoint, Event, Output, Packet, Params, Space, Spec};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MADE.with(|n| n.set(n.get() + 1));
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SLOTS: usize = 1024;

/// Datagrams between two endpoints in an array of fixed size.
struct Pipe {
    ring: Vec<(Time, Ecn, [Packet; 3], usize)>,
    from: usize,
    to: usize,
    now: Time,
    /// Every so many is lost; 0 for none.
    loses: usize,
    finished: Option<u32>,
}

impl Pipe {
    fn new(loses: usize) -> Self {
        let empty = (Time::ZERO, Ecn::NotEct, [Packet::empty(Space::Data); 3], 0);
        Self { ring: vec![empty; SLOTS], from: 0, to: 0, now: Time::ZERO, loses, finished: None }
    }
}

impl Output for Pipe {
    fn send(&mut self, ecn: Ecn, packets: &[Packet], _: u32) {
        let slot = &mut self.ring[self.to % SLOTS];
        (slot.0, slot.1, slot.3) = (self.now + ms(10), ecn, packets.len());
        slot.2[..packets.len()].copy_from_slice(packets);
        self.to += 1;
        if self.loses > 0 && self.to.is_multiple_of(self.loses) {
            slot.3 = 0;
        }
        assert!(self.to - self.from <= SLOTS);
    }
    fn deliver(&mut self, _: u32, _: u64) {}
    fn event(&mut self, event: Event) {
        if let Event::Finished { stream } = event {
            self.finished = Some(stream);
        }
    }
}

struct Pair {
    p: Params,
    ends: [Endpoint; 2],
    pipes: [Pipe; 2],
}

impl Pair {
    fn new(spec: &Spec, loses: usize) -> Self {
        let p = params(spec);
        let ends = [Endpoint::client(&p), Endpoint::server(&p)];
        Self { p, ends, pipes: [Pipe::new(loses), Pipe::new(0)] }
    }

    fn run(&mut self, mut now: Time, until: Time) {
        while now < until {
            let Self { p, ends, pipes } = self;
            let next = |pipe: &Pipe| match pipe.ring[pipe.from % SLOTS].0 {
                at if pipe.from < pipe.to => at,
                _ => Time::MAX,
            };
            let times = [next(&pipes[0]), next(&pipes[1]), ends[0].deadline(), ends[1].deadline()];
            let what = (0..4).min_by_key(|at| times[*at]).unwrap();
            now = times[what].max(now);
            if times[what] == Time::MAX {
                return;
            }
            pipes.iter_mut().for_each(|pipe| pipe.now = now);
            if what < 2 {
                let (_, ecn, packets, count) = pipes[what].ring[pipes[what].from % SLOTS];
                pipes[what].from += 1;
                let to = 1 - what;
                if count > 0 {
                    ends[to].on_datagram(p, now, ecn, &packets[..count], &mut pipes[to]);
                }
            } else {
                ends[what - 2].on_timer(p, now, &mut pipes[what - 2]);
            }
        }
    }
}

fn allocations(call: impl FnOnce()) -> u64 {
    let made = MADE.get();
    call();
    MADE.get() - made
}

#[test]
fn a_long_stream_with_losses_allocates_nothing_after_its_first_seconds() {
    let spec = Spec { max_window: Some(200), ..Spec::default() };
    let mut pair = Pair::new(&spec, 47);
    let stream = pair.ends[0].open_stream(&pair.p);
    pair.ends[0].write(&pair.p, Time::ZERO, stream, u64::MAX, &mut pair.pipes[0]);
    pair.ends[0].open(&pair.p, Time::ZERO, &mut pair.pipes[0]);
    pair.run(Time::ZERO, ms(20_000));
    let before = pair.ends[1].bytes_delivered();
    assert_eq!(allocations(|| pair.run(ms(20_000), ms(60_000))), 0);
    assert!(pair.ends[1].bytes_delivered() > before + 1_000_000);
}

#[test]
fn streams_that_come_and_go_use_the_same_memory() {
    let mut pair = Pair::new(&Spec::default(), 0);
    pair.ends[0].open(&pair.p, Time::ZERO, &mut pair.pipes[0]);
    let mut now = ms(1000);
    pair.run(Time::ZERO, now);
    let exchange = |pair: &mut Pair, now: &mut Time| {
        for end in &mut pair.pipes {
            end.now = *now;
        }
        let stream = pair.ends[0].open_stream(&pair.p);
        pair.ends[0].write(&pair.p, *now, stream, 30_000, &mut pair.pipes[0]);
        pair.ends[0].finish(&pair.p, *now, stream, &mut pair.pipes[0]);
        pair.run(*now, *now + ms(500));
        *now += ms(500);
        assert_eq!(pair.pipes[1].finished, Some(stream));
        pair.pipes[1].now = *now;
        pair.ends[1].finish(&pair.p, *now, stream, &mut pair.pipes[1]);
        pair.run(*now, *now + ms(500));
        *now += ms(500);
    };
    (0..20).for_each(|_| exchange(&mut pair, &mut now));
    let made = allocations(|| (0..200).for_each(|_| exchange(&mut pair, &mut now)));
    assert_eq!(made, 0);
}
