"""Phase margins of many loops at once: over a region, or for a map.

In the form ``paper`` the gain of every loop here falls with the frequency (poles, and at most one
zero, that of an integrator). So there is at most one gain crossover, and the loop is stable if and
only if the phase there is above −180°: the margin is found by bisection for all points at a time.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .controllers import Controller
from .errors import ControlError
from .laws import Array, Law
from .loops import gain, pole, value
from .marking import Power
from .points import Network, OperatingPoint
from .rate import RateFeedback

_HALVINGS = 26
_DECADES = (1e-7, 1e5)
# Points per piece of work: its arrays stay in a core's cache.
_CHUNK = 20_000


@dataclass(frozen=True)
class Scan:
    """Margins of many loops; arrays of one shape."""

    phase: Any
    """Phase margin in degrees: above 0 if stable, infinite without a crossover, not a number
    without an operating point."""
    crossover: Any
    """Radians per second where the loop's gain is 1; 0 if it never is."""
    window: Any
    """W₀ in packets."""
    p: Any
    """p₀."""
    rtt: Any
    """R₀ in seconds."""

    @property
    def delay(self) -> Any:
        """Seconds of further delay that bring the loop to the edge."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.crossover > 0, np.radians(self.phase) / self.crossover, np.inf)


def scan(
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    *,
    factor: Array = 1.0,
    held: bool = False,
    window: float = 1.0,
) -> Scan:
    """Phase margins of all loops of a network whose quantities are arrays.

    Args:
        network: Flows, capacity and round trip time; arrays that broadcast with each other.
        law: How windows move.
        controller: What makes probabilities of queues; of rates without a lag.
        factor: Of the controller's gain; may be an array.
        held: Count in that the controller samples: half a period of further delay.
        window: Least window in packets for which the model is taken to hold.
    """
    exponent = _exponent(controller)
    parts = np.broadcast_arrays(*(_array(network, name) for name in _PARTS), factor, exponent)
    shape, size = parts[0].shape, parts[0].size
    flat = [each.ravel() for each in parts]
    which = "rtt" if network.rtt is not None else "propagation"

    def piece(start: int) -> tuple[Any, ...]:
        stop = start + _CHUNK
        part = Network(flat[0][start:stop], flat[1][start:stop], **{which: flat[2][start:stop]})
        own = controller
        if isinstance(controller, RateFeedback) and np.ndim(exponent):
            own = replace(controller, marking=Power(flat[4][start:stop]))
        with np.errstate(all="ignore"):
            return _margins(part, law, own, flat[3][start:stop], held, window)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(piece, range(0, size, _CHUNK)))
    columns = [np.concatenate(column).reshape(shape) for column in zip(*done, strict=True)]
    return Scan(*columns)


_PARTS = ("flows", "capacity", "round trip")


def _array(network: Network, name: str) -> Any:
    if name == "round trip":
        found = network.rtt if network.rtt is not None else network.propagation
    else:
        found = getattr(network, name)
    return np.asarray(found, float)


def _exponent(controller: Controller | RateFeedback) -> Any:
    """B, where a map goes over it."""
    marking = controller.marking if isinstance(controller, RateFeedback) else None
    return marking.exponent if isinstance(marking, Power) else 0.0


def _margins(
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    factor: Any,
    held: bool,
    window: float,
) -> tuple[Any, ...]:
    point = controller.settle(network, law)
    _, propagation = network.with_queue(point.queue)
    there = (point.window >= window) & (point.p <= 1) & ~(propagation < 0) & ~np.isnan(point.queue)
    if isinstance(controller, RateFeedback):
        phase, crossover = _of_rate(point, controller)
    else:
        phase, crossover = _of_queue(point, controller, factor, held)
    phase = np.where(there, phase, np.nan)
    ones = np.ones_like(phase)
    return phase, crossover * ones, point.window * ones, point.p * ones, point.rtt * ones


def _of_rate(point: OperatingPoint, controller: RateFeedback) -> tuple[Any, Any]:
    """κ(1 + B) e^(−sR)/(s + own): the crossover in closed form."""
    if controller.lag:
        raise ControlError("lag: margins of many loops at once are of rates without a lag")
    denominator, numerator = controller.polynomials(point, "fluid")
    push, own = numerator[-1], denominator[-1]
    crossover = np.sqrt(np.maximum(push**2 - own**2, 0))
    phase = 180 - np.degrees(np.arctan2(crossover, own) + crossover * point.rtt)
    return np.where(crossover > 0, phase, np.inf), crossover


def _of_queue(
    point: OperatingPoint, controller: Controller, factor: Any, held: bool
) -> tuple[Any, Any]:
    top, bottom = controller.transfer(point)
    slow, fast = pole(point), 1 / point.rtt
    strength = gain(point) * factor
    # |L|² − 1 as a function of x = ω²; every factor is of the first degree.
    zero = _first_degree(top)
    own = _first_degree(bottom)

    def excess(x: Any) -> Any:
        above = strength**2 * (zero[0] * x + zero[1])
        return above - (own[0] * x + own[1]) * (x + slow**2) * (x + fast**2)

    crossover = np.exp(_crossing(excess, np.zeros_like(slow * strength)))
    never = excess(np.full_like(crossover, _DECADES[0] ** 2)) <= 0
    s = 1j * crossover
    lag = np.arctan2(crossover, slow) + np.arctan2(crossover, fast) + crossover * point.rtt
    if held:
        lag = lag + crossover * controller.hold / 2
    lead = np.angle(value(top, s)) - np.angle(value(bottom, s))
    phase = 180 + np.degrees(lead - lag)
    return np.where(never, np.inf, phase), np.where(never, 0.0, crossover)


def _first_degree(polynomial: list[Any]) -> tuple[Any, Any]:
    """|a·jω + b|² as the coefficients of ω² and 1."""
    if len(polynomial) == 1:
        return 0.0, polynomial[0] ** 2
    one, constant = polynomial
    return one**2, constant**2


def _crossing(excess: Callable[[Any], Any], like: Any) -> Any:
    """ln ω where a falling ``excess`` of ω² is 0: halved, then by false position."""
    low = like + np.log(_DECADES[0])
    high = like + np.log(_DECADES[1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = excess(np.exp(2 * middle)) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    at_low, at_high = excess(np.exp(2 * low)), excess(np.exp(2 * high))
    return low + (high - low) * np.clip(at_low / (at_low - at_high), 0, 1)
