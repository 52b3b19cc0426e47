//! After the high-water mark nothing is allocated: a run twice as long allocates no more. Tables of
//! many flows do not move as they fill.

use crate::common::simulate;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Each test counts its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// The bytes of the largest block that was made larger.
    static MOVED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed to the system's allocator unchanged.
#[expect(unsafe_code, reason = "the allocator's interface is unsafe")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's layout, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: `at` came from `alloc` with this layout.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        MOVED.set(MOVED.get().max(layout.size()));
        // SAFETY: `at` came from `alloc` with this layout.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations, bottleneck packets and retransmissions of a run of so many seconds.
fn allocations(seconds: u32, traffic: &str, unfused: bool) -> (u64, u64, u64) {
    let text = format!(
        r#"
        duration = "{seconds}s"
        [tcp]
        profile = "classic"
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        qdisc = {{ kind = "red", min_th = 20, max_th = 60 }}
        [[traffic]]
        rtt = "50ms..150ms"
        start = "0s..1s"
        {traffic}
        [packets]
        unfused = {unfused}
        "#
    );
    let before = ALLOCATIONS.get();
    let summary = simulate(&text);
    let made = ALLOCATIONS.get() - before;
    (made, summary.bottleneck_packets, summary.groups[0].retransmissions.unwrap_or_default())
}

#[test]
fn longer_run_allocates_no_more() {
    let bulk = "kind = \"bulk\"\nflows = 20\ntcp = { receive_window = \"256kB\" }";
    let web = "kind = \"web\"\nusers = 1500\nmodel = \"packmime\"";
    let streams = &format!("{web}\nhttp = \"2\"");
    for (traffic, unfused) in [(bulk, false), (bulk, true), (web, false), (streams, false)] {
        let (short, few, _) = allocations(60, traffic, unfused);
        let (long, many, resent) = allocations(240, traffic, unfused);
        assert!(many > 3 * few, "{few} packets in 60 s, {many} in 240 s");
        // New high-water marks still come now and then. A new connection keeps no memory for
        // losses before its first: users open connections all the time, flows do not.
        // Each connection that objects share comes to its own largest response, and the sizes have
        // a heavy tail.
        let allowed = match traffic {
            _ if traffic == bulk => 30,
            _ if traffic == web => 30 + 2 * resent,
            _ => many / 200,
        };
        assert!(allowed < many / 50, "the bound says nothing: {allowed} of {many}");
        let more = long.saturating_sub(short);
        assert!(more < allowed, "{short} allocations in 60 s, {long} in 240 s: {traffic}");
    }
}

#[test]
fn tables_of_many_flows_do_not_move() {
    let moved = |size| {
        MOVED.set(0);
        simulate(&format!(
            r#"
            duration = "1s"
            tcp = {{ profile = "classic" }}
            bottleneck = {{ rate = "10gbit", delay = "5ms" }}
            traffic = [{{ kind = "bulk", flows = 10000, rtt = "1s", start = "0s..100ms"{size} }}]
            "#
        ));
        MOVED.get()
    };
    // A slot for each packet on its way would be 640 kB, a place for each transfer a megabyte.
    for size in ["", ", size = \"1kB\""] {
        let bytes = moved(size);
        assert!(bytes < 1 << 17, "{bytes} bytes were moved");
    }
}
