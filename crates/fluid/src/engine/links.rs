//! From a link and its discipline to a queue of the model.

use sojourn_qdisc::Ecn;
use sojourn_scenario::NetworkLink;

use super::error::Error;
use crate::QueueLaw;
use crate::mgt::Queue;
use crate::queues::{Env, Law};

/// The queue of `link`, whose data packets have `ip_bytes` each. `ecn`: what all flows over it say
/// of ECN; `fastest`: the greatest rate per second at which an average needs to be followed.
pub(super) fn queue(
    link: &NetworkLink,
    ip_bytes: u32,
    ecn: Ecn,
    fastest: f64,
) -> Result<Queue, Error> {
    let Some(env) = Env::of_link(link, ip_bytes) else {
        return Err(Error(format!("{}.rate: an ideal link has no queue", link.name)));
    };
    let env = Env { fastest, ..env };
    let made = QueueLaw::of(&link.qdisc, &env).map_err(|error| {
        let error = error.of(format_args!("{}.qdisc", link.name));
        Error(format!("{error}, or use --engine packets"))
    })?;
    Ok(Queue {
        capacity: env.capacity(),
        buffer: made.buffer,
        law: made.law,
        thins: !made.ecn.applies(ecn),
        unit: made.unit,
        weight: made.weight,
    })
}
