//! How many web users make a given load.
//!
//! The offered load of a group of users is the mean number of IP bits per second that it puts into
//! one direction of the *uncongested* link, over the measured window, with acknowledgements,
//! requests and headers. It grows with the number of users in proportion, so a few runs give the
//! factor; users for any load follow from it. Nothing is run here.

use crate::{Direction, Docsis, Error, Reverse, Scenario};
use serde_json::{Value, json};
use sojourn_base::Rate;
use sojourn_traffic::{Source, Transfers};

/// The uncongested link is so many times as fast as the bottleneck.
const HEADROOM: u64 = 10;
/// Its queue never overflows.
const LIMIT: u32 = 1_000_000;

/// Loads to aim at, as fractions of the bottleneck's rate.
const AIMS: [f64; 3] = [0.5, 0.8, 1.1];
/// Seeds begin here: not those that people use, so that no comparison is calibrated on itself.
const FIRST_SEED: u64 = 7_000_001;
/// A first guess needs some users, and is good enough from this fraction of the rate on.
const FIRST_USERS: u32 = 64;
const ENOUGH: f64 = 0.2;
const MOST_USERS: u32 = 4_000_000;

/// Why there is no [`Scenario::load_rate`].
pub const NO_LOAD_RATE: &str = "load: there is no [bottleneck] with a rate on the way of the data \
                                that it could be a fraction of; give users instead";

impl Scenario {
    /// The same scenario with a bottleneck that is ten times as fast all the time, and a queue that
    /// never overflows. It is the same for all queue disciplines.
    ///
    /// # Errors
    /// If there is no dumbbell with a rate.
    pub fn uncongested(&self) -> Result<Self, Error> {
        let of_link = |path: &String| path.split('.').next() == Some("bottleneck");
        let mut left = self.changes.clone();
        left.iter_mut().for_each(|change| change.set.retain(|path, _| !of_link(path)));
        left.retain(|change| !change.set.is_empty());
        let mut changes = self.faster_link()?;
        changes.push(("changes".into(), json!(left)));
        for (group, each) in self.traffic.iter().enumerate() {
            if let Source::Transfers(Transfers { load: Some(load), .. }) = &each.source {
                changes.push((format!("traffic.{group}.load"), json!(load / HEADROOM as f64)));
            }
        }
        self.with_named(&changes)
    }

    /// What makes its dumbbell the uncongested link: values by path.
    fn faster_link(&self) -> Result<Vec<(String, Value)>, Error> {
        let dumbbell = self.bottleneck.as_ref();
        let Some((dumbbell, rate)) = dumbbell.and_then(|of| Some((of, of.link.rate?))) else {
            return Err(wrong("bottleneck", "only a dumbbell has an uncongested counterpart"));
        };
        let faster = |rate: Rate| json!(format!("{}bit", rate.0 * HEADROOM));
        let large = || json!({ "kind": "droptail", "limit": LIMIT });
        let mut changes = Vec::new();
        let mut set = |at: &str, rate: Option<Rate>, qdisc: bool, docsis: Option<&Docsis>| {
            let mut put = |field, value| changes.push((format!("bottleneck.{at}{field}"), value));
            rate.into_iter().for_each(|rate| put("rate", faster(rate)));
            qdisc.then(|| put("qdisc", large()));
            put("schedule", Value::Null);
            put("autorate", Value::Null);
            let channel = docsis.and_then(|docsis| docsis.channel);
            channel.into_iter().for_each(|rate| put("docsis.channel", faster(rate)));
        };
        set("", Some(rate), true, dumbbell.link.docsis.as_ref());
        if let Some(Reverse::Changes(back)) = &dumbbell.reverse {
            set("reverse.", back.rate, back.qdisc.is_some(), back.docsis.as_ref());
        }
        Ok(changes)
    }

    fn with_named(&self, changes: &[(String, Value)]) -> Result<Self, Error> {
        let named: Vec<_> = changes.iter().map(|(path, value)| (&**path, value.clone())).collect();
        self.with_json(&named)
    }

    /// Which way the data of a group go over a dumbbell.
    #[must_use]
    pub fn direction_of(&self, group: usize) -> Direction {
        let group = &self.traffic[group];
        match group.direction {
            Direction::Both => Direction::Both,
            // From the right to the left.
            Direction::Forward if group.from.as_deref() == Some("right") => Direction::Reverse,
            Direction::Reverse if group.from.as_deref() == Some("right") => Direction::Forward,
            other => other,
        }
    }

    /// Which way the data go of those groups whose load the uncongested link shows: both ways if
    /// one goes forward and another back. None if there is no such group.
    #[must_use]
    pub fn offered_direction(&self) -> Option<Direction> {
        let offers = |group: &usize| {
            matches!(self.traffic[*group].source, Source::Web(_) | Source::Transfers(_))
        };
        let ways = (0..self.traffic.len()).filter(offers).map(|group| self.direction_of(group));
        ways.reduce(|one, other| if one == other { one } else { Direction::Both })
    }

    /// The rate that a load in this direction is a fraction of: that of the link on the data's way;
    /// of both ways, the bottleneck's. None if there is no such link, or it has no rate.
    #[must_use]
    pub fn load_rate(&self, direction: Direction) -> Option<Rate> {
        let dumbbell = self.bottleneck.as_ref()?;
        match direction {
            Direction::Forward | Direction::Both => dumbbell.link.rate,
            Direction::Reverse => dumbbell.link.reversed(dumbbell.reverse.as_ref()).rate,
        }
    }

    /// For each group the load that is to be turned into users; none where there is none.
    #[must_use]
    pub fn open_loads(&self) -> Vec<Option<f64>> {
        let open = |source: &Source| match source {
            Source::Web(web) if web.users.is_none() => web.load.or(self.load),
            _ => None,
        };
        self.traffic.iter().map(|group| open(&group.source)).collect()
    }

    /// A group of web users by itself on the uncongested link, the same for whatever does not
    /// concern it; `users` of them, with that seed.
    ///
    /// # Errors
    /// If there is no such group, or no dumbbell.
    pub fn alone(&self, group: usize, users: u32, seed: u64) -> Result<Self, Error> {
        let mut mine = self.to_value()["traffic"][group].take();
        if mine["kind"] != "web" {
            return Err(wrong(&format!("traffic[{group}]"), "not a group of kind web"));
        }
        mine["load"] = Value::Null;
        mine["users"] = json!(users);
        let mut changes = self.faster_link()?;
        let mut set = |path: &str, value| changes.push((path.into(), value));
        set("traffic", json!([mine]));
        set("changes", json!([]));
        set("load", Value::Null);
        set("probes", json!({}));
        set("seed", json!(seed));
        set("name", json!("calibration"));
        self.with_named(&changes)
    }

    /// The same scenario with so many users in the groups of these numbers, instead of loads.
    ///
    /// # Errors
    /// If one of them is no group of web users.
    pub fn with_users(&self, users: &[(usize, u32)]) -> Result<Self, Error> {
        let mut changes = vec![("load".into(), Value::Null)];
        for (group, users) in users {
            changes.push((format!("traffic.{group}.users"), json!(users)));
            changes.push((format!("traffic.{group}.load"), Value::Null));
        }
        self.with_named(&changes)
    }
}

fn wrong(path: &str, message: &str) -> Error {
    Error { file: None, position: None, path: path.into(), message: message.into() }
}

/// Users against offered load, while they are looked for: it says which runs it
/// [wants](Self::wanted) and is [told](Self::told) what they offered, until it wants no more.
#[derive(Clone, Debug)]
pub struct Calibration {
    rate: f64,
    /// More and more users until they make up a fair load; none once they do.
    guess: Option<u32>,
    /// The runs at loads that are aimed at: users, and what they offered.
    points: Vec<(u32, Option<f64>)>,
}

impl Calibration {
    /// For a bottleneck of so many bits per second, above 0.
    #[must_use]
    pub fn new(rate: f64) -> Self {
        Self { rate, guess: Some(FIRST_USERS), points: Vec::new() }
    }

    /// Users and seed of the runs to be made next; none if all is known.
    #[must_use]
    pub fn wanted(&self) -> Vec<(u32, u64)> {
        if let Some(users) = self.guess {
            return vec![(users, FIRST_SEED)];
        }
        let seeds = FIRST_SEED + 1..;
        let open = self.points.iter().zip(seeds).filter(|((_, bps), _)| bps.is_none());
        open.map(|((users, _), seed)| (*users, seed)).collect()
    }

    /// What the runs that it wanted offered, in IP bits per second, in the same order.
    ///
    /// # Errors
    /// If even the greatest number of users offers next to nothing.
    pub fn told(&mut self, bps: &[f64]) -> Result<(), String> {
        let Some(users) = self.guess else {
            let open = self.points.iter_mut().filter(|(_, bps)| bps.is_none());
            open.zip(bps).for_each(|((_, known), bps)| *known = Some(*bps));
            return Ok(());
        };
        let Some(&bps) = bps.first() else { return Ok(()) };
        let each = f64::from(users);
        if bps >= ENOUGH * self.rate {
            let slope = bps / each;
            let aimed = |aim: f64| rounded(aim * self.rate / slope);
            self.points = AIMS.iter().map(|&aim| (aimed(aim), None)).collect();
            self.guess = None;
            return Ok(());
        }
        if users >= MOST_USERS {
            return Err(format!("calibration: {users} users offer only {bps:.0} bit/s"));
        }
        let most = users.saturating_mul(16);
        let wanted =
            if bps > 0.0 { 1.5 * ENOUGH * self.rate * each / bps } else { f64::from(most) };
        self.guess = Some(rounded(wanted).max(users * 2).min(most).min(MOST_USERS));
        Ok(())
    }

    /// The runs behind it: users, and their offered load in IP bits per second.
    #[must_use]
    pub fn points(&self) -> Vec<(u32, f64)> {
        self.points.iter().filter_map(|&(users, bps)| Some((users, bps?))).collect()
    }
}

/// Mean offered load of one user in IP bits per second: the spread of a sum of independent users
/// grows with their number, which makes this the least-squares line through the origin.
#[must_use]
pub fn bps_per_user(points: &[(u32, f64)]) -> f64 {
    let bps: f64 = points.iter().map(|(_, bps)| bps).sum();
    bps / points.iter().map(|(users, _)| f64::from(*users)).sum::<f64>()
}

/// Users whose offered load is `load` of a rate.
#[must_use]
pub fn users_for(load: f64, rate: f64, bps_per_user: f64) -> u32 {
    rounded(load * rate / bps_per_user)
}

/// The offered load in IP bits per second: what the uncongested link carried forward and back, by
/// the direction of the data; the mean of both where they go both ways. An ideal way back carries
/// without being asked how much: it is none.
#[must_use]
pub fn offered_bps(direction: Direction, forward: f64, back: Option<f64>) -> f64 {
    match (direction, back) {
        (Direction::Forward, _) | (Direction::Both, None) => forward,
        (Direction::Reverse, back) => back.unwrap_or(0.0),
        (Direction::Both, Some(back)) => (forward + back) / 2.0,
    }
}

fn rounded(users: f64) -> u32 {
    users.round_ties_even().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const RATE: f64 = 1e6;

    /// The numbers of users that are tried if one of them offers so much.
    fn tried(each: f64) -> (Calibration, Vec<u32>) {
        let (mut search, mut tried) = (Calibration::new(RATE), Vec::new());
        while let [(users, seed)] = search.wanted()[..] {
            assert_eq!(seed, 7_000_001);
            tried.push(users);
            if search.told(&[each * f64::from(users)]).is_err() {
                break;
            }
        }
        (search, tried)
    }

    #[test]
    fn a_first_guess_is_of_a_fifth_of_the_rate_or_more() {
        for (share, asked) in [
            (0.2, vec![64]),
            (0.1, vec![64, 192]),
            (0.19, vec![64, 128]),
            (0.001, vec![64, 1024, 16384]),
        ] {
            assert_eq!(tried(share * RATE / 64.0).1, asked, "{share}");
        }
    }

    #[test]
    fn users_who_offer_nothing_are_an_error() {
        let (mut search, asked) = tried(0.0);
        assert_eq!(asked, [64, 1024, 16384, 262_144, 4_000_000]);
        let error = search.told(&[0.0]).unwrap_err();
        assert_eq!(error, "calibration: 4000000 users offer only 0 bit/s");
    }

    #[test]
    fn half_and_more_than_all_of_the_rate_are_aimed_at_with_seeds_of_their_own() {
        let (mut search, _) = tried(RATE / 100.0);
        assert_eq!(search.wanted(), [(50, 7_000_002), (80, 7_000_003), (110, 7_000_004)]);
        search.told(&[50.0, 81.0, 109.0]).unwrap();
        assert!(search.wanted().is_empty());
        assert_eq!(search.points(), [(50, 50.0), (80, 81.0), (110, 109.0)]);
        assert_eq!(bps_per_user(&search.points()), 1.0);
        // All that was offered by all who offered it.
        assert_eq!(bps_per_user(&[(1, 3.0), (3, 5.0)]), 2.0);
        assert_eq!((users_for(0.5, RATE, 2.0), users_for(1e-9, RATE, 2.0)), (250_000, 1));
    }

    /// Whatever varies the rate or the queue of the link would do so to one that is ten times as
    /// fast: what is offered is not what the link lets through.
    #[test]
    fn uncongested_link_is_so_all_the_time() {
        let scenario = Scenario::from_toml(
            "duration = \"9s\"\nload = 0.9\n[bottleneck]\nrate = \"8mbit\"\nqdisc = \"pi\"\n\
             schedule = { kind = \"lognormal\", max = \"9mbit\" }\n\
             reverse = { rate = \"1mbit\", docsis = { channel = \"2mbit\" } }\n\
             [[traffic]]\nkind = \"web\"\n\
             [[traffic]]\nkind = \"transfers\"\nname = \"t\"\nload = 0.3\nsize = \"9kB\"\n\
             tcp = { congestion = \"cubic\" }\n\
             [[changes]]\nat = \"2s\"\nset = { \"bottleneck.qdisc.qref\" = 9 }\n\
             [[changes]]\nat = \"3s\"\nset = { \"bottleneck.qdisc.qref\" = 8, \
             \"traffic.t.tcp.congestion.beta\" = 0.6 }\n",
            "test",
        )
        .unwrap();
        let fast = scenario.uncongested().unwrap();
        let dumbbell = fast.bottleneck.as_ref().unwrap();
        let Some(Reverse::Changes(back)) = &dumbbell.reverse else { panic!() };
        assert_eq!((&dumbbell.link.schedule, dumbbell.link.rate.unwrap().0), (&None, 80_000_000));
        assert_eq!(back.docsis.as_ref().unwrap().channel.unwrap().0, 20_000_000);
        let Source::Transfers(transfers) = &fast.traffic[1].source else { panic!() };
        assert_eq!(transfers.load, Some(0.03));
        let set: Vec<_> = fast.changes.iter().flat_map(|change| change.set.keys()).collect();
        assert_eq!(set, ["traffic.t.tcp.congestion.beta"]);
        assert!(scenario.alone(0, 7, 5).unwrap().changes.is_empty());
        let link = "autorate = { pings = \"p\", max = \"9mbit\" }";
        let shaped = Scenario::from_toml(
            &format!(
                "duration = \"9s\"\nload = 0.9\n[bottleneck]\nrate = \"8mbit\"\n{link}\n\
                 [[traffic]]\nkind = \"web\"\n\
                 [[traffic]]\nkind = \"ping\"\nname = \"p\"\nflows = 6\n"
            ),
            "test",
        )
        .unwrap();
        for fast in [shaped.uncongested(), shaped.alone(0, 7, 5)] {
            assert!(fast.unwrap().with_users(&[(0, 3)]).unwrap().network(Path::new("")).is_ok());
        }
    }

    #[test]
    fn what_is_counted_is_alone_on_an_uncongested_link() {
        let scenario = Scenario::from_toml(
            "duration = \"9s\"\nseed = 3\nload = 0.9\n[bottleneck]\nrate = \"8mbit\"\n\
             qdisc = \"pi\"\nreverse = { rate = \"1mbit\", qdisc = \"red\" }\n\
             [[traffic]]\nkind = \"bulk\"\nflows = 2\n[[traffic]]\nkind = \"web\"\n\
             [[traffic]]\nkind = \"web\"\nload = 0.1\n[probes]\nqueues = true\n",
            "test",
        )
        .unwrap();
        assert_eq!(scenario.open_loads(), [None, Some(0.9), Some(0.1)]);
        let alone = scenario.alone(2, 7, 5).unwrap();
        let dumbbell = alone.bottleneck.as_ref().unwrap();
        assert_eq!(dumbbell.link.rate.unwrap().0, 80_000_000);
        let Some(Reverse::Changes(back)) = &dumbbell.reverse else { panic!() };
        assert_eq!(back.rate.unwrap().0, 10_000_000);
        assert_eq!(back.qdisc, Some(dumbbell.link.qdisc.clone()));
        assert_eq!((alone.traffic.len(), alone.seed, alone.load), (1, 5, None));
        assert!(!alone.probes.queues);
        let counted = |scenario: &Scenario| scenario.load_rate(scenario.direction_of(1));
        assert_eq!(counted(&scenario).unwrap().0, 8_000_000);
        let turned = [("from", json!("right")), ("to", json!("left"))];
        for changes in [&[("direction", json!("reverse"))][..], &turned] {
            let named =
                |(field, value): &(&str, Value)| (format!("traffic.1.{field}"), value.clone());
            let back = scenario.with_named(&changes.iter().map(named).collect::<Vec<_>>()).unwrap();
            assert_eq!(counted(&back).unwrap().0, 1_000_000);
            assert_eq!(back.offered_direction(), Some(Direction::Both));
            let ideal = back.with_json(&[("bottleneck.reverse", json!("ideal"))]).unwrap();
            assert_eq!(counted(&ideal), None);
        }
        assert_eq!(scenario.offered_direction(), Some(Direction::Forward));
        assert_eq!(alone.open_loads(), [None]);
        let counted = scenario.with_users(&[(1, 70), (2, 7)]).unwrap();
        assert_eq!(counted.open_loads(), [None; 3]);
        let error = scenario.alone(0, 7, 5).unwrap_err().to_string();
        assert!(error.contains("traffic[0]: not a group of kind web"), "{error}");
    }
}
