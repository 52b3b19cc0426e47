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
TRACES = [
    # Seconds, flow, bytes acknowledged since the flow's transfer began.
    (0.2, "bulk1.0", 1000),
    (0.2, "bulk1.1", 500),
    (0.5, "bulk1.0", 4000),
    (0.6, "bulk1.0", 6000),
    (0.8, "bulk1.reverse.0", 700),
    # No more than before.
    (1.2, "bulk1.1", 500),
    # Another transfer: it has 300 bytes of its own.
    (1.4, "bulk1.0", 300),
    (1.9, "bulk1.1", 2500),
    (1.9, "bulk1.0", 900),
    (1.9, "bulk1.reverse.1", 40),
]
SCENARIO = """
[[traffic]]
kind = "bulk"
direction = "both"
[[traffic]]
kind = "bulk"
name = "back"
direction = "reverse"
"""


class Made(RunResult):
    """A run of two seconds with these records."""

    def __init__(self, folder: Path | None = None, probers: bool = True) -> None:
        groups = [
            {"name": "bulk1", "kind": "bulk", "members": 2},
            {"name": "bulk1.reverse", "kind": "bulk", "members": 2},
            {"name": "back", "kind": "bulk", "members": 0},
        ]
        scenario = SCENARIO
        if probers:
            groups.append({"name": "probe", "kind": "ping", "members": 2})
            groups.append({"name": "lone", "kind": "ping", "members": 1})
            scenario += '[[traffic]]\nkind = "ping"\n' * 2
        summary = {"simulated_s": 2.4, "wall_s": 0.4, "engine": "packets", "seed": 7}
        super().__init__(summary | {"groups": groups}, scenario, label="by hand", folder=folder)
        self.without = {"traces"}
        self.acknowledged: list[tuple[float, str, int | None]] = list(TRACES)

    def has(self, name: str) -> bool:
        return name not in self.without

    def table(self, name: str) -> pl.DataFrame:
        if name == "queues":
            columns = ["time_s", "link", "packets", "dequeued_bytes"]
            return pl.DataFrame(QUEUES, columns, orient="row")
        if name == "traces":
            columns = ["time_s", "flow", "acked_bytes"]
            return pl.DataFrame(self.acknowledged, columns, orient="row")
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


MBPS = 8e-6 / 0.5


def test_goodput_of_a_flow_is_what_was_acknowledged_in_each_step() -> None:
    result = Made()
    result.without = set()
    results = flent.document(result, 0.5)["results"]
    first = [4000 * MBPS, 2000 * MBPS, 300 * MBPS, 600 * MBPS]
    second = [500 * MBPS, 0, 0, 2000 * MBPS]
    assert results["TCP download BE"] == pytest.approx(first)
    assert results["TCP download BE2"] == pytest.approx(second)
    assert results["TCP upload BE"] == pytest.approx([0, 700 * MBPS, 0, 0])
    assert results["TCP upload BE2"] == pytest.approx([0, 0, 0, 40 * MBPS])
    # All are traced: averages and sums are over flows.
    sums = [a + b for a, b in zip(first, second, strict=True)]
    assert results["TCP download sum"] == pytest.approx(sums)
    assert results["TCP download avg"] == pytest.approx([each / 2 for each in sums])
    assert results["TCP upload avg"] == pytest.approx([0, 350 * MBPS, 0, 20 * MBPS])
    assert sum(results["TCP totals"]) == pytest.approx(sum(sums) + 740 * MBPS)
    assert results["Link bottleneck throughput"] != results["TCP download sum"]


def test_with_some_flows_traced_there_are_no_averages() -> None:
    links = flent.document(Made(), 0.5)["results"]
    assert "TCP download avg" not in links
    result = Made()
    result.without = set()
    # One of four is not, and it is the last.
    result.acknowledged = [row for row in TRACES if row[1] != "bulk1.reverse.1"]
    results = flent.document(result, 0.5)["results"]
    assert sorted(set(results) - set(links)) == [
        "TCP download BE",
        "TCP download BE2",
        "TCP upload BE",
    ]
    assert results["TCP download sum"] == results["Link bottleneck throughput"]
    assert results["TCP totals"] == links["TCP totals"]


@pytest.mark.parametrize("column", ["acked_bytes", "older"])
def test_traces_of_the_fluid_engine_and_of_older_runs_have_no_goodput(column: str) -> None:
    class Without(Made):
        def table(self, name: str) -> pl.DataFrame:
            found = super().table(name)
            return found.rename({"acked_bytes": column}) if name == "traces" else found

    result = Without()
    result.without = set()
    result.acknowledged = [(at, flow, None) for at, flow, _ in TRACES]
    assert set(flent.document(result, 0.5)["results"]) == set(flent.document(Made())["results"])


def test_pings_beyond_four_keep_their_names() -> None:
    class More(Made):
        def table(self, name: str) -> pl.DataFrame:
            found = super().table(name)
            if name != "transfers":
                return found
            rows = [("more", 0, 0.3, 9.0), ("pair", 0, 0.4, 0.5), ("pair", 1, 0.5, 0.6)]
            return found.vstack(pl.DataFrame(rows, found.columns, orient="row"))

    result = More()
    result.scenario_toml += '[[traffic]]\nkind = "ping"\n' * 3
    result.summary["groups"] += [
        {"name": "silent", "kind": "ping", "members": 1},
        {"name": "more", "kind": "ping", "members": 1},
        {"name": "pair", "kind": "ping", "members": 2},
    ]
    raw = flent.document(result, 0.5)["raw_values"]
    assert sorted(raw) == [
        *(f"Ping (ms) UDP BE{number}" for number in (1, 2, 3)),
        *(f"Ping (ms) {name}" for name in ("more", "pair.0", "pair.1")),
    ]


def test_queues_are_means_over_each_step() -> None:
    results = flent.document(Made(), 0.5)["results"]
    assert results["Link bottleneck queue"] == [2.0, 6.5, None, 1.0]
    assert results["Link reverse queue"] == [None, 0.0, None, None]
    assert results["Link side queue"] == [None, None, 5.0, None]


def test_pings_are_milliseconds_at_their_answers() -> None:
    found = flent.document(Made(), 0.5)
    results, raw = found["results"], found["raw_values"]
    assert results["Ping (ms) UDP BE1"] == pytest.approx([15.0, None, None, None])
    assert results["Ping (ms) UDP BE2"] == [None, pytest.approx(30.0), None, pytest.approx(50.0)]
    assert results["Ping (ms) UDP BE3"] == [None, None, pytest.approx(5.0), None]
    assert results["Ping (ms) avg"] == pytest.approx([15.0, 30.0, 5.0, 50.0])
    assert sorted(raw) == [f"Ping (ms) UDP BE{number}" for number in (1, 2, 3)]
    assert [one["val"] for one in raw["Ping (ms) UDP BE1"]] == pytest.approx([10, 20, 777])
    begun = raw["Ping (ms) UDP BE3"][0]["t"] - 1.2
    assert [one["t"] - begun for one in raw["Ping (ms) UDP BE1"]] == pytest.approx([0.1, 0.4, 2.5])


def test_the_average_of_pings_is_over_those_that_were_answered() -> None:
    found = flent.document(Made(), 1.0)["results"]
    means = [(15.0 + 30.0) / 2, (50.0 + 5.0) / 2]
    assert found["Ping (ms) avg"] == pytest.approx(means)


@pytest.mark.parametrize("probers", [True, False])
def test_without_pings_there_are_links_alone(probers: bool) -> None:
    result = Made(probers=probers)
    if probers:
        result.without = {"traces", "transfers"}
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
    assert found["raw_values"]["Ping (ms) UDP BE3"][0]["t"] == pytest.approx(ended - 0.4 + 1.2)
    assert (head["LENGTH"], head["TOTAL_LENGTH"], head["STEP_SIZE"]) == (2, 2, 0.5)
    assert head["TITLE"] == "by hand" and head["DATA_FILENAME"] == "it.flent.gz"
    assert head["NOTE"] == "sojourn, engine packets, seed 7"
    assert (found["version"], head["NAME"], head["IP_VERSION"]) == (4, "rrul_be", 4)
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


def test_what_comes_after_the_last_step_is_in_none() -> None:
    result = Made()
    result.without = set()
    found = flent.document(result, 0.5)["results"]
    result.acknowledged = [*TRACES, (2.3, "bulk1.0", 90000)]
    assert flent.document(result, 0.5)["results"] == found


def test_steps_that_fill_the_run_are_all_there() -> None:
    result = Made()
    # A quotient of 27.999999999999996.
    result.summary["simulated_s"] = 2.8
    assert flent.document(result, 0.1)["x_values"][-1] == 2.8


@pytest.mark.parametrize("step", [0.001, 1.2])
def test_steps_may_be_as_long_as_half_the_run(step: float) -> None:
    assert len(flent.document(Made(), step)["x_values"]) == int(2.4 / step)


@pytest.mark.parametrize("step", [0.0009, 1.2001, 0.0, -1.0, float("nan")])
def test_other_steps_are_refused(step: float) -> None:
    with pytest.raises(Error, match=r"--step \S+: must be from 0.001 s to half of the run, 1.2 s"):
        flent.document(Made(), step)


def test_instants_are_in_whole_microseconds() -> None:
    assert flent.document(Made(), 1 / 3)["x_values"][:2] == [0.333333, 0.666667]


def test_a_run_in_memory_ended_now() -> None:
    before = time.time()
    found = flent.document(Made(), 0.5)["raw_values"]["Ping (ms) UDP BE3"][0]["t"] - 1.2 + 0.4
    assert before - 0.001 <= found <= time.time() + 0.001


def test_a_file_has_the_name_that_flent_wants(tmp_path: Path) -> None:
    with pytest.raises(Error, match=r"that end with \.flent\.gz"):
        flent.write(Made(), tmp_path / "it.json")
    (tmp_path / "dir.flent.gz").mkdir()
    with pytest.raises(Error, match=r"cannot write to .*dir\.flent\.gz: Is a directory"):
        flent.write(Made(), tmp_path / "dir.flent.gz", 0.5)


@pytest.mark.parametrize(
    ("written", "downloads", "uploads"),
    [
        ("", ["bulk1"], []),
        ('direction = "reverse"', [], ["bulk1"]),
        ('direction = "both"', ["bulk1"], ["bulk1.reverse"]),
        ('from = "right"\nto = "left"', [], ["bulk1"]),
        ('from = "right"\nto = "left"\ndirection = "reverse"', ["bulk1"], []),
        ('to = "left"\nfrom = "right"\ndirection = "both"', ["bulk1.reverse"], ["bulk1"]),
        # Of links with a count.
        ('direction = "both"', ["bulk1.0", "bulk1.1"], ["bulk1.0.reverse", "bulk1.1.reverse"]),
        ('name = "a.reverse"', ["a.reverse.0", "a.reverse.1"], []),
    ],
)
def test_a_group_s_direction_is_that_of_its_data(
    written: str, downloads: list[str], uploads: list[str]
) -> None:
    result = Made(probers=False)
    result.scenario_toml = f'[[traffic]]\nkind = "replay"\n[[traffic]]\nkind = "bulk"\n{written}'
    result.without = set()
    # One entry of the file may be several groups, also of a replay.
    names = ["replay1", "replay1.a-b", *downloads, *uploads]
    kinds = {name: name.partition("1")[0] for name in names} | dict.fromkeys(
        [*downloads, *uploads], "bulk"
    )
    result.summary["groups"] = [
        {"name": name, "kind": kind, "members": 1} for name, kind in kinds.items()
    ]
    result.acknowledged = [(0.2, f"{name}.0", 1000) for name in [*downloads, *uploads]]
    results = flent.document(result, 0.5)["results"]
    for way, groups in (("download", downloads), ("upload", uploads)):
        flows = [f"TCP {way} BE{n if n > 1 else ''}" for n in range(1, 1 + len(groups))]
        averages = [f"TCP {way} avg"] if groups else []
        found = [name for name in results if name.startswith(f"TCP {way}") and "sum" not in name]
        assert sorted(found) == sorted(flows + averages)
