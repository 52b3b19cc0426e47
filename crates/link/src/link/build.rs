//! From a link of a network to one that runs.

use super::{Link, Queue};
use crate::access::{Access, Air};
use crate::autorate::Autorate;
use crate::classes::Classes;
use crate::device::Device;
use crate::docsis::Docsis;
use crate::meter::Meter;
use crate::rate::{Pieces, Varying};
use crate::serialiser::Serialiser;
use crate::waiting::Waiting;
use crate::wire::Wire;
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::{AtEnqueue, Config, Count, Env, Invalid, Qdisc};
use sojourn_scenario::{DeviceQueue, Network, NetworkLink};

/// What a link is made of beside its discipline.
struct Parts<S> {
    serialiser: Serialiser,
    varying: Option<Varying>,
    device: Option<Device<S>>,
    autorate: Option<Autorate>,
    access: Option<Access<S>>,
    wire: Option<Wire>,
    meter: Meter,
    classes: Option<Classes>,
}

impl<S: Waiting> Link<S> {
    /// The links of a network that are not ideal, in order.
    ///
    /// # Errors
    /// One line that names the link whose discipline cannot be built.
    pub fn all(network: &Network, fusing: bool) -> Result<Vec<Self>, String> {
        let mut links = Vec::new();
        for (number, link) in network.links.iter().enumerate() {
            let new = Self::build(network, number, fusing)
                .map_err(|error| format!("link {}: {error}", link.name))?;
            links.extend(new);
        }
        Ok(links)
    }

    /// Link `number` of a network; none if it is ideal, nothing but delay. It is *fused* if
    /// `fusing` and nothing of it speaks against that.
    ///
    /// # Errors
    /// If its discipline cannot be built; a network's links have been checked, so this is rare.
    fn build(network: &Network, number: usize, fusing: bool) -> Result<Option<Self>, Invalid> {
        let link = &network.links[number];
        let (Some(rate), Some(env)) = (link.rate, link.env()) else { return Ok(None) };
        let (seed, at) = (network.seed, number as u32);
        let meter = || Meter::new(network.probes.standing_window);
        let varying = |schedule| Varying::new(Pieces::new(schedule, rate, seed, at));
        let parts = Parts {
            serialiser: Serialiser::new(rate.0, link.frame_overhead, link.min_frame),
            varying: match (&link.schedule, link.autorate) {
                (Some(schedule), _) => Some(varying(schedule)),
                (None, Some(_)) => Some(Varying::constant(rate.0, Time::ZERO)),
                (None, None) => None,
            },
            autorate: link.autorate.map(Autorate::new),
            classes: Classes::new(&link.qdisc, meter),
            device: device(network, link).map(|device| Device::new(device, meter())),
            access: match (link.docsis, link.wifi) {
                (Some(docsis), _) => Some(Access::Modem(Docsis::new(docsis, rate, seed, at))),
                (None, Some(medium)) => Some(Access::Air(Air::new(medium))),
                (None, None) => None,
            },
            wire: link.impairments.as_ref().map(|wire| Wire::new(wire, seed, at)),
            meter: meter(),
        };
        let coin = Stream::new(seed, Kind::Qdisc, at, 0);
        Self::new(&link.qdisc, &env, coin, parts, fusing).map(Some)
    }

    /// A link with its discipline; `fused` if that may be run on tokens. What is more than a queue
    /// and a constant rate never is.
    fn new(
        config: &Config,
        env: &Env,
        coin: Stream,
        parts: Parts<S>,
        fused: bool,
    ) -> Result<Self, Invalid> {
        let Parts { serialiser, varying, device, autorate, access, wire, meter, classes } = parts;
        let plain = varying.is_none() && device.is_none() && access.is_none() && wire.is_none();
        let tokens = if fused && plain { AtEnqueue::new(config, env, coin.clone())? } else { None };
        let queue = match tokens {
            Some(queue) => Queue::Tokens(queue),
            None => Queue::Packets(Qdisc::new(config, env, coin)?),
        };
        Ok(Self {
            queue,
            stands: Count::default(),
            serialiser,
            varying: varying.map(Box::new),
            carry: 0,
            busy_until: Time::ZERO,
            sending: false,
            rests: false,
            unseen_end: None,
            ready_at: Time::MAX,
            device: device.map(Box::new),
            autorate: autorate.map(Box::new),
            access: access.map(Box::new),
            interrupt: None,
            wire: wire.map(Box::new),
            meter,
            classes: classes.map(Box::new),
            at_start: Default::default(),
            window: Time::ZERO,
            lost_at_start: Count::default(),
        })
    }
}

/// The queue below the discipline: the device's, or the aggregates of Wi-Fi.
fn device(network: &Network, link: &NetworkLink) -> Option<DeviceQueue> {
    let aggregates = |medium: u32| {
        let params = &network.media[medium as usize];
        let packets = params.hardware * params.aggregate_packets;
        DeviceQueue { packets, bytes: u64::MAX, bql: None }
    };
    link.device.or_else(|| link.wifi.map(aggregates))
}
