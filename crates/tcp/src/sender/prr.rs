//! Proportional rate reduction: how much may be sent on each acknowledgement of a recovery, so that
//! the flight comes down to the new threshold by its end. RFC 9937.

/// State of one recovery (section 6.1).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    /// Bytes delivered in this recovery.
    delivered: u64,
    /// Bytes sent in it.
    out: u64,
    /// Bytes in flight when it began (`RecoverFS`).
    flight: u32,
}

impl Prr {
    /// A recovery begins with `flight` bytes sent and not known to have arrived before this
    /// acknowledgement.
    pub(super) fn start(flight: u32) -> Self {
        Self { delivered: 0, out: 0, flight: flight.max(1) }
    }

    /// Bytes were sent.
    #[inline]
    pub(super) fn sent(&mut self, bytes: u32) {
        self.out += u64::from(bytes);
    }

    /// An acknowledgement delivered `bytes`; `pipe` bytes are in the network; `safe` if it moved
    /// the acknowledged edge and found no further loss. Returns how many bytes may be sent.
    pub(super) fn on_ack(
        &mut self,
        bytes: u32,
        pipe: u32,
        ssthresh: u32,
        mss: u32,
        safe: bool,
    ) -> u32 {
        self.delivered += u64::from(bytes);
        let allowed = self.delivered.saturating_sub(self.out);
        let count = if pipe > ssthresh {
            // In proportion, rounded up; but no more than has arrived, should the flight have been
            // below the threshold: what was sent again before is in the network and not in it.
            (self.delivered * u64::from(ssthresh))
                .div_ceil(u64::from(self.flight))
                .min(self.delivered)
                .saturating_sub(self.out)
        } else {
            // As much as has left the network (PRR-CRB), a segment more while all goes well
            // (PRR-SSRB), and never above the threshold.
            let more = if safe { u64::from(mss) } else { 0 };
            (allowed.max(u64::from(bytes)) + more).min(u64::from(ssthresh - pipe))
        };
        // The first retransmission goes out whatever the sums say. They are of bytes, so less than
        // a segment counts as none.
        if self.out == 0 { (count as u32).max(mss) } else { count as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first example of RFC 6937 section 3.1, PRR's text before RFC 9937: 20 segments in
    /// flight, one lost, halving.
    #[test]
    fn prr_sends_on_every_second_ack_after_single_loss() {
        let mut prr = Prr::start(20);
        let (mut pipe, mut sent) = (19, 0);
        for n in 1..=19 {
            pipe -= 1;
            let count = prr.on_ack(1, pipe, 10, 1, false);
            sent += count;
            prr.sent(count);
            pipe += count;
            if n <= 16 {
                assert_eq!(sent, u32::div_ceil(n, 2), "after {n}");
            }
        }
        assert_eq!(pipe, 10);
    }

    /// A recovery that follows another at once: its flight is without what was sent again, and may
    /// be below a threshold that stays. Then the network must not be filled further.
    #[test]
    fn prr_sends_no_more_than_arrives_above_ssthresh() {
        let mut prr = Prr::start(10);
        let (mut pipe, mut sent) = (40, 0);
        for n in 1..=20u32 {
            pipe -= 1;
            let count = prr.on_ack(1, pipe, 20, 1, false);
            (sent, pipe) = (sent + count, pipe + count);
            prr.sent(count);
            assert!(sent <= n, "{sent} after {n}");
        }
    }

    /// The second, with 15 of the 20 lost: the flight is at the threshold from the start, and
    /// what arrives is replaced.
    #[test]
    fn prr_replaces_what_arrives_after_heavy_loss() {
        let mut prr = Prr::start(20);
        let mut pipe = 5; // 15 lost
        let mut sent = 0;
        for _ in 0..5 {
            pipe -= 1;
            let count = prr.on_ack(1, pipe, 10, 1, false);
            prr.sent(count);
            (pipe, sent) = (pipe + count, sent + count);
        }
        assert_eq!((pipe, sent), (5, 5)); // conservative: nothing acknowledged yet
        for _ in 0..5 {
            pipe -= 1;
            let count = prr.on_ack(1, pipe, 10, 1, true);
            prr.sent(count);
            (pipe, sent) = (pipe + count, sent + count);
        }
        assert_eq!((pipe, sent), (10, 15)); // a segment more with each good acknowledgement
    }

    #[test]
    fn prr_forces_first_retransmission() {
        let mut prr = Prr::start(1000);
        assert_eq!(prr.on_ack(0, 900, 10, 1, false), 1);
    }
}
