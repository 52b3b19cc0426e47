"""Where a loop changes between stable and unstable.

The real part of the slowest characteristic root is followed along a quantity; where it changes
sign is refined (Brent). Points without an operating point are passed over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sojourn.control.errors import ControlError
from sojourn.control.loops import Loop, loop
from sojourn.control.models import Model
from sojourn.control.roots import characteristic_roots

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
    """Real part of the slowest characteristic root, per second; above 0 the loop is unstable."""
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


def critical_rtt(model: Model, low: float, high: float) -> list[Edge]:
    """Round trip times in seconds at which the loop changes, its operating point moving along.

    Args:
        model: Its network's round trip time, with or without the wait in the queue as it is given
            there, is the quantity that moves.
        low: Seconds.
        high: Seconds.
    """
    which = "rtt" if model.network.rtt is not None else "propagation"

    def build(r: float) -> Loop:
        return loop(replace(model, network=replace(model.network, **{which: r})))

    return edges(build, low, high)
