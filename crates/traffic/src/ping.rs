//! Small request and response packets: a probe of delay.

use crate::bulk::flows;
use crate::{Codepoint, Invalid};
use sojourn_base::{Size, Time};

/// Probes of delay: a small UDP packet goes to the other side at a fixed interval and one of the
/// same size comes back.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields, default)
)]
pub struct Ping {
    /// Number of flows.
    pub flows: u32,
    /// Time from one request to the next.
    pub interval: Time,
    /// Size of request and response, headers included.
    pub size: Size,
    /// The packets' ECN codepoint.
    pub ecn: Codepoint,
}

impl Default for Ping {
    fn default() -> Self {
        Self { flows: 1, interval: Time::from_millis(100), size: Size(84), ecn: Codepoint::NotEct }
    }
}

impl Ping {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        flows(self.flows)?;
        if self.interval == Time::ZERO {
            let remedy = "must be above 0, for example \"100ms\"";
            return Err(Invalid::new("interval", self.interval, remedy));
        }
        if !(28..=65_535).contains(&self.size.0) {
            let remedy = "must be between 28B (the IPv4 and UDP headers) and 65535B";
            return Err(Invalid::new("size", self.size, remedy));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_probes_are_refused() {
        assert!(Ping::default().validate().is_ok());
        let interval = Time::ZERO;
        let error = Ping { interval, ..Ping::default() }.validate().unwrap_err();
        assert_eq!(error.field, "interval");
        assert_eq!(Ping { size: Size(1), ..Ping::default() }.validate().unwrap_err().field, "size");
    }
}
