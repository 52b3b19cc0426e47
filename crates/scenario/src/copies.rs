//! Links that stand for many: access lines of a town from one entry.
//!
//! A link with `count` is made that many times, and so are the nodes and the groups that hang on
//! it: a node is there as often as the link at it that is made least often. So what many lines
//! share is written once, and trees of any depth can be.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::{Fault, Step, steps};
use crate::scenario::Scenario;
use crate::topology::NamedLink;
use crate::traffic::Group;

/// Most copies of a link.
const MOST: u32 = 100_000;

/// How often each node is there.
pub(crate) struct Counts<'a>(BTreeMap<&'a str, u32>);

impl<'a> Counts<'a> {
    pub(crate) fn new(links: &'a [NamedLink]) -> Self {
        let mut nodes = BTreeMap::new();
        for link in links {
            for node in [&link.from, &link.to] {
                let least = nodes.entry(node.as_str()).or_insert(link.count);
                *least = link.count.min(*least);
            }
        }
        Self(nodes)
    }

    /// A node that no link names is there once: whoever names it is told.
    fn of(&self, node: &str) -> u32 {
        self.0.get(node).copied().unwrap_or(1)
    }

    /// How often a group is there: as often as the node of its own that is there most often.
    pub(crate) fn group(&self, group: &Group) -> u32 {
        nodes(group).map(|node| self.of(node)).max().unwrap_or(1)
    }

    /// The node that copy `k` of `count` meets: neighbours share one.
    fn node(&self, node: &str, k: u32, count: u32) -> String {
        match self.of(node) {
            1 => node.into(),
            own => numbered(node, (u64::from(k) * u64::from(own) / u64::from(count)) as u32),
        }
    }

    fn check(&self, link: &NamedLink) -> Result<(), Fault> {
        let count = link.count;
        let wrong = |field: &str, why: String| Err(Fault::new(steps![field], why));
        if count > 1 {
            for (field, given) in
                [("wifi", link.link.wifi.is_some()), ("autorate", link.link.autorate.is_some())]
            {
                if given {
                    return wrong(field, "a link with a count cannot have it; leave it out".into());
                }
            }
        }
        let (from, to) = (self.of(&link.from), self.of(&link.to));
        if from.max(to) < count {
            let why = format!(
                "{count}: other links hold both of its ends together; one end must be a node of \
                 links with this count alone"
            );
            return wrong("count", why);
        }
        let apart = [(&link.from, from), (&link.to, to)]
            .into_iter()
            .find(|end| !count.is_multiple_of(end.1));
        match apart {
            Some((node, own)) => {
                let why =
                    format!("{count} must be a multiple of {own}, as often as {node} is there");
                wrong("count", why)
            }
            None => Ok(()),
        }
    }
}

/// The nodes that a group names.
fn nodes(group: &Group) -> impl Iterator<Item = &str> {
    let path = group.path.iter().flatten();
    group.from.iter().chain(&group.to).chain(path).map(String::as_str)
}

/// What copy `k` is called.
fn numbered(name: &str, k: u32) -> String {
    format!("{name}.{k}")
}

/// A scenario in which every link and group is there once, and where each is from.
pub(crate) struct Copies<'a> {
    pub scenario: Cow<'a, Scenario>,
    links: Vec<usize>,
    groups: Vec<usize>,
}

impl<'a> Copies<'a> {
    /// Makes the copies; a scenario without any stays as it is.
    pub(crate) fn new(scenario: &'a Scenario) -> Result<Self, Fault> {
        if scenario.links.iter().all(|link| link.count == 1) {
            let scenario = Cow::Borrowed(scenario);
            return Ok(Self { scenario, links: Vec::new(), groups: Vec::new() });
        }
        for (index, link) in scenario.links.iter().enumerate() {
            if !(1..=MOST).contains(&link.count) {
                let message = format!("{} must be from 1 to {MOST}", link.count);
                return Err(Fault::new(steps!["links", index, "count"], message));
            }
        }
        let counts = Counts::new(&scenario.links);
        let (mut links, mut of_links) = (Vec::new(), Vec::new());
        for (index, link) in scenario.links.iter().enumerate() {
            counts.check(link).map_err(|fault| fault.under(steps!["links", index]))?;
            for k in 0..link.count {
                let many = link.count > 1;
                links.push(NamedLink {
                    name: if many { numbered(&link.name, k) } else { link.name.clone() },
                    from: counts.node(&link.from, k, link.count),
                    to: counts.node(&link.to, k, link.count),
                    count: 1,
                    link: link.link.clone(),
                });
                of_links.push(index);
            }
        }
        let (mut traffic, mut of_groups) = (Vec::new(), Vec::new());
        for (index, (group, name)) in
            scenario.traffic.iter().zip(scenario.group_names()).enumerate()
        {
            let count = counts.group(group);
            for k in 0..count {
                traffic.push(copy(group, &name, k, count, &counts));
                of_groups.push(index);
            }
        }
        let mut expanded = scenario.clone();
        (expanded.links, expanded.traffic) = (links, traffic);
        Ok(Self { scenario: Cow::Owned(expanded), links: of_links, groups: of_groups })
    }

    /// A fault of a copy is one of what it was made of.
    pub(crate) fn located(&self, mut fault: Fault) -> Fault {
        if let [Step::Key(key), Step::Index(at), ..] = &mut fault.path[..] {
            let origins = match key.as_str() {
                "links" => &self.links,
                "traffic" => &self.groups,
                _ => return fault,
            };
            *at = origins.get(*at).copied().unwrap_or(*at);
        }
        fault
    }
}

/// Copy `k` of a group. It keeps the label, for classes, and machines of its own.
fn copy(group: &Group, name: &str, k: u32, count: u32, counts: &Counts<'_>) -> Group {
    let node = |node: &String| counts.node(node, k, count);
    let mut made = Group {
        from: group.from.as_ref().map(node),
        to: group.to.as_ref().map(node),
        path: group.path.as_ref().map(|path| path.iter().map(node).collect()),
        name: Some(name.into()),
        ..group.clone()
    };
    if count > 1 {
        made.name = Some(numbered(name, k));
        made.label = Some(group.label.clone().unwrap_or_else(|| name.into()));
        made.host = group.host.as_ref().map(|host| numbered(host, k));
    }
    made
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use std::path::Path;

    fn tree(sites: u32, homes: u32, more: &str) -> String {
        format!(
            r#"
            duration = "1s"
            [[links]]
            name = "trunk"
            from = "internet"
            to = "town"
            rate = "1gbit"
            [[links]]
            name = "site"
            from = "town"
            to = "mast"
            rate = "100mbit"
            count = {sites}
            [[links]]
            name = "home"
            from = "mast"
            to = "house"
            rate = "10mbit"
            count = {homes}
            {more}
            [[links]]
            name = "up"
            from = "house"
            to = "internet"
            count = {homes}
            [[traffic]]
            kind = "bulk"
            name = "download"
            from = "internet"
            to = "house"
            "#
        )
    }

    fn said(text: &str) -> String {
        Scenario::from_toml(text, "t").unwrap_err().to_string()
    }

    #[test]
    fn tree_of_links_is_made_with_its_nodes_and_groups() {
        let scenario = Scenario::from_toml(&tree(2, 6, ""), "t").unwrap();
        let network = scenario.network(Path::new(".")).unwrap();
        assert_eq!(network.links.len(), 1 + 2 + 6 + 6);
        assert_eq!(network.groups.len(), 6);
        let names = |path: &[usize]| -> Vec<&str> {
            path.iter().map(|&link| network.links[link].name.as_str()).collect()
        };
        let group = |k: usize| &network.groups[k];
        assert_eq!(names(&group(0).forward), ["trunk", "site.0", "home.0"]);
        assert_eq!(names(&group(2).forward), ["trunk", "site.0", "home.2"]);
        assert_eq!(names(&group(3).forward), ["trunk", "site.1", "home.3"]);
        assert_eq!(names(&group(5).backward), ["up.5"]);
        assert_eq!((&group(5).name[..], &group(5).label[..]), ("download.5", "download"));
    }

    #[test]
    fn one_copy_is_the_link_itself() {
        let plain = tree(1, 1, "").replace("count = 1", "");
        let networks = [tree(1, 1, ""), plain].map(|text| {
            let network = Scenario::from_toml(&text, "t").unwrap().network(Path::new(".")).unwrap();
            format!("{network:?}")
        });
        assert_eq!(networks[0], networks[1]);
    }

    #[test]
    fn one_household_of_many_can_be_named() {
        let one = "[[traffic]]\nkind = \"ping\"\nfrom = \"internet\"\nto = \"house.4\"";
        let scenario = Scenario::from_toml(&format!("{}\n{one}", tree(2, 6, "")), "t").unwrap();
        let network = scenario.network(Path::new(".")).unwrap();
        assert_eq!(network.groups.len(), 7);
        assert_eq!(network.groups[6].forward, network.groups[4].forward);
    }

    #[test]
    fn wrong_counts_are_told_at_their_link() {
        assert_eq!(
            said(&tree(4, 6, "")),
            "t:19:21: links[2].count: 6 must be a multiple of 4, as often as mast is there"
        );
        let zero = said(&tree(2, 0, ""));
        assert!(zero.ends_with("links[2].count: 0 must be from 1 to 100000"), "{zero}");
        let wifi = said(&tree(2, 6, "wifi = \"air\""));
        assert!(wifi.contains("links[2].wifi: a link with a count cannot have it"), "{wifi}");
        let beside = "[[links]]\nname = \"beside\"\nfrom = \"internet\"\nto = \"town\"\ncount = 3";
        let beside =
            said(&tree(2, 6, "").replace("[[traffic]]", &format!("{beside}\n[[traffic]]")));
        assert!(
            beside.contains("links[4].count: 3: other links hold both of its ends"),
            "{beside}"
        );
    }

    #[test]
    fn faults_of_copies_are_told_where_they_were_written() {
        let wrong = said(&tree(2, 6, "qdisc = { kind = \"pie\", target = \"0s\" }"));
        assert!(wrong.contains("links[2].qdisc.target"), "{wrong}");
        let late = tree(2, 6, "").replace("kind = \"bulk\"", "kind = \"bulk\"\nstop = \"0s\"");
        assert!(said(&late).contains("traffic[0].stop"), "{}", said(&late));
    }
}
