//! The links that a group's packets take.

use super::Resolver;
use crate::error::{Fault, steps};

impl Resolver<'_> {
    /// The links from `from` to `to` and back.
    pub(super) fn paths(&self) -> Result<(Vec<usize>, Vec<usize>), Fault> {
        let path = self.group.path.as_deref();
        let on_path = |name: Option<&String>| name.and_then(|name| self.graph.find(name).ok());
        // The nodes of a dumbbell and of a parking lot are numbered from one end to the other.
        let built = self.scenario.links.is_empty();
        let first = on_path(path.and_then(<[_]>::first)).or(built.then_some(0));
        let last = on_path(path.and_then(<[_]>::last));
        let last = last.or(built.then(|| self.graph.nodes.len() - 1));
        let from = self.end("from", self.group.from.as_deref(), first)?;
        let to = self.end("to", self.group.to.as_deref(), last)?;
        if from == to {
            let message = format!("\"{}\" is also where the data come from", self.graph.nodes[to]);
            return Err(Fault::new(steps!["to"], message));
        }
        let Some(path) = path else {
            let shortest = |from, to| self.graph.shortest(from, to).map_err(|f| f.within("to"));
            return Ok((shortest(from, to)?, shortest(to, from)?));
        };
        let mut nodes = Vec::new();
        for (index, name) in path.iter().enumerate() {
            let node = self.graph.find(name);
            let node = node.map_err(|fault| fault.within(index).within("path"))?;
            if nodes.contains(&node) {
                let message = format!("\"{name}\" is on the path already");
                return Err(Fault::new(steps!["path", index], message));
            }
            nodes.push(node);
        }
        if nodes.first() != Some(&from) || nodes.last() != Some(&to) {
            let (from, to) = (&self.graph.nodes[from], &self.graph.nodes[to]);
            let message = format!("the path must begin with \"{from}\" and end with \"{to}\"");
            return Err(Fault::new(steps!["path"], message));
        }
        let along = |nodes: &[usize]| self.graph.along(nodes).map_err(|f| f.within("path"));
        let forward = along(&nodes)?;
        nodes.reverse();
        Ok((forward, along(&nodes)?))
    }

    fn end(
        &self,
        field: &str,
        given: Option<&str>,
        default: Option<usize>,
    ) -> Result<usize, Fault> {
        match (given, default) {
            (Some(name), _) => self.graph.find(name).map_err(|fault| fault.within(field)),
            (None, Some(node)) => Ok(node),
            (None, None) => {
                let nodes = self.graph.nodes.join(", ");
                let message = format!("this field is missing; name one of the nodes: {nodes}");
                Err(Fault::new(steps![field], message))
            }
        }
    }
}
