//! One exchange or transfer, from its beginning to its row.

use super::Totals;
use crate::{ExchangeRow, GroupId, Outcome, TransferRow};
use sojourn_base::Time;

/// An exchange (a request and its response) or a transfer (a response alone) under way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchange {
    /// Whether it began in the measured window.
    pub counts: bool,
    /// When it began.
    pub started: Time,
    /// When its request could be sent: it was handed over, and the connection was open.
    pub requested: Time,
    /// When the first byte of the response came; zero before.
    pub first_byte: Time,
    /// Bytes of the request.
    pub request: u32,
    /// Bytes of the response, or of the transfer.
    pub response: u64,
    /// How long the server takes before it answers.
    pub server_delay: Time,
    /// What the connection had counted when it began.
    pub(super) before: Totals,
}

impl Exchange {
    /// A transfer of so many bytes that begins at `started`.
    #[must_use]
    pub fn transfer(started: Time, bytes: u64) -> Self {
        Self { started, requested: started, response: bytes, ..Self::default() }
    }

    /// Time from the request to the first byte of its response; none before that has come.
    #[must_use]
    pub fn time_to_first_byte(&self) -> Option<Time> {
        let came = self.first_byte > Time::ZERO;
        came.then(|| self.first_byte.saturating_sub(self.requested))
    }

    /// A request of so many bytes at `started`, and the response that comes `server_delay` later.
    #[must_use]
    pub fn request(started: Time, request: u32, response: u64, server_delay: Time) -> Self {
        Self { started, requested: started, request, response, server_delay, ..Self::default() }
    }
}

/// An exchange that has ended.
pub(super) struct Ended<'a> {
    pub(super) group: GroupId,
    pub(super) member: u32,
    pub(super) exchange: &'a Exchange,
    pub(super) at: Time,
    pub(super) outcome: Outcome,
    /// What its connection counted in between.
    pub(super) spent: Totals,
}

impl Ended<'_> {
    fn finished(&self) -> Option<Time> {
        (self.outcome == Outcome::Finished).then_some(self.at)
    }

    fn took(&self) -> Option<Time> {
        self.finished().map(|at| at.saturating_sub(self.exchange.started))
    }

    pub(super) fn exchange_row(&self) -> ExchangeRow {
        let Exchange { started, requested, first_byte, request, response, .. } = *self.exchange;
        ExchangeRow {
            group: self.group,
            user: self.member,
            started_s: started,
            requested_s: requested,
            first_byte_s: (first_byte > Time::ZERO).then_some(first_byte),
            finished_s: self.finished(),
            request_bytes: u64::from(request),
            response_bytes: response,
            response_time_s: self.took(),
            time_to_first_byte_s: self.exchange.time_to_first_byte(),
            timeouts: self.spent.timeouts as u32,
            retransmissions: self.spent.retransmissions as u32,
            syn_retries: self.spent.syn_retries as u32,
            outcome: self.outcome,
        }
    }

    pub(super) fn transfer_row(&self) -> TransferRow {
        TransferRow {
            group: self.group,
            index: u64::from(self.member),
            started_s: self.exchange.started,
            finished_s: self.finished(),
            bytes: self.exchange.response,
            duration_s: self.took(),
            timeouts: self.spent.timeouts as u32,
            retransmissions: self.spent.retransmissions as u32,
            syn_retries: self.spent.syn_retries as u32,
            outcome: self.outcome,
        }
    }
}
