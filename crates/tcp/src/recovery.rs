//! Loss: duplicate acknowledgements, fast recovery by SACK (RFC 6675) or without (NewReno,
//! RFC 6582), limited transmit (RFC 3042), the retransmission timer (RFC 6298).

use crate::Params;
use crate::endpoint::{Endpoint, Phase, State, bit};
use crate::scoreboard::Scoreboard;
use crate::segment::{Event, Output, SackBlock, before};
use alloc::boxed::Box;
use sojourn_base::Time;

/// Duplicate acknowledgements that mean a loss (`DupThresh`, RFC 5681 section 3.2).
const DUP_THRESH: u8 = 3;

impl Endpoint {
    /// The scoreboard, made at the first loss.
    pub(crate) fn board(&mut self) -> &mut Scoreboard {
        let una = self.snd_una;
        self.scoreboard.get_or_insert_with(|| {
            let mut board = Box::<Scoreboard>::default();
            board.reset(una);
            board
        })
    }

    /// A duplicate acknowledgement.
    pub(crate) fn duplicate(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let mss = params.payload as i32;
        match self.phase {
            Phase::Open | Phase::Disorder => {
                self.phase = Phase::Disorder;
                self.dupacks = self.dupacks.saturating_add(1);
                let una = self.snd_una;
                let lost = self.dupacks >= DUP_THRESH
                    || self.scoreboard.as_ref().is_some_and(|board| board.first_is_lost(una));
                // RFC 6582 section 3.2 step 2: perhaps duplicates of what was sent again.
                let stale = !params.sack && self.snd_una == self.recover;
                if lost && !stale {
                    self.recover_fast(params, now, out);
                } else if params.limited_transmit && !lost {
                    self.inflation = i32::from(self.dupacks) * mss; // RFC 3042
                }
            }
            // RFC 5681 section 3.2 step 4: another segment has left the network.
            Phase::Recovery if !params.sack => self.inflation += mss,
            Phase::Recovery | Phase::Loss => {}
        }
    }

    /// Begins fast recovery: RFC 6675 section 5 step 4, RFC 6582 section 3.2 step 2.
    fn recover_fast(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.phase = Phase::Recovery;
        self.recover = self.snd_nxt;
        if !self.reduced_in_this_window() {
            let at = self.congested(params, now, self.in_flight());
            self.control.on_loss(&params.congestion, &mut self.window, at);
            self.note_reduction(params);
        }
        // What is sent again below has a whole timeout to arrive in, though RFC 6298 rule 5.3 would
        // wait for an acknowledgement of new data: RFC 6675 section 6 allows it.
        self.rto_at = now + self.rto;
        let whole = SackBlock { start: self.snd_una, end: self.snd_nxt };
        if params.sack {
            // Read with `simple_pipe` only: as many have arrived as there were duplicates.
            let arrived = u32::from(DUP_THRESH) * params.payload;
            self.inflation = self.in_flight().saturating_sub(arrived) as i32;
            let una = self.snd_una;
            let board = self.board();
            board.restart(una);
            let hole = board.next_hole(true).unwrap_or(whole);
            let end = self.send_again(params, now, hole, out);
            self.board().sent_again(end);
            if !params.early_rescue {
                self.board().hold_rescue(end);
            }
        } else {
            self.inflation = i32::from(DUP_THRESH) * params.payload as i32;
            self.send_again(params, now, whole, out);
        }
    }

    /// New data were acknowledged while something was amiss, or by a segment that is not plain.
    pub(crate) fn progress(
        &mut self,
        params: &Params,
        now: Time,
        acked: u32,
        flight: u32,
        marked: bool,
        out: &mut impl Output,
    ) {
        let over = !before(self.snd_una, self.recover);
        match self.phase {
            Phase::Open | Phase::Disorder => {
                // RFC 3168 section 6.1.2: no growth on an echo.
                if !marked {
                    self.grow(params, now, acked, flight);
                }
                self.calm_down();
                self.restart_timer(now);
            }
            Phase::Loss => {
                if !marked {
                    let outstanding = self.pipe(params) + acked;
                    self.grow(params, now, acked, outstanding);
                }
                if over {
                    self.calm_down();
                }
                self.restart_timer(now);
            }
            Phase::Recovery if over => {
                if !params.sack {
                    // RFC 6582 section 3.2 step 3, full acknowledgement, option 1: no burst.
                    let left = self.in_flight().max(params.payload) + params.payload;
                    self.window.cwnd = self.window.ssthresh.min(left);
                }
                self.reduced_well(params);
                self.calm_down();
                self.restart_timer(now);
            }
            Phase::Recovery if params.sack => self.restart_timer(now),
            Phase::Recovery => self.partial(params, now, acked, out),
        }
    }

    /// NewReno, a partial acknowledgement: RFC 6582 section 3.2 step 3.
    fn partial(&mut self, params: &Params, now: Time, acked: u32, out: &mut impl Output) {
        let mss = params.payload;
        let whole = SackBlock { start: self.snd_una, end: self.snd_nxt };
        self.send_again(params, now, whole, out);
        self.inflation -= acked as i32;
        if acked >= mss {
            self.inflation += mss as i32;
        }
        self.backoff = 0;
        // The timer restarts at the first one only.
        if self.dupacks != 0 {
            self.dupacks = 0;
            self.restart_timer(now);
        }
    }

    /// Recovery is over, or there was none; what SACK still reports keeps the sender wary.
    fn calm_down(&mut self) {
        self.dupacks = 0;
        self.inflation = 0;
        let wary = self.scoreboard.as_ref().is_some_and(|board| board.any());
        self.phase = if wary { Phase::Disorder } else { Phase::Open };
    }

    /// The retransmission timer of data or a FIN ran out: RFC 6298 rules 5.4 to 5.6, RFC 5681
    /// section 3.1, RFC 6675 section 5.1.
    #[cold]
    pub(crate) fn timeout(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.backoff == params.retries {
            return self.finish(State::Failed, Event::Failed, out);
        }
        self.timeouts += 1;
        let (at, first) = (self.congested(params, now, self.in_flight()), self.backoff == 0);
        self.control.on_timeout(&params.congestion, &mut self.window, at, first);
        self.note_reduction(params);
        self.backoff += 1;
        self.back_off(params, now);
        self.phase = Phase::Loss;
        self.recover = self.snd_nxt;
        (self.dupacks, self.inflation) = (0, 0);
        self.bits &= !bit::TIMED;
        let (una, nxt) = (self.snd_una, self.snd_nxt);
        self.board().lose_all(una, nxt);
        self.push_by_pipe(params, now, out);
    }

    /// RFC 6298 rules 5.5 and 5.6.
    pub(crate) fn back_off(&mut self, params: &Params, now: Time) {
        self.rto = (self.rto * 2).min(params.max_rto);
        self.rto_at = now + self.rto;
    }

    /// Whether what is in the network is what was sent less what arrived: "Simulation-based
    /// comparisons of Tahoe, Reno, and SACK TCP", Fall and Floyd, 1996, section 3.
    pub(crate) fn counts_arrivals(&self, params: &Params) -> bool {
        params.simple_pipe && params.sack && self.phase == Phase::Recovery
    }

    /// Keeps that count.
    fn count_sent(&mut self, params: &Params) {
        if self.counts_arrivals(params) {
            self.inflation += params.payload as i32;
        }
    }

    /// Bytes taken to be in the network.
    fn pipe(&self, params: &Params) -> u32 {
        match &self.scoreboard {
            _ if self.counts_arrivals(params) => self.inflation as u32,
            Some(board) => board.pipe(self.snd_una, self.snd_nxt),
            None => self.in_flight(),
        }
    }

    /// Sends while less is in the network than the window allows: what is lost, then new data,
    /// then what may be lost (`NextSeg` of RFC 6675 section 4). After a timeout everything that
    /// was outstanding counts as lost, so this also goes back without SACK.
    #[cold]
    pub(crate) fn push_by_pipe(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let mss = params.payload;
        loop {
            // RFC 6675 section 5 step C.
            let pipe = self.pipe(params);
            if pipe + mss > self.window.cwnd && pipe > 0 {
                return;
            }
            let in_recovery = self.phase == Phase::Recovery;
            if let Some(hole) = self.board().next_hole(false) {
                let end = self.send_again(params, now, hole, out);
                self.board().sent_again(end);
                self.count_sent(params);
                continue;
            }
            let new = self.unsent.min(u64::from(mss)) as u32;
            let room = self.peer_window.saturating_sub(self.in_flight());
            if (new > 0 || self.fin_is_due()) && room >= new.max(1) {
                self.send_new(params, now, new, out);
                self.count_sent(params);
                continue;
            }
            if in_recovery && let Some(hole) = self.board().next_hole(true) {
                let end = self.send_again(params, now, hole, out);
                self.board().sent_again(end);
                self.count_sent(params);
                continue;
            }
            if in_recovery {
                self.rescue(params, now, out);
            }
            return;
        }
    }

    /// Sends the last of what is outstanding again, once in a recovery: without it the loss of the
    /// end of a transfer, or of what was sent in recovery, needs the timer (`NextSeg` rule 4).
    fn rescue(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let (una, nxt, recover) = (self.snd_una, self.snd_nxt, self.recover);
        let block = self.board().rescue(una, nxt, recover, params.payload);
        if let Some(block) = block {
            self.send_again(params, now, block, out);
        }
    }
}
