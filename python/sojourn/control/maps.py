"""Margins of many loops at once, and maps of them over two parameters with the contour of zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sojourn._engine import margins as margins_of
from sojourn.control.errors import ControlError, positive
from sojourn.control.loops import value
from sojourn.control.models import Model, asked
from sojourn.defaults import MAP_SIZE

PARAMETERS = {
    "rtt": "Round trip time, queue included (s)",
    "propagation": "Round trip time without the queue (s)",
    "flows": "Flows",
    "capacity": "Capacity (packets/s)",
    "gain": "Factor on the controller's gain",
    "exponent": "B of the marking function (y/C)^B",
}
"""What a map may go over, with its heading."""


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
    numerator: Any = None
    """Coefficients of the loop without its delay, highest power first; if asked for."""
    denominator: Any = None
    """The same."""

    @property
    def delay(self) -> Any:
        """Seconds of further delay that bring the loop to the edge."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.crossover > 0, np.radians(self.phase) / self.crossover, np.inf)

    def gain_at(self, omega: float) -> Any:
        """|L(jω)|, for a scan with coefficients."""
        s = 1j * omega
        with np.errstate(invalid="ignore"):
            return np.abs(value(self.numerator, s) / value(self.denominator, s))


def scan(
    model: Model,
    columns: Mapping[str, Any],
    *,
    held: bool = False,
    window: float = 1.0,
    coefficients: bool = False,
) -> Scan:
    """Phase margins of a loop for many values of its parameters.

    Args:
        model: What the columns do not name.
        columns: Arrays that broadcast with each other, by parameter (`PARAMETERS`).
        held: Count in that the discipline samples: half a period of further delay.
        window: Least window in packets for which the model is taken to hold.
        coefficients: Give the loops themselves too.

    Raises:
        ControlError: If the loop has no such parameter, or its law no derivative.
    """
    if not columns:
        raise ControlError("columns: there is none; give arrays of parameters, such as flows")
    parts = np.broadcast_arrays(*columns.values())
    shape = parts[0].shape
    arrays = {
        name: np.ascontiguousarray(part, float).ravel()
        for name, part in zip(columns, parts, strict=True)
    }
    for one, other in (("rtt", "propagation"), ("propagation", "rtt")):
        if one in columns:
            taken: dict[str, Any] = {one: float(arrays[one].flat[0]), other: None}
            model = replace(model, network=replace(model.network, **taken))
    asked_for = {"held": held, "window": window, "coefficients": coefficients}
    found = asked(margins_of, model.description(**asked_for), arrays)

    def array(name: str) -> Any:
        return np.frombuffer(found[name]).reshape(-1, *shape)

    margins = {name: array(name)[0] for name in ("phase", "crossover", "window", "p", "rtt")}
    loops = {name: array(name) for name in ("numerator", "denominator") if coefficients}
    return Scan(**margins, **loops)


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
    """Half of what the queue swings, over its mean; 0 if it stands still, NaN if it is empty."""
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
    model: Model, x: Axis, y: Axis, size: int = MAP_SIZE, *, window: float = 1.0
) -> StabilityMap:
    """The linear phase margin over two parameters.

    Args:
        model: What the axes do not name.
        x: Across.
        y: Up.
        size: Points along either axis.
        window: Least window in packets for which the model is taken to hold.

    Raises:
        ControlError: If the two axes are the same, or one does not go with the discipline.
    """
    if x.name == y.name or {x.name, y.name} == {"rtt", "propagation"}:
        raise ControlError(f"{x.name}, {y.name}: the two axes of a map must differ")
    if size < 2:
        raise ControlError(f"size = {size}: must be at least 2")
    names = {x.name, y.name}
    if "gain" in names and model.kind == "rate":
        raise ControlError("gain: rate feedback has an exponent instead")
    if "exponent" in names and model.price is None:
        raise ControlError(f"exponent: {model.kind} has none; rate feedback has")
    columns = {x.name: x.values(size)[None, :], y.name: y.values(size)[:, None]}
    return StabilityMap(x, y, scan(model, columns, window=window))


def _thinned(size: int, most: int) -> Any:
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _pieces(x: Any, y: Any, level: Any) -> list[Any]:
    """Where a surface is zero, square by square (marching squares); NaN has no line."""
    found = []
    corners = np.stack([level[:-1, :-1], level[:-1, 1:], level[1:, 1:], level[1:, :-1]])
    below = corners < 0
    mixed = below.any(axis=0) & ~below.all(axis=0) & ~np.isnan(corners).any(axis=0)
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
