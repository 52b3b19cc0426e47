//! Queue disciplines written in Python: the engine's calls become calls of a class's methods.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use sojourn_base::{Stream, Time};
use sojourn_qdisc::external::{Decider, Decision, Maker, Params, View, install};
use sojourn_qdisc::{Env, Invalid, Standing};

use crate::errors::one_line;

/// What a run needs to make objects of classes, and to end when one of them fails.
pub struct Outside {
    /// Called with the class's name, its parameters as JSON, the link's rate, its mean packet and
    /// a coin; gives an object.
    pub make: Py<PyAny>,
    /// Asks the run to end.
    pub stop: Arc<dyn Fn() + Send + Sync>,
}

thread_local! {
    static OUTSIDE: RefCell<Option<Outside>> = const { RefCell::new(None) };
    /// What went wrong first in a class of this thread's run.
    static FAILURE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does `work`, a run that may use classes written in Python. What goes wrong in one of them
/// becomes the run's error.
///
/// Python's lock is taken once for the whole run: the interpreter lets other threads have it while
/// it runs a class's methods, and to take it anew for every packet costs ten times the methods.
pub fn within<T, E>(
    outside: Outside,
    work: impl FnOnce() -> Result<T, E>,
    error: impl FnOnce(String) -> E,
) -> Result<T, E> {
    install(Box::new(make) as Box<Maker>);
    OUTSIDE.with(|cell| cell.replace(Some(outside)));
    FAILURE.with(RefCell::take);
    let outcome = Python::attach(|_| work());
    OUTSIDE.with(RefCell::take);
    let failure = FAILURE.with(RefCell::take);
    outcome.and_then(|value| failure.map_or(Ok(value), |message| Err(error(message))))
}

/// Remembers the first failure and asks the run to end.
fn fail(py: Python<'_>, error: &PyErr) {
    FAILURE.with(|cell| {
        cell.borrow_mut().get_or_insert_with(|| describe(py, error));
    });
    OUTSIDE.with(|cell| {
        if let Some(outside) = &*cell.borrow() {
            (outside.stop)();
        }
    });
}

/// An exception in one line: where it was raised, and what it says.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let place = || -> PyResult<String> {
        let module = py.import("traceback")?;
        let frames = module.call_method1("extract_tb", (error.traceback(py),))?;
        let last = frames.get_item(frames.len()?.saturating_sub(1))?;
        let file: String = last.getattr("filename")?.extract()?;
        let line: u32 = last.getattr("lineno")?.extract()?;
        Ok(format!("{file}:{line}: "))
    };
    let place =
        if error.traceback(py).is_some() { place().unwrap_or_default() } else { String::new() };
    one_line(&format!("{place}{error}"))
}

/// A packet as a class sees it; one object, filled anew for every call.
#[pyclass(module = "sojourn._engine", name = "Packet")]
#[derive(Default)]
pub struct PacketView {
    /// Length of the IP packet in bytes.
    #[pyo3(get)]
    bytes: u32,
    /// Whether its sender takes part in ECN.
    #[pyo3(get)]
    ecn: u8,
    /// A hash of its flow.
    #[pyo3(get)]
    flow: u32,
    /// How long it has been in the queue, in nanoseconds.
    #[pyo3(get)]
    sojourn: u64,
}

/// A queue as a class sees it; one object, filled anew for every call.
#[pyclass(module = "sojourn._engine", name = "Queue")]
#[derive(Default)]
pub struct QueueView {
    /// Packets standing.
    #[pyo3(get)]
    packets: u32,
    /// Bytes standing.
    #[pyo3(get)]
    bytes: u64,
}

/// A queue's own stream of random numbers.
#[pyclass(module = "sojourn._engine")]
pub struct Coin(Stream);

#[pymethods]
impl Coin {
    /// A number strictly between 0 and 1.
    fn __call__(&mut self) -> f64 {
        self.0.uniform()
    }
}

/// An object of a class, and its methods as far as the class has its own.
struct Object {
    object: Py<PyAny>,
    enqueue: Option<Py<PyAny>>,
    dequeue: Option<Py<PyAny>>,
    update: Option<Py<PyAny>>,
    packet: Py<PacketView>,
    queue: Py<QueueView>,
    period: Option<Time>,
}

fn make(params: &Params, env: &Env, coin: Stream) -> Result<Box<dyn Decider>, Invalid> {
    let wrong = |message: String| Invalid {
        field: "class".into(),
        value: format!("\"{}\"", params.class),
        remedy: message,
    };
    Python::attach(|py| {
        let outside = OUTSIDE.with(|cell| cell.borrow().as_ref().map(|o| o.make.clone_ref(py)));
        let Some(make) = outside else {
            return Err(wrong("classes written in Python run by sojourn.run only".into()));
        };
        let with = serde_json::to_string(&params.with).map_err(|e| wrong(e.to_string()))?;
        let made = || -> PyResult<Object> {
            let coin = Py::new(py, Coin(coin))?;
            let arguments = (&params.class, with, env.rate.0, env.mean_packet, coin);
            let object = make.bind(py).call1(arguments)?;
            let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
                let own = object.get_type().getattr(name)?;
                let inherited = own.hasattr("__sojourn_default__")?;
                Ok(if inherited { None } else { Some(object.getattr(name)?.unbind()) })
            };
            Ok(Object {
                enqueue: method("enqueue")?,
                dequeue: method("dequeue")?,
                update: method("update")?,
                packet: Py::new(py, PacketView::default())?,
                queue: Py::new(py, QueueView::default())?,
                period: object.getattr("period")?.extract::<Option<u64>>()?.map(Time),
                object: object.unbind(),
            })
        };
        let object = made().map_err(|error| wrong(describe(py, &error)))?;
        Ok(Box::new(object) as Box<dyn Decider>)
    })
}

impl Object {
    fn decide(&self, method: &Py<PyAny>, now: Time, packet: View, queue: Standing) -> Decision {
        Python::attach(|py| {
            self.show_queue(py, queue);
            {
                let mut view = self.packet.borrow_mut(py);
                view.bytes = packet.bytes;
                view.ecn = packet.ecn as u8;
                view.flow = packet.flow;
                view.sojourn = packet.sojourn.0;
            }
            let answer = method.call1(py, (now.0, &self.packet, &self.queue));
            let decision = answer.and_then(|answer| {
                if answer.is_none(py) {
                    return Ok(Decision::Pass);
                }
                match answer.extract::<i64>(py) {
                    Ok(0) => Ok(Decision::Pass),
                    Ok(1) => Ok(Decision::Mark),
                    Ok(2) => Ok(Decision::Drop),
                    _ => {
                        let name = self.method_name(py, method);
                        let text =
                            answer.bind(py).repr().unwrap_or_else(|_| PyString::new(py, "?"));
                        let message = format!("{name} gave {text}; give PASS, MARK or DROP");
                        Err(pyo3::exceptions::PyValueError::new_err(message))
                    }
                }
            });
            decision.unwrap_or_else(|error| {
                fail(py, &error);
                Decision::Pass
            })
        })
    }

    fn method_name(&self, py: Python<'_>, method: &Py<PyAny>) -> String {
        method.getattr(py, "__qualname__").map_or_else(|_| "the class".into(), |n| n.to_string())
    }

    fn show_queue(&self, py: Python<'_>, queue: Standing) {
        let mut view = self.queue.borrow_mut(py);
        view.packets = queue.packets;
        view.bytes = queue.bytes;
    }
}

impl Decider for Object {
    fn enqueue(&mut self, now: Time, packet: View, queue: Standing) -> Decision {
        match &self.enqueue {
            Some(method) => self.decide(method, now, packet, queue),
            None => Decision::Pass,
        }
    }

    fn dequeue(&mut self, now: Time, packet: View, queue: Standing) -> Decision {
        match &self.dequeue {
            Some(method) => self.decide(method, now, packet, queue),
            None => Decision::Pass,
        }
    }

    fn update(&mut self, now: Time, queue: Standing) {
        let Some(update) = &self.update else { return };
        Python::attach(|py| {
            self.show_queue(py, queue);
            if let Err(error) = update.call1(py, (now.0, &self.queue)) {
                fail(py, &error);
            }
        });
    }

    fn period(&self) -> Option<Time> {
        self.period
    }

    fn probability(&self) -> f64 {
        Python::attach(|py| {
            let value = self.object.bind(py).getattr("probability");
            value.and_then(|value| value.extract()).unwrap_or_else(|error: PyErr| {
                fail(py, &error);
                0.0
            })
        })
    }
}
