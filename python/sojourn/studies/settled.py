"""Verdicts rest on disciplines that had settled before the measured window.

What a controller does on its way says nothing of where it ends. Runs that were measured on the way
are shown, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sojourn.results.run import RunResult
from sojourn.studies.study import Verdict
from sojourn.studies.verdicts import Pairs, Tested
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


def decided(
    test: Callable[[Mapping[str, Pairs]], Tested],
    pairs: Mapping[str, Pairs],
    moving: Mapping[str, int],
) -> Tested:
    """What a test says of pairs, if those that had not settled are shown and do not decide.

    Args:
        test: One of :mod:`sojourn.studies.verdicts`.
        pairs: By their names.
        moving: For pairs with runs that had not settled, how many there are. With any of them a
            sentence cannot agree; it differs if the others say so.
    """
    out = {name: number for name in pairs if (number := moving.get(name, 0))}
    shown = test(pairs)
    if not out:
        return shown
    rest = test({name: pair for name, pair in pairs.items() if name not in out})
    # By all of them too: fewer pairs adjust p-values less.
    both = shown.verdict is rest.verdict is Verdict.DIFFERS
    verdict = Verdict.DIFFERS if both else Verdict.UNDECIDED
    told = "; ".join(
        f"{name} ({number} {'run' if number == 1 else 'runs'})" for name, number in out.items()
    )
    return replace(
        shown, verdict=verdict, note=f"{shown.note} Not settled, not decided by: {told}."
    )
