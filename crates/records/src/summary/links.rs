//! Of a link: what passed, what stood, what was lost.

use super::Quantiles;
use crate::{Imbalance, LinkCounts};
use serde::{Deserialize, Serialize};

/// One direction of one link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// The link's name.
    pub name: String,
    /// Its rate in bits per second, the mean over the window if it changes; `None` for an ideal
    /// link without one.
    pub rate_bps: Option<u64>,
    /// Bytes sent over those that the rate allowed in the window, 0 to 1; `None` without a rate.
    pub utilisation: Option<f64>,
    /// Bytes of IP packets sent in the window, as bits per second.
    pub throughput_bps: Option<f64>,
    /// Packets and bytes.
    #[serde(flatten)]
    pub counts: LinkCounts,
    /// See [`LinkCounts::loss`].
    pub loss: Option<f64>,
    /// See [`LinkCounts::mark_fraction`].
    pub mark_fraction: Option<f64>,
    /// Length of the queue over time, in packets, without the packet in transmission.
    pub queue_packets: Quantiles,
    /// Length of the queue over time, in bytes, without the packet in transmission.
    pub queue_bytes: Quantiles,
    /// Waiting time in the queue of packets that were sent, in seconds.
    pub sojourn_s: Quantiles,
    /// The least length of the queue in a sliding window, in packets: its mean over time, and its
    /// maximum. What stands there however traffic comes and goes.
    #[serde(default)]
    pub standing_packets: Quantiles,
    /// The least waiting time in a sliding window, in seconds: mean over time, and maximum.
    #[serde(default)]
    pub standing_s: Quantiles,
    /// Packets lost on the wire, after their transmission; they are no drops of the queue.
    #[serde(default)]
    pub lost: u64,
    /// Bytes of those packets.
    #[serde(default)]
    pub lost_bytes: u64,
    /// The queue of the device below the discipline, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceSummary>,
}

impl LinkSummary {
    /// Checks that no packet and no byte appeared or vanished, at the queue, in the device and on
    /// the wire.
    ///
    /// # Errors
    /// The first law that does not hold.
    pub fn check_conservation(&self) -> Result<(), Imbalance> {
        let LinkCounts { dequeued, dequeued_bytes, .. } = self.counts;
        self.counts.check_conservation()?;
        let (mut sent, mut sent_bytes) = (dequeued, dequeued_bytes);
        if let Some(device) = &self.device {
            Imbalance::unless_equal(
                "packets in the device: queued at start + dequeued = sent + queued at end",
                [device.queued_at_start, dequeued],
                [device.sent, device.queued_at_end],
            )?;
            Imbalance::unless_equal(
                "bytes in the device: queued at start + dequeued = sent + queued at end",
                [device.queued_at_start_bytes, dequeued_bytes],
                [device.sent_bytes, device.queued_at_end_bytes],
            )?;
            (sent, sent_bytes) = (device.sent, device.sent_bytes);
        }
        Imbalance::unless_at_most("packets: lost <= sent", self.lost, sent)?;
        Imbalance::unless_at_most("bytes: lost <= sent", self.lost_bytes, sent_bytes)
    }
}

/// The queue of a device, between a link's discipline and its transmitter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Packets whose transmission began.
    pub sent: u64,
    /// Bytes of those packets.
    pub sent_bytes: u64,
    /// Packets in it when the window began.
    pub queued_at_start: u64,
    /// Bytes of those packets.
    pub queued_at_start_bytes: u64,
    /// Packets in it when the window ended.
    pub queued_at_end: u64,
    /// Bytes of those packets.
    pub queued_at_end_bytes: u64,
    /// Its length over time, in packets, without the packet in transmission.
    pub queue_packets: Quantiles,
    /// Its length over time, in bytes, without the packet in transmission.
    pub queue_bytes: Quantiles,
    /// Waiting time in it of packets that were sent, in seconds.
    pub sojourn_s: Quantiles,
    /// What stands in it, in packets: see the link's.
    pub standing_packets: Quantiles,
    /// What stands in it, as waiting time in seconds: see the link's.
    pub standing_s: Quantiles,
    /// The limit in bytes that byte queue limits had reached at the end; `None` without them.
    pub limit_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_device_is_given_it_sends_or_holds() {
        let counts = LinkCounts {
            arrived: 9,
            arrived_bytes: 9_000,
            enqueued: 9,
            enqueued_bytes: 9_000,
            dequeued: 9,
            dequeued_bytes: 9_000,
            ..LinkCounts::default()
        };
        let device = DeviceSummary {
            queued_at_start: 2,
            queued_at_start_bytes: 2_000,
            sent: 8,
            sent_bytes: 8_000,
            queued_at_end: 3,
            queued_at_end_bytes: 3_000,
            ..DeviceSummary::default()
        };
        let good = LinkSummary {
            counts,
            lost: 8,
            lost_bytes: 8_000,
            device: Some(device),
            ..LinkSummary::default()
        };
        assert_eq!(good.check_conservation(), Ok(()));
        let broken: [fn(&mut LinkSummary, &mut DeviceSummary); 4] = [
            |_, device| device.sent += 1,
            |_, device| device.queued_at_end_bytes -= 1,
            |link, _| link.lost += 1,
            |link, _| link.lost_bytes += 1,
        ];
        for (case, damage) in broken.iter().enumerate() {
            let mut link = good.clone();
            let mut device = link.device.take().unwrap();
            damage(&mut link, &mut device);
            link.device = Some(device);
            assert!(link.check_conservation().is_err(), "case {case}");
        }
    }
}
