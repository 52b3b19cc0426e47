"""Refuses a run that is too large for this machine, before it hurts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from sojourn.scenario import Scenario


def refuse_too_large(scenario: Scenario) -> None:
    """Refuses a run that would not fit into this machine.

    Raises:
        ScenarioError: The field that asks for most, what it takes, and what to do.
    """
    why = scenario.core.too_large(free_bytes())
    if why is not None:
        raise ScenarioError(f"{why}, or switch the limit off with --no-limit (limit=False)")


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
