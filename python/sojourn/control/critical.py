"""Where a loop changes between stable and unstable: its critical gain, round trip, flows, rate.

The real part of the slowest characteristic root is followed along the quantity; where it changes
sign is refined (Brent). Points without an operating point are passed over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .controllers import Controller
from .errors import ControlError
from .laws import Law
from .loops import Form, Loop, loop
from .points import Network
from .rate import RateFeedback
from .roots import characteristic_roots

_GRID = 120


@dataclass(frozen=True)
class Edge:
    """A value at which a loop is between stable and unstable."""

    at: float
    """The value."""
    stable_above: bool
    """Stable for larger values, unstable for smaller ones; or the other way round."""
    omega: float
    """Radians per second at which it oscillates there."""


def growth(found: Loop) -> float:
    """Real part of the slowest characteristic root, per second."""
    return characteristic_roots(found, 1)[0].real


def edges(build: Callable[[float], Loop], low: float, high: float) -> list[Edge]:
    """All values from ``low`` to ``high`` at which a loop changes between stable and unstable.

    Args:
        build: The loop for a value; may raise `ControlError` where there is none.
        low: Above 0.
        high: Above ``low``.

    Returns:
        From the smallest on; changes closer to each other than a hundredth of the range (by its
        logarithm) may be missed in pairs.
    """
    from scipy.optimize import brentq

    if not 0 < low < high:
        raise ControlError(f"{low:g}..{high:g}: must be above 0 and not empty")

    def at(log_x: float) -> float:
        try:
            return growth(build(math.exp(log_x)))
        except ControlError:
            return math.nan

    grid = [float(x) for x in np.linspace(math.log(low), math.log(high), _GRID)]
    values = [at(x) for x in grid]
    found = []
    for i in range(len(grid) - 1):
        if values[i] * values[i + 1] < 0:  # not a number is never below 0
            x = float(brentq(at, grid[i], grid[i + 1], xtol=1e-12))
            root = characteristic_roots(build(math.exp(x)), 1)[0]
            found.append(Edge(math.exp(x), values[i + 1] < 0, abs(root.imag)))
    return found


def critical_rtt(
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    low: float,
    high: float,
    form: Form | None = None,
) -> list[Edge]:
    """Round trip times in seconds at which the loop changes, its operating point moving along.

    Args:
        network: Its round trip time, with or without the wait in the queue as it is given there,
            is the quantity that moves.
        law: How windows move.
        controller: With its settings.
        low: Seconds.
        high: Seconds.
        form: Of the model.
    """
    which = "rtt" if network.rtt is not None else "propagation"

    def build(r: float) -> Loop:
        return loop(replace(network, **{which: r}), law, controller, form)

    return edges(build, low, high)


def critical_flows(
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    low: float,
    high: float,
    form: Form | None = None,
) -> list[Edge]:
    """Numbers of flows, not rounded, at which the loop changes, its operating point moving along.

    Args:
        network: Its number of flows is the quantity that moves.
        law: How windows move.
        controller: With its settings.
        low: Fewest flows.
        high: Most flows.
        form: Of the model.
    """
    return edges(lambda n: loop(replace(network, flows=n), law, controller, form), low, high)


def critical_gain(found: Loop, low: float = 1e-6, high: float = 1e6) -> list[Edge]:
    """Factors on the gain at which the loop changes.

    Args:
        found: The loop at factor 1.
        low: Smallest factor.
        high: Largest factor.
    """
    return edges(
        lambda k: replace(found, numerator=[k * each for each in found.numerator]), low, high
    )


def critical_delay(found: Loop, high: float = 1e3) -> list[Edge]:
    """Delays in seconds at which the loop changes, all else as it is.

    Args:
        found: The loop with its own delay.
        high: Longest delay, as a multiple of its own.
    """
    own = float(found.delay)
    return edges(lambda r: replace(found, delay=r), own / 1e3, own * high)
