"""Controllers that sample: the loop with its sampler and hold.

A controller p(k) = p(k−1) + a·q(k) − b·q(k−1) with the period T has the response
(a − b e^(−sT))/(1 − e^(−sT)), and what it says holds until the next instant: (1 − e^(−sT))/(sT).
Images of the queue at multiples of the sampling frequency are left out: the plant, two poles below
1/R, lets little of them through as long as T is below a round trip or so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .controllers import PI, Controller
from .errors import ControlError
from .laws import Law
from .loops import operating_point, plant
from .points import Network, OperatingPoint

_GRID = 6000


@dataclass(frozen=True)
class SampledMargins:
    """Margins of a loop with its sampler and hold."""

    phase: float
    """Least phase in degrees above −180° where the gain is 1; infinite without such a place."""
    crossover: float | None
    """Radians per second where that is."""
    distance: float
    """Least distance of the loop from −1."""


def sampled_gains(controller: Controller, point: OperatingPoint) -> tuple[float, float]:
    """a and b per packet of p(k) = p(k−1) + a·q(k) − b·q(k−1).

    PI states them. The others add up the present excess and the change since the last instant.

    Raises:
        ControlError: If the controller does not sample.
    """
    if not controller.hold:
        raise ControlError(f"{controller.kind}: acts at every packet and samples nothing")
    if isinstance(controller, PI):
        return controller.a, controller.b
    (proportional, integral), _ = controller.transfer(point)
    return float(proportional + integral * controller.hold), float(proportional)


def sampled_response(controller: Controller, point: OperatingPoint, omega: Any) -> Any:
    """The loop at s = jω with sampler, hold and the exact delay of the plant (form ``paper``).

    Args:
        controller: One that samples.
        point: What the loop is linear about.
        omega: Radians per second, below half of the sampling frequency.
    """
    a, b = sampled_gains(controller, point)
    s = 1j * np.asarray(omega)
    late = np.exp(-s * controller.hold)
    # The hold's numerator is the controller's denominator.
    return plant(point).response(omega) * (a - b * late) / (s * controller.hold)


def sampled_margins(network: Network, law: Law, controller: Controller) -> SampledMargins:
    """Phase margin and distance from −1 of the loop with its sampler and hold.

    Args:
        network: Flows, capacity and round trip time.
        law: How windows move.
        controller: One that samples.

    Raises:
        ControlError: If there is no operating point, or the controller does not sample.
    """
    point = operating_point(network, law, controller)
    sampled_gains(controller, point)
    highest = np.pi / controller.hold
    omega = np.geomspace(highest * 1e-7, highest, _GRID)
    response = sampled_response(controller, point, omega)
    size = np.abs(response)
    turned = np.degrees(np.unwrap(np.angle(response)))
    # An integrator: the phase begins at −90°.
    turned -= 360 * np.round((turned[0] + 90) / 360)
    distance = float(np.min(np.abs(1 + response)))
    falls = np.flatnonzero((size[:-1] - 1) * (size[1:] - 1) < 0)
    if not falls.size:
        return SampledMargins(np.inf, None, distance)
    shares = np.log(size[falls]) / np.log(size[falls] / size[falls + 1])
    left = 180 + turned[falls] + shares * (turned[falls + 1] - turned[falls])
    worst = int(np.argmin(left))
    at = omega[falls[worst]] * (omega[falls[worst] + 1] / omega[falls[worst]]) ** shares[worst]
    return SampledMargins(float(left[worst]), float(at), distance)
