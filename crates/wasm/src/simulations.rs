//! Simulations under way, by number.

use crate::{MEMORY, numbers, words};
use serde_json::{Value as Json, json};
use sojourn_base::{Time, Value};
use sojourn_fluid::engine as fluid;
use sojourn_packets::{Control, Recorder, Simulation, run};
use sojourn_records::{Names, Outcome, QueueRow, table_schemas};
use sojourn_scenario::calibration::{
    Calibration, NO_LOAD_RATE, bps_per_user, offered_bps, users_for,
};
use sojourn_scenario::{Room, Scenario};
use std::path::Path;

/// Where a simulation stands.
enum Stage {
    Running(Box<Simulation>),
    /// Its tables are left, and its summary as JSON.
    Finished(Box<Recorder>, String),
}

/// All simulations of this module. Each call says in words what is wrong.
#[derive(Default)]
pub struct Simulations {
    all: Vec<Option<Stage>>,
}

impl Simulations {
    /// A simulation by the packet engine at its start, and its description as JSON: names, and
    /// what the columns of observations and tables are called. `used` are the bytes of memory that
    /// are taken already. A simulation that is not `changeable` is as fast as a whole run.
    ///
    /// # Errors
    /// What is wrong with the scenario, or that it does not fit.
    pub fn start(
        &mut self,
        toml: &str,
        changeable: bool,
        used: f64,
    ) -> Result<(usize, String), String> {
        let scenario = read(toml, used)?;
        let recorder = Recorder::in_memory();
        let made = if changeable {
            Simulation::new(&scenario, Path::new("."), recorder)
        } else {
            let network = scenario.network(Path::new(".")).map_err(words)?;
            Simulation::fixed(network, recorder)
        };
        let mut simulation = made.map_err(words)?;
        let seen = simulation.observe();
        let mut about = about(simulation.recorder().names());
        about["duration_s"] = json!(simulation.duration().as_secs_f64());
        about["observation"] = numbers::description(&seen);
        let number = self.add(Stage::Running(Box::new(simulation)));
        Ok((number, about.to_string()))
    }

    /// A whole run by the fluid engine, finished: its number, and its description as JSON.
    ///
    /// # Errors
    /// What is wrong with the scenario, or what the model cannot represent.
    pub fn run_fluid(&mut self, toml: &str, used: f64) -> Result<(usize, String), String> {
        let scenario = read(toml, used)?;
        if !scenario.changes.is_empty() {
            return Err("changes: the fluid engine takes a scenario as a whole".into());
        }
        let network = scenario.network(Path::new(".")).map_err(words)?;
        let mut recorder = Recorder::in_memory();
        let summary =
            fluid::run(&network, &fluid::Control::default(), &mut recorder).map_err(words)?;
        let mut about = about(recorder.names());
        about["duration_s"] = json!(summary.simulated_s);
        let summary = summary.to_json().map_err(words)?;
        Ok((self.add(Stage::Finished(Box::new(recorder), summary)), about.to_string()))
    }

    /// The scenario with users instead of loads, TOML. The runs that count them are made here, one
    /// after another.
    ///
    /// # Errors
    /// What is wrong with the scenario, or that users offer no load.
    pub fn calibrated(toml: &str, used: f64) -> Result<String, String> {
        let scenario = read(toml, used)?;
        let mut users = Vec::new();
        for (group, load) in scenario.open_loads().into_iter().enumerate() {
            let Some(load) = load else { continue };
            let direction = scenario.direction_of(group);
            let Some(rate) = scenario.load_rate(direction) else {
                return Err(NO_LOAD_RATE.into());
            };
            let mut search = Calibration::new(rate.as_f64());
            loop {
                let wanted = search.wanted();
                if wanted.is_empty() {
                    break;
                }
                let runs = wanted.into_iter().map(|(users, seed)| {
                    let alone = scenario.alone(group, users, seed).map_err(words)?;
                    alone.too_large(room(used)).map_or(Ok(()), Err)?;
                    let network = alone.network(Path::new(".")).map_err(words)?;
                    let summary = run(network, &Control::default(), &mut Recorder::none());
                    let links = summary.map_err(words)?.links;
                    let bps = |name: &str| {
                        let link = links.iter().find(|link| link.name == name)?;
                        Some(link.throughput_bps.unwrap_or(0.0))
                    };
                    let forward = bps("bottleneck").unwrap_or(0.0);
                    Ok(offered_bps(direction, forward, bps("reverse")))
                });
                let offered: Vec<f64> = runs.collect::<Result<_, String>>()?;
                search.told(&offered)?;
            }
            let each = bps_per_user(&search.points());
            users.push((group, users_for(load, rate.as_f64(), each)));
        }
        scenario.with_users(&users).map(|scenario| scenario.to_toml()).map_err(words)
    }

    /// Runs on up to an instant in seconds; returns the instant reached.
    ///
    /// # Errors
    /// If a change of the scenario is refused.
    pub fn run_until(&mut self, number: usize, seconds: f64) -> Result<f64, String> {
        let simulation = self.running(number)?;
        if seconds.is_nan() {
            return Err("time: not a number; give seconds".into());
        }
        let until = Time((seconds.max(0.0) * 1e9).round_ties_even() as u64);
        let reached = simulation.run_until(until, &Control::default()).map_err(words)?;
        Ok(reached.as_secs_f64())
    }

    /// Links, groups and flows now, as numbers.
    ///
    /// # Errors
    /// If the simulation is finished.
    pub fn observe(&mut self, number: usize, out: &mut Vec<f64>) -> Result<(), String> {
        numbers::observation(&self.running(number)?.observe(), out);
        Ok(())
    }

    /// The first `most` packets in the queue of a link, packet by packet.
    ///
    /// # Errors
    /// If there is no such simulation under way that can be changed, or no such link.
    pub fn queued(
        &mut self,
        number: usize,
        link: &str,
        most: usize,
        out: &mut Vec<f64>,
    ) -> Result<(), String> {
        numbers::queued(&self.running(number)?.queued(link, most).map_err(words)?, out);
        Ok(())
    }

    /// Sets a value of the scenario from now on. `change` is JSON, a path and its value.
    ///
    /// # Errors
    /// If that cannot change during a run, or the value is wrong.
    pub fn set(&mut self, number: usize, change: &str) -> Result<(), String> {
        let (path, value): (String, Json) = serde_json::from_str(change).map_err(words)?;
        let value: Value = serde_json::from_value(value.clone())
            .map_err(|_| format!("{path}: {value} must be a number, a string or true or false"))?;
        self.running(number)?.set(&path, value).map_err(words)
    }

    /// The scenario with all that was set, as TOML.
    ///
    /// # Errors
    /// If the simulation is finished or cannot be changed.
    pub fn scenario(&mut self, number: usize) -> Result<String, String> {
        let scenario = self.running(number)?.scenario().map(Scenario::to_toml);
        scenario.ok_or_else(|| "this simulation cannot be changed: it has its own scenario".into())
    }

    /// The rows of a table since the last time, column by column; none if the scenario does not
    /// ask for the table.
    ///
    /// # Errors
    /// If there is no such simulation, or no such table.
    pub fn rows(&mut self, number: usize, table: &str) -> Result<Vec<f64>, String> {
        let recorder = match self.all.get_mut(number) {
            Some(Some(Stage::Running(simulation))) => simulation.recorder(),
            Some(Some(Stage::Finished(recorder, _))) => recorder,
            _ => return Err(format!("there is no simulation {number}")),
        };
        recorder.take(table).ok_or_else(|| {
            let names: Vec<&str> = table_schemas().iter().map(|schema| schema.name).collect();
            format!("{table}: there is no such table; one of {}", names.join(", "))
        })
    }

    /// Ends a simulation where it is: the summary as JSON. Its tables can still be read.
    ///
    /// # Errors
    /// If there is no such simulation.
    pub fn finish(&mut self, number: usize) -> Result<String, String> {
        let (summary, recorder) = match self.all.get_mut(number).and_then(Option::take) {
            Some(Stage::Running(simulation)) => {
                let (summary, recorder) = simulation.finish();
                (summary.to_json().map_err(words)?, Box::new(recorder))
            }
            Some(Stage::Finished(recorder, summary)) => (summary, recorder),
            None => return Err(format!("there is no simulation {number}")),
        };
        self.all[number] = Some(Stage::Finished(recorder, summary.clone()));
        Ok(summary)
    }

    /// Forgets a simulation and gives its memory back.
    pub fn forget(&mut self, number: usize) {
        if let Some(place) = self.all.get_mut(number) {
            *place = None;
        }
    }

    fn add(&mut self, stage: Stage) -> usize {
        let free = self.all.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        self.all[number] = Some(stage);
        number
    }

    fn running(&mut self, number: usize) -> Result<&mut Simulation, String> {
        match self.all.get_mut(number) {
            Some(Some(Stage::Running(simulation))) => Ok(simulation),
            Some(Some(Stage::Finished(..))) => Err("the simulation is finished".into()),
            _ => Err(format!("there is no simulation {number}")),
        }
    }
}

fn read(toml: &str, used: f64) -> Result<Scenario, String> {
    let scenario = Scenario::from_toml(toml, "scenario").map_err(words)?;
    if let Some(link) = scenario.probes.pcap.first() {
        return Err(format!("probes.pcap: {link}: captures are files, and there are none here"));
    }
    if let Some(flow) = scenario.probes.qlog.first() {
        return Err(format!("probes.qlog: {flow}: logs are files, and there are none here"));
    }
    scenario.too_large(room(used)).map_or(Ok(scenario), Err)
}

fn room(used: f64) -> Room {
    Room { free: Some(MEMORY - used), row: size_of::<QueueRow>() as f64 }
}

/// The names of what rows tell of, and of the columns of all tables.
fn about(names: &Names) -> Json {
    let tables = table_schemas().into_iter().map(|schema| {
        let columns: Vec<&str> = schema.columns.iter().map(|column| column.0).collect();
        (schema.name.to_string(), json!(columns))
    });
    json!({
        "names": {
            "link": names.links,
            "group": names.groups,
            "flow": names.flows,
            "outcome": Outcome::NAMES,
        },
        "tables": Json::Object(tables.collect()),
    })
}
