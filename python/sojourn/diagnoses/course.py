"""Diagnoses of what a run's samples say: whether load, queues, probabilities had settled."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from sojourn.diagnoses.facts import Facts, Qdisc, Row
from sojourn.diagnoses.finding import Finding
from sojourn.diagnoses.remedies import or_designed
from sojourn.formatting import trimmed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Means of so many parts of the window are looked at; a trend is one that they follow so many
# times better than chance, and that changes the mean by so much from one end to the other.
_BATCHES = 20
_T_VALUE = 5.0
_CHANGE = 0.3
# Disciplines in which one probability, that of all packets, is the whole decision. AVQ has none,
# CHOKe and COBALT another law beside it, and where flows have their own there are several.
_ONE_PROBABILITY = {
    *("pi", "pi_table", "pie", "pi2", "dualpi2", "rem", "proportional", "rate"),
    *("red", "ared", "feng_red", "blue"),
}
# Less than this is no load, no queue and no probability worth speaking of.
_LEAST = {"load": 10.0, "delay": 1e-3, "probability": 1e-3}
_NAMES = {
    "load": "what enters the queue",
    "delay": "the wait in the queue",
    "probability": "the controller's probability",
}


def not_settled(facts: Facts) -> Iterator[Finding]:
    """A load, a queue or a probability still moves one way all through the measured window.

    What is measured is the way to a state, not the state. Told from samples (`probes.queues`):
    the means of four quarters of the window rise, or fall, each time, by 30 % of the mean at
    least, and a straight line explains it. Nothing is said where the link changes, or where
    traffic begins or ends within the window: what is measured changes on purpose.
    """
    if facts.samples is None or _changes(facts):
        return
    for one in facts.queues:
        link = facts.link(one.link)
        if link is None or not link["arrived"]:
            continue
        for what, course in _courses(facts, one):
            trend = _trend(course, _LEAST[what])
            if trend is not None:
                yield _finding(one, what, trend, facts.duration_s - facts.warmup_s)
                break


class _Trend(NamedTuple):
    first: float
    """The mean of the first quarter, and of the last."""
    last: float
    slowing: float | None
    """How the last step between quarters compares with the first; none if it is no smaller."""


def _finding(one: Qdisc, what: str, trend: _Trend, window_s: float) -> Finding:
    scale, unit = {"load": (1.0, " packets/s"), "delay": (1e3, " ms")}.get(what, (1.0, ""))
    numbers = {"first": scale * trend.first, "last": scale * trend.last}
    if trend.slowing is None:
        outlook = "and no end of it is in sight"
    else:
        # Two steps of an exponential approach, half a window apart, give its time constant.
        numbers["settling_s"] = 1.5 * window_s / -math.log(trend.slowing)
        outlook = f"and needs some {numbers['settling_s']:.0f} s more to settle"
    remedy = "make warmup and duration longer"
    if what == "probability":
        remedy = or_designed(remedy, one.kind)
    return Finding(
        one.place,
        f"{_NAMES[what]} goes from {trimmed(numbers['first'])}{unit} in the first quarter of the "
        f"measured window to {trimmed(numbers['last'])}{unit} in the last, {outlook}",
        remedy,
        numbers,
    )


def _changes(facts: Facts) -> bool:
    """Whether links or traffic change within the window on purpose."""
    links = facts.fields.get("links") or ()
    if not facts.constant or facts.fields.get("changes") or any(map(_varies, links)):
        return True
    return any(
        group.ends_s < facts.duration_s or group.all_began_s > facts.warmup_s
        for group in facts.groups
    )


def _varies(link: Row) -> bool:
    return bool(link.get("schedule"))


def _courses(facts: Facts, one: Qdisc) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """What moves within the window: packets/s that enter the queue, probability, wait in seconds.

    Causes come first: the probability follows the load, and the wait follows both.
    """
    import numpy as np  # noqa: PLC0415 (start-up)
    import polars as pl

    assert facts.samples is not None
    rows = facts.samples.filter((pl.col("link") == one.link) & (pl.col("time_s") >= facts.warmup_s))
    if rows.height < 4 * _BATCHES:
        return
    spans_s = np.diff(rows["time_s"].to_numpy())
    yield "load", rows["entered"].to_numpy()[1:] / spans_s
    probability = rows["probability"]
    told = one.kind in _ONE_PROBABILITY and probability.null_count() == 0
    if told and not probability.is_nan().any():
        yield "probability", probability.cast(pl.Float64).to_numpy()
    yield "delay", rows["bytes"].cast(pl.Float64).to_numpy() * 8 / one.rate_bps


def _trend(course: NDArray[np.float64], least: float) -> _Trend | None:
    """What the course does if it moves one way all the time."""
    import numpy as np  # noqa: PLC0415 (start-up)

    means = np.array([part.mean() for part in np.array_split(course, _BATCHES)])
    mean = means.mean()
    if mean < least:
        return None
    time = np.arange(_BATCHES) - (_BATCHES - 1) / 2
    slope = (time @ means) / (time @ time)
    rest = means - mean - slope * time
    error = math.sqrt((rest @ rest) / (_BATCHES - 2) / (time @ time))
    if abs(slope) * _BATCHES < _CHANGE * mean or abs(slope) < _T_VALUE * error:
        return None
    quarters = means.reshape(4, -1).mean(axis=1)
    steps = np.diff(quarters)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        return None
    slowing = float(steps[-1] / steps[0])
    return _Trend(float(quarters[0]), float(quarters[-1]), slowing if slowing < 0.95 else None)


LATE = (not_settled,)
