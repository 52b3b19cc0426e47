"""How many seeds a case gets: until a mean is known well enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.errors import InputError
from sojourn.measures import measure
from sojourn.statistics import student_interval


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
        if not 0 < self.relative < 1:
            raise InputError(f"until: {self.relative} must be between 0 and 1, such as 0.05")
        if not 0 < self.confidence < 1:
            raise InputError(f"until: confidence {self.confidence} is not between 0 and 1")
        if not 2 <= self.least <= self.most:
            raise InputError(f"until: from {self.least} to {self.most} seeds; 2 are the least")

    def more(self, values: Sequence[float | None]) -> int:
        """How many seeds a case needs beside those that gave ``values``."""
        if len(values) < self.least:
            return self.least - len(values)
        known = [value for value in values if value is not None]
        left = min(self.step, self.most - len(values))
        if left <= 0 or not known:
            return 0
        found = student_interval(known, self.confidence)
        if found.half is None:
            return left
        return 0 if found.half <= self.relative * abs(found.mean) else left
