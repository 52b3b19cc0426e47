"""Numbers for people: scaling, rounding and joining, without a word of HTML."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

THIN = "\u202f"
"""A narrow space that does not break, between thousands and before a unit."""


@dataclass(frozen=True)
class Spread:
    """A measure over the repeats of a curve: its mean, and the least and the greatest."""

    mean: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> Spread | None:
        """Of the values that are there; nothing if none is."""
        there = [value for value in values if value is not None]
        if not there:
            return None
        return cls(math.fsum(there) / len(there), min(there), max(there), len(there))


def text(value: float | None, digits: int = 3, whole: bool = False) -> str:
    """A value with about `digits` significant digits, thousands apart; "–" for none or no number.

    A `whole` value is a count: all its digits, no decimals.
    """
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    # Two digits may round up to a third: 9.996 is 10.0, not 10.00.
    magnitude = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    places = 0 if whole else max(0, digits - 1 - magnitude)
    return f"{value:,.{min(places, 6)}f}".replace(",", THIN).replace("-", "−")


def trimmed(value: float, digits: int = 3) -> str:
    """A value within a sentence: as :func:`text`, without zeros at its end; 30, 0.5, 2 640."""
    said = text(value, digits)
    return said.rstrip("0").rstrip(".") if "." in said else said


def plain(text: str) -> str:
    """Exponents without zeros in front: ``9.64e-6``."""
    return re.sub(r"e([+-])0+(?=\d)", lambda found: "e" + found[1].replace("+", ""), text)


def percent(fraction: float | None) -> str:
    """A fraction as a percentage without its sign."""
    return text(None if fraction is None else fraction * 100)


def change(interval: tuple[float, float]) -> str:
    """A change as a percentage, from one end of an interval to the other."""
    low, high = (f"{100 * share:+.0f}".replace("-", "−") for share in interval)
    return f"{low} to {high} %"


def listed(words: Sequence[str]) -> str:
    """ "a, b and c" """
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


_UNIT = re.compile(r"(?<=\d) (?=%|[kMG]?bit/s|[kMG]?b/s|[mµ]?s\b|ms|points|packets|seeds)")


def unbroken(words: str) -> str:
    """With spaces that do not break between numbers and their units."""
    return _UNIT.sub("\u00a0", words)


def wrapped(words: str, width: int, indent: str = "", further: str | None = None) -> str:
    """In lines of that width, none of which ends between a number and its unit.

    ``further`` indents the lines after the first, if otherwise.
    """
    lines = textwrap.fill(
        unbroken(words),
        width,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_on_hyphens=False,
    )
    return lines.replace("\u00a0", " ")


def capital(words: str) -> str:
    """With a capital letter first, as at the beginning of a sentence."""
    return words[:1].upper() + words[1:]


def duration(seconds: float) -> str:
    """A time span in the unit that suits it."""
    if seconds < 1:
        return f"{text(seconds * 1e3)}{THIN}ms"
    if seconds < 120:
        return f"{text(seconds)}{THIN}s"
    if seconds < 7200:
        return f"{text(seconds / 60)}{THIN}min"
    return f"{text(seconds / 3600)}{THIN}h"
