//! Queue disciplines written in Python.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use sojourn_base::{Stream, Time};
use sojourn_qdisc::external::{Decider, Decision, Maker, Params, View, install};
use sojourn_qdisc::{Env, Invalid, Standing};

use super::calls::{describe, fail, has_failed, maker, own_method};

/// Lets queues have disciplines written in Python.
pub(crate) fn install_maker() {
    install(Box::new(make) as Box<Maker>);
}

/// A packet as a class sees it; one object, filled anew for every call.
#[pyclass(module = "sojourn._engine", name = "Packet")]
#[derive(Default)]
pub(crate) struct PacketView {
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
pub(crate) struct QueueView {
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
    let wrong = |message: String| Invalid::new("class", format!("\"{}\"", params.class), message);
    Python::attach(|py| {
        let Some(make) = maker(py) else {
            return Err(wrong("classes written in Python run by sojourn.run only".into()));
        };
        let with = serde_json::to_string(&params.with).map_err(|e| wrong(e.to_string()))?;
        let made = || -> PyResult<Object> {
            let coin = Py::new(py, Coin(coin))?;
            let arguments = ("qdisc", &params.class, with, env.rate.0, env.mean_packet, coin);
            let object = make.bind(py).call1(arguments)?;
            Ok(Object {
                enqueue: own_method(&object, "enqueue")?,
                dequeue: own_method(&object, "dequeue")?,
                update: own_method(&object, "update")?,
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
        if has_failed() {
            return Decision::Pass;
        }
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
                // True is a number to Python, and no decision.
                let number = answer.extract::<i64>(py);
                match number.ok().filter(|_| !answer.bind(py).is_instance_of::<PyBool>()) {
                    Some(0) => Ok(Decision::Pass),
                    Some(1) => Ok(Decision::Mark),
                    Some(2) => Ok(Decision::Drop),
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
                fail(py, error);
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
        let Some(update) = self.update.as_ref().filter(|_| !has_failed()) else { return };
        Python::attach(|py| {
            self.show_queue(py, queue);
            if let Err(error) = update.call1(py, (now.0, &self.queue)) {
                fail(py, error);
            }
        });
    }

    fn period(&self) -> Option<Time> {
        self.period
    }

    fn probability(&self) -> f64 {
        Python::attach(|py| {
            let object = self.object.bind(py);
            let found = object.getattr("probability").and_then(|value| {
                let number = value.extract::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
                number.map_or_else(|| Err(no_probability(object, &value)), Ok)
            });
            found.unwrap_or_else(|error| {
                fail(py, error);
                0.0
            })
        })
    }
}

fn no_probability(object: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyErr {
    let class = object.get_type().qualname().map_or_else(|_| "class".into(), |n| n.to_string());
    let text = value.repr().map_or_else(|_| "?".into(), |text| text.to_string());
    let message = format!("{class}.probability is {text}; it must be a number from 0 to 1");
    pyo3::exceptions::PyValueError::new_err(message)
}
