//! Ordered bytes in one direction: a stream's (RFC 9000 section 2.2), or the handshake messages of
//! a packet number space. Counts alone: which bytes are to be sent, sent again, or have come.

use crate::ranges::Ranges;
use alloc::boxed::Box;

/// The sending side.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendBuffer {
    /// Bytes that the application has written; `u64::MAX` for data without end.
    pub written: u64,
    /// The first byte that was never sent.
    pub next: u64,
    acked: Ranges,
    /// Few lose anything: elsewhere.
    lost: Option<Box<Ranges>>,
}

impl SendBuffer {
    /// Empties it for another stream.
    pub(crate) fn reset(&mut self) {
        (self.written, self.next) = (0, 0);
        self.acked.clear();
        if let Some(lost) = &mut self.lost {
            lost.clear();
        }
    }

    /// Whether it has memory on the heap.
    pub(crate) fn has_memory(&self) -> bool {
        self.acked.has_memory() || self.lost.is_some()
    }

    /// Whether something is to be sent again.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost.as_ref().is_some_and(|lost| !lost.is_empty())
    }

    /// Bytes that were written and never sent.
    pub(crate) fn unsent(&self) -> u64 {
        self.written - self.next
    }

    /// Where the next frame begins that `take` would give, if there is one; new bytes up to
    /// `limit` only.
    pub(crate) fn offset(&self, limit: u64) -> Option<u64> {
        let new = (self.next < self.written.min(limit)).then_some(self.next);
        let lost = self.lost.as_ref().and_then(|lost| lost.first());
        lost.map(|(start, _)| start).or(new)
    }

    /// Takes up to `most` bytes, what was lost first. New ones end at `limit`. The range, and
    /// whether it is new.
    pub(crate) fn take(&mut self, most: u64, limit: u64) -> Option<(u64, u64, bool)> {
        if let Some((start, end)) = self.lost.as_mut().and_then(|lost| lost.take_first(most)) {
            return Some((start, end, false));
        }
        let start = self.next;
        let end = self.written.min(limit).min(start.saturating_add(most));
        (start < end).then(|| {
            self.next = end;
            (start, end, true)
        })
    }

    /// Takes `most` new bytes if there are more of them before `limit`: where they begin. Nothing
    /// is to be sent again.
    #[inline]
    pub(crate) fn take_new(&mut self, most: u64, limit: u64) -> Option<u64> {
        let (start, end) = (self.next, self.next + most);
        debug_assert!(!self.has_lost());
        (end < self.written.min(limit)).then(|| {
            self.next = end;
            start
        })
    }

    /// A range was acknowledged; returns how many bytes of it for the first time.
    #[inline]
    pub(crate) fn acknowledged(&mut self, start: u64, end: u64) -> u64 {
        if let Some(lost) = &mut self.lost {
            lost.remove(start, end);
        }
        self.acknowledged_new(start, end)
    }

    /// The same while nothing is to be sent again.
    #[inline]
    pub(crate) fn acknowledged_new(&mut self, start: u64, end: u64) -> u64 {
        self.acked.insert(start, end)
    }

    /// A range was lost, or is to be sent again for another reason, as far as it is not
    /// acknowledged.
    pub(crate) fn lose(&mut self, start: u64, end: u64) {
        let mut from = start;
        while let Some((start, to)) = self.acked.gap(from, end) {
            self.lost.get_or_insert_default().insert(start, to);
            from = to;
        }
    }

    /// Takes back what was written and not sent.
    pub(crate) fn cut(&mut self) {
        self.written = self.next;
    }

    /// Whether all that was written has been acknowledged.
    pub(crate) fn all_acked(&self) -> bool {
        self.written == 0 || self.acked.first() == Some((0, self.written))
    }
}

/// The receiving side.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceiveBuffer {
    come: Ranges,
    /// Bytes given to the application, which takes them at once.
    pub delivered: u64,
}

impl ReceiveBuffer {
    /// Empties it for another stream.
    pub(crate) fn reset(&mut self) {
        self.come.clear();
        self.delivered = 0;
    }

    /// Whether it has memory on the heap.
    pub(crate) fn has_memory(&self) -> bool {
        self.come.has_memory()
    }

    /// A range has come; returns how many bytes can be delivered now.
    #[inline]
    pub(crate) fn come(&mut self, start: u64, end: u64) -> u64 {
        self.come.insert(start, end);
        let whole = self.come.first().filter(|&(start, _)| start == 0).map_or(0, |(_, end)| end);
        let new = whole - self.delivered;
        self.delivered = whole;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_bytes_go_before_new_ones() {
        let mut buffer = SendBuffer { written: 100, ..SendBuffer::default() };
        assert_eq!(buffer.take(40, 100), Some((0, 40, true)));
        assert_eq!(buffer.take(40, 60), Some((40, 60, true)));
        assert_eq!(buffer.take(40, 60), None);
        buffer.lose(10, 20);
        assert_eq!(buffer.take(40, 100), Some((10, 20, false)));
        assert_eq!(buffer.take(40, 100), Some((60, 100, true)));
    }

    #[test]
    fn acknowledged_bytes_are_not_lost() {
        let mut buffer = SendBuffer { written: 100, next: 100, ..SendBuffer::default() };
        assert_eq!(buffer.acknowledged(20, 30), 10);
        assert_eq!(buffer.acknowledged(25, 40), 10);
        buffer.lose(0, 100);
        assert_eq!(buffer.take(100, 100), Some((0, 20, false)));
        assert_eq!(buffer.take(100, 100), Some((40, 100, false)));
        buffer.lose(0, 20);
        assert_eq!(buffer.acknowledged(0, 100), 80);
        assert!(!buffer.has_lost() && buffer.all_acked());
    }

    #[test]
    fn bytes_are_delivered_once_and_in_order() {
        let mut buffer = ReceiveBuffer::default();
        assert_eq!(buffer.come(10, 20), 0);
        assert_eq!(buffer.come(0, 5), 5);
        assert_eq!(buffer.come(3, 12), 15);
        assert_eq!(buffer.come(0, 20), 0);
    }
}
