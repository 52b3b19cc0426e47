"""The loop behind a pair of runs: Nyquist plot with margins, and the fluid model's queue.

There is a linear model of long flows over one managed link; for anything else the note says what
is missing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sojourn._engine import quantity
from sojourn.control.charts.figures import nyquist_plot
from sojourn.control.loops import Loop, loop
from sojourn.control.models import Model, Network
from sojourn.control.responses import nyquist_response
from sojourn.control.stability import margins
from sojourn.errors import Error
from sojourn.scenario import Scenario


def theory(scenarios: Mapping[str, Scenario]) -> dict[str, Any]:
    """Figures and a note."""
    loops: dict[str, Loop] = {}
    notes: list[str] = []
    for side, scenario in scenarios.items():
        try:
            loops[side] = _loop(scenario)
            found = margins(loops[side])
        except Error as error:
            loops.pop(side, None)
            notes.append(f"{side}: no linear model ({error})")
            continue
        words = "stable" if found.stable else "unstable"
        notes.append(
            f"{side}: {words}, phase margin {found.phase:.0f}°, gain margin {found.gain:.3g}, "
            f"damping {found.damping:.2f}"
        )
    figures = []
    if loops:
        # The page knows the colours of its sides.
        colours = {side: f"side-{side}" for side in loops}
        chart = nyquist_plot(nyquist_response(loops), "Nyquist", colours=colours)
        figures.append(
            {
                "slug": "nyquist",
                "title": "The loop in the complex plane (Nyquist)",
                "words": ". ".join(notes),
                "square": True,
                "spec": {
                    k: v
                    for k, v in chart.to_dict(validate=False).items()
                    if k not in ("$schema", "config")
                },
            }
        )
    return {"theory": {"figures": figures, "note": ". ".join(notes)}}


def _loop(scenario: Scenario) -> Loop:
    """The loop of a dumbbell's long flows."""
    fields = json.loads(scenario.to_json())
    link = fields.get("bottleneck")
    groups = [group for group in fields["traffic"] if group["kind"] == "bulk"]
    if not link or not groups:
        raise Error("there are no long flows over one link")
    flows = sum(group["flows"] for group in groups)
    packet = link["mean_packet"]
    capacity = quantity("rate", link["rate"]) / (8 * packet)
    times = [_mean_time(group["rtt"]) * group["flows"] for group in groups]
    network = Network(flows=flows, capacity=capacity, propagation=sum(times) / flows)
    congestion = fields.get("tcp", {}).get("congestion") or "reno"
    return loop(Model(network, congestion, qdisc=link["qdisc"]))


def _mean_time(text: Any) -> float:
    if not isinstance(text, str):
        raise Error("the round trip is drawn from a distribution")
    ends = [quantity("time", end) / 1e9 for end in text.split("..")]
    return sum(ends) / len(ends)
