"""What a fluid model gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sojourn.fluid.period import period

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


class MgtPoint(NamedTuple):
    """An operating point of queues: what stays if it is not disturbed."""

    window: list[float]
    """Packets, of each class."""
    round_trip: list[float]
    """Seconds, of each class."""
    queue: list[float]
    """Packets, in each queue."""
    loss: list[float]
    """Loss or marking probability, at each queue."""


class KellyPoint(NamedTuple):
    """An operating point of a link with a price."""

    window: list[float]
    """Packets, of each class."""
    load: float
    """Rate over capacity."""
    loss: float
    """Marking probability."""
    loads: list[float]
    """The loads of all operating points, this one, the highest, included."""


class Work(NamedTuple):
    """What the integration took."""

    steps: int
    rejected: int
    evaluations: int
    events: int


@dataclass(frozen=True)
class Course:
    """A model's course, at equal times.

    Attributes:
        time: Seconds; n values.
        window: Mean window of each class in packets; classes times n.
        loss: Loss or marking probability at each queue or link; queues times n.
        queue: Packets in each queue; queues times n. Empty for Kelly's model, which has none.
        round_trip: Round trip of each class in seconds; classes times n.
        point: The operating point that it started at; none if it started empty.
        work: What the integration took.
    """

    time: Array
    window: Array
    loss: Array
    queue: Array
    round_trip: Array
    point: MgtPoint | KellyPoint | None
    work: Work

    def growth_rate(self, class_: int = 0) -> float:
        """How fast a small disturbance of the operating point grows, per second.

        The logarithm of the swing of the class's window about the operating point, fitted by a
        line over the time in which it is small enough for the model to be linear and large enough
        to be seen. Above 0 the point is unstable, below 0 stable. Start with
        ``start="equilibrium"`` and a small ``kick``, a tenth at most of the swing in which an
        unstable loop ends, and let ``duration`` be some tens of round trips.

        Raises:
            ValueError: If it started empty, or has too few samples of that time.
        """
        if self.point is None:
            raise ValueError("growth_rate needs a course with start='equilibrium'")
        about = self.point.window[class_]
        swing = np.abs(self.window[class_] - about) / about
        # A swing that grows may end in a small limit cycle.
        most = swing.max(initial=0.0)
        bound = min(_LARGE, most / 2) if most > 10 * swing[:1].sum() else _LARGE
        large, seen = np.flatnonzero(swing > bound), np.flatnonzero(swing >= _SEEN)
        end = large[0] if len(large) else seen[-1] + 1 if len(seen) else 0
        middles, peaks = _peaks(self.time[:end], swing[:end])
        return float(np.polyfit(middles, np.log(peaks), 1)[0])

    def swing(self, last: float, queue: int = 0) -> tuple[float, float]:
        """Least and greatest length of a queue over the last ``last`` seconds."""
        recent = self.queue[queue][self.time >= self.time[-1] - last]
        return float(recent.min()), float(recent.max())

    def period(self, last: float, queue: int = 0) -> float | None:
        """Mean time between two rises of a queue through its mean over the last ``last`` seconds.

        None if it rises through it less than twice.
        """
        keep = self.time >= self.time[-1] - last
        return period(self.time[keep], self.queue[queue][keep])


# A swing, of the operating point, beyond which a model is not linear; and the least to be seen.
_LARGE, _SEEN = 0.05, 1e-7


def _peaks(time: Array, swing: Array) -> tuple[Array, Array]:
    """The greatest swing of each of up to forty equal spans, and the middles of these."""
    bins = min(40, len(swing) // 8)
    if bins < 4:
        raise ValueError("too few samples for a growth rate; lower kick or interval")
    size = len(swing) // bins
    peaks = swing[: bins * size].reshape(bins, size).max(axis=1)
    middles = time[: bins * size].reshape(bins, size).mean(axis=1)
    # The first hold what dies out at once, whatever the loop does.
    first = max(1, bins // 10)
    return middles[first:], peaks[first:]


def arrays(answer: dict[str, Any]) -> tuple[Array, Array]:
    """The times, and a row for each state and signal, from the extension's bytes."""
    time = np.frombuffer(answer["times"])
    return time, np.frombuffer(answer["components"]).reshape(-1, len(time)).copy()


def work(answer: dict[str, Any]) -> Work:
    """What the integration took, from the extension's answer."""
    return Work(*answer["work"])
