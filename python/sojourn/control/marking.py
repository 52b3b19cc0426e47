"""Marking functions: the probability of a mark as a function of a link's load y/C.

Each gives the probability and the elasticity y·p'(y)/p(y), which is all that stability about an
operating point takes from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .errors import ControlError, positive
from .laws import Array


class Marking(Protocol):
    """A marking function."""

    @property
    def name(self) -> str:
        """As a formula."""
        ...

    def probability(self, load: Array) -> Array:
        """Probability of a mark at the load y/C."""
        ...

    def elasticity(self, load: Array) -> Array:
        """y·p'(y)/p(y) at the load y/C."""
        ...


@dataclass(frozen=True)
class Power:
    """p = (y/C)^B: the probability that B or more packets wait in an M/M/1 queue."""

    exponent: Array = 1.0
    """B; above 0; an array in a map."""

    def __post_init__(self) -> None:
        positive("exponent", float(np.min(self.exponent)))

    @property
    def name(self) -> str:
        """As a formula."""
        return f"(y/C)^{self.exponent:g}" if np.ndim(self.exponent) == 0 else "(y/C)^B"

    def probability(self, load: Array) -> Array:
        """(y/C)^B."""
        return load**self.exponent

    def elasticity(self, load: Array) -> Array:
        """B at every load."""
        return self.exponent + 0 * load


@dataclass(frozen=True)
class Ramp:
    """p = ((y/C − γ)/(1 − γ))^B: marks from the load γ on."""

    start: float
    """γ: the load at which marking starts; 0 to below 1."""
    exponent: float = 1.0
    """B; above 0."""
    clipped: bool = True
    """No marks below γ; otherwise the curve goes on there, as an even power does upwards."""

    def __post_init__(self) -> None:
        positive("exponent", self.exponent)
        if not 0 <= self.start < 1:
            raise ControlError(f"start = {self.start:g}: must be from 0 to below 1")

    @property
    def name(self) -> str:
        """As a formula."""
        return f"((y/C − {self.start:g})/{1 - self.start:g})^{self.exponent:g}"

    def probability(self, load: Array) -> Array:
        """((y/C − γ)/(1 − γ))^B."""
        place = (np.asarray(load) - self.start) / (1 - self.start)
        return (np.maximum(place, 0) if self.clipped else place)[()] ** self.exponent

    def elasticity(self, load: Array) -> Array:
        """B·y/(y − γC); infinite at γ; 0 below it, where nothing answers, if clipped."""
        with np.errstate(divide="ignore"):
            found = self.exponent * load / (np.asarray(load, float) - self.start)
        return np.where(self.clipped & (np.asarray(load) < self.start), 0.0, found)[()]


@dataclass(frozen=True)
class Exponential:
    """p = 1 − φ^(−y/C·price): REM with a price in proportion to the load."""

    price: float = 1.0
    """Price at full load times ln φ; above 0."""

    def __post_init__(self) -> None:
        positive("price", self.price)

    @property
    def name(self) -> str:
        """As a formula."""
        return f"1 − exp(−{self.price:g} y/C)"

    def probability(self, load: Array) -> Array:
        """1 − exp(−price·y/C)."""
        return -np.expm1(-self.price * load)

    def elasticity(self, load: Array) -> Array:
        """x/(e^x − 1) with x = price·y/C: below 1 at every load."""
        return self.price * load / np.expm1(self.price * load)
