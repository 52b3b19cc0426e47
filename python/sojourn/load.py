"""Offered load: what traffic puts on the uncongested link."""

from __future__ import annotations

from typing import Any

from sojourn._engine import offered_bps
from sojourn.scenario import Scenario

UNCONGESTED = "uncongested"
"""What labels call a run on that link."""


def uncongested(scenario: Scenario) -> Scenario:
    """The same scenario with a bottleneck ten times as fast, and a queue that never overflows.

    It is the same for all queue disciplines.

    Raises:
        ScenarioError: If there is no ``[bottleneck]``.
    """
    return Scenario._of(scenario.core.uncongested(), scenario.base_dir)


def realised_load(summary: dict[str, Any], rate_bps: float, *, direction: str = "forward") -> float:
    """Offered load in the summary of an uncongested run, as a fraction of ``rate_bps``.

    ``direction`` is that of the data; "both" takes the mean of the two directions.
    """
    links = {link["name"]: link["throughput_bps"] or 0.0 for link in summary["links"]}
    forward, back = links["bottleneck"], links["reverse"]
    return offered_bps(direction, forward, back) / rate_bps
