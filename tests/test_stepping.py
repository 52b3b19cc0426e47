"""Simulations taken step by step."""

from __future__ import annotations

import copy
import math
import pickle
import re

import numpy as np
import pytest

import sojourn
from sojourn.cli.tables import print_run
from sojourn.report import ReportError
from sojourn.report.runs import check

SCENARIO = {
    "duration": "8s",
    "warmup": "2s",
    "bottleneck": {"rate": "5mbit", "delay": "5ms", "qdisc": {"kind": "pi", "qref": 40}},
    "traffic": [{"kind": "bulk", "flows": 4, "rtt": "50ms"}],
}


def measures(result: sojourn.RunResult) -> dict[str, object]:
    """What two equal runs agree in."""
    return {k: result.summary[k] for k in ("links", "groups", "diagnoses")}


def test_steps_are_the_run() -> None:
    """Pauses and looks change nothing."""
    with sojourn.Simulation(SCENARIO) as simulation:
        assert simulation.run_until("1.5s") == 1.5
        seen = simulation.observe()
        assert seen["links"][0]["rate_bps"] == 5_000_000
        assert len(seen["groups"][0]["flows"]) == 4
        assert simulation.run_until(20) == 8
        assert measures(simulation.finish()) == measures(sojourn.run(SCENARIO))


def test_what_was_set_is_replayed() -> None:
    """The scenario of a simulation gives the same results, and so does a copy."""
    simulation = sojourn.Simulation(SCENARIO)
    simulation.run_until("3s")
    simulation.set("bottleneck.qdisc.qref", 10)
    other = simulation.fork()
    for one in (simulation, other):
        one.run_until("5s")
        one.set("bottleneck.rate", "9mbit")
        one.run_until("8s")
    saved = simulation.scenario
    result = measures(simulation.finish())
    assert result == measures(other.finish())
    assert result == measures(sojourn.run(saved.to_toml()))
    assert result != measures(sojourn.run(SCENARIO))


def test_the_end_tells_what_a_run_tells() -> None:
    """A warm-up within slow start is told at the end of steps, too."""
    short = {**SCENARIO, "warmup": "0s"}
    simulation = sojourn.Simulation(short)
    simulation.run_until("8s")
    told = simulation.finish().diagnoses
    assert told == sojourn.run(short).diagnoses
    assert told


def test_packets_of_a_queue_are_told_from_the_head_on() -> None:
    """Each with its flow; no more than were asked for."""
    simulation = sojourn.Simulation(SCENARIO)
    simulation.run_until("6s")
    standing = simulation.observe()["links"][0]["queue_packets"]
    packets = simulation.queued()
    assert len(packets) == standing > 5
    assert {each["flow"] for each in packets} <= {0, 1, 2, 3}
    assert simulation.queued("bottleneck", 3) == packets[:3]
    with pytest.raises(sojourn.ScenarioError, match="no queue named nowhere"):
        simulation.queued("nowhere")
    with pytest.raises(sojourn.InputError, match="most: -1 must be at least 0"):
        simulation.queued(most=-1)


def test_what_cannot_be_is_said_in_one_line() -> None:
    """The field, and what can change."""
    simulation = sojourn.Simulation(SCENARIO)
    simulation.run_until("1s")
    with pytest.raises(sojourn.ScenarioError, match="does not change during a run"):
        simulation.set("bottleneck.delay", "9ms")
    with pytest.raises(sojourn.InputError, match="lies before"):
        simulation.run_until("0.5s")
    with pytest.raises(sojourn.InputError, match=r"^time: None: give text with a unit"):
        simulation.run_until(None)  # type: ignore[arg-type]
    with pytest.raises(sojourn.ScenarioError, match="qref: nan is not a number"):
        simulation.set("bottleneck.qdisc.qref", math.nan)
    simulation.finish()
    with pytest.raises(sojourn.Error, match="is finished"):
        simulation.observe()


@pytest.mark.parametrize("time", [math.inf, 1e300, np.float64(8)])
def test_the_end_is_the_last_instant(time: float) -> None:
    assert sojourn.Simulation(SCENARIO).run_until(time) == 8


def test_what_is_set_may_be_of_numpy() -> None:
    simulation = sojourn.Simulation(SCENARIO)
    simulation.set("bottleneck.qdisc.qref", np.int64(20))  # type: ignore[arg-type]
    (change,) = simulation.scenario.to_dict()["changes"]
    assert change["set"] == {"bottleneck.qdisc.qref": 20}


def test_an_end_in_the_warmup_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    simulation = sojourn.Simulation({**SCENARIO, "warmup": "2s"})
    simulation.run_until("1s")
    result = simulation.finish()
    said = "the run ended at 1 s, before its warm-up was over (2 s): nothing was measured"
    assert result.unmeasured == said and said in result._repr_html_()
    for look in (lambda: result.bottleneck, lambda: result.link("x"), lambda: result.group("x")):
        with pytest.raises(sojourn.InputError, match=re.escape(said)):
            look()
    with pytest.raises(ReportError, match=re.escape(said)):
        check([result])
    print_run(result)
    assert said in capsys.readouterr().out.splitlines()
    at_once = sojourn.Simulation({**SCENARIO, "warmup": "0s"}).finish()
    assert at_once.unmeasured == "the run ended at 0 s, as it began: nothing was measured"


@pytest.mark.parametrize("engine", ["fluid", "linux", "kernel"])
def test_only_the_packet_engine_changes(engine: str) -> None:
    """Others refuse a scenario that changes."""
    change = {"at": "3s", "set": {"bottleneck.qdisc.qref": 10}}
    with pytest.raises(sojourn.ScenarioError, match="changes"):
        sojourn.run({**SCENARIO, "changes": [change]}, engine=engine)


def test_copies_are_made_by_fork_alone() -> None:
    simulation = sojourn.Simulation(SCENARIO)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(sojourn.InputError, match=r"copied or pickled: fork\(\) makes a copy"):
            copied(simulation)


def test_a_simulation_may_be_taken_to_its_begin() -> None:
    assert sojourn.Simulation(SCENARIO).run_until("0s") == 0.0
