//! What real time and one machine allow.

use sojourn_base::{Rate, Time};
use sojourn_scenario::Network;

/// Real time: an hour takes an hour.
const LONGEST: Time = Time::from_secs(3600);
/// What the router forwards with packets of 1500 bytes and room to spare.
const FASTEST: Rate = Rate(1_000_000_000);
/// Flows and users at a time; each user may have several connections.
const MOST_MEMBERS: u64 = 20_000;

/// Checks a scenario against them.
///
/// # Errors
/// One line that names the field.
pub(super) fn check(network: &Network) -> Result<(), String> {
    if network.duration > LONGEST {
        return Err(format!(
            "duration = \"{}\": with real hosts it takes that long; at most \"{LONGEST}\"",
            network.duration
        ));
    }
    for link in &network.links {
        if let Some(rate) = link.rate.filter(|rate| *rate > FASTEST) {
            return Err(format!(
                "link {}: rate = \"{rate}\": real packets go up to \"{FASTEST}\"; use --engine \
                 packets, or no rate for a link that is ideal",
                link.name
            ));
        }
    }
    let members: u64 = network.groups.iter().map(|group| u64::from(group.members)).sum();
    if members > MOST_MEMBERS {
        return Err(format!(
            "traffic: {members} flows and users; real hosts take {MOST_MEMBERS} at most"
        ));
    }
    if let Some(&(group, member)) = network.probes.qlog.first() {
        return Err(format!(
            "probes.qlog = [\"{}.{member}\"]: real hosts do not tell what their senders know; leave \
             it out, or use --engine packets",
            network.groups[group].name
        ));
    }
    for group in &network.groups {
        let wrong = |what: &str| Err(format!("{}: {what}", group.name));
        if group.access_queue.is_some() {
            return wrong("access.queue: real hosts have the kernel's own; leave it out");
        }
        if group.processing > Time::ZERO {
            return wrong(
                "access.processing: real hosts take the time that they take; leave it out",
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    fn check_of(duration: &str, rate: &str, more: &str) -> Result<(), String> {
        let text = format!(
            "duration = \"{duration}\"\n{more}[bottleneck]\nrate = \"{rate}\"\ndelay = \"5ms\"\n\
             qdisc = {{ kind = \"droptail\", limit = 50 }}\n[[traffic]]\nkind = \"bulk\"\n"
        );
        check(&Scenario::from_toml(&text, "test").unwrap().network(".".as_ref()).unwrap())
    }

    #[test]
    fn engine_limits_are_named_in_refusal() {
        assert_eq!(check_of("60s", "1gbit", ""), Ok(()));
        let error = check_of("2h", "1gbit", "").unwrap_err();
        assert!(error.starts_with("duration = \"7200s\"") || error.contains("2h"), "{error}");
        let error = check_of("60s", "10gbit", "").unwrap_err();
        assert!(error.contains("rate = \"10gbit\"") && error.contains("1gbit"), "{error}");
        let error = check_of("60s", "10mbit", "access = { processing = \"1ms\" }\n").unwrap_err();
        assert!(error.starts_with("bulk1: access.processing"), "{error}");
        let error = check_of("60s", "10mbit", "probes = { qlog = [\"bulk1.0\"] }\n").unwrap_err();
        assert!(error.starts_with("probes.qlog = [\"bulk1.0\"]: real hosts"), "{error}");
    }
}
