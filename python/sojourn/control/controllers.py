"""Controllers that turn a queue into a probability, linear about an operating point.

Each says where it comes to rest (`settle`) and what it is there: a rational function of s from the
queue in packets to the probability (`transfer`), without the delay of the loop. Those that sample
state their period as ``hold``: the loop can count it in (`sojourn.control.sampling`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .errors import ControlError, positive
from .laws import Array, Law
from .points import Network, OperatingPoint, full_link

Polynomial = list[Array]
"""Coefficients, highest power first; arrays in a map."""


class Controller(Protocol):
    """What turns a queue, or a rate, into a probability."""

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        ...

    @property
    def hold(self) -> float:
        """Sampling period in seconds; 0 if it acts at once."""
        ...

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """Where it comes to rest; not checked."""
        ...

    def transfer(self, point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator from packets in the queue to probability."""
        ...


def setpoint(name: str, value: float) -> float:
    """A queue to hold: 0 or more.

    Raises:
        ControlError: If it is not.
    """
    if not 0 <= value < float("inf"):
        raise ControlError(f"{name} = {value:g}: must be 0 or more")
    return value


@dataclass(frozen=True)
class PI:
    """The PI controller (Hollot et al., INFOCOM 2001, section V).

    p(k) = a (q(k) − qref) − b (q(k−1) − qref) + p(k−1), as a continuous controller
    K (s/z + 1)/s with K/z = (a + b)/2 and K = (a − b)·hz.
    """

    a: float
    """Gain on the present queue, per packet; above ``b``."""
    b: float
    """Gain on the queue one sample ago, per packet; 0 or more."""
    hz: float
    """Sampling frequency."""
    qref: float = 50.0
    """The queue to hold, in packets."""

    def __post_init__(self) -> None:
        positive("a", self.a)
        positive("hz", self.hz)
        setpoint("qref", self.qref)
        if not 0 <= self.b < self.a:
            raise ControlError(f"b = {self.b:g}: must be 0 or more and below a = {self.a:g}")

    @classmethod
    def continuous(cls, k: float, z: float, hz: float, qref: float = 50.0) -> PI:
        """The sampled controller for K(s/z + 1)/s: a, b = K/z ± K/(2 hz) (section V.B).

        Raises:
            ControlError: If it samples so rarely (hz < z/2) that ``b`` would be negative.
        """
        positive("K", k)
        positive("z", z)
        positive("hz", hz)
        if hz < z / 2:
            raise ControlError(f"hz = {hz:g}: must be at least half of z = {z:.4g} rad/s")
        return cls(k / z + k / (2 * hz), k / z - k / (2 * hz), hz, qref)

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        return "pi"

    @property
    def hold(self) -> float:
        """Sampling period in seconds."""
        return 1 / self.hz

    @property
    def k(self) -> float:
        """K, per packet and second."""
        return (self.a - self.b) * self.hz

    @property
    def z(self) -> float:
        """The zero, in radians per second."""
        return 2 * self.k / (self.a + self.b)

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """A full link with ``qref`` packets waiting."""
        return full_link(network, law, self.qref)

    def transfer(self, point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
        """K/z + K/s."""
        return [self.k / self.z, self.k], [1.0, 0.0]


@dataclass(frozen=True)
class REM:
    """REM (Athuraliya et al., IEEE Network 15(3), 2001): a PI controller of the price.

    The arrivals less the capacity are the derivative of the queue, so that a period T moves the
    price by γ(Δq + α(q − qref)); p = 1 − φ^(−price) has the slope ln φ·(1 − p).
    """

    gamma: float = 0.001
    """Step of the price per packet of excess."""
    alpha: float = 0.1
    """Weight of the queue's excess."""
    phi: float = 1.001
    """Base of the exponential; above 1."""
    qref: float = 20.0
    """The queue to hold, in packets."""
    period: float = 0.002
    """T in seconds."""

    def __post_init__(self) -> None:
        for name in ("gamma", "alpha", "period"):
            positive(name, getattr(self, name))
        setpoint("qref", self.qref)
        if not 1 < self.phi < float("inf"):
            raise ControlError(f"phi = {self.phi:g}: must be above 1")

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        return "rem"

    @property
    def hold(self) -> float:
        """Sampling period in seconds."""
        return self.period

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """A full link with ``qref`` packets waiting."""
        return full_link(network, law, self.qref)

    def transfer(self, point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
        """ln φ (1 − p₀) γ (1 + α/(T s))."""
        gain = math.log(self.phi) * (1 - point.p) * self.gamma
        return [gain, gain * self.alpha / self.period], [1.0, 0.0]


# RFC 8033, section 4.2: below these probabilities the steps are divided.
_TUNING = ((1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0))


def tuning(p: Array) -> Array:
    """PIE's factor on its gains at the probability ``p`` (RFC 8033, section 4.2): 1/2048 to 1."""
    factor = np.ones_like(np.asarray(p, float))
    for bound, divisor in reversed(_TUNING):
        factor = np.where(np.asarray(p) < bound, 1 / divisor, factor)
    return factor[()]


@dataclass(frozen=True)
class PIE:
    """PIE (RFC 8033): PI on the queueing delay, its gains scaled down where p is small.

    Of the RFC's refinements the model has the scaling only: the burst allowance, the limit on a
    step and the derandomisation do not act near an operating point.
    """

    alpha: float = 0.125
    """Gain on the delay's excess over the target, per second."""
    beta: float = 1.25
    """Gain on the change of the delay, per second."""
    target: float = 0.015
    """The delay to hold, in seconds."""
    update: float = 0.015
    """Time between two steps, in seconds."""

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "update"):
            positive(name, getattr(self, name))
        setpoint("target", self.target)

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        return "pie"

    @property
    def hold(self) -> float:
        """Sampling period in seconds."""
        return self.update

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """A full link where packets wait for ``target``."""
        return full_link(network, law, self.target * network.capacity)

    def transfer(self, point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
        """f(p₀) (β + α/(T s))/C."""
        gain = self._scale(point) / point.capacity
        return [gain * self.beta, gain * self.alpha / self.update], [1.0, 0.0]

    def _scale(self, point: OperatingPoint) -> Array:
        return tuning(point.p)


@dataclass(frozen=True)
class PI2(PIE):
    """PI2 (De Schepper et al., CoNEXT 2016): PI on the delay for p', marks with p = p'².

    The square's slope 2√p₀ takes the place of PIE's table.
    """

    alpha: float = 0.3125
    """Gain on the delay's excess over the target, per second."""
    beta: float = 3.125
    """Gain on the change of the delay, per second."""
    target: float = 0.020
    """The delay to hold, in seconds."""
    update: float = 0.032
    """Time between two steps, in seconds."""

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        return "pi2"

    def _scale(self, point: OperatingPoint) -> Array:
        return 2 * np.sqrt(point.p)


@dataclass(frozen=True)
class CoDelSetpoint:
    """A CoDel-like setpoint controller, as a describing function.

    While packets wait for longer than the target CoDel's rate of drops is √count/interval, and
    count grows by one per drop (RFC 8289, section 3.3): the rate grows by 1/(2 interval²) per
    second, however large the excess. The model lets it fall as fast below the target: an
    integrator behind a relay. The relay is replaced by its gain for an oscillation of
    ``amplitude``, 4/(π·amplitude): so the loop is stable for large oscillations and unstable for
    small ones, and the amplitude in between is that of the limit cycle. CoDel itself drops
    nothing below the target, and forgets slowly what it had reached: this is its likeness only.
    """

    target: float = 0.005
    """The delay to hold, in seconds."""
    interval: float = 0.100
    """Time to wait before the first drop, in seconds."""
    amplitude: float | None = None
    """Amplitude of the delay's oscillation, in seconds; default: the target."""

    def __post_init__(self) -> None:
        for name in ("target", "interval"):
            positive(name, getattr(self, name))
        if self.amplitude is not None:
            positive("amplitude", self.amplitude)

    @property
    def kind(self) -> str:
        """Its name in a scenario."""
        return "codel"

    @property
    def hold(self) -> float:
        """It acts at once."""
        return 0.0

    def settle(self, network: Network, law: Law) -> OperatingPoint:
        """A full link where packets wait for ``target``."""
        return full_link(network, law, self.target * network.capacity)

    def transfer(self, point: OperatingPoint) -> tuple[Polynomial, Polynomial]:
        """1/(2 interval² C) · 4/(π·amplitude·C) / s."""
        amplitude = (self.amplitude or self.target) * point.capacity
        ramp = 1 / (2 * self.interval**2 * point.capacity)
        return [ramp * 4 / (math.pi * amplitude)], [1.0, 0.0]
