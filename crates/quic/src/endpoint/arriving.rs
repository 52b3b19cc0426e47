//! What comes in: packets of a datagram, in their order (RFC 9000 sections 12.2 and 13).

use super::{Endpoint, Event, Output, State, Unread, state_of};
use crate::control::Shown;
use crate::handshake;
use crate::packet::{Ack, Packet, Rare, Space, StreamFrame, StreamPacket};
use crate::params::Params;
use crate::sent::Frame;
use sojourn_base::{Ecn, Time};

impl Endpoint {
    /// A datagram has arrived, with its ECN field.
    pub fn on_datagram(
        &mut self,
        params: &Params,
        now: Time,
        ecn: Ecn,
        packets: &[Packet],
        out: &mut impl Output,
    ) {
        match self.state {
            State::Idle if self.is_server => (self.state, self.active) = (State::Open, now),
            State::Open => {}
            State::Closed if !packets.iter().any(|packet| packet.close) => {
                return self.answer_closed(now, out);
            }
            _ => return,
        }
        if !self.progress.validated {
            let bytes: u32 = packets.iter().map(Packet::bytes).sum();
            self.amplification.received += u64::from(bytes);
        }
        for packet in packets {
            self.on_packet(params, now, ecn, packet, out);
        }
        self.transmit(params, now, out);
    }

    /// The same of a datagram with a packet of one STREAM frame, in few steps.
    #[inline]
    pub fn on_stream_packet(
        &mut self,
        params: &Params,
        now: Time,
        ecn: Ecn,
        packet: StreamPacket,
        out: &mut impl Output,
    ) {
        let StreamPacket { number, frame, .. } = packet;
        let open = self.state == State::Open && self.progress.confirmed;
        if !open || self.data.received.is_duplicate(number) {
            return self.on_datagram(params, now, ecn, &[packet.into()], out);
        }
        out.read_stream(packet);
        (self.active, self.sent_since) = (now, false);
        let received = &mut self.data.received;
        received.come(params, now, number, ecn, Some(params.max_ack_delay));
        self.bring(params, &frame, out);
        if !self.answer(params, now, out) {
            self.transmit(params, now, out);
        }
    }

    /// RFC 9000 section 10.2.1: who has closed says so again, to the first, second, fourth, …
    /// datagram.
    fn answer_closed(&mut self, now: Time, out: &mut impl Output) {
        self.answered += 1;
        if !self.is_server && self.answered.is_power_of_two() {
            self.send_close(now, out);
        }
    }

    /// Whether a packet can be read.
    fn can_open(&self, params: &Params, packet: &Packet) -> bool {
        let state = self.space(packet.space);
        if packet.early {
            // RFC 9001 section 4.6: with the ClientHello, until the handshake is complete.
            let known = self.early[1].seals || self.progress.complete;
            return self.is_server && params.zero_rtt && known;
        }
        state.opens
    }

    // Apart: what would be done once for all packets of a datagram is not in the way of one.
    #[inline(never)]
    fn on_packet(
        &mut self,
        params: &Params,
        now: Time,
        ecn: Ecn,
        packet: &Packet,
        out: &mut impl Output,
    ) {
        if self.state != State::Open {
            return;
        }
        if !self.can_open(params, packet) {
            return out.unread(packet, Unread::NoKeys);
        }
        if self.space(packet.space).received.is_duplicate(packet.number) {
            return out.unread(packet, Unread::Duplicate);
        }
        out.read(packet);
        (self.active, self.sent_since) = (now, false);
        if packet.space == Space::Handshake && self.is_server {
            // RFC 9000 section 8.1, RFC 9001 section 4.9.1.
            self.progress.validated = true;
            self.discard(Space::Initial);
        }
        // Initial and Handshake packets are acknowledged at once (RFC 9000 section 13.2.1).
        let wait = if packet.space == Space::Data { params.max_ack_delay } else { Time::ZERO };
        let delay = packet.is_eliciting().then_some(wait);
        self.space_mut(packet.space).received.come(params, now, packet.number, ecn, delay);
        if let Some(ack) = &packet.ack {
            self.on_ack(params, now, packet.space, ack, out);
        }
        if packet.done && !self.progress.confirmed {
            (self.progress.confirmed, self.progress.validated) = (true, true);
            self.discard(Space::Handshake);
        }
        if let Some(rare) = packet.rare() {
            self.on_rare(params, packet.space, rare, out);
        }
        for frame in packet.streams() {
            self.bring(params, frame, out);
        }
        if packet.close {
            self.end(State::Closed, Event::Closed, out);
        }
    }

    /// A STREAM frame has come.
    #[inline(always)]
    fn bring(&mut self, params: &Params, frame: &StreamFrame, out: &mut impl Output) {
        let brought = self.streams.come(params, frame);
        if brought.first {
            out.event(Event::Begun { stream: frame.id });
        }
        if brought.bytes > 0 {
            out.deliver(frame.id, brought.bytes);
        }
        if brought.end {
            out.event(Event::Finished { stream: frame.id });
        }
    }

    /// What comes with few packets.
    #[cold]
    fn on_rare(&mut self, params: &Params, space: Space, rare: &Rare, out: &mut impl Output) {
        if let Some(frame) = rare.crypto {
            let start = u64::from(frame.offset);
            self.space_mut(space).input.come(start, start + u64::from(frame.len));
            self.shake_hands(params, out);
        }
        if let Some(most) = rare.max_data {
            self.streams.on_max_data(most);
        }
        if let Some((id, most)) = rare.max_stream_data {
            self.streams.on_max_stream_data(id, most);
        }
        if let Some(bytes) = rare.message {
            out.message(bytes);
        }
    }

    /// Messages of the handshake have come: what follows if they are whole.
    fn shake_hands(&mut self, params: &Params, out: &mut impl Output) {
        let come = |space: Space| self.space(space).input.delivered;
        let (initial, flight) = (come(Space::Initial), come(Space::Handshake));
        let begun = self.early[1].opens;
        if self.is_server && !begun && initial == handshake::client_hello(params) {
            self.early[0].out.written = handshake::server_hello();
            let state = &mut self.early[1];
            (state.opens, state.seals) = (true, true);
            state.out.written = handshake::server_flight(params);
            self.data.seals = true; // RFC 9001 section 5.7: it may send
        } else if !self.is_server && !begun && initial == handshake::server_hello() {
            (self.early[1].opens, self.early[1].seals) = (true, true);
        }
        let awaited = if self.is_server {
            handshake::client_flight()
        } else {
            handshake::server_flight(params)
        };
        if self.progress.complete || flight < awaited {
            return;
        }
        self.progress.complete = true;
        (self.data.opens, self.data.seals) = (true, true);
        if self.is_server {
            // RFC 9001 section 4.1.2.
            (self.progress.confirmed, self.progress.done_due) = (true, true);
            self.discard(Space::Handshake);
        } else {
            self.early[1].out.written = handshake::client_flight();
        }
        out.event(Event::Connected);
    }

    /// `OnAckReceived` (RFC 9002 appendix A.7).
    fn on_ack(
        &mut self,
        params: &Params,
        now: Time,
        space: Space,
        ack: &Ack,
        out: &mut impl Output,
    ) {
        let Self { data, early, control, streams, .. } = self;
        let state = state_of(data, early, space);
        if ack.largest >= state.log.next {
            return; // of something never sent (RFC 9000 section 13.1)
        }
        let raises = state.log.largest_acked.is_none_or(|largest| ack.largest > largest);
        state.log.largest_acked = state.log.largest_acked.max(Some(ack.largest));
        let mut shown = Shown::default();
        let (mut any, mut eliciting, mut largest_sent) = (false, false, None);
        let (log, buffer, received) = (&mut state.log, &mut state.out, &mut state.received);
        let first = log.first();
        for (start, end) in ack.ranges() {
            if end <= first {
                break; // all below is known
            }
            log.acknowledge(start, end, |number, sent, beside| {
                any = true;
                shown.capable += u64::from(sent.capable);
                if number == ack.largest {
                    largest_sent = Some(sent.at);
                }
                if let Some(largest) = sent.acknowledges() {
                    received.reported(largest);
                }
                if sent.in_flight == 0 {
                    return;
                }
                eliciting |= sent.eliciting;
                control.acknowledged(&mut shown, sent, beside.stamped);
                for frame in beside.frames() {
                    if let Frame::Stream(frame) = frame {
                        streams.acknowledged(frame);
                    } else if let Frame::Crypto(frame) = frame {
                        let start = u64::from(frame.offset);
                        buffer.acknowledged(start, start + u64::from(frame.len));
                    }
                }
            });
        }
        if !any {
            return;
        }
        if let Some(sent) = largest_sent.filter(|_| eliciting) {
            // RFC 9002 section 5.3: no delay in the first spaces, the greatest once confirmed.
            let held = match space {
                Space::Data if self.progress.confirmed => ack.delay.min(params.max_ack_delay),
                Space::Data => ack.delay,
                _ => Time::ZERO,
            };
            self.rtt.sample(now, now - sent, held);
            shown.rtt = Some(now - sent);
            out.rtt(now - sent);
        }
        if space == Space::Data && raises && params.ecn {
            shown.marks = self.ecn.report(params.ect, shown.capable, ack.ecn());
        }
        if space == Space::Handshake && !self.is_server {
            self.progress.validated = true;
        }
        self.detect(params, now, space, &mut shown, largest_sent, out);
        // RFC 9002 section 6.2.1: not while a server may not know the address.
        if self.is_server || self.progress.validated {
            self.backoff = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::packet::{CryptoFrame, StreamFrame};
    use alloc::vec::Vec;

    /// How many datagrams went out, and what became of the packets that came.
    #[derive(Default)]
    struct Told {
        sent: usize,
        delivered: u64,
        unread: Vec<Unread>,
    }

    impl Output for Told {
        fn send(&mut self, _: Ecn, _: &[Packet], _: u32) {
            self.sent += 1;
        }
        fn deliver(&mut self, _: u32, bytes: u64) {
            self.delivered += bytes;
        }
        fn unread(&mut self, _: &Packet, why: Unread) {
            self.unread.push(why);
        }
        fn event(&mut self, _: Event) {}
    }

    /// An Initial packet with a part of the ClientHello.
    fn hello(number: u64, offset: u32, len: u16) -> Packet {
        let mut packet = Packet::empty(Space::Initial);
        packet.number = number;
        packet.rare_mut().crypto = Some(CryptoFrame { offset, len });
        packet.rare_mut().padding = 1100;
        packet
    }

    /// A packet with data, under the keys of 0-RTT or of 1-RTT.
    fn data(number: u64, early: bool) -> Packet {
        let mut packet = Packet::empty(Space::Data);
        (packet.number, packet.early) = (number, early);
        packet.add_stream(StreamFrame { id: 0, len: 100, fin: false, offset: number * 100 });
        packet
    }

    fn params(zero_rtt: bool) -> Params {
        Spec::resolve(&[&Spec { zero_rtt: Some(zero_rtt), ..Spec::default() }]).unwrap()
    }

    fn come(end: &mut Endpoint, params: &Params, packets: &[Packet]) -> Told {
        let mut told = Told::default();
        end.on_datagram(params, Time::from_millis(1), Ecn::NotEct, packets, &mut told);
        told
    }

    #[test]
    fn a_client_hello_in_two_packets_is_answered_when_it_is_whole() {
        let params = params(false);
        let mut server = Endpoint::server(&params);
        come(&mut server, &params, &[hello(0, 0, 200)]);
        assert!(!server.early[1].seals, "it has keys for the Handshake");
        assert!(come(&mut server, &params, &[hello(1, 200, 100)]).sent > 1);
        assert!(server.early[1].seals);
    }

    #[test]
    fn packets_without_keys_are_not_read() {
        // RFC 9001 section 5.7: no 1-RTT packets before the handshake is complete.
        let with = params(true);
        let mut server = Endpoint::server(&with);
        let told = come(&mut server, &with, &[data(0, true), hello(0, 0, 460), data(1, false)]);
        assert_eq!((told.unread, told.delivered), (alloc::vec![Unread::NoKeys; 2], 0));
        // Section 4.6: 0-RTT packets are read with the ClientHello, by a server that takes them.
        assert_eq!(come(&mut server, &with, &[data(0, true)]).delivered, 100);
        let without = params(false);
        let mut server = Endpoint::server(&without);
        let told = come(&mut server, &without, &[hello(0, 0, 300), data(0, true)]);
        assert_eq!((told.unread, told.delivered), (alloc::vec![Unread::NoKeys], 0));
        // Nobody sends them to a client.
        let mut client = Endpoint::client(&with);
        client.open(&with, Time::ZERO, &mut Told::default());
        client.progress.complete = true;
        assert_eq!(come(&mut client, &with, &[data(0, true)]).unread, [Unread::NoKeys]);
    }
}
