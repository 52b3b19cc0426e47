"""CoDel's target and interval from round trip times (RFC 8289).

The interval is about the longest round trip through the bottleneck (section 4.2; RFC 8290, section
5.2.1), the target 5 to 10 % of it (section 3.2), and no shorter than a packet takes to be sent (RFC
8290, section 5.2.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .controllers import CoDelSetpoint
from .design import Design
from .errors import ControlError
from .laws import Law, Reno
from .loops import loop
from .points import Network
from .region import Region
from .stability import margins

_FRACTION = 0.05


@dataclass(frozen=True)
class Cycle:
    """An oscillation that neither grows nor decays."""

    amplitude: float
    """Of the delay, in seconds."""
    period: float
    """Seconds."""


def limit_cycle(network: Network, law: Law, controller: CoDelSetpoint) -> Cycle:
    """The oscillation that the describing function predicts.

    The relay's gain is in inverse proportion to the amplitude, so that the amplitude is that for
    which the gain margin is 1.

    Args:
        network: Flows, capacity and round trip time.
        law: How windows move.
        controller: Target and interval.

    Raises:
        ControlError: If there is no operating point.
    """
    found = margins(loop(network, law, controller))
    assert found.phase_crossover is not None  # an integrator, two poles and a delay
    amplitude = (controller.amplitude or controller.target) / found.gain
    return Cycle(amplitude, 2 * math.pi / found.phase_crossover)


def codel(
    region: Region,
    packet_time: float,
    law: Law | None = None,
    *,
    fraction: float = _FRACTION,
    amplitude: float | None = None,
) -> Design:
    """Target and interval.

    Args:
        region: Flows and round trip times; the longest is the interval.
        packet_time: Seconds that a packet of mean size takes on the link.
        law: How windows move; default Reno.
        fraction: Target over interval: 0.05 to 0.1 as the RFC has it, more on request.
        amplitude: Of the delay's oscillation in seconds, for the margins; default the target.

    Raises:
        ControlError: If the target would be as long as the interval.
    """
    if not 0 < fraction < 1:
        raise ControlError(f"fraction = {fraction:g}: must be above 0 and below 1")
    interval = region.longest
    target = max(fraction * interval, packet_time)
    if target >= interval:
        raise ControlError(
            f"no design: a packet takes {packet_time * 1e3:.4g} ms, as long as the round trip of "
            f"{interval * 1e3:.4g} ms or longer"
        )
    notes = []
    if target > fraction * interval:
        notes.append(
            f"the target is the time of a packet, {target / interval:.1%} of the interval rather "
            f"than {fraction:.0%}"
        )
    controller = CoDelSetpoint(target, interval, amplitude)
    cycle = limit_cycle(region.corner, law or Reno(), controller)
    if cycle.amplitude > target:
        notes.append(
            f"the oscillation that the describing function predicts, "
            f"{cycle.amplitude * 1e3:.4g} ms, would empty the queue: the linear model "
            "does not reach that far"
        )
    values = {
        "target_s": target,
        "interval_s": interval,
        "fraction": target / interval,
        "cycle_amplitude_s": cycle.amplitude,
        "cycle_period_s": cycle.period,
    }
    rule = (
        "RFC 8289, sections 3.2 and 4.2; RFC 8290, section 5.2.2; "
        "margins of a relay's describing function"
    )
    return Design(controller, law or Reno(), region, rule, values, {}, tuple(notes))
