//! The books of a network as an engine keeps them, with the rows that they make: in memory.

use sojourn_base::Time;
use sojourn_records::{
    Exchange, ExchangeRow, FlowRow, FlowSummary, GroupBook, GroupSummary, Names, Outcome, PageRow,
    Provenance, QueueRow, Recorder, Row, Summary, Totals, TraceRow, TransferRow, VideoSummary,
};
use sojourn_scenario::{Network, Scenario};
use sojourn_traffic::{PageEnded, Viewed};

/// A web group, a call and a ping over a link with a rate; the way back has none.
fn network(more: &str) -> Network {
    let text = format!(
        "name = \"books\"\nseed = 3\nduration = \"20s\"\nwarmup = \"5s\"\n[bottleneck]\n\
         rate = \"10mbit\"\nreverse = \"ideal\"\n[[traffic]]\nkind = \"web\"\nname = \"people\"\n\
         users = 3\n[[traffic]]\nkind = \"call\"\nname = \"calls\"\nflows = 2\n[[traffic]]\n\
         kind = \"ping\"\nname = \"pings\"\n{more}"
    );
    Scenario::from_toml(&text, "test").unwrap().network(".".as_ref()).unwrap()
}

/// A group whose members' windows may be traced.
const LONG: &str = "[[traffic]]\nkind = \"bulk\"\nname = \"long\"\nflows = 2\n";

const MS: Time = Time::from_millis(1);

/// The rows that a recorder in memory has got since the last time, each with all its columns; NaN
/// as −1.
fn rows<R: Row>(recorder: &mut Recorder) -> Vec<Vec<f64>> {
    let numbers = recorder.take(R::NAME).unwrap();
    let count = numbers.len() / R::COLUMNS.len();
    let value = |x: f64| if x.is_nan() { -1.0 } else { x };
    let row = |at| numbers.iter().skip(at).step_by(count.max(1)).map(|x| value(*x)).collect();
    (0..count).map(row).collect()
}

fn totals(sent: u64, received: u64) -> Totals {
    Totals { sent, received, ..Totals::default() }
}

#[test]
fn an_exchange_s_row_has_its_times_and_what_its_connection_counted_meanwhile() {
    let network = network("[probes]\nexchanges = true\n");
    let mut recorder = Recorder::in_memory();
    recorder.open_exchanges(&network.probes);
    let mut book = GroupBook::new(0, &network.groups[0]);
    assert!(!book.measuring() && !book.has_flows());
    book.start_window(MS * 50, book.totals([]));
    assert!(book.measuring());
    let counted = |timeouts, retransmissions, syn_retries| Totals {
        timeouts,
        retransmissions,
        syn_retries,
        ..Totals::default()
    };
    let mut exchange = Exchange::request(MS * 100, 350, 10_000, MS * 7);
    assert_eq!(exchange.server_delay, MS * 7);
    book.begin(&mut exchange, counted(1, 5, 1));
    exchange.requested = MS * 120;
    assert_eq!(exchange.time_to_first_byte(), None);
    let failed = exchange;
    exchange.first_byte = MS * 150;
    let after = (2, counted(3, 9, 2));
    book.end(&exchange, after, MS * 400, Outcome::Finished, &mut recorder);
    book.end(&failed, after, MS * 500, Outcome::Failed, &mut recorder);
    let start = [0.0, 2.0, 0.1, 0.12];
    let spent = [2.0, 4.0, 1.0];
    let good = [&start[..], &[0.15, 0.4, 350.0, 10_000.0, 0.3, 0.03], &spent, &[0.0]].concat();
    let bad = [&start[..], &[-1.0, -1.0, 350.0, 10_000.0, -1.0, -1.0], &spent, &[2.0]].concat();
    assert_eq!(rows::<ExchangeRow>(&mut recorder), [good, bad]);
    assert!(rows::<ExchangeRow>(&mut recorder).is_empty(), "they are taken once");
    book.end_window(MS * 1050, []);
    let summary = book.summary(MS * 1000);
    assert_eq!((summary.started, summary.finished, summary.failed), (1, 1, 1));
    assert_eq!(summary.response_time_s.quantiles.mean, Some(0.3));
    assert_eq!(summary.first_byte_s.unwrap().quantiles.max, Some(0.03));
    assert_eq!((summary.name, summary.kind, summary.members), ("people".into(), "web".into(), 3));
    assert!(summary.call.is_none() && summary.video.is_none());
}

#[test]
fn a_page_s_row_is_whole_or_failed() {
    let network = network("[probes]\nexchanges = true\n");
    let mut recorder = Recorder::in_memory();
    recorder.open_exchanges(&network.probes);
    let mut book = GroupBook::new(0, &network.groups[0]);
    let mut page = PageEnded {
        begun: MS * 100,
        first_byte: Some(MS * 160),
        objects: 4,
        bytes: 5000,
        byte_index: Some(MS * 200),
    };
    book.page_ends(1, &page, MS * 900, &mut recorder);
    page.byte_index = None;
    book.page_ends(2, &page, MS * 700, &mut recorder);
    let found = rows::<PageRow>(&mut recorder);
    assert_eq!(found[0], [0.0, 1.0, 0.1, 0.16, 0.9, 4.0, 5000.0, 0.8, 0.06, 0.2, 0.0]);
    assert_eq!(found[1], [0.0, 2.0, 0.1, 0.16, 0.7, 4.0, 5000.0, -1.0, 0.06, -1.0, 2.0]);
}

#[test]
fn a_ping_s_answer_is_a_transfer_and_a_round_trip() {
    let network = network("[probes]\nexchanges = true\n");
    let mut recorder = Recorder::in_memory();
    recorder.open_exchanges(&network.probes);
    let mut book = GroupBook::new(2, &network.groups[2]);
    book.ask();
    book.echoed(0, 56, MS, MS * 31, &mut recorder);
    book.start_window(MS * 50, book.totals([]));
    book.ask();
    book.ask();
    book.echoed(0, 56, MS * 60, MS * 80, &mut recorder);
    book.end_window(MS * 100, []);
    book.ask();
    book.echoed(0, 56, MS * 70, MS * 120, &mut recorder);
    let found = rows::<TransferRow>(&mut recorder);
    assert_eq!(found.len(), 3);
    assert_eq!(found[1], [2.0, 0.0, 0.06, 0.08, 56.0, 0.02, 0.0, 0.0, 0.0, 0.0]);
    let summary = book.summary(MS * 50);
    assert_eq!((summary.started, summary.finished), (2, 1));
    assert_eq!((summary.rtt_s.max, summary.response_time_s.count), (Some(0.02), 1));
    assert!(summary.pages.is_none() && summary.jain.is_none());
}

#[test]
fn a_call_counts_the_frames_whose_time_comes_in_the_window() {
    let network = network("");
    let mut book = GroupBook::new(1, &network.groups[1]);
    assert!(book.has_flows());
    book.frame(MS * 10, false);
    book.one_way(MS);
    book.start_window(MS * 50, book.totals([(0, totals(10, 9))]));
    book.frame(MS * 49, false);
    book.frame(MS * 50, true);
    book.frame(MS * 60, false);
    book.frame(MS * 70, true);
    book.frame(MS * 80, true);
    book.one_way(MS * 20);
    book.one_way(MS * 40);
    book.end_window(MS * 90, [(0, totals(50, 39)), (1, totals(60, 55))]);
    book.frame(MS * 95, false);
    let summary = book.summary(MS * 40);
    assert_eq!((summary.started, summary.finished), (100, 85));
    let call = summary.call.unwrap();
    assert_eq!((call.frames, call.late, call.loss), (4, Some(0.25), Some(0.15)));
    assert_eq!((call.delay_s.count, call.delay_s.quantiles.mean), (2, Some(0.03)));
}

#[test]
fn what_is_open_counts_with_its_member_s_account() {
    let network = network("");
    let mut book = GroupBook::new(1, &network.groups[1]);
    let one = Totals {
        delivered: 1,
        sent: 20,
        received: 300,
        retransmissions: 4000,
        timeouts: 50_000,
        syn_retries: 600_000,
    };
    *book.account(0) += one;
    *book.account(0) += one;
    *book.account(1) += one;
    let sums = book.totals([(1, one), (1, one)]);
    for (sum, times) in sums.iter().zip([2, 3]) {
        let of = |x: u64| x * times;
        let exact = Totals {
            delivered: of(1),
            sent: of(20),
            received: of(300),
            retransmissions: of(4000),
            timeouts: of(50_000),
            syn_retries: of(600_000),
        };
        assert_eq!(*sum, exact);
        assert_eq!(sum.since(&one).since(&one), if times == 3 { one } else { Totals::default() });
    }
    book.start_window(Time::ZERO, vec![Totals::default(); 2]);
    book.end_window(MS * 1000, [(1, one), (1, one)]);
    let summary = book.summary(MS * 1000);
    // (2 + 3)² / (2 (4 + 9)).
    assert_eq!((summary.goodput_bps, summary.jain), (Some(40.0), Some(25.0 / 26.0)));
    assert_eq!((summary.retransmissions, summary.timeouts), (Some(20_000), Some(250_000)));
    let flows = book.flows(MS * 1000);
    let [_, second] = &flows[..] else { panic!("two flows") };
    assert_eq!((second.group.as_str(), second.index), ("calls", 1));
    assert_eq!((second.retransmissions, second.timeouts), (Some(12_000), Some(150_000)));
}

#[test]
fn members_that_are_no_flows_have_one_account() {
    let network = network("");
    let mut book = GroupBook::new(0, &network.groups[0]);
    *book.account(0) += totals(5, 2);
    *book.account(2) += totals(10, 3);
    assert_eq!(book.totals([(1, totals(20, 4)), (2, totals(40, 5))]), [totals(75, 14)]);
    assert!(book.flows(MS).is_empty());
}

#[test]
fn the_head_of_a_summary_is_that_of_its_network() {
    let network = network(&format!("{LONG}[probes]\nflows = true\ntraces = [\"long.1\"]\n"));
    let names = Names::of(&network);
    assert_eq!(names.links, ["bottleneck"]);
    assert_eq!(names.groups, ["people", "calls", "pings", "long"]);
    assert_eq!(names.flows, ["long.1"]);
    let end = network.duration;
    for (end, early) in [(end, false), (MS * 6000, true), (MS * 1000, true)] {
        let summary = Summary::of("packets", &network, end);
        assert_eq!((summary.version.as_str(), summary.seed), (env!("CARGO_PKG_VERSION"), 3));
        assert_eq!((summary.engine.as_str(), summary.name.as_str()), ("packets", "books"));
        assert_eq!((summary.simulated_s, summary.stopped_early), (end.as_secs_f64(), early));
        assert_eq!(summary.window_s, (5.0f64.min(end.as_secs_f64()), end.as_secs_f64()));
        let timed = Summary { wall_s: 1.0, engine_seconds: 2.0, ..summary.clone() };
        assert_eq!(timed.without_wall_time(), summary);
    }
    let run = Provenance::of("packets", &network);
    assert_eq!((run.engine.as_str(), run.seed), ("packets", 3));
    assert!(run.scenario.contains("\"name\":\"books\""), "{}", run.scenario);

    let mut recorder = Recorder::in_memory();
    recorder.begin(names.clone());
    assert_eq!(recorder.names().groups, names.groups);
    recorder.open_exchanges(&network.probes);
    recorder.open_flows(&network.probes);
    assert!(recorder.wants::<FlowRow>() && recorder.wants::<TraceRow>());
    assert!(!recorder.wants::<ExchangeRow>() && !recorder.wants::<PageRow>());
    let mut summary = Summary::of("packets", &network, end);
    let flow = |index| FlowSummary { index, delay_s: Some(0.25), ..FlowSummary::default() };
    summary.add_group(GroupSummary::of(&network.groups[0]), None, &mut recorder);
    let flows = Some(vec![flow(0), flow(1)]);
    summary.add_group(GroupSummary::of(&network.groups[1]), flows, &mut recorder);
    assert_eq!((summary.groups.len(), summary.flows.len()), (2, 2));
    let found = rows::<FlowRow>(&mut recorder);
    assert_eq!(found[1][..4], [1.0, 1.0, -1.0, 0.25]);
}

#[test]
fn tables_in_memory_grow_and_a_copy_begins_without_rows() {
    let network = network("");
    let mut recorder = Recorder::in_memory();
    recorder.begin(Names::of(&network));
    recorder.open_flows(&network.probes);
    assert!(!recorder.wants::<FlowRow>(), "nobody asked for it");
    recorder.open::<TransferRow>();
    let mut book = GroupBook::new(2, &network.groups[2]);
    // More than a buffer on its way to a file would hold.
    for n in 0..10_000 {
        book.echoed(0, n, MS, MS * 2, &mut recorder);
    }
    let mut copy = recorder.for_copy();
    assert_eq!(copy.names().groups, ["people", "calls", "pings"]);
    assert!(copy.wants::<TransferRow>() && !copy.wants::<QueueRow>());
    book.echoed(0, 7, MS, MS * 2, &mut copy);
    assert_eq!(rows::<TransferRow>(&mut copy).len(), 1);
    let found = rows::<TransferRow>(&mut recorder);
    assert_eq!((found.len(), found[9999][4]), (10_000, 9999.0));
    assert_eq!(recorder.take("queues"), Some(vec![]));
    assert_eq!(recorder.take("no such table"), None);
    assert_eq!(recorder.finish().unwrap(), []);
    assert!(!Recorder::none().for_copy().wants::<TransferRow>());
}

#[test]
fn what_viewers_saw_in_seconds_and_shares() {
    let viewed = Viewed {
        begun: 4,
        startup: MS * 6000,
        played: MS * 90_000,
        stalled: MS * 10_000,
        stalls: 5,
        segments: 20,
        rates: 60_000_000,
        switches: 3,
    };
    let exact = VideoSummary {
        played_s: 90.0,
        stalled_s: 10.0,
        stalled: Some(0.1),
        stalls: 5,
        segments: 20,
        bitrate_bps: Some(3e6),
        switches: 3,
        begun: 4,
        startup_s: Some(1.5),
    };
    assert_eq!(VideoSummary::of(&viewed), exact);
}
