//! `sojourn-router`: a bottleneck for real packets between two private network namespaces.

use clap::Parser;
use sojourn_router::{between, engine::command as run, engine::guest::command as guest};
use std::process::ExitCode;

/// A bottleneck for real packets between two private network namespaces.
#[derive(Parser)]
#[command(version)]
enum Arguments {
    Between(between::Arguments),
    Run(run::Arguments),
    #[command(hide = true)]
    Guest(guest::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse() {
        Arguments::Between(arguments) => between::main(&arguments),
        Arguments::Run(arguments) => run::main(&arguments),
        Arguments::Guest(arguments) => guest::main(&arguments),
    }
}
