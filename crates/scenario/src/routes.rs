//! The graph that a scenario's links make, and the shortest paths through it.

use std::collections::{BTreeMap, BTreeSet};

use sojourn_base::Rate;

use crate::error::{Fault, Step, steps};
use crate::limits::MAX_RATE;
use crate::nearest::suggestion;
use crate::scenario::Scenario;
use crate::topology::Link;

/// A link with its place in the document, for errors.
pub(crate) struct Placed {
    pub name: String,
    pub from: usize,
    pub to: usize,
    pub link: Link,
    pub place: Vec<Step>,
    /// The part of the link that is under `reverse` there.
    pub back: bool,
}

/// Nodes and directed links.
#[derive(Default)]
pub(crate) struct Graph {
    pub nodes: Vec<String>,
    pub links: Vec<Placed>,
    /// The number of each node.
    numbers: BTreeMap<String, usize>,
    /// The links that leave each node, in order.
    leaving: Vec<Vec<usize>>,
}

impl Graph {
    /// The graph of a scenario: a dumbbell, a parking lot, or what its links make.
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, Fault> {
        let forms = [
            ("bottleneck", scenario.bottleneck.is_some()),
            ("parking_lot", scenario.parking_lot.is_some()),
            ("links", !scenario.links.is_empty()),
        ];
        let given: Vec<&str> = forms.iter().filter(|form| form.1).map(|form| form.0).collect();
        match given[..] {
            [] => {
                let message = "there is no link; write [bottleneck], [parking_lot] or [[links]]";
                return Err(Fault::new(Vec::new(), message));
            }
            [_] => {}
            [first, second, ..] => {
                let message = format!("the links are given by [{first}] already; keep one of both");
                return Err(Fault::new(steps![second], message));
            }
        }
        let mut graph = Self::default();
        if let Some(dumbbell) = &scenario.bottleneck {
            let place = || steps!["bottleneck"];
            let back = dumbbell.link.reversed(dumbbell.reverse.as_ref());
            graph.add("bottleneck", "left", "right", dumbbell.link.clone(), place(), false)?;
            graph.add("reverse", "right", "left", back, place(), true)?;
        }
        if let Some(lot) = &scenario.parking_lot {
            if !(1..=1000).contains(&lot.hops) {
                let message = format!("{} must be from 1 to 1000", lot.hops);
                return Err(Fault::new(steps!["parking_lot", "hops"], message));
            }
            let place = || steps!["parking_lot"];
            let node = |n: u32| format!("n{n}");
            for hop in 1..=lot.hops {
                let (near, far) = (node(hop - 1), node(hop));
                graph.add(&format!("hop{hop}"), &near, &far, lot.link.clone(), place(), false)?;
            }
            for hop in 1..=lot.hops {
                let (near, far) = (node(hop - 1), node(hop));
                let back = lot.link.reversed(lot.reverse.as_ref());
                graph.add(&format!("back{hop}"), &far, &near, back, place(), true)?;
            }
        }
        let mut names = BTreeSet::new();
        for (index, link) in scenario.links.iter().enumerate() {
            let place = steps!["links", index];
            if !names.insert(&link.name) {
                let message = format!("there is another link called \"{}\"", link.name);
                return Err(Fault::new(steps!["name"], message).under(place));
            }
            if link.from == link.to {
                let message = format!("\"{}\" is also where the link comes from", link.to);
                return Err(Fault::new(steps!["to"], message).under(place));
            }
            graph.add(&link.name, &link.from, &link.to, link.link.clone(), place, false)?;
        }
        Ok(graph)
    }

    fn add(
        &mut self,
        name: &str,
        from: &str,
        to: &str,
        link: Link,
        place: Vec<Step>,
        back: bool,
    ) -> Result<(), Fault> {
        if matches!(place[0], Step::Key(ref key) if key != "links") && link.rate.is_none() && !back
        {
            let message = "this field is missing; write it like \"100mbit\"";
            return Err(Fault::new(steps!["rate"], message).under(place));
        }
        let (from, to) = (self.node(from), self.node(to));
        let placed = Placed { name: name.into(), from, to, link, place, back };
        placed.check()?;
        self.leaving[from].push(self.links.len());
        self.links.push(placed);
        Ok(())
    }

    fn node(&mut self, name: &str) -> usize {
        *self.numbers.entry(name.into()).or_insert_with(|| {
            self.nodes.push(name.into());
            self.leaving.push(Vec::new());
            self.nodes.len() - 1
        })
    }

    /// The node of a name.
    pub(crate) fn find(&self, name: &str) -> Result<usize, Fault> {
        self.numbers.get(name).copied().ok_or_else(|| {
            let names: Vec<&str> = self.nodes.iter().map(String::as_str).collect();
            let message = format!("there is no node \"{name}\"; {}", suggestion(name, &names));
            Fault::new(Vec::new(), message)
        })
    }

    /// The link of a name.
    pub(crate) fn find_link(&self, name: &str) -> Result<usize, Fault> {
        self.links.iter().position(|link| link.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.links.iter().map(|link| link.name.as_str()).collect();
            let message = format!("there is no link \"{name}\"; {}", suggestion(name, &names));
            Fault::new(Vec::new(), message)
        })
    }

    /// The links of the path with the fewest; of several, the one whose links were named first.
    pub(crate) fn shortest(&self, from: usize, to: usize) -> Result<Vec<usize>, Fault> {
        let mut came_by: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut frontier = vec![from];
        let mut next = 0;
        while let Some(&node) = frontier.get(next) {
            next += 1;
            for &index in &self.leaving[node] {
                let link = &self.links[index];
                if link.to != from && came_by[link.to].is_none() {
                    came_by[link.to] = Some(index);
                    frontier.push(link.to);
                }
            }
        }
        let mut path = Vec::new();
        let mut node = to;
        while node != from {
            let Some(link) = came_by[node] else {
                let (from, to) = (&self.nodes[from], &self.nodes[to]);
                return Err(Fault::new(
                    Vec::new(),
                    format!(
                        "there is no path from \"{from}\" to \"{to}\"; add links that make one"
                    ),
                ));
            };
            path.push(link);
            node = self.links[link].from;
        }
        path.reverse();
        Ok(path)
    }

    /// The links that join a list of nodes.
    pub(crate) fn along(&self, nodes: &[usize]) -> Result<Vec<usize>, Fault> {
        nodes
            .windows(2)
            .map(|pair| {
                let joins = |link: &Placed| link.from == pair[0] && link.to == pair[1];
                self.links.iter().position(joins).ok_or_else(|| {
                    let (from, to) = (&self.nodes[pair[0]], &self.nodes[pair[1]]);
                    Fault::new(Vec::new(), format!("there is no link from \"{from}\" to \"{to}\""))
                })
            })
            .collect()
    }
}

impl Placed {
    /// Where the fields of this link stand.
    pub(crate) fn fields(&self) -> Vec<Step> {
        let mut path = self.place.clone();
        if self.back {
            path.push("reverse".into());
        }
        path
    }

    /// A field of this link.
    pub(crate) fn field(&self, field: &str) -> Vec<Step> {
        let mut path = self.fields();
        path.push(field.into());
        path
    }

    fn check(&self) -> Result<(), Fault> {
        if self.link.rate == Some(Rate(0)) {
            return Err(Fault::new(self.field("rate"), "\"0bit\" must be above 0"));
        }
        if self.link.rate.is_some_and(|rate| rate > MAX_RATE) {
            let message = format!("must be at most \"{}\"", MAX_RATE);
            return Err(Fault::new(self.field("rate"), message));
        }
        if self.link.rate.is_none() {
            let (link, ideal) = (&self.link, Link::default());
            for (field, given) in [
                ("qdisc", link.qdisc != ideal.qdisc),
                ("frame_overhead", link.frame_overhead != ideal.frame_overhead),
                ("min_frame", link.min_frame != ideal.min_frame),
                ("mean_packet", link.mean_packet != ideal.mean_packet),
                ("schedule", link.schedule.is_some()),
                ("loss", link.loss != 0.0),
                ("loss_burst", link.loss_burst.is_some()),
                ("jitter", link.jitter.is_some()),
                ("reorder", link.reorder),
                ("device", link.device.is_some()),
            ] {
                if given {
                    let message = "an ideal link is nothing but delay; give it a rate too";
                    return Err(Fault::new(self.field(field), message));
                }
            }
        }
        if !(40..=65535).contains(&self.link.mean_packet) {
            let message = format!("{} must be from 40 to 65535", self.link.mean_packet);
            return Err(Fault::new(self.field("mean_packet"), message));
        }
        for (name, bytes) in
            [("frame_overhead", self.link.frame_overhead), ("min_frame", self.link.min_frame)]
        {
            if bytes > 65535 {
                let message = format!("{bytes} must be at most 65535");
                return Err(Fault::new(self.field(name), message));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(links: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::default();
        for (n, (from, to)) in links.iter().enumerate() {
            let place = steps!["links", n];
            graph.add(&format!("l{n}"), from, to, Link::default(), place, false).unwrap();
        }
        graph
    }

    #[test]
    fn shortest_path_breaks_ties_by_order_of_links() {
        let graph =
            graph(&[("a", "b"), ("b", "d"), ("a", "c"), ("c", "d"), ("d", "e"), ("b", "e")]);
        let node = |name| graph.find(name).unwrap();
        assert_eq!(graph.shortest(node("a"), node("d")).unwrap(), [0, 1]);
        assert_eq!(graph.shortest(node("a"), node("e")).unwrap(), [0, 5]);
        assert_eq!(graph.shortest(node("c"), node("e")).unwrap(), [3, 4]);
        assert_eq!(graph.along(&[node("a"), node("c"), node("d")]).unwrap(), [2, 3]);
    }

    #[test]
    fn unconnected_nodes_have_no_path() {
        let graph = graph(&[("a", "b"), ("c", "d")]);
        let error = graph.shortest(0, 3).unwrap_err().message();
        assert!(error.contains("no path from \"a\" to \"d\""), "{error}");
        assert!(graph.along(&[0, 2]).unwrap_err().message().contains("no link from"));
    }
}
