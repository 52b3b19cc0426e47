//! `sojourn-router guest`: all that runs in the virtual machine of the kernel engine. It talks as
//! `sojourn-router run` does; before the summary come the tables, each as a line
//! `{"file": NAME, "bytes": COUNT}` and so many bytes. A byte at the port ends the run early.

use super::{machine, plan, run, talk};
use crate::engine::Failure;
use clap::Args;
use serde_json::json;
use sojourn_scenario::Scenario;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Runs a scenario by this kernel alone, as the only program of a virtual machine.
#[derive(Args, Debug)]
pub struct Arguments {
    /// The scenario, as JSON.
    #[arg(long, default_value = "/run/scenario.json")]
    pub scenario: PathBuf,
    /// What is to be put on the devices, as JSON.
    #[arg(long, default_value = "/run/plan.json")]
    pub plan: PathBuf,
    /// The serial port to the host.
    #[arg(long, default_value = "/dev/ttyS1")]
    pub port: String,
}

/// Where tables are written until the end.
const TABLES: &str = "/tables";

/// Does it, says what came of it, and switches the machine off.
pub fn main(arguments: &Arguments) -> ExitCode {
    if std::process::id() != 1 {
        eprintln!("sojourn-router guest is for the virtual machine of sojourn run --engine kernel");
        return ExitCode::from(2);
    }
    let outcome = machine::prepare(&arguments.port).map_err(Failure::Other);
    talk::stop_with_a_byte();
    let outcome = outcome.and_then(|()| scenario(arguments)).and_then(|summary| {
        tables(Path::new(TABLES)).map_err(|error| Failure::Other(error.to_string()))?;
        serde_json::to_value(&summary).map_err(|error| Failure::Other(error.to_string()))
    });
    match outcome {
        Ok(summary) => talk::say(&json!({ "summary": summary })),
        Err(failure) => {
            let (kind, text) = match failure {
                Failure::Scenario(text) => ("scenario", text),
                Failure::Other(text) => ("other", text),
            };
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            eprintln!("{text}");
            talk::say(&json!({ "error": text, "kind": kind }));
        }
    }
    machine::power_off();
    ExitCode::SUCCESS
}

fn scenario(arguments: &Arguments) -> Result<sojourn_records::Summary, Failure> {
    let plan = plan::read(&arguments.plan).map_err(Failure::Other)?;
    let wrong = |error: sojourn_scenario::Error| Failure::Scenario(error.to_string());
    let scenario = Scenario::from_file(&arguments.scenario).map_err(wrong)?;
    let beside = arguments.scenario.parent().unwrap_or("".as_ref());
    let network = scenario.network(beside).map_err(wrong)?;
    std::fs::create_dir_all(TABLES).map_err(|error| Failure::Other(error.to_string()))?;
    run(network, &plan, Some(Path::new(TABLES)))
}

/// Sends all tables.
fn tables(directory: &Path) -> std::io::Result<()> {
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        names.push(entry?.path());
    }
    names.sort();
    for path in names {
        let bytes = std::fs::read(&path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        talk::say(&json!({ "file": name, "bytes": bytes.len() }));
        let mut out = std::io::stdout().lock();
        out.write_all(&bytes)?;
        out.flush()?;
    }
    Ok(())
}
