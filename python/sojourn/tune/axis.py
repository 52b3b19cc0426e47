"""A parameter that is searched, and its range."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from sojourn._engine import quantity
from sojourn.errors import Error, InputError

_UNITS = {
    "time": (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1)),
    "rate": (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3), ("bit", 1)),
    "size": (("MB", 10**6), ("kB", 10**3), ("B", 1)),
}
_DIGITS = 3
# A range of at least this ratio is searched by factors, not by sums.
_WIDE = 10


@dataclass(frozen=True)
class Axis:
    """A field of the scenario, from a least to a greatest value."""

    path: str
    """The field, dotted."""
    low: float
    """The least value: nanoseconds, bits per second, bytes, or a bare number."""
    high: float
    """The greatest."""
    unit: str
    """What text says: "time", "rate" or "size"; empty for a bare number."""
    whole: bool
    """Whether it is a whole number."""

    @property
    def logarithmic(self) -> bool:
        """Whether it is searched by factors, not by sums."""
        return self.low > 0 and self.high >= _WIDE * self.low

    @classmethod
    def read(cls, path: str, text: str, *, whole: bool | None = None) -> Axis:
        """An axis from "1ms..50ms", "10..500" or "0.01..0.5".

        Args:
            path: The field, dotted.
            text: The range.
            whole: Whether a bare number is a whole one; default as the ends are written.

        Raises:
            InputError: If that is no range.
        """
        parts = [part.strip() for part in text.split("..")]
        if len(parts) != 2 or not all(parts):
            raise InputError(
                f"over {path} = {text!r}: must be a range, such as 1ms..50ms or 10..500"
            )
        try:
            low, high = (float(part) for part in parts)
        except ValueError:
            return cls._of_units(path, text, parts)
        written = all(part.lstrip("+-").isdigit() for part in parts)
        if whole and not written:
            raise InputError(f"over {path} = {text!r}: both ends must be whole numbers")
        return cls._checked(path, text, low, high, "", written if whole is None else whole)

    @classmethod
    def _of_units(cls, path: str, text: str, parts: list[str]) -> Axis:
        for unit in _UNITS:
            try:
                low, high = (float(quantity(unit, part)) for part in parts)
            except Error:
                continue
            return cls._checked(path, text, low, high, unit, True)
        raise InputError(
            f"over {path} = {text!r}: both ends must be numbers, times, rates or sizes"
        )

    @classmethod
    def _checked(
        cls, path: str, text: str, low: float, high: float, unit: str, whole: bool
    ) -> Axis:
        if not -math.inf < low < high < math.inf:
            raise InputError(f"over {path} = {text!r}: the least must be below the greatest")
        return cls(path, low, high, unit, whole)

    def value(self, number: float) -> object:
        """A number as a scenario has it, with as few digits as the range lets it have.

        An end of the range is written exactly, and no rounding leads out of the range.
        """
        number = min(max(number, self.low), self.high)
        if self.low < number < self.high:
            rounded = float(f"{number:.{self._digits(number)}g}")
            number = min(max(rounded, self.low), self.high)
        if not self.unit:
            return round(number) if self.whole else number
        exact = round(number)
        name, factor = next(
            (each for each in _UNITS[self.unit] if exact >= each[1]), _UNITS[self.unit][-1]
        )
        return f"{(Decimal(exact) / factor).normalize():f}{name}"

    def _digits(self, number: float) -> int:
        """Significant digits: three, or as many as tell apart hundredths of a narrow range."""
        if number == 0:
            return _DIGITS
        shared = math.floor(math.log10(abs(number))) - math.floor(math.log10(self.high - self.low))
        return _DIGITS + max(shared, 0)

    def moved(self, number: float, share: float) -> float:
        """A number moved by a share of the range, as the axis goes, but not out of it."""
        if self.logarithmic:
            number *= (self.high / self.low) ** share
        else:
            number += (self.high - self.low) * share
        return min(max(number, self.low), self.high)

    def number(self, value: object) -> float | None:
        """What a scenario has, as a number; none if it is none or out of the range."""
        try:
            found = float(quantity(self.unit, str(value))) if self.unit else float(str(value))
        except (Error, ValueError):
            return None
        return found if self.low <= found <= self.high else None
