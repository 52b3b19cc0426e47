"""Offered load: what traffic puts on the uncongested link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sojourn._engine import offered_bps
from sojourn.scenario import Scenario

UNCONGESTED = "uncongested"
"""What labels call a run on that link."""


def uncongested(scenario: Scenario) -> Scenario:
    """The same scenario with a bottleneck ten times as fast all the time, and a queue that never
    overflows.

    It is the same for all queue disciplines.

    Raises:
        ScenarioError: If there is no ``[bottleneck]``.
    """
    return Scenario._of(scenario.core.uncongested(), scenario.base_dir)


@dataclass(frozen=True)
class Basis:
    """What the load of traffic is a fraction of."""

    direction: str
    """That of the data; "both": the mean of the two directions counts."""
    rate_bps: int
    """Rate of the link on the way of the data; of both ways, the bottleneck's."""

    @classmethod
    def of(cls, scenario: Scenario, group: int | None = None) -> Basis | None:
        """That of a group of web users, or of all web users and transfers.

        None if there are none, or no ``[bottleneck]`` with a rate on the way of their data.
        """
        core = scenario.core
        direction = core.offered_direction() if group is None else core.direction_of(group)
        rate_bps = core.load_rate(direction) if direction is not None else None
        return None if direction is None or rate_bps is None else cls(direction, rate_bps)

    def offered_bps(self, summary: Mapping[str, Any]) -> float:
        """Offered load in the summary of an uncongested run, in IP bits per second."""
        # An ideal way back has no entry.
        links = {link["name"]: link["throughput_bps"] or 0.0 for link in summary["links"]}
        return offered_bps(self.direction, links["bottleneck"], links.get("reverse"))

    def load(self, summary: Mapping[str, Any]) -> float:
        """The same as a fraction of the rate."""
        return self.offered_bps(summary) / self.rate_bps
