//! A bank of PI controllers in table form.

use pyo3::prelude::*;
use sojourn_qdisc::bank::{Decide, Grid, IndexBank, IndexGains};
use sojourn_qdisc::{Ecn, Invalid};

use crate::errors::{self, ScenarioError};

fn refused(invalid: &Invalid) -> PyErr {
    ScenarioError::new_err(errors::one_line(&invalid.to_string()))
}

/// What the controllers of a class have in common.
#[pyclass(frozen, skip_from_py_object)]
pub(crate) struct TableGains(IndexGains);

#[pymethods]
impl TableGains {
    /// `table` names a grid as `pi_table` does; an optimal one is for the values `given`.
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        a: f64,
        b: f64,
        qref: u16,
        table: &str,
        entries: usize,
        least: f64,
        top: f64,
        given: Vec<f64>,
    ) -> PyResult<Self> {
        let grid = match table {
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
        let made = || IndexGains::new(a, b, qref, &grid.table(entries, least, top, &given)?);
        made().map(Self).map_err(|invalid| refused(&invalid))
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
        if queues.len() != self.controllers {
            let remedy = format!("must be {}, one for each controller", self.controllers);
            return Err(refused(&Invalid::new("queues", queues.len(), remedy)));
        }
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
