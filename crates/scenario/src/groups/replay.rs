//! Groups that come from a file of transfers.

use super::{NetworkGroup, Resolver, Transfers};
use crate::error::{Fault, steps};
use crate::traffic::Direction;
use sojourn_traffic::Trace;

impl Resolver<'_> {
    /// One group for each pair of nodes that the file names.
    pub(super) fn replay(&self, name: &str, file: &str) -> Result<Vec<NetworkGroup>, Fault> {
        let wrong = |why: String| Fault::new(steps!["file"], format!("\"{file}\": {why}"));
        for (field, given) in [
            ("from", self.group.from.is_some()),
            ("to", self.group.to.is_some()),
            ("path", self.group.path.is_some()),
            ("direction", self.group.direction != Direction::Forward),
        ] {
            if given {
                return Err(Fault::new(steps![field], "leave it out: the file says where"));
            }
        }
        if self.base_dir.is_none() {
            return Ok(vec![self.group(name, (Vec::new(), Vec::new()), false, Vec::new())?]);
        }
        let text = self.read(file).map_err(wrong)?;
        let trace = Trace::parse(&text).map_err(|error| wrong(error.to_string()))?;
        let end = self.scenario.duration;
        if !trace.entries.is_empty() && trace.entries.iter().all(|entry| entry.start >= end) {
            return Err(wrong(format!("no transfer in it begins before duration (\"{end}\")")));
        }
        let mut pairs: Vec<((u32, u32), Transfers)> = Vec::new();
        for entry in &trace.entries {
            let pair = (entry.source, entry.destination);
            let at = pairs.iter().position(|(other, _)| *other == pair).unwrap_or_else(|| {
                pairs.push((pair, Vec::new()));
                pairs.len() - 1
            });
            pairs[at].1.push((entry.start, entry.bytes));
        }
        let Some(&(first, _)) = pairs.first() else {
            return Err(wrong("there is no transfer in it".into()));
        };
        let node = |node: u32| {
            let name = &trace.nodes[node as usize];
            self.graph.find(name).map_err(|fault| wrong(fault.message()))
        };
        let mut groups = Vec::new();
        for (pair, transfers) in pairs {
            let (from, to) = (node(pair.0)?, node(pair.1)?);
            let path = |from, to| self.graph.shortest(from, to).map_err(|f| wrong(f.message()));
            let name = match pair {
                pair if pair == first => name.into(),
                pair if pair == (first.1, first.0) => format!("{name}.reverse"),
                _ => format!("{name}.{}-{}", self.graph.nodes[from], self.graph.nodes[to]),
            };
            groups.push(self.group(&name, (path(from, to)?, path(to, from)?), false, transfers)?);
        }
        Ok(groups)
    }
}
