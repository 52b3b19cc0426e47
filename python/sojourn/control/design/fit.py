"""Which flows, capacity and round trip time do given PI gains fit?

The rule of INFOCOM 2001 read backwards: from a, b and the sampling frequency come K and z; then
2N/(R²C) = z and K = z |jzR + 1| (2N)²/(RC)³ = z³R |jzR + 1|/C are two equations for N, C and R.
One of the three has to be known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sojourn.control.design.pi import Gains
from sojourn.control.errors import ControlError, positive


@dataclass(frozen=True)
class Fit:
    """What gains were, or could have been, designed for."""

    flows: float
    """N."""
    capacity: float
    """C in packets per second."""
    rtt: float
    """R in seconds."""

    @property
    def window(self) -> float:
        """RC/N in packets."""
        return self.rtt * self.capacity / self.flows


def fit(
    gains: Gains,
    *,
    capacity: float | None = None,
    rtt: float | None = None,
    flows: float | None = None,
) -> Fit:
    """The corner for which the rule gives these gains, one of its three quantities known.

    Args:
        gains: K and z.
        capacity: C in packets per second.
        rtt: R in seconds.
        flows: N.

    Returns:
        All three.

    Raises:
        ControlError: If not exactly one is given.
    """
    from scipy.optimize import brentq

    given = [each is not None for each in (capacity, rtt, flows)]
    if sum(given) != 1:
        raise ControlError("capacity, rtt, flows: exactly one of them must be given")
    k, z = gains.k, gains.z

    def capacity_for(r: float) -> float:
        return z**3 * r * math.hypot(z * r, 1) / k

    if rtt is not None:
        r = positive("rtt", rtt, "s")
    elif capacity is not None:
        c = positive("capacity", capacity, "packets/s")
        r = _solve(brentq, lambda log_r: math.log(capacity_for(math.exp(log_r)) / c))
    else:
        assert flows is not None
        n = positive("flows", flows)
        r = _solve(
            brentq,
            lambda log_r: math.log(z * math.exp(2 * log_r) * capacity_for(math.exp(log_r)) / 2 / n),
        )
    c = capacity_for(r)
    return Fit(flows=z * r * r * c / 2, capacity=c, rtt=r)


def _solve(brentq: object, excess: object) -> float:
    """Both left-hand sides rise with R without bound, from 0."""
    assert callable(brentq)
    return math.exp(brentq(excess, -60.0, 60.0, xtol=1e-14))
