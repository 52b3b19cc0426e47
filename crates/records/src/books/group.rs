//! What a group counts, and its part of the summary.

use super::exchange::Ended;
use super::{Exchange, Totals};
use crate::{
    CallSummary, Distribution, FlowSummary, GroupId, GroupSummary, Histogram, Outcome, PageRow,
    PagesSummary, Quantiles, Recorder, VideoSummary, jain, rate_bps, ratio,
};
use sojourn_base::Time;
use sojourn_scenario::NetworkGroup;
use sojourn_traffic::{PageEnded, Playback, Source, Viewed};

/// The book of a group. Counters run from the start of the run; what has a window is counted from
/// [`start_window`](Self::start_window) on.
#[derive(Clone)]
pub struct GroupBook {
    number: GroupId,
    /// What it is called, and all that is not counted.
    blank: GroupSummary,
    /// What an exchange of its members is a row of.
    table: Table,
    /// Whether its members are flows, each with an account of its own.
    flows: bool,
    /// Whether they are flows of datagrams.
    datagrams: bool,
    measuring: bool,
    /// When the window began.
    window_start: Time,
    /// Round-trip times.
    pub rtt: Histogram,
    /// Response times of what began and finished in the window.
    response: Histogram,
    started: u64,
    finished: u64,
    failed: u64,
    censored: u64,
    /// What is over: of each member of a group of flows, else of all together; of no interest once
    /// the window has ended.
    accounts: Vec<Totals>,
    /// The same with what was under way, when the window began.
    at_start: Vec<Totals>,
    /// What came in the window, once it has ended.
    counted: Vec<Totals>,
    /// Frames and delays, where members are calls.
    calls: Option<Calls>,
    /// Pages, where members fetch pages.
    pages: Option<Pages>,
    /// The screen of each viewer; none if its members view nothing.
    screens: Vec<Playback>,
    /// What they had seen when the window began.
    viewed_at_start: Viewed,
    /// What they saw in the window, once it has ended.
    viewed: Viewed,
}

/// Frames of calls whose time came in the window, and delays of their packets.
#[derive(Clone, Default)]
struct Calls {
    frames: u64,
    late: u64,
    delay: Histogram,
}

/// Pages of web users.
#[derive(Clone, Default)]
struct Pages {
    /// Those that began in the window.
    begun: u64,
    /// Of those: that ended without all of their objects.
    broken: u64,
    /// How long each of the others took that ended.
    load: Histogram,
    /// Their times to the first byte of the document.
    first_byte: Histogram,
    /// Their byte indices.
    byte_index: Histogram,
    /// Times to the first byte of exchanges.
    exchange: Histogram,
}

#[derive(Clone, Copy)]
enum Table {
    Exchanges,
    Transfers,
}

impl GroupBook {
    /// An empty book for the group with this number.
    #[must_use]
    pub fn new(number: usize, group: &NetworkGroup) -> Self {
        let datagrams = matches!(group.source, Source::Udp(_) | Source::OnOff(_) | Source::Call(_));
        let flows = datagrams || matches!(group.source, Source::Bulk(_));
        let accounts = if flows { group.members.max(1) } else { 1 };
        Self {
            number: GroupId(number as u32),
            blank: GroupSummary::of(group),
            table: match group.source {
                Source::Web(_) | Source::Video(_) => Table::Exchanges,
                _ => Table::Transfers,
            },
            flows,
            datagrams,
            measuring: false,
            rtt: Histogram::new(),
            response: Histogram::new(),
            started: 0,
            finished: 0,
            failed: 0,
            censored: 0,
            accounts: vec![Totals::default(); accounts as usize],
            at_start: Vec::new(),
            counted: Vec::new(),
            calls: matches!(group.source, Source::Call(_)).then(Calls::default),
            pages: matches!(group.source, Source::Web(_)).then(Pages::default),
            window_start: Time::MAX,
            screens: match group.source {
                Source::Video(_) => vec![Playback::default(); group.members as usize],
                _ => Vec::new(),
            },
            viewed_at_start: Viewed::default(),
            viewed: Viewed::default(),
        }
    }

    /// A frame of a call had to be there at `due`, and was or was not.
    pub fn frame(&mut self, due: Time, in_time: bool) {
        let counts = self.measuring && due >= self.window_start;
        let Some(calls) = self.calls.as_mut().filter(|_| counts) else { return };
        calls.frames += 1;
        calls.late += u64::from(!in_time);
    }

    /// A packet of a call took so long.
    pub fn one_way(&mut self, took: Time) {
        if let Some(calls) = self.calls.as_mut().filter(|_| self.measuring) {
            calls.delay.record(took.0);
        }
    }

    /// A member begins a page.
    pub fn page_begins(&mut self) {
        if let Some(pages) = self.pages.as_mut().filter(|_| self.measuring) {
            pages.begun += 1;
        }
    }

    /// A member's page ends at `now`.
    pub fn page_ends(&mut self, member: u32, page: &PageEnded, now: Time, recorder: &mut Recorder) {
        let took = now.saturating_sub(page.begun);
        let first_byte = page.first_byte.map(|at| at.saturating_sub(page.begun));
        let counts = self.measuring && page.begun >= self.window_start;
        if let Some(pages) = self.pages.as_mut().filter(|_| counts) {
            if let Some(byte_index) = page.byte_index {
                pages.load.record(took.0);
                pages.byte_index.record(byte_index.0);
                pages.first_byte.record(first_byte.unwrap_or_default().0);
            } else {
                pages.broken += 1;
            }
        }
        let whole = page.byte_index.is_some();
        recorder.push(PageRow {
            group: self.number,
            user: member,
            started_s: page.begun,
            first_byte_s: page.first_byte,
            finished_s: now,
            objects: page.objects,
            bytes: page.bytes,
            load_time_s: whole.then_some(took),
            time_to_first_byte_s: first_byte,
            byte_index_s: page.byte_index,
            outcome: if whole { Outcome::Finished } else { Outcome::Failed },
        });
    }

    /// A viewer's screen has changed.
    pub fn watched(&mut self, member: u32, playback: Playback) {
        self.screens[member as usize] = playback;
    }

    /// The group's time is over at `now`: its viewers go.
    pub fn stop(&mut self, now: Time) {
        for screen in &mut self.screens {
            *screen = screen.leave(now);
        }
    }

    /// What all viewers have seen until `now`.
    fn viewed_at(&self, now: Time) -> Viewed {
        let mut all = Viewed::default();
        self.screens.iter().for_each(|screen| all += screen.at(now).viewed());
        all
    }

    /// Whether the measured window is on.
    #[inline]
    #[must_use]
    pub fn measuring(&self) -> bool {
        self.measuring
    }

    /// Whether its members are flows, each with an account of its own.
    #[must_use]
    pub fn has_flows(&self) -> bool {
        self.flows
    }

    /// The account of a member, or the one that all have together.
    #[inline]
    pub fn account(&mut self, member: u32) -> &mut Totals {
        let last = self.accounts.len() - 1;
        &mut self.accounts[(member as usize).min(last)]
    }

    /// All accounts, with what `open` tells of members whose connections are under way.
    #[must_use]
    pub fn totals(&self, open: impl IntoIterator<Item = (u32, Totals)>) -> Vec<Totals> {
        let mut totals = self.accounts.clone();
        add(&mut totals, open);
        totals
    }

    /// The measured window begins at `now`, with these [`totals`](Self::totals).
    pub fn start_window(&mut self, now: Time, totals: Vec<Totals>) {
        self.measuring = true;
        self.window_start = now;
        self.at_start = totals;
        self.viewed_at_start = self.viewed_at(now);
    }

    /// The window ends at `now`, with what `open` tells of members whose connections are under way:
    /// nothing is counted any more.
    pub fn end_window(&mut self, now: Time, open: impl IntoIterator<Item = (u32, Totals)>) {
        self.measuring = false;
        self.viewed = self.viewed_at(now).since(&self.viewed_at_start);
        self.counted = std::mem::replace(&mut self.accounts, vec![Totals::default()]);
        add(&mut self.counted, open);
        for (counted, start) in self.counted.iter_mut().zip(std::mem::take(&mut self.at_start)) {
            *counted = counted.since(&start);
        }
    }

    /// What each account counted in the window, after its end.
    #[must_use]
    pub fn counted(&self) -> &[Totals] {
        &self.counted
    }

    /// An exchange or a transfer begins on a connection that has counted `before`.
    pub fn begin(&mut self, exchange: &mut Exchange, before: Totals) {
        exchange.counts = self.measuring;
        exchange.before = before;
        self.started += u64::from(self.measuring);
    }

    /// What [`began`](Self::begin) on the connection of a member, which has now counted `after`,
    /// ends at `now`, well or not.
    pub fn end(
        &mut self,
        exchange: &Exchange,
        (member, after): (u32, Totals),
        now: Time,
        outcome: Outcome,
        recorder: &mut Recorder,
    ) {
        match outcome {
            Outcome::Finished => {
                self.finished += u64::from(self.measuring);
                if exchange.counts {
                    self.response.record(now.saturating_sub(exchange.started).0);
                    let pages = self.pages.as_mut();
                    if let Some((pages, time)) = pages.zip(exchange.time_to_first_byte()) {
                        pages.exchange.record(time.0);
                    }
                }
            }
            Outcome::Failed => self.failed += u64::from(self.measuring),
            Outcome::Censored => self.censored += u64::from(exchange.counts),
        }
        let spent = after.since(&exchange.before);
        let ended = Ended { group: self.number, member, exchange, at: now, outcome, spent };
        match self.table {
            Table::Exchanges => recorder.push(ended.exchange_row()),
            Table::Transfers => recorder.push(ended.transfer_row()),
        }
    }

    /// A member sends a request that is to be echoed.
    pub fn ask(&mut self) {
        self.started += u64::from(self.measuring);
    }

    /// A member's request of so many payload bytes that was sent at `sent` comes back at `now`.
    pub fn echoed(
        &mut self,
        member: u32,
        bytes: u64,
        sent: Time,
        now: Time,
        recorder: &mut Recorder,
    ) {
        self.finished += u64::from(self.measuring);
        if self.measuring && sent >= self.window_start {
            let took = now.saturating_sub(sent).0;
            self.response.record(took);
            self.rtt.record(took);
        }
        let (exchange, spent) = (&Exchange::transfer(sent, bytes), Totals::default());
        let (group, outcome) = (self.number, Outcome::Finished);
        recorder.push(Ended { group, member, exchange, at: now, outcome, spent }.transfer_row());
    }

    /// The group's summary, of a window of this length that has ended.
    #[must_use]
    pub fn summary(&self, window: Time) -> GroupSummary {
        let mut all = Totals::default();
        self.counted.iter().for_each(|totals| all += *totals);
        let pages = self.pages.as_ref();
        let shares = || self.counted.iter().map(|totals| totals.delivered as f64);
        GroupSummary {
            goodput_bps: rate_bps(all.delivered, window),
            jain: if self.counted.len() > 1 { jain(shares()) } else { None },
            retransmissions: Some(all.retransmissions),
            timeouts: Some(all.timeouts),
            started: if self.datagrams { all.sent } else { self.started },
            finished: if self.datagrams { all.received } else { self.finished },
            failed: self.failed,
            censored: self.censored,
            response_time_s: Distribution::seconds(&self.response),
            first_byte_s: pages.map(|pages| Distribution::seconds(&pages.exchange)),
            rtt_s: Quantiles::seconds(&self.rtt),
            call: self.calls.as_ref().map(|calls| CallSummary {
                frames: calls.frames,
                late: ratio(calls.late, calls.frames),
                loss: ratio(all.sent.saturating_sub(all.received), all.sent),
                delay_s: Distribution::seconds(&calls.delay),
            }),
            pages: pages.map(|pages| PagesSummary {
                begun: pages.begun,
                incomplete: pages.broken,
                censored: pages.begun - pages.broken - pages.load.count(),
                load_time_s: Distribution::seconds(&pages.load),
                first_byte_s: Distribution::seconds(&pages.first_byte),
                byte_index_s: Distribution::seconds(&pages.byte_index),
            }),
            video: (!self.screens.is_empty()).then(|| VideoSummary::of(&self.viewed)),
            ..self.blank.clone()
        }
    }

    /// One row for each flow of the group, likewise; none if its members are not flows. Delay,
    /// jitter, loss and round-trip times are whoever measures them to fill in.
    #[must_use]
    pub fn flows(&self, window: Time) -> Vec<FlowSummary> {
        let flow = |(index, totals): (usize, &Totals)| FlowSummary {
            group: self.blank.name.clone(),
            index: index as u64,
            goodput_bps: rate_bps(totals.delivered, window),
            retransmissions: Some(totals.retransmissions),
            timeouts: Some(totals.timeouts),
            ..FlowSummary::default()
        };
        self.counted.iter().enumerate().filter(|_| self.flows).map(flow).collect()
    }
}

/// Adds what is open to the account of each member, or to the one that all have together.
fn add(accounts: &mut [Totals], open: impl IntoIterator<Item = (u32, Totals)>) {
    let last = accounts.len() - 1;
    for (member, counted) in open {
        accounts[(member as usize).min(last)] += counted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    fn book(traffic: &str) -> GroupBook {
        let text =
            format!("duration = \"5s\"\n[bottleneck]\nrate = \"10mbit\"\n[[traffic]]\n{traffic}\n");
        let scenario = Scenario::from_toml(&text, "test").unwrap();
        let network = scenario.network(".".as_ref()).unwrap();
        GroupBook::new(0, &network.groups[0])
    }

    const WINDOW: Time = Time::from_secs(1);

    #[test]
    fn window_has_two_ends() {
        let mut book = book("kind = \"udp\"\nrate = \"1mbit\"\nflows = 2");
        let sent = |sent, delivered| Totals { sent, delivered, ..Totals::default() };
        *book.account(1) = sent(3, 30);
        book.start_window(Time::ZERO, book.totals([]));
        *book.account(1) = sent(10, 1030);
        book.end_window(WINDOW, [(0, sent(1, 1000))]);
        *book.account(1) = sent(12, 1060);
        assert_eq!(book.counted(), [sent(1, 1000), sent(7, 1000)]);
        let summary = book.summary(WINDOW);
        assert_eq!((summary.started, summary.goodput_bps), (8, Some(16_000.0)));
        assert_eq!(summary.jain, Some(1.0));
        let flows = book.flows(WINDOW);
        assert_eq!((flows.len(), flows[1].index, flows[1].goodput_bps), (2, 1, Some(8000.0)));
    }

    #[test]
    fn exchange_counts_where_it_begins_and_ends() {
        let mut book = book("kind = \"web\"\nusers = 3");
        let none = &mut Recorder::none();
        let mut early = Exchange::request(Time::ZERO, 100, 1000, Time::ZERO);
        book.begin(&mut early, Totals::default());
        book.start_window(Time::ZERO, book.totals([]));
        let (mut good, mut late) = (early, early);
        for exchange in [&mut good, &mut late] {
            book.begin(exchange, Totals::default());
        }
        let ends =
            [(early, Outcome::Finished), (good, Outcome::Finished), (late, Outcome::Censored)];
        for (exchange, outcome) in ends {
            book.end(&exchange, (0, Totals::default()), Time::from_secs(2), outcome, none);
        }
        book.end_window(WINDOW, []);
        let summary = book.summary(WINDOW);
        assert_eq!((summary.started, summary.finished, summary.censored), (2, 2, 1));
        assert_eq!(summary.response_time_s.count, 1, "of those that began in the window");
        assert!(book.flows(WINDOW).is_empty() && summary.jain.is_none());
    }

    #[test]
    fn a_ping_from_before_the_window_has_no_response_time_in_it() {
        let mut book = book("kind = \"ping\"");
        let (at, none) = (Time::from_secs, &mut Recorder::none());
        book.ask();
        book.start_window(at(1), book.totals([]));
        book.ask();
        book.echoed(0, 56, Time::ZERO, at(2), none);
        book.echoed(0, 56, at(1), at(3), none);
        book.end_window(at(4), []);
        let summary = book.summary(at(3));
        assert_eq!((summary.started, summary.finished), (1, 2));
        let times = summary.response_time_s;
        assert_eq!((times.count, times.quantiles.max), (1, Some(2.0)));
    }

    #[test]
    fn viewers_are_seen_at_both_ends_of_the_window() {
        use sojourn_traffic::{Client, Input, Player, Video};
        let mut model = Video::default().compile().unwrap();
        let (mut book, at) = (book("kind = \"video\""), Time::from_secs);
        let mut player = Player::default();
        player.tell(&mut model, Time::ZERO, Input::Start, &mut |_| {});
        let came = Input::ResponseDone { slot: 0, first_byte: at(1) };
        player.tell(&mut model, at(1), came, &mut |_| {});
        book.watched(0, player.playback().unwrap());
        // A segment of 4 s plays from 1 s to 5 s; no other comes.
        book.start_window(at(2), book.totals([]));
        book.end_window(at(7), []);
        let video = book.summary(at(5)).video.unwrap();
        assert_eq!((video.played_s, video.stalled_s, video.stalls), (3.0, 2.0, 1));
        assert_eq!((video.begun, video.startup_s, video.segments), (1, Some(1.0), 0));
    }

    #[test]
    fn page_counts_where_it_begins_in_the_window() {
        let mut book = book("kind = \"web\"\nusers = 3");
        book.page_begins();
        book.start_window(Time::from_secs(1), book.totals([]));
        let (at, none) = (Time::from_secs, &mut Recorder::none());
        let mut ends = |book: &mut GroupBook, begun, now, byte_index| {
            let first_byte = Some(begun + Time::from_millis(500));
            let page = PageEnded { begun, first_byte, objects: 3, bytes: 1000, byte_index };
            book.page_ends(1, &page, now, none);
        };
        ends(&mut book, Time::ZERO, at(2), Some(at(1)));
        for _ in 0..4 {
            book.page_begins();
        }
        ends(&mut book, at(1), at(4), Some(at(1)));
        ends(&mut book, at(2), at(4), Some(at(2)));
        ends(&mut book, at(2), at(5), None);
        book.end_window(at(6), []);
        ends(&mut book, at(2), at(7), Some(at(5)));
        let pages = book.summary(at(5)).pages.unwrap();
        assert_eq!((pages.begun, pages.incomplete, pages.censored), (4, 1, 1));
        assert_eq!((pages.load_time_s.count, pages.load_time_s.quantiles.max), (2, Some(3.0)));
        assert_eq!((pages.byte_index_s.count, pages.byte_index_s.quantiles.max), (2, Some(2.0)));
        assert_eq!((pages.first_byte_s.count, pages.first_byte_s.quantiles.max), (2, Some(0.5)));
    }
}
