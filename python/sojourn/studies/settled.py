"""Verdicts rest on disciplines that had settled before the measured window.

What a controller does on its way says nothing of where it ends. Runs that were measured on the way
are shown, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sojourn.results.run import RunResult
from sojourn.studies.study import Verdict
from sojourn.studies.verdicts import Pairs, Tested
from sojourn.sweep import Results

_NAMED = 5


class Measured(NamedTuple):
    """What a sentence is about: values of two cases, seed by seed."""

    pair: Pairs
    moving: int
    """How many of the runs behind them had not settled."""


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


def decided(
    test: Callable[[Mapping[str, Pairs]], Tested], measured: Mapping[str, Measured]
) -> Tested:
    """What a test says of pairs, if those that had not settled are shown and do not decide.

    With any of them a sentence cannot agree; it differs if the others say so.

    Args:
        test: One of :mod:`sojourn.studies.verdicts`.
        measured: Pairs by their names.
    """
    shown = test({name: each.pair for name, each in measured.items()})
    out = {name: each.moving for name, each in measured.items() if each.moving}
    if not out:
        return shown
    rest = test({name: each.pair for name, each in measured.items() if name not in out})
    # By all of them too: fewer pairs adjust p-values less.
    both = shown.verdict is rest.verdict is Verdict.DIFFERS
    names = "; ".join(
        f"{name} ({number} {'run' if number == 1 else 'runs'})" for name, number in out.items()
    )
    return replace(
        shown,
        verdict=Verdict.DIFFERS if both else Verdict.UNDECIDED,
        note=f"{shown.note} Not settled, not decided by: {names}.",
    )
