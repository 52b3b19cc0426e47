"""Response times that studies compare: against the records of every exchange."""

from __future__ import annotations

import polars as pl
import pytest

from sojourn import RunResult, Scenario, run
from sojourn.studies.curves import colours, response_figure
from sojourn.studies.responses import completed, curve, limited_mean, loss, times
from sojourn.studies.web_red.exchanges import LIMIT_S, SHORT_BYTES, told
from sojourn.sweep import Case, sweep


@pytest.fixture(scope="module")
def watched() -> RunResult:
    fields = {
        "duration": "60s",
        "warmup": "10s",
        "tcp": {"profile": "classic"},
        "bottleneck": {"rate": "4mbit", "qdisc": {"kind": "droptail", "limit": 20}},
        "traffic": [
            {"kind": "web", "users": 400, "direction": "both", "rtt": "10ms..200ms"},
        ],
        "probes": {"exchanges": True},
    }
    return run(Scenario(fields))


def finished(watched: RunResult) -> pl.DataFrame:
    assert watched.exchanges is not None
    inside = pl.col("started_s").is_between(10, 60) & (pl.col("outcome") == "finished")
    return watched.exchanges.filter(inside)


def test_the_area_above_the_curve_is_the_mean_up_to_two_seconds(watched: RunResult) -> None:
    exact = finished(watched)["response_time_s"].clip(upper_bound=2.0).mean()
    assert isinstance(exact, float)
    assert limited_mean(watched) == pytest.approx(exact, rel=0.01)


def test_the_curve_counts_both_directions(watched: RunResult) -> None:
    table = finished(watched)
    fractions = curve(watched)
    for i in (20, 50, 100, 200, 400):
        below = (table["response_time_s"] <= times()[i]).mean()
        assert fractions[i] == pytest.approx(below, abs=0.015)
    assert (fractions[1:] >= fractions[:-1]).all()
    assert completed(watched) == sum(each["finished"] for each in watched.summary["groups"])
    assert 0.005 < loss(watched) < 0.3


def test_records_tell_short_objects_and_retries(watched: RunResult) -> None:
    found = told(watched)
    assert watched.exchanges is not None
    table = watched.exchanges.filter(pl.col("started_s").is_between(10, 60 - LIMIT_S))
    times_s = [
        min(row["response_time_s"], LIMIT_S) if row["outcome"] == "finished" else LIMIT_S
        for row in table.iter_rows(named=True)
        if row["response_bytes"] <= SHORT_BYTES
    ]
    assert found.short_s == pytest.approx(sum(times_s) / len(times_s), rel=1e-9)
    assert found.long_s > found.short_s
    assert found.timeouts == pytest.approx(table["timeouts"].mean(), rel=1e-9)
    assert found.timeouts > 0 and found.syn_retries > 0


def test_a_figure_needs_two_curves_and_keeps_colours(watched: RunResult) -> None:
    scenario = Scenario(watched.scenario_toml).with_({"duration": "12s"})
    one = sweep([Case({"scheme": "PI 24"}, scenario, (1,))])
    assert response_figure("x", "x", {"PI 24": one}) is None
    figure = response_figure("x", "x", {"PI 24": one, "uncongested": one})
    assert figure is not None and "PI 24" in figure.description
    drawn = figure.chart.to_dict()["encoding"]
    assert drawn["color"]["scale"]["range"] == colours(["PI 24", "uncongested"])
    both = colours(["uncongested", "drop-tail 240", "PI 24", "PI 24 ECN"])
    assert len(set(both[:3])) == 3 and both[2] == both[3]
