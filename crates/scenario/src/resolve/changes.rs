//! What the changes of a scenario do to its links and groups.

use std::path::Path;

use sojourn_base::{Time, Value, sort_by_key};
use sojourn_qdisc::Config as Qdisc;

use super::start;
use crate::changes::{Change, Changed, NetworkChange};
use crate::error::{Error, Fault, steps};
use crate::groups::NetworkGroup;
use crate::network::{Network, NetworkLink};
use crate::read::from_json;
use crate::scenario::Scenario;
use crate::topology::Reverse;
use crate::transport::tcp;
use crate::vary;
use crate::write::to_json;

/// Checks that a path leads to what can change.
fn check_path(path: &str) -> Result<(), String> {
    let keys: Vec<&str> = path.split('.').collect();
    let control = keys
        .len()
        .checked_sub(3)
        .is_some_and(|at| keys[at..at + 2] == ["tcp", "congestion"] && keys[at + 2] != "kind");
    let of_link = matches!(keys.first(), Some(&("bottleneck" | "parking_lot" | "links")));
    let qdisc = keys.iter().position(|&key| key == "qdisc");
    let parameter = qdisc.is_some_and(|at| at + 2 == keys.len() && keys[at + 1] != "kind");
    if of_link && (parameter || keys.last() == Some(&"rate") && qdisc.is_none()) || control {
        return Ok(());
    }
    Err(format!(
        "\"{path}\" does not change during a run; a parameter of a queue discipline does, such as \
         \"bottleneck.qdisc.limit\", the rate of a link, \"bottleneck.rate\", and a setting of a \
         congestion control, \"tcp.congestion.beta\""
    ))
}

impl Scenario {
    /// This scenario after a change, and what that does to its links and groups as they are.
    ///
    /// # Errors
    /// If a path leads nowhere or to what cannot change, or a value is wrong.
    pub fn changed(
        &self,
        links: &[NetworkLink],
        groups: &[NetworkGroup],
        change: &Change,
        base_dir: &Path,
    ) -> Result<(Self, Vec<NetworkChange>), Error> {
        let (next, _, made) = self.after((links, groups), change, Some(base_dir))?;
        Ok((next, made))
    }

    /// The short way to what [`changed`](Self::changed) does where a number is set in a discipline
    /// of a dumbbell, or a setting in a group's own congestion control: nothing else is read anew.
    /// None, and nothing has happened, if the long way must be taken, which also says what is
    /// wrong.
    pub fn change_parameter(
        &mut self,
        links: &[NetworkLink],
        groups: &[NetworkGroup],
        change: &Change,
    ) -> Option<Vec<NetworkChange>> {
        let mut set = change.set.iter();
        let (Some((path, value)), None) = (set.next(), set.next()) else { return None };
        self.change_qdisc(links, change.at, path, value)
            .or_else(|| self.change_control(groups, change.at, path, value))
    }

    fn change_control(
        &mut self,
        before: &[NetworkGroup],
        at: Time,
        path: &str,
        value: &Value,
    ) -> Option<Vec<NetworkChange>> {
        let (number, name) = path.strip_prefix("traffic.")?.split_once(".tcp.congestion.")?;
        let number: usize = number.parse().ok()?;
        let written = self.group_names().into_iter().nth(number)?;
        let group = self.traffic.get_mut(number)?;
        let control = group.tcp.as_ref()?.congestion.as_ref()?;
        let mut table = to_json(control).ok()?;
        *table.get_mut(name)? = serde_json::to_value(value).ok()?;
        let next = from_json(&table.to_string()).ok()?;
        let old = group.tcp.as_mut()?.congestion.replace(next);
        let resolved = tcp(self, self.traffic.get(number)).ok();
        let mut made = Vec::new();
        for (group, before) in before.iter().enumerate() {
            // A replay's groups have names of their own: the long way finds them.
            let name = before.name.strip_suffix(".reverse").unwrap_or(&before.name);
            if name == written {
                let same = resolved.as_ref().filter(|tcp| before.tcp.goes_on_with(tcp));
                made.extend(same.map(|tcp| {
                    let what = Changed::Group(group, Box::new(tcp.clone()));
                    NetworkChange { at, what }
                }));
            }
        }
        if made.is_empty() {
            self.traffic[number].tcp.as_mut()?.congestion = old;
            return None;
        }
        Some(made)
    }

    fn change_qdisc(
        &mut self,
        before: &[NetworkLink],
        at: Time,
        path: &str,
        value: &Value,
    ) -> Option<Vec<NetworkChange>> {
        let name = path.strip_prefix("bottleneck.qdisc.")?;
        let dumbbell = self.bottleneck.as_mut()?;
        let mut table = to_json(&dumbbell.link.qdisc).ok()?;
        let place = table.get_mut(name).filter(|field| field.is_number())?;
        *place = serde_json::to_value(value).ok().filter(serde_json::Value::is_number)?;
        let next: Qdisc = from_json(&table.to_string()).ok()?;
        let own = matches!(&dumbbell.reverse, Some(Reverse::Changes(c)) if c.qdisc.is_some());
        let mut made = Vec::new();
        for (link, old) in before.iter().enumerate() {
            let this = old.name == "bottleneck" || (old.name == "reverse" && !own);
            if !this || old.qdisc == next {
                continue;
            }
            if old.qdisc != dumbbell.link.qdisc {
                return None;
            }
            next.validate(&old.env()?).ok()?;
            made.push(NetworkChange { at, what: Changed::Link(link, Some(next.clone()), None) });
        }
        dumbbell.link.qdisc = next;
        Some(made)
    }

    fn after(
        &self,
        (links, groups): (&[NetworkLink], &[NetworkGroup]),
        change: &Change,
        base_dir: Option<&Path>,
    ) -> Result<(Self, Network, Vec<NetworkChange>), Error> {
        let wrong = |path: &str, why: String| Error {
            file: None,
            position: None,
            path: path.to_string(),
            message: why,
        };
        let mut values = Vec::new();
        for (path, value) in &change.set {
            check_path(path).map_err(|why| wrong("", why))?;
            let value =
                serde_json::to_value(value).map_err(|error| wrong(path, error.to_string()))?;
            values.push((path.as_str(), Ok(vary::value_from_json(&value))));
        }
        let next = self.vary(values.into_iter())?;
        let network = start::network(&next, base_dir).map_err(|fault| next.locate(fault))?;
        let at = change.at;
        let mut made = Vec::new();
        for (link, (old, new)) in links.iter().zip(&network.links).enumerate() {
            let qdisc = (old.qdisc != new.qdisc).then(|| new.qdisc.clone());
            let rate = new.rate.filter(|_| old.rate != new.rate);
            let own = old.schedule.is_some() || old.docsis.is_some() || old.wifi.is_some();
            let fixed = own || old.autorate.is_some() || old.rate.is_none();
            if rate.is_some() && fixed {
                let why = "a link's rate changes only if it has one, no `schedule`, `docsis`, \
                           `wifi` or `autorate`";
                return Err(wrong(&old.name, why.into()));
            }
            if qdisc.is_some() || rate.is_some() {
                made.push(NetworkChange { at, what: Changed::Link(link, qdisc, rate) });
            }
        }
        for (group, (old, new)) in groups.iter().zip(&network.groups).enumerate() {
            if old.tcp == new.tcp {
                continue;
            }
            if !old.tcp.goes_on_with(&new.tcp) {
                let kind = old.tcp.tuning.name();
                let why = format!("this setting of {kind} does not change during a run");
                return Err(wrong(&old.name, why));
            }
            made.push(NetworkChange { at, what: Changed::Group(group, Box::new(new.tcp.clone())) });
        }
        Ok((next, network, made))
    }
}

/// What all changes of a scenario do, in order.
pub(super) fn resolve(
    scenario: &Scenario,
    links: &[NetworkLink],
    groups: &[NetworkGroup],
    base_dir: Option<&Path>,
) -> Result<Vec<NetworkChange>, Fault> {
    let mut order: Vec<(usize, &Change)> = scenario.changes.iter().enumerate().collect();
    sort_by_key(&mut order, |(_, change)| change.at);
    let mut now = scenario.at_start();
    let mut before = None;
    let mut all = Vec::new();
    for (number, change) in order {
        if change.at >= scenario.duration {
            let message =
                format!("\"{}\" must be below duration (\"{}\")", change.at, scenario.duration);
            return Err(Fault::new(steps!["changes", number, "at"], message));
        }
        let parts = before.as_ref().map_or((links, groups), |n: &Network| (&n.links, &n.groups));
        let (next, network, made) = now.after(parts, change, base_dir).map_err(|error| {
            let bare = Error { file: None, position: None, ..error };
            Fault::new(steps!["changes", number, "set"], bare.to_string())
        })?;
        (now, before) = (next, Some(network));
        all.extend(made);
    }
    Ok(all)
}
