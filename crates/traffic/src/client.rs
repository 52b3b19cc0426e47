//! What those who ask for things and wait for them have in common: connections, requests, times.

use crate::{Playback, Priority};
use sojourn_base::Time;

/// Someone who opens connections, sends requests and waits for the responses.
pub trait Client: Clone + Send {
    /// What the clients of a group share.
    type Shared: Clone + Send;

    /// Tells a client what happened; `out` gets what it wants done, in order.
    fn tell(
        &mut self,
        shared: &mut Self::Shared,
        now: Time,
        input: Input,
        out: &mut impl FnMut(Command),
    );

    /// What the client sees on a screen; none if it has none.
    fn playback(&self) -> Option<Playback> {
        None
    }
}

/// What happened to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The client begins; once, before anything else.
    Start,
    /// A time asked for has come. One that was not asked for, or was overtaken, does no harm.
    Wake,
    /// The last byte of the response to the request on this connection has come.
    ResponseDone {
        /// The connection.
        slot: u16,
        /// When its first byte came.
        first_byte: Time,
    },
    /// The connection is gone: it could not be opened, or was lost. The object under way on it, if
    /// any, is given up.
    Failed {
        /// The connection.
        slot: u16,
    },
}

/// One request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes of the response, at least 1.
    pub response: u64,
    /// Time at the server from the request's last byte to the response's first.
    pub server_delay: Time,
    /// Bytes of the request, at least 1.
    pub request: u32,
    /// Whether it fetches the primary object of a page.
    pub primary: bool,
    /// When its response comes among others of the same connection.
    pub priority: Priority,
}

/// What a client wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Give [`Input::Wake`] at this time; a later one that was asked for before is void.
    Wake {
        /// When, not before now.
        at: Time,
    },
    /// Open a connection. The slot is free: it never was open, or was closed or failed since.
    Open {
        /// The connection.
        slot: u16,
        /// Which of the client's servers it goes to, from 0.
        server: u8,
    },
    /// Send a request as soon as the connection is open.
    Request {
        /// The connection.
        slot: u16,
        /// What to ask for.
        exchange: Exchange,
    },
    /// Close a connection; nothing is under way on it. The slot may be opened anew at once.
    Close {
        /// The connection.
        slot: u16,
    },
    /// Note that a page begins.
    PageBegins,
    /// Note that a page ends.
    PageEnds(PageEnded),
}

/// A page that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEnded {
    /// When it began.
    pub begun: Time,
    /// When the first byte of the document came, if it came whole.
    pub first_byte: Option<Time>,
    /// Objects that came.
    pub objects: u32,
    /// Bytes of their responses.
    pub bytes: u64,
    /// If all of them came: the mean time from the page's beginning to when an object came whole,
    /// each object weighing as much as it has bytes, the `ByteIndex` of Bocchi, De Cicco and Rossi
    /// (2016).
    pub byte_index: Option<Time>,
}
