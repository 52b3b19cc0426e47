"""The same scenario and seed give the same bytes, whoever makes the run, where, and beside what."""

from __future__ import annotations

import json
import locale
import multiprocessing
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import COMMAND, untimed
from sojourn import Scenario, compare, run
from sojourn.sweep import Case, grid, sweep

# Every kind of traffic and table, random losses, and a load, whose users calibration counts.
SCENARIO = """
name = "all sorts"
duration = "6s"
warmup = "1s"
load = 0.5

[bottleneck]
rate = "10mbit"
delay = "5ms"
qdisc = { kind = "red", min_th = 10, max_th = 30 }
reverse = { rate = "5mbit", loss = 0.001 }

[probes]
queues = true
flows = true
exchanges = true
packet_counts = "10ms"
traces = ["long.0"]

[[traffic]]
kind = "bulk"
name = "long"
flows = 3
rtt = "20ms..60ms"

[[traffic]]
kind = "web"
rtt = "10ms..100ms"

[[traffic]]
kind = "ping"
interval = "20ms"
"""
VARY = {"bottleneck.qdisc": ["droptail", {"kind": "pi", "qref": 10}, "fq_codel"]}
SEEDS = [1, 2]

Bytes = dict[str, bytes | str]


def contents(store: Path) -> Bytes:
    """All files of all runs but for what the clock on the wall says."""
    found: Bytes = {}
    for file in sorted(store.glob("[!.]*/*")):
        name = str(file.relative_to(store))
        if file.suffix == ".json":
            found[name] = untimed(json.loads(file.read_text()))
        elif file.name != "SHA256SUMS":
            found[name] = file.read_bytes()
    return found


@pytest.fixture(scope="module")
def expected(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Bytes:
    store = tmp_path_factory.mktemp("expected")
    sweep(cases(), store, workers=1)
    found = contents(store)
    tables = ("queues", "flows", "exchanges", "pages", "transfers", "packet_counts", "traces")
    assert len(found) == 6 * (3 + len(tables))
    assert {Path(name).stem for name in found} >= set(tables)
    # Runs differ from each other: a comparison of nothing would pass.
    queues = [content for name, content in found.items() if name.endswith("queues.parquet")]
    assert len(set(queues)) == 6
    return found


def cases() -> list[Case]:
    return grid(Scenario(SCENARIO), VARY, SEEDS)


@pytest.mark.parametrize("workers", [2, 8])
def test_the_number_of_workers_changes_nothing(
    expected: Bytes, tmp_path: Path, workers: int
) -> None:
    sweep(cases(), tmp_path, workers=workers)
    assert contents(tmp_path) == expected


def test_order_and_company_change_nothing(expected: Bytes, tmp_path: Path) -> None:
    for case in reversed(cases()):
        sweep([case], tmp_path, workers=1)
    assert contents(tmp_path) == expected


def alone(number: int) -> str:
    """One of the runs by itself, as text; also in another process."""
    case = cases()[number // len(SEEDS)]
    made = run(case.scenario, seed=SEEDS[number % len(SEEDS)])
    tables = [made.table(name).write_json() for name in ("queues", "flows", "exchanges")]
    return "\n".join([untimed(made.summary), *tables])


def test_threads_and_processes_change_nothing() -> None:
    numbers = range(len(VARY["bottleneck.qdisc"]) * len(SEEDS))
    here = [alone(number) for number in numbers]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(alone, numbers)) == here
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as processes:
        assert list(processes.map(alone, numbers)) == here


def test_a_cluster_changes_nothing(expected: Bytes, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None
    ) as cluster:
        sweep(cases(), tmp_path, cluster=cluster.scheduler_address)
    assert contents(tmp_path) == expected


def with_comma() -> str:
    """A locale that writes 1,5 for 1.5, if the machine has one."""
    known = locale.setlocale(locale.LC_NUMERIC)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "pt_BR.UTF-8"):
            try:
                locale.setlocale(locale.LC_NUMERIC, name)
                return name
            except locale.Error:
                continue
    finally:
        locale.setlocale(locale.LC_NUMERIC, known)
    return "de_DE.UTF-8"


ENVIRONMENTS: dict[str, Callable[[], dict[str, str]]] = {
    "hashes, UTC, C": lambda: {"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C"},
    "other hashes, half an hour off, commas": lambda: {
        "PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu", "LC_ALL": with_comma(),
    },
    "Turkish, west": lambda: {
        "PYTHONHASHSEED": "1", "TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "COLUMNS": "40",
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_environment_changes_nothing(expected: Bytes, tmp_path: Path, name: str) -> None:
    # A folder of its own, and a cache: users are counted anew.
    elsewhere = tmp_path / "ein Ordner, ünlü" / "deeper"
    elsewhere.mkdir(parents=True)
    file = tmp_path / "all sorts.toml"
    file.write_text(SCENARIO)
    own = ENVIRONMENTS[name]() | {"SOJOURN_CACHE": str(tmp_path / "cache")}
    vary = 'bottleneck.qdisc=droptail,{kind="pi",qref=10},fq_codel'
    words = [COMMAND, "sweep", Path("../..") / file.name, "--vary", vary, "--seeds", "1,2"]
    done = subprocess.run(
        [*words, "--store", "kept"],
        cwd=elsewhere,
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert contents(elsewhere / "kept") == expected


def test_compare_makes_the_runs_that_sweep_makes(expected: Bytes, tmp_path: Path) -> None:
    compare(Scenario(SCENARIO), VARY, 2, out=tmp_path)
    found = contents(tmp_path)
    # Other labels aside, and but for what belongs to the uncongested link.
    for name, content in expected.items():
        assert found[name] == content or name.endswith("run.json"), name
