//! The queue of a device, below the discipline: first in, first out, with as many packets as fit.
//!
//! What waits here has left the discipline, which sees neither its length nor its delay. Linux
//! keeps such a ring short by byte queue limits ([`Dql`]).

use crate::dql::Dql;
use crate::meter::Meter;
use crate::waiting::Waiting;
use sojourn_base::Time;
use sojourn_qdisc::Count;
use sojourn_scenario::DeviceQueue;
use std::collections::VecDeque;

/// The most packets that room is made for beforehand.
const ROOM: usize = 1024;

/// The ring of a device. The packet in transmission is not in it.
#[derive(Clone)]
pub(crate) struct Device<S> {
    limits: DeviceQueue,
    /// Packets, with the time that each came here.
    ring: VecDeque<S>,
    bytes: u64,
    regulator: Option<Regulator>,
    pub meter: Meter,
    /// What has gone to the transmitter since the start of the run.
    pub left: Count,
    /// That, and what stood here, when the window began.
    pub at_start: (Count, Count),
}

/// Byte queue limits, and what they do not know yet.
#[derive(Clone, Default)]
struct Regulator {
    dql: Dql,
    /// From the end of a transmission to the interrupt that reports it.
    delay: Time,
    /// The packet in transmission, and those sent and not yet reported, in bytes.
    sending: u64,
    unreported: u64,
    /// When the next interrupt comes, if one is on its way.
    interrupt: Option<Time>,
}

impl<S: Waiting> Device<S> {
    pub(crate) fn new(limits: DeviceQueue, meter: Meter) -> Self {
        Self {
            limits,
            ring: VecDeque::with_capacity((limits.packets as usize).min(ROOM)),
            bytes: 0,
            regulator: limits.bql.map(|delay| Regulator { delay, ..Regulator::default() }),
            meter,
            left: Count::default(),
            at_start: Default::default(),
        }
    }

    /// Whether the discipline may hand down another packet.
    pub(crate) fn room(&self) -> bool {
        self.ring.len() < self.limits.packets as usize
            && self.bytes < self.limits.bytes
            && self.regulator.as_ref().is_none_or(|r| r.dql.available())
    }

    /// Takes a packet from the discipline.
    pub(crate) fn push(&mut self, now: Time, packet: S) {
        self.settle(now);
        let bytes = packet.bytes();
        self.bytes += u64::from(bytes);
        self.ring.push_back(packet.came(now));
        if let Some(regulator) = &mut self.regulator {
            regulator.dql.queued(u64::from(bytes));
        }
    }

    /// Gives the transmitter its next packet.
    pub(crate) fn pop(&mut self, now: Time) -> Option<S> {
        self.settle(now);
        let packet = self.ring.pop_front()?;
        let bytes = packet.bytes();
        self.bytes -= u64::from(bytes);
        self.left.add(bytes);
        self.meter.left(now, packet.enqueued());
        if let Some(regulator) = &mut self.regulator {
            regulator.sending = u64::from(bytes);
        }
        Some(packet)
    }

    /// A transmission has ended. Returns when an interrupt is to report it, if none is on its way.
    pub(crate) fn transmitted(&mut self, now: Time) -> Option<Time> {
        let regulator = self.regulator.as_mut()?;
        regulator.unreported += std::mem::take(&mut regulator.sending);
        if regulator.delay == Time::ZERO {
            self.interrupted(now);
            return None;
        }
        match regulator.interrupt {
            None => {
                regulator.interrupt = Some(now + regulator.delay);
                regulator.interrupt
            }
            Some(_) => None,
        }
    }

    /// An interrupt reports all transmissions that have ended.
    pub(crate) fn interrupted(&mut self, now: Time) {
        if let Some(regulator) = &mut self.regulator {
            regulator.interrupt = None;
            let bytes = std::mem::take(&mut regulator.unreported);
            regulator.dql.completed(now.0, bytes);
        }
    }

    /// Brings the meter up to `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        self.meter.until(now, self.ring.len() as u32, self.bytes);
    }

    /// The measured window begins.
    pub(crate) fn start_window(&mut self, now: Time) {
        self.settle(now);
        self.meter.start(now);
        self.at_start = (self.left, self.standing());
    }

    /// What is in the ring.
    pub(crate) fn standing(&self) -> Count {
        Count { packets: self.ring.len() as u64, bytes: self.bytes }
    }

    /// The limit that is in force, if it is regulated, in bytes.
    pub(crate) fn limit(&self) -> Option<u64> {
        self.regulator.as_ref().map(|regulator| regulator.dql.limit())
    }
}
