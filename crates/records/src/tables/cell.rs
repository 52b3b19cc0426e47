//! What may stand in a row, and how it becomes a value of a column.

use sojourn_base::Time;

/// A link, as its place in [`Names::links`]; the file holds the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId(pub u32);

/// A traffic group, as its place in [`Names::groups`]; the file holds the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupId(pub u32);

/// A traced flow, as its place in [`Names::flows`]; the file holds the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId(pub u32);

/// How an exchange or a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The last byte arrived; in files `finished`.
    Finished,
    /// The run ended first; in files `censored`.
    Censored,
    /// The connection gave up; in files `failed`.
    Failed,
}

/// The names that identifiers in rows stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of links, by [`LinkId`].
    pub links: Vec<String>,
    /// Names of traffic groups, by [`GroupId`].
    pub groups: Vec<String>,
    /// Names of traced flows (`elephants.0`), by [`FlowId`].
    pub flows: Vec<String>,
}

impl Outcome {
    /// All, as they are called in files, in the order of their numbers.
    pub const NAMES: [&'static str; 3] = ["finished", "censored", "failed"];
}

/// A text of a column, as its place among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Among [`Names::links`].
    Link(u32),
    /// Among [`Names::groups`].
    Group(u32),
    /// Among [`Names::flows`].
    Flow(u32),
    /// Among [`Outcome::NAMES`].
    Outcome(u32),
}

/// How a column is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// 64-bit floating point.
    Float,
    /// 64-bit signed integer.
    Integer,
    /// UTF-8 text, dictionary-encoded.
    Text,
}

/// A column of the table that `R` is a row of.
pub struct Column<R> {
    /// Its name, with the unit where there is one.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Its unit; none of text, and of numbers that are neither measured nor counted.
    pub unit: Option<&'static str>,
    /// How it is stored.
    pub kind: ColumnKind,
    /// Whether a value may be missing (null).
    pub optional: bool,
    /// Appends this column's values of `rows`.
    pub(super) fill: fn(rows: &[R], out: &mut ColumnBuffer),
}

/// Values of one column on their way out. Only the vector of the column's kind is used.
#[derive(Default)]
pub struct ColumnBuffer {
    pub(super) floats: Vec<f64>,
    pub(super) integers: Vec<i64>,
    pub(super) texts: Vec<Text>,
    /// For optional columns, 1 for each value and 0 for each null.
    pub(super) present: Vec<i16>,
}

impl ColumnBuffer {
    pub(super) fn clear(&mut self) {
        self.floats.clear();
        self.integers.clear();
        self.texts.clear();
        self.present.clear();
    }

    /// The values as numbers: texts as their places, and what is missing as NaN.
    pub(super) fn numbers(&self, rows: usize) -> Vec<f64> {
        let place = |text: &Text| match *text {
            Text::Link(at) | Text::Group(at) | Text::Flow(at) | Text::Outcome(at) => f64::from(at),
        };
        // Of the three only one holds anything.
        let floats = self.floats.iter().copied();
        let integers = self.integers.iter().map(|number| *number as f64);
        let mut values = floats.chain(integers).chain(self.texts.iter().map(place));
        let value = |row| match self.present.get(row) {
            Some(0) => f64::NAN,
            _ => values.next().unwrap_or(f64::NAN),
        };
        (0..rows).map(value).collect()
    }
}

/// A type that a field of a row may have.
pub trait Cell: Copy {
    /// How its column is stored.
    const KIND: ColumnKind;
    /// Whether it may be missing.
    const OPTIONAL: bool = false;
    /// Appends the value to its column.
    fn put(self, out: &mut ColumnBuffer);
}

/// Stored as seconds.
impl Cell for Time {
    const KIND: ColumnKind = ColumnKind::Float;
    fn put(self, out: &mut ColumnBuffer) {
        // A division: 0.1 s becomes the number that is also written 0.1.
        out.floats.push(self.0 as f64 / 1e9);
    }
}

impl Cell for f64 {
    const KIND: ColumnKind = ColumnKind::Float;
    fn put(self, out: &mut ColumnBuffer) {
        out.floats.push(self);
    }
}

/// Stored as a signed integer, which is easier to subtract; saturates at 2⁶³ − 1.
impl Cell for u64 {
    const KIND: ColumnKind = ColumnKind::Integer;
    fn put(self, out: &mut ColumnBuffer) {
        out.integers.push(i64::try_from(self).unwrap_or(i64::MAX));
    }
}

impl Cell for u32 {
    const KIND: ColumnKind = ColumnKind::Integer;
    fn put(self, out: &mut ColumnBuffer) {
        out.integers.push(i64::from(self));
    }
}

impl<C: Cell> Cell for Option<C> {
    const KIND: ColumnKind = C::KIND;
    const OPTIONAL: bool = true;
    fn put(self, out: &mut ColumnBuffer) {
        out.present.push(i16::from(self.is_some()));
        if let Some(value) = self {
            value.put(out);
        }
    }
}

macro_rules! named {
    ($($type:ty, $text:ident, $index:expr;)*) => {$(
        impl Cell for $type {
            const KIND: ColumnKind = ColumnKind::Text;
            fn put(self, out: &mut ColumnBuffer) {
                let index: fn(Self) -> u32 = $index;
                out.texts.push(Text::$text(index(self)));
            }
        }
    )*};
}
named! {
    LinkId, Link, |id| id.0;
    GroupId, Group, |id| id.0;
    FlowId, Flow, |id| id.0;
    Outcome, Outcome, |outcome| outcome as u32;
}
