"""How many seeds a case gets: until a mean is known well enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

from sojourn.errors import InputError
from sojourn.measures import measure
from sojourn.quantities import whole
from sojourn.statistics import student_interval
from sojourn.sweep.case import MOST_SEEDS


def _fraction(field: str, value: object, such: float) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not 0 < value < 1:  # type: ignore[operator]
        raise InputError(f"{field}: {value!r} must be a number between 0 and 1, such as {such}")


@dataclass(frozen=True)
class Rule:
    """Seeds until a mean over seeds is known well enough.

    Each case first gets ``least`` seeds, then ``step`` more until half of the confidence interval
    of ``measure`` is at most ``relative`` of the mean, or there are ``most``. Looking more than
    once makes the interval that stops it a little too short: ask for half of what is needed.
    """

    measure: str
    relative: float
    least: int = 5
    most: int = 50
    step: int = 3
    confidence: float = 0.95

    def __post_init__(self) -> None:
        measure(self.measure)
        _fraction("relative", self.relative, 0.05)
        _fraction("confidence", self.confidence, 0.95)
        whole("least", self.least, least=2)
        whole("most", self.most, least=self.least, most=MOST_SEEDS)
        whole("step", self.step)

    def met(self, values: Sequence[float | None]) -> bool:
        """Whether the mean of these is known well enough."""
        known = [value for value in values if value is not None]
        if not known:
            return False
        found = student_interval(known, self.confidence)
        return found.half is not None and found.half <= self.relative * abs(found.mean)

    def more(self, values: Sequence[float | None]) -> int:
        """How many more seeds a case needs than those that gave ``values``."""
        if len(values) < self.least:
            return self.least - len(values)
        if self.met(values) or all(value is None for value in values):
            return 0
        return max(0, min(self.step, self.most - len(values)))
