//! How a run talks with whoever started it: lines of JSON to standard output, and when to stop.

use serde_json::{Value, json};
use sojourn_base::Time;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the run is to end early.
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether somebody wants the run to end early.
pub(crate) fn stop_wanted() -> bool {
    STOP.load(Relaxed)
}

/// Ctrl-C and the like end the run, which then still gives its summary.
pub(crate) fn stop_on_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        crate::hosts::sys::on_signal(signal, &STOP);
    }
}

/// The end of standard input ends the run: so does, then, the death of whoever holds its other end.
pub(crate) fn stop_with_input() {
    let wait = || {
        let mut rest = [0u8; 256];
        let mut input = io::stdin().lock();
        while let Ok(1..) = input.read(&mut rest) {}
        STOP.store(true, Relaxed);
    };
    // Without a thread it only cannot be stopped.
    let _ = std::thread::Builder::new().name("stdin".into()).spawn(wait);
}

/// A byte at standard input ends the run: for a port whose other end cannot be closed.
pub(crate) fn stop_with_a_byte() {
    let wait = || {
        if let Ok(1..) = io::stdin().lock().read(&mut [0u8; 1]) {
            STOP.store(true, Relaxed);
        }
    };
    // Without a thread it only cannot be stopped.
    let _ = std::thread::Builder::new().name("stdin".into()).spawn(wait);
}

/// A line to standard output; nobody to read it is no fault.
pub(crate) fn say(line: &Value) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// How far the run is: its time, and packets that have left the first link's queue.
pub(crate) fn progress(now: Time, packets: u64) {
    say(&json!({ "now_s": now.as_secs_f64(), "packets": packets }));
}
