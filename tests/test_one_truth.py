"""A comparison says the same on a terminal, as JSON, on the page, in Python and in Parquet."""

from __future__ import annotations

import csv
import html
import json
import re
import urllib.parse
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import Command
from sojourn import Scenario, compare, report, run
from sojourn.measures import definitions, measure, measures
from sojourn.measures.shown import pooled_words
from sojourn.results import open_runs
from sojourn.sweep import Comparison, open_comparison

CABLE = """
name = "cable"
duration = "20s"
warmup = "5s"

[tcp]
profile = "modern"

[bottleneck]
rate = "20mbit"
delay = "10ms"
qdisc = { kind = "droptail", limit = 600 }

[bottleneck.reverse]
rate = "2mbit"

[probes]
exchanges = true

[[traffic]]
kind = "bulk"
name = "download"
flows = 4
rtt = "30ms"

[[traffic]]
kind = "bulk"
name = "upload"
direction = "reverse"
flows = 2
rtt = "30ms"

[[traffic]]
kind = "ping"
name = "probe"
interval = "50ms"
rtt = "20ms"

[[traffic]]
kind = "web"
name = "users"
users = 20
rtt = "20ms..60ms"
"""

VARY = {"bottleneck.qdisc": ["droptail", "fq_codel"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cable")
    (folder / "cable.toml").write_text(CABLE)
    compare(Scenario(CABLE), VARY, repeat=3, out=folder / "runs")
    return folder


@pytest.fixture(scope="module")
def comparison(folder: Path) -> Comparison:
    return open_comparison(folder / "runs")


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return report.write(open_runs(folder / "runs"), folder / "page.html").read_text()


def mean_over_seeds(comparison: Comparison, label: str, part: str, name: str, *path: str) -> float:
    """A number of the summaries themselves."""
    found = []
    for each in comparison.runs:
        if each.label == label:
            value: Any = next(x for x in each.summary[part] if x["name"] == name)
            for step in path:
                value = value[step]
            found.append(float(value))
    return sum(found) / len(found)


WANTED = {
    "sojourn_mean_s": ("links", "bottleneck", "sojourn_s", "mean"),
    "sojourn_p99_s": ("links", "bottleneck", "sojourn_s", "p99"),
    "loss": ("links", "bottleneck", "loss"),
    "reverse.sojourn_mean_s": ("links", "reverse", "sojourn_s", "mean"),
    "reverse.loss": ("links", "reverse", "loss"),
    "reverse.utilisation": ("links", "reverse", "utilisation"),
    "response_p50_s": ("groups", "users", "response_time_s", "p50"),
    "users.response_p50_s": ("groups", "users", "response_time_s", "p50"),
    "finished": ("groups", "users", "finished"),
    "ping_p50_s": ("groups", "probe", "response_time_s", "p50"),
    "pings": ("groups", "probe", "finished"),
    "upload.goodput_bps": ("groups", "upload", "goodput_bps"),
}


def test_python_json_and_parquet_have_the_numbers_of_the_summaries(
    comparison: Comparison, folder: Path, sojourn: Command, tmp_path: Path
) -> None:
    comparison.table().write_parquet(tmp_path / "table.parquet")
    parquet = pl.read_parquet(tmp_path / "table.parquet").to_dicts()
    told = json.loads(asked(sojourn, folder, "--json"))
    for place, label in enumerate(("droptail", "fq_codel")):
        row = comparison.rows()[place]
        for name, path in WANTED.items():
            expected = pytest.approx(mean_over_seeds(comparison, label, *path))
            assert row[name] == expected, name
            assert parquet[place][name] == expected, name
            assert told["table"][place][name] == expected, name


def test_terminal_and_page_show_them(
    comparison: Comparison, folder: Path, page: str, sojourn: Command
) -> None:
    text = asked(sojourn, folder)
    shown = tables(text)
    listed = listed_on(page)
    for place, label in enumerate(("droptail", "fq_codel")):
        row = comparison.rows()[place]
        for name in ("sojourn_mean_s", "loss", "response_p50_s", "ping_p50_s", "finished"):
            definition = measure(name).definition
            assert f"{row[name] * definition.scale:.{definition.digits}f}" in shown[label], name
            assert row[name] * definition.scale == pytest.approx(listed[place][name]), name
        for name in ("reverse.sojourn_mean_s", "reverse.loss"):
            definition = measure(name).definition
            assert f"{row[name] * definition.scale:.{definition.digits}f}" in shown[label], name
            assert row[name] * definition.scale == pytest.approx(listed[place][name]), name


def test_the_verdict_is_the_same_everywhere(
    comparison: Comparison, folder: Path, page: str, sojourn: Command
) -> None:
    verdict = comparison.verdict()
    assert verdict is not None
    assert len(verdict.sentences) >= 2
    text = asked(sojourn, folder)
    told = json.loads(asked(sojourn, folder, "--json"))["verdict"]
    assert told["sentences"] == verdict.sentences
    on_page = html.unescape(page).replace("\u00a0", " ")
    for each in verdict.sentences:
        assert each in text
        assert f"<li>{each}</li>" in on_page
    # What it rests on is what the seeds differ by.
    (delay,) = [d for d in told["differences"] if d["measure"] == "sojourn_mean_s"]
    before, after = (row["sojourn_mean_s"] for row in comparison.rows())
    assert (delay["reference"], delay["value"]) == pytest.approx((before, after))
    assert delay["mean"] == pytest.approx(after - before)
    assert delay["mean"] == pytest.approx(comparison.differences("sojourn_mean_s")[0]["mean"])


def test_a_median_is_that_of_the_exchanges_in_parquet(folder: Path) -> None:
    for each in open_runs(folder / "runs"):
        start, end = each.summary["window_s"]
        times = each.table("exchanges").filter(
            (pl.col("group") == "users")
            & (pl.col("started_s") >= start)
            & (pl.col("finished_s") <= end)
        )
        taken = times["response_time_s"].to_list()
        value = measure("response_p50_s").of(each.summary)
        # Cells of the histogram are 0.8 % wide, and the median lies between two exchanges.
        near = sorted(taken)[(len(taken) - 1) // 2 - 1 : len(taken) // 2 + 2]
        assert value is not None
        assert near[0] * 0.99 <= value <= near[-1] * 1.01


def test_every_link_and_group_has_its_measures_by_name(folder: Path) -> None:
    summary = open_runs(folder / "runs")[0].summary
    found = measures(summary)
    for part, listed in (("links", definitions.LINK), ("groups", definitions.GROUP)):
        for entry in summary[part]:
            for each in listed:
                name = f"{entry['name']}.{each.name}"
                assert found[name] == each.of(entry) == measure(name).of(summary)


def test_the_baseline_is_chosen_by_name(
    comparison: Comparison, folder: Path, sojourn: Command
) -> None:
    text = asked(sojourn, folder, "--baseline", "fq_codel")
    assert re.search(r"drop-tail (is|seems) worse than FQ-CoDel", text)
    forward, back = comparison.verdict(), comparison.verdict(baseline="FQ-CoDel")
    assert forward is not None
    assert back is not None
    pairs = zip(forward.differences, back.differences, strict=True)
    assert all(one.mean == pytest.approx(-other.mean) for one, other in pairs)
    wrong = sojourn("compare", folder / "cable.toml", *words(folder), "--baseline", "red")
    assert wrong.returncode == 2
    assert "baseline 'red': none of the variations is called so; there are" in wrong.stderr


def test_more_is_shown_when_asked_for(folder: Path, sojourn: Command) -> None:
    plain, more = asked(sojourn, folder), asked(sojourn, folder, "-v")
    assert "group users" not in plain
    for heading in ("group users", "group upload", "FQ-CoDel against drop-tail, seed by seed"):
        assert heading in more


def test_measures_are_chosen_by_name(
    comparison: Comparison, folder: Path, sojourn: Command
) -> None:
    text = asked(sojourn, folder, "--measure", "reverse.loss", "--measure", "users.response_p50_s")
    shown = tables(text)
    for place, label in enumerate(("droptail", "fq_codel")):
        row = comparison.rows()[place]
        expected = [f"{100 * row['reverse.loss']:.2f}", f"{1e3 * row['users.response_p50_s']:.0f}"]
        assert shown[label] == expected
    assert "queueing delay" not in text
    wrong = sojourn("compare", folder / "cable.toml", *words(folder), "--measure", "beauty")
    assert wrong.returncode == 2
    assert "there is no measure 'beauty'; there are sojourn_mean_s" in wrong.stderr
    nowhere = sojourn("compare", folder / "cable.toml", *words(folder), "--measure", "back.loss")
    assert nowhere.returncode == 2
    assert "back.loss: there is no link or group 'back'; there are bottleneck" in nowhere.stderr


def test_several_groups_as_one_are_named() -> None:
    second = '[[traffic]]\nkind = "web"\nname = "guests"\nusers = 10\n'
    scenario = Scenario(CABLE + second).with_({"duration": "10s", "warmup": "1s"})
    summary = run(scenario).summary
    by_name = {group["name"]: group for group in summary["groups"]}
    found = measures(summary)
    both = [by_name["users"], by_name["guests"]]
    assert found["finished"] == sum(group["finished"] for group in both)
    least, most = sorted(group["response_time_s"]["p50"] for group in both)
    # Of a mixture, but for the width of a cell.
    assert 0.98 * least <= found["response_p50_s"] <= 1.02 * most
    assert pooled_words([summary]) == "response times of users and guests as one, pings of probe"


def words(folder: Path) -> list[object]:
    vary = "bottleneck.qdisc=droptail,fq_codel"
    return ["--vary", vary, "--repeat", 3, "--out", folder / "runs"]


def asked(sojourn: Command, folder: Path, *more: str) -> str:
    done = sojourn("compare", folder / "cable.toml", *words(folder), *more)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def tables(text: str) -> dict[str, list[str]]:
    """All cells of the rows of each label."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        label, *cells = line.split() or [""]
        if label in ("droptail", "fq_codel"):
            found.setdefault(label, []).extend(cells)
    return found


def listed_on(page: str) -> list[dict[str, float]]:
    """The numbers of the page's table, by measure, as its link gives them."""
    link = re.search(r'href="data:text/csv;charset=utf-8,([^"]*)"', page)
    assert link
    heads, *rows = csv.reader(urllib.parse.unquote(html.unescape(link[1])).splitlines())
    wanted = {
        "sojourn_mean_s": "Delay, ms mean mean",
        "loss": "Loss [%] mean",
        "response_p50_s": "Response, ms p50 mean",
        "ping_p50_s": "Ping RTT, ms p50 mean",
        "finished": "Finished mean",
        "reverse.sojourn_mean_s": "Link reverse delay mean [ms] mean",
        "reverse.loss": "Link reverse loss [%] mean",
    }
    places = {name: heads.index(head) for name, head in wanted.items()}
    return [{name: float(row[place]) for name, place in places.items()} for row in rows]
