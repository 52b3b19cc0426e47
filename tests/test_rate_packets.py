"""Loops on the rate on either side of their boundary: fluid and packets."""

from __future__ import annotations

import pytest

from sojourn import run
from sojourn.studies.rate_packets import RENO, SCALABLE, Loop, swing


@pytest.mark.parametrize("engine", ["fluid", "packets"])
@pytest.mark.parametrize("loop", [*RENO[:2], *SCALABLE], ids=lambda each: getattr(each, "name", ""))
def test_a_load_swings_on_where_the_slowest_root_says(loop: Loop, engine: str) -> None:
    """Kelly's boundary, and Vinnicombe's condition kept and broken on purpose."""
    found = swing(run(loop.scenario(rounds=240), engine=engine))
    assert found.cycles == (loop.root().real > 0), found
    # Not near the line between the two.
    assert not 0.025 < found.deviation < 0.075, found


@pytest.mark.parametrize("loop", SCALABLE, ids=lambda each: each.name)
def test_vinnicombes_condition_is_kept_and_broken(loop: Loop) -> None:
    assert loop.a is not None
    assert (loop.a < 1 / loop.exponent) == (loop.root().real < 0)


@pytest.mark.parametrize("loop", [*RENO, *SCALABLE], ids=lambda each: each.name)
def test_windows_are_large_enough_for_packets(loop: Loop) -> None:
    assert loop.window() > 6
