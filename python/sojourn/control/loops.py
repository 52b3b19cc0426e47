"""The loop of a window law and a controller: a rational function of s times an exact delay.

Two forms of the linear model:

``paper``
    The plant of Hollot, Misra, Towsley and Gong (INFOCOM 2001, equation 4),
    P(s) = (C²/2N) e^(−sR) / ((s + 2N/(R²C)) (s + 1/R)) for Reno, for other laws with
    λ = (I/W + D'·I/D − I')/R in place of 2N/(R²C) and N·W·D/R² in place of C²/2N. It is what
    dW/dt = (I/W − D·p) times the rate of acknowledgements, one round trip old, comes to.
``fluid``
    The equation of Misra, Gong and Towsley (SIGCOMM 2000), dW/dt = I/R − D·(W/R)(t−R)·p(t−R),
    linearised with nothing left out: the delayed window and the change of R have their terms. The
    fluid engine follows it.

In both, everything that is delayed acts on the window alone, so that the characteristic equation
is D(s) + M(s) e^(−sR) = 0 with polynomials D and M: the loop is cut at the delay, L = M/D e^(−sR).
In the form ``paper`` that is plant times controller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .controllers import Controller, Polynomial
from .laws import Array, Law
from .points import Network, OperatingPoint, require
from .rate import RateFeedback

if TYPE_CHECKING:
    import control

Form = Literal["paper", "fluid"]


@dataclass(frozen=True)
class Delayed:
    """A rational function of s times e^(−s·delay)."""

    numerator: Polynomial
    """Coefficients, highest power first."""
    denominator: Polynomial
    """Coefficients, highest power first."""
    delay: Array
    """Seconds."""

    def response(self, omega: Array) -> Any:
        """Values at s = jω, the delay exact.

        Args:
            omega: Radians per second.
        """
        s = 1j * np.asarray(omega)
        return value(self.numerator, s) / value(self.denominator, s) * np.exp(-s * self.delay)

    def rational(self) -> control.TransferFunction:
        """The part without the delay, as an object of python-control."""
        import control

        return control.tf(self.numerator, self.denominator)


@dataclass(frozen=True)
class Loop(Delayed):
    """The open loop L(s), whose closed loop is 1 + L(s) = 0."""

    point: OperatingPoint
    """What it is linear about."""


def value(polynomial: Polynomial, s: Any) -> Any:
    """The polynomial at ``s``, by Horner's rule; the coefficients may be arrays."""
    total: Any = 0.0
    for coefficient in polynomial:
        total = total * s + coefficient
    return total


def product(one: Polynomial, other: Polynomial) -> Polynomial:
    """Coefficients of a product; the coefficients may be arrays."""
    found: Polynomial = [0.0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[i + j] = found[i + j] + a * b
    return found


def total(one: Polynomial, other: Polynomial) -> Polynomial:
    """Coefficients of a sum."""
    size = max(len(one), len(other))
    filled = [[0.0] * (size - len(each)) + list(each) for each in (one, other)]
    return [a + b for a, b in zip(*filled, strict=True)]


def operating_point(
    network: Network, law: Law, controller: Controller | RateFeedback
) -> OperatingPoint:
    """Where the loop comes to rest.

    Raises:
        ControlError: If there is no such point: a window below one packet, a probability above 1
            or above what the controller gives.
    """
    return require(controller.settle(network, law), network)


def pole(point: OperatingPoint) -> Array:
    """λ: the slow pole of the plant in the form ``paper``, in radians per second.

    2N/(R²C) for Reno (INFOCOM 2001, equation 4).
    """
    bend = point.decrease_slope * point.increase / point.decrease
    return (point.increase / point.window + bend - point.increase_slope) / point.rtt


def gain(point: OperatingPoint) -> Array:
    """N·W·D/R²: numerator of the plant; C²/2N for Reno."""
    return point.flows * point.window * point.decrease / point.rtt**2


def plant(point: OperatingPoint) -> Delayed:
    """P(s) from the probability to the queue (its sign left out), in the form ``paper``."""
    denominator = product([1.0, pole(point)], [1.0, 1 / point.rtt])
    return Delayed([gain(point)], denominator, point.rtt)


def plant_response(point: OperatingPoint, omega: Array, form: Form = "paper") -> Any:
    """P(jω) in either form; in ``fluid`` its denominator has the delay too.

    Args:
        point: What it is linear about.
        omega: Radians per second.
        form: Of the model.
    """
    if form == "paper":
        return plant(point).response(omega)
    denominator, delayed = _window_and_queue(point)
    s = 1j * np.asarray(omega)
    late = np.exp(-s * point.rtt)
    return gain(point) * late / (value(denominator, s) + value(delayed, s) * late)


def loop(
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    form: Form | None = None,
) -> Loop:
    """The open loop about its operating point.

    Args:
        network: Flows, capacity and round trip time.
        law: How windows move.
        controller: What makes probabilities of queues, or of rates.
        form: Of the model; default ``paper``, and ``fluid`` for rate feedback.

    Raises:
        ControlError: If there is no operating point.
    """
    return loop_at(operating_point(network, law, controller), controller, form)


def loop_at(
    point: OperatingPoint, controller: Controller | RateFeedback, form: Form | None = None
) -> Loop:
    """The open loop about ``point``, which may hold arrays."""
    if isinstance(controller, RateFeedback):
        denominator, numerator = controller.polynomials(point, form or "fluid")
        return Loop(numerator, denominator, point.rtt, point)
    top, bottom = controller.transfer(point)
    if form == "fluid":
        undelayed, delayed = _window_and_queue(point)
        numerator = total(product(delayed, bottom), [gain(point) * each for each in top])
        return Loop(numerator, product(undelayed, bottom), point.rtt, point)
    it = plant(point)
    return Loop(product(it.numerator, top), product(it.denominator, bottom), it.delay, point)


def _window_and_queue(point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
    """The determinant of window and queue in the form ``fluid``: without and with e^(−sR)."""
    r, w = point.rtt, point.window
    own = (point.decrease_slope * point.increase / point.decrease - point.increase_slope) / r
    late = point.increase / (w * r)
    # The change of R: δR = δq/C in the increase now, in the marks a round trip ago.
    stretch = point.increase / (r**2 * w)
    undelayed = product([1.0, own], [1.0, 1 / r])
    undelayed[-1] = undelayed[-1] + stretch
    return undelayed, [late, late / r - stretch]
