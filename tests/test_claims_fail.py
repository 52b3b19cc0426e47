"""Studies of packets: for every claim there are results for which it does not agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricated import moved
from sojourn import Error
from sojourn.studies.registry import study
from sojourn.studies.reproduce import reproduce
from sojourn.studies.study import Verdict

DRAWS = 16

# For each study the claims that no run of the sweep has a say in.
APART = {
    "home": set(),
    "l4s": set(),
    "linux-reference": set(),
    # A formula beside the published gains.
    "pi-2001": {"The rule's gains for 60 flows, 3750 packets/s and 246 ms."},
    "tcp-laws": set(),
    "web-aqm-2003": {
        # From the runs of the calibration.
        "On the uncongested link the offered load grows in proportion to the users.",
        # Of a table that at the smallest scale is too short for a verdict.
        "Packet counts per millisecond have a long memory.",
    },
    "web-aqm-factors": set(),
    "web-red-2000": set(),
    "web-today": set(),
}


@pytest.mark.long
@pytest.mark.parametrize("name", APART)
def test_every_claim_does_not_agree_with_some_results(name: str, study_store: Path) -> None:
    made = reproduce(study(name), "smoke", store=study_store)
    seen: dict[str, set[Verdict]] = {}
    judged = 0
    for scale in ("smoke", "quick"):
        for draw in range(DRAWS):
            try:
                found = made.study.evaluate(moved(made.study, made, draw, scale))
            except (Error, ArithmeticError, LookupError, ValueError):
                # Runs dealt out at random need not be what a study can make sense of.
                continue
            judged += 1
            for check in found.checks:
                seen.setdefault(check.claim, set()).add(check.verdict)
    assert judged >= DRAWS / 2
    never = {
        claim
        for claim, verdicts in seen.items()
        if Verdict.DIFFERS not in verdicts and verdicts != {Verdict.SHOWN}
    }
    assert never == APART[name]
