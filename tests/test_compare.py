"""Comparisons: pairs by seed, any number of workers, stopped and continued."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, Command, interrupted, untimed
from sojourn import Comparison, DamagedRunWarning, Error, Scenario, compare, open_runs
from sojourn import run as run_one
from sojourn.report.runs import check
from sojourn.results import kept_baseline
from sojourn.results.checksums import SUMS
from sojourn.sweep import open_comparison

VARY = {"bottleneck.qdisc": ["droptail", {"kind": "pi", "qref": 10, "ecn": True}]}


def summaries(comparison: Comparison) -> list[str]:
    return [untimed(run.summary) for run in comparison.runs]


def test_results_do_not_depend_on_the_number_of_workers(small: Scenario) -> None:
    one, many = (compare(small, VARY, repeat=3, workers=n) for n in (1, 4))
    assert summaries(one) == summaries(many)
    assert [(run.label, run.seed) for run in many.runs] == [
        ("droptail", 1),
        ("droptail", 2),
        ("droptail", 3),
        ("pi qref=10 ecn", 1),
        ("pi qref=10 ecn", 2),
        ("pi qref=10 ecn", 3),
    ]
    assert len(set(summaries(one))) == 6


def test_differences_are_paired_by_seed(small: Scenario) -> None:
    comparison = compare(small, VARY, repeat=3)
    (row,) = comparison.differences("queue_mean_packets")
    assert (row["label"], row["baseline"], row["pairs"]) == ("pi qref=10 ecn", "droptail", 3)
    means = [run.bottleneck["queue_packets"]["mean"] for run in comparison.runs]
    pairs = [pi - tail for tail, pi in zip(means[:3], means[3:], strict=True)]
    assert row["mean"] == pytest.approx(sum(pairs) / 3)
    assert row["low"] < row["mean"] < row["high"] < 0
    assert comparison.table().height == 2
    with pytest.raises(Error, match="no measure"):
        comparison.differences("beauty")


def test_a_comparison_goes_on_where_it_stopped(small: Scenario, tmp_path: Path) -> None:
    whole = compare(small, VARY, repeat=2, out=tmp_path)
    folders = [run.folder for run in whole.runs if run.folder]
    # One run is missing, another one is damaged.
    for file in folders[1].iterdir():
        file.unlink()
    folders[1].rmdir()
    (folders[2] / "summary.json").write_text("{")
    before = {
        folder: (folder / "run.json").stat().st_mtime_ns for folder in folders if folder.exists()
    }
    with pytest.warns(DamagedRunWarning, match="summary.json: damaged"):
        again = compare(small, VARY, repeat=3, out=tmp_path)
    kept = [
        folder for folder, at in before.items() if (folder / "run.json").stat().st_mtime_ns == at
    ]
    assert kept == [folders[0], folders[3]]
    assert len(again.runs) == 6 and not again.stopped_early
    assert not open_comparison(tmp_path).stopped_early
    expected = compare(small, VARY, repeat=3)
    assert summaries(again) == summaries(expected)


@pytest.mark.alone
def test_ctrl_c_keeps_what_is_finished(small_file: Path, tmp_path: Path) -> None:
    vary = ["--vary", "duration=1s,2s,100h", "--set", "warmup=0s"]
    words = ["compare", small_file, *vary, "--repeat", "1", "--workers", "1", "--json"]
    runs = tmp_path / "runs"
    said = json.loads(interrupted(*words, "--out", runs, folder=runs))
    assert (said["stopped_early"], said["wanted"]) == (True, 3)
    assert [run["label"] for run in said["runs"]] == ["duration 1s", "duration 2s"]
    assert open_comparison(runs).stopped_early
    assert [run.label for run in open_runs([tmp_path / "runs"])] == ["duration 1s", "duration 2s"]
    assert not list((tmp_path / "runs").glob(".*"))


def test_web_also_runs_on_the_uncongested_link(web: Scenario, tmp_path: Path) -> None:
    vary = {**VARY, "load": [0.5, 0.9]}
    comparison = compare(web, vary, repeat=2, out=tmp_path)
    assert not comparison.stopped_early and not open_comparison(tmp_path).stopped_early
    assert [(run.label, run.seed) for run in comparison.uncongested] == [
        ("uncongested, load 0.5", 1),
        ("uncongested, load 0.5", 2),
        ("uncongested, load 0.9", 1),
        ("uncongested, load 0.9", 2),
    ]
    assert all(run.bottleneck["dropped"] == 0 for run in comparison.uncongested)
    assert all(run.uncongested and not run.diagnoses for run in comparison.uncongested)
    for run in comparison.runs:
        twin = next(
            twin
            for twin in comparison.uncongested
            if twin.seed == run.seed and twin.varied["load"] == run.varied["load"]
        )
        assert run.realised_load == twin.realised_load
        assert run.realised_load == pytest.approx(
            twin.bottleneck["throughput_bps"] / 10_000_000, rel=1e-9
        )
        assert run.realised_load == pytest.approx(run.varied["load"], rel=0.5)
    opened = open_comparison(tmp_path)
    assert opened.rows() == comparison.rows()
    assert len(open_runs([tmp_path])) == 12
    assert [run.reference for run in check(open_runs([tmp_path]))] == [True] * 4 + [False] * 8
    # Earlier versions did not say it of a run.
    for about in tmp_path.glob("*/run.json"):
        told = json.loads(about.read_text())
        del told["uncongested"]
        about.write_text(json.dumps(told))
        (about.parent / SUMS).unlink()
    assert open_comparison(tmp_path).rows() == comparison.rows()


def test_a_scenario_of_that_name_is_not_on_the_uncongested_link(small: Scenario) -> None:
    named = small.with_({"name": "uncongested", "bottleneck.rate": "1gbit"})
    found = run_one(named)
    assert not found.uncongested
    assert "no-bottleneck" in [each["name"] for each in found.diagnoses]
    assert not check([found])[0].reference


def test_the_command_prints_a_table_and_where_the_runs_are(
    sojourn: Command, small_file: Path
) -> None:
    done = sojourn(
        "compare", small_file, "--vary", 'bottleneck.qdisc=droptail,{kind="pi",ecn=true}'
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "pi ecn" in done.stdout
    assert "PI ECN is" in done.stdout or "PI ECN seems" in done.stdout
    assert done.stdout.splitlines()[-1] == "runs: runs/small"


def test_a_failing_variation_is_named_before_anything_runs(
    sojourn: Command, small_file: Path, tmp_path: Path
) -> None:
    done = sojourn("compare", small_file, "--vary", "traffic.0.flows=1,0")
    assert done.returncode == 2
    assert "traffic[0].flows" in done.stderr
    assert not list((tmp_path / "runs").glob("*/*.json"))


def test_a_report_of_the_folder_keeps_the_baseline(small: Scenario, tmp_path: Path) -> None:
    compare(small, VARY, repeat=2, out=tmp_path, baseline="pi qref=10 ecn")
    assert kept_baseline(tmp_path) == "pi qref=10 ecn"
    found = open_comparison(tmp_path).verdict()
    assert found is not None
    assert found.baseline == "PI qref 10 ECN"
    page = tmp_path / "page.html"
    subprocess.run([COMMAND, "report", tmp_path, "--out", page], check=True, timeout=60)
    assert "than PI qref 10 ECN" in page.read_text(encoding="utf-8")
    compare(small, VARY, repeat=2, out=tmp_path)
    assert kept_baseline(tmp_path) is None


PIPES = """
duration = "5s"
warmup = "1s"
[[links]]
name = "there"
from = "left"
to = "right"
delay = "5ms"
[[links]]
name = "back"
from = "right"
to = "left"
delay = "5ms"
[[traffic]]
kind = "udp"
from = "left"
to = "right"
rate = "1mbit"
"""


def test_where_no_link_has_a_rate_goodput_is_compared() -> None:
    found = compare(Scenario(PIPES), {"traffic.0.rate": ["1mbit", "2mbit"]}).verdict()
    assert found is not None
    assert [each.measure.name for each in found.differences] == ["goodput_bps"]
    assert found.differences[0].relative == pytest.approx(1.0, rel=0.01)


def test_two_seeds_say_the_same_in_words_and_as_json(sojourn: Command, small_file: Path) -> None:
    asked = ("compare", small_file, "--vary", "bottleneck.qdisc=droptail,codel", "--repeat", "2")
    told = json.loads(sojourn(*asked, "--json").stdout)
    grades = {each["grade"] for each in told["verdict"]["differences"]}
    assert not grades & {"better", "worse"} and any(each.startswith("seems") for each in grades)
    # The runs that a difference is of can be found by their labels.
    one, other = dict.fromkeys(run["label"] for run in told["runs"])
    for each in told["verdict"]["differences"]:
        assert (each["runs"], each["baseline_runs"]) == (other, one)
    (few,) = [each for each in told["diagnoses"] if each["name"] == "few-seeds"]
    assert "an interval from two is hardly one" in few["message"]
