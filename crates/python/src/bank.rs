//! Banks of PI controllers as gates have them: in table form, and with p exact.

use pyo3::prelude::*;
use sojourn_qdisc::bank::{self, Bank, Decide, Gains, Grid, IndexBank, IndexGains};
use sojourn_qdisc::{Ecn, Invalid};

use crate::errors::{self, ScenarioError};

fn refused(invalid: &Invalid) -> PyErr {
    ScenarioError::new_err(errors::one_line(&invalid.to_string()))
}

/// The probabilities that a class draws with.
#[pyclass(frozen, skip_from_py_object)]
pub(crate) struct Table(bank::Table);

#[pymethods]
impl Table {
    /// By the name of its grid, as `pi_table` has it; an optimal one is for the values `given`.
    #[new]
    fn new(name: &str, entries: usize, least: f64, top: f64, given: Vec<f64>) -> PyResult<Self> {
        let grid = match name {
            "linear" => Grid::Linear,
            "sqrt" => Grid::Sqrt,
            "log" => Grid::Log,
            "geometric" => Grid::Geometric,
            "optimal" => Grid::Optimal,
            other => {
                let remedy = "must be linear, sqrt, log, geometric or optimal";
                return Err(refused(&Invalid::new("table", other, remedy)));
            }
        };
        grid.table(entries, least, top, &given).map(Self).map_err(|invalid| refused(&invalid))
    }
}

/// There is a queue for each controller.
fn counted(queues: &[u16], controllers: usize) -> PyResult<()> {
    if queues.len() == controllers {
        return Ok(());
    }
    let remedy = format!("must be {controllers}, one for each controller");
    Err(refused(&Invalid::new("queues", queues.len(), remedy)))
}

/// What the controllers of a class have in common.
#[pyclass(frozen, skip_from_py_object)]
pub(crate) struct TableGains(IndexGains);

#[pymethods]
impl TableGains {
    /// Gains and setpoint in units of the queue, and the table.
    #[new]
    fn new(a: f64, b: f64, qref: u16, table: &Table) -> PyResult<Self> {
        let made = IndexGains::new(a, b, qref, &table.0);
        made.map(Self).map_err(|invalid| refused(&invalid))
    }

    /// The class's 64 words of 18 bits, as gates hold them.
    fn words(&self) -> Vec<u32> {
        self.0.words().to_vec()
    }
}

/// The controllers, and the decisions about packets.
#[pyclass]
pub(crate) struct TableBank {
    bank: IndexBank,
    decide: Decide,
    controllers: usize,
}

#[pymethods]
impl TableBank {
    /// `each` controllers in every class; `seed` is that of the decisions.
    #[new]
    fn new(classes: Vec<PyRef<'_, TableGains>>, each: usize, seed: u32) -> PyResult<Self> {
        let gains: Vec<IndexGains> = classes.iter().map(|class| class.0.clone()).collect();
        let bank = IndexBank::new(&gains, each).map_err(|invalid| refused(&invalid))?;
        let decide = bank.decide(seed);
        Ok(Self { bank, decide, controllers: gains.len() * each })
    }

    /// One instant: the queue of each controller, class after class.
    fn update(&mut self, queues: Vec<u16>) -> PyResult<()> {
        counted(&queues, self.controllers)?;
        self.bank.update(&queues);
        Ok(())
    }

    /// The place in the table of a controller that there is, in 128ths of a level.
    fn place(&self, class_: usize, at: usize) -> u16 {
        self.bank.place(class_, at)
    }

    /// About a packet: 0 passes, 1 is marked, 2 is dropped.
    fn decide(&mut self, class_: usize, at: usize, ecn: u8) -> u8 {
        let level = self.bank.level(class_, at);
        self.decide.decide(class_, level, Ecn::from_bits(ecn)) as u8
    }
}

/// What the controllers of a class whose p is exact have in common, and their table.
#[pyclass(frozen, skip_from_py_object)]
pub(crate) struct ExactGains(Gains, bank::Table);

#[pymethods]
impl ExactGains {
    /// Gains and setpoint in units of the queue, and the table.
    #[new]
    fn new(a: f64, b: f64, qref: u16, table: &Table) -> PyResult<Self> {
        let gains = Gains::new(a, b, qref).map_err(|invalid| refused(&invalid))?;
        Ok(Self(gains, table.0.clone()))
    }

    /// The class as gates are given it: 9 numbers of its gains, 15 thresholds, 16 entries.
    fn numbers(&self) -> Vec<u64> {
        self.0.numbers(&self.1).to_vec()
    }
}

/// Controllers whose p is exact, and the decisions about packets.
#[pyclass]
pub(crate) struct ExactBank {
    bank: Bank,
    decide: Decide,
}

#[pymethods]
impl ExactBank {
    /// `each` controllers in every class; `seed` is that of the decisions.
    #[new]
    fn new(classes: Vec<PyRef<'_, ExactGains>>, each: usize, seed: u32) -> PyResult<Self> {
        let all: Vec<(Gains, bank::Table)> =
            classes.iter().map(|class| (class.0, class.1.clone())).collect();
        let bank = Bank::new(&all, each).map_err(|invalid| refused(&invalid))?;
        Ok(Self { bank, decide: Decide::new(all.iter().map(|(_, table)| table), seed) })
    }

    /// One instant: the queue of each controller, class after class.
    fn update(&mut self, queues: Vec<u16>) -> PyResult<()> {
        counted(&queues, self.bank.len())?;
        self.bank.update(&queues);
        Ok(())
    }

    /// p of a controller that there is, in units of 2^-29.
    fn p(&self, class_: usize, at: usize) -> u32 {
        (self.bank.exact(class_, at) * f64::from(1u32 << 29)) as u32
    }

    /// The entry in force there.
    fn level(&self, class_: usize, at: usize) -> u8 {
        self.bank.level(class_, at)
    }

    /// About a packet: 0 passes, 1 is marked, 2 is dropped.
    fn decide(&mut self, class_: usize, at: usize, ecn: u8) -> u8 {
        let level = self.bank.level(class_, at);
        self.decide.decide(class_, level, Ecn::from_bits(ecn)) as u8
    }
}
