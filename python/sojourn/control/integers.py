"""The integers that the queue disciplines make of their settings, and how far off those are.

The formats are those of the packet engine's disciplines: gains and probabilities with 60 fraction
bits, RED's weight with 63, REM's γ·log₂φ with 62, queue lengths with 36.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

GAIN_BITS = 60
WEIGHT_BITS = 63
PRICE_BITS = 62


@dataclass(frozen=True)
class Integer:
    """One constant as a whole number."""

    raw: int
    """The whole number."""
    bits: int
    """Fraction bits: it stands for raw/2^bits."""
    value: float
    """What it stands for."""
    error: float
    """Relative distance from what was wanted, signed."""


def rounded(wanted: float, bits: int) -> Integer:
    """``wanted`` with so many fraction bits, to the nearest."""
    return _against(round(Fraction(wanted) * 2**bits), bits, Fraction(wanted))


def _against(raw: int, bits: int, wanted: Fraction) -> Integer:
    value = Fraction(raw, 2**bits)
    error = float((value - wanted) / wanted) if wanted else 0.0
    return Integer(raw, bits, float(value), error)


def of_pi(a: float, b: float) -> dict[str, Integer]:
    """PI's gains in Q.60, and a − b, which alone pulls the queue to its reference."""
    one, other = rounded(a, GAIN_BITS), rounded(b, GAIN_BITS)
    difference = _against(one.raw - other.raw, GAIN_BITS, Fraction(a) - Fraction(b))
    return {"a": one, "b": other, "a_minus_b": difference}


def of_red(wq: float, max_p: float) -> dict[str, Integer]:
    """RED's weight in Q.63 (rounded down, as the discipline does) and max_p in Q.60."""
    weight = _against(math.floor(Fraction(wq) * 2**WEIGHT_BITS), WEIGHT_BITS, Fraction(wq))
    return {"wq": weight, "max_p": rounded(max_p, GAIN_BITS)}


def of_rem(gamma: float, phi: float) -> dict[str, Integer]:
    """REM's step of the exponent per packet, γ·log₂φ, in Q.62."""
    return {"gamma_log2_phi": rounded(gamma * math.log2(phi), PRICE_BITS)}


def table(found: Mapping[str, Integer]) -> dict[str, dict[str, float | int]]:
    """For JSON."""
    return {
        name: {"raw": each.raw, "bits": each.bits, "value": each.value, "error": each.error}
        for name, each in found.items()
    }
