"""Users against load: linear, inverted, kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn import Scenario, ScenarioError, calibrate, run
from sojourn.calibration import with_users
from sojourn.load import realised_load, uncongested

# Sizes without a heavy tail, so that a short run realises what is asked for.
LIGHT = {
    "traffic.0.model": "custom",
    "traffic.0.think": {"dist": "exponential", "mean": "2s"},
    "traffic.0.response": {"dist": "exponential", "mean": "8kB"},
    "duration": "40s",
    "warmup": "10s",
}


@pytest.fixture
def light(web: Scenario) -> Scenario:
    return web.with_(LIGHT)


def test_load_grows_in_proportion_to_users(light: Scenario) -> None:
    found = calibrate(light)
    assert found.rate_bps == 10_000_000
    assert len(found.points) >= 3
    assert found.misfit < 0.05


@pytest.mark.parametrize("load", [0.3, 0.9])
def test_calibrated_users_realise_the_load(light: Scenario, load: float) -> None:
    scenario = with_users(light.with_({"load": load, "seed": 11}))
    summary = run(uncongested(scenario)).summary
    assert realised_load(summary, 10_000_000) == pytest.approx(load, rel=0.06)


def test_users_and_load_are_inverse(light: Scenario) -> None:
    found = calibrate(light)
    load = found.users_for(0.98) * found.bps_per_user / found.rate_bps
    assert load == pytest.approx(0.98, rel=0.01)


def test_a_calibration_is_kept_and_depends_on_what_matters(light: Scenario, cache: Path) -> None:
    first = calibrate(light)
    files = set(cache.iterdir())
    same = light.with_({"load": 0.5, "seed": 9, "bottleneck.qdisc": "pi", "probes.queues": True})
    assert calibrate(same) == first
    assert set(cache.iterdir()) == files
    other = calibrate(light.with_({"traffic.0.response": "16kB"}))
    assert other.bps_per_user > 1.5 * first.bps_per_user
    assert len(set(cache.iterdir())) == len(files) + 1


def test_a_damaged_calibration_is_made_again(light: Scenario, cache: Path) -> None:
    first = calibrate(light)
    for file in cache.glob("calibration-*.json"):
        file.write_text('{"points": [[1]]}')
    assert calibrate(light) == first


def test_both_directions_are_calibrated_together(light: Scenario) -> None:
    scenario = with_users(light.with_({"traffic.0.direction": "both", "load": 0.6}))
    summary = run(uncongested(scenario)).summary
    assert realised_load(summary, 10_000_000, direction="both") == pytest.approx(0.6, rel=0.06)


def test_a_load_needs_a_bottleneck(web: Scenario) -> None:
    fields = dict(web.to_dict())
    fields["parking_lot"] = {**fields.pop("bottleneck"), "hops": 2}
    with pytest.raises(ScenarioError, match=r"\[bottleneck\]"):
        run(Scenario(fields))
