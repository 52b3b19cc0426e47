"""A paradox: a longer round trip unsettles a loop on the queue, and settles one on the rate.

On the queue the plant's gain grows with the cube of the round trip (C²/2N over λ/R), so a
controller designed for one round trip loses its margin as that grows. On the rate the gain of the
loop is κ(1 + B) = (1 + B)/(R·W₀): a longer round trip makes windows larger, marks rarer and each
flow's steps smaller against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from .controllers import PI, Controller
from .critical import Edge, critical_rtt
from .laws import Law, Reno
from .marking import Power
from .points import Network
from .rate import RateFeedback
from .red import RED
from .responses import rtt_response

FLOWS, CAPACITY = 60.0, 3750.0
"""The example of INFOCOM 2001: 60 flows over 15 Mb/s with packets of 500 bytes."""


def loops() -> dict[str, Controller | RateFeedback]:
    """The loops of the figure, by name: two on the queue, two on the rate."""
    return {
        "on the queue: PI": PI(1.822e-5, 1.816e-5, 160, qref=50),
        "on the queue: RED": RED(min_th=25, max_th=575, max_p=0.1, wq=1.33e-6),
        "on the rate: B = 16": RateFeedback(Power(16)),
        "on the rate: B = 32": RateFeedback(Power(32)),
    }


@dataclass(frozen=True)
class Paradox:
    """Margins against the round trip time, and where each loop changes."""

    table: pl.DataFrame
    """Of `responses.rtt_response`."""
    edges: dict[str, list[Edge]]
    """Round trip times in seconds at which each loop changes between stable and unstable."""


def paradox_response(
    flows: float = FLOWS,
    capacity: float = CAPACITY,
    rtts: Sequence[float] | None = None,
    law: Law | None = None,
) -> Paradox:
    """The loops of the figure as the round trip grows.

    Args:
        flows: N.
        capacity: C in packets per second.
        rtts: Round trip times in seconds, the wait in the queue included; default 50 ms to 2 s.
        law: How windows move; default Reno.
    """
    law = law or Reno()
    rtts = [float(r) for r in np.geomspace(0.05, 2.0, 80)] if rtts is None else rtts
    network = Network(flows, capacity, rtt=min(rtts))
    found = {
        name: critical_rtt(network, law, controller, min(rtts), max(rtts))
        for name, controller in loops().items()
    }
    return Paradox(rtt_response(network, law, loops(), rtts), found)
