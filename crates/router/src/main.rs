//! `sojourn-router`: a bottleneck for real packets between two private network namespaces.
//!
//! Started under the name `sojourn router`, which is how that command starts it, it is
//! `sojourn-router between`, and says so in its help and its errors.

use clap::{Args, Command, FromArgMatches, Parser};
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

/// The command of `sojourn` that this program carries out.
const COMMAND: &str = "sojourn router";

fn main() -> ExitCode {
    let as_command = std::env::args_os().next().is_some_and(|name| name == COMMAND);
    let arguments = if as_command {
        let mut command = between::Arguments::augment_args(Command::new(COMMAND));
        let matches = command.get_matches_mut();
        let read = between::Arguments::from_arg_matches(&matches);
        Arguments::Between(read.unwrap_or_else(|error| error.format(&mut command).exit()))
    } else {
        Arguments::parse()
    };
    match arguments {
        Arguments::Between(arguments) => {
            // Errors of `sojourn` begin so, whatever the command.
            let name = if as_command { "sojourn" } else { "sojourn-router" };
            between::main(&arguments, name)
        }
        Arguments::Run(arguments) => run::main(&arguments),
        Arguments::Guest(arguments) => guest::main(&arguments),
    }
}
