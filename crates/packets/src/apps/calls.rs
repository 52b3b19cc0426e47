//! Calls: frames in packets one way, feedback the other.

use super::app::App;
use crate::end_id::EndId;
use crate::events::Call as Reason;
use crate::group::{Group, Member};
use crate::packet::{DATAGRAM, DATAGRAM_HEADER, Packet, RTP_HEADER};
use crate::sim::Sim;
use sojourn_base::{Ecn, Time};
use sojourn_traffic::{Call, CallModel, Feedback, Invalid, Listener, Sender, Wanted};
use std::collections::VecDeque;

/// The calls of a group.
#[derive(Clone)]
struct Calls {
    model: CallModel,
    ecn: Ecn,
    /// Each call, once it has begun.
    calls: Vec<Option<Both>>,
}

/// Both ends of a call.
#[derive(Clone)]
struct Both {
    sender: Sender,
    listener: Listener,
    /// What is in the packets of feedback on their way: their numbers, in order.
    told: VecDeque<(u32, Feedback)>,
    feedbacks: u32,
    /// When the next wake is due; one that comes earlier has been overtaken.
    due: Time,
}

/// The calls of a group.
pub(super) fn app(call: &Call, group: &mut Group) -> Result<Box<dyn App>, Invalid> {
    group.open_datagrams();
    Ok(Box::new(Calls {
        model: call.compile()?,
        ecn: Ecn::from_bits(call.ecn as u8),
        calls: vec![None; group.members as usize],
    }))
}

impl App for Calls {
    /// Something of a call is due, at one end or the other.
    fn wake(&mut self, sim: &mut Sim, now: Time, (group, index): Member, _: Reason) {
        let Self { model, ecn, calls } = self;
        let call = calls[index as usize].get_or_insert_with(|| Both {
            sender: Sender::new(model, now, index),
            listener: Listener::new(model, now),
            told: VecDeque::new(),
            feedbacks: 0,
            due: now,
        });
        if now < call.due {
            return;
        }
        let member = sim.groups[group].first_member + index;
        let Both { sender, listener, told, feedbacks, due } = call;
        let next = sender.step(model, now, &mut |wanted| match wanted {
            Wanted::Captured(frame, packets) => listener.expect(model, frame, now, packets),
            Wanted::Send(media) => {
                if let Some(mut log) = sim.call_log((group, index)) {
                    log.sent(now, &media, *ecn);
                }
                sim.groups[group].book.account(index).sent += 1;
                let mut packet = Packet::datagram(member, media.ip_bytes, *ecn, now);
                packet.segment.tsecr = media.number as u32;
                sim.send_datagram(now, (group, index), EndId::server(member | DATAGRAM), packet);
            }
        });
        if let Some(mut log) = sim.call_log((group, index)) {
            log.update(now, sender);
        }
        while let Some(frame) = listener.due(now) {
            sim.groups[group].book.frame(frame.due, frame.in_time);
        }
        if let Some(feedback) = listener.feedback(model, now) {
            if let Some(mut log) = sim.call_log((group, index)) {
                log.tells(now, &feedback);
            }
            let mut packet = Packet::datagram(member, feedback.ip_bytes(), *ecn, now);
            packet.segment.tsecr = *feedbacks;
            told.push_back((*feedbacks, feedback));
            *feedbacks += 1;
            sim.send_datagram(now, (group, index), EndId::client(member | DATAGRAM), packet);
        }
        *due = next.min(listener.next_feedback());
        sim.call_member(*due, group, index, Reason::GoOn);
    }

    fn datagram(
        &mut self,
        sim: &mut Sim,
        now: Time,
        (group, index): Member,
        to: EndId,
        packet: &Packet,
    ) {
        let Some(call) = &mut self.calls[index as usize] else { return };
        let number = packet.segment.tsecr;
        if !to.is_server() {
            // Those before it are lost, or were overtaken.
            while let Some((of, feedback)) = call.told.front() {
                if *of > number {
                    break;
                }
                if *of == number {
                    call.sender.hear(now, feedback);
                    if let Some(mut log) = sim.call_log((group, index)) {
                        log.hears(now, feedback);
                        log.update(now, &call.sender);
                    }
                }
                call.told.pop_front();
            }
            // There may be room now for what waits.
            let next = call.sender.next();
            call.wake_by(next.max(now), sim, (group, index));
            return;
        }
        let g = &mut sim.groups[group];
        g.book.one_way(now.saturating_sub(packet.sent()));
        let account = g.book.account(index);
        account.received += 1;
        let payload = u64::from(packet.ip_bytes() - DATAGRAM_HEADER);
        account.delivered += payload.saturating_sub(u64::from(RTP_HEADER));
        if let Some(first) = g.first_meter {
            sim.probes.delivered(first + index, now, true, packet);
        }
        if let Some(media) = call.sender.packet(u64::from(number)) {
            if let Some(mut log) = sim.call_log((group, index)) {
                log.received(now, media, packet.segment.ecn);
            }
            call.listener.receive(&self.model, now, media, packet.segment.ecn == Ecn::Ce);
        }
        let next = call.listener.next_feedback();
        call.wake_by(next.max(now), sim, (group, index));
    }
}

impl Both {
    /// Has it woken by `next`, if it would be later.
    fn wake_by(&mut self, next: Time, sim: &mut Sim, (group, index): Member) {
        if next < self.due {
            self.due = next;
            sim.call_member(next, group, index, Reason::GoOn);
        }
    }
}
