"""Whole numbers that can be written with a unit: ``Time("5ms") == 5_000_000``."""

from __future__ import annotations

import operator
from typing import Self

from sojourn._engine import quantity
from sojourn.errors import InputError


class Quantity(int):
    """A whole number in the smallest unit; text is read as in a scenario file."""

    kind = ""
    """What it is, as the engines name it."""
    such = ""
    """How one may be written."""
    _unit = ""

    def __new__(cls, value: int | str) -> Self:
        """From a whole number, or from text with a unit; raises :class:`sojourn.Error`."""
        if isinstance(value, str):
            return super().__new__(cls, quantity(cls.kind, value))
        try:
            # A truth value is a whole number to Python, and part of a unit would be cut off.
            whole = None if isinstance(value, bool) else operator.index(value)
        except TypeError:
            whole = None
        if whole is None:
            raise InputError(
                f'{value!r} is not a {cls.kind}: write it like "{cls.such}", or as a whole number '
                f"of {cls._unit}"
            )
        return super().__new__(cls, whole)

    @classmethod
    def written(cls, value: object) -> Self:
        """From what a scenario says, where the unit must be written.

        Raises:
            Error: If it is no such quantity.
        """
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            raise InputError(f'not a {cls.kind}: the unit is missing; write it like "{cls.such}"')
        raise InputError(f'not a {cls.kind} such as "{cls.such}"')


class Time(Quantity):
    """A time in nanoseconds, such as ``Time("5ms")``."""

    kind, _unit, such = "time", "nanoseconds", "10ms"


class Rate(Quantity):
    """A rate in bits per second, such as ``Rate("100mbit")``."""

    kind, _unit, such = "rate", "bits per second", "100mbit"


class Size(Quantity):
    """A size in bytes, such as ``Size("64KiB")``."""

    kind, _unit, such = "size", "bytes", "1500B"
