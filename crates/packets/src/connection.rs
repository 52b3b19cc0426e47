//! A connection in the simulation: two endpoints, the private links at either side, and what
//! the event loop must know to run them.

use crate::end::End;
use crate::end_id::EndId;
use crate::prefetch;
use crate::side::Side;
use crate::tls::HANDSHAKE;
use sojourn_base::Time;
use sojourn_records::{Exchange, Totals};

/// A connection: 576 bytes, nine cache lines. End 0 is the client (it opened), end 1 the server.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Connection {
    pub sides: [Side; 2],
    pub ends: [End; 2],
    /// When the last packet arrived at either end, or was lost.
    pub last: Time,
    /// Packets in the network or in events.
    pub in_flight: u32,
    /// The member of the group (a flow, a user), or the number of the transfer.
    pub member: u32,
    /// Distinguishes users of the same place in the slab.
    pub generation: u32,
    /// The flow's meter, or [`NO_METER`](crate::group::NO_METER).
    pub meter: u32,
    pub group: u16,
    /// Which of its member's connections it is.
    pub slot: u16,
    /// The applications are done with it.
    pub done: bool,
    /// The first byte of the response of its one exchange is to come.
    pub awaits_first: bool,
    /// Whether the first bytes of both directions are TLS's handshake.
    pub tls: bool,
}

/// The exchange or transfer on a connection: the last one, which may be over.
#[derive(Clone, Copy, Default)]
pub(crate) struct Underway {
    pub exchange: Exchange,
    /// Whether it is under way.
    pub active: bool,
}

impl Connection {
    /// What both ends have counted; of bytes, those that the applications asked for.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for end in &self.ends {
            totals.delivered += end.bytes_delivered();
            totals.sent += end.packets_sent();
            totals.retransmissions += end.retransmissions();
            totals.timeouts += end.timeouts();
            totals.syn_retries += end.syn_retries();
        }
        if self.tls {
            totals.delivered -= self.shaken();
        }
        totals
    }

    /// Bytes of TLS's handshake that have come at both ends.
    #[cold]
    fn shaken(&self) -> u64 {
        let ends = self.ends.iter().zip(HANDSHAKE);
        ends.map(|(end, most)| end.bytes_delivered().min(most)).sum()
    }

    /// Whether its applications are done with it and nothing else refers to it.
    pub(crate) fn over(&self) -> bool {
        self.done && self.in_flight == 0 && !self.sides.iter().any(Side::awaits)
    }
}

/// Connections, in places that are used again.
#[derive(Clone, Default)]
pub(crate) struct Connections {
    places: Vec<Connection>,
    free: Vec<u32>,
    generation: u32,
}

impl Connections {
    pub(crate) fn reserve(&mut self, n: usize) {
        self.places.reserve_exact(n);
    }

    /// What lies between an end and the network.
    #[inline]
    pub(crate) fn side(&mut self, of: EndId) -> &mut Side {
        &mut self[of.conn()].sides[of.end()]
    }

    /// Asks for the memory that handling a packet for this end needs.
    #[inline]
    pub(crate) fn prefetch(&self, to: EndId) {
        if let Some(conn) = self.places.get(to.conn() as usize) {
            let end = to.end();
            prefetch::lines(&conn.last, 1);
            prefetch::lines(&conn.sides[end], size_of::<Side>());
            prefetch::lines(&conn.ends[end], size_of::<End>());
        }
    }

    /// The same for QUIC, whose endpoints lie elsewhere, and a packet that its host is about to
    /// handle: one that `comes` there or may be handled ahead of its time.
    #[inline]
    pub(crate) fn prefetch_quic(&self, to: EndId, comes: bool) -> bool {
        let Some(conn) = self.places.get(to.conn() as usize) else { return false };
        let soon = comes || conn.sides[to.end()].free();
        if soon && let End::Quic(endpoint) = &conn.ends[to.end()] {
            prefetch::lines(&**endpoint, size_of_val(&**endpoint));
        }
        soon
    }

    /// Asks for all of a connection.
    pub(crate) fn prefetch_whole(&self, conn: u32) {
        if let Some(conn) = self.places.get(conn as usize) {
            prefetch::lines(conn, size_of::<Connection>());
        }
    }

    /// Finds a place for a connection; its `generation` is set here.
    pub(crate) fn insert(&mut self, mut connection: Connection) -> u32 {
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
    pub(crate) fn remove(&mut self, at: u32) {
        self.places[at as usize].generation = 0;
        self.free.push(at);
    }

    /// All connections that are in use, with their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Connection)> {
        self.places
            .iter()
            .enumerate()
            .filter(|(_, c)| c.generation != 0)
            .map(|(i, c)| (i as u32, c))
    }

    /// What those of a group have counted, with their members.
    pub(crate) fn counted(&self, group: usize) -> impl Iterator<Item = (u32, Totals)> {
        let of_group = move |conn: &&Connection| usize::from(conn.group) == group;
        let conns = self.iter().map(|(_, conn)| conn).filter(of_group);
        conns.map(|conn| (conn.member, conn.totals()))
    }

    /// The places of all connections that are in use.
    pub(crate) fn places(&self) -> Vec<u32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_takes_nine_cache_lines() {
        assert_eq!(size_of::<Connection>(), 576);
    }
}
