//! What applications ask of the ends of connections.

use super::Sim;
use crate::end::End;
use crate::end_id::EndId;
use sojourn_base::Time;
use sojourn_traffic::Priority;

impl Sim {
    /// The client opens.
    pub(crate) fn open(&mut self, now: Time, place: u32) {
        let client = EndId::client(place);
        self.with_endpoint(now, client, End::open);
    }

    /// The application at one end writes.
    pub(crate) fn write(&mut self, now: Time, of: EndId, bytes: u64) {
        self.with_endpoint(now, of, |e, group, now, out| e.write(group, now, bytes, out));
    }

    /// The application at one end writes all of some streams.
    pub(crate) fn write_all(&mut self, now: Time, of: EndId, whole: &[(u32, u64)]) {
        self.with_endpoint(now, of, |e, group, now, out| e.write_all(group, now, whole, out));
    }

    /// The application at one end has no more to send.
    pub(crate) fn close(&mut self, now: Time, of: EndId) {
        self.with_endpoint(now, of, End::close);
    }

    /// Opens a stream of a client's QUIC connection; its ID.
    pub(crate) fn open_stream(&mut self, client: EndId) -> u32 {
        let conn = &mut self.conns[client.conn()];
        conn.ends[client.end()].open_stream(&self.groups[usize::from(conn.group)])
    }

    /// Says when a stream of a QUIC connection is sent among the others of the same end.
    pub(crate) fn prioritise(&mut self, of: EndId, stream: u32, priority: Priority) {
        let conn = &mut self.conns[of.conn()];
        let group = &self.groups[usize::from(conn.group)];
        conn.ends[of.end()].prioritise(group, stream, priority);
    }

    /// The application at one end waits until so many bytes have come in all, or for none. Of what
    /// has come already, ahead of its time, it is about to be told.
    pub(crate) fn expect(&mut self, of: EndId, in_all: Option<u64>) {
        let conn = &mut self.conns[of.conn()];
        let delivered = conn.ends[of.end()].bytes_delivered();
        let left = in_all.map_or(0, |in_all| in_all.saturating_sub(delivered));
        conn.sides[of.end()].expect = if left == 0 { u64::MAX } else { left };
    }
}
