//! From what was seen before and behind a queue to what happened in it.
//!
//! A packet that came and went has waited for as long as lies between. One that came and never
//! went, while one of its flow that came later did, was dropped: within a flow, whose packets have
//! one hash (`net.core.txrehash` is 0), no discipline that Linux has changes the order. *When* it
//! was dropped depends on the discipline: on its arrival, or when the queue was asked for a packet
//! and gave one that came later. What came too late for either to be known stood in the queue at
//! the end, unless the discipline itself has counted more drops: then of what came between two
//! readings of its counter so many were dropped.

use super::plan::Drops;
use super::watch::Seen;
use sojourn_base::{Ecn, Time};
use sojourn_link::Observed;
use sojourn_records::{LinkSummary, QueueRow};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Something that happened, at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Joined,
    /// Dropped as it came; whether because of a limit.
    Refused(bool),
    /// Dropped later; likewise.
    Evicted(bool),
    Sent {
        enqueued: Time,
        marked: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    at: Time,
    bytes: u32,
    lane: Lane,
    what: What,
}

/// A reading of the discipline's own counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reading {
    /// When.
    pub at: Time,
    /// Packets that it has dropped because a limit was reached.
    pub overflow: u64,
    /// Packets that it has dropped.
    pub dropped: u64,
    /// Its probability.
    pub probability: f64,
    /// Of each of its queues, if it tells.
    pub lanes: Option<Lanes>,
}

/// The queues of `DualPI2`, in the order of their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// For packets of ECT(1) and CE.
    Low,
    /// For all others.
    Classic,
}

impl Lane {
    pub(super) const ALL: [Self; 2] = [Self::Low, Self::Classic];

    /// As the scenario's discipline calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Low => "L",
            Self::Classic => "C",
        }
    }

    const fn of(packet: &Seen) -> Self {
        match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => Self::Low,
            Ecn::NotEct | Ecn::Ect0 => Self::Classic,
        }
    }
}

/// What `DualPI2` has counted of its queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lanes {
    /// Packets that joined each.
    pub entered: [u64; 2],
    /// Marks in either because of the controller, and in L because of the step: a packet may get
    /// both.
    pub marks: [u64; 2],
}

/// Everything that happened in a queue, in order of time.
#[derive(Debug)]
pub(super) struct Story {
    events: Vec<Event>,
    /// Packets that were dropped over all.
    pub dropped: u64,
}

impl Story {
    /// The story of a queue before which `came` was seen and behind which `went`, both in order
    /// of time, on a clock that shows 0 when the run begins; `readings` are of its own counters.
    ///
    /// # Errors
    /// If a packet went that never came: then not everything was seen.
    pub(super) fn new(
        came: &[Seen],
        went: &[Seen],
        drops: Drops,
        readings: &[Reading],
    ) -> Result<Self, String> {
        let departures = matched(came, went)?;
        let mut fates = fates(came, &departures, drops);
        if drops == Drops::Arrival {
            count(came, &mut fates, readings);
        }
        let mut events = Vec::with_capacity(came.len() + went.len());
        let mut dropped = 0;
        for (packet, fate) in came.iter().zip(fates) {
            let Seen { at, bytes, .. } = *packet;
            let lane = Lane::of(packet);
            let joined = Event { at, bytes, lane, what: What::Joined };
            match fate {
                Fate::Stands => events.push(joined),
                Fate::Sent(at, marked) => {
                    let at = at.max(packet.at);
                    let what = What::Sent { enqueued: packet.at, marked };
                    events.extend([joined, Event { at, what, ..joined }]);
                }
                Fate::Dropped(None) => {
                    dropped += 1;
                    events.push(Event { what: What::Refused(false), ..joined });
                }
                Fate::Dropped(Some(at)) => {
                    dropped += 1;
                    events.extend([joined, Event { at, what: What::Evicted(false), ..joined }]);
                }
            }
        }
        // At one instant: what leaves is dropped or sent before what comes joins, but for a packet
        // that leaves at the instant at which it came. The sort keeps the order of equals.
        events.sort_by_key(|event| event.at);
        let mut overflows = Overflows::new(readings);
        for Event { at, what, .. } in &mut events {
            if let What::Refused(limit) | What::Evicted(limit) = what {
                *limit = overflows.take(*at);
            }
        }
        Ok(Self { events, dropped })
    }

    /// What happened in one of two queues.
    pub(super) fn of(&self, lane: Lane) -> Self {
        let events: Vec<Event> =
            self.events.iter().filter(|event| event.lane == lane).copied().collect();
        let dropped = |event: &&Event| matches!(event.what, What::Refused(_) | What::Evicted(_));
        Self { dropped: events.iter().filter(dropped).count() as u64, events }
    }

    /// Packets that joined, and packets that were marked.
    pub(super) fn joined_and_marked(&self) -> (u64, u64) {
        self.events.iter().fold((0, 0), |(joined, marked), event| match event.what {
            What::Joined => (joined + 1, marked),
            What::Sent { marked: true, .. } => (joined, marked + 1),
            _ => (joined, marked),
        })
    }

    /// Tells a link of it all, up to `end`: the link's row of the summary, for a window from
    /// `warmup` on, and a row at each multiple of `interval`.
    pub(super) fn tell(
        &self,
        link: &mut Observed,
        number: u32,
        times: &Times,
        readings: &[Reading],
        mut row: impl FnMut(QueueRow),
    ) -> LinkSummary {
        let mut window = Some(times.warmup);
        let mut sample = times.interval;
        let mut catch_up = |link: &mut Observed, until: Time| loop {
            let next = [window, sample].into_iter().flatten().min().filter(|at| *at <= until);
            let Some(at) = next else { return };
            if window == Some(at) {
                link.start_window(at);
                window = None;
            } else {
                row(link.sample(at, number, probability(readings, at)));
                sample = sample.zip(times.interval).map(|(at, interval)| at + interval);
            }
        };
        for event in self.events.iter().take_while(|event| event.at <= times.end) {
            catch_up(link, event.at);
            let Event { at, bytes, what, .. } = *event;
            match what {
                What::Joined => link.enqueued(at, bytes),
                What::Refused(limit) => link.refused(at, bytes, limit),
                What::Evicted(limit) => link.evicted(at, bytes, limit),
                What::Sent { enqueued, marked } => link.sent(at, enqueued, bytes, marked),
            }
        }
        catch_up(link, times.end);
        link.summary(times.end, times.end.saturating_sub(times.warmup))
    }
}

/// The instants of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// The measured window begins.
    pub warmup: Time,
    /// The run ends.
    pub end: Time,
    /// Between two samples of the queue, if they are wanted.
    pub interval: Option<Time>,
}

/// The last reading before an instant tells the probability.
fn probability(readings: &[Reading], at: Time) -> f64 {
    let next = readings.partition_point(|reading| reading.at <= at);
    next.checked_sub(1).map_or(0.0, |last| readings[last].probability)
}

/// Which drops are because of a limit: of those between two readings as many as the discipline has
/// counted, the first ones.
struct Overflows<'a> {
    readings: &'a [Reading],
    taken: u64,
}

impl<'a> Overflows<'a> {
    fn new(readings: &'a [Reading]) -> Self {
        Self { readings, taken: 0 }
    }

    fn take(&mut self, at: Time) -> bool {
        let next = self.readings.partition_point(|reading| reading.at < at);
        let reading = self.readings.get(next).or(self.readings.last());
        let more = reading.is_some_and(|reading| reading.overflow > self.taken);
        self.taken += u64::from(more);
        more
    }
}

/// For each packet that came, when it went and whether it was marked in between.
fn matched(came: &[Seen], went: &[Seen]) -> Result<Vec<Option<(Time, bool)>>, String> {
    let mut places: HashMap<u64, VecDeque<usize>> = HashMap::with_capacity(came.len());
    for (place, packet) in came.iter().enumerate() {
        places.entry(packet.name).or_default().push_back(place);
    }
    let mut departures = vec![None; came.len()];
    for packet in went {
        let place = places.get_mut(&packet.name).and_then(VecDeque::pop_front);
        let Some(place) = place else {
            return Err(format!(
                "a packet of {} bytes left the queue at {} ns and was never seen to come",
                packet.bytes, packet.at.0
            ));
        };
        let marked = packet.ecn == Ecn::Ce && came[place].ecn != Ecn::Ce;
        departures[place] = Some((packet.at, marked));
    }
    Ok(departures)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Sent(Time, bool),
    /// Dropped at this time, or as it came.
    Dropped(Option<Time>),
    /// Still there.
    Stands,
}

fn fates(came: &[Seen], departures: &[Option<(Time, bool)>], drops: Drops) -> Vec<Fate> {
    // In order of departure: every packet before one that leaves, in its queue, is gone.
    let mut order: Vec<(Time, usize)> = departures
        .iter()
        .enumerate()
        .filter_map(|(at, gone)| Some((gone.as_ref()?.0, at)))
        .collect();
    order.sort_unstable();
    let mut queues: BTreeMap<u32, VecDeque<usize>> = BTreeMap::new();
    let queue_of = |place: usize| match drops {
        Drops::Departure => 0,
        Drops::Arrival | Drops::FlowDeparture => came[place].flow,
        Drops::LaneDeparture => Lane::of(&came[place]) as u32,
    };
    for (place, gone) in departures.iter().enumerate() {
        if gone.is_none() {
            queues.entry(queue_of(place)).or_default().push_back(place);
        }
    }
    let mut fates: Vec<Fate> = departures
        .iter()
        .map(|gone| gone.map_or(Fate::Stands, |(at, marked)| Fate::Sent(at, marked)))
        .collect();
    for (at, left) in order {
        let Some(missing) = queues.get_mut(&queue_of(left)) else { continue };
        while let Some(&place) = missing.front()
            && place < left
        {
            missing.pop_front();
            fates[place] = Fate::Dropped((drops != Drops::Arrival).then_some(at));
        }
    }
    fates
}

/// Of the packets that seem to stand in the queue those that the discipline has counted as dropped
/// when they came: nothing of their flow got through after them.
fn count(came: &[Seen], fates: &mut [Fate], readings: &[Reading]) {
    let (mut known, mut next) = (0, 0);
    let mut standing = VecDeque::new();
    for reading in readings {
        // What came before the last reading may stand in the queue; what came since is more likely
        // what this one counts for the first time.
        let before = standing.len();
        while let Some(packet) = came.get(next)
            && packet.at <= reading.at
        {
            match fates[next] {
                Fate::Dropped(_) => known += 1,
                Fate::Stands => standing.push_back(next),
                Fate::Sent(..) => {}
            }
            next += 1;
        }
        while known < reading.dropped {
            let place = standing.remove(before).or_else(|| standing.pop_back());
            let Some(place) = place else { break };
            fates[place] = Fate::Dropped(None);
            known += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    fn seen(at: u64, name: u64) -> Seen {
        Seen { at: Time(at), name, flow: (name / 100) as u32, bytes: 1000, ecn: Ecn::Ect0 }
    }

    fn link(
        interval: Option<Time>,
        story: &Story,
        readings: &[Reading],
    ) -> (LinkSummary, Vec<QueueRow>) {
        let text = "duration = \"1s\"\n[bottleneck]\nrate = \"8mbit\"\nreverse = \"ideal\"\n\
                    [[traffic]]\nkind = \"bulk\"\n";
        let network = Scenario::from_toml(text, "test").unwrap().network(".".as_ref()).unwrap();
        let mut link = Observed::new(&network, 0).unwrap();
        let times = Times { warmup: Time::ZERO, end: Time(1000), interval };
        let mut rows = Vec::new();
        let summary = story.tell(&mut link, 0, &times, readings, |row| rows.push(row));
        summary.check_conservation().unwrap();
        (summary, rows)
    }

    #[test]
    fn enqueue_drop_never_entered_queue() {
        let came = [seen(0, 1), seen(10, 2), seen(20, 3)];
        let went = [seen(100, 1), seen(200, 3)];
        let readings = [Reading { at: Time(500), overflow: 1, ..Reading::default() }];
        let story = Story::new(&came, &went, Drops::Arrival, &readings).unwrap();
        let (row, _) = link(None, &story, &readings);
        assert_eq!((row.counts.enqueued, row.counts.dropped_overflow), (2, 1));
        assert_eq!(row.queue_packets.mean, Some((100.0 + 180.0) / 1000.0));
    }

    #[test]
    fn drops_after_which_nothing_gets_through_are_known_by_the_counter() {
        let came = [seen(0, 1), seen(10, 2), seen(20, 3), seen(40, 4), seen(60, 5), seen(80, 6)];
        let went = [seen(5, 1)];
        let reading = |at, dropped| Reading { at: Time(at), dropped, ..Reading::default() };
        // The first that is left stands in the queue when the second and the fourth are dropped.
        let readings = [reading(15, 0), reading(30, 1), reading(50, 1), reading(70, 2)];
        let story = Story::new(&came, &went, Drops::Arrival, &readings).unwrap();
        let refused: Vec<u64> = story
            .events
            .iter()
            .filter(|event| matches!(event.what, What::Refused(_)))
            .map(|event| event.at.0)
            .collect();
        assert_eq!((story.dropped, refused.as_slice()), (2, [20, 60].as_slice()));
        // A counter that comes late finds the latest of them.
        let story = Story::new(&came, &went, Drops::Arrival, &[reading(90, 0), reading(95, 5)]);
        assert_eq!(story.unwrap().dropped, 5);
        let none = Story::new(&came, &went, Drops::Departure, &readings).unwrap();
        assert_eq!(none.dropped, 0, "drops of those that came before");
    }

    #[test]
    fn dequeue_drop_left_with_next_departure() {
        let came = [seen(0, 1), seen(10, 2), seen(20, 3)];
        let went = [seen(100, 1), seen(200, 3)];
        let story = Story::new(&came, &went, Drops::Departure, &[]).unwrap();
        let (row, _) = link(None, &story, &[]);
        assert_eq!((row.counts.enqueued, row.counts.dropped_early), (3, 1));
        assert_eq!(row.queue_packets.mean, Some((100.0 + 190.0 + 180.0) / 1000.0));
    }

    #[test]
    fn departures_of_other_flows_are_ignored_with_flow_queues() {
        let came = [seen(0, 101), seen(10, 201), seen(20, 102)];
        let went = [seen(50, 102), seen(60, 201)];
        let own = Story::new(&came, &went, Drops::FlowDeparture, &[]).unwrap();
        assert_eq!(own.dropped, 1);
        let dropped = |event: &Event| event.what == What::Evicted(false);
        assert_eq!(own.events.iter().find(|event| dropped(event)).map(|it| it.at), Some(Time(50)));
        let late = [seen(50, 101)];
        let story = Story::new(&came, &late, Drops::FlowDeparture, &[]).unwrap();
        assert_eq!(story.dropped, 0, "what came later may still be there");
        let (row, _) = link(None, &story, &[]);
        assert_eq!(row.counts.queued_at_end, 2);
    }

    #[test]
    fn lanes_are_queues_of_their_own() {
        let low = |seen: Seen| Seen { ecn: Ecn::Ect1, ..seen };
        let came = [seen(0, 1), low(seen(10, 2)), low(seen(20, 3)), seen(30, 4)];
        let went = [Seen { ecn: Ecn::Ce, ..seen(40, 3) }, seen(60, 4)];
        let story = Story::new(&came, &went, Drops::LaneDeparture, &[]).unwrap();
        let [l, c] = Lane::ALL.map(|lane| story.of(lane));
        assert_eq!((story.dropped, l.dropped, c.dropped), (2, 1, 1));
        assert_eq!((l.joined_and_marked(), c.joined_and_marked()), ((2, 1), (2, 0)));
        // Each is gone when its own queue gives the next, not when the other one does.
        let gone = |story: &Story| {
            let evicted = |event: &&Event| event.what == What::Evicted(false);
            story.events.iter().find(evicted).map(|event| event.at)
        };
        assert_eq!((gone(&l), gone(&c)), (Some(Time(40)), Some(Time(60))));
        let (row, _) = link(None, &l, &[]);
        assert_eq!(row.sojourn_s.mean, Some(20e-9));
    }

    #[test]
    fn marks_and_samples_are_reported() {
        let came = [seen(0, 1), seen(0, 2)];
        let went = [Seen { ecn: Ecn::Ce, ..seen(300, 1) }, seen(600, 2)];
        let story = Story::new(&came, &went, Drops::Departure, &[]).unwrap();
        let readings = [Reading { at: Time(250), probability: 0.5, ..Reading::default() }];
        let (row, rows) = link(Some(Time(400)), &story, &readings);
        assert_eq!(row.counts.marked, 1);
        assert_eq!(rows.iter().map(|row| row.packets).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(rows[0].probability, 0.5);
    }

    #[test]
    fn a_packet_from_nowhere_is_an_error() {
        assert!(Story::new(&[], &[seen(1, 1)], Drops::Arrival, &[]).is_err());
    }
}
