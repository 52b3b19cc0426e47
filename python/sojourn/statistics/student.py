"""Student's t distribution: what intervals and tests of a few seeds need, without scipy.

The tail is an incomplete beta function by its continued fraction (DLMF 8.17.22), which keeps its
relative precision however small the probability is.
"""

from __future__ import annotations

import math
from functools import lru_cache

_PRECISION = 1e-15
_MOST_TERMS = 500


def cdf(t: float, freedom: int) -> float:
    """The probability of a value below ``t`` with so many degrees of freedom."""
    upper = 0.5 * _beta(freedom / (freedom + t * t), t * t / (freedom + t * t), freedom / 2, 0.5)
    return upper if t < 0 else 1 - upper


@lru_cache(maxsize=256)
def quantile(probability: float, freedom: int) -> float:
    """The value that is exceeded with ``1 - probability``.

    Raises:
        ValueError: If ``probability`` is not within (0, 1).
    """
    if not 0 < probability < 1:
        raise ValueError(f"a probability of {probability} has no quantile")
    if probability < 0.5:
        return -quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while cdf(high, freedom) < probability:
        low, high = high, 2 * high
    # Halved until no number lies between the ends.
    while low < (middle := (low + high) / 2) < high:
        if cdf(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return low


def _beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b); ``rest`` is 1 - x, to full precision."""
    if x <= 0:
        return 0.0
    if x > (a + 1) / (a + b + 2):
        # There the fraction of the complement converges sooner.
        return 1 - _beta(rest, x, b, a)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(log + a * math.log(x) + b * math.log(rest)) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d₁/(1 + d₂/(1 + …)), by Lentz's method."""
    value = upper = 1.0
    lower = 0.0
    for term in range(1, _MOST_TERMS):
        m = term // 2
        if term % 2:
            d = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            d = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        lower = 1 / (1 + d * lower)
        upper = 1 + d / upper
        value *= lower * upper
        if abs(lower * upper - 1) < _PRECISION:
            return value
    return value
