//! No allocation once every page in the pool has been as large as pages get.
#![expect(unsafe_code, reason = "a counting allocator")]

use sojourn_base::{Size, Time};
use sojourn_traffic::{Browser, Command, Count, Distribution, Input, Model, Pages, Web};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BinaryHeap;

struct Counting;

thread_local! {
    /// Each test counts its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn warm_users_do_not_allocate() {
    let web = Web {
        model: Model::Custom,
        think: Some(Distribution::Exponential { mean: Time::from_secs(1) }),
        response: Some(Distribution::Pareto { shape: 1.2, min: Size(1000), max: None }),
        embedded: Some(Distribution::Constant(Count(10.0))),
        parallel: Some(4),
        ..Web::default()
    };
    let model = web.compile().unwrap();
    let mut pool = Pages::new();
    let mut users: Vec<Browser> = (0..100).map(|i| Browser::new(&model, 1, 0, i)).collect();
    // Earliest first: time, user, what; a response takes 50 ms.
    let mut events = BinaryHeap::with_capacity(10_000);
    let mut warm = 0;
    for user in 0..100 {
        events.push((std::cmp::Reverse(0), user, u16::MAX - 1));
    }
    for round in 0..200_000 {
        if round == 100_000 {
            warm = ALLOCATIONS.get();
        }
        let (std::cmp::Reverse(now), user, what) = events.pop().unwrap();
        let input = match what {
            u16::MAX => Input::Wake,
            65_534 => Input::Start,
            slot => Input::ResponseDone { slot, first_byte: Time(now) },
        };
        let browser: &mut Browser = &mut users[user];
        browser.step(&model, &mut pool, Time(now), input, &mut |command| match command {
            Command::Wake { at } => events.push((std::cmp::Reverse(at.0), user, u16::MAX)),
            Command::Request { slot, .. } => {
                events.push((std::cmp::Reverse(now + 50_000_000), user, slot));
            }
            Command::Open { .. }
            | Command::Close { .. }
            | Command::PageBegins
            | Command::PageEnds(_) => {}
        });
    }
    assert!(users.iter().all(|user| user.pages() > 20));
    assert_eq!(ALLOCATIONS.get() - warm, 0);
}
