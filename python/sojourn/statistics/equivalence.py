"""Whether two things are the same, and what pairing was worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.statistics import paired_difference, student, variance


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests of a mean difference against a margin."""

    pairs: int
    mean: float
    low: float | None
    """Lower end of the interval of level 1 − 2α that has to lie within the margin; none for a
    single pair."""
    high: float | None
    margin: float
    p: float | None
    """The larger of the two one-sided probabilities; none for a single pair."""

    @property
    def holds(self) -> bool:
        """Whether the difference is shown to be smaller than the margin, at α."""
        return self.low is not None and -self.margin < self.low and self._high < self.margin

    @property
    def refuted(self) -> bool:
        """Whether the difference is shown to be larger than the margin."""
        return self.low is not None and (self.low > self.margin or self._high < -self.margin)

    @property
    def _high(self) -> float:
        return math.inf if self.high is None else self.high


def equivalence(
    values: Sequence[float], baseline: Sequence[float], margin: float, alpha: float = 0.05
) -> Equivalence:
    """Two one-sided t tests (TOST; Schuirmann 1987) of ``values - baseline`` against ``margin``.

    Raises:
        ValueError: If there are no pairs, or the margin is not positive.
    """
    if not margin > 0:
        raise ValueError("the margin must be positive")
    found = paired_difference(values, baseline, confidence=1 - 2 * alpha)
    low, high = found.low, found.high
    if low is None or high is None:
        return Equivalence(found.pairs, found.mean, None, None, margin, None)
    n = found.pairs
    error = (high - low) / 2 / student.quantile(1 - alpha, n - 1)
    if error == 0:
        p = 0.0 if abs(found.mean) < margin else 1.0
    else:
        p = student.cdf((abs(found.mean) - margin) / error, n - 1)
    return Equivalence(n, found.mean, low, high, margin, p)


def variance_saved(values: Sequence[float], baseline: Sequence[float]) -> float | None:
    """By what factor common random numbers shrank the variance of the mean difference.

    The variance with independent seeds would be the sum of both variances: this is that sum over
    the variance of the differences, above 1 where pairing helped; none with fewer than three pairs
    or differences that are all equal.
    """
    if len(values) < 3:
        return None
    differences = [a - b for a, b in zip(values, baseline, strict=True)]
    paired = variance(differences, (*values, *baseline))
    apart = variance(values, values) + variance(baseline, baseline)
    return None if paired == 0 else apart / paired
