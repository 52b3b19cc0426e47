//! Applications: who opens connections, writes, and is told of what arrives.
//!
//! A member of a group is a flow, a user, or a source of transfers. Members act when an event of
//! theirs comes ([`App::wake`]); connections tell of their progress by notes ([`App::notify`]).

mod app;
mod arrivals;
mod calls;
mod clients;
mod connections;
mod datagrams;
mod flows;
mod frames;
mod ping;
mod streams;
mod tables;
mod transfer;

pub(crate) use app::App;

use crate::group::Group;
use sojourn_scenario::NetworkGroup;
use sojourn_traffic::{Invalid, Source};

/// The application of a group: the one place that knows every kind of traffic.
pub(crate) fn app_of(of: &NetworkGroup, group: &mut Group) -> Result<Box<dyn App>, Invalid> {
    match &of.source {
        Source::Bulk(bulk) => flows::app(bulk, group),
        Source::Transfers(transfers) => arrivals::drawn(transfers, of, group),
        Source::Replay(_) => Ok(arrivals::listed(of)),
        Source::Web(web) if web.http.multiplexes() => streams::web(web, group),
        Source::Web(web) => connections::web(web, group),
        Source::Udp(udp) => datagrams::udp(udp, group),
        Source::OnOff(source) => datagrams::on_off(source, group),
        Source::Ping(ping) => Ok(ping::app(ping, group)),
        Source::Video(video) => connections::video(video, group),
        Source::Call(call) => calls::app(call, group),
    }
}
