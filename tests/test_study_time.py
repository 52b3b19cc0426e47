"""A study that is given less time than it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from conftest import SMALL, Command
from sojourn import Error, Scenario
from sojourn.studies.page import render
from sojourn.studies.pi_hardware import PiHardware
from sojourn.studies.reproduce import _of_some, reproduce
from sojourn.studies.study import Band, Findings, Study
from sojourn.sweep import Case, Results


class Long(Study):
    """Of its runs one is short and one does not end."""

    name = "long"
    title = "A long study"
    source = "nobody"
    about = "Runs."
    scales: ClassVar[Mapping[str, str]] = {"smoke": "", "quick": "", "full": "all of it"}

    def __init__(self, needed: int) -> None:
        self.needed = needed

    def runs(self, scale: str) -> Sequence[Case]:
        base = Scenario(SMALL)
        lengths = ("2s", "1000h")
        return [Case({"duration": each}, base.with_({"duration": each}), (1,)) for each in lengths]

    def evaluate(self, results: Results) -> Findings:
        found = Findings()
        run = results.runs[self.needed - 1].run
        found.bands.append(Band("length", run.summary["window_s"][1], 0, 3))
        return found


def test_time_limit_evaluates_finished_runs(tmp_path: Path) -> None:
    made = reproduce(Long(1), "full", store=tmp_path / "runs", workers=2, limit_s=3)
    assert [each.run.summary["window_s"][1] for each in made.results] == [2]
    assert made.results.wanted == 2 and made.findings.bands[0].holds
    page = render(made, tmp_path / "page.html").read_text("utf-8")
    assert "1 of 2: stopped when its time was over" in page


def test_missing_run_for_evaluation_is_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"^long: 1 of 2 runs are too few for its page; started again"):
        reproduce(Long(2), "full", store=tmp_path / "runs", workers=2, limit_s=3)


def test_a_study_without_any_run_is_one_line_error() -> None:
    with pytest.raises(Error, match=r"^pi-hardware: 0 of 2 runs are too few for its page"):
        _of_some(PiHardware(), Results([], None, 2, "smoke"))


def test_invalid_time_limit_is_one_line_error(sojourn: Command) -> None:
    done = sojourn("reproduce", "arena-cbq", "--scale", "smoke", "--for", "soon")
    assert done.returncode == 2 and done.stderr.startswith("sojourn: --for: ")
    assert done.stderr.count("\n") == 1


def test_unreached_time_limit_changes_nothing(tmp_path: Path, sojourn: Command) -> None:
    words = ("reproduce", "pi-hardware", "--scale", "smoke", "--store", tmp_path / "runs")
    whole, timed = sojourn(*words, "--json"), sojourn(*words, "--json", "--for", "1h")
    assert whole.returncode == 0 and whole.stdout == timed.stdout
