//! After its high-water mark a queue allocates nothing.
#![allow(unsafe_code)] // a counting allocator cannot be had without

use crate::common::{env, outside::sample, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::{Config, Discipline, Ecn, EcnMarking, rate};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller keeps `alloc`'s contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps `dealloc`'s contract.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

#[test]
fn disciplines_allocate_nothing_after_high_water_mark() {
    for name in Config::NAMES {
        let config = match sample(name) {
            // How many packets it lets in before it drops all depends on where in its period they
            // come: the first pass would not be the high-water mark.
            Config::Rate(params) => Config::Rate(rate::Params { ecn: EcnMarking::On, ..params }),
            other => other,
        };
        let mut q = queue(&config, &env(100, 1500));
        let before = allocations();
        let mut now = Time::ZERO;
        let mut pass = |q: &mut sojourn_qdisc::Qdisc<_>, packets: u64| {
            for id in 0..packets {
                now += Time::from_micros(50);
                let _ = q.enqueue(now, token(id, 1500, Ecn::Ect0), &mut ());
            }
            now += Time::from_secs(1);
            q.advance(now);
            // As soon as a packet is ready: a shaper may hold it back.
            while let Some(ready) = q.next_ready(now) {
                now = ready;
                assert!(q.dequeue(now, &mut ()).is_some(), "{name}: nothing came when ready");
                now += Time::from_micros(120);
            }
            now += Time::from_secs(60);
        };
        pass(&mut q, 900);
        let warm = allocations();
        assert!(warm > before, "{name}: the counter counts");
        for _ in 0..50 {
            pass(&mut q, 400);
        }
        assert_eq!(allocations(), warm, "{name} allocated on the packet path");
    }
}
