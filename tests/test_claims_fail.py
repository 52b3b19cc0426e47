"""For every claim of every study there are results for which it does not agree."""

from __future__ import annotations

import importlib
import itertools
from pathlib import Path
from typing import Any

import pytest

from fabricated import WAYS, moved, turned
from sojourn import Error
from sojourn.studies.kept import kept
from sojourn.studies.registry import names, study
from sojourn.studies.reproduce import reproduce
from sojourn.studies.scalable_2003.bulk import web
from sojourn.studies.study import Verdict
from sojourn.sweep import Case, sweep

DRAWS = 12 * WAYS
MADE = "smoke"

# For each study the claims that never say so.
APART = {
    # Of a table that at the smallest scale is too short for a verdict.
    "web-aqm-2003": {"Packet counts per millisecond have a long memory."},
}

# Runs of a kind that the smallest scale has not.
BESIDE = {"scalable-2003": [Case({"part": "web"}, web("scalable", 4), (1,))]}

# By what studies work out that does not come from runs.
WORKED_OUT = {
    "codel-2012": ("codel_2012.setpoint.integrated", "codel_2012.law.defaults"),
    "pi-2001": ("pi_2001.paper_gains",),
    "rate-feedback": (
        "rate_feedback.cell",
        "rate_feedback.paradox_response",
        "rate_feedback.first_multiple",
    ),
    "web-aqm-2003": ("web_aqm.traffic.calibrate",),
}

# Some claims have a verdict, or are made, at larger scales only.
AT = {
    "arena-cbq": ("full",),
    "cake-reference": ("full",),
    "scalable-2003": ("full",),
    "web-aqm-factors": ("long", "quick"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", names())
def test_every_claim_does_not_agree_with_some_results(
    name: str, study_store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = reproduce(study(name), MADE, store=study_store)
    runs = sweep(BESIDE.get(name, []), study_store).after(made.results)
    _turn(name, monkeypatch)
    known = kept(name)
    assert known is not None
    seen: dict[str, set[Verdict]] = {}
    tried = judged = 0
    scales = (MADE, *AT.get(name, ("quick",)))
    # Of each scale the claims that have a verdict there.
    there: dict[str, set[str]] = {}
    for block, scale, way in itertools.product(range(DRAWS // WAYS), scales, range(WAYS)):
        rest = _never(seen) - APART.get(name, set())
        unsettled = rest | _unlike(seen, known)
        # A larger scale for what has no verdict at the smallest, or agreed there so far.
        if not unsettled or (scale != MADE and block == 0 and unsettled <= there[MADE]):
            continue
        if block > 0 and scale in there and not rest & there[scale]:
            continue
        there.setdefault(scale, set())
        tried += 1
        try:
            found = made.study.evaluate(moved(made.study, runs, block * WAYS + way, scale))
        except (Error, ArithmeticError, LookupError, TypeError, ValueError):
            # Runs dealt out at random need not be what a study can make sense of.
            continue
        judged += 1
        for check in found.checks:
            seen.setdefault(check.claim, set()).add(check.verdict)
            if check.verdict != Verdict.SHOWN:
                there[scale].add(check.claim)
    assert judged >= tried / 4
    assert _never(seen) == APART.get(name, set())
    assert {each["claim"] for each in known["claims"]} <= seen.keys()


def _unlike(seen: dict[str, set[Verdict]], known: dict[str, Any]) -> set[str]:
    """The claims that are not there yet, and those with a verdict in full that did not differ."""
    return {
        each["claim"]
        for each in known["claims"]
        if Verdict.DIFFERS not in seen.get(each["claim"], set())
        and (each["verdict"] != Verdict.SHOWN or each["claim"] not in seen)
    }


def _never(seen: dict[str, set[Verdict]]) -> set[str]:
    """The claims that have a verdict, but never that they do not agree."""
    return {
        claim
        for claim, verdicts in seen.items()
        if Verdict.DIFFERS not in verdicts and verdicts != {Verdict.SHOWN}
    }


def _turn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for at, place in enumerate(WORKED_OUT.get(name, ())):
        module, _, function = place.rpartition(".")
        where = importlib.import_module(f"sojourn.studies.{module}")
        monkeypatch.setattr(where, function, turned(getattr(where, function), at))
