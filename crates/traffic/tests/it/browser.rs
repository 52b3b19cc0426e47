//! The web user: what it draws does not depend on the network, what it asks for is what the model
//! says, and it allocates nothing once it has fetched its largest page.

use proptest::prelude::*;
use sojourn_base::{Kind, Size, Stream, Time};
use sojourn_traffic::{
    Browser, Command, Count, Distribution, Exchange, Input, Model, PageEnded, Pages, Web, WebModel,
};
use std::collections::BTreeSet;
use std::f64::consts::LN_2;

/// A network that answers after random delays and loses some connections.
struct Network {
    delays: Stream,
    fastest: u64,
    slowest: u64,
    /// One response in this many never comes; 0: none.
    fails: u64,
    now: Time,
    wake: Time,
    /// Responses on their way: when, whether they fail, over which slot.
    busy: Vec<(Time, bool, u16)>,
    open: BTreeSet<u16>,
    opened: u32,
    /// Of the last page.
    byte_index: Time,
    /// Connections to a server at most.
    parallel: u16,
}

/// One page as the network saw it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    exchanges: Vec<Exchange>,
    think: Time,
}

impl Network {
    fn new(seed: u64, fastest: Time, slowest: Time, fails: u64) -> Self {
        Self {
            delays: Stream::new(seed, Kind::Test, 9, 9),
            fastest: fastest.0,
            slowest: slowest.0,
            fails,
            now: Time::ZERO,
            wake: Time::MAX,
            busy: Vec::new(),
            open: BTreeSet::new(),
            opened: 0,
            byte_index: Time::ZERO,
            parallel: 1,
        }
    }

    fn obey(&mut self, command: Command, page: &mut Seen) {
        match command {
            Command::Wake { at } => {
                assert!(at >= self.now);
                self.wake = at;
            }
            Command::Open { slot, server } => {
                assert_eq!(slot / self.parallel, u16::from(server), "another server's place");
                assert!(self.open.insert(slot), "opened twice");
                self.opened += 1;
            }
            Command::Request { slot, exchange } => {
                assert!(self.open.contains(&slot), "a request without a connection");
                assert!(self.busy.iter().all(|b| b.2 != slot), "two requests at a time");
                let delay = self.fastest + self.delays.below(self.slowest - self.fastest + 1);
                let fails = self.fails > 0 && self.delays.below(self.fails) == 0;
                self.busy.push((self.now + Time(delay), fails, slot));
                page.exchanges.push(exchange);
            }
            Command::Close { slot } => {
                assert!(self.open.remove(&slot), "closed without being open");
                assert!(self.busy.iter().all(|b| b.2 != slot), "closed under way");
            }
            Command::PageBegins => {}
            Command::PageEnds(page) => self.byte_index = page.byte_index.unwrap_or_default(),
        }
    }

    /// Runs a user for some pages.
    fn run(&mut self, model: &WebModel, user: &mut Browser, pages: u32) -> Vec<Seen> {
        let mut pool = Pages::new();
        self.parallel = model.parallel();
        let mut seen = vec![Seen::default()];
        let mut step = |network: &mut Self, user: &mut Browser, input| {
            let now = network.now;
            let mut page = seen.pop().unwrap();
            user.step(model, &mut pool, now, input, &mut |c| network.obey(c, &mut page));
            seen.push(page);
            if user.is_thinking() && !seen.last().unwrap().exchanges.is_empty() {
                seen.last_mut().unwrap().think = network.wake - now;
                seen.push(Seen::default());
            }
        };
        step(self, user, Input::Start);
        while user.pages() < pages {
            let first = (0..self.busy.len()).min_by_key(|&i| self.busy[i]);
            match first {
                Some(i) if self.busy[i].0 < self.wake => {
                    let (at, fails, slot) = self.busy.swap_remove(i);
                    self.now = at;
                    if fails {
                        self.open.remove(&slot);
                        step(self, user, Input::Failed { slot });
                    } else {
                        step(self, user, Input::ResponseDone { slot, first_byte: at });
                    }
                }
                _ => {
                    assert_ne!(self.wake, Time::MAX, "stuck");
                    self.now = self.wake;
                    self.wake = Time::MAX;
                    step(self, user, Input::Wake);
                }
            }
        }
        assert_eq!(pool.active(), 0);
        seen.pop();
        for page in &mut seen {
            page.exchanges[1..].sort_by_key(|x| (x.request, x.response, x.server_delay));
        }
        seen
    }
}

fn packmime() -> WebModel {
    // More and larger pages than in the model, most of them persistent, to have more at stake.
    let embedded = Some(Distribution::Exponential { mean: Count(6.0) });
    let web = Web { embedded, persistent: Some(0.6), parallel: Some(4), ..Web::default() };
    web.compile().unwrap()
}

fn run(model: &WebModel, index: u64, mut network: Network) -> Vec<Seen> {
    network.run(model, &mut Browser::new(model, 1, 0, index), 100)
}

#[test]
fn draws_do_not_depend_on_the_order_or_the_time_of_responses() {
    let (us, ms) = (Time::from_micros, Time::from_millis);
    let three = Web { model: Model::ThreeGpp, ..Web::default() };
    let servers =
        Some(Distribution::Uniform { min: Count(1.0), max: Count(9.0), step: Some(Count(1.0)) });
    let several = Web { servers, ..three.clone() };
    for model in [packmime(), three.compile().unwrap(), several.compile().unwrap()] {
        for index in 0..10 {
            let fast = run(&model, index, Network::new(1, us(1), us(1), 0));
            let slow = run(&model, index, Network::new(2, ms(1), ms(4000), 0));
            let other = run(&model, index, Network::new(3, ms(1), ms(4000), 0));
            assert_eq!(fast, slow);
            assert_eq!(slow, other);
            assert_ne!(fast, run(&model, index + 10, Network::new(1, us(1), us(1), 0)));
        }
    }
}

#[test]
fn failures_take_exchanges_away_and_change_no_other_draw() {
    let model = packmime();
    let (fast, slow) = (Time::from_millis(1), Time::from_millis(500));
    let mut failures = 0;
    for index in 0..20 {
        let whole = run(&model, index, Network::new(1, fast, slow, 0));
        let mut network = Network::new(1, fast, slow, 10);
        let mut user = Browser::new(&model, 1, 0, index);
        let lossy = network.run(&model, &mut user, 100);
        failures += user.failures();
        assert_eq!(whole.len(), lossy.len());
        for (whole, lossy) in whole.iter().zip(&lossy) {
            assert_eq!(whole.think, lossy.think);
            assert_eq!(whole.exchanges[0], lossy.exchanges[0]);
            // Either the primary object failed, or every embedded one was asked for.
            let page = lossy.exchanges.len();
            assert!(page == 1 || whole.exchanges == lossy.exchanges);
        }
    }
    assert!(failures > 100);
}

fn custom(embedded: u32, parallel: u8, persistent: f64) -> Web {
    Web {
        model: Model::Custom,
        think: Some(Distribution::Constant(Time::from_secs(1))),
        response: Some(Distribution::Constant(Size(1000))),
        embedded: Some(Distribution::Constant(Count(f64::from(embedded)))),
        parallel: Some(parallel),
        persistent: Some(persistent),
        ..Web::default()
    }
}

/// Connections that eleven pages take, and simulated seconds, if every response takes 100 ms.
fn eleven_pages(web: &Web) -> (u32, f64) {
    let model = web.compile().unwrap();
    let tenth = Time::from_millis(100);
    let mut network = Network::new(1, tenth, tenth, 0);
    let mut user = Browser::new(&model, 1, 0, 0);
    let seen = network.run(&model, &mut user, 11);
    assert_eq!(seen.len(), 11);
    (network.opened, network.now.as_secs_f64())
}

#[test]
fn objects_go_over_parallel_connections_kept_or_not() {
    // 1 + 8 objects: one connection each, or as many as there are places.
    assert_eq!(eleven_pages(&custom(8, 4, 0.0)).0, 11 * 9);
    assert_eq!(eleven_pages(&custom(8, 4, 1.0)).0, 11 * 4);
    assert_eq!(eleven_pages(&custom(2, 4, 1.0)).0, 11 * 2);
    // A page takes 100 ms for the primary object and 100 ms for each round of embedded ones.
    let span = |web: &Web| eleven_pages(web).1;
    let rounds = |a: f64, b: f64| (a - b) / 11.0;
    let alone = span(&custom(0, 4, 0.0));
    assert!((rounds(span(&custom(8, 4, 0.0)), alone) - 0.2).abs() < 1e-9);
    assert!((rounds(span(&custom(8, 1, 1.0)), alone) - 0.8).abs() < 1e-9);
    let parse = Some(Distribution::Constant(Time::from_millis(30)));
    let gap = Some(Distribution::Constant(Time::from_millis(7)));
    let slow = Web { parse, gap, ..custom(8, 2, 1.0) };
    assert!((rounds(span(&slow), alone) - (0.03 + 0.4 + 3.0 * 0.007)).abs() < 1e-9);
}

#[test]
fn each_server_has_connections_of_its_own() {
    let web = |servers: f64, first_share, embedded, parallel| Web {
        servers: Some(Distribution::Constant(Count(servers))),
        first_share: Some(first_share),
        ..custom(embedded, parallel, 1.0)
    };
    // All of one server: as without servers.
    assert_eq!(eleven_pages(&web(3.0, 1.0, 8, 4)), eleven_pages(&custom(8, 4, 1.0)));
    // The document's connection, and four for the eight others, in two rounds.
    let (opened, span) = eleven_pages(&web(2.0, 0.0, 8, 4));
    assert_eq!(opened, 11 * 5);
    let alone = eleven_pages(&custom(0, 4, 1.0)).1;
    assert!(((span - alone) / 11.0 - 0.2).abs() < 1e-9, "{span} {alone}");
    // With as many servers as a hundred there is hardly a second object on any: one round.
    let span = eleven_pages(&web(100.0, 0.0, 8, 4)).1;
    assert!(((span - alone) / 11.0 - 0.1).abs() < 1e-9, "{span} {alone}");
}

#[test]
fn servers_change_no_other_draw_of_a_page() {
    let (fast, slow) = (Time::from_millis(1), Time::from_millis(500));
    let servers = |count: f64| Web {
        servers: Some(Distribution::Constant(Count(count))),
        embedded: Some(Distribution::Constant(Count(9.0))),
        ..Web::default()
    };
    let [one, ten] = [1.0, 10.0].map(|count| servers(count).compile().unwrap());
    for index in 0..5 {
        let seen = |model| run(model, index, Network::new(1, fast, slow, 0));
        assert_eq!(seen(&one), seen(&ten));
    }
}

#[test]
fn byte_index_is_the_mean_over_bytes_of_when_their_object_came() {
    let index = |web: &Web| {
        let model = web.compile().unwrap();
        let tenth = Time::from_millis(100);
        let mut network = Network::new(1, tenth, tenth, 0);
        network.run(&model, &mut Browser::new(&model, 1, 0, 0), 2);
        network.byte_index
    };
    assert_eq!(index(&custom(0, 4, 1.0)), Time::from_millis(100));
    // One object after 100 ms, four after 200, four after 300: as many bytes each.
    assert_eq!(index(&custom(8, 4, 1.0)), Time(2_100_000_000 / 9));
    // A document of 9 kB and one object of 1 kB.
    let embedded_response = Some(Distribution::Constant(Size(1000)));
    let response = Some(Distribution::Constant(Size(9000)));
    let web = Web { response, embedded_response, ..custom(1, 4, 1.0) };
    assert_eq!(index(&web), Time::from_millis(110));
}

#[test]
fn an_object_is_asked_for_once_the_one_that_names_it_has_come() {
    // With a place for each object a page takes as many rounds as there are levels: the document's
    // and those of the objects that are embedded, all of which a page of sixty has.
    let alone = eleven_pages(&custom(0, 64, 1.0)).1;
    for levels in 1..=4u32 {
        let level = Distribution::Uniform {
            min: Count(1.0),
            max: Count(f64::from(levels)),
            step: Some(Count(1.0)),
        };
        let web = Web { level: Some(level), ..custom(60, 64, 1.0) };
        let rounds = (eleven_pages(&web).1 - alone) / 11.0;
        assert!((rounds - 0.1 * f64::from(levels)).abs() < 1e-9, "{levels}: {rounds}");
    }
    // Levels that no object has are left out.
    let level = Some(Distribution::Constant(Count(5.0)));
    let rounds = (eleven_pages(&Web { level, ..custom(3, 4, 1.0) }).1 - alone) / 11.0;
    assert!((rounds - 0.1).abs() < 1e-9, "{rounds}");
}

#[test]
fn what_a_lost_object_would_have_named_is_not_asked_for() {
    let level = Distribution::Uniform { min: Count(1.0), max: Count(2.0), step: Some(Count(1.0)) };
    let web = Web { level: Some(level), ..custom(60, 8, 1.0) };
    let model = web.compile().unwrap();
    let slow = Time::from_millis(500);
    let run = |fails| {
        let mut network = Network::new(1, Time(1), slow, fails);
        let mut user = Browser::new(&model, 1, 0, 0);
        let seen = network.run(&model, &mut user, 100);
        (seen, user.failures() as usize)
    };
    let (whole, _) = run(0);
    assert!(whole.iter().all(|page| page.exchanges.len() == 61));
    let (lossy, failures) = run(10);
    let asked: usize = lossy.iter().map(|page| page.exchanges.len()).sum();
    // More are missing than were lost, and never were more asked for than there are.
    assert!(asked + failures < 6100 && lossy.iter().all(|page| page.exchanges.len() <= 61));
    for (whole, lossy) in whole.iter().zip(&lossy) {
        assert_eq!(whole.think, lossy.think);
    }
}

#[test]
fn a_persistent_connection_serves_several_pages() {
    let pages_per_connection = Some(Distribution::Constant(Count(5.0)));
    let web = Web { pages_per_connection, ..custom(0, 2, 1.0) };
    assert_eq!(eleven_pages(&web).0, 3);
    // A connection lost while the user thinks is opened anew, for the pages that are left.
    let model = web.compile().unwrap();
    let (mut user, mut pool) = (Browser::new(&model, 1, 0, 0), Pages::new());
    let mut commands = Vec::new();
    let at = |s| Time::from_secs(s);
    let mut step = |now, input| {
        commands.clear();
        user.step(&model, &mut pool, at(now), input, &mut |c| commands.push(c));
        commands.clone()
    };
    step(0, Input::Start);
    let asked = step(1, Input::Wake);
    assert_eq!(asked[..2], [Command::PageBegins, Command::Open { slot: 0, server: 0 }]);
    let (objects, bytes, byte_index) = (1, 1000, Some(at(1)));
    let half = |second| at(second) + Time::from_millis(500);
    let ends = |begun| {
        let (begun, first_byte) = (at(begun), Some(half(begun)));
        Command::PageEnds(PageEnded { begun, first_byte, objects, bytes, byte_index })
    };
    let done = |second| Input::ResponseDone { slot: 0, first_byte: half(second) };
    assert_eq!(step(2, done(1)), [ends(1), Command::Wake { at: at(3) }]);
    assert_eq!(step(2, Input::Failed { slot: 0 }), []);
    assert_eq!(step(2, Input::Wake), [], "a wake nobody asked for does nothing");
    assert_eq!(step(3, Input::Wake), asked);
    assert_eq!(step(4, done(3)), [ends(3), Command::Wake { at: at(5) }]);
    let again = [&asked[..1], &asked[2..]].concat();
    assert_eq!(step(5, Input::Wake), again, "the connection is still open");
}

#[test]
fn a_page_that_lost_an_object_is_not_whole() {
    let model = custom(1, 1, 0.0).compile().unwrap();
    let (mut user, mut pool) = (Browser::new(&model, 1, 0, 0), Pages::new());
    let mut step = |now, input| {
        let mut ends = None;
        user.step(&model, &mut pool, Time::from_secs(now), input, &mut |command| {
            if let Command::PageEnds(page) = command {
                ends = Some(page.byte_index.is_some());
            }
        });
        ends
    };
    let (slot, first_byte) = (0, Time(1));
    for (begin, last, whole) in [
        (1, Input::ResponseDone { slot, first_byte }, true),
        (4, Input::Failed { slot }, false),
        (7, Input::ResponseDone { slot, first_byte }, true),
    ] {
        if begin == 1 {
            assert_eq!(step(0, Input::Start), None);
        }
        assert_eq!(step(begin, Input::Wake), None);
        let done = Input::ResponseDone { slot, first_byte };
        assert_eq!(step(begin + 1, done), None, "one object is left");
        assert_eq!(step(begin + 2, last), Some(whole));
    }
}

#[test]
fn users_start_in_their_steady_state() {
    // Pareto think times: a Poisson-like flow of first pages would need the residual times. The
    // rate of first wakes in the first second is that of a renewal process in equilibrium, 1/mean.
    let think = Distribution::Pareto { shape: 1.5, min: Time::from_secs(1), max: None };
    let model = Web { think: Some(think), ..custom(0, 1, 0.0) }.compile().unwrap();
    let mut pool = Pages::new();
    let mut early = 0;
    for index in 0..30_000 {
        let mut user = Browser::new(&model, 1, 0, index);
        user.step(&model, &mut pool, Time::ZERO, Input::Start, &mut |command| {
            early += u32::from(matches!(command, Command::Wake { at } if at < Time::from_secs(1)));
        });
    }
    assert!((f64::from(early) / 10_000.0 - 1.0).abs() < 0.04, "{early}");
}

#[test]
fn a_thinking_user_is_small() {
    assert!(size_of::<Browser>() <= 64, "{}", size_of::<Browser>());
}

#[test]
fn packmime_users_fetch_what_the_model_predicts() {
    let model = Web::default().compile().unwrap();
    let (mut pages, mut exchanges, mut seconds) = (0.0, 0.0, 0.0);
    let mut rate = 0.0;
    for index in 0..2000 {
        let mut network = Network::new(index, Time(1), Time(1), 0);
        let seen = network.run(&model, &mut Browser::new(&model, 1, 0, index), 50);
        let thinking: f64 = seen.iter().map(|page| page.think.as_secs_f64()).sum();
        seconds += thinking;
        rate += 50.0 / thinking;
        pages += seen.len() as f64;
        exchanges += seen.iter().map(|page| page.exchanges.len() as f64).sum::<f64>();
    }
    assert!((seconds / pages / 15.2 - 1.0).abs() < 0.05, "{}", seconds / pages);
    assert!((exchanges / pages / 1.49 - 1.0).abs() < 0.03, "{}", exchanges / pages);
    // A user's mean think time is 2^l·exp((ln 2)²·1.21·s²/2) with l normal and s² of the gamma
    // distribution: this is the mean of one over it.
    let predicted = (-LN_2 * 3.22 + LN_2 * LN_2 * 0.73 / 2.0).exp()
        * (1.0 + LN_2 * LN_2 * 1.21 / 2.0 / 1.85).powf(-1.85);
    assert!((rate / 2000.0 / predicted - 1.0).abs() < 0.05, "{} {predicted}", rate / 2000.0);
}

/// Inputs in any order, most of them out of place.
fn inputs() -> impl Strategy<Value = Vec<(u64, Input)>> {
    let input = prop_oneof![
        Just(Input::Wake),
        (0u16..5).prop_map(|slot| Input::ResponseDone { slot, first_byte: Time(1) }),
        (0u16..5).prop_map(|slot| Input::Failed { slot }),
    ];
    proptest::collection::vec((0u64..100_000_000_000, input), 0..400)
}

proptest! {
    #[test]
    fn inputs_out_of_place_break_no_rule(
        seed: u64,
        inputs in inputs(),
        persistent in 0.0..=1.0,
        parallel in 1u8..=4,
        levels in 0u8..=3,
        servers in 0u8..=3,
    ) {
        let pages_per_connection = Some(Distribution::Uniform { min: Count(1.0), max: Count(3.0), step: None });
        let embedded = Some(Distribution::Exponential { mean: Count(3.0) });
        let (persistent, parallel) = (Some(persistent), Some(parallel));
        let level = (levels > 0).then(|| Distribution::Uniform {
            min: Count(1.0),
            max: Count(f64::from(levels)),
            step: Some(Count(1.0)),
        });
        let constant = |servers: u8| Distribution::Constant(Count(f64::from(servers)));
        let servers = (servers > 0).then(|| constant(servers));
        let web = Web {
            embedded,
            level,
            persistent,
            parallel,
            pages_per_connection,
            servers,
            ..Web::default()
        };
        let model = web.compile().unwrap();
        let mut user = Browser::new(&model, seed, 0, 0);
        let mut pool = Pages::new();
        let mut network = Network::new(1, Time(1), Time(1), 0);
        network.parallel = model.parallel();
        let mut page = Seen::default();
        let start = (0, Input::Start);
        for (gap, input) in std::iter::once(start).chain(inputs) {
            network.now += Time(gap);
            match input {
                // What the network would not say: a response or failure of nothing.
                Input::ResponseDone { slot, .. } => network.busy.retain(|busy| busy.2 != slot),
                Input::Failed { slot } => {
                    network.busy.retain(|busy| busy.2 != slot);
                    network.open.remove(&slot);
                }
                Input::Start | Input::Wake => {}
            }
            let now = network.now;
            user.step(&model, &mut pool, now, input, &mut |c| network.obey(c, &mut page));
            prop_assert_eq!(pool.active(), usize::from(!user.is_thinking()));
            // Someone always has something to say next: a response is due or a time was asked for.
            prop_assert!(!network.busy.is_empty() || network.wake != Time::MAX);
        }
    }
}
