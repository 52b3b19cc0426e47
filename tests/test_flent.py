"""Runs as files for Flent: the form of the file, and that its numbers are the run's."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from documents import ROOT
from sojourn import Scenario, run
from sojourn.results import flent

WAYS = ("download", "upload")

SCENARIO = """
name = "both ways"
duration = "4s"
[tcp]
profile = "modern"
[bottleneck]
rate = "10mbit"
delay = "10ms"
qdisc = { kind = "droptail", limit = 50 }
reverse = { rate = "5mbit" }
[probes]
queues = true
exchanges = true
interval = "50ms"
traces = ["bulk1.0", "bulk1.reverse.0"]
[[traffic]]
kind = "bulk"
direction = "both"
[[traffic]]
kind = "ping"
name = "ping"
flows = 2
interval = "20ms"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("flent") / "run"
    run(Scenario(SCENARIO), out)
    return out


def test_the_command_writes_what_flent_reads(folder: Path, sojourn, tmp_path: Path) -> None:
    file = tmp_path / "it.flent.gz"
    done = sojourn("export", folder, file)
    assert done.returncode == 0, done.stderr
    known = json.loads(gzip.decompress(file.read_bytes()))
    assert known["version"] == 4
    assert known["metadata"]["NAME"] == "rrul_be"
    assert known["metadata"]["TITLE"] == "both ways"
    assert known["metadata"]["TIME"].endswith("Z")
    # Flent wants a number, or null, at each point of each series.
    for name, values in known["results"].items():
        assert len(values) == len(known["x_values"]) == 20, name


def test_the_series_are_the_run_s(folder: Path) -> None:
    from sojourn.results import open_run

    result = open_run(folder)
    known = flent.document(result, 0.5)
    series = known["results"]
    for link in result.summary["links"]:
        throughput = series[f"Link {link['name']} throughput"]
        mean = sum(throughput) / len(throughput)
        assert mean == pytest.approx(link["throughput_bps"] / 1e6, rel=0.02)
    goodput = {group["name"]: group["goodput_bps"] / 1e6 for group in result.summary["groups"]}
    for group, way in (("bulk1", "TCP download"), ("bulk1.reverse", "TCP upload")):
        mean = sum(series[f"{way} BE"]) / len(series[f"{way} BE"])
        # What arrived at the end is not acknowledged yet: about a queue's length.
        assert mean == pytest.approx(goodput[group], rel=0.05)
        assert series[f"{way} avg"] == series[f"{way} sum"] == series[f"{way} BE"]
    transfers = result.transfers
    assert transfers is not None
    for member in range(2):
        raw = known["raw_values"][f"Ping (ms) UDP BE{member + 1}"]
        rows = transfers.filter((transfers["group"] == "ping") & (transfers["index"] == member))
        assert len(raw) == rows.height > 100
        assert sum(one["val"] for one in raw) == pytest.approx(1e3 * rows["duration_s"].sum())
        # Both propagation delays, and the time that the links take for packets of their size.
        assert min(one["val"] for one in raw) >= 20
        # Not all of them found the queues empty.
        assert max(one["val"] for one in raw) > 40
    pings = [series[f"Ping (ms) UDP BE{member + 1}"][3] for member in range(2)]
    assert series["Ping (ms) avg"][3] == pytest.approx(sum(pings) / 2)


def test_the_plot_all_scaled_of_rrul_has_all_its_series() -> None:
    scenario = Scenario(ROOT / "scenarios" / "rrul.toml").with_({"duration": "20s"})
    known = flent.document(run(scenario))
    # What its panels draw, in Flent's names: averages, and a line for each flow and each ping.
    flows = [f"TCP {way} {name}" for way in WAYS for name in ("BE", "BE2", "BE3", "BE4", "avg")]
    pings = [f"Ping (ms) {name}" for name in ("UDP BE1", "UDP BE2", "UDP BE3", "ICMP", "avg")]
    for name in flows + pings:
        values = [value for value in known["results"][name][30:] if value is not None]
        assert len(values) > 40 and max(values) > 0, name
    for way in WAYS:
        single = [known["results"][name] for name in flows if way in name and "avg" not in name]
        means = [sum(column) / 4 for column in zip(*single, strict=True)]
        assert known["results"][f"TCP {way} avg"] == pytest.approx(means)


def test_export_of_unsuitable_run_is_one_line_error(folder: Path, sojourn, tmp_path: Path) -> None:
    done = sojourn("export", folder, tmp_path / "it.json")
    assert done.returncode != 0
    assert "Flent opens files that end with .flent.gz" in done.stderr
    done = sojourn("export", folder, tmp_path / "it.flent.gz", "--step", 5)
    assert done.returncode != 0
    assert "--step 5: must be from 0.001 s to half of the run, 2 s" in done.stderr
    bare = tmp_path / "bare"
    run(Scenario(SCENARIO.replace("queues = true", "")), bare)
    done = sojourn("export", bare, tmp_path / "it.flent.gz")
    assert done.returncode != 0
    assert "probes.queues = true" in done.stderr


def test_run_in_memory_gets_present_time() -> None:
    known = flent.document(run(Scenario(SCENARIO)), 0.5)
    began = datetime.fromisoformat(known["metadata"]["TIME"])
    assert abs(datetime.now(UTC) - began) < timedelta(minutes=5)
