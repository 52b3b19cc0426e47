//! A small closed model of a path: one bottleneck with a buffer, and a fixed delay.

use super::MSS;
use crate::congestion::Rate;
use crate::congestion::bbr::machine::Mode;
use crate::congestion::bbr::{Congested, Control, Lost, Sample, Settings, State, Tuning, Window};
use alloc::collections::VecDeque;
use sojourn_base::Time;
use std::vec::Vec;

/// A segment under way: what the sampler noted when it was sent.
#[derive(Clone, Copy)]
struct Sent {
    n: u64,
    at: Time,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    flight: u32,
    lost: u64,
}

pub(super) struct Path {
    pub(super) rate: u64,
    pub(super) delay: Time,
    pub(super) buffer: usize,
    /// Departures from the bottleneck, of those still in it.
    queue: VecDeque<Time>,
    free_at: Time,
    under_way: VecDeque<(Time, Sent)>,
    dropped: VecDeque<Sent>,
    pub(super) tuning: Tuning,
    pub(super) state: State,
    pub(super) window: Window,
    pub(super) now: Time,
    next_send: Time,
    pub(super) sent: u64,
    pub(super) flight: u32,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    pub(super) lost: u64,
    round_end: u64,
    pub(super) srtt: Time,
    pub(super) recover_until: Option<u64>,
    /// Share of arrivals above which segments are marked: queue of this many.
    pub(super) mark_above: usize,
    pub(super) app_limited: bool,
    pub(super) modes: Vec<(Time, Mode)>,
    pub(super) longest: usize,
}

impl Path {
    pub(super) fn new(megabits: u64, millis: u64, buffer: usize) -> Self {
        let tuning = State::tune(&Settings::default()).unwrap();
        Self {
            rate: megabits * 125_000,
            delay: Time::from_millis(millis),
            buffer,
            queue: VecDeque::new(),
            free_at: Time::ZERO,
            under_way: VecDeque::new(),
            dropped: VecDeque::new(),
            tuning,
            state: State::new(&tuning),
            window: Window { cwnd: 10 * MSS, ssthresh: u32::MAX },
            now: Time::ZERO,
            next_send: Time::ZERO,
            sent: 0,
            flight: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            round_end: 0,
            srtt: Time::ZERO,
            recover_until: None,
            mark_above: usize::MAX,
            app_limited: false,
            modes: Vec::new(),
            longest: 0,
        }
    }

    fn send(&mut self) {
        let pace = self.state.pace(&self.tuning, &self.window, self.srtt);
        if self.flight == 0 {
            (self.first_sent, self.delivered_at) = (self.now, self.now);
        }
        self.flight += MSS;
        let packet = Sent {
            n: self.sent,
            at: self.now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            flight: self.flight,
            lost: self.lost,
        };
        self.sent += 1;
        while self.queue.front().is_some_and(|&gone| gone <= self.now) {
            self.queue.pop_front();
        }
        self.longest = self.longest.max(self.queue.len());
        if self.queue.len() < self.buffer {
            let took = Time(u64::from(MSS) * 1_000_000_000 / self.rate);
            self.free_at = self.free_at.max(self.now) + took;
            self.queue.push_back(self.free_at);
            self.under_way.push_back((self.free_at + self.delay, packet));
        } else {
            self.dropped.push_back(packet);
        }
        if let Some(gap) = (u64::from(MSS) * 1_000_000_000).checked_div(pace) {
            self.next_send = self.next_send.max(self.now) + Time(gap);
        }
    }

    /// An acknowledgement: segments before it that did not come are lost at once.
    fn ack(&mut self, packet: Sent) {
        self.flight -= MSS;
        self.delivered += u64::from(MSS);
        let mut missing = 0;
        while let Some(lost) = self.dropped.pop_front_if(|lost| lost.n < packet.n) {
            missing += MSS;
            self.flight -= MSS;
            self.lost += u64::from(MSS);
            let lost = Lost {
                now: self.now,
                bytes: MSS,
                start: lost.n,
                end: lost.n + 1,
                flight_then: lost.flight,
                lost_since: (self.lost - lost.lost) as u32,
                app_limited: self.app_limited,
                delivered: self.delivered,
            };
            self.state.on_lost(&self.tuning, &self.window, &lost);
        }
        self.delivered_at = self.now;
        self.first_sent = packet.at;
        let rtt = self.now - packet.at;
        self.srtt = if self.srtt == Time::ZERO { rtt } else { (self.srtt * 7 + rtt) / 8 };
        let round = packet.delivered >= self.round_end;
        if round {
            self.round_end = self.delivered;
        }
        if self.recover_until.is_some_and(|end| packet.n >= end) {
            self.recover_until = None;
        }
        let interval = (packet.at - packet.first_sent).max(self.now - packet.delivered_at);
        let s = Sample {
            now: self.now,
            rtt: Some(rtt),
            srtt: self.srtt,
            mss: MSS,
            acked: MSS,
            lost: missing,
            marked: if self.queue.len() > self.mark_above { MSS } else { 0 },
            flight: self.flight,
            delivered: self.delivered,
            round,
            recovering: self.recover_until.is_some(),
            rate: Some(Rate {
                delivered: (self.delivered - packet.delivered) as u32,
                interval,
                app_limited: self.app_limited,
                flight_then: packet.flight,
                lost_since: (self.lost - packet.lost) as u32,
            }),
        };
        self.state.on_sample(&self.tuning, &mut self.window, &s);
        if missing > 0 && self.recover_until.is_none() {
            self.recover_until = Some(self.sent);
            let at = Congested { now: self.now, srtt: self.srtt, flight: self.flight, mss: MSS };
            self.state.on_loss(&self.tuning, &mut self.window, at);
        }
        if self.modes.last().is_none_or(|&(_, mode)| mode != self.state.mode) {
            self.modes.push((self.now, self.state.mode));
        }
    }

    /// Runs for so long; returns the share of the rate that was delivered.
    pub(super) fn run(&mut self, time: Time) -> f64 {
        let (end, before, begun) = (self.now + time, self.delivered, self.now);
        loop {
            let may_send = self.flight + MSS <= self.window.cwnd;
            let send_at = if may_send { self.next_send.max(self.now) } else { Time::MAX };
            let ack_at = self.under_way.front().map_or(Time::MAX, |&(at, _)| at);
            let at = send_at.min(ack_at);
            if at > end {
                self.now = end;
                break;
            }
            assert!(at < Time::MAX, "stuck");
            self.now = at;
            if ack_at <= send_at {
                let (_, packet) = self.under_way.pop_front().unwrap();
                self.ack(packet);
            } else {
                self.send();
            }
        }
        let sent = (self.delivered - before) as f64;
        sent / ((end - begun).as_secs_f64() * self.rate as f64)
    }

    pub(super) fn times_in(&self, mode: Mode) -> usize {
        self.modes.iter().filter(|&&(_, m)| m == mode).count()
    }
}
