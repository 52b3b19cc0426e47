"""Claims can fail: every test behind a verdict is given data for which it says *does not agree*."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sojourn import studies
from sojourn.statistics import student_interval
from sojourn.studies import rate_packets, verdicts
from sojourn.studies.codel_2012 import law
from sojourn.studies.scalable_2003 import claims as scalable
from sojourn.studies.study import Verdict

STUDIES = Path(str(studies.__file__)).parent
LOW, HIGH = [1.0, 1.1, 0.9], [2.0, 2.2, 1.9]

# What judges: arguments for which it must agree, and for which it must not.
COUNTER: dict[str, tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = {
    "less": (verdicts.less, ({"pair": (LOW, HIGH)},), ({"pair": (HIGH, LOW)},)),
    "less by a margin": (
        partial(verdicts.less, margin=0.1),
        ({"pair": (LOW, HIGH)},),
        ({"pair": ([0.99 * value for value in LOW], LOW)},),
    ),
    "more": (verdicts.more, ({"pair": (HIGH, LOW)},), ({"pair": (LOW, HIGH)},)),
    "same": (verdicts.same, ({"pair": (LOW, LOW)}, 0.1), ({"pair": (HIGH, LOW)}, 0.1)),
    "not_less": (verdicts.not_less, ({"pair": (HIGH, LOW)}, 0.1), ({"pair": (LOW, HIGH)}, 0.1)),
    "near": (
        rate_packets.near,
        (student_interval(LOW), 1.0, 0.5),
        (student_interval(LOW), 2.0, 0.1),
    ),
    "worst": (
        rate_packets.worst,
        ([Verdict.AGREES, Verdict.AGREES],),
        ([Verdict.AGREES, Verdict.DIFFERS, Verdict.UNDECIDED],),
    ),
    "close": (scalable.close, (1.0, 1.05, 0.06), (1.0, 2.0, 0.06)),
    "held": (law._held, (True,), (False,)),
}


def verdict_of(found: Any) -> Verdict:
    return found if isinstance(found, Verdict) else found.verdict


@pytest.mark.parametrize("name", COUNTER)
def test_judges_say_does_not_agree_to_counter_data(name: str) -> None:
    judge, agreeing, counter = COUNTER[name]
    assert verdict_of(judge(*agreeing)) == Verdict.AGREES
    assert verdict_of(judge(*counter)) == Verdict.DIFFERS


def test_every_public_test_of_verdicts_has_counter_data() -> None:
    tests = {
        name
        for name, each in inspect.getmembers(verdicts, inspect.isfunction)
        if each.__module__ == verdicts.__name__ and not name.startswith("_")
    }
    assert tests <= COUNTER.keys()


def _functions() -> Iterator[tuple[str, ast.AST]]:
    for path in sorted(STUDIES.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(STUDIES)}:{node.name}", node


def _named(node: ast.AST) -> list[str]:
    """The verdicts that code names."""
    return [
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Name)
        and each.value.id == "Verdict"
    ]


def test_what_can_agree_can_also_not_agree() -> None:
    """A function that gives AGREES gives DIFFERS too, for each expression that chooses."""
    for where, node in _functions():
        assert _can_fail(node), f"{where} can agree, and cannot say that it does not"


def _can_fail(function: ast.AST) -> bool:
    chosen = [each for each in ast.walk(function) if isinstance(each, ast.IfExp)]
    inside = {id(part) for each in chosen for part in (each.body, each.orelse)}
    # Of nested choices the outermost.
    outermost = [each for each in chosen if id(each) not in inside]
    for each in outermost:
        names = _named(each)
        if "AGREES" in names and "DIFFERS" not in names and "DIFFERS" not in _named(function):
            return False
    names = _named(function)
    return "AGREES" not in names or "DIFFERS" in names or _passes_one_on(function)


def _passes_one_on(function: ast.AST) -> bool:
    """Whether it takes a verdict from a test, which has its own counter-data."""
    return any(
        isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute | ast.Name)
        and (each.func.attr if isinstance(each.func, ast.Attribute) else each.func.id) in COUNTER
        for each in ast.walk(function)
    )


def test_no_claim_has_its_verdict_written_down() -> None:
    for where, node in _functions():
        for call in ast.walk(node):
            if isinstance(call, ast.Call):
                for keyword in call.keywords:
                    if keyword.arg == "verdict" and isinstance(keyword.value, ast.Attribute):
                        assert keyword.value.attr not in ("AGREES", "DIFFERS"), where


def test_the_gate_sees_a_claim_that_cannot_fail() -> None:
    text = "def f(x):\n    return Verdict.AGREES if x else Verdict.UNDECIDED\n"
    assert not _can_fail(ast.parse(text).body[0])
    text = "def f(x):\n    return Verdict.AGREES if x else Verdict.DIFFERS\n"
    assert _can_fail(ast.parse(text).body[0])


def test_rounding_is_not_shown_as_a_difference() -> None:
    first = [0.1 + 0.2, 1.0, 2.0]
    found = verdicts.less({"pair": (first, [0.3, 2.0, 1.0])}, unit="s")
    assert found.ours.startswith("pair: +0 (")
