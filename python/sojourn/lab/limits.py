"""What a browser may ask for. Each refusal says what is too much and how much is not."""

from __future__ import annotations

import json
from typing import Any

from sojourn._engine import quantity
from sojourn.errors import ScenarioError
from sojourn.scenario import Scenario

MOST_FLOWS = 2_000
MOST_USERS = 20_000
MOST_SECONDS = 600.0
# About half a minute of the engine on one core.
MOST_PACKETS = 60e6
MOST_LINKS = 50


def checked(scenario: Scenario) -> Scenario:
    """The scenario as the lab runs it: without records on disk, and not too large.

    Raises:
        ScenarioError: If it asks for more than the lab gives, or for files or code.
    """
    fields = json.loads(scenario.to_json())
    _no_files(fields)
    duration = scenario.facts.duration_s
    _most("duration", duration, MOST_SECONDS, "s of simulated time")
    links = _links(fields)
    _most("links", len(links), MOST_LINKS, "links")
    packets = sum(_rate(link) for link in links) * duration / 12_000
    _most(
        "rate times duration",
        packets,
        MOST_PACKETS,
        "packets of 1500 bytes: shorten the duration or lower the rate",
    )
    flows = sum(group.get("flows") or 0 for group in fields["traffic"])
    users = sum(group.get("users") or 0 for group in fields["traffic"])
    _most("flows", flows, MOST_FLOWS, "flows")
    _most("users", users, MOST_USERS, "web users")
    return scenario.with_(
        {
            "probes.queues": True,
            "probes.pcap": [],
            "probes.exchanges": False,
            "probes.flows": False,
        }
    )


def _most(what: str, value: float, most: float, unit: str) -> None:
    if value > most:
        raise ScenarioError(f"{what} = {value:g}: the lab runs at most {most:g} {unit}")


def _links(fields: dict[str, Any]) -> list[dict[str, Any]]:
    if fields.get("bottleneck"):
        return [fields["bottleneck"]]
    if fields.get("parking_lot"):
        return [fields["parking_lot"]] * int(fields["parking_lot"].get("hops", 1))
    return list(fields.get("links") or [])


def _rate(link: dict[str, Any]) -> float:
    rate = link.get("rate")
    return float(quantity("rate", rate)) if isinstance(rate, str) else 0.0


def _no_files(value: object, path: str = "") -> None:
    """Nothing that a page says may make this machine read a file or run a class."""
    if isinstance(value, dict):
        if value.get("kind") == "python":
            raise ScenarioError(f"{path}: classes written in Python do not run in the lab")
        for name, inner in value.items():
            if name in ("file", "csv") and isinstance(inner, str):
                raise ScenarioError(f"{path}.{name}: scenarios that name files do not run here")
            _no_files(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _no_files(inner, f"{path}.{index}")
