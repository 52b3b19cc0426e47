//! Time of the run: from its start on, and sleeping until an instant of it.
//!
//! Tokio's own timers are a wheel of milliseconds; a server's delay and the next datagram want
//! microseconds. So a thread's tasks share one kernel timer and a heap of who waits for when.

use super::sys;
use sojourn_base::Time;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::task::Poll;
use tokio::io::unix::AsyncFd;
use tokio::sync::oneshot;

/// When the run began, on the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The start.
    pub start: Time,
}

impl Clock {
    /// Time of the run; zero before its start.
    pub fn now(self) -> Time {
        sys::monotonic().saturating_sub(self.start)
    }

    /// Blocks the thread until an instant of the run.
    pub fn sleep_until(self, at: Time) {
        sys::sleep_until(self.start.saturating_add(at));
    }
}

/// Who waits, until when; a number tells those of the same instant apart.
type Waiting = BinaryHeap<Reverse<(Time, u64)>>;

/// Wakes the tasks of one thread.
#[derive(Clone)]
pub struct Alarms(Rc<Inner>);

struct Inner {
    clock: Clock,
    timer: AsyncFd<OwnedFd>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    waiting: Waiting,
    wakers: std::collections::BTreeMap<u64, oneshot::Sender<()>>,
    next: u64,
}

impl Alarms {
    /// Alarms of this thread, whose runtime must be entered; [`ring`](Self::ring) must be run.
    pub fn new(clock: Clock) -> io::Result<Self> {
        let timer = sys::pollable(sys::timer()?)?;
        Ok(Self(Rc::new(Inner { clock, timer, state: RefCell::default() })))
    }

    /// The clock that they go by.
    pub fn clock(&self) -> Clock {
        self.0.clock
    }

    /// Waits until an instant of the run; [`Time::MAX`] is never.
    pub async fn until(&self, at: Time) {
        if at == Time::MAX {
            return std::future::pending().await;
        }
        if at <= self.0.clock.now() {
            // Others have their turn all the same.
            return tokio::task::yield_now().await;
        }
        let (waker, woken) = oneshot::channel();
        self.await_turn(at, waker);
        // An error would mean that `ring` ended, and with it the run.
        if woken.await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Enters who is to be woken at a time.
    fn await_turn(&self, at: Time, waker: oneshot::Sender<()>) {
        let mut state = self.0.state.borrow_mut();
        let number = state.next;
        state.next += 1;
        let first = state.waiting.peek().is_none_or(|Reverse((earliest, _))| at < *earliest);
        state.waiting.push(Reverse((at, number)));
        state.wakers.insert(number, waker);
        drop(state);
        if first {
            self.set(at);
        }
    }

    fn set(&self, at: Time) {
        let instant = self.0.clock.start.saturating_add(at);
        // The timer is there and the setting right: nothing can fail.
        let _ = sys::set_timer(self.0.timer.get_ref().as_fd(), instant);
    }

    /// Wakes whoever is due; runs as long as the thread.
    pub async fn ring(&self) {
        loop {
            let Ok(mut ready) = self.0.timer.readable().await else { return };
            sys::clear_timer(self.0.timer.get_ref().as_fd());
            ready.clear_ready();
            if let Some(next) = self.wake_due() {
                self.set(next);
            }
        }
    }

    /// Wakes who is due now; when the next one is.
    fn wake_due(&self) -> Option<Time> {
        let mut state = self.0.state.borrow_mut();
        let now = self.0.clock.now();
        while let Some(&Reverse((at, number))) = state.waiting.peek() {
            let gone = state.wakers.get(&number).is_none_or(oneshot::Sender::is_closed);
            if at > now && !gone {
                return Some(at);
            }
            state.waiting.pop();
            if let Some(waker) = state.wakers.remove(&number) {
                // Whoever gave up waiting is not to be woken.
                let _ = waker.send(());
            }
        }
        None
    }
}

/// Polls two futures until one is ready; the first is asked first.
pub async fn either<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> Result<A, B> {
    let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
    std::future::poll_fn(|context| {
        if let Poll::Ready(value) = first.as_mut().poll(context) {
            return Poll::Ready(Ok(value));
        }
        second.as_mut().poll(context).map(Err)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within<T>(work: impl AsyncFnOnce(Alarms) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(tokio::task::LocalSet::new().run_until(async {
            let alarms = Alarms::new(Clock { start: sys::monotonic() }).unwrap();
            let ringing = alarms.clone();
            tokio::task::spawn_local(async move { ringing.ring().await });
            work(alarms).await
        }))
    }

    #[test]
    fn sleepers_wake_in_order_and_not_early() {
        let woken = within(async |alarms| {
            let woken = Rc::new(RefCell::new(Vec::new()));
            let mut tasks = Vec::new();
            for at in [5, 1, 3, 3].map(Time::from_millis) {
                let (alarms, woken) = (alarms.clone(), Rc::clone(&woken));
                tasks.push(tokio::task::spawn_local(async move {
                    alarms.until(at).await;
                    woken.borrow_mut().push((at, alarms.clock().now()));
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
            woken.take()
        });
        let order: Vec<Time> = woken.iter().map(|(at, _)| *at).collect();
        assert_eq!(order, [1, 3, 3, 5].map(Time::from_millis));
        assert!(woken.iter().all(|(at, now)| now >= at), "{woken:?}");
    }

    #[test]
    fn cancelled_sleeper_does_not_delay_others() {
        within(async |alarms| {
            let given_up = either(alarms.until(Time::from_secs(1000)), std::future::ready(7)).await;
            assert_eq!(given_up, Err(7));
            let late = alarms.clone();
            let task =
                tokio::task::spawn_local(async move { late.until(Time::from_millis(2)).await });
            alarms.until(Time::from_millis(4)).await;
            assert!(task.is_finished());
            assert_eq!(alarms.0.state.borrow().wakers.len(), 0, "whoever gave up is forgotten");
        });
    }
}
