//! What is to be recorded: names resolved, and the checks.

use sojourn_base::Time;

use crate::error::{Fault, steps};
use crate::groups::NetworkGroup;
use crate::limits::MAX_TIME;
use crate::nearest::suggestion;
use crate::network::NetworkProbes;
use crate::routes::Graph;
use crate::scenario::Scenario;

/// In its final form a scenario has the groups that its files make.
pub(super) fn resolve(
    scenario: &Scenario,
    graph: &Graph,
    groups: &[NetworkGroup],
    final_form: bool,
) -> Result<NetworkProbes, Fault> {
    let probes = &scenario.probes;
    let span = |field: &str, span: Time| match span {
        Time::ZERO => Err(Fault::new(steps!["probes", field], "\"0ns\" must be above 0")),
        span => Ok(span),
    };
    let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
    // Which groups a replay makes, and of how many members, its file says.
    let known = final_form || scenario.traffic.iter().all(|group| group.source.kind() != "replay");
    let flows = |field: &str, flows: &[String], kinds: &[&str]| {
        let flows = flows.iter().enumerate().filter(|_| known);
        flows
            .map(|(index, flow)| {
                let place = steps!["probes", field, index];
                member(flow, groups, &names, kinds).map_err(|message| Fault::new(place, message))
            })
            .collect::<Result<Vec<_>, _>>()
    };
    let traces = flows("traces", &probes.traces, &["bulk"])?;
    let qlog = flows("qlog", &probes.qlog, &["bulk", "web", "video", "call"])?;
    let twice = (1..qlog.len()).find(|&index| qlog[..index].contains(&qlog[index]));
    if let Some(index) = twice {
        let message = format!("\"{}\" is named twice; name it once", probes.qlog[index]);
        return Err(Fault::new(steps!["probes", "qlog", index], message));
    }
    let pcap = probes.pcap.iter().enumerate().map(|(index, name)| {
        let wrong = |fault: Fault| fault.under(steps!["probes", "pcap", index]);
        let link = graph.find_link(name).map_err(wrong)?;
        if graph.links[link].link.rate.is_none() {
            let message = format!("\"{name}\" is ideal and has no queue to capture at");
            return Err(wrong(Fault::new(Vec::new(), message)));
        }
        Ok(link)
    });
    Ok(NetworkProbes {
        interval: span("interval", probes.interval)?,
        queues: probes.queues,
        standing_window: standing_window(probes.standing_window)?,
        packet_counts: probes.packet_counts.map(|t| span("packet_counts", t)).transpose()?,
        flows: probes.flows,
        traces,
        exchanges: probes.exchanges,
        pcap: pcap.collect::<Result<_, _>>()?,
        qlog,
    })
}

/// The group and the member that a name such as "bulk1.0" stands for; `names` are the groups', and
/// `kinds` those that can be recorded.
fn member(
    flow: &str,
    groups: &[NetworkGroup],
    names: &[&str],
    kinds: &[&str],
) -> Result<(usize, u32), String> {
    let (name, number) = flow
        .rsplit_once('.')
        .and_then(|(name, member)| Some((name, member.parse::<u32>().ok()?)))
        .ok_or_else(|| {
            format!("\"{flow}\" is not a group's name and a number, like \"bulk1.0\"")
        })?;
    let group = names
        .iter()
        .position(|other| *other == name)
        .ok_or_else(|| format!("there is no group \"{name}\"; {}", suggestion(name, names)))?;
    let kind = groups[group].source.kind();
    if !kinds.contains(&kind) {
        return Err(format!(
            "\"{flow}\" is of kind \"{kind}\"; name a member of a group of kind {}",
            kinds.join(", ")
        ));
    }
    let members = groups[group].members;
    if number >= members {
        return Err(format!("\"{flow}\": the group has {members} members, from 0"));
    }
    Ok((group, number))
}

fn standing_window(window: Time) -> Result<Time, Fault> {
    if !(Time::from_micros(1)..=MAX_TIME).contains(&window) {
        let message = format!("\"{window}\" must be from \"1us\" to \"{MAX_TIME}\"");
        return Err(Fault::new(steps!["probes", "standing_window"], message));
    }
    Ok(window)
}
