"""What a notebook asks of the Python package: short ways in, and results that show themselves."""

from __future__ import annotations

import copy
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert

from conftest import SMALL, untimed
from sojourn import Error, InputError, Scenario, ScenarioError, calibrate, compare, open_runs, run
from sojourn.deploy import deploy
from sojourn.report.page import VEGA_LITE
from sojourn.studies import registry
from sojourn.studies.study import Check, Findings, Reproduction, Verdict
from sojourn.sweep import Case, Results, grid, sweep


@pytest.mark.parametrize("form", ["dictionary", "text", "path", "name of a file", "scenario"])
def test_a_dictionary_and_a_path_do_where_a_scenario_does(
    small: Scenario, small_file: Path, form: str
) -> None:
    source: object = {
        "dictionary": small.to_dict(),
        "text": SMALL,
        "path": small_file,
        "name of a file": str(small_file),
        "scenario": small,
    }[form]
    assert Scenario(source).to_json() == small.to_json()
    assert untimed(run(source).summary) == untimed(run(small).summary)
    [case] = grid(source, {"bottleneck.qdisc": "codel"}, 3)
    assert (case.scenario.to_dict()["bottleneck"]["qdisc"]["kind"], case.seeds) == ("codel", (3,))
    assert Case({}, source).scenario.to_json() == small.to_json()
    assert deploy(source) == deploy(small)
    one = compare(source, {"bottleneck.qdisc": "codel"}, repeat=1)
    assert one.labels == ["codel"]
    with pytest.raises(ScenarioError, match="no group of kind web"):
        calibrate(source)


def test_files_of_a_scenario_are_looked_for_beside_it(small_file: Path) -> None:
    assert Scenario(small_file).base_dir == small_file.parent
    assert Scenario(small_file, base_dir="/else").base_dir == Path("/else")
    assert Scenario(Scenario(small_file)).base_dir == small_file.parent


def test_run_takes_a_seed(small: Scenario) -> None:
    assert untimed(run(small, seed=7).summary) == untimed(run(small.with_({"seed": 7})).summary)


def test_numbers_of_numpy_are_numbers(small: Scenario) -> None:
    varied = small.with_({"seed": np.int64(7), "bottleneck.loss": np.float32(0.5)})
    assert varied == small.with_({"seed": 7, "bottleneck.loss": 0.5})
    cases = grid(small, {"bottleneck.qdisc.limit": np.arange(20, 41, 10)}, range(2))
    assert [case.label for case in cases] == ["limit 20", "limit 30", "limit 40"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.with_({"load": math.nan}), "load: nan is not a number"),
        (lambda s: Scenario({**s.to_dict(), "load": math.inf}), r"scenario\.load: inf is not"),
        (lambda s: run(s, seed=2**64), "seed: 18446744073709551616 is too large: at most"),
        (lambda s: s.with_({"bottleneck.qdisc": {3: 1}}), r"bottleneck\.qdisc: 3 is not the name"),
        (lambda s: s.with_({"load": object()}), "load: <object .* is a object; give text"),
        (lambda _: Scenario("file.toml"), "file.toml: cannot be read: No such file"),
        (lambda _: Scenario("file"), "file: cannot be read: No such file"),
        (lambda _: Scenario(3), "3 is no scenario: give the path of a file"),
        (lambda _: run({"duration": "1s"}), "there is no link"),
        (lambda s: compare(s, vary={}), "vary: {}: nothing to compare"),
        (lambda s: compare(s, vary=["pi"]), r"vary: \['pi'\]: nothing to compare"),
        (lambda s: grid(s, ["pi"], 1), r"vary: \['pi'\]: give paths with values"),
        (lambda s: compare(s, vary={"seed": []}), "seed: no values"),
        (lambda _: open_runs("/some/x"), "^/some/x: there is no such folder"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    small: Scenario, call: Callable[[Scenario], object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        call(small)


def test_a_scenario_copies_and_pickles(small_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small_file.parent)
    small = Scenario(small_file.name).with_({"seed": 2**64 - 1})
    assert small.base_dir == Path()
    for again in (copy.copy(small), copy.deepcopy(small), pickle.loads(pickle.dumps(small))):
        assert again == small
        assert untimed(run(again).summary) == untimed(run(small).summary)
    monkeypatch.chdir("/")
    assert pickle.loads(pickle.dumps(small)).to_json() == small.to_json()


OWN = """
from sojourn.qdisc import PASS, Discipline, register

@register("passing")
class Passing(Discipline):
    def enqueue(self, now, packet, queue):
        return PASS
"""


@pytest.mark.parametrize(
    ("reference", "imports"), [("own_file.py:Passing", ""), ("passing", "import own_file; ")]
)
def test_a_scenario_with_a_class_of_its_own_goes_to_another_process(
    small: Scenario, tmp_path: Path, reference: str, imports: str
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "own_file.py").write_text(OWN)
    (here / "small.toml").write_text(
        small.with_({"bottleneck.qdisc": {"kind": "python", "class": reference}}).to_toml()
    )
    ask = "import sojourn, pickle, sys; "
    send = "sys.stdout.buffer.write(pickle.dumps(sojourn.Scenario('small.toml')))"
    take = "print(sojourn.run(pickle.load(sys.stdin.buffer)).summary['links'][0]['dropped_early'])"

    def python(code: str, folder: Path, given: bytes = b"") -> bytes:
        near = {**os.environ, "PYTHONPATH": str(here)}
        return subprocess.run(
            [sys.executable, "-c", code],
            input=given,
            cwd=folder,
            env=near,
            check=True,
            capture_output=True,
        ).stdout

    assert python(ask + take, there, python(imports + ask + send, here)).strip() == b"0"


def cells(html: str) -> list[str]:
    """The texts of a table in HTML, which must be well-formed."""
    found = ElementTree.fromstring(f"<div>{html}</div>")
    return [(cell.text or "") for tag in ("caption", "th", "td") for cell in found.iter(tag)]


def test_a_scenario_shows_itself(small: Scenario) -> None:
    assert repr(small) == "<Scenario 'small', 4 s, seed 1>"
    bare = small.with_({"name": None})
    assert repr(bare) == "<Scenario 4 s, seed 1>"
    shown = cells(small._repr_html_())
    assert "Scenario small" in shown
    assert "rate 10mbit, delay 5ms, qdisc (kind droptail, limit 60)" in shown
    assert "traffic[0]" in shown
    evil = small.with_({"name": "<script>"})._repr_html_()
    assert "<script>" not in evil


def test_a_run_shows_itself(small: Scenario, tmp_path: Path) -> None:
    result = run(small, seed=3)
    assert repr(result) == "<RunResult 'small', seed 3, 4 s>"
    kept = run(small, tmp_path / "kept")
    assert repr(kept) == f"<RunResult 'small', seed 1, 4 s, in {tmp_path / 'kept'}>"
    shown = cells(result._repr_html_())
    link, group = result.bottleneck, result.summary["groups"][0]
    assert shown[0] == "small, seed 3, packets, 4 s"
    assert {"bottleneck", "delay mean ms", "bulk1", "goodput Mb/s"} <= set(shown)
    assert f"{link['sojourn_s']['mean'] * 1e3:.1f}" in shown
    assert f"{group['goodput_bps'] / 1e6:.2f}" in shown


def test_a_comparison_and_a_sweep_show_themselves(small: Scenario) -> None:
    comparison = compare(small, {"bottleneck.qdisc": ["droptail", "codel"]}, repeat=2)
    assert repr(comparison) == "<Comparison of 'droptail', 'codel': 4 runs>"
    shown = cells(comparison._repr_html_())
    assert {"droptail", "codel", "util. %"} <= set(shown)
    assert f"{comparison.rows()[0]['queue_mean_packets']:.1f}" in shown
    found = sweep(grid(small, {"bottleneck.qdisc": ["droptail", "codel"]}, [1, 2]))
    assert repr(found) == "<Results: 4 of 4 runs>"
    assert shown[1:] == cells(found._repr_html_())[1:]


def test_a_study_shows_itself() -> None:
    study = registry.study("tcp-laws")
    assert repr(study).startswith("<Study 'tcp-laws': ")
    assert {"smoke", "quick", "full"} <= set(cells(study._repr_html_()))
    made = Reproduction(
        study,
        Results([], scale="smoke"),
        Findings([Check("p < 0.1", "§2", "0.05", "0.06", Verdict.AGREES)]),
    )
    assert repr(made) == "<Reproduction of 'tcp-laws', smoke: 1 agrees>"
    assert cells(made._repr_html_())[-4:] == ["p < 0.1", "0.05", "0.06", "agrees"]


def test_a_run_and_a_comparison_are_drawn(small: Scenario) -> None:
    with pytest.raises(InputError, match=r"probes\.queues = true"):
        run(small).plot()
    recorded = small.with_({"probes.queues": True})
    drawn = run(recorded).plot()
    assert drawn.to_dict()["title"] == "Queue over time"
    disciplines = {"bottleneck.qdisc": ["droptail", "codel"]}
    comparison = compare(recorded, disciplines, repeat=2)
    assert "Mean time in the queue (ms" in comparison.plot().to_json()
    with pytest.raises(Error, match="no figure 'response-times' of these runs; there are: "):
        comparison.plot("response-times")
    panels = compare(recorded, disciplines | {"bottleneck.delay": ["5ms", "9ms"]}, repeat=1)
    for figure in ("queue", "queue-distribution"):
        spec = panels.plot(figure).to_dict()
        assert len(spec["vconcat"]) == 2
        assert convert(spec).startswith("<svg")
    assert convert(drawn.to_dict()).startswith("<svg")


def convert(spec: dict[str, Any]) -> str:
    return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE)


def test_a_run_copies_and_pickles(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recorded = small.with_({"probes.queues": True})
    kept = run(recorded, "kept")
    kept.realised_load = 0.5
    assert kept.queues.height
    sent = pickle.dumps(kept)
    monkeypatch.chdir("/")
    again = pickle.loads(sent)
    assert (again.summary, again.realised_load) == (kept.summary, 0.5)
    assert again.queues.equals(kept.queues)
    fleeting = run(recorded)
    with pytest.raises(Error, match=r'small: its tables are deleted .* out="FOLDER"'):
        pickle.dumps(fleeting)
    copies = copy.copy(fleeting), copy.deepcopy(fleeting)
    assert copies[1].summary is not fleeting.summary
    del fleeting
    for each in copies:
        assert each.queues.height == kept.queues.height
    assert pickle.loads(pickle.dumps(run(small))).bottleneck == run(small).bottleneck
