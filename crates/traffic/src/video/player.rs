//! One viewer's player as a state machine.

use super::adaptation::{Throughputs, choose};
use super::params::VideoModel;
use super::playback::Playback;
use crate::{Client, Command, Exchange, Input, Priority};
use sojourn_base::Time;

/// The one connection.
const SLOT: u16 = 0;
/// How long after a lost connection it is opened anew.
const PATIENCE: Time = Time::from_secs(1);

/// One viewer. Nothing is drawn: all follows from when segments come.
#[derive(Clone, Debug, Default)]
pub struct Player {
    playback: Playback,
    throughputs: Throughputs,
    /// The rung of the segment that came last; none before the first.
    rung: Option<usize>,
    /// The rung of the segment on its way and when it was asked for; none while none is.
    asked: Option<(usize, Time)>,
    /// When the next one will be.
    armed: Option<Time>,
    open: bool,
}

impl Client for Player {
    type Shared = VideoModel;

    fn tell(
        &mut self,
        model: &mut VideoModel,
        now: Time,
        input: Input,
        out: &mut impl FnMut(Command),
    ) {
        match input {
            Input::Start => {
                self.playback = Playback::begin(now);
                self.fetch(model, now, out);
            }
            Input::Wake => {
                if self.armed.take_if(|at| *at <= now).is_some() {
                    self.fetch(model, now, out);
                }
            }
            Input::ResponseDone { .. } => {
                let Some((rung, asked)) = self.asked.take() else { return };
                self.throughputs.note(model.bytes(rung), now.saturating_sub(asked));
                if self.rung.replace(rung).is_some_and(|last| last != rung) {
                    self.playback.switch();
                }
                self.playback.add(now, model.ladder[rung], model.segment, model.startup);
                let full = (self.playback.buffered() + model.segment).saturating_sub(model.buffer);
                if full == Time::ZERO {
                    self.fetch(model, now, out);
                } else {
                    self.wake(now + full, out);
                }
            }
            Input::Failed { .. } => {
                self.open = false;
                if self.asked.take().is_some() {
                    self.wake(now + PATIENCE, out);
                }
            }
        }
    }

    fn playback(&self) -> Option<Playback> {
        Some(self.playback)
    }
}

impl Player {
    fn wake(&mut self, at: Time, out: &mut impl FnMut(Command)) {
        self.armed = Some(at);
        out(Command::Wake { at });
    }

    /// Asks for the next segment.
    fn fetch(&mut self, model: &VideoModel, now: Time, out: &mut impl FnMut(Command)) {
        if !std::mem::replace(&mut self.open, true) {
            out(Command::Open { slot: SLOT, server: 0 });
        }
        let rung = choose(model, &self.throughputs, self.playback.at(now).buffered());
        self.asked = Some((rung, now));
        let exchange = Exchange {
            response: model.bytes(rung),
            server_delay: Time::ZERO,
            request: model.request,
            primary: false,
            priority: Priority::default(),
        };
        out(Command::Request { slot: SLOT, exchange });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adaptation, Video};
    use proptest::prelude::*;
    use sojourn_base::Rate;

    /// A viewer over a pipe of constant rates, each for one segment; what it has seen at the end.
    fn over(video: &Video, rates: &[u64]) -> (Vec<u64>, Playback, Time) {
        let mut model = video.compile().unwrap();
        let (mut player, mut now, mut asked) = (Player::default(), Time::ZERO, Vec::new());
        let mut input = Input::Start;
        let mut screen = Playback::default();
        for &rate in rates {
            let mut wanted = None;
            while wanted.is_none() {
                let mut wake = None;
                player.tell(&mut model, now, input, &mut |command| match command {
                    Command::Request { exchange, .. } => wanted = Some(exchange.response),
                    Command::Wake { at } => wake = Some(at),
                    _ => {}
                });
                screen = player.playback;
                if let Some(at) = wake {
                    (now, input) = (at, Input::Wake);
                }
            }
            let bytes = wanted.unwrap();
            asked.push(bytes * 8 / 4);
            now += Time((bytes as f64 * 8e9 / rate as f64) as u64);
            input = Input::ResponseDone { slot: SLOT, first_byte: now };
        }
        (asked, screen.at(now), now)
    }

    #[test]
    fn steady_rate_is_found_and_kept_without_a_stall() {
        for adaptation in [Adaptation::Throughput, Adaptation::Bola] {
            let video = Video { adaptation, ..Video::default() };
            let (asked, screen, now) = over(&video, &[3_500_000; 60]);
            let viewed = screen.viewed();
            assert_eq!((viewed.stalls, viewed.begun), (0, 1));
            assert_eq!(viewed.startup + viewed.played, now);
            assert_eq!(viewed.startup, Time(117_500 * 8_000_000_000 / 3_500_000), "one segment");
            if adaptation == Adaptation::Throughput {
                // 90 % of 3.5 Mb/s are 3.15.
                assert!(asked[1..].iter().all(|&rate| rate == 3_000_000), "{asked:?}");
                assert_eq!(viewed.switches, 1);
            }
        }
    }

    #[test]
    fn too_slow_a_line_stalls_for_what_is_missing() {
        let ladder = vec![Rate(1_000_000)];
        let (_, screen, now) = over(&Video { ladder, ..Video::default() }, &[500_000; 10]);
        let viewed = screen.viewed();
        // Segments of 4 s come every 8 s: the first at 8 s.
        assert_eq!((viewed.startup, now), (Time::from_secs(8), Time::from_secs(80)));
        assert_eq!((viewed.stalls, viewed.stalled), (9, Time::from_secs(36)));
        assert_eq!(viewed.played, Time::from_secs(36), "the last has just come");
        assert_eq!(screen.leave(now).at(now + PATIENCE).viewed(), viewed, "nobody is there");
    }

    proptest! {
        /// Time passes in one state or another; what is played has come; the buffer has its bound.
        #[test]
        fn screens_add_up(
            rates in proptest::collection::vec(50_000u64..20_000_000, 1..60),
            bola in any::<bool>(),
            startup in (4u64..12).prop_map(Time::from_secs),
        ) {
            let adaptation = if bola { Adaptation::Bola } else { Adaptation::Throughput };
            let video = Video { adaptation, startup: Some(startup), ..Video::default() };
            let (asked, screen, now) = over(&video, &rates);
            let viewed = screen.viewed();
            let came = Time(video.segment.0 * viewed.segments);
            prop_assert!(viewed.played + screen.buffered() == came);
            prop_assert!(screen.buffered() <= video.buffer);
            prop_assert!(viewed.begun == 0 || viewed.startup + viewed.played + viewed.stalled == now);
            prop_assert!(viewed.switches < asked.len() as u64);
        }
    }
}
