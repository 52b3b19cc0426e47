"""The region of flows and round trip times that a design is to hold.

A design is made for its worst corner, the fewest flows N⁻ and the longest round trip R⁺ (Hollot et
al., INFOCOM 2001, proposition 2), and its margins are looked at everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sojourn.control.errors import ControlError, positive
from sojourn.control.maps import Scan, scan
from sojourn.control.models import Model, Network
from sojourn.errors import InputError
from sojourn.quantities import quantity, span

_POINTS = 41
# Where a range is open: so many times its closed end, as far as windows stay above this.
_OPEN = 100.0
LEAST_WINDOW = 2.0
"""Windows below two packets are the timeouts' business: the model says nothing there."""


@dataclass(frozen=True)
class Region:
    """Flows and round trip times over one link."""

    capacity: float
    """C in packets per second."""
    fewest: float
    """N⁻."""
    longest: float
    """R⁺ in seconds, the wait in the queue included."""
    most: float | None = None
    """N⁺; none is as many as leave each a window of two packets."""
    shortest: float | None = None
    """R⁻ in seconds; none is as short as leaves each a window of two packets."""

    def __post_init__(self) -> None:
        positive("rate", self.capacity, "packets/s")
        positive("flows", self.fewest)
        positive("rtt", self.longest, "s")
        if self.most is not None and self.most < self.fewest:
            raise ControlError(f"flows = {self.fewest:g}..{self.most:g}: the range is empty")
        if self.shortest is not None and not 0 < self.shortest <= self.longest:
            raise ControlError(
                f"rtt = {self.shortest:g}..{self.longest:g} s: must be above 0 and not empty"
            )
        if self.window < 1:
            raise ControlError(
                f"no operating point: {self.fewest:g} flows share "
                f"{self.longest * self.capacity:.3g} packets per round trip, "
                f"a window of {self.window:.3g}; it must be at least 1"
            )

    @classmethod
    def of(cls, rate: str, flows: str, rtt: str, packet: str = "1500B") -> Region:
        """The region in words, as ``sojourn design`` takes it.

        Args:
            rate: Of the link, "15mbit".
            flows: Their number or a range of it, "60" or "60..200"; open upwards as "60..".
            rtt: Round trip time or a range of it, "246ms" or "30ms..150ms"; "..150ms" is open.
            packet: Mean size on the link.

        Raises:
            InputError: If one of them is no such quantity, or an end that a design needs is open.
        """
        numbers, times = span("flows", flows), span("rtt", rtt, "time")
        if numbers.low is None:
            raise InputError(f"flows {flows}: the fewest are missing; a design is made for them")
        if times.high is None:
            raise InputError(f"rtt {rtt}: the longest is missing; a design is made for it")
        capacity = quantity("rate", rate, "rate") / 8 / int(quantity("packet", packet, "size"))
        return cls(capacity, numbers.low, times.high, numbers.high, times.low)

    @property
    def window(self) -> float:
        """The largest window of the region, R⁺C/N⁻, in packets."""
        return self.longest * self.capacity / self.fewest

    @property
    def corner(self) -> Network:
        """The worst corner: N⁻ and R⁺."""
        return Network(self.fewest, self.capacity, rtt=self.longest)

    @property
    def flows_end(self) -> float:
        """N⁺, found where the range is open."""
        if self.most is not None:
            return self.most
        largest = self.longest * self.capacity / LEAST_WINDOW
        return max(self.fewest, min(largest, self.fewest * _OPEN))

    @property
    def rtt_end(self) -> float:
        """R⁻ in seconds, found where the range is open."""
        if self.shortest is not None:
            return self.shortest
        least = LEAST_WINDOW * self.fewest / self.capacity
        return min(self.longest, max(least, self.longest / _OPEN))

    def grid(self, points: int = _POINTS) -> dict[str, Any]:
        """The region as arrays: flows down, round trip times across, the corner among them."""
        flows = np.geomspace(self.fewest, self.flows_end, 1 if self.fixed_flows else points)
        rtts = np.geomspace(self.rtt_end, self.longest, 1 if self.fixed_rtt else points)
        flows[0], rtts[-1] = self.fewest, self.longest
        return {"flows": flows[:, None], "rtt": rtts[None, :]}

    @property
    def fixed_flows(self) -> bool:
        """One number of flows."""
        return self.flows_end == self.fewest

    @property
    def fixed_rtt(self) -> bool:
        """One round trip time."""
        return self.rtt_end == self.longest


@dataclass(frozen=True)
class Held:
    """What the margins are over a region."""

    region: Region
    flows: Any
    """Down the grid."""
    rtt: Any
    """Across the grid, seconds."""
    scan: Scan
    """Margins over the grid; not a number where there is no operating point."""

    @property
    def worst(self) -> dict[str, float]:
        """The least phase margin in degrees, and where it is."""
        phase = np.where(np.isnan(self.scan.phase), np.inf, self.scan.phase)
        i, j = np.unravel_index(int(np.argmin(phase)), phase.shape)
        return {
            "phase_margin_deg": float(phase[i, j]),
            "flows": float(self.flows[i]),
            "rtt_s": float(self.rtt[j]),
            "delay_margin_s": float(self.scan.delay[i, j]),
        }

    @property
    def unstable(self) -> float:
        """Fraction of the grid's points with an operating point that are unstable."""
        there = ~np.isnan(self.scan.phase)
        return float(np.mean(self.scan.phase[there] <= 0)) if there.any() else 0.0

    @property
    def outside(self) -> float:
        """Fraction of the grid's points without an operating point."""
        return float(np.mean(np.isnan(self.scan.phase)))

    def edge(self) -> list[dict[str, float]]:
        """For numbers of flows of the grid: the round trip time in seconds where it turns unstable.

        Where it already is at the shortest, that one; numbers of flows that are stable throughout
        are left out.
        """
        found = []
        for i, flows in enumerate(self.flows):
            row = self.scan.phase[i]
            bad = np.flatnonzero(row <= 0)
            if not bad.size:
                continue
            j = int(bad[0])
            at = float(self.rtt[j])
            if j and np.isfinite(row[j - 1]):
                share = row[j - 1] / (row[j - 1] - row[j])
                at = float(self.rtt[j - 1] + share * (self.rtt[j] - self.rtt[j - 1]))
            found.append({"flows": float(flows), "rtt_s": at})
        return found


def hold(region: Region, model: Model, *, sampled: bool = False) -> Held:
    """Margins of a discipline over a region.

    Args:
        region: Flows and round trip times.
        model: Congestion control and discipline; its network does not matter.
        sampled: Count in half a sampling period of delay.

    Raises:
        ControlError: If there is no operating point anywhere in it.
    """
    grid = region.grid()
    found = scan(replace(model, network=region.corner), grid, held=sampled)
    if np.isnan(found.phase).all():
        raise ControlError(
            f"no operating point: {model.kind} with these settings comes to rest nowhere in "
            "the region; its queue may take longer to pass than the whole round trip"
        )
    return Held(region, grid["flows"][:, 0], grid["rtt"][0], found)
