//! What a congestion control that looks at the path is told of losses and of the end of a pause:
//! by acknowledgements and by every timer, and in which order.

use crate::common::ms;
use crate::common::script::{MSS, Script, modern, place, ten};
use core::cell::RefCell;
use sojourn_base::Time;
use sojourn_tcp::congestion::external::{self, Decider, Settings};
use sojourn_tcp::congestion::{Congested, Lost, Sample, Window};
use sojourn_tcp::{Algorithm, Spec};

#[derive(Clone, Debug, PartialEq)]
enum Told {
    Lost(Lost),
    Sample { lost: u32 },
    Recovery,
    Timeout,
    Starts(Time),
}

thread_local! {
    static TOLD: RefCell<Vec<Told>> = const { RefCell::new(Vec::new()) };
}

fn tell(what: Told) {
    TOLD.with_borrow_mut(|told| told.push(what));
}

fn told() -> Vec<Told> {
    TOLD.take()
}

struct Listens;

impl Decider for Listens {
    fn on_loss(&mut self, _: &mut Window, _: Congested) -> bool {
        tell(Told::Recovery);
        false
    }
    fn on_timeout(&mut self, _: &mut Window, _: Congested, _: bool) {
        tell(Told::Timeout);
    }
    fn on_tx_start(&mut self, _: &mut Window, now: Time) {
        tell(Told::Starts(now));
    }
    fn on_lost(&mut self, _: &Window, lost: &Lost) {
        tell(Told::Lost(*lost));
    }
    fn on_sample(&mut self, _: &mut Window, sample: &Sample) {
        tell(Told::Sample { lost: sample.lost });
    }
}

fn listening() -> Spec {
    external::install(Box::new(|_| Box::new(Listens)));
    let class = Settings { class: "a.py:A".into(), samples: true, ..Settings::default() };
    Spec { congestion: Some(Algorithm::External(class)), tlp: Some(false), ..modern() }
}

/// Segment `n` of the first ten, of which so many are lost with it. The application had nothing to
/// send before.
fn lost(now: Time, n: u32, lost: u32, delivered: u32) -> Told {
    Told::Lost(Lost {
        now,
        bytes: MSS,
        start: u64::from(place(n)),
        end: u64::from(place(n + 1)),
        flight_then: (n + 1) * MSS,
        lost_since: lost * MSS,
        app_limited: true,
        delivered: u64::from(delivered * MSS),
    })
}

#[test]
fn losses_that_an_acknowledgement_shows_come_before_its_sample_and_the_recovery() {
    let mut s = ten(&listening());
    told();
    s.sack(0, &[(2, 5)]);
    let expected = [
        lost(s.now, 0, 1, 3),
        lost(s.now, 1, 2, 3),
        Told::Sample { lost: 2 * MSS },
        Told::Recovery,
    ];
    assert_eq!(told(), expected);
}

/// RFC 8985 section 6.2 step 5.
#[test]
fn losses_that_the_reordering_timer_shows_are_told_at_once() {
    let mut s = ten(&listening());
    s.sack(0, &[(1, 2)]);
    told();
    s.wait(60);
    let told = told();
    let Some(&Told::Lost(first)) = told.first() else { panic!("{told:?}") };
    assert_eq!(told, [lost(first.now, 0, 1, 1), Told::Recovery]);
    assert!(first.now > s.now - ms(60) && first.now < s.now);
}

/// RFC 6298 rule 5.4: after a timeout all that is outstanding and overdue is lost.
#[test]
fn losses_that_a_timeout_shows_are_told_at_once() {
    let mut s = ten(&listening());
    told();
    s.wait(2000);
    let told = told();
    assert_eq!(told[0], Told::Timeout);
    let Told::Lost(first) = told[1] else { panic!("{told:?}") };
    for n in 0..10 {
        assert_eq!(told[n as usize + 1], lost(first.now, n, n + 1, 0));
    }
}

/// draft-ietf-ccwg-bbr-05 section 5.4.1: however short the pause, but only where the application
/// had no more to send.
#[test]
fn the_end_of_a_pause_is_told() {
    let mut s = Script::connected(&listening());
    s.write(u64::from(3 * MSS));
    s.wait(100);
    told();
    s.ack(3);
    assert_eq!(told(), [Told::Sample { lost: 0 }]);
    s.wait(5);
    s.write(u64::from(2 * MSS));
    assert_eq!(told(), [Told::Starts(s.now)]);
    // Something is in flight.
    s.write(u64::from(2 * MSS));
    assert_eq!(told(), []);
}
