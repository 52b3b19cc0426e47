"""The engine takes the instructions that it took, so that a loss is seen the day it comes."""

from __future__ import annotations

import json

import pytest

from instructions import KEPT, SCENARIOS, compiler, count, missing

_FOUND = json.loads(KEPT.read_text())


@pytest.mark.long
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_takes_as_many_instructions_as_it_took(name: str) -> None:
    if compiler() != _FOUND["compiler"]:
        pytest.skip(f"ANOTHER COMPILER THAN {_FOUND['compiler']}: instructions are not compared")
    now, then = count(name), _FOUND["counts"][name]
    told = f"{now / then - 1:+.1%}: if that is meant, python tests/instructions.py keeps it"
    assert now == pytest.approx(then, rel=0.02), told


def test_every_scenario_is_kept() -> None:
    assert list(_FOUND["counts"]) == list(SCENARIOS)
