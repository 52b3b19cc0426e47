"""Your own congestion controls, as small classes::

    from dataclasses import dataclass
    from sojourn.tcp import CongestionControl, register

    @register("gentle")
    @dataclass
    class Gentle(CongestionControl):
        '''Adds a segment per window, takes a tenth per loss.'''

        share: float = 0.1

        def on_ack(self, window, at):
            slow = window.cwnd < window.ssthresh
            window.cwnd += at.acked if slow else at.mss * at.acked // window.cwnd

        def on_loss(self, window, at):
            window.ssthresh = window.cwnd = max(int(at.flight * (1 - self.share)), 2 * at.mss)

        def on_timeout(self, window, at):
            if at.first:
                window.ssthresh = max(at.flight // 2, 2 * at.mss)
            window.cwnd = at.mss

In a scenario::

    [tcp]
    congestion = { kind = "python", class = "my_tcp.py:Gentle", with = { share = 0.2 } }

When there is something to react to is the sender's business, the same for all algorithms; the class
only sets the window.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sojourn import own
from sojourn._engine import Occasion, Window
from sojourn.units import Rate, Size, Time

__all__ = ["CongestionControl", "Occasion", "Rate", "Size", "Time", "Window", "register"]


class CongestionControl:
    """Base of congestion controls: one object for each end of each connection.

    A subclass has the methods that it needs. ``window`` has ``cwnd`` and ``ssthresh`` in bytes, to
    be read and set, and ``pace`` in bytes per second (0: the sender's own) for senders that pace:
    those with ``pacing = true`` in ``[tcp]``.
    ``at`` says what has happened; both are filled anew for every call. Parameters are the fields of
    a dataclass. The window is at least one segment whatever is set. After a loss or a mark the
    sender takes the window to ``ssthresh``, which becomes ``cwnd`` if it is not set.
    """

    @own.default
    def on_ack(self, window: Window, at: Occasion) -> None:
        """``at.acked`` bytes were acknowledged while the window was the limit: it may grow."""

    @own.default
    def on_loss(self, window: Window, at: Occasion) -> None:
        """A loss was inferred, once per recovery.

        A reduction starts from ``at.flight``: bytes outstanding, or over QUIC the window.
        """

    @own.default
    def on_mark(self, window: Window, at: Occasion) -> None:
        """A mark was reported, at most once per window. Without it, a mark counts as a loss."""

    @own.default
    def on_timeout(self, window: Window, at: Occasion) -> None:
        """The timer ran out; ``at.first`` unless the same data had timed out before.

        Over QUIC: persistent congestion, after its loss, and never the first.
        """

    @own.default
    def on_restart(self, window: Window, at: Occasion) -> None:
        """Sending begins again after a pause; the window has been reduced."""

    @own.default
    def on_sample(self, window: Window, at: Occasion) -> None:
        """What each acknowledgement shows: ``rtt``, ``acked``, ``lost``, ``marked``, ``rate``, …"""


C = TypeVar("C", bound=type[CongestionControl])


def register(name: str) -> Callable[[C], C]:
    """Lets scenarios of this program name the class: ``class = "name"``."""
    return own.registrar("tcp", name)
