//! A loop in the complex plane, and what CoDel has there in place of margins.

use super::bottleneck::{Bottleneck, Loop};
use super::nyquist::{Nyquist, written};
use crate::QueueLaw;

impl Bottleneck {
    /// The loop about its operating point, and its curve in the complex plane.
    ///
    /// The describing function of [CoDel](crate::Codel) is that of one amplitude. Small swings grow
    /// and large ones decay, so that neither margin says anything. Without an amplitude of its own
    /// the curve is that of the swings which last, where it goes through −1, and `words` tell of
    /// them.
    ///
    /// # Errors
    /// If there is no operating point, or no such curve: of a loop with two delays, or under CoDel
    /// if swings that last would empty the queue.
    pub fn nyquist(&self) -> Result<(Loop, Nyquist), String> {
        let (found, curve) = self.curve()?;
        let QueueLaw::Codel(law) = self.answer()?.made.law else { return Ok((found, curve)) };
        if self.amplitude.is_some() {
            return Ok((found, curve));
        }
        let (Some(gain), Some(omega)) = (curve.gain_margin, curve.phase_crossover) else {
            return Err("no swings of the delay last".into());
        };
        let amplitude = law.amplitude / gain;
        let ms = |seconds: f64| written(seconds * 1e3, 0);
        let rest = found.point.queue / found.point.capacity;
        if amplitude > rest {
            return Err(format!(
                "swings of the delay that last would be of {} ms about {} ms, and empty the queue",
                ms(amplitude),
                ms(rest)
            ));
        }
        let (_, lasting) = Self { amplitude: Some(amplitude), ..self.clone() }.curve()?;
        let period = std::f64::consts::TAU / omega;
        let words = format!(
            "a cycle: the delay swings by {} ms to either side within {} s",
            ms(amplitude),
            written(period, 1)
        );
        let none = Nyquist {
            stable: false,
            words,
            phase_margin_deg: None,
            gain_crossover: None,
            gain_margin: None,
            phase_crossover: Some(omega),
            delay_margin_s: None,
            ..lasting
        };
        Ok((found, none))
    }

    fn curve(&self) -> Result<(Loop, Nyquist), String> {
        let found = self.linearise()?;
        let curve =
            found.nyquist().ok_or("this loop has two delays, and its curve is not drawn")?;
        Ok((found, curve))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codel(rest: &str) -> Bottleneck {
        let text = format!(
            r#"{{"flows": 60, "capacity": 3750, "propagation": 0.2, "qdisc": {{"kind": "codel",
                "target": "50ms", "interval": "1s"}}{rest}}}"#
        );
        sojourn_scenario::from_json(&text).unwrap()
    }

    #[test]
    fn under_codel_the_curve_of_what_lasts_goes_through_minus_one() {
        let (_, curve) = codel("").nyquist().unwrap();
        assert!(curve.distance < 1e-3, "{}", curve.distance);
        assert!(curve.words.starts_with("a cycle: the delay swings by "), "{}", curve.words);
        assert_eq!((curve.phase_margin_deg, curve.gain_margin), (None, None));
        // Half of it grows, twice as much decays.
        let swings = |amplitude: f64| codel(&format!(r#", "amplitude": {amplitude}"#));
        let at = |amplitude: f64| swings(amplitude).nyquist().unwrap().1;
        let lasts = 0.05 / at(0.05).gain_margin.unwrap();
        assert!(!at(lasts / 2.0).stable && at(lasts * 2.0).stable);
        let said = format!("by {} ms to either side", written(lasts * 1e3, 0));
        assert!(curve.words.contains(&said), "{} and {said}", curve.words);
    }

    #[test]
    fn swings_beyond_the_queue_are_no_cycle() {
        let text = r#"{"flows": 1, "capacity": 833, "propagation": 0.08, "qdisc": "codel"}"#;
        let wrong = sojourn_scenario::from_json::<Bottleneck>(text).unwrap().nyquist().unwrap_err();
        assert!(wrong.ends_with(" ms about 5.0 ms, and empty the queue"), "{wrong}");
    }
}
