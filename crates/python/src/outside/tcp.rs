//! Congestion controls written in Python.

use pyo3::prelude::*;
use sojourn_tcp::congestion::external::{Decider, Maker, Settings, install};
use sojourn_tcp::congestion::{Acked, Congested, Sample, Window};

use super::calls::{fail, has_failed, maker, own_method};

/// Lets connections have congestion controls written in Python.
pub(crate) fn install_maker() {
    install(Box::new(make) as Box<Maker>);
}

/// The window as a class sees and sets it, in bytes; one object, filled anew for every call.
#[pyclass(module = "sojourn._engine", name = "Window")]
#[derive(Default)]
pub(crate) struct WindowView {
    /// Congestion window.
    #[pyo3(get, set)]
    cwnd: i64,
    /// Below this the window grows by slow start.
    #[pyo3(get)]
    ssthresh: i64,
    /// Bytes per second at which a sender that paces is to send; 0 leaves it to the sender.
    #[pyo3(get, set)]
    pace: i64,
    /// Whether the class has set the threshold in this call.
    is_set: bool,
}

#[pymethods]
impl WindowView {
    #[setter]
    fn set_ssthresh(&mut self, bytes: i64) {
        (self.ssthresh, self.is_set) = (bytes, true);
    }
}

/// An acknowledgement, a loss, a mark, a timeout, a restart or a sample; one object, filled anew
/// for every call. What does not belong to the occasion is zero.
#[pyclass(module = "sojourn._engine", name = "Occasion")]
#[derive(Default)]
pub(crate) struct Occasion {
    /// The present, in nanoseconds.
    #[pyo3(get)]
    now: u64,
    /// The smoothed round trip in nanoseconds; 0 before the first measurement.
    #[pyo3(get)]
    srtt: u64,
    /// Payload bytes of a full segment.
    #[pyo3(get)]
    mss: u32,
    /// Bytes acknowledged for the first time, or in a sample: delivered.
    #[pyo3(get)]
    acked: u32,
    /// What a reduction starts from: bytes outstanding, or over QUIC the window. In a sample: bytes
    /// taken to be in the network.
    #[pyo3(get)]
    flight: u32,
    /// Whether what was lost before a timeout is still being sent again.
    #[pyo3(get)]
    after_timeout: bool,
    /// At a timeout: whether it is the first of the same data.
    #[pyo3(get)]
    first: bool,
    /// In a sample: the round trip that it measures, in nanoseconds; 0 for none.
    #[pyo3(get)]
    rtt: u64,
    /// In a sample: bytes newly taken for lost.
    #[pyo3(get)]
    lost: u32,
    /// In a sample: bytes newly reported as marked.
    #[pyo3(get)]
    marked: u32,
    /// In a sample: bytes delivered since the connection began.
    #[pyo3(get)]
    delivered: u64,
    /// In a sample: whether a round trip begins.
    #[pyo3(get)]
    round: bool,
    /// In a sample: whether a loss is being recovered from.
    #[pyo3(get)]
    recovering: bool,
    /// In a sample: the delivery rate in bytes per second; 0 if it cannot be told.
    #[pyo3(get)]
    rate: f64,
    /// In a sample: whether the application, not the network, limited that rate.
    #[pyo3(get)]
    app_limited: bool,
}

/// An object of a class, and its methods as far as the class has its own.
struct Object {
    on_ack: Option<Py<PyAny>>,
    on_loss: Option<Py<PyAny>>,
    on_mark: Option<Py<PyAny>>,
    on_timeout: Option<Py<PyAny>>,
    on_restart: Option<Py<PyAny>>,
    on_sample: Option<Py<PyAny>>,
    window: Py<WindowView>,
    occasion: Py<Occasion>,
    pace: u64,
}

fn make(settings: &Settings) -> Box<dyn Decider> {
    Python::attach(|py| {
        let made = || -> PyResult<Object> {
            let (window, occasion) =
                (Py::new(py, WindowView::default())?, Py::new(py, Occasion::default())?);
            let mut made = Object {
                on_ack: None,
                on_loss: None,
                on_mark: None,
                on_timeout: None,
                on_restart: None,
                on_sample: None,
                window,
                occasion,
                pace: 0,
            };
            let Some(make) = maker(py) else { return Ok(made) };
            let with = serde_json::to_string(&settings.with)
                .map_err(|e| pyo3::exceptions::PyValueError::new_err(e.to_string()))?;
            let object = make.bind(py).call1(("tcp", &settings.class, with))?;
            made.on_ack = own_method(&object, "on_ack")?;
            made.on_loss = own_method(&object, "on_loss")?;
            made.on_mark = own_method(&object, "on_mark")?;
            made.on_timeout = own_method(&object, "on_timeout")?;
            made.on_restart = own_method(&object, "on_restart")?;
            made.on_sample = own_method(&object, "on_sample")?;
            Ok(made)
        };
        match made() {
            Ok(object) => Box::new(object) as Box<dyn Decider>,
            Err(error) => {
                fail(py, error);
                Box::new(Inert)
            }
        }
    })
}

impl Object {
    /// Calls a method. Returns whether it has set the threshold.
    fn call(
        &mut self,
        method: &Option<Py<PyAny>>,
        window: &mut Window,
        occasion: Occasion,
    ) -> bool {
        let Some(method) = method.as_ref().filter(|_| !has_failed()) else { return false };
        Python::attach(|py| {
            *self.occasion.borrow_mut(py) = occasion;
            {
                let mut view = self.window.borrow_mut(py);
                view.cwnd = i64::from(window.cwnd);
                (view.ssthresh, view.is_set) = (i64::from(window.ssthresh), false);
            }
            if let Err(error) = method.call1(py, (&self.window, &self.occasion)) {
                fail(py, error);
            }
            let view = self.window.borrow(py);
            let bytes = |value: i64| value.clamp(0, i64::from(u32::MAX)) as u32;
            window.cwnd = bytes(view.cwnd).min(i32::MAX as u32);
            window.ssthresh = bytes(view.ssthresh);
            self.pace = view.pace.max(0) as u64;
            view.is_set
        })
    }

    /// As `call`, with the method taken out while it runs.
    fn tell(
        &mut self,
        which: fn(&mut Self) -> &mut Option<Py<PyAny>>,
        window: &mut Window,
        occasion: Occasion,
    ) -> bool {
        let method = which(self).take();
        let is_set = self.call(&method, window, occasion);
        *which(self) = method;
        is_set
    }
}

fn congested(at: Congested) -> Occasion {
    Occasion {
        now: at.now.0,
        srtt: at.srtt.0,
        mss: at.mss,
        flight: at.flight,
        ..Occasion::default()
    }
}

impl Decider for Object {
    fn on_ack(&mut self, window: &mut Window, acked: Acked) {
        let occasion = Occasion {
            now: acked.now.0,
            srtt: acked.srtt.0,
            mss: acked.mss,
            acked: acked.bytes,
            after_timeout: acked.after_timeout,
            ..Occasion::default()
        };
        self.tell(|object| &mut object.on_ack, window, occasion);
    }

    fn on_loss(&mut self, window: &mut Window, at: Congested) -> bool {
        self.tell(|object| &mut object.on_loss, window, congested(at))
    }

    fn on_mark(&mut self, window: &mut Window, at: Congested) -> bool {
        if self.on_mark.is_some() {
            self.tell(|object| &mut object.on_mark, window, congested(at))
        } else {
            self.on_loss(window, at)
        }
    }

    fn on_timeout(&mut self, window: &mut Window, at: Congested, first: bool) {
        let occasion = Occasion { first, ..congested(at) };
        self.tell(|object| &mut object.on_timeout, window, occasion);
    }

    fn on_restart(&mut self, window: &mut Window, at: Congested) {
        self.tell(|object| &mut object.on_restart, window, congested(at));
    }

    fn on_sample(&mut self, window: &mut Window, sample: &Sample) {
        if self.on_sample.is_none() {
            return;
        }
        let rate = sample.rate.filter(|rate| rate.interval.0 > 0);
        let occasion = Occasion {
            now: sample.now.0,
            srtt: sample.srtt.0,
            mss: sample.mss,
            acked: sample.acked,
            flight: sample.flight,
            rtt: sample.rtt.map_or(0, |rtt| rtt.0),
            lost: sample.lost,
            marked: sample.marked,
            delivered: sample.delivered,
            round: sample.round,
            recovering: sample.recovering,
            rate: rate.map_or(0.0, |r| f64::from(r.delivered) * 1e9 / r.interval.0 as f64),
            app_limited: rate.is_some_and(|rate| rate.app_limited),
            ..Occasion::default()
        };
        self.tell(|object| &mut object.on_sample, window, occasion);
    }

    fn pace(&self) -> u64 {
        self.pace
    }
}

/// Stands for an object that could not be made, until the run has ended.
struct Inert;

impl Decider for Inert {}
