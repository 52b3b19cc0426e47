//! This program as the first and only one of a virtual machine: what an `init` has to do.
#![expect(unsafe_code, reason = "system calls")]

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

/// The kernel's modules that are wanted, one file name a line, in the order of loading.
const MODULES: &str = "/modules/order";
/// The kernel's thread that does what interrupts leave to do, packets and shapers' timers among it.
/// Once it is woken nothing of that is done before it has its turn, for which it would wait as long
/// as a process that reads or writes keeps the processor: milliseconds.
const SOFTIRQS: &str = "ksoftirqd/0";

/// Mounts what programs expect, loads the modules, and makes standard input and output the serial
/// port that goes to the host, which changes no byte of what is written.
///
/// # Errors
/// What could not be done, in one line.
pub(super) fn prepare(port: &str) -> Result<(), String> {
    for (kind, place) in
        [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp")]
    {
        mount(kind, place).map_err(|error| format!("mounting {place}: {error}"))?;
    }
    let file = OpenOptions::new().read(true).write(true).open(port);
    let file = file.and_then(|file| {
        raw(&file)?;
        for standard in [0, 1] {
            // SAFETY: two descriptors that are open.
            if unsafe { libc::dup2(file.as_raw_fd(), standard) } < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    });
    file.map_err(|error| format!("{port}: {error}"))?;
    let order = fs::read_to_string(MODULES).unwrap_or_default();
    for name in order.lines() {
        load(name).map_err(|error| format!("module {name}: {error}"))?;
    }
    hurry(SOFTIRQS).map_err(|error| format!("{SOFTIRQS}: {error}"))
}

/// Lets a thread of the kernel go before all processes.
fn hurry(name: &str) -> io::Result<()> {
    for entry in fs::read_dir("/proc")? {
        let Ok(number) = entry?.file_name().to_string_lossy().parse() else { continue };
        // One that has ended meanwhile is not it.
        let called = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
        if called.trim_end() == name {
            let priority = libc::sched_param { sched_priority: 1 };
            // SAFETY: a structure that outlives the call.
            return match unsafe {
                libc::sched_setscheduler(number, libc::SCHED_FIFO, &raw const priority)
            } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            };
        }
    }
    Err(io::Error::from(io::ErrorKind::NotFound))
}

fn mount(kind: &str, place: &str) -> io::Result<()> {
    fs::create_dir_all(place)?;
    let (kind, place) = (CString::new(kind)?, CString::new(place)?);
    // SAFETY: terminated strings that outlive the call; no data.
    let done =
        unsafe { libc::mount(kind.as_ptr(), place.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) };
    match io::Error::last_os_error() {
        // The kernel may have mounted /dev itself.
        error if done != 0 && error.raw_os_error() != Some(libc::EBUSY) => Err(error),
        _ => Ok(()),
    }
}

/// A serial port that neither changes nor echoes a byte.
fn raw(port: &File) -> io::Result<()> {
    let descriptor: RawFd = port.as_raw_fd();
    // SAFETY: all bytes zero are a valid `termios`; the calls get one that outlives them.
    let done = unsafe {
        let mut settings: libc::termios = std::mem::zeroed();
        libc::tcgetattr(descriptor, &raw mut settings);
        libc::cfmakeraw(&raw mut settings);
        libc::cfsetspeed(&raw mut settings, libc::B115200);
        libc::tcsetattr(descriptor, libc::TCSANOW, &raw const settings)
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn load(name: &str) -> io::Result<()> {
    let file = File::open(Path::new(MODULES).with_file_name(name))?;
    // SAFETY: an open file and an empty, terminated string.
    let done = unsafe {
        libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0 as libc::c_int)
    };
    match io::Error::last_os_error() {
        error if done != 0 && error.raw_os_error() != Some(libc::EEXIST) => Err(error),
        _ => Ok(()),
    }
}

/// Waits until all that was said has been sent, and switches the machine off.
pub(super) fn power_off() {
    // SAFETY: system calls without pointers.
    unsafe {
        libc::tcdrain(1);
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
}
