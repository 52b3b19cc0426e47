"""What the figures show: responses of loops, as tables with a column for each quantity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from sojourn.control.errors import ControlError
from sojourn.control.loops import Array, Loop, loop
from sojourn.control.models import Model
from sojourn.control.roots import characteristic_roots
from sojourn.control.stability import angle, damping, frequencies, margins


def bode_response(loops: Mapping[str, Loop], count: int = 600) -> pl.DataFrame:
    """Gain and phase against frequency.

    Args:
        loops: By the name that the figure gives them.
        count: Frequencies per loop.

    Returns:
        Columns ``series``, ``omega`` (rad/s), ``gain_db``, ``phase_deg``.
    """
    return _over_frequencies(
        loops,
        count,
        lambda each, omega, response: {
            "gain_db": 20 * np.log10(np.abs(response)),
            "phase_deg": angle(each, omega),
        },
    )


def nyquist_response(loops: Mapping[str, Loop], count: int = 1500) -> pl.DataFrame:
    """The loops in the complex plane, for frequencies above 0.

    Args:
        loops: By the name that the figure gives them.
        count: Frequencies per loop.

    Returns:
        Columns ``series``, ``omega`` (rad/s), ``real``, ``imaginary``.
    """
    return _over_frequencies(
        loops, count, lambda _, __, response: {"real": response.real, "imaginary": response.imag}
    )


def _over_frequencies(
    loops: Mapping[str, Loop],
    count: int,
    shown: Callable[[Loop, Array, Array], dict[str, Array]],
) -> pl.DataFrame:
    """What is ``shown`` of each loop, its frequencies and its response there."""
    parts = []
    for name, each in loops.items():
        omega = frequencies(each, count)
        columns = shown(each, omega, each.response(omega))
        parts.append(pl.DataFrame({"series": [name] * count, "omega": omega, **columns}))
    return pl.concat(parts)


def rtt_response(models: Mapping[str, Model], rtts: Sequence[float]) -> pl.DataFrame:
    """Margins and damping of loops as the round trip grows.

    Args:
        models: By the name that the figure gives them; their own round trip times do not matter.
        rtts: Round trip times in seconds, the wait in the queue included.

    Returns:
        Columns ``series``, ``rtt_s``, ``phase_margin_deg``, ``damping_ratio``, ``window``,
        ``stable``; points without an operating point are left out.
    """
    rows: list[dict[str, Any]] = []
    for name, model in models.items():
        for rtt in rtts:
            network = replace(model.network, rtt=float(rtt), propagation=None)
            try:
                each = loop(replace(model, network=network))
            except ControlError:
                continue
            found = margins(each)
            rows.append(
                {
                    "series": name,
                    "rtt_s": float(rtt),
                    "phase_margin_deg": found.phase if np.isfinite(found.phase) else None,
                    "damping_ratio": damping(characteristic_roots(each, 1)[0]),
                    "window": each.point.window,
                    "stable": found.stable,
                }
            )
    return pl.DataFrame(rows)
