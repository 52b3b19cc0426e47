//! Whose turn it is: deficit round robin (Shreedhar and Varghese, SIGCOMM 1995, figure 3).
//!
//! Each leaf has a quantum of bytes and a deficit counter. When its turn comes the quantum is
//! added; while its head packet is not larger than the deficit it may send, and what it sends is
//! taken off. Where the size of the next packet is not known before it leaves, any positive
//! deficit will do and the counter may fall below zero: a debt that later turns pay.
//!
//! Where nobody's deficit is enough, as many rounds as the first to have enough still needs are
//! added at once: a decision costs two rounds at most, whatever the quanta.

use super::bits;
use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub struct Turns {
    deficits: Vec<i64>,
    quanta: Vec<i64>,
    at: usize,
    /// Whether the leaf at `at` still has to be given its quantum.
    fresh: bool,
}

impl Turns {
    /// `quanta` in bytes, each above zero.
    pub(crate) fn new(quanta: Vec<i64>) -> Self {
        Self { deficits: quanta.iter().map(|_| 0).collect(), quanta, at: 0, fresh: true }
    }

    /// The leaf among `ready` (bits, at least one) that sends next. `head` is the size of a leaf's
    /// next packet, 1 where it is not known.
    #[inline]
    pub(crate) fn choose(&mut self, ready: u64, head: impl Fn(usize) -> i64) -> usize {
        if ready >> self.at & 1 == 0 {
            // It has lost its turn, and what is left of it.
            let left = &mut self.deficits[self.at];
            *left = if self.fresh { *left } else { (*left).min(0) };
            self.pass(ready);
        }
        if let Some(leaf) = self.round(ready, &head) {
            return leaf;
        }
        let need = |leaf: usize| (head(leaf) - self.deficits[leaf]).max(1);
        let rounds = bits(ready).map(|leaf| (need(leaf) - 1) / self.quanta[leaf]).min();
        for leaf in bits(ready) {
            self.deficits[leaf] += rounds.unwrap_or(0) * self.quanta[leaf];
        }
        self.round(ready, &head).unwrap_or(self.at)
    }

    /// Offers each ready leaf its turn, once.
    #[inline]
    fn round(&mut self, ready: u64, head: &impl Fn(usize) -> i64) -> Option<usize> {
        for _ in 0..ready.count_ones() {
            if self.fresh {
                self.deficits[self.at] += self.quanta[self.at];
                self.fresh = false;
            }
            if head(self.at) <= self.deficits[self.at] {
                return Some(self.at);
            }
            self.pass(ready);
        }
        None
    }

    /// The leaf among `ready` that follows the one that sent last: packet by packet.
    #[inline]
    pub(crate) fn follow(&mut self, ready: u64) -> usize {
        self.pass(ready);
        self.at
    }

    /// The next leaf in `ready` after the present one has its turn.
    #[inline]
    fn pass(&mut self, ready: u64) {
        let above = ready & (u64::MAX << self.at << 1);
        let next = if above != 0 { above } else { ready };
        self.at = next.trailing_zeros() as usize & 63;
        self.fresh = true;
    }

    /// A leaf has sent `bytes`; `emptied` if nothing stands there any more.
    #[inline]
    pub(crate) fn spend(&mut self, leaf: usize, bytes: u32, emptied: bool) {
        let deficit = &mut self.deficits[leaf];
        *deficit -= i64::from(bytes);
        if emptied {
            // Figure 3: an empty queue keeps no credit.
            *deficit = (*deficit).min(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// Bytes that leaves with packets of `sizes` send in `n` packets.
    fn send(quanta: Vec<i64>, sizes: &[i64], n: usize) -> Vec<i64> {
        let mut turns = Turns::new(quanta);
        let mut sent = vec![0; sizes.len()];
        for _ in 0..n {
            let leaf = turns.choose((1 << sizes.len()) - 1, |leaf| sizes[leaf]);
            turns.spend(leaf, sizes[leaf] as u32, false);
            sent[leaf] += sizes[leaf];
        }
        sent
    }

    #[test]
    fn bytes_follow_quanta_whatever_the_sizes() {
        let sent = send(vec![1500, 3000, 1500], &[1500, 100, 700], 20_000);
        let unit = (sent[0] + sent[2]) as f64 / 2.0;
        for (bytes, weight) in sent.iter().zip([1.0, 2.0, 1.0]) {
            assert!((*bytes as f64 / unit - weight).abs() < 0.01, "{sent:?}");
        }
    }

    #[test]
    fn quanta_below_packet_size_keep_shares() {
        let sent = send(vec![1, 3], &[65_535, 1500], 40_000);
        assert!((sent[1] as f64 / sent[0] as f64 - 3.0).abs() < 0.01, "{sent:?}");
    }

    #[test]
    fn unknown_sizes_become_deficit() {
        let mut turns = Turns::new(vec![100, 300]);
        let mut sent = [0; 2];
        for _ in 0..10_000 {
            let leaf = turns.choose(3, |_| 1);
            turns.spend(leaf, 1500, false);
            sent[leaf] += 1500;
        }
        assert!((f64::from(sent[1]) / f64::from(sent[0]) - 3.0).abs() < 0.01, "{sent:?}");
    }

    #[test]
    fn lost_turn_leaves_no_credit() {
        let mut turns = Turns::new(vec![15_000, 1500]);
        for _ in 0..100 {
            // The first can send one packet each time before it is held back.
            assert_eq!(turns.choose(3, |_| 1500), 0);
            turns.spend(0, 1500, false);
            assert_eq!(turns.choose(2, |_| 1500), 1);
            turns.spend(1, 1500, false);
        }
        assert!(turns.deficits[0] <= 15_000, "{:?}", turns.deficits);
    }

    #[test]
    fn unused_quanta_give_round_robin_by_packet() {
        let mut turns = Turns::new(vec![1; 3]);
        let order: Vec<usize> = (0..6).map(|_| turns.follow(0b111)).collect();
        assert_eq!(order, [1, 2, 0, 1, 2, 0]);
        assert_eq!(turns.follow(0b100), 2);
        assert_eq!(turns.follow(0b100), 2);
    }
}
