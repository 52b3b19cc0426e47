//! `sojourn-router`: a bottleneck for real packets between two private network namespaces.
//!
//! Started under the name `sojourn router`, which is how that command starts it, it is
//! `sojourn-router between`, and says so in its help and its errors.

use clap::error::ErrorKind;
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
        let mut command =
            between::Arguments::augment_args(Command::new(COMMAND)).arg_required_else_help(true);
        let read = command.try_get_matches_from_mut(std::env::args_os()).and_then(|matches| {
            between::Arguments::from_arg_matches(&matches).map_err(|e| e.format(&mut command))
        });
        match read {
            Ok(arguments) => Arguments::Between(arguments),
            Err(error) => return refused(&error),
        }
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

/// Shows help that was asked for, or what is wrong with the arguments, in one line.
fn refused(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    eprintln!("sojourn: {}", one_line(&error.to_string()));
    ExitCode::from(2)
}

/// The first paragraph of what clap says, and its first tip, if it has one.
fn one_line(text: &str) -> String {
    let mut paragraphs = text.split("\n\n").map(|each| {
        let lines: Vec<&str> = each.lines().map(str::trim).collect();
        lines.join(" ")
    });
    let first = paragraphs.next().unwrap_or_default();
    let told = first.strip_prefix("error: ").unwrap_or(&first);
    let tips = paragraphs.find_map(|each| each.strip_prefix("tip: ").map(str::to_owned));
    match tips.as_deref().and_then(|tips| tips.split(" tip: ").next()) {
        Some(tip) => format!("{told}; {tip}"),
        None => format!("{told}; '{COMMAND} --help' shows all options"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(arguments: &[&str]) -> String {
        let command = between::Arguments::augment_args(Command::new(COMMAND));
        let words = std::iter::once(&COMMAND).chain(arguments);
        one_line(&command.try_get_matches_from(words).unwrap_err().to_string())
    }

    #[test]
    fn a_wrong_argument_is_told_in_one_line() {
        assert_eq!(
            told(&["--rate"]),
            "a value is required for '--rate <RATE>' but none was supplied; \
             'sojourn router --help' shows all options"
        );
        let misspelt = told(&["--rat", "10mbit"]);
        assert_eq!(
            misspelt,
            "unexpected argument '--rat' found; a similar argument exists: '--rate'"
        );
    }
}
