//! What allocates: nothing before the first hole, nothing after the high-water mark, and nothing
//! is kept once a connection is over.
#![allow(unsafe_code)] // a counting allocator is one

use crate::common::params;
use crate::common::script::{MSS, Nothing, spec};
use sojourn_base::{Size, Time};
use sojourn_tcp::{Endpoint, Event, Flags, Output, Params, Profile, SackBlock, Segment, Spec};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static MADE: Cell<u64> = const { Cell::new(0) };
    static FREED: Cell<u64> = const { Cell::new(0) };
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
        FREED.with(|n| n.set(n.get() + 1));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many allocations and deallocations a call makes.
fn allocations(call: impl FnOnce()) -> (u64, u64) {
    let (made, freed) = (MADE.get(), FREED.get());
    call();
    (MADE.get() - made, FREED.get() - freed)
}

/// Segments between two endpoints in arrays of fixed size, without delay.
struct Pipe {
    ring: [(Segment, [SackBlock; 4]); 1024],
    from: usize,
    to: usize,
}

impl Output for Pipe {
    fn send(&mut self, segment: Segment, sacks: &[SackBlock]) {
        let slot = &mut self.ring[self.to % 1024];
        slot.0 = segment;
        slot.1[..sacks.len()].copy_from_slice(sacks);
        self.to += 1;
        assert!(self.to - self.from <= 1024);
    }
    fn deliver(&mut self, _: u32) {}
    fn event(&mut self, _: Event) {}
}

struct Pair {
    p: Params,
    ends: [Endpoint; 2],
    pipes: [Pipe; 2],
    now: Time,
    count: u64,
}

impl Pair {
    fn new(spec: &Spec) -> Self {
        let p = params(spec);
        let pipe = || Pipe { ring: [(Segment::EMPTY, Default::default()); 1024], from: 0, to: 0 };
        let ends = [Endpoint::client(&p, 1), Endpoint::server(&p, 2)];
        let mut pair = Self { p, ends, pipes: [pipe(), pipe()], now: Time::ZERO, count: 0 };
        pair.ends[0].open(&pair.p, pair.now, &mut pair.pipes[0]);
        pair.ends[0].write(&pair.p, pair.now, u64::MAX, &mut pair.pipes[0]);
        pair
    }

    /// Moves `n` segments; the one of every `drop` data segments is lost.
    fn run(&mut self, n: u64, drop: u64) {
        for _ in 0..n {
            self.now += Time::from_micros(10);
            for who in 0..2 {
                if self.ends[who].deadline() <= self.now {
                    self.ends[who].on_timer(&self.p, self.now, &mut self.pipes[who]);
                }
                let pipe = &mut self.pipes[who];
                if pipe.from == pipe.to {
                    continue;
                }
                let (segment, sacks) = pipe.ring[pipe.from % 1024];
                pipe.from += 1;
                if segment.len > 0 {
                    self.count += 1;
                    if self.count.is_multiple_of(drop) {
                        continue;
                    }
                }
                let sacks = &sacks[..segment.blocks()];
                let (end, out) = (&mut self.ends[1 - who], &mut self.pipes[1 - who]);
                end.on_segment(&self.p, self.now, &segment, sacks, out);
            }
        }
    }
}

fn wide(sack: bool) -> Spec {
    Spec {
        mss: Some(MSS),
        receive_window: Some(Size(200_000)),
        sack: Some(sack),
        ecn: Some(true),
        ..spec()
    }
}

#[test]
fn transfer_without_loss_allocates_nothing() {
    for sack in [true, false] {
        let mut pair = Pair::new(&wide(sack));
        assert_eq!(allocations(|| pair.run(50_000, u64::MAX)), (0, 0));
        assert!(pair.ends[1].bytes_delivered() > 10_000_000);
    }
}

#[test]
fn transfer_with_losses_allocates_at_first_loss_only() {
    for sack in [true, false] {
        let mut pair = Pair::new(&wide(sack));
        pair.run(200_000, 40);
        assert!(pair.ends[0].retransmissions() > 100);
        assert_eq!(allocations(|| pair.run(200_000, 40)), (0, 0));
    }
}

/// The log of what was sent grows to the largest window, and no further.
#[test]
fn logging_sender_allocates_up_to_largest_window_only() {
    for pacing in [false, true] {
        let modern = Spec { profile: Some(Profile::Modern), timestamps: None, ..wide(true) };
        let mut pair = Pair::new(&Spec { pacing: Some(pacing), ..modern });
        pair.run(200_000, 40);
        assert!(pair.ends[0].retransmissions() > 100);
        assert_eq!(allocations(|| pair.run(200_000, 40)), (0, 0));
    }
}

#[test]
fn closed_connection_frees_its_memory() {
    let mut pair = Pair::new(&wide(true));
    pair.run(50_000, 40);
    let reset = Segment { flags: Flags::RST, ..Segment::EMPTY };
    for end in &mut pair.ends {
        let (_, freed) =
            allocations(|| end.on_segment(&pair.p, pair.now, &reset, &[], &mut Nothing));
        assert_eq!(freed, 2, "a box and its runs");
        assert_eq!(
            allocations(|| drop(std::mem::replace(end, Endpoint::client(&pair.p, 0)))),
            (0, 0)
        );
    }
}
