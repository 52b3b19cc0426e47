//! The margins of very many loops: over a map's points, in threads.

use super::bottleneck::{Bottleneck, polynomials};
use super::margins::phase_margin;
use super::polynomial::Polynomial;
use super::rest::Rest;
use crate::Price;
use crate::queues::Law;

impl Bottleneck {
    /// Phase margins of many loops, in threads: what `columns` name takes the place of this one's.
    ///
    /// # Errors
    /// If something is wrong that has nothing to do with one point.
    pub fn margins(&self, columns: &Columns<'_>) -> Result<Rows, String> {
        if self.sampled {
            let remedy = "margins of many loops count in half a sampling period: set held";
            return Err(format!("sampled = true: {remedy}"));
        }
        let size = columns.size()?;
        let mut first = self.clone();
        columns.put(0, &mut first);
        first.check()?;
        if columns.has("exponent") && !matches!(self.price, Some(Price::Power { .. })) {
            return Err("exponent: there is none but a power's".into());
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let part = size.div_ceil(threads).max(1);
        let rows = |start| {
            let (mut rows, mut own) = (Rows::default(), self.clone());
            for i in start..size.min(start + part) {
                columns.put(i, &mut own);
                rows.push(&own);
            }
            rows
        };
        if part == size {
            // There may be no threads at all, as in WebAssembly.
            return Ok(rows(0));
        }
        let parts: Vec<Rows> = std::thread::scope(|scope| {
            let starts = (0..size).step_by(part);
            let work: Vec<_> = starts.map(|start| scope.spawn(move || rows(start))).collect();
            work.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        Ok(Rows::joined(parts))
    }

    /// Margin and point of one of many loops; none where there is no operating point.
    fn row(&self) -> Row {
        let mut row = Row::default();
        let Ok(answer) = self.answer() else { return row };
        let Rest { window, p, queue, rtt, propagation } = answer.rest;
        let hold = answer.made.law.hold();
        row.values = [f64::NAN, 0.0, window, p, rtt, queue, hold];
        let there = window >= self.window && propagation >= 0.0 && self.sends(&answer.rest);
        if self.queue.is_none() && !(there && p <= 1.0) {
            return row;
        }
        let (opened, state) = self.opened(&answer);
        let system = self.system(&opened, &state, &[p]);
        let (Some((denominator, numerator)), delay) = polynomials(&system, rtt) else { return row };
        if self.queue.is_none() {
            let further = if self.held { 0.5 * hold } else { 0.0 };
            let (phase, crossover) = phase_margin(&numerator, &denominator, delay + further);
            (row.values[0], row.values[1]) = (phase, crossover);
        }
        (row.numerator, row.denominator) = (numerator, denominator);
        row
    }
}

/// Values of parameters, one for each of many loops.
#[derive(Clone, Debug, Default)]
pub struct Columns<'a> {
    columns: Vec<(&'a str, &'a [f64])>,
}

impl<'a> Columns<'a> {
    /// From names and values.
    ///
    /// # Errors
    /// If there is no such parameter.
    pub fn new(columns: Vec<(&'a str, &'a [f64])>) -> Result<Self, String> {
        const NAMES: [&str; 6] = ["flows", "capacity", "rtt", "propagation", "gain", "exponent"];
        match columns.iter().find(|(name, _)| !NAMES.contains(name)) {
            Some((name, _)) => Err(format!("{name}: loops go over {}", NAMES.join(", "))),
            None => Ok(Self { columns }),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|(other, _)| *other == name)
    }

    fn size(&self) -> Result<usize, String> {
        let mut sizes = self.columns.iter().map(|(_, values)| values.len());
        match sizes.next() {
            Some(size) if size > 0 && sizes.all(|other| other == size) => Ok(size),
            _ => Err("columns: there must be some, of one length above 0".into()),
        }
    }

    /// Gives `own` the values of one loop.
    fn put(&self, i: usize, own: &mut Bottleneck) {
        for (name, values) in &self.columns {
            let value = values[i];
            match *name {
                "flows" => own.flows = value,
                "capacity" => own.capacity = value,
                "rtt" => (own.rtt, own.propagation) = (Some(value), None),
                "propagation" => (own.rtt, own.propagation) = (None, Some(value)),
                "gain" => own.gain = value,
                _ => own.price = Some(Price::Power { exponent: value }),
            }
        }
    }
}

/// What is told of each of many loops.
const VALUES: [&str; 7] = ["phase", "crossover", "window", "p", "rtt", "queue", "hold"];

#[derive(Default)]
struct Row {
    values: [f64; VALUES.len()],
    numerator: Polynomial,
    denominator: Polynomial,
}

/// Many loops, an array for each value.
#[derive(Debug, Default)]
pub struct Rows {
    values: [Vec<f64>; VALUES.len()],
    /// One list for each power, from the highest of all on; not a number where there is no loop.
    polynomials: [Vec<Vec<f64>>; 2],
}

/// Coefficients of a higher power than any in `columns`: 0, where there is a loop.
fn higher(columns: &[Vec<f64>], rows: usize) -> Vec<f64> {
    let there = columns.first().map_or_else(|| vec![f64::NAN; rows], Vec::clone);
    there.into_iter().map(|own| if own.is_nan() { own } else { 0.0 }).collect()
}

impl Rows {
    fn push(&mut self, loop_: &Bottleneck) {
        let row = loop_.row();
        let before = self.values[0].len();
        for (column, value) in self.values.iter_mut().zip(row.values) {
            column.push(value);
        }
        if !loop_.coefficients {
            return;
        }
        for (columns, polynomial) in
            self.polynomials.iter_mut().zip([row.numerator, row.denominator])
        {
            while columns.len() < polynomial.len() {
                columns.insert(0, higher(columns, before));
            }
            let leading = columns.len() - polynomial.len();
            for (power, column) in columns.iter_mut().enumerate() {
                let value = match power.checked_sub(leading) {
                    _ if polynomial.is_empty() => f64::NAN,
                    None => 0.0,
                    Some(place) => polynomial[place],
                };
                column.push(value);
            }
        }
    }

    fn joined(parts: Vec<Self>) -> Self {
        let mut all = Self::default();
        let most = |which: usize| {
            parts.iter().map(|part| part.polynomials[which].len()).max().unwrap_or(0)
        };
        all.polynomials = [vec![Vec::new(); most(0)], vec![Vec::new(); most(1)]];
        for part in parts {
            let size = part.values[0].len();
            for (to, from) in all.values.iter_mut().zip(part.values) {
                to.extend(from);
            }
            for (to, from) in all.polynomials.iter_mut().zip(part.polynomials) {
                let leading = to.len() - from.len();
                for column in &mut to[..leading] {
                    column.extend(higher(&from, size));
                }
                for (to, from) in to[leading..].iter_mut().zip(from) {
                    to.extend(from);
                }
            }
        }
        all
    }

    /// Names and arrays.
    pub fn arrays(self) -> impl Iterator<Item = (&'static str, Vec<f64>)> {
        let [numerator, denominator] = self.polynomials.map(|columns| columns.concat());
        VALUES
            .into_iter()
            .zip(self.values)
            .chain([("numerator", numerator), ("denominator", denominator)])
    }
}
