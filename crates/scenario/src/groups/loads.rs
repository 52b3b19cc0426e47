//! Loads that are to be turned into users.

use super::Resolver;
use crate::error::{Fault, steps};
use sojourn_traffic::Source;

/// Far above any load worth simulating.
pub const MOST_LOAD: f64 = 10.0;

impl Resolver<'_> {
    /// Whether this is a web group whose users are still to be found.
    pub(super) fn may_get_users(&self) -> bool {
        matches!(&self.group.source, Source::Web(web) if web.users.is_none())
    }

    /// Whether the scenario's `load` is this group's.
    pub(super) fn takes_load(&self) -> bool {
        matches!(&self.group.source, Source::Web(web) if web.users.is_none() && web.load.is_none())
    }

    pub(super) fn check_load(&self, index: usize) -> Result<(), Fault> {
        let here = |field: &str| steps!["traffic", index, field];
        let Source::Web(web) = &self.group.source else { return Ok(()) };
        let (place, load) = match (web.users, web.load, self.scenario.load) {
            (Some(_), None, _) => return Ok(()),
            (Some(users), Some(load), _) => {
                let message = format!("{load}: the group has users ({users}) already; keep one");
                return Err(Fault::new(here("load"), message));
            }
            (None, Some(load), _) => (here("load"), load),
            (None, None, Some(load)) => (steps!["load"], load),
            (None, None, None) => {
                let message = "this field is missing; give users, or a load for the group or all";
                return Err(Fault::new(here("users"), message));
            }
        };
        if !(load > 0.0 && load <= MOST_LOAD) {
            return Err(Fault::new(
                place,
                format!("{load} must be above 0 and at most {MOST_LOAD}"),
            ));
        }
        if self.graph.links.iter().all(|link| link.link.rate.is_none()) {
            let message = format!("{load}: there is no link with a rate that it could be part of");
            return Err(Fault::new(place, message));
        }
        if self.base_dir.is_some() {
            let message = format!(
                "{load}: the load must be turned into users first, by calibration (as sojourn run \
                 and compare do); or give the group users"
            );
            return Err(Fault::new(place, message));
        }
        Ok(())
    }
}
