//! What goes out: datagrams of coalesced packets (RFC 9000 section 12.2), as far as congestion
//! window, pacing and an unknown address allow.
//!
//! # Differences from the source
//!
//! 1. The window holds back no handshake messages (RFC 9002 section 7 has it hold back everything
//!    but acknowledgements and probes).
//! 2. A datagram goes out if the window has room for a full one.

use super::{Endpoint, Event, Output, State, state_of};
use crate::packet::{
    Ack, CryptoFrame, LEAST_DATAGRAM, MOST_PACKETS, Packet, Space, StreamPacket, around_short,
    number_bytes, varint,
};
use crate::params::Params;
use sojourn_base::{Ecn, Time};

/// What became of an attempt to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    Sent,
    /// Something is held back by the window or by pacing.
    Held,
    /// There is nothing to send, or what there is must wait for the peer.
    Nothing,
}

/// Why a packet is to be sent.
#[derive(Clone, Copy, Debug)]
struct Reasons {
    /// There is something that counts in flight and may go out.
    content: bool,
    /// An acknowledgement is due.
    due: bool,
    /// A probe is.
    probe: bool,
}

impl Endpoint {
    /// Sends what may be sent, and sets the timers.
    pub(super) fn transmit(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.state != State::Open {
            return;
        }
        self.pace_at = Time::MAX;
        let end = if self.progress.confirmed && self.has_nothing(now) {
            Attempt::Nothing
        } else {
            self.send_all(params, now, out)
        };
        self.note_limit(params, end);
        if self.closing && !self.is_server && self.progress.complete && self.streams.all_over() {
            self.send_close(now, out);
            return self.end(State::Closed, Event::Closed, out);
        }
        self.set_timers(params, now);
    }

    /// Tells congestion control whether the window holds back what there is to send.
    #[inline(always)]
    pub(super) fn note_limit(&mut self, params: &Params, end: Attempt) {
        let full = !self.control.has_room(params);
        // RFC 9002 section 7.8: pacing does not make a sender one that leaves the window unused.
        self.control.limited = full || end == Attempt::Held;
        if end == Attempt::Nothing && !full && params.tuning.samples() {
            self.control.delivered.limit(self.control.in_flight);
        }
    }

    /// Sends until there is nothing more that may go out; why it ends.
    #[inline(never)]
    fn send_all(&mut self, params: &Params, now: Time, out: &mut impl Output) -> Attempt {
        loop {
            let attempt = if self.progress.confirmed {
                self.send_packet(params, now, out)
            } else {
                self.send_coalesced(params, now, out)
            };
            if attempt != Attempt::Sent {
                return attempt;
            }
        }
    }

    /// Whether there is nothing to send once there is but one space.
    #[inline]
    fn has_nothing(&self, now: Time) -> bool {
        let data = &self.data;
        !data.received.is_due(now) && data.probes == 0 && !self.has_content(Space::Data)
    }

    /// Whether a space has something to send that counts in flight.
    pub(super) fn has_content(&self, space: Space) -> bool {
        let state = self.space(space);
        match space {
            _ if !state.seals => false,
            Space::Data => {
                self.progress.done_due
                    || self.streams.can_send()
                    || self.streams.has_grants()
                    || !self.messages.is_empty()
            }
            _ => state.out.offset(u64::MAX).is_some(),
        }
    }

    /// Whether what counts in flight may go out; when pacing holds it back, that is noted.
    fn may_send(&mut self, params: &Params, now: Time, probes: bool) -> bool {
        if !self.control.credit && !self.control.has_room(params) {
            return false;
        }
        if params.pacing
            && !probes
            && let Some(at) = self.control.pacer.wait(now)
        {
            self.pace_at = at;
            return false;
        }
        true
    }

    /// Once the handshake is confirmed there is but one space.
    #[inline]
    fn send_packet(&mut self, params: &Params, now: Time, out: &mut impl Output) -> Attempt {
        let probe = self.data.probes > 0;
        let waits = self.has_content(Space::Data);
        let may = waits && self.may_send(params, now, probe);
        if may && !probe && self.send_full(params, now, out) {
            return Attempt::Sent;
        }
        let rest = if waits && !may { Attempt::Held } else { Attempt::Nothing };
        let (content, due) = (waits && (may || probe), self.data.received.is_due(now));
        if !(content || probe) {
            if due {
                self.send_ack(params, now, out);
            }
            return rest;
        }
        let mut packet = Packet::empty(Space::Data);
        let why = Reasons { content, due, probe };
        let Some(bytes) = self.fill(now, &mut packet, params.max_udp_payload, why) else {
            return rest;
        };
        let ecn = if params.ecn { self.ecn.next(params.ect) } else { Ecn::NotEct };
        self.note(params, now, &packet, bytes, ecn);
        self.counters.datagrams += 1;
        out.send(ecn, core::slice::from_ref(&packet), bytes);
        Attempt::Sent
    }

    /// Sends a packet that is full of one stream, if there is nothing else for it to carry.
    #[inline(always)]
    fn send_full(&mut self, params: &Params, now: Time, out: &mut impl Output) -> bool {
        let Self { data, streams, control, rtt, .. } = self;
        let others = self.progress.done_due
            || streams.has_grants()
            || !self.messages.is_empty()
            || data.received.is_unacked();
        if others {
            return false;
        }
        let number = data.log.next;
        let number_bytes = number_bytes(number, data.log.largest_acked);
        let bytes = params.max_udp_payload;
        let Some(frame) = streams.take_full(bytes - around_short(number_bytes)) else {
            return false;
        };
        let ecn = if params.ecn { self.ecn.next(params.ect) } else { Ecn::NotEct };
        data.log.push_full(frame, now, ecn != Ecn::NotEct, bytes);
        control.sent(params, now, bytes, rtt);
        if params.tuning.samples() {
            data.log.push_stamp(control.stamp(now, bytes));
        }
        if !self.sent_since {
            (self.active, self.sent_since) = (now, true);
        }
        self.counters.datagrams += 1;
        out.send_stream(ecn, StreamPacket { number, number_bytes, frame }, bytes);
        true
    }

    /// Before that packets of all spaces go into one datagram.
    #[cold]
    fn send_coalesced(&mut self, params: &Params, now: Time, out: &mut impl Output) -> Attempt {
        let full = if self.progress.complete { params.max_udp_payload } else { LEAST_DATAGRAM };
        let room = if self.is_server && !self.progress.validated {
            u64::from(full).min(self.amplification.left()) as u32
        } else {
            full
        };
        let content = Space::ALL.iter().any(|&space| self.has_content(space));
        let probes = self.any(|space| space.probes > 0);
        let may = content && self.may_send(params, now, probes);
        let nothing = if content && !may { Attempt::Held } else { Attempt::Nothing };
        let mut packets = [Packet::empty(Space::Data); MOST_PACKETS];
        let mut sizes = [0; MOST_PACKETS];
        let (mut count, mut used) = (0, 0);
        for space in Space::ALL {
            // Handshake messages wait for no window: 0-RTT data that are lost would fill it for
            // ever, as nothing probes for them before the handshake is confirmed (RFC 9002 section
            // 6.2.1).
            let may = may || space != Space::Data;
            let Some(why) = self.reasons(now, space, may) else { continue };
            packets[count] = Packet::empty(space);
            if let Some(bytes) = self.fill(now, &mut packets[count], room - used, why) {
                sizes[count] = bytes;
                used += bytes;
                count += 1;
            }
        }
        if count == 0 {
            return nothing;
        }
        // RFC 9000 section 14.1: everything of a client that opens, and of a server what asks for
        // an acknowledgement. Padding of an Initial packet counts in flight for the shortest time.
        let first = &mut packets[0];
        if first.space == Space::Initial && (!self.is_server || first.is_eliciting()) {
            let padding = LEAST_DATAGRAM.saturating_sub(used);
            first.rare_mut().padding = padding as u16;
            sizes[0] += padding;
        }
        self.put(params, now, &sizes[..count], &packets[..count], out);
        Attempt::Sent
    }

    /// A datagram goes out, of packets of these sizes.
    fn put(
        &mut self,
        params: &Params,
        now: Time,
        sizes: &[u32],
        packets: &[Packet],
        out: &mut impl Output,
    ) {
        let (first, last) = (&packets[0], &packets[packets.len() - 1]);
        let capable = first.space == Space::Data && self.progress.complete && params.ecn;
        // RFC 9001 section 4.9.1: a client that sends Handshake packets needs no Initial ones.
        let drops_initial = !self.is_server && last.space >= Space::Handshake && !last.early;
        let ecn = if capable { self.ecn.next(params.ect) } else { Ecn::NotEct };
        for (packet, &bytes) in packets.iter().zip(sizes) {
            debug_assert_eq!(packet.bytes(), bytes);
            self.note(params, now, packet, bytes, ecn);
        }
        let bytes = sizes.iter().sum();
        self.amplification.sent += u64::from(bytes);
        self.counters.datagrams += 1;
        out.send(ecn, packets, bytes);
        if drops_initial {
            self.discard(Space::Initial);
        }
    }

    /// Why a packet of a space is to be sent, if it is: data count only if they `may` go out, or as
    /// a probe.
    fn reasons(&self, now: Time, space: Space, may: bool) -> Option<Reasons> {
        let state = self.space(space);
        let probe = state.probes > 0;
        let content = (may || probe) && self.has_content(space);
        let due = state.received.is_due(now);
        (state.seals && (content || due || probe)).then_some(Reasons { content, due, probe })
    }

    /// Fills an empty packet of at most `room` bytes, and tells how many it takes; none if there is
    /// nothing that fits.
    #[inline(always)]
    fn fill(&mut self, now: Time, packet: &mut Packet, room: u32, why: Reasons) -> Option<u32> {
        let Reasons { content, due, probe } = why;
        let space = packet.space;
        let state = state_of(&mut self.data, &mut self.early, space);
        packet.number = state.log.next;
        packet.number_bytes = number_bytes(packet.number, state.log.largest_acked);
        packet.early = space == Space::Data && !self.is_server && !self.progress.complete;
        // A sample of the header protection needs four bytes behind the number's first (RFC 9001
        // section 5.4.2), which the tag and any frame give.
        let mut left = room.checked_sub(packet.around())?;
        if !packet.early {
            state.received.fill(now, &mut packet.ack);
            let bytes = packet.ack.as_ref().map_or(0, Ack::bytes);
            match left.checked_sub(bytes) {
                Some(rest) => left = rest,
                None => packet.ack = None,
            }
        }
        // A server's Initial packets that ask for an acknowledgement are padded: there must be
        // room for that.
        let fits = space != Space::Initial || room >= LEAST_DATAGRAM;
        if content && fits {
            left = match space {
                Space::Data => self.fill_data(packet, left),
                _ => self.fill_crypto(packet, left),
            };
        }
        let state = state_of(&mut self.data, &mut self.early, space);
        let mut eliciting = packet.is_eliciting();
        if probe && fits && left > 0 && !eliciting {
            (packet.ping, eliciting) = (true, true);
            left -= 1;
        }
        if !(eliciting || due && packet.ack.is_some()) {
            return None;
        }
        if packet.ack.is_some() {
            state.received.frame_sent();
        }
        if eliciting {
            state.probes = state.probes.saturating_sub(1);
        }
        Some(room - left)
    }

    /// Handshake messages; returns what is left.
    fn fill_crypto(&mut self, packet: &mut Packet, left: u32) -> u32 {
        let out = &mut self.space_mut(packet.space).out;
        let Some(offset) = out.offset(u64::MAX) else { return left };
        let header = CryptoFrame::header(offset, left);
        if left <= header {
            return left;
        }
        let Some((start, end, _)) = out.take(u64::from(left - header), u64::MAX) else {
            return left;
        };
        let len = (end - start) as u32;
        packet.rare_mut().crypto = Some(CryptoFrame { offset: start as u32, len: len as u16 });
        left - CryptoFrame::header(start, len) - len
    }

    /// Frames of the data space, in `left` bytes; returns what is left of these.
    fn fill_data(&mut self, packet: &mut Packet, mut left: u32) -> u32 {
        if !packet.early {
            left = self.fill_control(packet, left);
        }
        if let Some(&bytes) = self.messages.front() {
            let all = 1 + varint(u64::from(bytes)) + u32::from(bytes);
            if all <= left {
                packet.rare_mut().message = self.messages.pop_front();
                left -= all;
            }
        }
        while packet.takes_stream() {
            let Some(frame) = self.streams.take(left) else { break };
            packet.add_stream(frame);
            let len = u32::from(frame.len);
            left -= crate::packet::StreamFrame::header(frame.id, frame.offset, len) + len;
        }
        left
    }

    /// Frames that only 1-RTT packets carry here; returns what is left.
    fn fill_control(&mut self, packet: &mut Packet, mut left: u32) -> u32 {
        // The largest of each.
        if left < 1 + 9 + 17 {
            return left;
        }
        if self.progress.done_due {
            (packet.done, self.progress.done_due) = (true, false);
            left -= 1;
        }
        if self.streams.grant_all {
            let most = self.streams.own_max();
            (packet.rare_mut().max_data, self.streams.grant_all) = (Some(most), false);
            left -= 1 + varint(most);
        }
        if let Some((id, most)) = self.streams.take_grant() {
            packet.rare_mut().max_stream_data = Some((id, most));
            left -= 1 + varint(u64::from(id)) + varint(most);
        }
        left
    }

    /// Remembers a packet that goes out.
    #[inline(always)]
    fn note(&mut self, params: &Params, now: Time, packet: &Packet, bytes: u32, ecn: Ecn) {
        let eliciting = packet.is_eliciting();
        let in_flight = eliciting || packet.padding() > 0;
        let Self { data, early, control, rtt, .. } = self;
        let log = &mut state_of(data, early, packet.space).log;
        let counts = if in_flight { bytes } else { 0 };
        log.push(packet, now, ecn != Ecn::NotEct, eliciting, counts);
        if in_flight {
            control.sent(params, now, bytes, rtt);
        }
        if params.tuning.samples() {
            log.push_stamp(control.stamp(now, counts));
        }
        if eliciting && !self.sent_since {
            // RFC 9000 section 10.1.
            (self.active, self.sent_since) = (now, true);
        }
    }

    /// CONNECTION_CLOSE (RFC 9000 section 10.2), with the acknowledgement of what has come.
    pub(super) fn send_close(&mut self, now: Time, out: &mut impl Output) {
        let Self { data, .. } = self;
        let mut packet = Packet::empty(Space::Data);
        packet.number = data.log.next;
        data.log.next += 1;
        packet.number_bytes = number_bytes(packet.number, data.log.largest_acked);
        data.received.fill(now, &mut packet.ack);
        packet.close = true;
        self.counters.datagrams += 1;
        let bytes = packet.bytes();
        out.send(Ecn::NotEct, &[packet], bytes);
    }
}
