//! What is wrong with a scenario, and where.

use std::fmt;

use sojourn_base::Invalid;

use crate::nearest::suggestion;

/// What is wrong with a scenario. Displays as one line:
/// `web.toml:12:8: bottleneck.qdisc.min_th: 40 must be below max_th (30)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file, as the caller named it; none for JSON and for scenarios built in a program.
    pub file: Option<String>,
    /// Line and column in the file, both from 1; the column counts characters.
    pub position: Option<(usize, usize)>,
    /// The field, such as `traffic[1].rtt`; empty if the whole file is meant.
    pub path: String,
    /// The value, what is wrong with it and what would be right.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
            if let Some((line, column)) = self.position {
                write!(f, "{line}:{column}:")?;
            }
            f.write_str(" ")?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// One step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Step {
    /// The key, if it is one.
    pub(crate) fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Index(_) => None,
        }
    }
}

/// What to say of a field that must be there and is not.
pub(crate) const MISSING: &str = "this field is missing";

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_string())
    }
}
impl From<String> for Step {
    fn from(key: String) -> Self {
        Self::Key(key)
    }
}
impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A list of steps from keys and indices of any kind: `steps!["traffic", 1, "rtt"]`.
macro_rules! steps {
    ($($step:expr),* $(,)?) => { vec![$($crate::error::Step::from($step)),*] };
}
pub(crate) use steps;

/// An error before its position is known: the path is enough to find it in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From the root to the field. A step that the document lacks stands for a missing field.
    pub path: Vec<Step>,
    /// The key itself is wrong, not its value.
    pub on_key: bool,
    pub message: String,
    /// The names that the key could have been, if it is one that nobody knows.
    pub known: Vec<&'static str>,
}

impl Fault {
    pub(crate) fn new(path: Vec<Step>, message: impl Into<String>) -> Self {
        Self { path, on_key: false, message: message.into(), known: Vec::new() }
    }

    /// An unknown key of the table in question.
    pub(crate) fn unknown(key: &str, known: impl IntoIterator<Item = &'static str>) -> Self {
        let known = known.into_iter().filter(|name| !name.starts_with('$')).collect();
        Self { path: steps![key], on_key: true, message: String::new(), known }
    }

    /// What to say.
    pub(crate) fn message(&self) -> String {
        match (self.path.last(), self.message.is_empty()) {
            (Some(Step::Key(key)), true) => {
                format!("unknown field \"{key}\"; {}", suggestion(key, &self.known))
            }
            _ => self.message.clone(),
        }
    }

    /// The same fault seen from one level further out.
    pub(crate) fn within(mut self, step: impl Into<Step>) -> Self {
        self.path.insert(0, step.into());
        self
    }

    /// The same fault seen from several levels further out.
    pub(crate) fn under(mut self, mut outer: Vec<Step>) -> Self {
        outer.append(&mut self.path);
        self.path = outer;
        self
    }
}

impl From<Invalid> for Fault {
    /// `field` may be a path, such as `think.parts[1].value`.
    fn from(Invalid { field, value, remedy }: Invalid) -> Self {
        let mut path = Vec::new();
        for part in field.split('.').filter(|part| !part.is_empty()) {
            let mut pieces = part.split('[');
            path.extend(pieces.next().filter(|key| !key.is_empty()).map(Step::from));
            let indices = pieces.filter_map(|piece| piece.trim_end_matches(']').parse().ok());
            path.extend(indices.map(Step::Index));
        }
        let joint = if remedy.starts_with("must") { "" } else { ":" };
        Self::new(path, format!("{value}{joint} {remedy}"))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// `traffic[1].rtt`
pub(crate) fn show(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_line() {
        let mut error = Error {
            file: Some("web.toml".into()),
            position: Some((12, 8)),
            path: show(&["traffic".into(), 1.into(), "rtt".into()]),
            message: "5ms is too short".into(),
        };
        assert_eq!(error.to_string(), "web.toml:12:8: traffic[1].rtt: 5ms is too short");
        error.position = None;
        assert_eq!(error.to_string(), "web.toml: traffic[1].rtt: 5ms is too short");
        error.file = None;
        assert_eq!(error.to_string(), "traffic[1].rtt: 5ms is too short");
    }
}
