"""Runs that were measured on their way are shown, and decide nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sojourn import Scenario
from sojourn.results.run import RunResult
from sojourn.studies.settled import Measured, decided, told, unsettled
from sojourn.studies.study import Verdict
from sojourn.studies.verdicts import Pairs, less, same
from sojourn.sweep import Case, Results
from sojourn.sweep.results import Result

LOW, HIGH = [1.0, 1.1, 0.9], [2.0, 2.2, 1.9]
DEMO = Scenario.from_file(Path(__file__).parents[1] / "scenarios/demo.toml")
BETTER: dict[str, Pairs] = {"better": (LOW, HIGH)}
WORSE: dict[str, Pairs] = {"worse": (HIGH, LOW)}


@pytest.mark.parametrize(
    ("diagnoses", "expected"),
    [
        ([], False),
        ([{"name": "ecn-on-one-side", "numbers": {}}], False),
        ([{"name": "wound-up", "numbers": {}}], True),
        ([{"name": "not-settled", "numbers": {}}], True),
        ([{"name": "off-setpoint", "numbers": {"settling_s": 61.0}}], True),
        ([{"name": "off-setpoint", "numbers": {"settling_s": 59.0}}], False),
        # REM, whose rate is not counted as the link counts it, stays where it is.
        ([{"name": "off-setpoint", "numbers": {"mean": 80.0}}], False),
    ],
)
def test_on_its_way(diagnoses: list[dict[str, Any]], expected: bool) -> None:
    summary = {"window_s": [60.0, 100.0], "diagnoses": diagnoses}
    run = RunResult(summary, "", label="made")
    assert unsettled(run) is expected


def measured(pairs: dict[str, Pairs], **moving: int) -> dict[str, Measured]:
    return {name: Measured(pair, moving.get(name, 0)) for name, pair in pairs.items()}


def test_settled_pairs_decide() -> None:
    assert decided(less, measured(BETTER)) == less(BETTER)
    assert decided(less, measured(BETTER | WORSE)).verdict is Verdict.DIFFERS


def test_a_pair_on_its_way_cannot_make_it_agree_or_differ() -> None:
    for pairs in (BETTER, WORSE):
        (name,) = pairs
        found = decided(less, measured(pairs, **{name: 1}))
        assert found.verdict is Verdict.UNDECIDED
        assert found.ours == less(pairs).ours
        assert f"{name} (1 run)" in found.note
    both = BETTER | {"also better": (LOW, HIGH)}
    assert decided(less, measured(both, better=2)).verdict is Verdict.UNDECIDED


def test_what_has_settled_can_differ_beside_it() -> None:
    found = decided(partial(same, margin=0.1), measured(BETTER | WORSE, better=2))
    assert found.verdict is Verdict.DIFFERS
    assert "better (2 runs)" in found.note


def test_a_study_says_which_runs_decide_nothing() -> None:
    def run(*names: str) -> RunResult:
        found = [{"name": name, "numbers": {}} for name in names]
        return RunResult({"diagnoses": found}, "", label="made")

    cases = [Case({"scheme": f"PI {n}"}, DEMO, (1, 2)) for n in range(7)]
    quiet = [Result(case, seed, run("ecn-on-one-side")) for case in cases for seed in (1, 2)]
    assert told(Results(quiet)) == ""
    moving = [Result(cases[0], seed, run("wound-up")) for seed in (1, 2)]
    assert told(Results([*quiet, *moving])) == (
        "2 of 16 runs were measured before a discipline settled: scheme PI 0"
    )
    every = [Result(case, 1, run("not-settled")) for case in cases]
    assert told(Results(every)).endswith("scheme PI 3; scheme PI 4; and others")
