"""Pieces of studies by themselves: formulas, ellipses, what a discipline can be turned into."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from conftest import Command
from sojourn import Error
from sojourn.studies import beside_linux, cake_reference, linux_reference
from sojourn.studies.codel_2012 import setpoint
from sojourn.studies.rfc7928 import disciplines, ellipses
from sojourn.studies.rfc7928.situations import SITUATIONS, Times, flows
from sojourn.studies.rfc7928.study import Rfc7928


@pytest.mark.parametrize("f", [0.0, 0.05, 0.2, 0.5, 1.0])
def test_sawtooth_averages_match_closed_form(f: float) -> None:
    rounds, time = setpoint.integrated(f)
    assert setpoint.per_round(f) == pytest.approx(rounds, abs=1e-9)
    assert setpoint.over_time(f) == pytest.approx(time, abs=1e-9)


def test_averages_differ_unless_queue_is_always_or_never_empty() -> None:
    for f in (0.1, 0.3, 0.5):
        assert setpoint.over_time(f) > setpoint.per_round(f) + 0.001
    assert setpoint.over_time(0) == setpoint.per_round(0) == 0.75
    assert setpoint.over_time(1) == setpoint.per_round(1) == 1


def test_time_averaged_power_peaks_where_rfc_power_falls() -> None:
    grid = [i / 100 for i in range(101)]
    best = max(grid, key=setpoint.power_over_time)
    assert best == pytest.approx(0.28, abs=0.02)
    assert setpoint.power_over_time(best) == pytest.approx(1.13, abs=0.005)
    falls = [setpoint.rfc_power(f) for f in grid]
    assert falls == sorted(falls, reverse=True)


def test_an_ellipse_is_one_deviation_of_its_points() -> None:
    rng = random.Random(3)
    logs = [rng.gauss(2, 0.3) for _ in range(4000)]
    goodputs = [9 + 2 * (each - 2) + rng.gauss(0, 0.1) for each in logs]
    outline = ellipses.ellipse([math.exp(each) for each in logs], goodputs)
    assert max(math.log(delay) for delay, _ in outline) == pytest.approx(2.3, abs=0.02)
    assert max(good for _, good in outline) == pytest.approx(9 + math.hypot(0.6, 0.1), abs=0.05)
    assert outline[0] == pytest.approx(outline[-1])


def test_two_runs_make_no_ellipse() -> None:
    assert ellipses.ellipse([5, 6], [9, 9]) == []


def test_delay_parameter_is_that_of_each_discipline() -> None:
    assert disciplines.turned("codel", 2) == {"kind": "codel", "target": "10ms"}
    assert disciplines.turned({"kind": "pi", "qref": 30}, 0.5) == {"kind": "pi", "qref": 15}
    assert disciplines.turned("droptail", 2) is None


def test_disciplines_without_marking_are_not_run_with_ecn() -> None:
    assert disciplines.with_ecn("droptail") is None
    assert disciplines.with_ecn("pie") == {"kind": "pie", "ecn": True}


def test_drop_tail_comes_first_and_each_discipline_once() -> None:
    assert disciplines.check(("pi", "droptail", "pi", {"kind": "pi", "qref": 30})) == (
        "droptail",
        "pi",
        {"kind": "pi", "qref": 30},
    )
    with pytest.raises(Error, match="beside drop-tail"):
        disciplines.check(("droptail",))


def test_every_situation_takes_every_discipline_of_the_default_list() -> None:
    times = Times(10, 2)
    for situation in SITUATIONS:
        for qdisc in (disciplines.BASELINE, *disciplines.DEFAULT):
            situation.build(disciplines.plain(qdisc), times)
    assert [flows(level) for level in ("mild", "medium", "heavy")] == [3, 7, 9]


def test_given_list_of_disciplines_is_run() -> None:
    cases = Rfc7928(["pie", {"kind": "codel", "target": "2ms"}]).runs("smoke")
    assert {case.labels["qdisc"] for case in cases} == {"drop-tail", "PIE", "CoDel target=2ms"}


@pytest.mark.parametrize("text", ["nonsense", "droptail", 'pi,{kind="codel"', "pi,3"])
def test_invalid_list_of_disciplines_is_one_line_error(text: str, sojourn: Command) -> None:
    found = sojourn("evaluate", "--qdisc", text)
    assert found.returncode != 0
    assert len(found.stderr.splitlines()) == 1


def test_situation_without_traffic_is_compared() -> None:
    nothing = beside_linux.Measured(0.0, 0.0, 0.0, 1.0, 0.0)
    something = beside_linux.Measured(1.0, 0.02, 0.03, 40.0, 0.0)
    assert nothing.apart(nothing) == []
    assert something.apart(nothing) == [
        "utilisation +100.0 points",
        "mean sojourn +20.0 ms",
        "p99 sojourn +30.0 ms",
        "drops 40 against 1",
    ]
    cell = linux_reference.Cell(10, 20, 1, "red", "reno")
    name = cell.name
    measured = {(name, "packets"): something, (name, "kernel"): nothing}
    (band,) = linux_reference.LinuxReference().bands([cell], measured)
    assert not band.holds


def test_cake_agrees_by_link_share_and_acknowledgements() -> None:
    theirs = cake_reference.MeasuredCake(0.95, 0.005, 0.01, 200.0, 0.0, acks=1000.0, share=0.5)
    assert theirs.apart(theirs) == []
    assert replace(theirs, share=0.54, acks=1300.0).apart(theirs) == []
    found = replace(theirs, share=0.3, acks=1400.0).apart(theirs)
    assert found == ["ACKs dropped 1400 against 1000", "share -20.0 points"]
    study = cake_reference.CakeReference()
    quick, full = ({cell.name for cell in study.cells(scale)} for scale in ("quick", "full"))
    assert len(full) == len(cake_reference.CELLS)
    assert quick < full


def test_pie_tupdate_of_15_ms_becomes_20_on_linux() -> None:
    cell = linux_reference.Cell(10, 20, 8, "fq_pie", "cubic")
    given = [
        cell.scenario(engine).to_dict()["bottleneck"]["qdisc"]["tupdate"]
        for engine in ("packets", "linux", "kernel")
    ]
    assert given == ["20ms", "20ms", "15ms"]


def test_agreeing_seeds_are_counted() -> None:
    theirs = beside_linux.Measured(1.0, 0.02, 0.03, 40.0, 0.0)
    near = beside_linux.Measured(0.99, 0.021, 0.031, 42.0, 0.0)
    far = beside_linux.Measured(0.5, 0.001, 0.002, 400.0, 0.0)
    assert beside_linux.agreeing([near, far, near], theirs) == "2 of 3 seeds agree."
    assert beside_linux.agreeing([near], theirs) == ""
