"""Scenarios that nobody wrote: they run or are refused, and packets are accounted for."""

from __future__ import annotations

import pytest

import random_scenarios

EACH = 10


def _run(first: int) -> None:
    taken = refused = 0
    for seed in range(first, first + EACH):
        scenario, some, others = random_scenarios.accepted(seed)
        taken, refused = taken + some, refused + others
        assert list(random_scenarios.broken(scenario)) == [], f"seed {seed}"
    # Both are tried: what is taken and what is refused.
    assert taken > EACH and refused > EACH


@pytest.mark.parametrize("first", range(1, 101, EACH))
def test_scenarios_drawn_from_the_schema_keep_the_rules(first: int) -> None:
    _run(first)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1001, 3001, EACH))
def test_many_scenarios_drawn_from_the_schema_keep_the_rules(first: int) -> None:
    _run(first)


def test_broken_rules_are_seen() -> None:
    summary = {"links": [{"loss": float("nan")}], "groups": [{"loss": -1.0, "jain": None}]}
    found = list(random_scenarios.bad_numbers("", summary))
    assert found == [".links.0.loss is nan", ".groups.0.loss is -1.0"]
