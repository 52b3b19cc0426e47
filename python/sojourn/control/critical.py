"""Where a loop changes between stable and unstable.

The real part of the slowest characteristic root is followed along a quantity; where it changes
sign is refined by bisection, as a loop may jump there: PIE's table has steps. Points without an
operating point are passed over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sojourn.control.errors import ControlError
from sojourn.control.loops import Loop, loop
from sojourn.control.models import Model
from sojourn.control.roots import characteristic_roots

_GRID = 120
# Of the logarithm: how closely an edge is known, and how wide no step is.
_EXACT, _NARROW = 1e-12, 1e-6
# What is left there of a difference in growth if the loop does not jump is far less than this.
_JUMP = 1e-3


@dataclass(frozen=True)
class Edge:
    """A value at which a loop is between stable and unstable."""

    at: float
    """The value."""
    stable_above: bool
    """Stable for larger values, unstable for smaller ones; or the other way round."""
    omega: float | None
    """Radians per second at which it oscillates there; none where the loop itself jumps, as at a
    step of PIE's table, so that no root lies on the axis."""


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
    if not 0 < low < high:
        raise ControlError(f"{low:g}..{high:g}: must be above 0 and not empty")

    def at(x: float) -> complex:
        try:
            root = characteristic_roots(build(math.exp(x)), 1)[0]
        except ControlError:
            return complex(math.nan)
        return root

    grid = [float(x) for x in np.linspace(math.log(low), math.log(high), _GRID)]
    known = [(x, at(x).real) for x in grid]
    # Not a number is never below 0.
    changes = [_refined(at, a, b) for a, b in pairwise(known) if a[1] * b[1] < 0]
    return [edge for edge in changes if edge is not None]


def _refined(
    at: Callable[[float], complex], left: tuple[float, float], right: tuple[float, float]
) -> Edge | None:
    """The edge between two logarithms, each with the growth there; none if there is but a gap."""
    stable_above = right[1] < 0
    apart = right[1] - left[1]
    omega = None
    while right[0] - left[0] > _EXACT:
        middle = (left[0] + right[0]) / 2
        root = at(middle)
        if math.isnan(root.real):
            # On a step itself there is no derivative; elsewhere there is no operating point.
            if right[0] - left[0] > _NARROW:
                return None
            break
        if (root.real < 0) == stable_above:
            right = middle, root.real
        else:
            left = middle, root.real
        omega = abs(root.imag)
    jumps = abs(right[1] - left[1]) > _JUMP * abs(apart)
    return Edge(math.exp((left[0] + right[0]) / 2), stable_above, None if jumps else omega)


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
