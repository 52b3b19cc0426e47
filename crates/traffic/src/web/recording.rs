//! A page that was recorded: always the same objects, in the place of those that a model draws.

use super::object::Object;

/// A recorded page; a scenario has the name of its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(from = "String", into = "String"),
    schemars(with = "String")
)]
pub struct Recording {
    /// The file.
    pub file: String,
    /// What is in it, once it has been read: the document first.
    pub objects: Vec<Recorded>,
}

/// An object of a recorded page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Bytes of the request, at least 1.
    pub request: u32,
    /// Bytes of the response, at least 1.
    pub response: u64,
    /// Which object names it: one that stands before it. Means nothing of the document.
    pub named_by: u32,
    /// Which server had it, in the order in which they are asked first.
    pub server: u8,
}

impl From<String> for Recording {
    fn from(file: String) -> Self {
        Self { file, objects: Vec::new() }
    }
}

impl From<Recording> for String {
    fn from(recording: Recording) -> Self {
        recording.file
    }
}

impl Recording {
    /// The objects in breadth-first order, so that those that one names are a range.
    pub(super) fn arranged(&self) -> Vec<Object> {
        let mut children = vec![Vec::new(); self.objects.len()];
        for (at, object) in self.objects.iter().enumerate().skip(1) {
            children[object.named_by as usize].push(at);
        }
        let (mut order, mut arranged) = (vec![0], Vec::new());
        while let Some(&at) = order.get(arranged.len()) {
            let Recorded { request, response, server, .. } = self.objects[at];
            let first = order.len() as u32;
            order.extend(&children[at]);
            let children = first..order.len() as u32;
            arranged.push(Object { request, response, children, server, ..Object::default() });
        }
        arranged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_one_names_are_a_range() {
        let object = |response, named_by| Recorded { request: 1, response, named_by, server: 0 };
        // 0 names 1 and 3, 1 names 4, 3 names 2 … as they came, which is not by level.
        let objects =
            vec![object(10, 0), object(11, 0), object(12, 1), object(13, 0), object(14, 2)];
        let arranged = Recording { objects, ..Recording::default() }.arranged();
        let found: Vec<_> = arranged.iter().map(|o| (o.response, o.children.clone())).collect();
        assert_eq!(found, [(10, 1..3), (11, 3..4), (13, 4..4), (12, 4..5), (14, 5..5)]);
    }
}
