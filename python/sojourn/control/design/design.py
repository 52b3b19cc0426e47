"""Settings by a rule from a region of flows and round trip times, and what they then do in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sojourn._engine import constants
from sojourn.control.errors import ControlError
from sojourn.control.loops import Loop, loop, sampled
from sojourn.control.models import Model, Table, asked
from sojourn.control.region import Held, Region, hold
from sojourn.control.stability import Margins, SampledMargins, margins, sampled_margins
from sojourn.values import plain_value


@dataclass(frozen=True)
class Integer:
    """One constant of a discipline as a whole number."""

    raw: int
    """The whole number."""
    bits: int
    """Fraction bits: it stands for raw/2^bits."""
    value: float
    """What it stands for."""
    error: float
    """Relative distance from what was wanted, signed."""


@dataclass(frozen=True)
class Design:
    """What a rule gives for a region."""

    qdisc: Mapping[str, Any]
    """The discipline's settings, as a scenario has them."""
    congestion: Table
    """What it was designed for."""
    region: Region
    """What it is to hold."""
    rule: str
    """Where the settings come from, in a line."""
    values: Mapping[str, float]
    """The settings and what they follow from, by name."""
    notes: tuple[str, ...] = ()
    """What was taken for granted."""

    @property
    def kind(self) -> str:
        """Name of the discipline."""
        return str(self.qdisc["kind"])

    @property
    def model(self) -> Model:
        """The loop at the worst corner."""
        return Model(self.region.corner, self.congestion, qdisc=self.qdisc)

    @cached_property
    def integers(self) -> dict[str, Integer]:
        """Whole numbers that the discipline works with."""
        found = json.loads(asked(constants, json.dumps(plain_value(self.qdisc, "qdisc"))))
        return {name: Integer(**each) for name, each in found.items()}

    def loop(self) -> Loop:
        """The loop at the worst corner."""
        return loop(self.model)

    def margins(self) -> Margins:
        """Margins at the worst corner, of the continuous controller."""
        return margins(self.loop())

    def sampled(self) -> SampledMargins | None:
        """Margins there with sampler and hold; none for what acts at every packet."""
        found = sampled(self.model)
        return None if found is None else sampled_margins(found)

    def held(self, *, sampled: bool = False) -> Held:
        """Margins over the region."""
        return hold(self.region, self.model, sampled=sampled)

    def warnings(self) -> list[str]:
        """What is wrong with it, a line each; empty if the region is held."""
        found = list(self.notes)
        if self.kind == "codel":
            # A relay's loop has a limit cycle whatever its settings: nothing to warn of.
            return found
        held = self.held(sampled=True)
        if held.unstable > 0:
            edge = held.edge()
            first = edge[0]
            found.append(
                f"the region is not held: {held.unstable:.0%} of it is unstable, with "
                f"{first['flows']:.4g} flows from a round trip of {first['rtt_s'] * 1e3:.4g} ms on"
            )
        elif held.worst["phase_margin_deg"] < 30:
            worst = held.worst
            found.append(
                f"little is left: a phase margin of {worst['phase_margin_deg']:.1f} degrees with "
                f"{worst['flows']:.4g} flows and {worst['rtt_s'] * 1e3:.4g} ms"
            )
        return found


def require_rest(region: Region, queue: float) -> None:
    """A queue must be able to wait within the round trip at the worst corner.

    Raises:
        ControlError: If ``queue`` packets take longer than the longest round trip.
    """
    if queue >= region.longest * region.capacity:
        raise ControlError(
            f"no design: {queue:.4g} packets wait {queue / region.capacity * 1e3:.4g} ms, as long "
            f"as the whole round trip of {region.longest * 1e3:.4g} ms or longer"
        )
