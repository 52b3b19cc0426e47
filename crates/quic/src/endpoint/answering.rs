//! Acknowledgements alone, which are most of what an end sends that receives a file: in few steps.

use super::sending::Attempt;
use super::{Endpoint, Output};
use crate::packet::{Ack, Space, around_short, number_bytes};
use crate::params::Params;
use sojourn_base::{Ecn, Time};

impl Endpoint {
    /// What [`Self::transmit`] does when nothing but an acknowledgement waits; whether that was so.
    #[inline(always)]
    pub(super) fn answer(&mut self, params: &Params, now: Time, out: &mut impl Output) -> bool {
        let waits = self.data.probes > 0 || self.has_content(Space::Data) || self.closing;
        if waits || !self.progress.confirmed {
            return false;
        }
        if self.data.received.is_due(now) {
            self.send_ack(params, now, out);
        }
        self.pace_at = Time::MAX;
        self.note_limit(params, Attempt::Nothing);
        // Nothing was sent that could be lost.
        self.set_deadline(params, now, self.awaits());
        true
    }

    /// Sends an acknowledgement alone.
    pub(super) fn send_ack(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let Self { data, control, .. } = self;
        let Some(largest) = data.received.largest() else { return };
        let number = data.log.next;
        let number_bytes = number_bytes(number, data.log.largest_acked);
        let ecn = if params.ecn { self.ecn.next(params.ect) } else { Ecn::NotEct };
        data.log.push_ack(largest, now, ecn != Ecn::NotEct);
        if params.tuning.samples() {
            data.log.push_stamp(control.stamp(now, 0));
        }
        self.counters.datagrams += 1;
        let received = &data.received;
        // Else the packet would keep the frame of whoever had its place before.
        debug_assert!(received.is_unacked());
        out.send_ack(ecn, |packet| {
            let frame = packet.acknowledge(number, number_bytes);
            received.fill(now, frame);
            around_short(number_bytes) + frame.as_ref().map_or(0, Ack::bytes)
        });
        data.received.frame_sent();
    }
}
