//! A medium that several links share by Wi-Fi: what a user writes, and the checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Size, Time};

use crate::error::{Fault, steps};

/// Whose turn it is at a node that sends to several others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Turns {
    /// Whose airtime is used up waits: all get the same time on air, as in Linux's mac80211.
    #[default]
    Airtime,
    /// One aggregate each: all get to send as often.
    RoundRobin,
}

/// A medium of Wi-Fi: one transmission at a time, of whatever node wins the contention. Links name
/// it in `wifi`; those that come from the same node contend as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wifi {
    /// What links call it.
    pub name: String,
    /// A slot of the backoff, "1us" to "1ms".
    pub slot: Time,
    /// From the end of a frame to its acknowledgement, at most "1ms".
    pub sifs: Time,
    /// How long the medium must be idle before the backoff goes on, at most "1ms": AIFS, or DIFS.
    /// "43us" is that of best effort.
    pub aifs: Time,
    /// The backoff is drawn from 0 to this many slots, 1 to 32767.
    pub cw_min: u32,
    /// With every collision the window doubles, up to this: `cw_min` to 32767.
    pub cw_max: u32,
    /// What comes before the bytes of every frame: preamble and header of the PHY, at most "1ms".
    pub preamble: Time,
    /// An acknowledgement, or a block acknowledgement, with its preamble, at most "1ms".
    pub ack: Time,
    /// From the end of a collision until the medium counts as idle, at most "10ms"; `sifs` and
    /// `ack` (EIFS) if left out.
    pub ack_timeout: Option<Time>,
    /// Bytes of each frame beyond the packet and the link's `frame_overhead`: MAC header, LLC and
    /// FCS (38), and the delimiter in an aggregate (4). At most 1000.
    pub mpdu_overhead: u32,
    /// Packets in an aggregate (A-MPDU) at most, 1 to 256; 1: none is made.
    pub aggregate_packets: u32,
    /// Bytes in an aggregate at most, "1500B" to "4MiB". A packet is sent however large it is.
    pub aggregate_bytes: Size,
    /// Time of an aggregate's bytes on air at most, "10us" to "100ms". A packet is sent however
    /// long it takes.
    pub aggregate_time: Time,
    /// Aggregates that are below the disciplines, the one on air counted: 1 to 64. Linux has two.
    pub hardware: u32,
    /// Whose turn it is at a node that sends to several others: "airtime" or "round_robin".
    pub turns: Turns,
    /// With `turns = "airtime"`: the airtime that each gets in its turn, "10us" to "100ms".
    pub quantum: Time,
}

impl Default for Wifi {
    fn default() -> Self {
        Self {
            name: "wifi".into(),
            slot: Time::from_micros(9),
            sifs: Time::from_micros(16),
            aifs: Time::from_micros(43),
            cw_min: 15,
            cw_max: 1023,
            preamble: Time::from_micros(40),
            ack: Time::from_micros(32),
            ack_timeout: None,
            mpdu_overhead: 42,
            aggregate_packets: 64,
            aggregate_bytes: Size(65_535),
            aggregate_time: Time::from_millis(4),
            hardware: 2,
            turns: Turns::Airtime,
            quantum: Time::from_micros(300),
        }
    }
}

impl Wifi {
    /// From the end of a collision until the medium counts as idle.
    #[must_use]
    pub fn after_collision(&self) -> Time {
        self.ack_timeout.unwrap_or(self.sifs + self.ack)
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        let (us, ms) = (Time::from_micros, Time::from_millis);
        let times = [
            ("slot", self.slot, us(1), ms(1)),
            ("sifs", self.sifs, Time::ZERO, ms(1)),
            ("aifs", self.aifs, Time::ZERO, ms(1)),
            ("preamble", self.preamble, Time::ZERO, ms(1)),
            ("ack", self.ack, Time::ZERO, ms(1)),
            ("ack_timeout", self.after_collision(), Time::ZERO, ms(10)),
            ("aggregate_time", self.aggregate_time, us(10), ms(100)),
            ("quantum", self.quantum, us(10), ms(100)),
        ];
        for (field, time, least, most) in times {
            if !(least..=most).contains(&time) {
                let message = format!("\"{time}\" must be from \"{least}\" to \"{most}\"");
                return Err(Fault::new(steps![field], message));
            }
        }
        let counts = [
            ("cw_min", self.cw_min, 1, 32_767),
            ("cw_max", self.cw_max, self.cw_min, 32_767),
            ("mpdu_overhead", self.mpdu_overhead, 0, 1000),
            ("aggregate_packets", self.aggregate_packets, 1, 256),
            ("hardware", self.hardware, 1, 64),
        ];
        for (field, count, least, most) in counts {
            if !(least..=most).contains(&count) {
                let message = format!("{count} must be from {least} to {most}");
                return Err(Fault::new(steps![field], message));
            }
        }
        if self.turns != Turns::Airtime && self.quantum != Self::default().quantum {
            let message = format!("\"{}\" is of use with turns = \"airtime\" only", self.quantum);
            return Err(Fault::new(steps!["quantum"], message));
        }
        let bytes = self.aggregate_bytes;
        if !(1500..=4 << 20).contains(&bytes.0) {
            let message = format!("\"{bytes}\" must be from \"1500B\" to \"4MiB\"");
            return Err(Fault::new(steps!["aggregate_bytes"], message));
        }
        Ok(())
    }
}
