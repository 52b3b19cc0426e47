//! Which objects of a page come first over a connection that they share.

use super::object::Object;

/// How a server orders the responses of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
pub enum Priorities {
    /// All are alike and take turns: a frame of each.
    #[default]
    #[cfg_attr(feature = "schema", serde(rename = "none"))]
    None,
    /// By the priorities of RFC 9218 that a browser sends: the document and objects that name
    /// others one after another (u=3), before all others, which take turns (u=5, i).
    #[cfg_attr(feature = "schema", serde(rename = "rfc9218"))]
    Rfc9218,
}

/// What a request says of its priority (RFC 9218 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    /// 0 to 7; less comes first.
    pub urgency: u8,
    /// Whether a part is of use, so that it takes turns with others. Among those of the same
    /// urgency they come behind the others.
    pub incremental: bool,
}

impl Default for Priority {
    /// All alike, which take turns.
    fn default() -> Self {
        Self { urgency: 3, incremental: true }
    }
}

impl Priorities {
    /// That of an object; the document is the first.
    pub(super) fn of(self, index: u32, object: &Object) -> Priority {
        match self {
            Self::None => Priority::default(),
            // Which urgencies a browser takes is its own affair: here the default of section 4.1
            // for what others wait for, and a later one for what nobody does.
            Self::Rfc9218 if index == 0 || !object.children.is_empty() => {
                Priority { urgency: 3, incremental: false }
            }
            Self::Rfc9218 => Priority { urgency: 5, incremental: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wait_for_comes_before_what_nobody_waits_for() {
        let leaf = Object::default();
        let script = Object { children: 3..5, ..Object::default() };
        let of = |index, object| Priorities::Rfc9218.of(index, object);
        assert_eq!(of(0, &leaf), of(1, &script));
        assert!(of(1, &script) < of(2, &leaf) && of(2, &leaf).incremental);
        assert_eq!(Priorities::None.of(0, &leaf), Priorities::None.of(1, &script));
    }
}
