"""Readings of a talk's rate feedback whose symbol was lost in its slides.

The slides print "unstable for ? > 0.3" for B = 1 and "? > 0.8" for B = 2, and "multiple
equilibria" for the parabolic g. Here the symbol is read as γ, the load at which marking starts:
p = ((x/C − γ)/(1 − γ))^B. That is one reading of several: it gives 0.30 for B = 1 and R = 0.3 s
and the equilibria of the parabola, but not the 0.8. Nothing is fitted to the slides.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .errors import ControlError
from .laws import Law, Reno
from .loops import loop_at
from .marking import Ramp
from .points import Network, OperatingPoint
from .rate import RateFeedback, equilibria
from .roots import characteristic_roots

_GRID = 200


def growth(network: Network, law: Law, marking: Ramp, branch: int = -1) -> float:
    """Real part of the slowest characteristic root, per second; above 0 the point is unstable.

    Args:
        network: Flows, capacity and round trip time.
        law: How windows move.
        marking: The marking function.
        branch: Which point of rest, by its window: −1 the largest.

    Raises:
        ControlError: If there is no such point.
    """
    points = equilibria(network, law, marking)
    if not -len(points) <= branch < len(points):
        raise ControlError(f"branch = {branch}: there are {len(points)} points of rest")
    loop = loop_at(points[branch], RateFeedback(marking))
    return characteristic_roots(loop, 1)[0].real


def branches(
    network: Network, exponent: float, start: float, law: Law | None = None
) -> list[tuple[OperatingPoint, float]]:
    """Points of rest of the unclipped curve with their growth, from the smallest window on.

    Args:
        network: Flows, capacity and round trip time.
        exponent: B.
        start: γ.
        law: How windows move; default Reno.
    """
    marking = Ramp(start, exponent, clipped=False)
    control = RateFeedback(marking)
    points = equilibria(network, law or Reno(), marking)
    return [(p, characteristic_roots(loop_at(p, control), 1)[0].real) for p in points]


def critical_start(
    network: Network, exponent: float, *, clipped: bool = True, law: Law | None = None
) -> float | None:
    """The least γ at which the point of rest with the largest window loses its stability.

    Args:
        network: Flows, capacity and round trip time.
        exponent: B.
        clipped: No marks below γ.
        law: How windows move; default Reno.

    Returns:
        γ; none if it is stable for every γ up to 0.99.
    """
    from scipy.optimize import brentq

    law = law or Reno()

    def at(start: float) -> float:
        return growth(network, law, Ramp(start, exponent, clipped))

    grid = np.linspace(0.0, 0.99, _GRID)
    before = at(float(grid[0]))
    for low, high in pairwise(grid):
        after = at(float(high))
        if before < 0 <= after:
            return float(brentq(at, float(low), float(high), xtol=1e-9))
        before = after
    return None


def first_multiple(network: Network, exponent: float, law: Law | None = None) -> float | None:
    """The least γ from which on the unclipped curve has several points of rest.

    Args:
        network: Flows, capacity and round trip time.
        exponent: B; an even number, or the curve is not defined below γ.
        law: How windows move; default Reno.

    Returns:
        γ to six digits; none if there is but one for every γ up to 0.99.
    """
    law = law or Reno()

    def several(start: float) -> bool:
        return len(equilibria(network, law, Ramp(start, exponent, clipped=False))) > 1

    grid = np.linspace(0.0, 0.99, _GRID)
    for low, high in pairwise(grid):
        if several(float(high)):
            a, b = float(low), float(high)
            while b - a > 1e-6:
                middle = (a + b) / 2
                a, b = (a, middle) if several(middle) else (middle, b)
            return b
    return None
