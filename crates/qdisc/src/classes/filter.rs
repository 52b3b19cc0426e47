//! How a packet finds its leaf, and what can be wrong with the leaves as written.

use super::{DEEPEST, Leaf, MOST_CLASSES, in_class};
use crate::{Env, Invalid, Packet, label_hash};
use alloc::vec::Vec;
use alloc::{format, string::String};

/// Which leaf takes which packets.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// By label's hash, in order.
    labels: Vec<(u32, u8)>,
    /// By codepoint; the default leaf where none is named.
    dscp: [u8; 64],
}

impl Filter {
    pub(crate) fn new(leaves: &[Leaf<'_>], default: usize) -> Self {
        let (mut labels, mut dscp) = (Vec::new(), [default as u8; 64]);
        for (at, leaf) in leaves.iter().enumerate() {
            labels.extend(leaf.labels.iter().map(|label| (label_hash(label), at as u8)));
            leaf.dscp.iter().for_each(|name| dscp[usize::from(name.bits())] = at as u8);
        }
        sojourn_base::sort_by_key(&mut labels, |label| *label);
        Self { labels, dscp }
    }

    /// The leaf that a packet belongs to.
    #[inline]
    pub(crate) fn leaf(&self, packet: &impl Packet) -> usize {
        let label = packet.label();
        let found = self.labels.binary_search_by_key(&label, |(hash, _)| *hash);
        let leaf = match found {
            Ok(at) => self.labels[at].1,
            Err(_) => self.dscp[usize::from(packet.dscp() & 63)],
        };
        usize::from(leaf)
    }
}

/// Checks what all disciplines ask of their leaves, and gives the number of the default leaf.
pub(crate) fn check(
    leaves: &[Leaf<'_>],
    default: Option<&str>,
    env: &Env,
) -> Result<usize, Invalid> {
    if leaves.is_empty() {
        let remedy = "there must be a class at least, such as { name = \"all\" }";
        return Err(Invalid::new("classes", "[]", remedy));
    }
    if leaves.len() > MOST_CLASSES {
        let remedy = format!("must be {MOST_CLASSES} classes with queues at most");
        return Err(Invalid::new("classes", leaves.len(), remedy));
    }
    if leaves.iter().any(|leaf| leaf.qdisc.depth() >= DEEPEST) {
        let remedy = format!("disciplines must lie at most {DEEPEST} deep in each other");
        return Err(Invalid::new("classes", "[...]", remedy));
    }
    for (at, leaf) in leaves.iter().enumerate() {
        name(leaf.name, &leaf.field)?;
        let before = &leaves[..at];
        if let Some(other) = before.iter().find(|other| other.name == leaf.name) {
            return Err(twice(leaf.name, &leaf.field, &other.field));
        }
        for (n, label) in leaf.labels.iter().enumerate() {
            let field = format!("{}.labels[{n}]", leaf.field);
            if label.is_empty() {
                let remedy = format!("\"\" is no label; leave it out (class \"{}\")", leaf.name);
                return Err(Invalid::new(field, "\"\"", remedy));
            }
            let hash = label_hash(label);
            let taken = |other: &&Leaf<'_>| other.labels.iter().any(|l| label_hash(l) == hash);
            if let Some(other) = before.iter().find(taken) {
                return Err(claimed(field, &format!("\"{label}\""), leaf, other));
            }
        }
        for (n, dscp) in leaf.dscp.iter().enumerate() {
            if let Some(other) = before.iter().find(|other| other.dscp.contains(dscp)) {
                let field = format!("{}.dscp[{n}]", leaf.field);
                return Err(claimed(field, &format!("\"{dscp}\""), leaf, other));
            }
        }
        let inner = leaf.qdisc.validate(&leaf.env(env));
        inner.map_err(|e| in_class(e, leaf.name, &format!("{}.qdisc", leaf.field)))?;
    }
    let Some(wanted) = default else { return Ok(leaves.len() - 1) };
    leaves.iter().position(|leaf| leaf.name == wanted).ok_or_else(|| {
        let names: Vec<&str> = leaves.iter().map(|leaf| leaf.name).collect();
        let remedy = format!("must be the name of a class with a queue: {}", names.join(", "));
        Invalid::new("default", format!("\"{wanted}\""), remedy)
    })
}

/// Whether a class may be called `name`; it stands at `field`.
pub(crate) fn name(name: &str, field: &str) -> Result<(), Invalid> {
    if name.is_empty() || name.contains(['/', '.', '[', ']']) {
        let remedy = "must be a name without / . [ and ]";
        return Err(Invalid::new(format!("{field}.name"), format!("\"{name}\""), remedy));
    }
    Ok(())
}

/// Two classes have the same name.
pub(crate) fn twice(name: &str, field: &str, other: &str) -> Invalid {
    let remedy = format!("there is another class of that name, {other}");
    Invalid::new(format!("{field}.name"), format!("\"{name}\""), remedy)
}

fn claimed(field: String, value: &str, leaf: &Leaf<'_>, other: &Leaf<'_>) -> Invalid {
    let remedy = format!("class \"{}\" names it already; leave it to one", other.name);
    Invalid::new(field, value, format!("{remedy} (class \"{}\")", leaf.name))
}
