"""What the steps of the laboratory's tour say comes to pass, in the packets that they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from sojourn import run
from sojourn.lab.experiment import all_experiments

SEEDS = (1, 2, 3)
# As slow as a hand is, and time for what it does.
CHANGED, SETTLED = "40s", 60


def queue(name: str, side: str, changes: Mapping[str, Any], seed: int, later: bool = True) -> Any:
    """The bottleneck's queue in packets on one side, with changes in the run or from its start."""
    experiment = next(each for each in all_experiments() if each.name == name)
    more = {"changes": [{"at": CHANGED, "set": changes}]} if later and changes else changes
    scenario = experiment.scenario(side).with_({"probes.queues": True, "seed": seed, **more})
    rows = run(scenario).queues.filter(pl.col("link") == "bottleneck", pl.col("time_s") > SETTLED)
    return rows["packets"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_faster_average_calms_a_steep_red(seed: int) -> None:
    before = queue("red-swings", "A", {}, seed)
    after = queue("red-swings", "A", {"bottleneck.qdisc.wq": 0.01}, seed)
    assert before.quantile(0.95) > 300 > 200 > after.quantile(0.95)
    assert after.std() < before.std() / 2


@pytest.mark.parametrize("seed", SEEDS)
def test_between_a_slow_average_and_a_fast_one_red_swings(seed: int) -> None:
    slow, between, fast = (
        queue("red-swings", "B", {"bottleneck.qdisc.wq": wq}, seed).std()
        for wq in (1e-5, 1e-4, 1e-2)
    )
    assert between > 1.5 * max(slow, fast)


@pytest.mark.parametrize("seed", SEEDS)
def test_ten_times_the_gains_twice_bring_pi_to_its_queue(seed: int) -> None:
    means = [
        queue(
            "mis-scaled", "A", {f"bottleneck.qdisc.{x}": y * factor for x, y in gains}, seed, False
        ).mean()
        for factor in (1, 10, 100)
        for gains in [(("a", 3.64e-8), ("b", 3.63e-8))]
    ]
    assert means[0] > 500 > means[1] > 250 > means[2] > 150


@pytest.mark.parametrize("seed", SEEDS)
def test_pi_for_short_round_trips_does_not_hold_its_queue_over_long_ones(seed: int) -> None:
    longer = {"traffic.flows.rtt": "400ms..1000ms"}
    a, b = (queue("round-trip", side, longer, seed, False).mean() for side in "AB")
    assert a < 140 < 160 < b < 240


def test_one_long_transfer_never_empties_a_large_queue_that_codel_drains() -> None:
    a, b = (queue("two-views", side, {}, 1) for side in "AB")
    assert a.min() > 100 and b.quantile(0.3) == 0
    # Two to one in packets, and so the same in time at half the rate.
    half = queue("two-views", "A", {"bottleneck.rate": "5mbit"}, 1)
    assert half.mean() == pytest.approx(a.mean(), rel=0.15)
