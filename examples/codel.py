"""CoDel (RFC 8289) as a class, decision for decision the built-in one."""

from dataclasses import dataclass
from math import isqrt

from sojourn.qdisc import DROP, MARK, PASS, Discipline, Packet, Queue, Time, Verdict, register

_BATCH = 64  # drops in a row, as in the built-in one


@register("codel-in-python")
@dataclass
class CoDel(Discipline):
    """Drops at the head once the sojourn time has been above ``target`` for ``interval``."""

    target: Time = Time("5ms")
    interval: Time = Time("100ms")
    mtu: int = 1500
    ecn: bool = False
    first_above: int | None = None
    drop_next: int = 0
    count: int = 0
    last_count: int = 0
    dropping: bool = False
    row: int = 0  # drops since a packet was last delivered
    begun: bool = False  # whether the last of them began the dropping

    def control_law(self, start: int) -> int:
        """``start`` + interval/√count, rounded to nearest (section 5.6)."""
        doubled = isqrt((2 * self.interval) ** 2 // self.count)
        return start + (doubled + 1) // 2

    def may_drop(self, now: int, packet: Packet, queue: Queue) -> bool:
        """Whether the sojourn time has been above the target for an interval."""
        if packet.sojourn < self.target or queue.bytes <= self.mtu:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now + self.interval
            return False
        return now >= self.first_above

    def signal(self, packet: Packet) -> Verdict:
        """Marks if ECN allows, else drops."""
        return MARK if self.ecn and packet.ecn else DROP

    def dequeue(self, now: int, packet: Packet, queue: Queue) -> Verdict:
        """Called for the packet at the head, and again for the next one after each drop."""
        verdict = self.decide(now, packet, queue)
        self.row = self.row + 1 if verdict is DROP else 0
        return verdict

    def decide(self, now: int, packet: Packet, queue: Queue) -> Verdict:
        """Section 5.6's ``dodequeue`` and what is around it."""
        if self.row >= _BATCH:
            return PASS
        ok = self.may_drop(now, packet, queue)
        if self.begun:  # the packet behind the first drop is delivered
            self.begun = False
            return PASS
        if self.dropping:
            if not ok:
                self.dropping = False
                return PASS
            if self.row:
                self.drop_next = self.control_law(self.drop_next)
            if now < self.drop_next:
                return PASS
            self.count += 1
            verdict = self.signal(packet)
            if verdict is MARK:
                self.drop_next = self.control_law(self.drop_next)
            return verdict
        if not ok:
            return PASS
        verdict = self.signal(packet)
        self.begun = verdict is DROP
        self.dropping = True
        delta = self.count - self.last_count
        soon = now < self.drop_next + 16 * self.interval
        self.count = delta if delta > 1 and soon else 1
        self.last_count = self.count
        self.drop_next = self.control_law(now)
        return verdict
