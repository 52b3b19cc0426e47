//! Links in their normal form, the media that they share, and the checks.

use std::path::Path;

use sojourn_qdisc::Env;

use crate::autorate::RateControl;
use crate::docsis::Upstream;
use crate::error::{Fault, Step, steps};
use crate::groups::NetworkGroup;
use crate::limits::MAX_TIME;
use crate::nearest::suggestion;
use crate::network::NetworkLink;
use crate::routes::{Graph, Placed};
use crate::wifi::Wifi;

/// Checks the delay and the queue discipline of a link.
pub(super) fn check(placed: &Placed) -> Result<(), Fault> {
    if placed.link.delay > MAX_TIME {
        let message = format!("\"{}\" must be at most \"{MAX_TIME}\"", placed.link.delay);
        return Err(Fault::new(placed.field("delay"), message));
    }
    let Some(rate) = placed.link.rate else { return Ok(()) };
    let env = Env { rate, mean_packet: placed.link.mean_packet };
    placed.link.qdisc.validate(&env).map_err(|e| Fault::from(e).under(placed.field("qdisc")))
}

/// Checks the media of a scenario, and that each has a name of its own and links.
pub(super) fn check_media(media: &[Wifi], graph: &Graph) -> Result<(), Fault> {
    for (index, medium) in media.iter().enumerate() {
        let place = || vec![Step::from("wifi"), Step::Index(index)];
        medium.check().map_err(|fault| fault.under(place()))?;
        let named = |message: String| Err(Fault::new(steps!["name"], message).under(place()));
        if media[..index].iter().any(|other| other.name == medium.name) {
            return named(format!("there is another medium called \"{}\"", medium.name));
        }
        if !graph.links.iter().any(|link| link.link.wifi.as_ref() == Some(&medium.name)) {
            return named(format!("no link names \"{0}\": wifi = \"{0}\"", medium.name));
        }
    }
    Ok(())
}

/// The link of this number in its normal form.
pub(super) fn resolve(
    number: usize,
    placed: Placed,
    media: &[Wifi],
    groups: &[NetworkGroup],
    base_dir: Option<&Path>,
) -> Result<NetworkLink, Fault> {
    let schedule = match (&placed.link.schedule, placed.link.rate) {
        (Some(schedule), Some(rate)) => Some(
            schedule
                .resolve(rate, base_dir)
                .map_err(|fault| fault.under(placed.field("schedule")))?,
        ),
        _ => None,
    };
    let device = match &placed.link.device {
        Some(device) => device.resolve().map_err(|fault| fault.under(placed.field("device")))?,
        None => None,
    };
    let docsis = docsis(&placed).map_err(|fault| fault.under(placed.field("docsis")))?;
    let wifi = medium(&placed, media).map_err(|fault| fault.under(placed.field("wifi")))?;
    let control =
        autorate(number, &placed, groups).map_err(|fault| fault.under(placed.field("autorate")))?;
    let impairments =
        placed.link.impairments(base_dir).map_err(|fault| fault.under(placed.fields()))?;
    Ok(NetworkLink {
        schedule,
        impairments,
        device,
        docsis,
        wifi,
        autorate: control,
        name: placed.name,
        from: placed.from,
        to: placed.to,
        rate: placed.link.rate,
        delay: placed.link.delay,
        qdisc: placed.link.qdisc,
        mean_packet: placed.link.mean_packet,
        frame_overhead: placed.link.frame_overhead,
        min_frame: placed.link.min_frame,
    })
}

fn docsis(placed: &Placed) -> Result<Option<Upstream>, Fault> {
    let Some(docsis) = &placed.link.docsis else { return Ok(None) };
    let wrong = |why: &str| Err(Fault::new(Vec::new(), why));
    let Some(rate) = placed.link.rate else {
        return wrong("an ideal link has no modem: give it a rate");
    };
    if placed.link.schedule.is_some() {
        return wrong("what a modem is granted does not follow a schedule: leave one of them out");
    }
    if placed.link.device.is_some() {
        return wrong("a modem has no device's queue below its own: leave one of them out");
    }
    docsis.resolve(rate).map(Some)
}

/// The medium of a link, by its number.
fn medium(placed: &Placed, media: &[Wifi]) -> Result<Option<u32>, Fault> {
    let Some(name) = &placed.link.wifi else { return Ok(None) };
    let wrong = |message: &str| Err(Fault::new(Vec::new(), message));
    let Some(number) = media.iter().position(|medium| medium.name == *name) else {
        let names: Vec<&str> = media.iter().map(|medium| medium.name.as_str()).collect();
        let message = match names[..] {
            [] => format!("\"{name}\": there is no [[wifi]]"),
            _ => format!("there is no [[wifi]] \"{name}\"; {}", suggestion(name, &names)),
        };
        return Err(Fault::new(Vec::new(), message));
    };
    let link = &placed.link;
    if link.rate.is_none() {
        return wrong("an ideal link is not on air: give it a rate, that of the PHY");
    }
    for (there, field) in [
        (link.schedule.is_some(), "schedule"),
        (link.docsis.is_some(), "docsis"),
        (link.device.is_some(), "device"),
    ] {
        if there {
            return wrong(&format!("not together with `{field}`: leave one of them out"));
        }
    }
    Ok(Some(number as u32))
}

/// The control loop of the link of this number, if it has one.
fn autorate(
    number: usize,
    placed: &Placed,
    groups: &[NetworkGroup],
) -> Result<Option<RateControl>, Fault> {
    let link = &placed.link;
    let Some(autorate) = &link.autorate else { return Ok(None) };
    let wrong = |field: &str, message: String| Err(Fault::new(steps![field], message));
    let Some(base) = link.rate else {
        return Err(Fault::new(Vec::new(), "an ideal link is no shaper: give it a rate"));
    };
    for (there, field) in [
        (link.schedule.is_some(), "schedule"),
        (link.docsis.is_some(), "docsis"),
        (link.wifi.is_some(), "wifi"),
    ] {
        if there {
            let message = format!("not together with `{field}`: leave one of them out");
            return Err(Fault::new(Vec::new(), message));
        }
    }
    let name = &autorate.pings;
    let Some(pings) = groups.iter().position(|group| group.name == *name) else {
        let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        let message = format!("there is no group \"{name}\"; {}", suggestion(name, &names));
        return wrong("pings", message);
    };
    let kind = groups[pings].source.kind();
    if kind != "ping" {
        return wrong("pings", format!("\"{name}\" is of kind \"{kind}\", not \"ping\""));
    }
    if !groups[pings].forward.iter().chain(&groups[pings].backward).any(|link| *link == number) {
        let message = format!("\"{name}\" does not cross this link: name pings whose path does");
        return wrong("pings", message);
    }
    autorate.resolve(base, pings, groups[pings].members).map(Some)
}
