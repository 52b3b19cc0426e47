"""Stability maps: the linear phase margin over two parameters, and its contour of zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .controllers import Controller
from .errors import ControlError, positive
from .laws import Law
from .marking import Power
from .points import Network
from .rate import RateFeedback
from .scans import Scan, scan

PARAMETERS = {
    "rtt": ("Round trip time, queue included (s)", "rtt"),
    "propagation": ("Round trip time without the queue (s)", "propagation"),
    "flows": ("Flows", "flows"),
    "capacity": ("Capacity (packets/s)", "capacity"),
    "gain": ("Factor on the controller's gain", ""),
    "exponent": ("B of the marking function (y/C)^B", ""),
}
"""What a map may go over: heading, and the network's field."""


@dataclass(frozen=True)
class Axis:
    """One side of a map: a parameter from low to high, spaced by its logarithm."""

    name: str
    """One of `PARAMETERS`."""
    low: float
    """Above 0."""
    high: float
    """Above ``low``."""

    def __post_init__(self) -> None:
        if self.name not in PARAMETERS:
            raise ControlError(f"{self.name}: a map goes over {', '.join(PARAMETERS)}")
        positive(self.name, self.low)
        if not self.low < self.high < float("inf"):
            raise ControlError(f"{self.name} = {self.low:g}..{self.high:g}: the range is empty")

    def values(self, count: int) -> Any:
        """``count`` values."""
        return np.geomspace(self.low, self.high, count)


@dataclass(frozen=True)
class Seen:
    """What a simulation did at one point of a map."""

    x: float
    """In the units of the map's axis."""
    y: float
    """In the units of the map's axis."""
    amplitude: float
    """Half of what the queue swings, over its mean; 0 if it stands still."""
    engine: str
    """"fluid" or "packets"."""


@dataclass(frozen=True)
class StabilityMap:
    """Margins over two parameters."""

    x: Axis
    """Across."""
    y: Axis
    """Up."""
    scan: Scan
    """Margins, a row for each value of y, from low to high."""
    seen: Sequence[Seen] = field(default_factory=tuple)
    """What simulations did."""

    @property
    def unstable(self) -> float:
        """Fraction of the map's points with an operating point that are unstable."""
        phase = self.scan.phase
        there = ~np.isnan(phase)
        return float(np.mean(phase[there] <= 0)) if there.any() else 0.0

    @property
    def outside(self) -> float:
        """Fraction of the map's points without an operating point."""
        return float(np.mean(np.isnan(self.scan.phase)))

    def margin_at(self, x: float, y: float) -> float:
        """The phase margin in degrees at the map's point next to (x, y)."""
        rows, columns = self.scan.phase.shape
        i = int(np.argmin(np.abs(np.log(self.y.values(rows) / y))))
        j = int(np.argmin(np.abs(np.log(self.x.values(columns) / x))))
        return float(self.scan.phase[i, j])

    def contour(self, most: int = 250) -> list[tuple[float, float, float, float]]:
        """Pieces x₁, y₁, x₂, y₂ of the line of zero margin.

        Args:
            most: Rows and columns of the map that are looked at; a finer map is thinned to them.
        """
        phase = self.scan.phase
        rows, columns = (_thinned(size, most) for size in phase.shape)
        x = np.log(self.x.values(phase.shape[1])[columns])
        y = np.log(self.y.values(phase.shape[0])[rows])
        level = np.clip(phase[np.ix_(rows, columns)], -180, 180)
        return [
            tuple(float(v) for v in np.exp(piece))  # type: ignore[misc]
            for piece in _pieces(x, y, level)
        ]


def stability_map(
    network: Network,
    law: Law,
    controller: Controller | RateFeedback,
    x: Axis,
    y: Axis,
    size: int = 1000,
    *,
    window: float = 1.0,
) -> StabilityMap:
    """The linear phase margin over two parameters.

    Args:
        network: What the axes do not name.
        law: How windows move.
        controller: With its settings.
        x: Across.
        y: Up.
        size: Points along either axis.
        window: Least window in packets for which the model is taken to hold.

    Raises:
        ControlError: If the two axes are the same, or one does not go with the controller.
    """
    if x.name == y.name or {x.name, y.name} == {"rtt", "propagation"}:
        raise ControlError(f"{x.name}, {y.name}: the two axes of a map must differ")
    if size < 2:
        raise ControlError(f"size = {size}: must be at least 2")
    across, up = x.values(size)[None, :], y.values(size)[:, None]
    factor: Any = 1.0
    for axis, values in ((x, across), (y, up)):
        if axis.name == "gain":
            if isinstance(controller, RateFeedback):
                raise ControlError("gain: rate feedback has an exponent instead")
            factor = values
        elif axis.name == "exponent":
            if not isinstance(controller, RateFeedback):
                raise ControlError(f"exponent: {controller.kind} has none; rate feedback has")
            controller = replace(controller, marking=Power(values))
        elif axis.name == "rtt":
            network = replace(network, rtt=values, propagation=None)
        elif axis.name == "propagation":
            network = replace(network, rtt=None, propagation=values)
        else:
            network = replace(network, **{axis.name: values})
    return StabilityMap(x, y, scan(network, law, controller, factor=factor, window=window))


def _thinned(size: int, most: int) -> Any:
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _pieces(x: Any, y: Any, level: Any) -> list[Any]:
    """Where a surface is zero, square by square (marching squares); NaN has no line."""
    found = []
    below = level < 0
    corners = below[:-1, :-1] * 1 + below[:-1, 1:] * 2 + below[1:, 1:] * 4 + below[1:, :-1] * 8
    mixed = (corners != 0) & (corners != 15)
    mixed &= ~np.isnan(level[:-1, :-1] + level[:-1, 1:] + level[1:, 1:] + level[1:, :-1])
    for i, j in np.argwhere(mixed):
        around = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        points = []
        for (a, b), (c, d) in zip(around, around[1:] + around[:1], strict=True):
            one, other = level[a, b], level[c, d]
            if (one < 0) != (other < 0):
                share = one / (one - other)
                points.append((x[b] + share * (x[d] - x[b]), y[a] + share * (y[c] - y[a])))
        found += [(*points[k], *points[k + 1]) for k in range(0, len(points) - 1, 2)]
    return found
