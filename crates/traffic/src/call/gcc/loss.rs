//! The rate by loss (section 6).

use sojourn_base::Time;

/// Above this loss the rate falls.
const HEAVY: f64 = 0.1;
/// Below this loss it grows.
const LIGHT: f64 = 0.02;
/// Growth at each feedback.
const FACTOR: f64 = 1.05;
/// Over which time loss is taken.
const WINDOW: Time = Time::from_secs(1);

/// The rate by loss, and what is lost.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    rate: f64,
    /// When the present window began; none before the first feedback.
    began: Option<Time>,
    came: u64,
    lost: u64,
    /// Whether the last whole window lost little.
    light: bool,
}

impl Loss {
    pub(super) fn new(rate: f64) -> Self {
        Self { rate, began: None, came: 0, lost: 0, light: true }
    }

    /// Feedback on so many packets; the rate, which is `most` at most.
    pub(super) fn update(&mut self, now: Time, came: u64, lost: u64, most: f64) -> f64 {
        self.came += came;
        self.lost += lost;
        let began = *self.began.get_or_insert(now);
        if now.saturating_sub(began) >= WINDOW {
            let loss = self.lost as f64 / (self.came + self.lost).max(1) as f64;
            if loss > HEAVY {
                self.rate *= 1.0 - 0.5 * loss;
            }
            self.light = loss < LIGHT;
            (self.began, self.came, self.lost) = (Some(now), 0, 0);
        } else if self.light {
            self.rate *= FACTOR;
        }
        self.rate = self.rate.min(most);
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_loss_lowers_light_loss_raises_and_between_it_stays() {
        let mut loss = Loss::new(1e6);
        let mut second = 0;
        // A window of a second, of a hundred packets; and the rate when the next one begins.
        let mut rate = |lost| {
            second += 1;
            loss.update(Time::from_secs(second), 100 - lost, lost, 2e6)
        };
        assert_eq!(rate(0), 1.05e6, "the first feedback begins a window");
        assert_eq!(rate(0), 1.05e6, "the second ends it");
        assert_eq!(rate(20), 1.05e6 * 0.9);
        assert_eq!(rate(5), 1.05e6 * 0.9);
        assert_eq!(rate(0), 1.05e6 * 0.9);
        let tenth = |loss: &mut Loss, at| loss.update(Time::from_millis(at), 10, 0, 2e6);
        assert_eq!(tenth(&mut loss, 5100), 1.05e6 * 0.9 * 1.05, "again after little loss");
        assert_eq!(
            (2..9).map(|i| tenth(&mut loss, 5000 + 100 * i)).last(),
            Some(1.05e6 * 0.9 * libm::pow(1.05, 8.0))
        );
    }
}
