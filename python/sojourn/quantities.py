"""Quantities and ranges as text ("15mbit", "246ms", "60..", "10..20"), read and written."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass

from sojourn._engine import quantity as read
from sojourn.errors import Error, InputError
from sojourn.units import Rate, Size, Time

# A division is exact where the result is: 60e9 * 1e-9 is more than 60.
_UNIT = {"time": 1e9, "rate": 1.0, "size": 1.0}


def quantity(field: str, text: str, what: str, *, zero: bool = False) -> float:
    """A number of seconds, bits per second or bytes, above 0 unless ``zero`` is one too.

    Args:
        field: For the error.
        text: As scenario files have it, "12.5ms"; a size may be a bare number of bytes.
        what: "time", "rate" or "size".

    Raises:
        InputError: If it is no such quantity, or too small.
    """
    _require_text(field, text, what)
    text = text.strip()
    if what == "size" and text.isdigit():
        text += "B"
    try:
        value = read(what, text) / _UNIT[what]
    except Error as error:
        raise InputError(f"{field}: {error}") from error
    if value < 0 or (value == 0 and not zero):
        raise InputError(f"{field} = {text}: must be {'at least' if zero else 'above'} 0")
    return value


_SUCH = {unit.kind: unit.such for unit in (Time, Rate, Size)} | {"count": "60"}


def _require_text(field: str, text: object, what: str) -> None:
    if not isinstance(text, str):
        raise InputError(f'{field} = {text!r}: give text, such as "{_SUCH[what]}"')


def count(field: str, text: str) -> float:
    """A number above 0.

    Raises:
        InputError: If it is none.
    """
    try:
        value = float(text)
    except ValueError as error:
        raise InputError(f"{field} = {text}: must be a number") from error
    if not 0 < value < math.inf:
        raise InputError(f"{field} = {text}: must be a number above 0")
    return value


def whole(field: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """A whole number, of Python or NumPy.

    Raises:
        InputError: If it is none, or out of its range.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputError(f"{field}: {value!r} must be a whole number") from error
    if number < least:
        raise InputError(f"{field}: {number} must be at least {least}")
    if most is not None and number > most:
        raise InputError(f"{field}: {number} must be at most {most}")
    return number


@dataclass(frozen=True)
class Range:
    """From ``low`` to ``high``; either may be open."""

    low: float | None
    high: float | None

    @property
    def single(self) -> bool:
        """Both ends are the same."""
        return self.low is not None and self.low == self.high


def span(field: str, text: str, what: str = "count") -> Range:
    """A range, or a single value as a range from it to itself.

    Args:
        field: For the error.
        text: "60..", "..246ms", "10..20" or "60".
        what: "count", "time", "rate" or "size".

    Raises:
        InputError: If it is no range, or an empty one.
    """

    def end(part: str) -> float | None:
        if not part.strip():
            return None
        return count(field, part) if what == "count" else quantity(field, part, what)

    _require_text(field, text, what)
    first, dots, second = text.partition("..")
    if not dots:
        value = end(first)
        if value is None:
            raise InputError(f"{field}: a value is missing")
        return Range(value, value)
    low, high = end(first), end(second)
    if low is None and high is None:
        raise InputError(f"{field} = {text}: a range needs at least one end, such as 60.. or ..9")
    if low is not None and high is not None and high < low:
        raise InputError(f"{field} = {text}: the range is empty")
    return Range(low, high)


def number(value: float) -> str:
    """The shortest text that is the number, with a point or an exponent."""
    return repr(float(value))


def seconds(value: float) -> str:
    """A time as a bare number of seconds, to the nanosecond."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def time(seconds: float) -> str:
    """A time with its unit: whole microseconds, or nanoseconds below ten of them."""
    if seconds < 1e-5:
        return f"{seconds * 1e9:.0f}ns"
    micro = round(seconds * 1e6)
    return f"{micro // 1000}ms" if micro % 1000 == 0 else f"{micro}us"


def rate(bps: float) -> str:
    """A rate with its unit, exact to the bit."""
    whole = round(bps)
    for unit, scale in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if whole % (scale // 1000 if scale > 1000 else scale) == 0 and whole >= scale:
            return f"{whole / scale:.10g}{unit}"
    return f"{whole}bit"
