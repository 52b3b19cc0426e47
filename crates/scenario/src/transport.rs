//! Settings of TCP and QUIC: those of all groups, and a group's own over them.

use sojourn_quic::Params as QuicParams;
use sojourn_tcp::Params as TcpParams;

use crate::error::{Error, Fault, steps};
use crate::scenario::Scenario;
use crate::traffic::{Group, Transport};

/// The TCP of a group, or of a group without settings of its own.
pub(crate) fn tcp(scenario: &Scenario, group: Option<&Group>) -> Result<TcpParams, Fault> {
    let own = group.and_then(|group| group.tcp.as_ref());
    let specs: Vec<&sojourn_tcp::Spec> = std::iter::once(&scenario.tcp).chain(own).collect();
    sojourn_tcp::Spec::resolve(&specs).map_err(Fault::from)
}

/// The QUIC of a group, or of a group without settings of its own.
pub(crate) fn quic(scenario: &Scenario, group: Option<&Group>) -> Result<QuicParams, Fault> {
    let own = group.and_then(|group| group.quic.as_ref());
    let specs: Vec<&sojourn_quic::Spec> = std::iter::once(&scenario.quic).chain(own).collect();
    sojourn_quic::Spec::resolve(&specs).map_err(Fault::from)
}

impl Scenario {
    /// The same scenario with every option of its TCPs spelled out, whatever profile they are from,
    /// and every setting of its QUICs.
    ///
    /// # Errors
    /// For a scenario that was built or changed in a program, if settings of TCP or QUIC are not
    /// valid.
    pub fn resolved(&self) -> Result<Self, Error> {
        let spec = |group| tcp(self, group).map(|tcp| tcp.spec());
        let mut resolved = self.clone();
        resolved.tcp = spec(None).map_err(|fault| self.locate(fault.under(steps!["tcp"])))?;
        for (index, group) in resolved.traffic.iter_mut().enumerate() {
            if group.tcp.is_some() {
                let own = spec(Some(&self.traffic[index]));
                let place = |fault: Fault| fault.under(steps!["traffic", index, "tcp"]);
                group.tcp = Some(own.map_err(|fault| self.locate(place(fault)))?);
                // It has a congestion control of its own now, which what changes is to reach still.
                if self.traffic[index].tcp.as_ref().is_some_and(|tcp| tcp.congestion.is_none()) {
                    resolved.changes.iter_mut().for_each(|change| change.reach_control_of(index));
                }
            }
            if group.runs_over() == Transport::Quic {
                let own = quic(self, Some(&self.traffic[index])).map(|quic| quic.spec());
                let place = |fault: Fault| fault.under(steps!["traffic", index, "quic"]);
                group.quic = Some(own.map_err(|fault| self.locate(place(fault)))?);
            }
        }
        Ok(resolved)
    }
}
