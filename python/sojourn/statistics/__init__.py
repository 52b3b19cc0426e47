"""Comparisons across seeds.

Loads and response times of heavy-tailed traffic differ more from seed to seed than disciplines do
from each other, so disciplines are compared seed by seed: the differences are what counts.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.statistics import student

# The rounding error of a value that was worked out in a few steps, as a fraction of it.
_DUST = 16 * sys.float_info.epsilon


@dataclass(frozen=True)
class Interval:
    """A mean over independent repeats with its confidence interval."""

    n: int
    mean: float
    half: float | None
    """Half of the interval's width; none for a single repeat, and if one is infinite."""

    @property
    def low(self) -> float | None:
        """Lower end."""
        return None if self.half is None else self.mean - self.half

    @property
    def high(self) -> float | None:
        """Upper end."""
        return None if self.half is None else self.mean + self.half


def student_interval(values: Sequence[float], confidence: float = 0.95) -> Interval:
    """Student's t interval of a mean over independent repeats, such as seeds.

    Raises:
        ValueError: If there are no values.
    """
    n = len(values)
    if n == 0:
        raise ValueError("no values")
    mean = math.fsum(values) / n
    if n == 1 or not math.isfinite(mean):
        return Interval(n, mean, None)
    half = student.quantile((1 + confidence) / 2, n - 1) * math.sqrt(variance(values, values) / n)
    return Interval(n, mean, half)


def variance(values: Sequence[float], of: Sequence[float]) -> float:
    """The variance of ``values``, at least two; 0 if it is no more than rounding leaves in numbers
    as large as those that they were worked out ``of``."""
    n = len(values)
    mean = math.fsum(values) / n
    found = math.fsum((value - mean) ** 2 for value in values) / (n - 1)
    dust = _DUST * max(map(abs, of))
    return 0.0 if found <= dust * dust else found


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of pairs, with its confidence interval."""

    pairs: int
    mean: float
    low: float | None
    """Lower end of the 95 % interval; none for a single pair."""
    high: float | None
    p: float | None
    """Two-sided probability of so large a mean difference if there were none; none for a single
    pair.

    If all differences are equal and not 0, up to rounding, it is 0, as it is close to 0 where they
    are nearly equal: more seeds of what does not depend on the seed would show nothing else.
    """


def paired_difference(
    values: Sequence[float],
    baseline: Sequence[float],
    confidence: float = 0.95,
    *,
    error: float = 0.0,
) -> PairedDifference:
    """Student's t interval of ``values - baseline``, pair by pair.

    ``error``: how far all values, none of them below 0, may be off as a fraction of them, such as
    a quantile by the cells of a histogram. Seeds do not average that out: the interval holds
    wherever the exact values lie, and ``p`` is that of the difference they show at the least.
    """
    if error:
        return _with_error(values, baseline, confidence, error)
    differences = [value - base for value, base in zip(values, baseline, strict=True)]
    n = len(differences)
    if n == 0:
        raise ValueError("no pairs")
    mean = math.fsum(differences) / n
    if n == 1:
        return PairedDifference(1, mean, None, None, None)
    both = (*values, *baseline)
    error = math.sqrt(variance(differences, both) / n)
    if error == 0:
        if abs(mean) <= _DUST * max(map(abs, both)):
            return PairedDifference(n, 0.0, 0.0, 0.0, 1.0)
        return PairedDifference(n, mean, mean, mean, 0.0)
    half = student.quantile((1 + confidence) / 2, n - 1) * error
    p = 2 * student.cdf(-abs(mean) / error, n - 1)
    return PairedDifference(n, mean, mean - half, mean + half, p)


def _with_error(
    values: Sequence[float], baseline: Sequence[float], confidence: float, error: float
) -> PairedDifference:
    def apart(up: float) -> PairedDifference:
        mine, theirs = [x * (1 + up) for x in values], [x * (1 - up) for x in baseline]
        return paired_difference(mine, theirs, confidence)

    found = paired_difference(values, baseline, confidence)
    least, most = apart(-error), apart(error)
    nearest = least if found.mean > 0 else most
    p = nearest.p if nearest.mean * found.mean > 0 or found.p is None else 1.0
    return PairedDifference(found.pairs, found.mean, least.low, most.high, p)


def relative_interval(
    values: Sequence[float], baseline: Sequence[float], error: float = 0.0
) -> tuple[float, float] | None:
    """Fieller's 95 % interval of ``mean(values) / mean(baseline) - 1``, from pairs, wherever the
    exact values lie within ``error``, as of :func:`paired_difference`.

    It leaves out 0 exactly if the interval of the paired difference does. None for a single pair,
    and where the baseline's mean cannot be told from 0 or below, so that no interval is bounded
    (E. C. Fieller, J. R. Stat. Soc. B 16, 1954). What is never below 0 cannot fall by more than all
    of it: the interval of such values ends at -1.
    """
    n = len(values)
    if n < 2:
        return None
    mean, base = math.fsum(values) / n, math.fsum(baseline) / n
    pairs = [(value - mean, each - base) for value, each in zip(values, baseline, strict=True)]
    # Squared errors of the means, by the quantile: those of values, of the baseline, of both.
    scale = student.quantile(0.975, n - 1) ** 2 / (n * (n - 1))
    own = scale * math.fsum(a * a for a, _ in pairs)
    other = scale * math.fsum(b * b for _, b in pairs)
    both = scale * math.fsum(a * b for a, b in pairs)
    # The ratios r that a test of mean(values - r baseline) = 0 does not reject lie between roots.
    square = base * base - other
    if square <= 0 or base <= 0:
        return None
    middle = mean * base - both
    half = math.sqrt(max(0.0, middle * middle - square * (mean * mean - own)))
    low, high = (middle - half) / square, (middle + half) / square
    wider = (1 + error) / (1 - error)
    low, high = low / wider - 1, high * wider - 1
    return (max(low, -1.0) if min(values) >= 0 else low), high


def holm(probabilities: Sequence[float]) -> list[float]:
    """Adjusts p-values for the number of comparisons (Holm, Scand. J. Statist. 6, 1979)."""
    order = sorted(range(len(probabilities)), key=lambda i: probabilities[i])
    adjusted = [0.0] * len(probabilities)
    least = 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * probabilities[i]))
        adjusted[i] = least
    return adjusted
