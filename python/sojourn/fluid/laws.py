"""The laws of windows, queues and links that fluid models are put together from.

Each is a frozen dataclass; what its numbers may be is checked when a model is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reno:
    """Reno (RFC 5681): one packet for each round trip; a loss halves the window."""

    def _fields(self) -> dict[str, Any]:
        return {"kind": "reno"}


@dataclass(frozen=True)
class Aimd:
    """Additive increase by ``a`` packets a round trip; a loss takes the fraction ``b``."""

    a: float = 1.0
    b: float = 0.5

    def _fields(self) -> dict[str, Any]:
        return {"kind": "aimd", **vars(self)}


@dataclass(frozen=True)
class Scalable:
    """Scalable TCP (Kelly, PFLDnet 2003).

    ``a`` packets for each acknowledgement; a loss takes the fraction ``b``; below ``lwnd`` packets
    Reno (0: never). With ``at_least_reno`` it grows like Reno where that is faster, as in Linux.
    """

    a: float = 0.01
    b: float = 0.125
    lwnd: float = 16.0
    at_least_reno: bool = False

    def _fields(self) -> dict[str, Any]:
        return {"kind": "scalable", **vars(self)}


@dataclass(frozen=True)
class HighSpeed:
    """HighSpeed TCP (RFC 3649) with its standard parameters."""

    def _fields(self) -> dict[str, Any]:
        return {"kind": "highspeed"}


@dataclass(frozen=True)
class Power:
    """The price (x/C)^elasticity of a rate x on a link of capacity C."""

    elasticity: float

    def _fields(self) -> dict[str, Any]:
        return {"kind": "power", "exponent": self.elasticity}


@dataclass(frozen=True)
class Threshold:
    """The price ((x/C − start)/(1 − start))^elasticity, 0 below ``start`` unless not ``clipped``.

    A ramp for an elasticity of 1, a parabola for 2.
    """

    start: float
    elasticity: float = 1.0
    clipped: bool = True

    def _fields(self) -> dict[str, Any]:
        return {
            "kind": "threshold",
            "start": self.start,
            "exponent": self.elasticity,
            "clipped": self.clipped,
        }


@dataclass(frozen=True)
class DropTail:
    """No control law: what finds the buffer full is lost."""

    def _fields(self) -> dict[str, Any]:
        return {"kind": "droptail"}


@dataclass(frozen=True)
class Red:
    """Random early detection (Floyd and Jacobson 1993).

    Attributes:
        min_th: Average queue in packets at which marking starts.
        max_th: Average queue at which the probability reaches ``max_p``.
        max_p: That probability.
        wq: Weight of a sample in the average.
        gentle: Whether it rises to 1 at twice ``max_th`` instead of jumping to 1.
        spaced: Whether drops are spread as in the real thing, so that 2p/(1 + p) of all packets
            are hit; if not, the profile itself is the loss, as in the papers' models.
    """

    min_th: float
    max_th: float
    max_p: float = 0.1
    wq: float = 0.002
    gentle: bool = False
    spaced: bool = False

    def _fields(self) -> dict[str, Any]:
        return {"kind": "red", **vars(self)}


@dataclass(frozen=True)
class Ared:
    """RED that adapts its ``max_p`` (Floyd, Gummadi and Shenker 2001).

    Every ``interval`` seconds ``max_p`` grows by min(``alpha``, ``max_p``/4) if the average is
    above the middle fifth between the thresholds, and shrinks by the factor ``beta`` if it is
    below, between ``bottom`` and ``top``. Runs begin with empty queues: any average in between is
    at rest.
    """

    red: Red
    bottom: float = 0.01
    top: float = 0.5
    alpha: float = 0.01
    beta: float = 0.9
    interval: float = 0.5

    def _fields(self) -> dict[str, Any]:
        red = self.red._fields()
        del red["kind"]
        return {"kind": "ared", **vars(self), "red": red}


@dataclass(frozen=True)
class Pi:
    """The PI controller of Hollot, Misra, Towsley and Gong (INFOCOM 2001).

    Attributes:
        qref: The queue to hold, in packets.
        a: Gain on the present queue, per packet.
        b: Gain on the queue one sample ago, per packet.
        frequency: Samples per second.
    """

    qref: float
    a: float = 1.822e-5
    b: float = 1.816e-5
    frequency: float = 160.0

    @classmethod
    def continuous(cls, qref: float, gain: float, zero: float) -> Pi:
        """From C(s) = gain (s/zero + 1)/s: ``gain`` per packet and second, ``zero`` in rad/s."""
        frequency = 1e6
        middle, half = gain / zero, gain / (2 * frequency)
        return cls(qref, middle + half, middle - half, frequency)

    @property
    def gain(self) -> float:
        """K of C(s) = K (s/z + 1)/s, per packet and second."""
        return (self.a - self.b) * self.frequency

    @property
    def zero(self) -> float:
        """z of C(s) = K (s/z + 1)/s, in rad/s."""
        return self.gain / ((self.a + self.b) / 2)

    def _fields(self) -> dict[str, Any]:
        return {
            "kind": "pi",
            "integral": self.gain,
            "proportional": (self.a + self.b) / 2,
            "qref": self.qref,
        }


@dataclass(frozen=True)
class Rem:
    """Random exponential marking (Athuraliya, Li, Low and Yin 2001)."""

    qref: float
    gamma: float = 0.001
    alpha: float = 0.1
    phi: float = 1.001
    period: float = 0.002

    def _fields(self) -> dict[str, Any]:
        return {"kind": "rem", **vars(self)}


@dataclass(frozen=True)
class Pi2:
    """PI2 (De Schepper and others, CoNEXT 2016): ``target`` and ``period`` in seconds."""

    target: float = 0.02
    alpha: float = 0.3125
    beta: float = 3.125
    period: float = 0.032

    def _fields(self) -> dict[str, Any]:
        return {"kind": "pi2", **vars(self)}


@dataclass(frozen=True)
class Pie:
    """PIE (RFC 8033): ``target`` and ``period`` in seconds."""

    target: float = 0.015
    alpha: float = 0.125
    beta: float = 1.25
    period: float = 0.015

    def _fields(self) -> dict[str, Any]:
        return {"kind": "pie", **vars(self)}


@dataclass(frozen=True)
class Codel:
    """A setpoint for the delay, enforced as CoDel does (RFC 8289); both in seconds."""

    target: float = 0.005
    interval: float = 0.1

    def _fields(self) -> dict[str, Any]:
        return {"kind": "codel", **vars(self)}


@dataclass(frozen=True)
class Rate:
    """A price on the rate that arrives at a queue, averaged over ``averaging`` seconds (0: now)."""

    price: Power | Threshold
    averaging: float = 0.0

    def _fields(self) -> dict[str, Any]:
        return {"kind": "rate", "price": self.price._fields(), "averaging": self.averaging}


WindowLaw = Reno | Aimd | Scalable | HighSpeed
Price = Power | Threshold
Controller = DropTail | Red | Ared | Pi | Pi2 | Rem | Pie | Codel | Rate
