//! The programs at both ends.

use super::Arguments;
use crate::net::address::Side;
use crate::net::{Child, Lab, spawn};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at the programs.
const LOOK: Duration = Duration::from_millis(10);

/// A server has so long to listen before the command starts all the same: it may never listen.
const STARTING: Duration = Duration::from_secs(2);

/// Programs have so long to end after they were asked to.
const ENDING: Duration = Duration::from_secs(2);

/// The command, and the server if there is one.
pub(super) struct Programs {
    command: Child,
    /// Ended when this is dropped.
    _server: Option<Child>,
}

impl Programs {
    /// Starts the server, waits until it listens, and starts the command.
    pub(super) fn start(lab: &Lab, arguments: &Arguments) -> Result<Self, String> {
        let mut server = None;
        if let Some(text) = &arguments.server {
            let mut shell = Command::new("sh");
            // What the shell becomes is ended with us; a shell around it would be in between.
            shell.args(["-c", &format!("exec {text}")]);
            let mut child = start(lab, Side::Right, shell, arguments.json)?;
            let begun = Instant::now();
            while !listens(child.id()) && begun.elapsed() < STARTING {
                if let Some(status) = child.ended().map_err(|e| e.to_string())? {
                    return Err(format!("the server \"{text}\" has ended at once: {status}"));
                }
                thread::sleep(LOOK);
            }
            server = Some(child);
        }
        let mut command = Command::new(&arguments.command[0]);
        command.args(&arguments.command[1..]);
        let command = start(lab, Side::Left, command, arguments.json)?;
        Ok(Self { command, _server: server })
    }

    /// Waits until the command ends or `go_on` says no; then it is asked to end. Gives its exit
    /// code, as a shell does.
    pub(super) fn wait(&mut self, mut go_on: impl FnMut() -> bool) -> Result<u8, String> {
        let mut asked: Option<Instant> = None;
        loop {
            if let Some(status) = self.command.ended().map_err(|e| e.to_string())? {
                return Ok(code(status));
            }
            let on = go_on();
            match asked {
                None if !on => {
                    self.command.ask_to_end();
                    asked = Some(Instant::now());
                }
                // It is killed when it is dropped.
                Some(since) if since.elapsed() > ENDING => return Ok(code_of(libc::SIGKILL)),
                _ => {}
            }
            thread::sleep(LOOK);
        }
    }
}

fn start(lab: &Lab, side: Side, mut command: Command, json: bool) -> Result<Child, String> {
    command.envs(environment());
    if json {
        command.stdin(Stdio::null());
        // Standard output is for our lines.
        command.stdout(std::io::stderr());
    }
    spawn(lab.side(side), command).map_err(|e| e.to_string())
}

/// The address of a side, as programs find it in their environment.
fn environment() -> [(&'static str, String); 2] {
    [
        ("SOJOURN_LEFT", Side::Left.device().to_string()),
        ("SOJOURN_RIGHT", Side::Right.device().to_string()),
    ]
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.unwrap_or_else(|| code_of(status.signal().unwrap_or(0)))
}

fn code_of(signal: i32) -> u8 {
    (128 + signal) as u8
}

/// Whether any socket listens, or waits for datagrams, in the namespace of a process.
fn listens(process: u32) -> bool {
    ["tcp", "tcp6", "udp", "udp6"].iter().any(|table| {
        let text = std::fs::read_to_string(format!("/proc/{process}/net/{table}"));
        text.is_ok_and(|text| waiting(&text))
    })
}

/// Whether a table of sockets has one that waits for anyone: of TCP in the state LISTEN (0A), of
/// UDP bound and not connected (07).
fn waiting(table: &str) -> bool {
    let state = |line: &str| line.split_whitespace().nth(3).map(str::to_string);
    table.lines().skip(1).filter_map(state).any(|state| state == "0A" || state == "07")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listening_sockets_are_seen() {
        let head = "  sl  local_address rem_address   st tx_queue rx_queue\n";
        let open = format!("{head}   0: 0100800A:1451 00000000:0000 0A 00000000:00000000 00:0\n");
        let busy = format!("{head}   0: 0100800A:1451 0100000A:9C40 01 00000000:00000000 00:0\n");
        assert!(waiting(&open));
        assert!(!waiting(&busy) && !waiting(head) && !waiting(""));
    }

    #[test]
    fn exit_codes_are_those_of_a_shell() {
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(code(ExitStatus::from_raw(15)), 143);
    }
}
