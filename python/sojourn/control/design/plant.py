"""The plant that a rule designs for: windows and queue, from the probability to the queue.

In the form ``paper`` it is P(s) = gain/((s + λ)(s + 1/R)) e^(−sR). The rules take λ and the gain
from the system that the engine derives: for Reno 2N/(R²C) and C²/2N (Hollot et al., INFOCOM 2001,
equation 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sojourn.control.loops import loop
from sojourn.control.maps import Scan, scan
from sojourn.control.models import Model, Network, Table
from sojourn.control.region import LEAST_WINDOW, Region


@dataclass(frozen=True)
class Plant:
    """The plant about an equilibrium with an empty queue."""

    pole: float
    """λ in radians per second."""
    gain: float
    """Numerator, in packets per second squared."""
    rtt: float
    """R in seconds."""
    p: float
    """p₀."""

    @property
    def still(self) -> float:
        """Packets of queue per unit of probability at rest: gain·R/λ."""
        return self.gain * self.rtt / self.pole


def plant(network: Network, congestion: Table = "reno") -> Plant:
    """The plant of a network.

    Args:
        network: Flows, capacity and round trip time.
        congestion: How windows move.
    """
    found = loop(Model(network, congestion, queue=0.0))
    (_, now), (_, marks) = found.system.a[0], found.system.b[0]
    window, queue = (found.system.states.index(name) for name in ("window", "queue"))
    # More marks make smaller windows, and those a shorter queue.
    gain = -float(now[queue, window] * marks[window])
    return Plant(-float(now[window, window]), gain, found.point.rtt, found.point.p)


def plants(region: Region, congestion: Table, most_p: float) -> tuple[Scan, Any]:
    """The plant all over a region, and where it is to be looked at.

    Args:
        region: Flows and round trip times.
        congestion: How windows move.
        most_p: Probability up to which the model is taken to hold.

    Returns:
        The plant over the region's grid, and which points have a window of two packets and no
        larger probability; the worst corner always.
    """
    found = scan(Model(region.corner, congestion, queue=0.0), region.grid(), coefficients=True)
    there = (found.window >= LEAST_WINDOW) & (found.p <= most_p)
    there[0, -1] = True
    return found, there
