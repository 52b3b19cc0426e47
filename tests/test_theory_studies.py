"""The studies of fluid models: their scenarios, and the steps of their reasoning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sojourn import Scenario, fluid
from sojourn.studies.fluid_2000 import scenarios, windows
from sojourn.studies.fluid_2000.once import Windows, integrated
from sojourn.studies.fluid_2000.spread import differing

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("number", scenarios.EXPERIMENTS)
def test_the_study_runs_the_scenario_files(number: int) -> None:
    """The files are for readers, the study makes its own: they must not drift apart."""

    def shape(scenario: Scenario) -> dict[str, Any]:
        text: Any = scenario.to_dict()
        text.pop("name")
        text["probes"].pop("traces", None)
        text["traffic"].sort(key=lambda group: group["name"])
        return dict(text)

    written = Scenario.from_file(ROOT / "scenarios" / "fluid-2000" / f"{number}.toml")
    assert shape(scenarios.experiment(number, "whole")) == shape(written)


@pytest.mark.parametrize(("engine", "spacing"), [("fluid", "altq"), ("packets", "wait")])
def test_red_is_judged_as_the_paper_has_it(engine: str, spacing: str) -> None:
    made: Any = scenarios.experiment(1, "40 flows", scenarios.PUBLISHED[engine]).to_dict()
    red = [link["qdisc"] for link in made["links"] if link["qdisc"]["kind"] == "red"]
    assert [each["spacing"] for each in red] == [spacing] * 2


def test_each_step_towards_real_windows_is_below_the_models_law() -> None:
    def law(p: float, *, once: bool, recovery: bool = False) -> float:
        return windows.in_rounds(p, once=once, recovery=recovery, flows=200, rounds=1500)

    any_time, once, recovering = (
        law(0.01, once=False),
        law(0.01, once=True),
        law(0.01, once=True, recovery=True),
    )
    assert recovering < once < windows.INDEPENDENT < windows.MODEL
    assert any_time < once, "several cuts in a round trip make windows smaller"
    # With rare losses rounds are short against what lies between two of them.
    assert law(2e-4, once=True) == pytest.approx(windows.INDEPENDENT, rel=0.04)


def test_the_model_written_twice_gives_the_same() -> None:
    euler = integrated(1, "40 flows", Windows())
    engine = differing(1, "40 flows", 1.0)
    assert euler.loss == pytest.approx(engine.loss, rel=0.01)
    assert euler.window == pytest.approx(engine.window, rel=0.01)
    assert (euler.mean, euler.period) == pytest.approx((engine.mean, engine.period), rel=0.01)


def test_one_reduction_per_round_trip_keeps_windows_open() -> None:
    once, often = (integrated(5, "40 flows", Windows(once=each)) for each in (True, False))
    assert once.window["first"] > 1.2 * often.window["first"]
    assert once.utilisation > often.utilisation + 0.05


def test_windows_that_pause_in_recovery_need_less_loss() -> None:
    differ = Windows(spread=fluid.RENO_SPREAD)
    pause = Windows(recovery=True, spread=fluid.RENO_SPREAD)
    before, after = (integrated(1, "40 flows", each) for each in (differ, pause))
    assert before.loss == pytest.approx(differing(1, "40 flows").loss, rel=0.01)
    assert after.loss[0] == pytest.approx(0.9 * before.loss[0], rel=0.03)
    assert after.window["first"] < before.window["first"]
