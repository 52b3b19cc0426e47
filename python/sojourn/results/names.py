"""What the files of a run, and of a comparison of runs, are called, and what names a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SUMMARY = "summary.json"
SCENARIO = "scenario.toml"
ABOUT = "run.json"
COMPARISON = "comparison.json"

# What the clock on the wall says in a summary.
_CLOCKS = ("wall_s", "engine_seconds")


def timeless(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What of a summary is the same whenever the run is made."""
    return {name: value for name, value in summary.items() if name not in _CLOCKS}
