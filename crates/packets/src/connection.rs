//! A TCP connection in the simulation: two endpoints, the private links at either side, and what
//! the event loop must know to run them.

use sojourn_tcp::Endpoint;

/// No packets lie between an endpoint and its peer's host but delay: see [`Wire::step`].
pub const DIRECT: u32 = u32::MAX;

/// What one end needs to send into the network and to receive from it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    /// Delay from this end's host to the first link on its packets' way, ns.
    pub delay: u64,
    /// First step of its packets' way, or [`DIRECT`].
    pub step: u32,
    /// When its private link towards the network is free, ns, and that link's fraction.
    pub out_free: u64,
    pub out_carry: u64,
    /// The same for the private link from the network to this end.
    pub in_free: u64,
    pub in_carry: u64,
}

/// A connection. End 0 is the client (it opened), end 1 the server.
#[repr(C)]
pub struct Connection {
    /// Bytes until the application at each end wants to be told; `u64::MAX` for never.
    pub expect: [u64; 2],
    /// When the event lies that looks at each end's timer; `u64::MAX` if none does.
    pub timer_at: [u64; 2],
    /// Events in the wheel that concern each end and must be handled in order. While there are
    /// any, a packet for that end may not be handled ahead of its time.
    pub waiting: [u32; 2],
    /// Packets in the network or in events.
    pub in_flight: u32,
    /// Whether each end may handle packets ahead of their time.
    pub ahead: [bool; 2],
    /// The applications are done with it.
    pub done: bool,
    pub group: u32,
    /// The member of the group (a flow, a user), or the number of the transfer.
    pub member: u64,
    /// Distinguishes users of the same place in the slab.
    pub generation: u32,
    /// The flow's meter, or [`NONE`].
    pub meter: u32,
    /// The flow's trace, or [`NONE`].
    pub trace: u32,
    pub wire: [Wire; 2],
    pub ends: [Endpoint; 2],
}

/// No such thing.
pub const NONE: u32 = u32::MAX;

impl Connection {
    /// Whether nothing refers to it any more.
    pub fn idle(&self) -> bool {
        self.in_flight == 0 && self.waiting == [0, 0]
    }
}

/// Connections, in places that are used again.
#[derive(Default)]
pub struct Connections {
    places: Vec<Connection>,
    free: Vec<u32>,
    generation: u32,
}

impl Connections {
    pub fn reserve(&mut self, n: usize) {
        self.places.reserve_exact(n);
    }

    /// Finds a place for a connection; its `generation` is set here.
    pub fn insert(&mut self, mut connection: Connection) -> u32 {
        self.generation = self.generation.wrapping_add(1);
        connection.generation = self.generation;
        if let Some(at) = self.free.pop() {
            self.places[at as usize] = connection;
            at
        } else {
            self.places.push(connection);
            (self.places.len() - 1) as u32
        }
    }

    /// Gives the place of a connection back; events of its generation mean nothing from now on.
    pub fn remove(&mut self, at: u32) {
        self.places[at as usize].generation = 0;
        self.free.push(at);
    }

    /// All connections that are in use, with their places.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Connection)> {
        self.places.iter().enumerate().filter(|(_, c)| c.generation != 0).map(|(i, c)| (i as u32, c))
    }

    /// The places of all connections that are in use.
    pub fn places(&self) -> Vec<u32> {
        self.iter().map(|(place, _)| place).collect()
    }
}

impl std::ops::Index<u32> for Connections {
    type Output = Connection;
    #[inline]
    fn index(&self, at: u32) -> &Connection {
        &self.places[at as usize]
    }
}

impl std::ops::IndexMut<u32> for Connections {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut Connection {
        &mut self.places[at as usize]
    }
}
