"""Readings of a talk's rate feedback whose symbol was lost in its slides.

The slides print "unstable for ? > 0.3" for B = 1 and "? > 0.8" for B = 2, and "multiple
equilibria" for the parabolic g. Here the symbol is read as γ, the load at which marking starts:
p = ((x/C − γ)/(1 − γ))^B. That is one reading of several: it gives 0.30 for B = 1 and R = 0.3 s
and the equilibria of the parabola, but not the 0.8. Nothing is fitted to the slides.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from sojourn.control.critical import growth
from sojourn.control.errors import ControlError
from sojourn.control.loops import loop, operating_point
from sojourn.control.models import Model, Network, Point

_GRID = 200


def ramp(network: Network, start: float, exponent: float = 1, *, clipped: bool = True) -> Model:
    """Reno with marks from the load γ on.

    Args:
        network: Flows, capacity and round trip time.
        start: γ.
        exponent: B.
        clipped: No marks below γ.
    """
    price = {"kind": "ramp", "start": start, "exponent": exponent, "clipped": clipped}
    return Model(network, price=price)


def branches(network: Network, exponent: float, start: float) -> list[tuple[Point, float]]:
    """Points of rest of the unclipped curve with their growth, from the smallest window on.

    Those that a probability above 1 would hold are left out.

    Args:
        network: Flows, capacity and round trip time.
        exponent: B.
        start: γ.
    """
    model = ramp(network, start, exponent, clipped=False)
    found = []
    for i in range(operating_point(model).branches):
        try:
            each = loop(replace(model, branch=i))
        except ControlError:  # it would need a probability above 1
            continue
        found.append((each.point, growth(each)))
    return found


def critical_start(network: Network, exponent: float, *, clipped: bool = True) -> float | None:
    """The least γ at which the equilibrium with the largest window loses its stability.

    Args:
        network: Flows, capacity and round trip time.
        exponent: B.
        clipped: No marks below γ.

    Returns:
        γ, 0 if it is not stable there either; none if it is stable for every γ up to 0.99.
    """
    from scipy.optimize import brentq

    def at(start: float) -> float:
        return growth(loop(ramp(network, start, exponent, clipped=clipped)))

    grid = [0.99 * i / (_GRID - 1) for i in range(_GRID)]
    if at(grid[0]) >= 0:
        return grid[0]
    for low, high in pairwise(grid):
        if at(high) >= 0:
            return float(brentq(at, low, high, xtol=1e-9))
    return None


def first_multiple(network: Network, exponent: float) -> float | None:
    """The least γ from which on the unclipped curve has several equilibria.

    Args:
        network: Flows, capacity and round trip time.
        exponent: B; an even number, or the curve is not defined below γ.

    Returns:
        γ to six digits; none if there is but one for every γ up to 0.99.
    """

    def several(start: float) -> bool:
        model = ramp(network, start, exponent, clipped=False)
        return operating_point(model).branches > 1

    grid = [0.99 * i / (_GRID - 1) for i in range(_GRID)]
    for low, high in pairwise(grid):
        if several(high):
            a, b = low, high
            while b - a > 1e-6:
                middle = (a + b) / 2
                a, b = (a, middle) if several(middle) else (middle, b)
            return b
    return None
