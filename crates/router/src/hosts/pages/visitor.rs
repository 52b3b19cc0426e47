//! The client's end of a connection: what is asked of it, and what it tells its user.

use crate::hosts::connection::Connection;
use crate::hosts::host::Host;
use sojourn_base::Time;
use sojourn_records::{Exchange, Outcome};
use sojourn_traffic::Http;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// What is asked of a connection: a name for it, and what it is.
pub(super) struct Asked {
    pub slot: u16,
    pub exchange: Exchange,
}

/// What a connection has to tell its user.
pub(super) enum Told {
    /// A response is there.
    Done { server: usize, serial: u64, slot: u16, first_byte: Time },
    /// The connection is lost, with all that was under way.
    Failed { server: usize, serial: u64 },
}

/// The client's end of a connection, for its streams.
pub(super) struct Visitor {
    pub host: Rc<Host>,
    pub connection: Arc<Connection>,
    pub tell: UnboundedSender<Told>,
    pub server: usize,
    pub serial: u64,
}

impl Visitor {
    pub(super) fn http(&self) -> Http {
        self.host.common.http(self.connection.group)
    }

    /// A response is there.
    pub(super) fn done(&self, slot: u16, first_byte: Time) {
        let now = self.host.now();
        let ledger = &self.host.common.ledger;
        ledger.first_byte_of(&self.connection, slot, first_byte);
        ledger.end_stream(&self.connection, slot, now, Outcome::Finished);
        let (server, serial) = (self.server, self.serial);
        // A user whose time is over does not listen.
        let _ = self.tell.send(Told::Done { server, serial, slot, first_byte });
    }

    /// All is lost.
    pub(super) fn fails(&self) {
        let now = self.host.now();
        self.host.common.ledger.end_streams(&self.connection, now, Outcome::Failed);
        let (server, serial) = (self.server, self.serial);
        let _ = self.tell.send(Told::Failed { server, serial });
    }
}
