"""A bottleneck with flows, and where a loop around it comes to rest.

W₀ = R₀C/N, p₀ = I(W₀)/(D(W₀)·W₀), R₀ = T_p + q₀/C (Hollot et al., INFOCOM 2001, equation 3). All
quantities may be numpy arrays that broadcast with each other: maps work that way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import ControlError
from .laws import Array, Law, probability


@dataclass(frozen=True)
class Network:
    """N flows with the same round trip time over one link.

    One of ``rtt`` and ``propagation`` is given.
    """

    flows: Array
    """N: number of flows."""
    capacity: Array
    """C: packets per second."""
    rtt: Array | None = None
    """R₀: round trip time in seconds, the wait in the queue included."""
    propagation: Array | None = None
    """T_p: round trip time in seconds without the wait in the queue."""

    def __post_init__(self) -> None:
        if (self.rtt is None) == (self.propagation is None):
            raise ControlError("rtt, propagation: exactly one of them must be given")
        for name in ("flows", "capacity", "rtt", "propagation"):
            value = getattr(self, name)
            if value is not None and not np.all((np.asarray(value) > 0) & np.isfinite(value)):
                raise ControlError(f"{name} = {np.min(value):g}: must be above 0")

    def with_queue(self, queue: Array) -> tuple[Array, Array]:
        """Round trip time with and without ``queue`` packets waiting, in seconds."""
        wait = queue / self.capacity
        if self.rtt is not None:
            return self.rtt + 0 * wait, self.rtt - wait
        assert self.propagation is not None
        return self.propagation + wait, self.propagation + 0 * wait


@dataclass(frozen=True)
class OperatingPoint:
    """Where a loop comes to rest, and all that its linear model takes from there."""

    flows: Array
    """N."""
    capacity: Array
    """C in packets per second."""
    rtt: Array
    """R₀ in seconds, the wait in the queue included."""
    window: Array
    """W₀ in packets."""
    p: Array
    """p₀: probability of a mark."""
    queue: Array
    """q₀ in packets."""
    increase: Array
    """I(W₀) in packets per round trip."""
    decrease: Array
    """D(W₀) in packets per mark."""
    increase_slope: Array
    """dI/dW at W₀."""
    decrease_slope: Array
    """dD/dW at W₀."""

    @property
    def rate(self) -> Array:
        """N·W₀/R₀: packets per second that arrive."""
        return self.flows * self.window / self.rtt

    @property
    def utilisation(self) -> Array:
        """Arrivals as a fraction of the capacity."""
        return self.rate / self.capacity


def at_window(network: Network, law: Law, w: Array, rtt: Array, queue: Array) -> OperatingPoint:
    """The operating point with windows of ``w`` packets; nothing is checked."""
    rise, fall = law.slopes(w)
    return OperatingPoint(
        flows=network.flows,
        capacity=network.capacity,
        rtt=rtt,
        window=w,
        p=probability(law, w),
        queue=queue,
        increase=law.increase(w),
        decrease=law.decrease(w),
        increase_slope=rise,
        decrease_slope=fall,
    )


def full_link(network: Network, law: Law, queue: Array) -> OperatingPoint:
    """The operating point of a full link with ``queue`` packets waiting; nothing is checked."""
    rtt, _ = network.with_queue(queue)
    w = rtt * network.capacity / network.flows
    return at_window(network, law, w, rtt, queue)


def require(point: OperatingPoint, network: Network) -> OperatingPoint:
    """``point`` (of numbers, not arrays) if it can exist.

    Raises:
        ControlError: If the window is below one packet, the probability above 1, or the wait in
            the queue longer than the round trip.
    """
    if np.isnan(point.queue):
        raise ControlError(
            f"no operating point: {point.flows:g} flows need a probability of {point.p:.3g}, more "
            "than the profile gives before it jumps to 1"
        )
    if point.window < 1:
        raise ControlError(
            f"no operating point: {point.flows:g} flows share {point.rtt * point.capacity:.3g} "
            f"packets per round trip, a window of {point.window:.3g}; it must be at least 1"
        )
    if point.p > 1:
        raise ControlError(
            f"no operating point: a window of {point.window:.3g} packets needs a probability of "
            f"{point.p:.3g}; it must be at most 1"
        )
    _, propagation = network.with_queue(point.queue)
    if propagation < 0:
        raise ControlError(
            f"no operating point: {point.queue:.4g} packets wait "
            f"{point.queue / point.capacity:.3g} s, longer than the whole round trip "
            f"of {point.rtt:.3g} s"
        )
    return point
