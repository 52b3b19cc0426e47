"""The model with what real windows do besides: one cut a round trip, and no growth in recovery.

The equations take half of a window for every loss: with a window W and a loss p it is cut W p
times a round trip. TCP answers all losses of a round trip by one cut (RFC 6582, RFC 6675), so that
a flow is cut (1 - (1 - p)^W) times. At rare losses that is the same; where W p is above 1, as in
the fifth experiment while its queue overshoots, it is not.

The equations' windows grow at any time. A flow that has learnt of a loss recovers for a round
trip, in which its window stays at half (RFC 6582 section 3.2, RFC 6675 section 5): the share of
flows that learnt of one within the last round trip does not grow.

Euler's method in steps of 4 ms, written apart from the fluid engine: without either it must give
what the engine gives, which ``tests/test_theory_studies.py`` checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from sojourn.studies.fluid_2000.courses import measured
from sojourn.studies.fluid_2000.measures import Seen
from sojourn.studies.fluid_2000.scenarios import (
    EXPERIMENTS,
    LEAVE,
    LEAVE_S,
    PATHS,
    PHASES,
    RED,
    RTT_S,
    STAY,
)

STEP_S = 0.004
_CROSSES = np.array([[queue in path for queue in range(2)] for path in PATHS.values()])
"""Which class waits in which queue: class by queue."""
_LONGEST_S = 2.0
"""No round trip is longer: two full queues in the slowest experiment take 1.6 s more than none."""


@dataclass(frozen=True)
class _Course:
    """What was, step by step: steps by queue, or steps by class."""

    queue: np.ndarray
    loss: np.ndarray
    arriving: np.ndarray
    window: np.ndarray
    round_trip: np.ndarray


@dataclass(frozen=True)
class Windows:
    """What windows do.

    Attributes:
        once: Whether a round trip cuts a window at most once.
        recovery: Whether a window that was cut does not grow for a round trip.
        spread: The mean of windows' squares over the square of their mean.
    """

    once: bool = False
    recovery: bool = False
    spread: float = 1.0


@cache
def integrated(number: int, phase: str, windows: Windows) -> Seen:
    """One phase of an experiment."""
    it = EXPERIMENTS[number]
    begin, end = PHASES[phase]
    capacity = np.array(it.capacities)
    course = _follow(capacity, it.max_p, end, windows)
    late = slice(round(begin / STEP_S), None)
    return measured(
        np.arange(len(course.queue[late])) * np.float64(STEP_S),
        course.queue[late, 0],
        course.loss[late].T,
        course.arriving[late].T,
        course.window[late].T,
        course.round_trip[late].T,
        it.capacities[0],
    )


def _profile(average: np.ndarray, max_p: float) -> np.ndarray:
    """RED's loss, its drops being spaced."""
    rise = (average - RED["min_th"]) / (RED["max_th"] - RED["min_th"])
    p = np.where(rise >= 1, 1.0, max_p * np.clip(rise, 0.0, 1.0))
    spaced: np.ndarray = 2 * p / (1 + p)
    return spaced


def _follow(capacity: np.ndarray, max_p: float, end: float, kind: Windows) -> _Course:
    steps = round(end / STEP_S)
    gain = -np.log1p(-RED["wq"]) * capacity
    classes = np.arange(3)
    window, queue, average = np.ones(3), np.zeros(2), np.zeros(2)
    kept = _Course(*(np.zeros((steps, size)) for size in (2, 2, 2, 3, 3)))
    # What each flow of a class loses a second; none before the start.
    offset = round(_LONGEST_S / STEP_S)
    hits = np.zeros((steps + offset, 3))
    for step in range(steps):
        flows = STAY + LEAVE if step * STEP_S < LEAVE_S else STAY
        # A packet's transmission at each link is part of its round trip.
        round_trip = RTT_S + ((queue + 1) / capacity * _CROSSES).sum(axis=1)
        loss = _profile(average, max_p)
        on_path = 1 - np.where(_CROSSES, 1 - loss, 1.0).prod(axis=1)
        rate = window / round_trip
        cuts = 1 - (1 - on_path) ** window if kind.once else window * on_path
        hits[offset + step] = cuts / round_trip
        # What the first queue drops does not reach the second.
        first = flows * (rate[0] + rate[1])
        arriving = np.array([first, flows * (rate[1] * (1 - loss[0]) + rate[2])])
        for row, value in zip(
            (kept.queue, kept.loss, kept.arriving, kept.window, kept.round_trip),
            (queue, loss, arriving, window, round_trip),
            strict=True,
        ):
            row[step] = value
        then = offset + step - round_trip / STEP_S
        below = np.floor(then).astype(int)
        part = then - below
        seen = (1 - part) * hits[below, classes] + part * hits[below + 1, classes]
        timeouts = np.minimum(1.0, 3 / window)
        cut = (1 - timeouts) * window / 2 + timeouts * (window - 1)
        average = average + STEP_S * gain * (queue - average)
        change = arriving * (1 - loss) - capacity
        queue = np.clip(queue + STEP_S * change, 0.0, RED["limit"])
        growing = 1 - np.minimum(1.0, seen * round_trip) if kind.recovery else 1.0
        moves = growing / round_trip - kind.spread * seen * cut
        window = np.maximum(window + STEP_S * moves, 1e-3)
    return kept
