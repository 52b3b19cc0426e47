//! The pages being fetched. A user has one only while it fetches; they are recycled.

use super::object::{NONE, Object};
use super::priorities::Priorities;
use crate::PageEnded;
use sojourn_base::Time;

/// How far a page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// The primary object is on its way.
    #[default]
    Primary,
    /// The primary object is there; the embedded ones are asked for at this time.
    Parsing(Time),
    /// Embedded objects are on their way.
    Embedded,
}

/// What a place for a connection is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing.
    #[default]
    Idle,
    /// Waits until a time, then asks for an object.
    Waiting {
        /// When.
        until: Time,
        /// Which.
        object: u32,
    },
    /// Waits for the response with this object.
    Busy(u32),
}

/// A place for a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub open: bool,
    pub state: State,
}

/// The objects of a server that wait, linked by [`Object::next`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    first: u32,
    /// Means nothing without a first.
    last: u32,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

/// A page being fetched.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    pub objects: Vec<Object>,
    /// Places for connections, so many for each server.
    pub slots: Vec<Slot>,
    pub parallel: u16,
    pub priorities: Priorities,
    /// The objects of each server that have been named and not asked for.
    pub waiting: Vec<Waiting>,
    pub parse: Time,
    pub phase: Phase,
    pub persistent: bool,
    /// Objects that have been named and have neither come nor failed.
    pub left: u32,
    /// When it began.
    pub begun: Time,
    /// Whether none has failed.
    pub complete: bool,
    /// When the first byte of the document came, once all of it has.
    pub first_byte: Option<Time>,
    /// Objects that came, and their bytes.
    pub came: u32,
    pub bytes: u64,
    /// Sum over these objects of their bytes times the nanoseconds from `begun` to when they came.
    pub byte_times: u128,
}

impl Page {
    /// An object has come: those that it names can be asked for.
    pub(super) fn came(&mut self, now: Time, object: u32, first_byte: Time) {
        if object == 0 {
            self.first_byte = Some(first_byte);
        }
        self.came += 1;
        let Object { response, children, .. } = self.objects[object as usize].clone();
        self.bytes += response;
        self.byte_times += u128::from(response) * u128::from(now.saturating_sub(self.begun).0);
        self.left += children.end - children.start;
        self.left -= 1;
        for child in children {
            let Object { server, ref mut next, .. } = self.objects[child as usize];
            *next = NONE;
            let Waiting { first, last } = &mut self.waiting[usize::from(server)];
            if *first == NONE {
                *first = child;
            } else {
                self.objects[*last as usize].next = child;
            }
            *last = child;
        }
    }

    /// What is told of it at its end.
    pub(super) fn ended(&self) -> PageEnded {
        let byte_index = || Time((self.byte_times / u128::from(self.bytes.max(1))) as u64);
        PageEnded {
            begun: self.begun,
            first_byte: self.first_byte,
            objects: self.came,
            bytes: self.bytes,
            byte_index: self.complete.then(byte_index),
        }
    }

    /// The next object to be asked of a server, in the order in which they were named.
    pub(super) fn take(&mut self, server: usize) -> Option<u32> {
        let first = &mut self.waiting[server].first;
        let object = *first;
        (object != NONE).then(|| {
            *first = self.objects[object as usize].next;
            object
        })
    }

    /// Whether there is one.
    pub(super) fn waits(&self, server: usize) -> bool {
        self.waiting[server].first != NONE
    }

    /// The server that a place for a connection is for.
    pub(super) fn server(&self, slot: u16) -> usize {
        // Nearly all pages have one; a division takes as long as all else here.
        if self.waiting.len() == 1 { 0 } else { usize::from(slot / self.parallel) }
    }
}

/// The pages that the users of one run are fetching: one pool for all, passed to every
/// [`super::Browser::step`]. It grows to the most pages at a time and then allocates no more.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    pages: Vec<Page>,
    free: Vec<u32>,
}

impl Pages {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of pages being fetched.
    #[must_use]
    pub fn active(&self) -> usize {
        self.pages.len() - self.free.len()
    }

    pub(super) fn acquire(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.pages.push(Page::default());
            (self.pages.len() - 1) as u32
        })
    }

    pub(super) fn release(&mut self, page: u32) {
        self.free.push(page);
    }

    #[inline]
    pub(super) fn get(&mut self, page: u32) -> &mut Page {
        &mut self.pages[page as usize]
    }
}
