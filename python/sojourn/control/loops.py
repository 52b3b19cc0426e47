"""Loops as delay systems, derived by the engine from its laws.

The engine opens a loop at the mark and linearises what is left,

    ẋ = A₀x + Σ A_k x(t − τ_k) + Σ B_k u(t − τ_k),    y = Cx,

u being the probability that packets meet and y the one that the law gives: closed, u = y. There are
two forms of the equations. In ``paper`` windows move with each acknowledgement, one round trip
late, which gives the plant of Hollot, Misra, Towsley and Gong (INFOCOM 2001, equation 4),
P(s) = (C²/2N) e^(−sR)/((s + 2N/(R²C))(s + 1/R)) for Reno. ``fluid`` is the equation of Misra, Gong
and Towsley (SIGCOMM 2000) with nothing left out; the fluid engine follows it.

Everything that is delayed acts on the window alone, so that the characteristic equation is
D(s) + M(s) e^(−sR) = 0 with polynomials D and M: a loop is cut at the delay, L = M/D e^(−sR). In
the form ``paper`` that is plant times controller.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sojourn._engine import linearise
from sojourn.control.errors import ControlError
from sojourn.control.models import Model, Point, asked
from sojourn.extras import require

if TYPE_CHECKING:
    import control

Array = Any
"""A float or an array of floats: numpy has no type for both."""
Polynomial = list[float]
"""Coefficients, highest power first."""
Terms = tuple[tuple[float, Array], ...]
"""Delays in seconds and what is delayed by them."""


@dataclass(frozen=True)
class DelaySystem:
    """ẋ = A₀x + Σ A_k x(t − τ_k) + Σ B_k u(t − τ_k), y = Cx."""

    a: Terms
    """The delays τ_k and the matrices A_k; A₀ has the delay 0."""
    b: Terms
    """The delays and the columns B_k."""
    c: Array
    """The row C."""
    states: tuple[str, ...] = ()
    """What the states are."""

    def closed(self, factor: float = 1.0) -> Terms:
        """The delays and matrices of the closed loop, u = factor·y."""
        found: dict[float, Array] = {tau: np.array(matrix) for tau, matrix in self.a}
        for tau, column in self.b:
            found[tau] = found.get(tau, 0.0) + factor * np.outer(column, self.c)
        return tuple(found.items())

    def response(self, omega: Array) -> Array:
        """From u to y at s = jω, the delays exact.

        Args:
            omega: Radians per second.
        """
        s = 1j * np.atleast_1d(omega)[..., None, None]
        whole = s * np.eye(len(self.c)) - sum(m * np.exp(-s * tau) for tau, m in self.a)
        pushed = sum(column[:, None] * np.exp(-s * tau) for tau, column in self.b)
        found = (self.c @ np.linalg.solve(whole, pushed))[..., 0]
        return found if np.ndim(omega) else found[0]


@dataclass(frozen=True)
class Loop:
    """The open loop L(s) = M(s)/D(s) e^(−sR), whose closed loop is 1 + L(s) = 0."""

    numerator: Polynomial
    """M."""
    denominator: Polynomial
    """D."""
    delay: float
    """R in seconds."""
    system: DelaySystem
    """The same, opened at the mark."""
    point: Point
    """What it is linear about."""

    def response(self, omega: Array) -> Any:
        """Values at s = jω, the delay exact.

        Args:
            omega: Radians per second, not 0, where the gain of what integrates is infinite.

        Raises:
            ControlError: If one is 0.
        """
        s = 1j * np.asarray(omega)
        if np.any(s == 0):
            raise ControlError("omega = 0: must be another frequency")
        return value(self.numerator, s) / value(self.denominator, s) * np.exp(-s * self.delay)

    def rational(self) -> control.TransferFunction:
        """The part without the delay, as an object of python-control, which must be installed."""
        require("control", "an object of python-control")
        import control

        return control.tf(self.numerator, self.denominator)


def value(polynomial: Polynomial, s: Any) -> Any:
    """The polynomial at ``s``, by Horner's rule."""
    total: Any = 0.0
    for coefficient in polynomial:
        total = total * s + coefficient
    return total


def operating_point(model: Model) -> Point:
    """Where the loop comes to rest.

    Raises:
        ControlError: If there is no such point: a window below one packet, a probability above 1
            or above what the discipline gives.
    """
    return Point(**_linearised(model)["point"])


def loop(model: Model) -> Loop:
    """The open loop about its operating point.

    Raises:
        ControlError: If there is no operating point, or the law has no derivative there.
    """
    found = _linearised(model)
    return Loop(
        found["numerator"], found["denominator"], found["delay"], _system(found),
        Point(**found["point"]),
    )  # fmt: skip


@dataclass(frozen=True)
class Sampled:
    """A loop with the sampler and the hold of its discipline, which are a second delay."""

    system: DelaySystem
    """Opened at the mark."""
    period: float
    """Seconds between two samples."""


def sampled(model: Model) -> Sampled | None:
    """The loop with sampler and hold; none if the discipline acts at every packet.

    What the discipline says holds until the next instant. Images of the queue at multiples of the
    sampling frequency are left out: the plant, two poles below 1/R, lets little of them through as
    long as the period is below a round trip or so.

    Raises:
        ControlError: If there is no operating point.
    """
    if not (period := _linearised(model)["hold"]):
        return None
    return Sampled(_system(_linearised(model, sampled=True)), period)


def _linearised(model: Model, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asked(linearise, model.description(**more)))
    return found


def _system(found: dict[str, Any]) -> DelaySystem:
    return DelaySystem(
        a=((0.0, np.array(found["a0"])), *((t, np.array(m)) for t, m in found["delayed"])),
        b=tuple((t, np.array(column)) for t, column in found["b"]),
        c=np.array(found["c"]),
        states=tuple(found["states"]),
    )
