//! What changes while a scenario runs.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Rate, Time, Value};
use sojourn_qdisc::Config as Qdisc;

use crate::error::{Error, Fault, steps};
use crate::network::{self, NetworkLink};
use crate::{Reverse, Scenario};

/// Values that are set while the scenario runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When: after everything else of that instant.
    pub at: Time,
    /// What: values by dotted path. A parameter of a link's queue discipline
    /// (`"bottleneck.qdisc.qref" = 20`) or a link's rate (`"bottleneck.rate" = "20mbit"`).
    pub set: BTreeMap<String, Value>,
}

/// What happens to a link while a network is simulated.
#[derive(Clone, Debug)]
pub struct NetworkChange {
    /// When.
    pub at: Time,
    /// Index of the link.
    pub link: usize,
    /// The discipline with other parameters.
    pub qdisc: Option<Qdisc>,
    /// Another rate.
    pub rate: Option<Rate>,
}

impl NetworkChange {
    /// Whether a rate changes.
    #[must_use]
    pub fn is_of_rate(&self) -> bool {
        self.rate.is_some()
    }
}

/// Checks that a path leads to what can change.
fn check_path(path: &str) -> Result<(), String> {
    let keys: Vec<&str> = path.split('.').collect();
    let of_link = matches!(keys.first(), Some(&("bottleneck" | "parking_lot" | "links")));
    let qdisc = keys.iter().position(|&key| key == "qdisc");
    let parameter = qdisc.is_some_and(|at| at + 2 == keys.len() && keys[at + 1] != "kind");
    if of_link && (parameter || keys.last() == Some(&"rate") && qdisc.is_none()) {
        return Ok(());
    }
    Err(format!(
        "\"{path}\" does not change during a run; a parameter of a queue discipline does, such as \
         \"bottleneck.qdisc.limit\", and the rate of a link, \"bottleneck.rate\""
    ))
}

impl Scenario {
    /// The scenario without what changes in it.
    #[must_use]
    pub fn at_start(&self) -> Self {
        Self { changes: Vec::new(), ..self.clone() }
    }

    /// This scenario after a change, and what that does to `before`, its links.
    ///
    /// # Errors
    /// If a path leads nowhere or to what cannot change, or a value is wrong.
    pub fn changed(
        &self,
        before: &[NetworkLink],
        change: &Change,
        base_dir: &Path,
    ) -> Result<(Self, Vec<NetworkChange>), Error> {
        self.after(before, change, Some(base_dir)).map(|(next, _, made)| (next, made))
    }

    /// The short way to what [`changed`](Self::changed) does where a number is set in a discipline
    /// of a dumbbell: nothing else is read anew. None, and nothing has happened, if the long way
    /// must be taken, which also says what is wrong.
    pub fn change_parameter(
        &mut self,
        before: &[NetworkLink],
        at: Time,
        path: &str,
        value: &Value,
    ) -> Option<Vec<NetworkChange>> {
        let name = path.strip_prefix("bottleneck.qdisc.")?;
        let dumbbell = self.bottleneck.as_mut()?;
        let mut table = crate::to_json(&dumbbell.link.qdisc).ok()?;
        let place = table.get_mut(name).filter(|field| field.is_number())?;
        *place = serde_json::to_value(value).ok().filter(serde_json::Value::is_number)?;
        let next: Qdisc = crate::from_json(&table.to_string()).ok()?;
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
            made.push(NetworkChange { at, link, qdisc: Some(next.clone()), rate: None });
        }
        dumbbell.link.qdisc = next;
        Some(made)
    }

    fn after(
        &self,
        before: &[NetworkLink],
        change: &Change,
        base_dir: Option<&Path>,
    ) -> Result<(Self, Vec<NetworkLink>, Vec<NetworkChange>), Error> {
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
            values.push((path.as_str(), value));
        }
        let next = self.with_json(&values)?;
        let network = network::build(&next, base_dir).map_err(|fault| next.locate(fault))?;
        let mut made = Vec::new();
        for (link, (old, new)) in before.iter().zip(&network.links).enumerate() {
            let qdisc = (old.qdisc != new.qdisc).then(|| new.qdisc.clone());
            let rate = new.rate.filter(|_| old.rate != new.rate);
            if rate.is_some() && (old.schedule.is_some() || old.rate.is_none()) {
                let why = "a link's rate changes only if it has one and no `schedule`";
                return Err(wrong(&old.name, why.into()));
            }
            if qdisc.is_some() || rate.is_some() {
                made.push(NetworkChange { at: change.at, link, qdisc, rate });
            }
        }
        Ok((next, network.links, made))
    }
}

/// What all changes of a scenario do, in order.
pub(crate) fn resolve(
    scenario: &Scenario,
    links: &[NetworkLink],
    base_dir: Option<&Path>,
) -> Result<Vec<NetworkChange>, Fault> {
    let mut order: Vec<(usize, &Change)> = scenario.changes.iter().enumerate().collect();
    order.sort_by_key(|(_, change)| change.at);
    let mut now = scenario.at_start();
    let (mut links, mut all) = (links.to_vec(), Vec::new());
    for (number, change) in order {
        if change.at >= scenario.duration {
            let message =
                format!("\"{}\" must be below duration (\"{}\")", change.at, scenario.duration);
            return Err(Fault::new(steps!["changes", number, "at"], message));
        }
        let made;
        (now, links, made) = now.after(&links, change, base_dir).map_err(|error| {
            let bare = Error { file: None, position: None, ..error };
            Fault::new(steps!["changes", number, "set"], bare.to_string())
        })?;
        all.extend(made);
    }
    Ok(all)
}
