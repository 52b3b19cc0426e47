"""The period of an oscillation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def period(time: NDArray[np.float64], values: NDArray[np.float64]) -> float | None:
    """Mean time between two rises of ``values`` through their mean; none if there are not two.

    A rise counts once the values have been below the mean by a tenth of their spread, so that the
    noise of single packets near the mean makes no periods of its own.
    """
    middle, margin = values.mean(), 0.1 * (values.max() - values.min())
    rises: list[float] = []
    armed = False
    for instant, value in zip(time.tolist(), values.tolist(), strict=True):
        if value < middle - margin:
            armed = True
        elif armed and value > middle + margin:
            rises.append(instant)
            armed = False
    if len(rises) < 2:
        return None
    return float(np.diff(rises).mean())
