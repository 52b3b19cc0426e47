"""Sweeps: nothing runs twice, nothing finished is lost, nothing half-written is read."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL, Command, interrupted, untimed
from sojourn import Error, Scenario, ScenarioError, __version__, run
from sojourn.results.run import RunResult
from sojourn.results.store import Store
from sojourn.sweep import Case, Results, Rule, execute, grid, sweep
from sojourn.sweep.cluster import run_one
from sojourn.sweep.execute import Progress
from sojourn.sweep.job import Job

ROOT = Path(__file__).resolve().parent.parent
VARY = {"bottleneck.qdisc": ["droptail", {"kind": "pi", "qref": 10}], "bottleneck.rate": ["8mbit"]}


def texts(results: Results) -> list[str]:
    return [untimed(each.run.summary) for each in results]


def made(store: Path) -> dict[str, int]:
    """When each run of a store was written."""
    return {p.parent.name: p.stat().st_mtime_ns for p in store.glob("[!.]*/summary.json")}


def test_a_grid_has_a_row_for_every_run(small: Scenario, tmp_path: Path) -> None:
    results = sweep(grid(small, VARY, [3, 1]), tmp_path)
    frame = results.frame()
    assert frame["bottleneck.qdisc"].to_list() == ["droptail"] * 2 + ["pi qref=10"] * 2
    assert frame["seed"].to_list() == [3, 1, 3, 1]
    assert frame["utilisation"].null_count() == 0
    assert results.where(**{"bottleneck.qdisc": "droptail"}).mean("loss") == pytest.approx(
        frame.head(2)["loss"].mean()
    )
    kept = Store(tmp_path).frame()
    assert sorted(kept["key"]) == sorted(frame["key"])
    assert set(kept["bottleneck.qdisc"]) == {"droptail", "pi qref=10"}
    one = sweep(grid(small, VARY, [3, 1]), None, workers=1)
    assert texts(one) == texts(results)


def test_sweeps_with_other_labels_share_a_store(small: Scenario, tmp_path: Path) -> None:
    sweep([Case({"what": 0.5}, small, [1])], tmp_path)
    sweep([Case({"what": "half", "more": True}, small, [2])], tmp_path)
    frame = Store(tmp_path).frame().sort("seed")
    assert frame["what"].to_list() == ["0.5", "half"]
    assert frame["more"].to_list() == [None, True]


def test_a_store_s_table_keeps_what_has_the_name_of_a_label(
    small: Scenario, tmp_path: Path
) -> None:
    labels = {"key": "k", "label": "l", "seed": 99, "engine": "x", "version": "mine"}
    results = sweep([Case(labels, small, [1, 2])], tmp_path)
    kept, frame = Store(tmp_path).frame().sort("measured.seed"), results.frame()
    for name, value in labels.items():
        assert kept[name].to_list() == [value] * 2
    for name in ("measured.seed", "measured.engine", "measured.key"):
        assert kept[name].to_list() == frame[name].to_list()
    assert kept["measured.version"].to_list() == [__version__] * 2
    assert kept["measured.label"].to_list() == [results.runs[0].run.label] * 2


def test_duckdb_reads_the_store(small: Scenario, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    results = sweep(grid(small, VARY, [1, 2]), tmp_path / "runs/rates")
    page = (ROOT / "docs/how-to/sweeps.md").read_text()
    (sql,) = re.findall(r"```sql\n(.*?)```", page, flags=re.S)
    rows = duckdb.sql(sql.replace("'runs/", f"'{tmp_path}/runs/")).fetchall()
    assert {(label, seeds) for label, seeds, _ in rows} == {
        (each.case.label, 2) for each in results
    }


def test_what_is_there_is_not_made_again(small: Scenario, tmp_path: Path) -> None:
    sweep(grid(small, VARY, [1, 2]), tmp_path)
    before = made(tmp_path)
    # The same scenario written in another way is the same run.
    again = Scenario(json.loads(small.to_json()))
    looks: list[int] = []
    sweep(grid(again, VARY, [1, 2]), tmp_path, progress=lambda state: looks.append(state.done))
    assert made(tmp_path) == before and looks == []
    sweep(grid(small, VARY, [1, 2, 3]), tmp_path)
    after = made(tmp_path)
    assert len(after) == 6 and {key: after[key] for key in before} == before


def test_a_run_has_its_labels_from_the_moment_it_is_there(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        renamed = rename(self, target)
        if self.is_relative_to(tmp_path) and target.is_dir():
            raise SystemExit("killed")
        return renamed

    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(SystemExit, match="killed"):
        sweep([Case({"what": 0.5}, small, [1])], tmp_path)
    (run,) = Store(tmp_path).runs()
    assert (run.label, run.varied) == ("what 0.5", {"what": 0.5})
    assert Store(tmp_path).frame()["what"].to_list() == [0.5]


CHILD = """
import sys
from sojourn import Scenario
from sojourn.sweep import grid, sweep
base = Scenario({text!r})
sweep(grid(base, {{"duration": ["20s"], "bottleneck.qdisc": ["droptail", "codel"]}}, range(1, 41)),
      {store!r}, workers=2)
"""


def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path: Path) -> None:
    store = tmp_path / "runs"
    script = tmp_path / "child.py"
    text = SMALL.replace("[bottleneck]", "[probes]\nqueues = true\n\n[bottleneck]")
    script.write_text(CHILD.format(text=text, store=str(store)))
    whole = run(Scenario(text).with_({"duration": "20s"})).table("queues").height
    known: dict[str, int] = {}
    for wanted in (3, 8, 20):
        child = subprocess.Popen([sys.executable, script], env=os.environ)
        deadline = time.monotonic() + 60
        while len(made(store)) < wanted:
            assert time.monotonic() < deadline and child.poll() is None
            time.sleep(0.003)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        there = made(store)
        assert {key: there[key] for key in known} == known, "a finished run was made again"
        # Whatever has its name is whole, tables included.
        runs = Store(store).runs()
        assert len(runs) == len(there)
        assert all(each.table("queues").height == whole for each in runs)
        known = there
    subprocess.run([sys.executable, script], check=True, timeout=120)
    there = made(store)
    assert len(there) == 80 and {key: there[key] for key in known} == known
    assert not list(store.glob(".*")), "what the killed ones left is tidied up"


@pytest.mark.alone
def test_ctrl_c_keeps_what_is_finished(small_file: Path, tmp_path: Path) -> None:
    words = ["sweep", small_file, "--seeds", "1", "--vary", "duration=1s,2s,100h"]
    runs = tmp_path / "runs"
    out = interrupted(*words, "--set", "warmup=0s", "--store", runs, folder=runs)
    assert "stopped: 2 of 3 runs" in out
    assert len(Store(tmp_path / "runs").runs()) == 2


def test_one_repeat_of_all_cases_comes_before_the_next(small: Scenario, tmp_path: Path) -> None:
    orders: list[int] = []

    def look(state: Progress) -> None:
        orders.append(state.done)
        if state.done >= 2:
            raise KeyboardInterrupt

    cases = grid(small.with_({"duration": "60s"}), VARY, [1, 2, 3])
    with pytest.raises(KeyboardInterrupt) as stopped:
        sweep(cases, tmp_path, workers=1, progress=look)
    results: Results = stopped.value.result  # type: ignore[attr-defined]
    assert results.wanted == 6
    assert sorted(each.seed for each in results)[:2] == [1, 1]


def test_seeds_are_added_until_the_interval_is_small(small: Scenario, tmp_path: Path) -> None:
    cases = [Case({}, small, [1])]
    rule = Rule("queue_mean_packets", 0.02, least=3, most=9, step=2)
    results = sweep(cases, tmp_path, until=rule)
    seeds = [each.seed for each in results]
    assert seeds == list(range(1, len(seeds) + 1)) and len(seeds) in (3, 5, 7, 9)
    assert rule.more([each.measure("queue_mean_packets") for each in results]) == 0
    if len(seeds) > 3:
        fewer = [each.measure("queue_mean_packets") for each in results][: len(seeds) - 2]
        assert rule.more(fewer) == 2
    assert len(sweep(cases, tmp_path, until=Rule("queue_mean_packets", 0.9, least=2))) == 2
    listed = sweep([Case({}, small, [3, 9])], tmp_path, until=Rule("loss", 1e-6, 4, most=4))
    assert [each.seed for each in listed] == [3, 9, 10, 11]
    with pytest.raises(Error, match="no measure"):
        Rule("beauty", 0.1)
    with pytest.raises(Error, match="between 0 and 1"):
        Rule("loss", 5)


def test_the_command_prints_means_and_takes_up_the_store(
    sojourn: Command, small_file: Path
) -> None:
    words = ["sweep", small_file, "--vary", "bottleneck.qdisc=droptail,codel", "--seeds", "1..2"]
    first = sojourn(*words, "--store", "kept")
    assert first.returncode == 0, first.stderr
    assert "codel" in first.stdout and "±" in first.stdout and "4 runs in kept" in first.stdout
    again = sojourn(*words, "--store", "kept", "--json")
    assert len(json.loads(again.stdout)) == 4
    assert "--seeds" in sojourn("sweep", small_file, "--seeds", "many").stderr
    seeded = ["sweep", small_file, "--set", "seed=7", "--json"]
    assert [each["seed"] for each in json.loads(sojourn(*seeded).stdout)] == [7, 8, 9]
    both = sojourn(*seeded, "--seeds", "1..2")
    assert both.returncode == 2 and "--set seed: --seeds 1..2 says which" in both.stderr
    assert "--until" in sojourn("sweep", small_file, "--until", "loss").stderr


def test_what_is_not_known_well_enough_is_named(sojourn: Command, small_file: Path) -> None:
    words = ["sweep", small_file, "--vary", "duration=2s,3s", "--until"]
    done = sojourn(*words, "loss:0.001%:5")
    assert done.returncode == 0 and "10 runs" in done.stdout
    assert "loss: not known to ±0.001 % of the mean with 5 seeds: duration 2s, d" in done.stderr
    done = sojourn(*words, "response_p50_s:5%")
    assert "--until response_p50_s: no run has this measure" in done.stderr
    assert sojourn(*words, "goodput_bps:90%").stderr == ""
    found = sweep(grid(SMALL, {}, 1), until=Rule("loss", 1e-6, least=2, most=2))
    assert found.missed == ["small"]


def test_what_an_engine_lacks_is_refused_before_the_runs(small: Scenario, tmp_path: Path) -> None:
    cases = grid(small, {"bottleneck.qdisc": ["red", "codel", "blue"]}, 1)
    cases = [replace(case, engine="fluid") for case in cases]
    with pytest.raises(ScenarioError, match="blue"):
        sweep(cases, store=tmp_path)
    assert not list(tmp_path.rglob("summary.json"))
    found = sweep(cases[:2], store=tmp_path)
    assert len(found) == 2


def test_a_measure_of_a_link_that_is_not_there_is_refused_before_the_runs(
    sojourn: Command, small_file: Path, tmp_path: Path
) -> None:
    names = "nobody.goodput_bps: there is no link or group 'nobody'; there are bottleneck, reverse"
    for command, *words in (
        ("sweep", "--until", "nobody.goodput_bps:5%", "--store"),
        ("compare", "--vary", "duration=2s,3s", "--measure", "nobody.goodput_bps", "--out"),
        ("tune", "--over", "bottleneck.rate=1mbit..2mbit", "--minimise", "nobody.goodput_bps",
         "--out"),
    ):  # fmt: skip
        done = sojourn(command, small_file, *words, tmp_path / command)
        assert done.returncode == 2 and names in done.stderr, command
        assert not list((tmp_path / command).rglob("summary.json"))


def test_runs_that_end_together_are_kept_when_one_of_them_fails(
    small: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, ended = Job.begin, []

    def failing(job: Job, *rest: Any) -> Callable[[], RunResult]:
        end = begin(job, *rest)

        def first_fails() -> RunResult:
            ended.append(job.key)
            if len(ended) == 1:
                raise Error("no room")
            return end()

        return first_fails

    monkeypatch.setattr(Job, "begin", failing)
    monkeypatch.setattr(execute, "_TOGETHER_S", 60.0)
    with pytest.raises(Error, match="no room"):
        sweep([Case({}, small, range(1, 6))], tmp_path, workers=1)
    assert set(made(tmp_path)) == set(ended[1:]) and len(ended) == 5


def test_a_worker_with_another_build_is_refused(small: Scenario, tmp_path: Path) -> None:
    with pytest.raises(Error, match="another build"):
        run_one(replace(Job.of(small, "x", "packets", {}), key="0" * 16), str(tmp_path))
    with pytest.raises(Error, match="needs a store"):
        sweep([Case({}, small, [1])], None, cluster="tcp://127.0.0.1:1")


def test_a_cluster_gives_the_same_and_survives_a_killed_worker(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    base = Scenario(SMALL).with_({"duration": "40s"})
    cases = grid(base, {"bottleneck.qdisc": ["droptail", "codel"]}, range(1, 8))
    killed: list[int] = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:

        def look(state: Progress) -> None:
            if state.done >= 3 and not killed:
                worker = next(iter(cluster.workers.values()))
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        results = sweep(cases, tmp_path, cluster=cluster.scheduler_address, progress=look)
    assert killed and len(results) == 14
    assert texts(results) == texts(sweep(cases, None))
    assert len(Store(tmp_path).frame()) == 14
