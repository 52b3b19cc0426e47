"""The series of a file for Flent, on records written by hand: each number where it belongs."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sojourn import Error
from sojourn.results import flent
from sojourn.results.run import RunResult

QUEUES = [
    # Seconds, link, packets waiting, bytes sent since the row before.
    (0.25, "bottleneck", 2, 1000),
    (0.5, "bottleneck", 4, 3000),
    (0.75, "bottleneck", 9, 5000),
    (1.5, "bottleneck", 1, 7000),
    (2.0, "bottleneck", 7, 9000),
    (0.5, "reverse", 0, 500),
    (2.0, "reverse", 3, 250),
    (1.0, "side", 5, 8000),
]
TRANSFERS = [
    # Group, member, when the answer came, how long it took.
    ("probe", 1, 0.7, 0.030),
    ("probe", 0, 0.4, 0.020),
    ("probe", 0, 0.1, 0.010),
    ("probe", 1, 1.9, 0.050),
    ("lone", 0, 1.2, 0.005),
    ("probe", 0, 2.5, 0.777),
    ("probe", 0, None, None),
    ("bulk1", 0, 0.3, 9.0),
]


class Made(RunResult):
    """A run of two seconds with these records."""

    def __init__(self, folder: Path | None = None, probers: bool = True) -> None:
        groups = [{"name": "bulk1", "kind": "bulk", "members": 1}]
        if probers:
            groups.append({"name": "probe", "kind": "ping", "members": 2})
            groups.append({"name": "lone", "kind": "ping", "members": 1})
        summary = {"simulated_s": 2.4, "wall_s": 0.4, "engine": "packets", "seed": 7}
        super().__init__(summary | {"groups": groups}, "", label="by hand", folder=folder)
        self.without: set[str] = set()

    def has(self, name: str) -> bool:
        return name not in self.without

    def table(self, name: str) -> pl.DataFrame:
        if name == "queues":
            columns = ["time_s", "link", "packets", "dequeued_bytes"]
            return pl.DataFrame(QUEUES, columns, orient="row")
        columns = ["group", "index", "finished_s", "duration_s"]
        return pl.DataFrame(TRANSFERS, columns, orient="row")


def test_throughput_is_what_left_in_each_step() -> None:
    results = flent.document(Made(), 0.5)["results"]
    # What is sampled at the end of a step was sent in it.
    down = [(1000 + 3000) * 8e-6 / 0.5, 5000 * 8e-6 / 0.5, 7000 * 8e-6 / 0.5, 9000 * 8e-6 / 0.5]
    up = [500 * 8e-6 / 0.5, 0, 0, 250 * 8e-6 / 0.5]
    assert results["TCP download sum"] == pytest.approx(down)
    assert results["Link bottleneck throughput"] == results["TCP download sum"]
    assert results["TCP upload sum"] == pytest.approx(up)
    side = [0.0, 8000 * 8e-6 / 0.5, 0.0, 0.0]
    assert results["Link side throughput"] == pytest.approx(side)
    # Of the two directions alone.
    totals = [a + b for a, b in zip(down, up, strict=True)]
    assert results["TCP totals"] == pytest.approx(totals)


def test_queues_are_means_over_each_step() -> None:
    results = flent.document(Made(), 0.5)["results"]
    assert results["Link bottleneck queue"] == [2.0, 6.5, None, 1.0]
    assert results["Link reverse queue"] == [None, 0.0, None, None]
    assert results["Link side queue"] == [None, None, 5.0, None]


def test_pings_are_milliseconds_at_their_answers() -> None:
    found = flent.document(Made(), 0.5)
    results, raw = found["results"], found["raw_values"]
    assert results["Ping (ms) probe.0"] == pytest.approx([15.0, None, None, None])
    assert results["Ping (ms) probe.1"] == [None, pytest.approx(30.0), None, pytest.approx(50.0)]
    assert results["Ping (ms) lone"] == [None, None, pytest.approx(5.0), None]
    assert results["Ping (ms) avg"] == pytest.approx([15.0, 30.0, 5.0, 50.0])
    assert sorted(raw) == ["Ping (ms) lone", "Ping (ms) probe.0", "Ping (ms) probe.1"]
    assert [one["val"] for one in raw["Ping (ms) probe.0"]] == pytest.approx([10, 20, 777])
    begun = raw["Ping (ms) lone"][0]["t"] - 1.2
    assert [one["t"] - begun for one in raw["Ping (ms) probe.0"]] == pytest.approx([0.1, 0.4, 2.5])


def test_the_average_of_pings_is_over_those_that_were_answered() -> None:
    found = flent.document(Made(), 1.0)["results"]
    means = [(15.0 + 30.0) / 2, (50.0 + 5.0) / 2]
    assert found["Ping (ms) avg"] == pytest.approx(means)


@pytest.mark.parametrize("probers", [True, False])
def test_without_pings_there_are_links_alone(probers: bool) -> None:
    result = Made(probers=probers)
    if probers:
        result.without = {"transfers"}
    found = flent.document(result, 0.5)
    assert not [name for name in found["results"] if name.startswith("Ping")]
    assert found["raw_values"] == {}


def test_the_head_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "summary.json").touch()
    ended = 1_000_000_000.5
    os.utime(tmp_path / "summary.json", (ended, ended))
    found = flent.document(Made(tmp_path), 0.5, "it.flent.gz")
    head: dict[str, Any] = found["metadata"]
    # It ended when its summary was written, and took 0.4 s.
    began = datetime.fromtimestamp(ended - 0.4, UTC)
    assert abs(datetime.fromisoformat(head["TIME"]) - began) < timedelta(milliseconds=1)
    assert head["T0"] == head["TIME"] and head["TIME"].endswith("Z")
    assert found["raw_values"]["Ping (ms) lone"][0]["t"] == pytest.approx(ended - 0.4 + 1.2)
    assert (head["LENGTH"], head["TOTAL_LENGTH"], head["STEP_SIZE"]) == (2, 2, 0.5)
    assert head["TITLE"] == "by hand" and head["DATA_FILENAME"] == "it.flent.gz"
    assert head["NOTE"] == "sojourn, engine packets, seed 7"
    assert (found["version"], head["NAME"], head["IP_VERSION"]) == (4, "rrul", 4)
    assert (head["HOST"], head["LOCAL_HOST"], head["HOSTS"]) == ("right", "left", ["right"])
    units = {name: each["UNITS"] for name, each in head["SERIES_META"].items()}
    assert set(units) == set(found["results"])
    for name, unit in units.items():
        ping, queue = name.startswith("Ping"), name.endswith("queue")
        assert unit == ("ms" if ping else "packets" if queue else "Mbits/s"), name


def test_points_are_at_the_ends_of_steps() -> None:
    # What is left of 2.4 s after whole steps has no point.
    assert flent.document(Made(), 0.5)["x_values"] == [0.5, 1.0, 1.5, 2.0]
    found = flent.document(Made(), 0.7)
    assert found["x_values"] == [0.7, 1.4, 2.1]
    assert all(len(values) == 3 for values in found["results"].values())
    # What came after the last step counts into it: it was sent all the same.
    sent = sum(found["results"]["TCP download sum"]) * 0.7 / 8e-6
    assert sent == pytest.approx(25000)


@pytest.mark.parametrize("step", [0.001, 1.2])
def test_steps_may_be_as_long_as_half_the_run(step: float) -> None:
    assert len(flent.document(Made(), step)["x_values"]) == int(2.4 / step)


@pytest.mark.parametrize("step", [0.0009, 1.2001, 0.0, -1.0, float("nan")])
def test_other_steps_are_refused(step: float) -> None:
    with pytest.raises(Error, match=r"--step \S+: must be from 0.001 s to half of the run, 1.2 s"):
        flent.document(Made(), step)


def test_a_run_in_memory_ended_now() -> None:
    before = time.time()
    found = flent.document(Made(), 0.5)["raw_values"]["Ping (ms) lone"][0]["t"] - 1.2 + 0.4
    assert before - 0.001 <= found <= time.time() + 0.001


def test_a_file_has_the_name_that_flent_wants(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"that end with \.flent\.gz"):
        flent.write(Made(), tmp_path / "it.json")
    (tmp_path / "dir.flent.gz").mkdir()
    with pytest.raises(Error, match=r"cannot write to .*dir\.flent\.gz: Is a directory"):
        flent.write(Made(), tmp_path / "dir.flent.gz", 0.5)
