//! The link that a discipline serves, as far as it matters to it.

use sojourn_base::{Invalid, Rate};

/// What a discipline may know of the link it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Env {
    /// The link's rate.
    pub rate: Rate,
    /// The size in bytes of a typical packet on this link, 40 to 65535; it counts where a
    /// discipline is not given a `mean_packet` of its own.
    pub mean_packet: u32,
}

impl Env {
    /// The rate in packets of `mean` bytes per second; for set-up.
    #[must_use]
    pub fn packets_per_second(&self, mean: u32) -> f64 {
        self.rate.as_f64() / (8.0 * f64::from(mean))
    }

    pub(crate) fn validate(&self) -> Result<(), Invalid> {
        if self.rate.0 == 0 {
            return Err(Invalid::new("rate", self.rate, "the link's rate must be above zero"));
        }
        mean_packet(None, self).map(|_| ())
    }
}

/// The mean packet a discipline reckons with: its own parameter or, without one, the link's.
pub(crate) fn mean_packet(own: Option<u32>, env: &Env) -> Result<u32, Invalid> {
    let mean = own.unwrap_or(env.mean_packet);
    if !(40..=65_535).contains(&mean) {
        return Err(Invalid::new(
            "mean_packet",
            mean,
            "must be 40 to 65535 bytes, for example 500 or 1500",
        ));
    }
    Ok(mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_packet_is_its_own_or_the_links_and_40_to_65535_bytes() {
        let env = Env { rate: Rate(8_000_000), mean_packet: 1000 };
        let mean = |own| mean_packet(own, &env).ok();
        assert_eq!([Some(40), Some(65_535), None].map(mean), [Some(40), Some(65_535), Some(1000)]);
        assert_eq!([Some(39), Some(65_536)].map(mean), [None; 2]);
    }
}
