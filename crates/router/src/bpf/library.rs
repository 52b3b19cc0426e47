//! libbpf, found at run time, and the two system calls that its older versions do not make.
#![expect(unsafe_code, reason = "functions of a C library, and system calls")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::io::Error;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

/// How a program is held in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By a link.
    Link,
    /// By itself.
    Map,
}

/// What holds a congestion control in the kernel.
#[derive(Debug)]
pub(super) struct Held {
    descriptor: OwnedFd,
    way: Way,
}

impl Held {
    /// The link, or the map.
    pub(super) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.way == Way::Map {
            let key = 0u32;
            let attributes = Element {
                map: self.descriptor.as_raw_fd() as u32,
                key: &raw const key as u64,
                ..Element::default()
            };
            // Fails only if it is gone.
            let _ = bpf(MAP_DELETE_ELEM, &attributes);
        }
        // A link ends with its last descriptor.
    }
}

/// Commands of `bpf`, the flag of a map that is for a link, and what the link is for
/// (linux/bpf.h).
const MAP_DELETE_ELEM: c_int = 3;
const LINK_CREATE: c_int = 28;
const F_LINK: u32 = 1 << 13;
const STRUCT_OPS: u32 = 44;

/// `bpf_attr` of commands on an element of a map.
#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    pad: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// `bpf_attr` of the command that makes a link.
#[repr(C)]
#[derive(Default)]
struct Link {
    map: u32,
    target: u32,
    kind: u32,
    flags: u32,
}

fn bpf<T>(command: c_int, attributes: &T) -> Result<c_int, Error> {
    // SAFETY: the kernel reads as many bytes as the structure has, and takes the rest for zero.
    let done =
        unsafe { libc::syscall(libc::SYS_bpf, command, ptr::from_ref(attributes), size_of::<T>()) };
    if done < 0 { Err(Error::last_os_error()) } else { Ok(done as c_int) }
}

type Pointer = *mut c_void;

/// The functions that are used.
struct Library {
    set_print: unsafe extern "C" fn(*const c_void) -> Pointer,
    major: unsafe extern "C" fn() -> u32,
    minor: unsafe extern "C" fn() -> u32,
    open: unsafe extern "C" fn(*const c_void, usize, *const c_void) -> Pointer,
    find: unsafe extern "C" fn(Pointer, *const c_char) -> Pointer,
    set_flags: unsafe extern "C" fn(Pointer, u32) -> c_int,
    load: unsafe extern "C" fn(Pointer) -> c_int,
    descriptor: unsafe extern "C" fn(Pointer) -> c_int,
    attach: unsafe extern "C" fn(Pointer) -> Pointer,
    link_descriptor: unsafe extern "C" fn(Pointer) -> c_int,
    disconnect: unsafe extern "C" fn(Pointer),
    destroy: unsafe extern "C" fn(Pointer) -> c_int,
    close: unsafe extern "C" fn(Pointer),
}

impl Library {
    fn open() -> Result<Self, String> {
        let missing = "a program for it needs libbpf.so.1, which is not there: install libbpf1";
        // SAFETY: a name that ends with zero. The library stays as long as the process.
        let library = unsafe { libc::dlopen(c"libbpf.so.1".as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            return Err(missing.into());
        }
        // SAFETY: pointers to functions of the fields' types, as libbpf 1 has them (bpf/libbpf.h).
        unsafe {
            Ok(Self {
                set_print: function(library, c"libbpf_set_print")?,
                major: function(library, c"libbpf_major_version")?,
                minor: function(library, c"libbpf_minor_version")?,
                open: function(library, c"bpf_object__open_mem")?,
                find: function(library, c"bpf_object__find_map_by_name")?,
                set_flags: function(library, c"bpf_map__set_map_flags")?,
                load: function(library, c"bpf_object__load")?,
                descriptor: function(library, c"bpf_map__fd")?,
                attach: function(library, c"bpf_map__attach_struct_ops")?,
                link_descriptor: function(library, c"bpf_link__fd")?,
                disconnect: function(library, c"bpf_link__disconnect")?,
                destroy: function(library, c"bpf_link__destroy")?,
                close: function(library, c"bpf_object__close")?,
            })
        }
    }

    /// Whether it makes links itself, as from version 1.2 on.
    fn makes_links(&self) -> bool {
        // SAFETY: functions without arguments.
        unsafe { ((self.major)(), (self.minor)()) >= (1, 2) }
    }
}

/// A function of an open library.
///
/// # Safety
/// `F` must be the type of a pointer to the function of that name.
unsafe fn function<F: Copy>(library: Pointer, name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<Pointer>()) };
    // SAFETY: an open library, and a name that ends with zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    if found.is_null() {
        return Err(format!("libbpf.so.1 is too old: it has no {}", name.to_string_lossy()));
    }
    // SAFETY: the caller knows the type, whose size is a pointer's.
    Ok(unsafe { std::mem::transmute_copy(&found) })
}

/// Loads a compiled program and registers what it is.
///
/// # Errors
/// One line on what failed.
pub(super) fn register(object: &[u8], way: Way) -> Result<Held, String> {
    let library = Library::open()?;
    // SAFETY: the functions get what they ask for: the object's bytes outlive the call; maps and
    // links are used while their object is open, and no pointer is used after it was given back.
    unsafe {
        (library.set_print)(ptr::null());
        let opened = (library.open)(object.as_ptr().cast(), object.len(), ptr::null());
        if opened.is_null() {
            return Err(format!("the compiled program: {}", Error::last_os_error()));
        }
        let held = load(&library, opened, way);
        (library.close)(opened);
        held
    }
}

/// # Safety
/// `opened` must be an open object.
unsafe fn load(library: &Library, opened: Pointer, way: Way) -> Result<Held, String> {
    // SAFETY: see `register`.
    unsafe {
        let map = (library.find)(opened, c"congestion".as_ptr());
        if map.is_null() {
            return Err("the compiled program holds no congestion control".into());
        }
        if way == Way::Link {
            (library.set_flags)(map, F_LINK);
        }
        let refused = |error: Error| format!("the kernel refuses the program: {error}");
        // Before another call changes it: the reason is in errno.
        if (library.load)(opened) != 0 {
            return Err(refused(Error::last_os_error()));
        }
        let link = (library.attach)(map);
        if link.is_null() {
            return Err(refused(Error::last_os_error()));
        }
        let own = way == Way::Link && library.makes_links();
        let from = if own { (library.link_descriptor)(link) } else { (library.descriptor)(map) };
        let descriptor = libc::fcntl(from, libc::F_DUPFD_CLOEXEC, 0);
        let copied = Error::last_os_error();
        // What is registered stays when libbpf lets go of it.
        (library.disconnect)(link);
        (library.destroy)(link);
        if descriptor < 0 {
            return Err(refused(copied));
        }
        let descriptor = OwnedFd::from_raw_fd(descriptor);
        if way == Way::Map || own {
            return Ok(Held { descriptor, way });
        }
        let attributes =
            Link { map: descriptor.as_raw_fd() as u32, kind: STRUCT_OPS, ..Link::default() };
        let link = bpf(LINK_CREATE, &attributes).map_err(refused)?;
        Ok(Held { descriptor: OwnedFd::from_raw_fd(link), way })
    }
}
