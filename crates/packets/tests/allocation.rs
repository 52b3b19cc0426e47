//! After the high-water mark nothing is allocated: a run twice as long allocates no more.

mod common;

use common::simulate;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed to the system's allocator unchanged.
#[expect(unsafe_code, reason = "the allocator's interface is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's layout, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from `alloc` with this layout.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: `at` came from `alloc` with this layout.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(seconds: u32, ways: &str) -> (u64, u64) {
    let text = format!(
        r#"
        duration = "{seconds}s"
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        qdisc = {{ kind = "red", min_th = 20, max_th = 60 }}
        [[traffic]]
        kind = "bulk"
        flows = 20
        rtt = "50ms..150ms"
        start = "0s..1s"
        tcp = {{ receive_window = "256kB" }}
        [packets]
        unfused = {ways}
        "#
    );
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let summary = simulate(&text);
    (ALLOCATIONS.load(Ordering::Relaxed) - before, summary.bottleneck_packets)
}

#[test]
fn a_longer_run_allocates_no_more() {
    for unfused in ["false", "true"] {
        let (short, few) = allocations(60, unfused);
        let (long, many) = allocations(240, unfused);
        assert!(many > 3 * few);
        // New high-water marks may still come, one now and then, never one per packet.
        assert!(long <= short + 30, "{short} allocations in 60 s, {long} in 240 s");
    }
}
