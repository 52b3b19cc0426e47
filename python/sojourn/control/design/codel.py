"""CoDel's target and interval from round trip times (RFC 8289).

The interval is about the longest round trip through the bottleneck (section 4.2; RFC 8290, section
5.2.1), the target 5 to 10 % of it (section 3.2), and no shorter than a packet takes to be sent (RFC
8290, section 5.2.2).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sojourn.control.design.design import Design
from sojourn.control.errors import ControlError
from sojourn.control.loops import loop
from sojourn.control.models import Model, Table, table_of
from sojourn.control.region import Region
from sojourn.control.stability import margins
from sojourn.quantities import quantity, time

_FRACTION = 0.05


@dataclass(frozen=True)
class Cycle:
    """An oscillation that neither grows nor decays."""

    amplitude: float
    """Of the delay, in seconds."""
    period: float
    """Seconds."""


def limit_cycle(model: Model) -> Cycle:
    """The oscillation that the describing function of CoDel predicts.

    While packets wait for longer than the target CoDel's rate of drops is √count/interval, and
    count grows by one per drop (RFC 8289, section 3.3): the rate grows by 1/(2 interval²) per
    second, however large the excess. The model lets it fall as fast below the target: an
    integrator behind a relay, whose gain for an oscillation of an amplitude A is 4/(πA). So the
    amplitude is that for which the gain margin is 1. CoDel itself drops nothing below the target,
    and forgets slowly what it had reached: this is its likeness only.

    Args:
        model: With CoDel as its discipline; the target is the amplitude unless it says one.

    Raises:
        ControlError: If there is no operating point.
    """
    found = margins(loop(model))
    assert found.phase_crossover is not None  # an integrator, two poles and a delay
    assert model.qdisc is not None
    amplitude = model.amplitude or quantity("target", table_of(model.qdisc)["target"], "time")
    return Cycle(amplitude / found.gain, 2 * math.pi / found.phase_crossover)


def codel(
    region: Region,
    congestion: Table = "reno",
    *,
    packet_time: float = 0.0,
    fraction: float = _FRACTION,
) -> Design:
    """Target and interval.

    Args:
        region: Flows and round trip times; the longest is the interval.
        congestion: How windows move.
        packet_time: Seconds that a packet of mean size takes on the link.
        fraction: Target over interval: 0.05 to 0.1 as the RFC has it, more on request.

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
    table = {"kind": "codel", "target": time(target), "interval": time(interval)}
    cycle = limit_cycle(Model(region.corner, congestion, qdisc=table))
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
    return Design(table, congestion, region, rule, values, tuple(notes))
