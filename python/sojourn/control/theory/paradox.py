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

from sojourn.control.critical import Edge, critical_rtt
from sojourn.control.models import Model, Network, Table
from sojourn.control.responses import rtt_response

FLOWS, CAPACITY = 60.0, 3750.0
"""The example of INFOCOM 2001: 60 flows over 15 Mb/s with packets of 500 bytes."""


def models(network: Network, congestion: Table = "reno") -> dict[str, Model]:
    """The loops of the figure, by name: two on the queue, two on the rate.

    Args:
        network: Flows and capacity, and a round trip time.
        congestion: How windows move.
    """
    pi = {"kind": "pi", "frequency": 160, "qref": 50}
    red = {"kind": "red", "min_th": 25, "max_th": 575, "max_p": 0.1, "wq": 1.33e-6}
    return {
        "on the queue: PI": Model(network, congestion, qdisc=pi),
        "on the queue: RED": Model(network, congestion, qdisc=red),
        "on the rate: B = 16": Model(network, congestion, price={"kind": "power", "exponent": 16}),
        "on the rate: B = 32": Model(network, congestion, price={"kind": "power", "exponent": 32}),
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
    congestion: Table = "reno",
) -> Paradox:
    """The loops of the figure as the round trip grows.

    Args:
        flows: N.
        capacity: C in packets per second.
        rtts: Round trip times in seconds, the wait in the queue included; default 50 ms to 2 s.
        congestion: How windows move.
    """
    rtts = [float(r) for r in np.geomspace(0.05, 2.0, 80)] if rtts is None else rtts
    loops = models(Network(flows, capacity, rtt=min(rtts)), congestion)
    edges = {name: critical_rtt(each, min(rtts), max(rtts)) for name, each in loops.items()}
    return Paradox(rtt_response(loops, rtts), edges)
