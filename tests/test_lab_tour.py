"""What the steps of the laboratory's tour say comes to pass, in the packets that they show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from sojourn import run
from sojourn.lab.experiment import all_experiments

SEEDS = (1, 2, 3)
# As late as a hand is, and time for what it does.
CHANGED, SETTLED = "40s", 60


def queue(name: str, side: str, changes: Mapping[str, Any], seed: int) -> Any:
    """The bottleneck's queue in packets on one side of an experiment, and what is `changes`d."""
    experiment = next(each for each in all_experiments() if each.name == name)
    scenario = experiment.scenario(side).with_({"probes.queues": True, "seed": seed, **changes})
    settled = min(SETTLED, scenario.facts.duration_s / 3)
    rows = run(scenario).queues.filter(pl.col("link") == "bottleneck", pl.col("time_s") > settled)
    return rows["packets"]


def meanwhile(**values: float) -> dict[str, Any]:
    """A change of the discipline's parameters while the run goes on."""
    set_ = {f"bottleneck.qdisc.{name}": value for name, value in values.items()}
    return {"changes": [{"at": CHANGED, "set": set_}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_faster_average_calms_a_steep_red(seed: int) -> None:
    before = queue("red-swings", "A", {}, seed)
    after = queue("red-swings", "A", meanwhile(wq=0.01), seed)
    assert before.quantile(0.95) > 300
    assert after.quantile(0.95) < 200
    assert after.std() < before.std() / 2


@pytest.mark.parametrize("seed", SEEDS)
def test_between_a_slow_average_and_a_fast_one_red_swings(seed: int) -> None:
    slow, between, fast = (
        queue("red-swings", "B", meanwhile(wq=wq), seed).std() for wq in (1e-5, 1e-4, 1e-2)
    )
    assert between > 1.5 * max(slow, fast)


@pytest.mark.parametrize("seed", SEEDS)
def test_ten_times_the_gains_twice_bring_pi_to_its_queue(seed: int) -> None:
    few, more, enough = (
        queue("mis-scaled", "A", {f"bottleneck.qdisc.{k}": v * times for k, v in gains}, seed)
        for gains in [[("a", 3.64e-8), ("b", 3.63e-8)]]
        for times in (1, 10, 100)
    )
    assert few.mean() > 500
    assert 250 < more.mean() < 500
    assert enough.mean() == pytest.approx(200, rel=0.1)


@pytest.mark.parametrize("seed", SEEDS)
def test_pi_for_short_round_trips_does_not_hold_its_queue_over_long_ones(seed: int) -> None:
    longer = {"traffic.flows.rtt": "400ms..1000ms"}
    short, long = (queue("round-trip", side, longer, seed) for side in "AB")
    assert short.mean() < 140
    assert long.mean() == pytest.approx(200, rel=0.2)


def test_one_long_transfer_never_empties_a_large_queue_that_codel_drains() -> None:
    standing, drained = (queue("two-views", side, {}, 1) for side in "AB")
    assert standing.min() > 50
    assert drained.quantile(0.3) == 0
    # The same packets at half the rate are twice the time.
    slower = queue("two-views", "A", {"bottleneck.rate": "5mbit"}, 1)
    assert slower.mean() == pytest.approx(standing.mean(), rel=0.15)
