"""Settings by a rule from a region of flows and round trip times, and what they then do in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .controllers import CoDelSetpoint, Controller
from .errors import ControlError
from .integers import Integer
from .laws import Law
from .loops import Loop, loop
from .region import Held, Region, hold
from .stability import Margins, margins


@dataclass(frozen=True)
class Design:
    """What a rule gives for a region."""

    controller: Controller
    """With its settings."""
    law: Law
    """What it was designed for."""
    region: Region
    """What it is to hold."""
    rule: str
    """Where the settings come from, in a line."""
    values: Mapping[str, float]
    """The settings and what they follow from, by name."""
    integers: Mapping[str, Integer] = field(default_factory=dict)
    """Whole numbers that the discipline works with."""
    notes: tuple[str, ...] = ()
    """What was taken for granted."""

    def loop(self) -> Loop:
        """The loop at the worst corner."""
        return loop(self.region.corner, self.law, self.controller)

    def margins(self) -> Margins:
        """Margins at the worst corner, of the continuous controller."""
        return margins(self.loop())

    def held(self, *, sampled: bool = False) -> Held:
        """Margins over the region."""
        return hold(self.region, self.law, self.controller, sampled=sampled)

    def warnings(self) -> list[str]:
        """What is wrong with it, a line each; empty if the region is held."""
        found = list(self.notes)
        if isinstance(self.controller, CoDelSetpoint):
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


def rest(design: Design, queue: float) -> Design:
    """``design`` if its queue can wait within the round trip at the worst corner.

    Raises:
        ControlError: If ``queue`` packets take longer than the longest round trip.
    """
    region = design.region
    if queue >= region.longest * region.capacity:
        raise ControlError(
            f"no design: {queue:.4g} packets wait {queue / region.capacity * 1e3:.4g} ms, as long "
            f"as the whole round trip of {region.longest * 1e3:.4g} ms or longer"
        )
    return design
