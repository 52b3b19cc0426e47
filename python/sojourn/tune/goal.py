"""What a search is for: a measure that is to be small or large, and what must hold."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sojourn._engine import quantity
from sojourn.errors import Error, InputError
from sojourn.measures import Measure, measure
from sojourn.measures.definitions import Definition

_SAID = re.compile(r"^\s*([\w.-]+?)\s*(>=|<=)\s*(.*\S)\s*$")
# What the end of a measure's name says of its unit, and how many of the engine's make one.
_UNITS = {"_s": ("time", 1e9), "_bps": ("rate", 1.0)}


@dataclass(frozen=True)
class Goal:
    """A measure that is to be as small, or as large, as it can be."""

    measure: Measure
    largest: bool = False

    @property
    def sign(self) -> int:
        """1 if less is better, else -1."""
        return -1 if self.largest else 1


@dataclass(frozen=True)
class Constraint:
    """A measure that must be at least, or at most, so much."""

    text: str
    """As it was written."""
    measure: Measure
    at_least: bool
    bound: float
    """In the unit of the measure's name."""

    @classmethod
    def read(cls, text: str) -> Constraint:
        """A constraint from "utilisation>=95%", "sojourn_p99_s<=20ms" or "loss<=0.01".

        Times and rates need a unit, as in a scenario.

        Raises:
            InputError: If that is none, or there is no such measure.
        """
        found = _SAID.match(text)
        if found is None:
            raise InputError(
                f"subject to {text!r}: must be MEASURE>=BOUND or MEASURE<=BOUND, such as "
                "utilisation>=95%"
            )
        name, sign, bound = found.groups()
        taken = measure(name)
        try:
            number = _bound(taken.definition, bound)
        except Error as error:
            raise InputError(f"subject to {text!r}: {error}") from error
        return cls(text, taken, sign == ">=", number)

    def missed(self, value: float | None) -> float:
        """By how much of the bound a value misses it; below 0 if it holds."""
        if value is None:
            return 1.0
        lack = self.bound - value if self.at_least else value - self.bound
        return lack / abs(self.bound) if self.bound else lack


def _bound(of: Definition, text: str) -> float:
    """A bound in the unit of the measure's name."""
    for ending, (unit, factor) in _UNITS.items():
        if of.name.endswith(ending):
            return quantity(unit, text) / factor
    percent = of.unit == "%"
    try:
        number = float(text[:-1]) / 100 if percent and text.endswith("%") else float(text)
    except ValueError:
        number = math.nan
    if percent and not 0 <= number <= 1:
        raise InputError(f"{text!r} must be a percentage, such as 95%, or a share from 0 to 1")
    if not 0 <= number < math.inf:
        raise InputError(f"{text!r} must be a number, 0 or more")
    return number
