"""Feedback on the rate: marks as a function of a link's load, with no queue in the loop.

p = g(x/C) with x = N·W/R and R constant (Kelly's model). With g = (x/C)^B and Reno the window is
W₀ = (2 (RC/N)^B)^(1/(2+B)), and the linear model s + κ + κ(1 + B) e^(−sR) = 0, κ = 1/(R·W₀): it is
stable if and only if W₀ > √((1+B)² − 1)/arccos(−1/(1+B)). For another g the elasticity at the
operating point stands for B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .errors import ControlError
from .laws import Array, Law, Reno, probability
from .marking import Marking, Power
from .points import Network, OperatingPoint, at_window

if TYPE_CHECKING:
    from .controllers import Polynomial
    from .loops import Form

# Windows between which a point of rest is looked for.
_LEAST, _MOST, _STEPS = 1e-6, 1e12, 4_000


@dataclass(frozen=True)
class RateFeedback:
    """Marks with p = g(load), the rate averaged with a lag or not."""

    marking: Marking = field(default_factory=Power)
    """g."""
    lag: float = 0.0
    """Time constant of the rate's average, in seconds; 0 for none."""

    def __post_init__(self) -> None:
        if not 0 <= self.lag < float("inf"):
            raise ControlError(f"lag = {self.lag:g} s: must be 0 or more")

    @property
    def kind(self) -> str:
        """It is no queue discipline."""
        return "rate"

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """The point of rest; where there are several, the one with the largest window."""
        rtt, _ = network.with_queue(0.0)
        if isinstance(self.marking, Power) and isinstance(law, Reno):
            # Closed form, for arrays too: W^(2+B) = (a/b) (RC/N)^B.
            b = self.marking.exponent
            scale = (rtt * network.capacity / network.flows) ** b
            w = (law.a / law.b * scale) ** (1 / (2 + b))
            return at_window(network, law, w, rtt, 0.0)
        found = equilibria(network, law, self.marking)
        if not found:
            raise ControlError(f"no operating point: {self.marking.name} meets {law.name} nowhere")
        return found[-1]

    def polynomials(self, point: OperatingPoint, form: Form) -> tuple[Polynomial, Polynomial]:
        """D and M of D(s) + M(s) e^(−sR) = 0."""
        per_s = point.increase / (point.window * point.rtt)
        bend = point.decrease_slope * point.increase / point.decrease - point.increase_slope
        own = bend / point.rtt
        pushed = per_s * self.marking.elasticity(point.utilisation)
        if form == "paper":
            undelayed, delayed = [1.0, own + per_s], [pushed]
            return self._lagged(undelayed), delayed
        undelayed = [1.0, own]
        if self.lag:
            return self._lagged(undelayed), [per_s * self.lag, per_s + pushed]
        return undelayed, [per_s + pushed]

    def _lagged(self, polynomial: Polynomial) -> Polynomial:
        if not self.lag:
            return polynomial
        one, zero = polynomial
        return [one * self.lag, one + zero * self.lag, zero]


def equilibria(network: Network, law: Law, marking: Marking) -> list[OperatingPoint]:
    """All points of rest, from the smallest window to the largest.

    They are where the law's probability meets the marking function's, found by their changes of
    sign on a fine grid of windows and refined (Brent).
    """
    from scipy.optimize import brentq

    rtt, _ = network.with_queue(0.0)
    full = rtt * network.capacity / network.flows

    def excess(w: Array) -> Array:
        with np.errstate(over="ignore"):
            return marking.probability(w / full) - probability(law, w)

    grid = np.geomspace(max(_LEAST, full * 1e-9), min(_MOST, full * 1e3), _STEPS)
    values = excess(grid)
    turns = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    windows = [float(brentq(excess, grid[i], grid[i + 1], xtol=1e-14)) for i in turns]
    return [at_window(network, law, w, rtt, 0.0) for w in windows]


def window_bound(elasticity: float) -> float:
    """Least window in packets with which the loop of Reno and rate feedback is stable.

    √((1+B)² − 1)/arccos(−1/(1+B)): the loop with κ = 1/(R·W₀), form ``fluid``, no lag. 10.41 at
    B = 16.

    Args:
        elasticity: B; above 0.
    """
    gain = 1 + elasticity
    return math.sqrt(gain**2 - 1) / math.acos(-1 / gain)


def damping_free_delay(elasticity: float, window: float, rtt: float) -> float:
    """Delay in seconds at which that loop oscillates without damping, all else as it is.

    The loop is stable as long as its delay is shorter.

    Args:
        elasticity: B; above 0.
        window: W₀ in packets.
        rtt: R in seconds, of κ = 1/(R·W₀).
    """
    gain = 1 + elasticity
    return math.acos(-1 / gain) * rtt * window / math.sqrt(gain**2 - 1)
