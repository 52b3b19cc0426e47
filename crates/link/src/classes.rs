//! What is measured of each class of a link's discipline, where it has classes.

use crate::meter::Meter;
use crate::waiting::Waiting;
use sojourn_base::Time;
use sojourn_qdisc::{Config, Counters, Discipline, Qdisc};

/// One class.
#[derive(Clone)]
pub(crate) struct Class {
    /// Its name; classes around it stand before it, with slashes.
    pub name: String,
    pub meter: Meter,
    /// What has passed since the start of the run, when it was last looked at.
    pub counters: Counters,
    /// The same when the window began.
    pub at_start: Counters,
}

/// All classes of a link.
#[derive(Clone)]
pub(crate) struct Classes(pub Vec<Class>);

impl Classes {
    /// The classes of a discipline, each with a meter; none if it has no classes.
    pub(crate) fn new(config: &Config, meter: impl Fn() -> Meter) -> Option<Self> {
        let class = |name| Class {
            name,
            meter: meter(),
            counters: Counters::default(),
            at_start: Counters::default(),
        };
        let all: Vec<Class> = config.classes().into_iter().map(|info| class(info.name)).collect();
        (!all.is_empty()).then_some(Self(all))
    }

    /// The queues have stood as they are until `now`, when one may change.
    pub(crate) fn until<S: Waiting>(&mut self, now: Time, queue: &Qdisc<S>) {
        let mut classes = self.0.iter_mut();
        queue.classes(&mut |counters| {
            if let Some(class) = classes.next() {
                let standing = counters.standing();
                class.meter.until(now, standing.packets as u32, standing.bytes);
                class.counters = *counters;
            }
        });
    }

    /// A packet has left the queue.
    pub(crate) fn left<S: Waiting>(&mut self, now: Time, packet: &S, queue: &Qdisc<S>) {
        if let Some(class) = self.0.get_mut(queue.class_of(packet)) {
            class.meter.left(now, packet.enqueued());
        }
    }

    /// The measured window begins.
    pub(crate) fn start_window(&mut self, now: Time) {
        for class in &mut self.0 {
            class.meter.start(now);
            class.at_start = class.counters;
        }
    }
}
