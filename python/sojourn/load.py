"""Offered load: what traffic puts on the uncongested link."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from sojourn.scenario import Scenario

HEADROOM = 10
"""The uncongested link is so many times as fast as the bottleneck."""

UNCONGESTED = "uncongested"
"""What labels call a run on that link."""


def uncongested(scenario: Scenario) -> Scenario:
    """The same scenario with a bottleneck ten times as fast, and a queue that never overflows.

    It is the same for all queue disciplines.

    Raises:
        ScenarioError: If there is no ``[bottleneck]``.
    """
    facts = scenario.facts
    if facts.bottleneck_bps is None:
        raise ScenarioError("bottleneck: only a dumbbell has an uncongested counterpart")
    large = {"kind": "droptail", "limit": 1_000_000}
    changes: dict[str, object] = {
        "bottleneck.rate": f"{facts.bottleneck_bps * HEADROOM}bit",
        "bottleneck.qdisc": large,
    }
    back = json.loads(scenario.to_json())["bottleneck"].get("reverse")
    if isinstance(back, dict):
        if back.get("rate") is not None:
            changes["bottleneck.reverse.rate"] = f"{(facts.reverse_bps or 0) * HEADROOM}bit"
        if back.get("qdisc") is not None:
            changes["bottleneck.reverse.qdisc"] = large
    return scenario.with_(changes)


def realised_load(summary: dict[str, Any], rate_bps: float, *, direction: str = "forward") -> float:
    """Offered load in the summary of an uncongested run, as a fraction of ``rate_bps``.

    ``direction`` is that of the data; "both" takes the mean of the two directions.
    """
    links = {link["name"]: link["throughput_bps"] or 0.0 for link in summary["links"]}
    forward, back = links["bottleneck"], links["reverse"]
    bps = {"forward": forward, "reverse": back, "both": (forward + back) / 2}[direction]
    return float(bps / rate_bps)
