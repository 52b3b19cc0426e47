//! The books of datagrams: one page for each member, so that a packet takes no lock that others
//! want.

use sojourn_scenario::Network;
use sojourn_traffic::Source;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one member has sent and its receiver seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Receipt {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
    /// Payload bytes received.
    pub bytes: u64,
    delays: u64,
    delay_sum: u64,
    jitter_sum: u64,
    last_delay: Option<u64>,
}

impl Receipt {
    /// A packet arrives after `delay` nanoseconds, if it says when it was sent.
    pub fn arrive(&mut self, bytes: u64, delay: Option<u64>, measuring: bool) {
        self.received += 1;
        self.bytes += bytes;
        if let Some(delay) = delay.filter(|_| measuring) {
            self.delays += 1;
            self.delay_sum += delay;
            if let Some(last) = self.last_delay.replace(delay) {
                self.jitter_sum += delay.abs_diff(last);
            }
        }
    }

    /// Mean one-way delay and mean absolute difference of successive ones, in seconds.
    pub fn delay_and_jitter(&self) -> (Option<f64>, Option<f64>) {
        let mean = |sum: u64, n: u64| (n > 0).then(|| sum as f64 / n as f64 * 1e-9);
        (mean(self.delay_sum, self.delays), mean(self.jitter_sum, self.delays.saturating_sub(1)))
    }

    /// What came since `start`; delays are of the window anyway.
    pub fn since(&self, start: &Self) -> Self {
        Self {
            sent: self.sent - start.sent,
            received: self.received - start.received,
            bytes: self.bytes - start.bytes,
            ..*self
        }
    }
}

/// The pages of all groups.
pub struct Receipts {
    measuring: AtomicBool,
    now: Vec<Vec<Mutex<Receipt>>>,
    at_start: Mutex<Vec<Vec<Receipt>>>,
    at_end: Mutex<Vec<Vec<Receipt>>>,
}

impl Receipts {
    /// Empty pages.
    pub fn new(network: &Network) -> Self {
        let pages = |group: &sojourn_scenario::NetworkGroup| {
            let datagrams = matches!(group.source, Source::Udp(_) | Source::OnOff(_));
            (0..if datagrams { group.members } else { 0 }).map(|_| Mutex::default()).collect()
        };
        Self {
            measuring: AtomicBool::new(false),
            now: network.groups.iter().map(pages).collect(),
            at_start: Mutex::default(),
            at_end: Mutex::default(),
        }
    }

    /// Whether the window is on.
    pub fn measuring(&self) -> bool {
        self.measuring.load(Relaxed)
    }

    /// A member's page, for a moment.
    pub fn page(&self, group: usize, member: u32) -> MutexGuard<'_, Receipt> {
        held(&self.now[group][member as usize])
    }

    fn copy(&self) -> Vec<Vec<Receipt>> {
        let group = |pages: &Vec<Mutex<Receipt>>| pages.iter().map(|page| *held(page)).collect();
        self.now.iter().map(group).collect()
    }

    /// The measured window begins.
    pub fn start_window(&self) {
        *held(&self.at_start) = self.copy();
        self.measuring.store(true, Relaxed);
    }

    /// The run is over: senders may go on until their threads end, and it is not counted.
    pub fn finish(&self) {
        *held(&self.at_end) = self.copy();
        self.measuring.store(false, Relaxed);
    }

    /// What each member of a group has sent and got in the window, after its end.
    pub fn in_window(&self, group: usize) -> Vec<Receipt> {
        let (start, end) = (held(&self.at_start), held(&self.at_end));
        let (Some(start), Some(end)) = (start.get(group), end.get(group)) else {
            return Vec::new();
        };
        end.iter().zip(start).map(|(end, start)| end.since(start)).collect()
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_has_two_ends() {
        let text = "duration = \"5s\"\n[bottleneck]\nrate = \"10mbit\"\n[[traffic]]\n\
                    kind = \"udp\"\nrate = \"1mbit\"\n";
        let scenario = sojourn_scenario::Scenario::from_toml(text, "test").unwrap();
        let receipts = Receipts::new(&scenario.network(".".as_ref()).unwrap());
        receipts.page(0, 0).sent = 3;
        receipts.start_window();
        receipts.page(0, 0).sent = 10;
        receipts.finish();
        receipts.page(0, 0).sent = 12;
        assert_eq!(receipts.in_window(0)[0].sent, 7);
        assert!(!receipts.measuring());
    }

    #[test]
    fn delay_and_jitter_are_of_the_window() {
        let mut page = Receipt::default();
        page.arrive(100, Some(9_000_000), false);
        let start = page;
        for delay in [1_000_000, 3_000_000, 2_000_000] {
            page.arrive(100, Some(delay), true);
        }
        page.arrive(4, None, true);
        let window = page.since(&start);
        assert_eq!((window.received, window.bytes), (4, 304));
        let (delay, jitter) = window.delay_and_jitter();
        assert!((delay.unwrap() - 0.002).abs() < 1e-12);
        assert!((jitter.unwrap() - 0.0015).abs() < 1e-12);
    }
}
