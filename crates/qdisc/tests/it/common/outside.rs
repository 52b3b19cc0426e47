//! Deciders that stand for classes written outside, for the discipline `python`.

use sojourn_base::{Stream, Time};
use sojourn_qdisc::external::{self, Decider, Decision, View};
use sojourn_qdisc::{Config, Standing};

struct Drawn {
    coin: Stream,
    arrival: bool,
    departure: bool,
    updates: u64,
}

impl Drawn {
    fn decide(&mut self) -> Decision {
        match self.coin.below(6) {
            0 => Decision::Drop,
            1 => Decision::Mark,
            _ => Decision::Pass,
        }
    }
}

impl Decider for Drawn {
    fn enqueue(&mut self, _: Time, packet: View, _: Standing) -> Decision {
        assert_eq!(packet.sojourn, Time::ZERO);
        if self.arrival { self.decide() } else { Decision::Pass }
    }
    fn dequeue(&mut self, _: Time, _: View, _: Standing) -> Decision {
        if self.departure { self.decide() } else { Decision::Pass }
    }
    fn update(&mut self, now: Time, _: Standing) {
        self.updates += 1;
        assert_eq!(now, Time(self.updates * 1_000_000_000_000));
    }
    fn period(&self) -> Option<Time> {
        (self.arrival || self.departure).then_some(Time::from_secs(1000))
    }
    fn probability(&self) -> f64 {
        1.0 / 3.0
    }
}

/// Makes the classes "pass", "arrival", "departure" and "both" known.
pub(crate) fn install() {
    external::install(Box::new(|params, _, coin| {
        let both = params.class == "both";
        let arrival = both || params.class == "arrival";
        let departure = both || params.class == "departure";
        Ok(Box::new(Drawn { coin, arrival, departure, updates: 0 }))
    }));
}

/// The discipline called `name`; its parameters are the defaults, where these will do.
pub(crate) fn sample(name: &str) -> Config {
    install();
    match Config::named(name).expect("listed") {
        Config::External(params) => {
            Config::External(external::Params { class: "pass".into(), ..params })
        }
        config => config,
    }
}
