//! The thread that carries packets between the devices and the network that is in between.
//!
//! It sleeps until a packet comes or something is due, to the nanosecond as far as the kernel lets
//! it, or spins. It reads a few packets at a time, so that what is due meanwhile is not held up.

use super::core::{Core, Output};
use super::lateness::Lateness;
use super::plan::Plan;
use super::report::{Report, Snapshot};
use crate::net::address::Side;
use crate::net::{LONGEST as READ, Merge, Tun};
use sojourn_base::Time;
use sojourn_records::Recorder;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// Packets read from a device before looking at the other and at what is due.
const BURST: usize = 16;

/// The longest sleep: so soon it is noticed that the run is to stop.
const LONGEST: Duration = Duration::from_millis(50);

/// Tells nanoseconds since the start of a run, and stops at its end: nothing is seen later than
/// that. Copies tell the same time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    begin: Instant,
    end: Time,
}

impl Clock {
    /// A clock that shows zero now.
    #[must_use]
    pub fn start() -> Self {
        Self::starting(Instant::now())
    }

    /// A clock that shows zero until `begin`.
    #[must_use]
    pub fn starting(begin: Instant) -> Self {
        Self { begin, end: Time::MAX }
    }

    /// The same clock, which stops at `end`.
    #[must_use]
    fn until(self, end: Time) -> Self {
        Self { end, ..self }
    }

    /// The time since the start.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        let since = Instant::now().saturating_duration_since(self.begin);
        Time(since.as_nanos() as u64).min(self.end)
    }
}

/// How the router runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The devices' MTU: longer packets are refused.
    pub mtu: u32,
    /// Packets that may be under way at a time.
    pub buffers: u32,
    /// Never sleep.
    pub spin: bool,
    /// Write packets of a connection that leave together as one.
    pub merge: bool,
    /// End after this time; none: when told to.
    pub end: Option<Time>,
    /// Time between snapshots, if someone watches.
    pub look: Option<Time>,
    /// Captures of all that the left and the right host send and receive.
    pub capture: [bool; 2],
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mtu: 1500,
            // Memory is touched as it is needed: this many full packets would be 200 MB.
            buffers: 1 << 17,
            spin: false,
            merge: false,
            end: None,
            look: None,
            capture: [false; 2],
        }
    }
}

/// Talks with a router that runs.
#[derive(Debug, Default)]
pub struct Control {
    /// Set to end the run early.
    pub stop: AtomicBool,
}

/// A router that is ready to run.
pub struct Router {
    core: Core,
    ends: Ends,
    settings: Settings,
    lateness: Lateness,
}

/// The devices, and what is measured of packets that leave.
struct Ends {
    tuns: [Tun; 2],
    merges: Option<[Merge; 2]>,
    /// Packets that went with the one before, and packets that a kernel would not have so.
    merged: u64,
    refused: u64,
    clock: Clock,
    late: Option<Lateness>,
    watcher: Option<SyncSender<Snapshot>>,
}

impl Output for Ends {
    #[inline]
    fn deliver(&mut self, due: Time, side: Side, packet: &[u8]) -> bool {
        if let Some(late) = &mut self.late {
            late.record(due, self.clock.now());
        }
        if let Some(merges) = &mut self.merges {
            if merges[side as usize].take(packet) {
                return true;
            }
            self.flush(side);
            if self.merges.as_mut().is_some_and(|merges| merges[side as usize].take(packet)) {
                return true;
            }
        }
        self.tuns[side as usize].write(packet)
    }

    fn snapshot(&mut self, snapshot: Snapshot) {
        if let Some(watcher) = &self.watcher {
            // Whoever watches and does not keep up misses some.
            let _ = watcher.try_send(snapshot);
        }
    }
}

impl Ends {
    /// Writes what waits for packets to be merged with.
    fn flush(&mut self, side: Side) {
        let Some(merges) = &mut self.merges else { return };
        let (packets, taken) = self.tuns[side as usize].write_merged(&mut merges[side as usize]);
        self.merged += u64::from(packets.saturating_sub(1));
        if !taken {
            self.refused += u64::from(packets);
        }
    }
}

impl Router {
    /// A router between the devices of the left and the right namespace. Records go to `recorder`.
    ///
    /// # Errors
    /// What cannot be built, in one line.
    pub fn new(
        plan: &Plan,
        tuns: [Tun; 2],
        recorder: Recorder,
        settings: Settings,
    ) -> Result<Self, String> {
        let Settings { mtu, buffers, look, capture, .. } = settings;
        let mut core = Core::new(plan, recorder, mtu, buffers, look)?;
        for side in Side::BOTH {
            if capture[side as usize] {
                core.capture_side(side);
            }
        }
        let lateness = Lateness::new(plan.network());
        let merges = settings.merge.then(Default::default);
        let clock = Clock::start();
        let ends = Ends { tuns, merges, merged: 0, refused: 0, clock, late: None, watcher: None };
        Ok(Self { core, ends, settings, lateness })
    }

    /// Runs on the calling thread until the end or until told to stop. The recorder comes back for
    /// the caller to finish.
    ///
    /// # Errors
    /// If a device is gone.
    pub fn run(
        self,
        clock: Clock,
        control: &Control,
        watcher: Option<SyncSender<Snapshot>>,
    ) -> io::Result<(Report, Recorder)> {
        let Self { mut core, mut ends, settings, lateness } = self;
        let last = settings.end.unwrap_or(Time::MAX);
        let clock = clock.until(last);
        (ends.clock, ends.watcher) = (clock, watcher);
        let mut lateness = Some(lateness);
        prefer_this_thread(settings.spin);
        let begun = cpu_time();
        // Whether every device was seen to be empty.
        let mut empty = false;
        let mut buffer = vec![0; READ];
        loop {
            let now = clock.now();
            core.run(now, &mut ends);
            Side::BOTH.into_iter().for_each(|side| ends.flush(side));
            if core.measuring() && ends.late.is_none() {
                ends.late = lateness.take();
            }
            if now == last || control.stop.load(Ordering::Relaxed) {
                break;
            }
            let mut ready = [true; 2];
            if empty && !settings.spin {
                let due = core.next().min(last);
                let wait = Duration::from_nanos(due.saturating_sub(clock.now()).0);
                if !wait.is_zero() {
                    ready = sleep(&ends.tuns, wait.min(LONGEST))?;
                }
            }
            empty = true;
            for side in Side::BOTH.into_iter().filter(|side| ready[*side as usize]) {
                empty &= read(&mut core, &mut ends, side, &mut buffer)?;
            }
        }
        let end = clock.now();
        core.run(end, &mut ends);
        Side::BOTH.into_iter().for_each(|side| ends.flush(side));
        // Without a window nothing was measured.
        let lateness = ends.late.or(lateness);
        let Some(lateness) = lateness else { unreachable!("it is in one of both places") };
        let (mut report, recorder) = core.finish(end, &lateness);
        report.merged(ends.merged, ends.refused);
        report.router.cpu_s = cpu_time().saturating_sub(begun).as_secs_f64();
        Ok((report, recorder))
    }
}

/// Reads what a device has, but not for long. Whether it is empty.
#[inline]
fn read(core: &mut Core, ends: &mut Ends, side: Side, buffer: &mut [u8]) -> io::Result<bool> {
    let mut count = 0;
    while count < BURST {
        let Some(mut burst) = ends.tuns[side as usize].read(buffer)? else { return Ok(true) };
        while let Some(packet) = burst.packet() {
            core.packet(ends.clock.now(), side, packet, ends);
            count += 1;
        }
    }
    Ok(false)
}

/// Waits for a packet, but not longer than `wait`. Which devices have any.
fn sleep(tuns: &[Tun; 2], wait: Duration) -> io::Result<[bool; 2]> {
    let poll = |tun: &Tun| libc::pollfd { fd: tun.descriptor(), events: libc::POLLIN, revents: 0 };
    let mut descriptors = [poll(&tuns[0]), poll(&tuns[1])];
    let wait = libc::timespec {
        tv_sec: wait.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(wait.subsec_nanos()),
    };
    // SAFETY: the array and the time outlive the call, which gets the array's length.
    #[expect(unsafe_code, reason = "a system call with pointers")]
    let ready =
        unsafe { libc::ppoll(descriptors.as_mut_ptr(), 2, &raw const wait, std::ptr::null()) };
    match io::Error::last_os_error() {
        error if ready < 0 && error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ if ready < 0 => Ok([false; 2]),
        // What is wrong with a device is told by reading.
        _ => Ok(descriptors.map(|descriptor| descriptor.revents != 0)),
    }
}

/// Wakes this thread as exactly as can be, and before all others if that is allowed. One that never
/// sleeps only comes before ordinary ones: as a thread of real time it would be held up by the
/// kernel's limit for those.
pub(crate) fn prefer_this_thread(spins: bool) {
    // SAFETY: system calls for this thread only, one with a pointer to what outlives it. Refusals
    // only cost precision.
    #[expect(unsafe_code, reason = "system calls")]
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong);
        let priority = libc::sched_param { sched_priority: 1 };
        // What this thread starts, if anything, is ordinary again.
        let policy = libc::SCHED_RR | libc::SCHED_RESET_ON_FORK;
        if spins || libc::sched_setscheduler(0, policy, &raw const priority) != 0 {
            // Zero is this thread. C libraries before 2.30 have no gettid.
            libc::setpriority(libc::PRIO_PROCESS, 0, -15);
        }
    }
}

/// Processor time of this thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call gets a time that outlives it.
    #[expect(unsafe_code, reason = "a system call with a pointer")]
    unsafe {
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
    }
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stops_at_the_end_of_its_run() {
        let begin = Instant::now().checked_sub(Duration::from_secs(2)).unwrap();
        let clock = Clock::starting(begin);
        assert!(clock.now() >= Time::from_secs(2));
        assert_eq!(clock.until(Time::from_secs(1)).now(), Time::from_secs(1));
    }
}
