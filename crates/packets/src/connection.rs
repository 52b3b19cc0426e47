//! A connection in the simulation: two endpoints, the private links at either side, and what
//! the event loop must know to run them.

use crate::end::End;
use crate::prefetch;
use crate::tls::HANDSHAKE;
use sojourn_base::Time;
use sojourn_records::{Exchange, Totals};

/// An end of a connection, or of a datagram flow with [`DATAGRAM`](crate::packet::DATAGRAM) set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndId(u32);

impl EndId {
    /// The end that opened the connection at this place: end 0.
    #[inline]
    pub(crate) const fn client(conn: u32) -> Self {
        Self(conn << 1)
    }

    /// The other end of the connection at this place: end 1.
    #[inline]
    pub(crate) const fn server(conn: u32) -> Self {
        Self(conn << 1 | 1)
    }

    /// The place of its connection.
    #[inline]
    pub(crate) const fn conn(self) -> u32 {
        self.0 >> 1
    }

    /// Which end of the connection: 0, the client, or 1, the server.
    #[inline]
    pub(crate) const fn end(self) -> usize {
        (self.0 & 1) as usize
    }

    /// Whether it is the server's end.
    #[inline]
    pub(crate) const fn is_server(self) -> bool {
        self.0 & 1 == 1
    }

    /// The other end of the same connection.
    #[inline]
    pub(crate) const fn peer(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// The end of this number.
    #[inline]
    pub(crate) const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// As a number: ends of the same connection lie side by side.
    #[inline]
    pub(crate) const fn bits(self) -> u32 {
        self.0
    }
}

/// Set in [`Side::waiting`] while the application may write at any time: then nothing is handled
/// ahead of its time.
const HELD: u32 = 1 << 31;
/// The same while all that happens to the end is recorded, which is to be in order.
const RECORDED: u32 = 1 << 30;

/// What lies between one end and the network: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Side {
    /// Bytes until the application wants to be told; `u64::MAX` for never.
    pub expect: u64,
    /// When the endpoint's timers will be looked at; [`Time::MAX`] if they will not.
    pub timer_at: Time,
    /// Delay from the host to the first link on its packets' way.
    pub delay: Time,
    /// When the private link towards the network is free, and that link's fraction; with a
    /// shared interface instead of the fraction that interface's number.
    pub out_free: Time,
    pub out_carry: u64,
    /// The same for the private link from the network.
    pub in_free: Time,
    pub in_carry: u64,
    /// First step of its packets' way, or [`HOST`](sojourn_link::HOST).
    pub step: u32,
    /// Events in the wheel that concern this end and must be handled in order, [`HELD`] and
    /// [`RECORDED`].
    waiting: u32,
}

impl Side {
    /// A side whose packets take `delay` to the first link, at `step`.
    pub(crate) fn new(delay: Time, step: u32) -> Self {
        Self {
            expect: u64::MAX,
            timer_at: Time::MAX,
            delay,
            out_free: Time::ZERO,
            out_carry: 0,
            in_free: Time::ZERO,
            in_carry: 0,
            step,
            waiting: 0,
        }
    }

    /// The same with the interfaces of a machine that it shares, out and in.
    pub(crate) fn shares(mut self, [out, into]: [u32; 2]) -> Self {
        (self.out_carry, self.in_carry) = (u64::from(out), u64::from(into));
        self
    }

    /// The shared interface towards the network.
    #[inline]
    pub(crate) fn out_interface(&self) -> usize {
        self.out_carry as usize
    }

    /// The shared interface from the network.
    #[inline]
    pub(crate) fn in_interface(&self) -> usize {
        self.in_carry as usize
    }

    /// `n` more events are on their way to this end.
    #[inline]
    pub(crate) fn wait_for(&mut self, n: u32) {
        self.waiting += n;
    }

    /// One of them has come.
    #[inline]
    pub(crate) fn came(&mut self) {
        self.waiting -= 1;
    }

    /// From now on the application may write at any time.
    pub(crate) fn hold(&mut self) {
        self.waiting |= HELD;
    }

    /// The application will not write before it is told something.
    pub(crate) fn release(&mut self) {
        self.waiting &= !HELD;
    }

    /// Whatever happens to it is recorded at its own time.
    pub(crate) fn record(&mut self) {
        self.waiting |= RECORDED;
    }

    /// Whether a packet may be handled ahead of its time as far as events and application go.
    #[inline]
    pub(crate) fn free(&self) -> bool {
        self.waiting == 0
    }
}

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
    /// The flow's meter, or [`NONE`].
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

/// No such thing.
pub(crate) const NONE: u32 = u32::MAX;

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
        let waits = |side: &Side| side.waiting & !(HELD | RECORDED) != 0;
        self.done && self.in_flight == 0 && !self.sides.iter().any(waits)
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
        assert_eq!(size_of::<Side>(), 64);
        assert_eq!(size_of::<Connection>(), 576);
    }
}
