"""Which runs were measured before a discipline had settled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn.results.run import RunResult
from sojourn.sweep import Results

_NAMED = 5


def unsettled(run: RunResult) -> bool:
    """Whether a discipline of this run was still on its way.

    Its samples say so (``not-settled``), its controller had not come down from an overload before
    (``wound-up``), or it is off its setpoint and needs longer than the warm-up to get there
    (``off-setpoint``). One that is off its setpoint for another reason has settled elsewhere.
    """
    return any(_moving(each, run.summary) for each in run.diagnoses)


def _moving(diagnosis: Mapping[str, Any], summary: Mapping[str, Any]) -> bool:
    if diagnosis["name"] == "off-setpoint":
        needs = diagnosis["numbers"].get("settling_s", 0.0)
        return float(needs) > float(summary["window_s"][0])
    return diagnosis["name"] in ("not-settled", "wound-up")


def count(*runs: Results) -> int:
    """How many of these runs were measured on the way."""
    return sum(unsettled(each.run) for some in runs for each in some)


def told(results: Results) -> str:
    """In words how many of all runs were measured on the way, and of which cases; empty if none."""
    cases = [each.case.label for each in results if unsettled(each.run)]
    if not cases:
        return ""
    names = list(dict.fromkeys(cases))
    some = "; ".join(names[:_NAMED]) + ("; and others" if len(names) > _NAMED else "")
    return f"{len(cases)} of {len(results)} runs were measured before a discipline settled: {some}"
