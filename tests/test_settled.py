"""Runs that were measured on their way are shown, and decide nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sojourn import Scenario
from sojourn.results.run import RunResult
from sojourn.studies.pairs import Pairs, against, paired
from sojourn.studies.settled import told, unsettled
from sojourn.studies.study import Verdict
from sojourn.studies.verdicts import less, more, not_less, same
from sojourn.sweep import Case, Results
from sojourn.sweep.results import Result

LOW, HIGH = [1.0, 1.1, 0.9], [2.0, 2.2, 1.9]
DEMO = Scenario.from_file(Path(__file__).parents[1] / "scenarios/demo.toml")
BETTER = {"better": Pairs(LOW, HIGH)}
WORSE = {"worse": Pairs(HIGH, LOW)}


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


def moving(pairs: dict[str, Pairs], **runs: int) -> dict[str, Pairs]:
    return {name: pair._replace(moving=runs.get(name, 0)) for name, pair in pairs.items()}


def test_a_pair_on_its_way_cannot_make_it_agree_or_differ() -> None:
    for pairs in (BETTER, WORSE):
        (name,) = pairs
        found = less(moving(pairs, **{name: 1}))
        assert found.verdict is Verdict.UNDECIDED
        assert found.ours == less(pairs).ours
        assert f"{name} (1 run)" in found.note
    both = BETTER | {"also better": Pairs(LOW, HIGH)}
    assert less(both).verdict is Verdict.AGREES
    assert less(moving(both, better=2)).verdict is Verdict.UNDECIDED


def test_what_has_settled_can_differ_beside_it() -> None:
    found = same(moving(BETTER | WORSE, better=2), margin=0.1)
    assert found.verdict is Verdict.DIFFERS
    assert "better (2 runs)" in found.note


def test_every_test_leaves_out_what_had_not_settled() -> None:
    assert more(WORSE).verdict is not_less(WORSE, 0.1).verdict is Verdict.AGREES
    assert same({"alike": (LOW, LOW)}, 0.1).verdict is Verdict.AGREES
    for found in (
        more(moving(WORSE, worse=1)),
        not_less(moving(WORSE, worse=1), 0.1),
        same({"worse": Pairs(LOW, LOW, 1)}, 0.1),
    ):
        assert found.verdict is Verdict.UNDECIDED
        assert found.note.endswith("Not settled, not decided by: worse (1 run).")


def test_pairs_count_the_runs_that_had_not_settled() -> None:
    def runs(name: str, *values: float) -> Results:
        case, found = Case({"scheme": name}, DEMO, (1, 2, 3)), []
        for seed, value in enumerate(values, 1):
            names = [{"name": "not-settled", "numbers": {}}] if value > 2 else []
            summary = {"value": value, "diagnoses": names}
            found.append(Result(case, seed, RunResult(summary, "", label="made")))
        return Results(found)

    def value(run: RunResult) -> float:
        return float(run.summary["value"])

    low, high = runs("low", 1.0, 1.1, 0.9), runs("high", 2.0, 2.2, 2.1)
    assert paired(low, high, value) == ([1.0, 1.1, 0.9], [2.0, 2.2, 2.1], 2)
    assert paired(high, high, value, value).moving == 2
    assert against(high, value, 5.0) == ([2.0, 2.2, 2.1], [5.0, 5.0, 5.0], 2)
    assert against(low, value, 5.0).moving == 0


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
