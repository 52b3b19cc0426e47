//! What stands around the links of a network: it offers packets, sees to the links' events, and
//! notes what becomes of every packet.

use sojourn_base::{Ecn, Rate, Time};
use sojourn_link::{Aired, Dropped, Fate, Link, Medium, Samples, Sent, Waiting, Wake, summaries};
use sojourn_qdisc::{Packet, label_hash};
use sojourn_records::{LinkSummary, QueueRow};
use sojourn_scenario::{Network, Scenario};
use std::collections::BTreeSet;

/// A packet with a number of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    pub id: u32,
    bytes: u32,
    label: u32,
    enqueued: Time,
}

impl Packet for Datagram {
    fn bytes(&self) -> u32 {
        self.bytes
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow_hash(&self) -> u32 {
        0
    }
    fn label(&self) -> u32 {
        self.label
    }
}

impl Waiting for Datagram {
    fn enqueued(&self) -> Time {
        self.enqueued
    }
    fn came(self, now: Time) -> Self {
        Self { enqueued: now, ..self }
    }
}

/// A packet that comes to a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    pub at: Time,
    pub bytes: u32,
    pub link: u32,
    pub label: &'static str,
}

impl Offer {
    /// To the first link, without a label.
    pub(crate) fn new(at: Time, bytes: u32) -> Self {
        Self { at, bytes, link: 0, label: "" }
    }

    /// The packet with this number.
    pub(crate) fn packet(self, id: u32) -> Datagram {
        let Self { at, bytes, label, .. } = self;
        Datagram { id, bytes, label: label_hash(label), enqueued: at }
    }
}

/// How the links are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// One event per packet, where that is possible.
    Fused,
    /// An event at the end of every transmission.
    Unfused,
    /// Only where something waits behind it.
    Resting,
}

/// What became of the packets, in the order of their numbers and of time.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// When each was through; none for one that was dropped or lost.
    pub through: Vec<Option<Time>>,
    pub dropped: Vec<u32>,
    pub rows: Vec<QueueRow>,
    pub summaries: Vec<LinkSummary>,
}

/// A network of one link of this text, and no queue on the way back.
pub(crate) fn network(link: &str) -> Network {
    read(&format!("[bottleneck]\n{link}\nreverse = \"ideal\"\n[[traffic]]\nkind = \"bulk\"\n"))
}

/// The network of a scenario but for its duration.
pub(crate) fn read(text: &str) -> Network {
    let text = format!("duration = \"100s\"\n{text}");
    Scenario::from_toml(&text, "test").unwrap().network(".".as_ref()).unwrap()
}

/// What else happens in a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Of the measured window.
    pub from: Time,
    pub to: Time,
    /// When the queues are sampled, from zero on.
    pub every: Option<Time>,
    /// A new rate of the first link.
    pub change: Option<(Time, Rate)>,
}

impl Plan {
    pub(crate) fn until(to: Time) -> Self {
        Self { from: Time::ZERO, to, every: None, change: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Woken { link: u32, why: Wake },
    Window,
    Change,
    Sample,
    Offer(u32),
}

/// Runs the links of a network that are not ideal; offers are in order of time.
pub(crate) fn run(network: &Network, way: Way, offers: &[Offer], plan: Plan) -> Outcome {
    let mut links: Vec<Link<Datagram>> = Link::all(network, way == Way::Fused).unwrap();
    let mut media = Medium::all(network, &sojourn_link::places(network));
    if way == Way::Resting {
        links.iter_mut().for_each(Link::rest);
    }
    let mut samples = Samples::new(links.len());
    let mut outcome = Outcome { through: vec![None; offers.len()], ..Outcome::default() };
    let mut dropped = Dropped::default();
    let mut events = BTreeSet::from([(plan.from, Event::Window)]);
    events.extend(plan.change.map(|(at, _)| (at, Event::Change)));
    events.extend(plan.every.map(|every| (every, Event::Sample)));
    events.extend(offers.iter().zip(0..).map(|(offer, id)| (offer.at, Event::Offer(id))));
    while let Some((now, event)) = events.pop_first() {
        if now > plan.to {
            break;
        }
        let mut served = None;
        match event {
            Event::Woken { link, why: Wake::Air } => {
                if let Some(number) = links[link as usize].medium() {
                    let (medium, mut aired) = (&mut media[number as usize], Aired::new());
                    let again = medium.serve(now, &mut links, &mut dropped, &mut aired);
                    let link = medium.speaker();
                    events.extend(again.map(|at| (at, Event::Woken { link, why: Wake::Air })));
                    for (_, Sent { standing, through, .. }) in aired {
                        outcome.through[standing.id as usize] = through;
                    }
                }
            }
            Event::Woken { link, why } => {
                links[link as usize].woken(now, why);
                served = Some(link);
            }
            Event::Window => links.iter_mut().for_each(|link| link.start_window(now)),
            Event::Change => links[0].change_rate(now, plan.change.unwrap().1),
            Event::Sample => {
                samples.take(now, &mut links, |row| outcome.rows.push(row));
                events.extend(plan.every.map(|every| (now + every, Event::Sample)));
            }
            Event::Offer(id) => {
                let offer = offers[id as usize];
                let Offer { bytes, link, .. } = offer;
                let l = &mut links[link as usize];
                if l.fused() {
                    match l.pass(now, bytes, Ecn::NotEct) {
                        Fate::Departs(at, _) => outcome.through[id as usize] = Some(at),
                        Fate::Dropped => outcome.dropped.push(id),
                    }
                } else {
                    let ends = l.look_back(now);
                    let transmitted = Event::Woken { link, why: Wake::Transmitted };
                    events.extend(ends.map(|at| (at, transmitted)));
                    served = l.arrive(now, offer.packet(id), &mut dropped).then_some(link);
                }
            }
        }
        if let Some(link) = served {
            let wake = |at, why| {
                assert!(events.insert((at, Event::Woken { link, why })), "an event is there twice");
            };
            if let Some(sent) = links[link as usize].serve(now, &mut dropped, wake) {
                assert!(sent.ends >= now);
                outcome.through[sent.standing.id as usize] = sent.through;
            }
        }
        outcome.dropped.extend(dropped.0.drain(..).map(|packet| packet.id));
    }
    links.iter_mut().for_each(|link| link.settle(plan.to));
    outcome.summaries = summaries(network, &links, plan.to - plan.from);
    for (row, link) in outcome.summaries.iter().zip(&links) {
        row.check_conservation().unwrap();
        let (count, sum) = link.sojourns();
        assert_eq!(count, row.counts.dequeued);
        let mean = (count > 0).then(|| sum as f64 / count as f64 / 1e9);
        assert_eq!(row.sojourn_s.mean, mean);
    }
    outcome
}
