//! What a user writes on the command line, made into a scenario: so every field, unit, default and
//! error is the scenario's own.

use clap::Args;
use serde_json::{Map, Value, json};
use sojourn_base::Time;
use sojourn_scenario::{Network, Scenario};
use std::path::{Path, PathBuf};

/// Puts a bottleneck between two private network namespaces and runs a program in the left one.
///
/// Programs find their own address and the other side's in the environment variables SOJOURN_LEFT
/// (10.0.0.1) and SOJOURN_RIGHT (10.128.0.1). Needs root, or user namespaces.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Rate of the bottleneck, in both directions unless `--set reverse=…` says otherwise.
    #[arg(long)]
    pub rate: String,
    /// Queue discipline: its name, and parameters that differ from their defaults.
    #[arg(long, default_value = "droptail", value_name = "NAME[,KEY=VALUE]…")]
    pub qdisc: String,
    /// Round-trip propagation delay; of a range each connection has its own, by its addresses and
    /// ports.
    #[arg(long, visible_alias = "rtt", default_value = "0ms", value_name = "TIME[..TIME]")]
    pub delay: String,
    /// Any other field of the scenario's [bottleneck], such as loss=0.01.
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// A variable of the kernel in both namespaces, such as net.ipv4.tcp_ecn=1.
    #[arg(long, value_name = "NAME=VALUE")]
    pub sysctl: Vec<String>,
    /// The program of the right side: a command for the shell.
    #[arg(long, value_name = "COMMAND")]
    pub server: Option<String>,
    /// Ends after this time, whether the program has ended or not.
    #[arg(long, value_parser = time)]
    pub duration: Option<Time>,
    /// Statistics begin after this time.
    #[arg(long, value_parser = time, default_value = "0s")]
    pub warmup: Time,
    /// Names the random numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Longest IP packet in bytes.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u32).range(576..=65_535))]
    pub mtu: u32,
    /// Never sleep: more exact, and a whole core.
    #[arg(long)]
    pub spin: bool,
    /// Hand over packets of a connection that leave together as one, as network cards do (GRO):
    /// several times the speed, but fewer acknowledgements.
    #[arg(long)]
    pub merge: bool,
    /// Folder for records of the queue.
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Time between two records of the queue.
    #[arg(long, value_parser = time, default_value = "10ms", requires = "out")]
    pub interval: Time,
    /// Captures what either side sends and receives, into --out.
    #[arg(long, requires = "out")]
    pub pcap: bool,
    /// Lines of JSON on standard output, ten a second and a summary; the programs' output goes to
    /// standard error.
    #[arg(long)]
    pub json: bool,
    /// The program of the left side, with its arguments.
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
}

fn time(text: &str) -> Result<Time, String> {
    text.parse().map_err(|e: sojourn_base::ParseError| e.to_string())
}

/// The longest run there is: until the program ends.
const ENDLESS: &str = "8760h";

impl Arguments {
    /// The network that they describe.
    pub fn network(&self) -> Result<Network, String> {
        let mut link = Map::new();
        link.insert("rate".into(), json!(self.rate));
        link.insert("qdisc".into(), discipline(&self.qdisc).map_err(|e| format!("--qdisc {e}"))?);
        for text in &self.set {
            let (field, value) = pair(text).map_err(|e| format!("--set {e}"))?;
            let value = literal(value).map_err(|e| format!("--set {text}: {e}"))?;
            // What has an option of its own is there whether that was given or not.
            if matches!(field, "rate" | "qdisc") {
                return Err(format!("--set {text}: write --{field} instead"));
            }
            if link.insert(field.into(), value).is_some() {
                return Err(format!("--set {text}: {field} is given twice; leave one of them out"));
            }
        }
        let duration = self.duration.map_or(ENDLESS.into(), |d| d.to_string());
        let document = json!({
            "duration": duration,
            "warmup": self.warmup.to_string(),
            "seed": self.seed,
            "bottleneck": link,
            "traffic": [{ "kind": "bulk", "name": "programs", "rtt": range(&self.delay) }],
            "probes": {
                "queues": self.out.is_some(),
                "interval": self.interval.to_string(),
            },
        });
        let explain = |e: sojourn_scenario::Error| {
            // What has a place of its own here is called by that.
            let text = e.to_string().replace("traffic[0].rtt", "--delay");
            let text = text.replace("bottleneck.rate", "--rate");
            text.replace("bottleneck.qdisc", "--qdisc").replace("bottleneck.", "--set ")
        };
        let scenario = Scenario::from_json(&document.to_string()).map_err(explain)?;
        scenario.network(Path::new(".")).map_err(explain)
    }

    /// The kernel's variables.
    pub fn variables(&self) -> Result<Vec<(String, String)>, String> {
        let each = self.sysctl.iter().map(|text| {
            let (name, value) = pair(text).map_err(|e| format!("--sysctl {e}"))?;
            Ok((name.to_string(), value.to_string()))
        });
        each.collect()
    }
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim(), value.trim())),
        _ => Err(format!("{text}: must be NAME=VALUE")),
    }
}

/// `pi,qref=24`, or what a scenario has: `"pi"`, `{ kind = "pi", qref = 24 }`.
fn discipline(text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with(['{', '"']) {
        return literal(text).map_err(|e| format!("{text}: {e}"));
    }
    let parts = split(text)?;
    let mut table = Map::new();
    table.insert("kind".into(), json!(parts[0].trim()));
    for part in &parts[1..] {
        let (name, value) = pair(part)?;
        table.insert(name.into(), literal(value).map_err(|e| format!("{part}: {e}"))?);
    }
    if table.len() == 1 { Ok(json!(parts[0].trim())) } else { Ok(Value::Object(table)) }
}

/// Splits at commas that are in no braces, brackets or quotes.
fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0i32, false);
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(_) if letter == ',' && depth == 0 && !quoted => parts.push(String::new()),
            Some(part) => part.push(letter),
            None => {}
        }
    }
    if quoted || depth != 0 {
        return Err(format!("{text}: a quote or a bracket is not closed"));
    }
    Ok(parts)
}

/// A value of TOML, or else a bare word such as `10ms`.
fn literal(text: &str) -> Result<Value, String> {
    #[derive(serde::Deserialize)]
    struct Document {
        value: Value,
    }
    match toml::from_str::<Document>(&format!("value = {text}")) {
        Ok(document) => Ok(document.value),
        Err(e) if text.starts_with(['{', '[', '"', '\'']) => Err(e.message().to_string()),
        Err(_) => Ok(json!(text)),
    }
}

/// `10..150ms` is `10ms..150ms`.
fn range(text: &str) -> String {
    if let Some((low, high)) = text.split_once("..")
        && low.parse::<f64>().is_ok()
    {
        let unit = high.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        return format!("{low}{unit}..{high}");
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use sojourn_qdisc::{Config, EcnMarking};

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parse(line: &str) -> Arguments {
        let words = std::iter::once("test").chain(line.split(' ')).chain(["--", "true"]);
        Program::try_parse_from(words).unwrap_or_else(|e| panic!("{e}")).arguments
    }

    #[test]
    fn a_line_is_the_scenario_it_describes() {
        let line = "--rate 100mbit --qdisc pi,qref=24,ecn=true --delay 10..150ms --set loss=0.01";
        let network = parse(line).network().unwrap();
        let link = &network.links[0];
        assert_eq!(link.rate.unwrap().0, 100_000_000);
        let Config::Pi(pi) = &link.qdisc else { panic!("{:?}", link.qdisc) };
        assert_eq!(pi.ecn, EcnMarking::On);
        assert_eq!(link.impairments.as_ref().unwrap().loss, 0.01);
        let delays: Vec<u64> = (0..200).map(|n| network.groups[0].private_delay(1, n)).collect();
        assert!(delays.iter().all(|d| (10_000_000..=150_000_000).contains(d)));
        assert!(delays.iter().any(|&d| d > 120_000_000));
    }

    #[test]
    fn disciplines_are_written_in_three_ways() {
        let same = |text: &str| discipline(text).unwrap();
        assert_eq!(same("codel"), json!("codel"));
        assert_eq!(same("codel,target=5ms"), json!({ "kind": "codel", "target": "5ms" }));
        assert_eq!(same("{ kind = \"red\", ecn = true }"), json!({ "kind": "red", "ecn": true }));
        let nested = same("prio,classes=[{name=\"a\",qdisc=\"pi\"},{name=\"b\"}]");
        assert_eq!(nested["classes"][1]["name"], "b");
    }

    #[test]
    fn invalid_arguments_are_one_line_errors() {
        for (line, part) in [
            ("--rate 0bit", "--rate"),
            ("--rate fast", "--rate"),
            ("--rate 1mbit --qdisc pie,tagret=1ms", "tagret"),
            ("--rate 1mbit --qdisc nothing", "nothing"),
            ("--rate 1mbit --qdisc red,min_th", "min_th"),
            ("--rate 1mbit --delay soon", "--delay"),
            ("--rate 1mbit --set loss=2", "loss"),
            ("--rate 1mbit --set nosuch=2", "nosuch"),
            ("--rate 1mbit --set rate=2mbit", "write --rate instead"),
            ("--rate 1mbit --set loss=0.1 --set loss=0.2", "loss is given twice"),
        ] {
            let error = parse(line).network().unwrap_err();
            assert!(error.contains(part) && !error.contains('\n'), "{line}: {error}");
        }
    }
}
