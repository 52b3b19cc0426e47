"""How large a run will be, before it hurts: memory and rows of tables."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sojourn._engine import quantity
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sojourn.scenario import Scenario

# Measured, one flow of many in slow start, and one web user in a busy group: docs/performance.md.
_FLOW_BYTES, _USER_BYTES = 1_500, 1_200
# A share of the memory that is free: other runs and the system want some.
_SHARE = 0.8
# Sampling that many takes minutes and fills gigabytes.
_MOST_ROWS = 500_000_000


@dataclass(frozen=True)
class Part:
    """What one field of the scenario takes."""

    path: str
    value: str
    bytes: float = 0.0
    rows: float = 0.0


def parts(scenario: Scenario) -> list[Part]:
    """The fields that make a run large, each with its estimate."""
    return list(_parts(json.loads(scenario.to_json()), scenario.facts.duration_s))


def refuse_too_large(scenario: Scenario) -> None:
    """Refuses a run that would not fit into this machine.

    Raises:
        ScenarioError: The field that asks for most, what it takes, and what to do.
    """
    found = parts(scenario)
    free = free_bytes()
    wanted = sum(part.bytes for part in found)
    if free is not None and wanted > _SHARE * free:
        most = max(found, key=lambda part: part.bytes)
        raise ScenarioError(
            f"{most.path}: {most.value} takes about {_gb(most.bytes)} GB of memory, and "
            f"{_gb(free)} GB are free; ask for less, or switch the limit off with --no-limit "
            "(limit=False)"
        )
    for part in found:
        if part.rows > _MOST_ROWS:
            raise ScenarioError(
                f"{part.path}: {part.value} makes {part.rows:.2g} rows, and more than "
                f"{_MOST_ROWS:.0g} take minutes and gigabytes; sample less often, or switch the "
                "limit off with --no-limit (limit=False)"
            )


def free_bytes() -> float | None:
    """Memory that can be had, in bytes; none if the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = dict(line.split(":", 1) for line in lines)
        return 1024.0 * float(found["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        try:
            return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (OSError, ValueError):
            return None


def _gb(count: float) -> str:
    return f"{count / 1e9:.3g}"


def _parts(fields: dict[str, Any], duration_s: float) -> Iterator[Part]:
    for number, group in enumerate(fields["traffic"]):
        for name, each in (("flows", _FLOW_BYTES), ("users", _USER_BYTES)):
            count = group.get(name)
            if isinstance(count, int):
                yield Part(f"traffic[{number}].{name}", str(count), bytes=count * each)
    probes = fields["probes"]
    links = 2 if fields.get("bottleneck") else max(1, len(fields.get("links") or ()))
    for name, asked in (
        ("interval", bool(probes.get("queues"))),
        ("packet_counts", bool(probes.get("packet_counts"))),
    ):
        step = probes.get(name)
        if asked and isinstance(step, str):
            rows = links * duration_s / (quantity("time", step) / 1e9)
            yield Part(f"probes.{name}", f'"{step}"', rows=rows)
