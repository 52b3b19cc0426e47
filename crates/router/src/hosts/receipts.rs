//! The books of datagrams: one page for each member, so that a packet takes no lock that others
//! want.

use sojourn_base::Time;
use sojourn_records::Totals;
use sojourn_scenario::Network;
use sojourn_traffic::Source;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one member has sent and its receiver seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Receipt {
    /// Since the start of the run.
    pub totals: Totals,
    delays: u64,
    delay_sum: Time,
    jitter_sum: Time,
    last_delay: Option<Time>,
}

impl Receipt {
    /// A packet arrives after `delay`, if it says when it was sent.
    pub fn arrive(&mut self, bytes: u64, delay: Option<Time>, measuring: bool) {
        self.totals.received += 1;
        self.totals.delivered += bytes;
        if let Some(delay) = delay.filter(|_| measuring) {
            self.delays += 1;
            self.delay_sum += delay;
            if let Some(last) = self.last_delay.replace(delay) {
                self.jitter_sum += Time(delay.0.abs_diff(last.0));
            }
        }
    }

    /// Mean one-way delay and mean absolute difference of successive ones, in seconds.
    pub fn delay_and_jitter(&self) -> (Option<f64>, Option<f64>) {
        let mean = |sum: Time, n: u64| (n > 0).then(|| sum.0 as f64 / n as f64 * 1e-9);
        (mean(self.delay_sum, self.delays), mean(self.jitter_sum, self.delays.saturating_sub(1)))
    }
}

/// The pages of all groups.
pub struct Receipts {
    measuring: AtomicBool,
    pages: Vec<Vec<Mutex<Receipt>>>,
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
            pages: network.groups.iter().map(pages).collect(),
        }
    }

    /// Whether the window is on.
    pub fn measuring(&self) -> bool {
        self.measuring.load(Relaxed)
    }

    /// A member's page, for a moment.
    pub fn page(&self, group: usize, member: u32) -> MutexGuard<'_, Receipt> {
        held(&self.pages[group][member as usize])
    }

    /// What each member of a group has sent and got since the start of the run.
    pub fn totals(&self, group: usize) -> Vec<Totals> {
        self.pages[group].iter().map(|page| held(page).totals).collect()
    }

    /// The measured window begins.
    pub fn start_window(&self) {
        self.measuring.store(true, Relaxed);
    }

    /// The run is over: what comes until the threads end has no delay.
    pub fn finish(&self) {
        self.measuring.store(false, Relaxed);
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_and_jitter_are_of_the_window() {
        let mut page = Receipt::default();
        page.arrive(100, Some(Time::from_millis(9)), false);
        for delay in [1, 3, 2].map(Time::from_millis) {
            page.arrive(100, Some(delay), true);
        }
        page.arrive(4, None, true);
        assert_eq!((page.totals.received, page.totals.delivered), (5, 404));
        let (delay, jitter) = page.delay_and_jitter();
        assert!((delay.unwrap() - 0.002).abs() < 1e-12);
        assert!((jitter.unwrap() - 0.0015).abs() < 1e-12);
    }

    #[test]
    fn totals_run_from_the_start_of_the_run() {
        let text = "duration = \"5s\"\n[bottleneck]\nrate = \"10mbit\"\n[[traffic]]\n\
                    kind = \"udp\"\nrate = \"1mbit\"\n";
        let scenario = sojourn_scenario::Scenario::from_toml(text, "test").unwrap();
        let receipts = Receipts::new(&scenario.network(".".as_ref()).unwrap());
        receipts.page(0, 0).totals.sent = 3;
        receipts.start_window();
        assert!(receipts.measuring());
        receipts.page(0, 0).totals.sent = 10;
        receipts.finish();
        assert_eq!(receipts.totals(0)[0].sent, 10);
        assert!(!receipts.measuring());
    }
}
