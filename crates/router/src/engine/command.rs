//! `sojourn-router run`: a scenario with real TCP, for the program that starts it. Lines of JSON on
//! standard output: `{"now_s": …, "packets": …}` ten times a second, and at the end
//! `{"summary": …}` or `{"error": …, "kind": "scenario" | "other"}`.

use super::{Failure, run, talk};
use clap::Args;
use serde_json::json;
use sojourn_scenario::Scenario;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs a scenario with real TCP, in real time.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The scenario: TOML, or JSON if its name ends in .json.
    #[arg(long)]
    pub scenario: PathBuf,
    /// Another seed.
    #[arg(long)]
    pub seed: Option<u64>,
    /// The directory for the tables that the scenario asks for.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Where files that the scenario names are found; by default beside it.
    #[arg(long)]
    pub base_dir: Option<PathBuf>,
    /// End, with a summary, when standard input ends.
    #[arg(long)]
    pub stop_with_input: bool,
}

/// Does it, and says what came of it.
pub fn main(arguments: &Arguments) -> ExitCode {
    talk::stop_on_signals();
    let outcome = scenario(arguments).and_then(|network| {
        if arguments.stop_with_input {
            // Only now: a process with threads cannot enter a user namespace.
            crate::net::acquire().map_err(|error| Failure::Other(error.to_string()))?;
            talk::stop_with_input();
        }
        run(network, arguments.out.as_deref())
    });
    let outcome = outcome.and_then(|summary| {
        serde_json::to_value(&summary).map_err(|error| Failure::Other(error.to_string()))
    });
    match outcome {
        Ok(summary) => {
            talk::say(&json!({ "summary": summary }));
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let (kind, text) = match failure {
                Failure::Scenario(text) => ("scenario", text),
                Failure::Other(text) => ("other", text),
            };
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            talk::say(&json!({ "error": text, "kind": kind }));
            ExitCode::from(if kind == "scenario" { 2 } else { 1 })
        }
    }
}

fn scenario(arguments: &Arguments) -> Result<sojourn_scenario::Network, Failure> {
    let wrong = |error: sojourn_scenario::Error| Failure::Scenario(error.to_string());
    let mut scenario = Scenario::from_file(&arguments.scenario).map_err(wrong)?;
    if let Some(seed) = arguments.seed {
        scenario.seed = seed;
    }
    let beside = arguments.scenario.parent().unwrap_or("".as_ref());
    scenario.network(arguments.base_dir.as_deref().unwrap_or(beside)).map_err(wrong)
}
