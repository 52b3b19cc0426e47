"""What the figures show: responses of loops, as tables with a column for each quantity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from .controllers import Controller
from .laws import Law
from .loops import Loop, loop_at
from .points import Network
from .rate import RateFeedback
from .roots import characteristic_roots
from .stability import angle, damping, frequencies, margins


def bode_response(loops: Mapping[str, Loop], count: int = 600) -> pl.DataFrame:
    """Gain and phase against frequency.

    Args:
        loops: By the name that the figure gives them.
        count: Frequencies per loop.

    Returns:
        Columns ``series``, ``omega`` (rad/s), ``gain_db``, ``phase_deg``.
    """
    parts = []
    for name, each in loops.items():
        omega = frequencies(each, count)
        response = each.response(omega)
        parts.append(
            pl.DataFrame(
                {
                    "series": [name] * count,
                    "omega": omega,
                    "gain_db": 20 * np.log10(np.abs(response)),
                    "phase_deg": angle(each, omega),
                }
            )
        )
    return pl.concat(parts)


def nyquist_response(loops: Mapping[str, Loop], count: int = 1500) -> pl.DataFrame:
    """The loops in the complex plane, for frequencies above 0.

    Args:
        loops: By the name that the figure gives them.
        count: Frequencies per loop.

    Returns:
        Columns ``series``, ``omega`` (rad/s), ``real``, ``imaginary``.
    """
    parts = []
    for name, each in loops.items():
        omega = frequencies(each, count)
        response = each.response(omega)
        parts.append(
            pl.DataFrame(
                {
                    "series": [name] * count,
                    "omega": omega,
                    "real": response.real,
                    "imaginary": response.imag,
                }
            )
        )
    return pl.concat(parts)


def rtt_response(
    network: Network,
    law: Law,
    controllers: Mapping[str, Controller | RateFeedback],
    rtts: Sequence[float],
) -> pl.DataFrame:
    """Margins and damping of loops as the round trip grows.

    Args:
        network: Flows and capacity; its own round trip time does not matter.
        law: How windows move.
        controllers: By the name that the figure gives them.
        rtts: Round trip times in seconds, the wait in the queue included.

    Returns:
        Columns ``series``, ``rtt_s``, ``phase_margin_deg``, ``damping_ratio``, ``window``,
        ``stable``; points without an operating point are left out.
    """
    rows: list[dict[str, Any]] = []
    for name, controller in controllers.items():
        for rtt in rtts:
            at = Network(network.flows, network.capacity, rtt=float(rtt))
            point = controller.settle(at, law)
            if point.window < 1 or point.p > 1 or np.isnan(point.queue):
                continue
            each = loop_at(point, controller)
            found = margins(each)
            rows.append(
                {
                    "series": name,
                    "rtt_s": float(rtt),
                    "phase_margin_deg": found.phase if np.isfinite(found.phase) else None,
                    "damping_ratio": damping(characteristic_roots(each, 1)[0]),
                    "window": float(point.window),
                    "stable": found.stable,
                }
            )
    return pl.DataFrame(rows)
