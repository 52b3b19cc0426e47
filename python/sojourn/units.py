"""Whole numbers that can be written with a unit: ``Time("5ms") == 5_000_000``."""

from __future__ import annotations

from typing import Self

from sojourn._engine import quantity


class Quantity(int):
    """A whole number in the smallest unit; text is read as in a scenario file."""

    _kind = ""

    def __new__(cls, value: int | str) -> Self:
        """From a whole number, or from text with a unit; raises :class:`sojourn.Error`."""
        return super().__new__(cls, quantity(cls._kind, value) if isinstance(value, str) else value)


class Time(Quantity):
    """A time in nanoseconds, such as ``Time("5ms")``."""

    _kind = "time"


class Rate(Quantity):
    """A rate in bits per second, such as ``Rate("100mbit")``."""

    _kind = "rate"


class Size(Quantity):
    """A size in bytes, such as ``Size("64KiB")``."""

    _kind = "size"
