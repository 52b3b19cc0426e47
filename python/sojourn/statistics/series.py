"""What a series over time says of itself: where its beginning ends, and how long its memory is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Scales with fewer values than this say nothing of a variance.
_LEAST_VALUES = 32


def mser5(series: Sequence[float] | Floats) -> int:
    """How many values at the beginning of ``series`` are warm-up (White, Cobb and Spratt, 2000).

    The truncation that makes the standard error of the mean of what is left least, in batches of
    five, among the first half: if it comes out there at the end, the series was too short.

    Raises:
        ValueError: If there are fewer than 20 values.
    """
    values = np.asarray(series, dtype=np.float64)
    if len(values) < 20:
        raise ValueError(f"MSER-5 needs 20 values, not {len(values)}")
    batches = _blocks(values, 5).mean(axis=1)
    n = len(batches)
    # About where it ends, lest the difference of large sums be rounding.
    batches -= batches[n // 2 :].mean()
    # Sums over what is left after each truncation.
    left = np.arange(n, 0, -1)
    sums = np.cumsum(batches[::-1])[::-1]
    squares = np.cumsum((batches**2)[::-1])[::-1]
    errors = (squares - sums**2 / left) / left.astype(np.float64) ** 2
    return 5 * int(np.argmin(errors[: n // 2 + 1]))


def aggregated_variance(counts: Sequence[float] | Floats) -> float:
    """Hurst parameter by the slope of the variance of means over blocks against their length.

    Var(mean of m) falls as m^(2H − 2) (Leland et al., 1994). Biased downwards for H near 1.
    """
    values = np.asarray(counts, dtype=np.float64)
    points = []
    for m in _scales(len(values)):
        # About the first, so that the means of what stays the same do not differ by rounding.
        variance = float(_blocks(values - values[0], m).mean(axis=1).var(ddof=1))
        if variance > 0:
            points.append((math.log2(m), math.log2(variance)))
    return 1 + _slope(points) / 2


def rescaled_range(counts: Sequence[float] | Floats) -> float:
    """Hurst parameter by the slope of the rescaled range over blocks (Mandelbrot and Wallis)."""
    values = np.asarray(counts, dtype=np.float64)
    points = []
    for m in _scales(len(values)):
        if m < 16:
            continue
        blocks = _blocks(values, m)
        walks = np.cumsum(blocks - blocks.mean(axis=1, keepdims=True), axis=1)
        spread = blocks.std(axis=1)
        ranges = (walks.max(axis=1) - walks.min(axis=1))[spread > 0] / spread[spread > 0]
        if len(ranges):
            points.append((math.log2(m), math.log2(float(ranges.mean()))))
    return _slope(points)


def wavelet(counts: Sequence[float] | Floats, least_octave: int = 3) -> float:
    """Hurst parameter by the energy of Haar wavelet coefficients per octave (Abry and Veitch).

    The log2 of the mean squared coefficient at octave j grows as (2H − 1) j; octaves weigh as many
    as they have coefficients. Octaves below ``least_octave`` are left out: short-range structure.
    """
    level = np.asarray(counts, dtype=np.float64)
    points, weights = [], []
    octave = 0
    while len(level) // 2 >= _LEAST_VALUES:
        octave += 1
        pairs = _blocks(level, 2)
        detail = (pairs[:, 0] - pairs[:, 1]) / math.sqrt(2)
        level = pairs.sum(axis=1) / math.sqrt(2)
        energy = float((detail**2).mean())
        if octave >= least_octave and energy > 0:
            points.append((float(octave), math.log2(energy)))
            weights.append(float(len(detail)))
    return (1 + _slope(points, weights)) / 2


def _blocks(values: Floats, length: int) -> Floats:
    """Rows of so many values each, without what is left over at the end."""
    return values[: len(values) // length * length].reshape(-1, length)


def _scales(length: int) -> list[int]:
    """Block lengths in powers of two with enough blocks."""
    if length < 16 * _LEAST_VALUES:
        raise ValueError(f"a Hurst parameter needs {16 * _LEAST_VALUES} values, not {length}")
    return [2**k for k in range(2, 40) if length // 2**k >= _LEAST_VALUES]


def _slope(points: Sequence[tuple[float, float]], weights: Sequence[float] | None = None) -> float:
    if len(points) < 2:
        raise ValueError("too few scales for a slope")
    w = list(weights) if weights is not None else [1.0] * len(points)
    total = math.fsum(w)
    x0 = math.fsum(a * x for a, (x, _) in zip(w, points, strict=True)) / total
    y0 = math.fsum(a * y for a, (_, y) in zip(w, points, strict=True)) / total
    over = math.fsum(a * (x - x0) * (y - y0) for a, (x, y) in zip(w, points, strict=True))
    return over / math.fsum(a * (x - x0) ** 2 for a, (x, _) in zip(w, points, strict=True))
