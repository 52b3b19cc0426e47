"""Your own queue disciplines, as small classes::

    from dataclasses import dataclass
    from sojourn.qdisc import MARK, PASS, Discipline, Packet, Queue, Time, register

    @register("threshold")
    @dataclass
    class Threshold(Discipline):
        '''Signals congestion with every packet that has waited for longer than ``limit``.'''

        limit: Time = Time("5ms")

        def dequeue(self, now, packet, queue):
            return MARK if packet.sojourn > self.limit else PASS

In a scenario::

    qdisc = { kind = "python", class = "my_aqm.py:Threshold", with = { limit = "2ms" }, ecn = true }

The queue itself (first in, first out, its limit, ECN, sojourn times, sampling instants, the counts)
is the engine's, and so is everything around it; the class only decides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

from sojourn import own
from sojourn._engine import Packet, Queue
from sojourn.units import Rate, Size, Time

__all__ = [
    "DROP",
    "MARK",
    "PASS",
    "Discipline",
    "Link",
    "Packet",
    "Queue",
    "Rate",
    "Size",
    "Time",
    "Verdict",
    "register",
]


class Verdict(IntEnum):
    """What is to become of a packet."""

    PASS = 0
    """Let it go on."""
    MARK = 1
    """Signal congestion with it: mark it if it is ECN-capable and ``ecn`` is on, else drop it."""
    DROP = 2
    """Drop it."""


PASS, MARK, DROP = Verdict


@dataclasses.dataclass(frozen=True)
class Link:
    """What a discipline may know of the link that it serves."""

    rate: Rate
    """Bits per second."""
    mean_packet: int
    """Size in bytes of a typical packet."""
    random: Callable[[], float]
    """Draws a number strictly between 0 and 1; the same numbers in every run with a seed."""


class Discipline:
    """Base of disciplines. A subclass has the methods that it needs; times are nanoseconds.

    Its parameters are the fields of a dataclass: numbers, truth values, text, :class:`Time`,
    :class:`Rate`, :class:`Size`. ``packet`` and ``queue`` are filled anew for every call: take from
    them what is to be kept.
    """

    period: Time | None = None
    """Time between two calls of :meth:`update`; none for never. An instance may set its own."""
    probability: float = 0.0
    """For probes: the probability of dropping or marking, where there is one."""
    link: Link

    def attach(self, rate: int, mean_packet: int, random: Callable[[], float]) -> None:
        """The engine gives it its link; for what a class does then there is :meth:`start`."""
        self.link = Link(Rate(rate), mean_packet, random)
        self.start(self.link)

    @own.default
    def start(self, link: Link) -> None:
        """The run begins. What depends on the link is worked out here, ``self.link`` being set."""

    @own.default
    def enqueue(self, now: int, packet: Packet, queue: Queue) -> Verdict | None:
        """``packet`` arrives and finds ``queue`` before it; nothing returned lets it pass."""

    @own.default
    def dequeue(self, now: int, packet: Packet, queue: Queue) -> Verdict | None:
        """``packet`` is about to leave ``queue`` behind; nothing returned lets it pass."""

    @own.default
    def update(self, now: int, queue: Queue) -> None:
        """Called at every multiple of :attr:`period`, before packets of the same instant."""


D = TypeVar("D", bound=type[Discipline])


def register(name: str) -> Callable[[D], D]:
    """Lets scenarios of this program name the class: ``class = "name"``."""
    return own.registrar("qdisc", name)
