"""Window laws: how much a window grows in a round trip, and how much a mark takes from it.

Each law is two functions of the window W, in packets: the increase I(W) per round trip without
marks, and the decrease D(W) per mark. The fluid equation of one flow is then (Misra, Gong and
Towsley, SIGCOMM 2000, equation 2 for Reno)::

    dW/dt = I(W)/R − D(W) · (W/R) p

so that windows and marks are in balance at p = I/(D·W). All functions take numbers or numpy
arrays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .errors import ControlError, positive

Array = Any
"""A float or an array of floats: numpy has no type for both."""


class Law(Protocol):
    """A window law. W in packets."""

    @property
    def name(self) -> str:
        """As the literature writes it."""
        ...

    def increase(self, w: Array) -> Array:
        """I(W): packets per round trip without a mark."""
        ...

    def decrease(self, w: Array) -> Array:
        """D(W): packets per mark."""
        ...

    def slopes(self, w: Array) -> tuple[Array, Array]:
        """dI/dW per round trip and dD/dW per mark; at a kink those of the upper side."""
        ...


def probability(law: Law, w: Array) -> Array:
    """Marking probability that holds a window of ``w`` packets: I/(D·W).

    For Reno 2/W² (Hollot et al., INFOCOM 2001, equation 3).
    """
    return law.increase(w) / (law.decrease(w) * w)


def window(law: Law, p: float) -> float:
    """Window in packets that the marking probability ``p`` holds: the inverse of `probability`.

    Raises:
        ControlError: If no window from 0.001 to 1e15 packets belongs to ``p``.
    """
    from scipy.optimize import brentq

    positive("p", p)

    def excess(log_w: float) -> float:
        return float(np.log(probability(law, math.exp(log_w)) / p))

    low, high = math.log(1e-3), math.log(1e15)
    if excess(low) < 0 or excess(high) > 0:
        raise ControlError(f"p = {p:g}: no window of {law.name} belongs to it")
    return math.exp(float(brentq(excess, low, high, xtol=1e-13)))


@dataclass(frozen=True)
class AIMD:
    """Additive increase, multiplicative decrease."""

    a: float = 1.0
    """Packets added per round trip; above 0."""
    b: float = 0.5
    """Fraction of the window that a mark takes; above 0, at most 1."""

    def __post_init__(self) -> None:
        positive("a", self.a)
        if not 0 < self.b <= 1:
            raise ControlError(f"b = {self.b:g}: must be above 0 and at most 1")

    @property
    def name(self) -> str:
        """As the literature writes it."""
        return f"AIMD({self.a:g}, {self.b:g})"

    def increase(self, w: Array) -> Array:
        """``a`` packets per round trip."""
        return self.a + 0 * w

    def decrease(self, w: Array) -> Array:
        """b·W packets per mark."""
        return self.b * w

    def slopes(self, w: Array) -> tuple[Array, Array]:
        """0 and b."""
        return 0 * w, self.b + 0 * w


@dataclass(frozen=True)
class Reno(AIMD):
    """Reno without timeouts: AIMD(1, 1/2); ``a`` = 0.5 for delayed acknowledgements."""

    @property
    def name(self) -> str:
        """As the literature writes it."""
        return "Reno" if (self.a, self.b) == (1.0, 0.5) else f"Reno({self.a:g}, {self.b:g})"


@dataclass(frozen=True)
class Scalable:
    """Scalable TCP, generalised (Kelly, PFLDnet 2003): ``a`` per acknowledgement, b·W per mark.

    Below ``lwnd`` it is Reno; ``lwnd`` = 0 leaves that out. Linux's is ``lwnd`` = 0 with
    ``at_least_reno``.
    """

    a: float = 0.01
    """Packets added per acknowledgement; above 0."""
    b: float = 0.125
    """Fraction of the window that a mark takes; above 0, at most 1."""
    lwnd: float = 16.0
    """Window in packets from which on it is scalable; 0 or more."""
    at_least_reno: bool = False
    """Whether it grows like Reno where that is faster, up to 1/``a`` packets."""

    def __post_init__(self) -> None:
        positive("a", self.a)
        if not 0 < self.b <= 1:
            raise ControlError(f"b = {self.b:g}: must be above 0 and at most 1")
        if not 0 <= self.lwnd < float("inf"):
            raise ControlError(f"lwnd = {self.lwnd:g}: must be 0 or more")

    @property
    def name(self) -> str:
        """As the literature writes it."""
        least = ", at least Reno" if self.at_least_reno else ""
        return f"Scalable({self.a:g}, {self.b:g}, {self.lwnd:g}{least})"

    def increase(self, w: Array) -> Array:
        """a·W packets per round trip; 1 below ``lwnd``, and at least 1 if it is to be."""
        return np.where(self._like_reno(w), 1.0, self.a * w)[()]

    def _like_reno(self, w: Array) -> Array:
        """Where it grows as Reno does."""
        return np.asarray(w) < max(self.lwnd, 1 / self.a if self.at_least_reno else 0.0)

    def decrease(self, w: Array) -> Array:
        """b·W packets per mark; half below ``lwnd``."""
        return np.where(np.asarray(w) < self.lwnd, 0.5, self.b)[()] * w

    def slopes(self, w: Array) -> tuple[Array, Array]:
        """The derivatives of both."""
        below = np.asarray(w) < self.lwnd
        return np.where(self._like_reno(w), 0.0, self.a)[()], np.where(below, 0.5, self.b)[()]


@dataclass(frozen=True)
class HighSpeed:
    """HighSpeed TCP (RFC 3649, sections 5 and 7); up to ``low_window`` it is Reno."""

    low_window: float = 38.0
    """Window in packets from which on it differs from Reno."""
    low_p: float = 1e-3
    """Loss rate at ``low_window``."""
    high_window: float = 83_000.0
    """Window in packets that ``high_p`` holds."""
    high_p: float = 1e-7
    """Loss rate at ``high_window``."""
    high_decrease: float = 0.1
    """Fraction that a mark takes at ``high_window``."""

    def __post_init__(self) -> None:
        if not 1 < self.low_window < self.high_window < float("inf"):
            raise ControlError(
                f"low_window = {self.low_window:g}: must be above 1 and below high_window"
            )
        if not 0 < self.high_p < self.low_p <= 1:
            raise ControlError(f"high_p = {self.high_p:g}: must be below {self.low_p:g}")
        if not 0 < self.high_decrease <= 0.5:
            raise ControlError(f"high_decrease = {self.high_decrease:g}: must be up to 0.5")

    @property
    def name(self) -> str:
        """As the literature writes it."""
        return "HighSpeed"

    @property
    def exponent(self) -> float:
        """S of the response W = (p/low_p)^S low_window: −0.835 with the RFC's numbers."""
        return math.log(self.high_window / self.low_window) / math.log(self.high_p / self.low_p)

    def _b(self, w: Array) -> Array:
        place = np.log(w / self.low_window) / math.log(self.high_window / self.low_window)
        # Beyond high_window the RFC's line would reach 0; tables of implementations end there.
        return 0.5 + (self.high_decrease - 0.5) * np.minimum(place, 1.0)

    def response(self, p: Array) -> Array:
        """Window in packets at the loss rate ``p`` (section 5); above ``low_p`` that of Reno."""
        high = (p / self.low_p) ** self.exponent * self.low_window
        return np.where(np.asarray(p) > self.low_p, np.sqrt(1.5 / p), high)[()]

    def increase(self, w: Array) -> Array:
        """a(w) = w² p(w) 2 b(w)/(2 − b(w)) packets per round trip; 1 up to ``low_window``."""
        b = self._b(w)
        p = self.low_p * (w / self.low_window) ** (1 / self.exponent)
        return np.where(np.asarray(w) <= self.low_window, 1.0, w**2 * p * 2 * b / (2 - b))[()]

    def decrease(self, w: Array) -> Array:
        """b(w)·w packets per mark; half up to ``low_window``."""
        return np.where(np.asarray(w) <= self.low_window, 0.5, self._b(w))[()] * w

    def slopes(self, w: Array) -> tuple[Array, Array]:
        """Derivatives of the two, from those of their logarithms."""
        low = np.asarray(w) < self.low_window
        b = self._b(w)
        per_w = (self.high_decrease - 0.5) / math.log(self.high_window / self.low_window) / w
        per_w = np.where(np.asarray(w) < self.high_window, per_w, 0.0)[()]
        growth = (2 + 1 / self.exponent) / w + per_w / b + per_w / (2 - b)
        rise = np.where(low, 0.0, self.increase(w) * growth)[()]
        return rise, np.where(low, 0.5, b + w * per_w)[()]
