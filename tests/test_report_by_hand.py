"""A report's tables behind its figures, from runs whose numbers are set by hand."""

from __future__ import annotations

import csv
import math
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from browser.samples import Sample, long_run, web_run
from sojourn.formatting import Spread
from sojourn.report import ReportError, frames, tables
from sojourn.report.differences import differences
from sojourn.report.layout import Layout, arrange
from sojourn.report.runs import check, number


def compared(*runs: Sample) -> Layout:
    return arrange(check(runs))


def queued(kind: str = "pi", seed: int = 1, **columns: list[Any]) -> Sample:
    run = web_run(kind, seed=seed)
    links = columns.pop("link", ["bottleneck"] * len(columns["time_s"]))
    run.queues = pl.DataFrame({"link": links, **columns})
    return run


def test_a_case_is_a_point_with_its_range() -> None:
    runs = [web_run("pi", seed=seed, queues=False) for seed in (1, 2)]
    for run, delay, used in zip(runs, (0.010, 0.030), (0.90, 0.96), strict=True):
        run.summary["links"][0] |= {"sojourn_s": {"mean": delay}, "utilisation": used}
    silent = web_run("rem", queues=False)
    silent.summary["links"][0]["utilisation"] = None
    ideal = web_run("droptail", uncongested=True, queues=False)
    (point,) = frames.plane(compared(*runs, silent, ideal)).to_dicts()
    assert point["series"] == "PI"
    assert [point[f"delay_{part}"] for part in ("ms", "low", "high")] == pytest.approx([20, 10, 30])
    used = [point[f"utilisation{part}"] for part in ("", "_low", "_high")]
    assert used == pytest.approx([93, 90, 96])


def test_goodput_is_of_groups_that_finish_nothing() -> None:
    runs = [long_run("pi", seed) for seed in (1, 2)]
    for run, rate, jain in zip(runs, (50e6, 54e6), (0.9, 0.8), strict=True):
        near, far = run.summary["groups"]
        near |= {"goodput_bps": rate, "jain": jain}
        far |= {"finished": 3}
        run.summary["groups"].append({**near, "name": "lone", "jain": None, "goodput_bps": 1e6})
        # Of datagrams each is finished.
        steady = {**near, "name": "steady", "kind": "udp", "finished": 9}
        run.summary["groups"].append(steady)
    layout = compared(*runs)
    near_row, lone, steady_row = frames.goodput(layout, layout.panels[0]).to_dicts()
    assert steady_row["group"] == "steady"
    assert (near_row["series"], near_row["group"]) == ("PI", "near")
    assert [near_row[name] for name in ("mbps", "low", "high", "jain")] == pytest.approx(
        [52, 50, 54, 0.85]
    )
    assert (lone["group"], lone["mbps"], lone["jain"]) == ("lone", 1.0, None)


def test_windows_are_of_the_first_few_flows_of_the_first_repeat() -> None:
    first, second = long_run("pi", 1), long_run("pi", 2)
    first.traces = pl.DataFrame(
        {
            "time_s": [0.0, 0.0, 0.0, 1.0],
            "flow": ["c", "a", "b", "c"],
            "cwnd_bytes": [10, 20, 30, 40],
        }
    )
    second.traces = pl.DataFrame({"time_s": [0.0], "flow": ["z"], "cwnd_bytes": [1]})
    layout = compared(first, second)
    found = frames.windows(layout, layout.panels[0], flows=2)
    assert found.select("series", "flow", "time_s", "mean").rows() == [
        ("PI", "c", 0.0, 10.0),
        ("PI", "c", 1.0, 40.0),
        ("PI", "a", 0.0, 20.0),
    ]
    assert frames.windows(layout, layout.panels[0])["flow"].unique().sort().to_list() == [*"abc"]
    flows = [*"gfedc"]
    first.traces = pl.DataFrame({"time_s": [0.0] * 5, "flow": flows, "cwnd_bytes": [1] * 5})
    layout = compared(first)
    assert frames.windows(layout, layout.panels[0])["flow"].to_list() == flows[:4]
    bare = compared(long_run("pi", traces=False))
    assert frames.windows(bare, bare.panels[0]).is_empty()


def test_a_queue_is_that_of_the_link_in_order_of_time_without_the_uncongested_one() -> None:
    run = queued(
        time_s=[12.0, 11.0, 11.0], link=["bottleneck", "reverse", "bottleneck"], packets=[2, 9, 1]
    )
    ideal = web_run("droptail", uncongested=True)
    layout = compared(run, ideal)
    for found in (
        frames.queue_series(layout, layout.panels[0]),
        frames.queue_series(compared(run), layout.panels[0]),
    ):
        assert found.select("series", "time_s", "low", "high").rows() == [
            ("PI", 11.0, 1.0, 1.0),
            ("PI", 12.0, 2.0, 2.0),
        ]
    assert frames.queue_cdf(layout, layout.panels[0])["series"].unique().to_list() == ["PI"]
    # A run without rates of the link has no delay; one without samples of the link nothing.
    assert frames.queue_series(layout, layout.panels[0], "delay_ms").is_empty()
    other = compared(queued(time_s=[11.0], link=["reverse"], packets=[1]))
    assert frames.queue_series(other, other.panels[0]).is_empty()
    assert frames.queue_cdf(other, other.panels[0]).is_empty()


def test_a_long_distribution_is_thinned_and_keeps_its_ends() -> None:
    count = 1202
    times = [10 + 50 * i / count for i in range(count)]
    layout = compared(queued(time_s=times, packets=list(range(count))))
    found = frames.queue_cdf(layout, layout.panels[0])
    # 1 203 steps, every fourth of them and the last.
    assert found.height == 302
    assert found["packets"].to_list()[:3] == [0, 3, 7]
    assert found["packets"][-1] == count - 1 and found["fraction"][-1] == 1
    assert found["fraction"][0] == 0
    assert found["fraction"].to_list()[1] == pytest.approx(4 / count)


def test_repeats_of_a_distribution_weigh_as_many_as_they_have_samples() -> None:
    layout = compared(
        queued(seed=1, time_s=[11.0, 12.0, 13.0], packets=[1, 1, 1]),
        queued(seed=2, time_s=[11.0], packets=[5]),
    )
    found = frames.queue_cdf(layout, layout.panels[0])
    assert found.select("packets", "fraction").rows() == [(1, 0.0), (1, 0.75), (5, 1.0)]


def test_response_times_weigh_as_many_as_they_are() -> None:
    runs = [web_run("pi", seed=seed, queues=False) for seed in (1, 2)]
    for run, at, count in zip(runs, (1.0, 3.0), (30, 10), strict=True):
        run.summary["groups"][0]["response_time_s"] |= {
            "count": count,
            "cdf": [[at, 0.0], [at + 0.003, 1.0]],
        }
    layout = compared(*runs)
    found = frames.response_cdf(layout, layout.panels[0]).select("seconds", "fraction").rows()
    assert found == [(1.0, 0.0), (1.003, 0.75), (3.0, 0.75), (3.003, 1.0)]
    assert frames.ping_cdf(layout, layout.panels[0]).is_empty()


def test_more_cases_get_fewer_points_each() -> None:
    kinds = ("droptail", "pi", "rem", "ared")
    runs = [web_run(kind, load=load) for kind in kinds for load in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)]
    for cases, buckets in ((runs[:1], 500), (runs[:24], 500), (runs, 500)):
        assert frames._buckets(compared(*cases)) == buckets
    more = [*runs, web_run("pi", ecn=True)]
    assert frames._buckets(compared(*more)) == 12_000 // 25
    many: Any = SimpleNamespace(curves=range(200))
    assert frames._buckets(many) == 150, "fewer would hide what a queue does"


def test_a_series_of_one_instant_is_one_bucket() -> None:
    samples = pl.DataFrame({"time_s": [5.0] * 30, "packets": [*range(30)]})
    (row,) = frames.envelope(samples, "packets", 10).rows()
    assert row == (5.0, 0.0, 14.5, 29.0)
    # Up to twice as many samples as buckets are all kept, in order.
    twice = pl.DataFrame({"time_s": [3.0, 1.0, 2.0, 4.0], "packets": [3, 1, 2, 4]})
    assert frames.envelope(twice, "packets", 2)["mean"].to_list() == [1, 2, 3, 4]
    assert frames.envelope(twice, "packets", 1).height == 1


@pytest.mark.parametrize(
    ("value", "found"),
    [(1, 1.0), (0.5, 0.5), (True, None), ("1", None), (None, None), (math.nan, None),
     (math.inf, None)],
)  # fmt: skip
def test_a_number_is_finite(value: object, found: float | None) -> None:
    assert number(value) == found


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ([0.5, 1.1], "is not \\[seconds, fraction\\]"),
        ([0.5, -0.1], "is not \\[seconds, fraction\\]"),
        ([0.5], "is not \\[seconds, fraction\\]"),
        (["x", 0.5], "is not \\[seconds, fraction\\]"),
        ([0.4, 0.9], "falls below the point before it"),
        ([0.6, 0.4], "falls below the point before it"),
    ],
)
def test_a_point_that_is_none_is_named(point: list[Any], said: str) -> None:
    run = web_run()
    run.summary["groups"][0]["response_time_s"]["cdf"] = [[0.5, 0.5], point]
    with pytest.raises(ReportError, match=rf"run 1 .*cdf\[1\].* {said}"):
        check([run])
    run.summary["groups"][0]["response_time_s"]["cdf"] = [[0.5, 0.5], [0.5, 0.5], [0.5, 1 + 1e-10]]
    assert len(check([run])) == 1


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("seed", True, "seed = True is not an integer"),
        ("seed", "1", "seed = '1' is not an integer"),
        ("queues", [], "queues is a list, not a Polars table"),
        ("summary", [], "the summary is missing or empty; did the run finish"),
        ("scenario_toml", None, "the scenario is missing; run the scenario again"),
    ],
)
def test_what_is_no_run_is_refused(field: str, value: object, said: str) -> None:
    run = web_run()
    setattr(run, field, value)
    with pytest.raises(ReportError, match=said):
        check([run])


@pytest.mark.parametrize("window", [[1.0], [1.0, 2.0, 3.0], [2.0, 1.0], "12", [None, 1.0]])
def test_what_is_no_window_is_refused(window: object) -> None:
    run = web_run()
    run.summary["window_s"] = window
    with pytest.raises(ReportError, match="window_s = "):
        check([run])


def test_a_run_tells_what_it_is() -> None:
    (first, ideal) = check([web_run("pi"), web_run("droptail", uncongested=True)])
    assert (first.number, first.reference, ideal.number, ideal.reference) == (1, False, 2, True)
    assert first.window == (10.0, 60.0) and first.link("bottleneck")["name"] == "bottleneck"
    assert first.link("none") == {} and [group["name"] for group in first.groups] == ["users"]
    empty = web_run()
    empty.queues = empty.queues.clear() if empty.queues is not None else None
    assert check([empty])[0].queues is None


def cells(table: tables.MeasureTable, key: str) -> list[tuple[str, str]]:
    place = [column.key for column in table.columns].index(key)
    return [
        (row.cells[place].text, row.cells[place].range)
        for block in table.blocks
        for row in block.rows
    ]


def test_failures_have_a_column_where_there_are_any() -> None:
    none, some = web_run("pi"), web_run("rem")
    assert "failed" not in [column.key for column in tables.summary(compared(none)).columns]
    some.summary["groups"][0]["failed"] = 3
    assert cells(tables.summary(compared(none, some)), "failed") == [("0", ""), ("3", "")]


def test_groups_and_links_have_tables_the_main_link_first() -> None:
    layout = compared(long_run("pi"))
    assert list(tables.groups(layout)) == ["near", "far"]
    near = tables.groups(layout)["near"]
    # Of flows that never end nothing was started.
    assert not {"near.started", "near.finished"} & {column.key for column in near.columns}
    assert cells(near, "near.goodput_bps") == [("52.1", "")]
    assert list(tables.links(layout)) == ["bottleneck", "reverse"]
    run = web_run("pi")
    assert "users.started" in [c.key for c in tables.groups(compared(run))["users"].columns]


def test_the_way_back_and_units_are_in_the_heads_of_columns() -> None:
    table = tables.summary(compared(web_run("pi")))
    heads = {column.key: column for column in table.columns}
    back = heads["reverse.loss"]
    assert (back.group, back.heading, back.unit) == ("Link reverse", "loss", "%")
    assert back.title.endswith(" (of reverse)")
    delay, loss = heads["bottleneck.sojourn_p50_s"], heads["bottleneck.loss"]
    assert (delay.group, delay.heading, delay.unit) == ("Delay, ms", "p50", "")
    assert (loss.group, loss.heading, loss.unit) == ("", "Loss", "%")
    assert "Link reverse loss [%] min..max" in table.csv().splitlines()[0]


def test_the_load_that_was_realised_is_said_with_its_range() -> None:
    runs = [web_run("pi", seed=seed, queues=False) for seed in (1, 2)]
    for run, load in zip(runs, (0.95, 0.99), strict=True):
        run.realised_load = load
    ideal = web_run("droptail", uncongested=True, queues=False)
    ideal.realised_load = 0.5
    (block,) = tables.summary(compared(*runs, ideal)).blocks
    assert block.note.startswith("realised 97") and "(95" in block.note and "to 99" in block.note
    (block,) = tables.summary(compared(runs[0])).blocks
    assert "95" in block.note and "(" not in block.note
    (block,) = tables.summary(compared(web_run("pi", queues=False))).blocks
    assert block.note == ""


def test_a_run_that_was_stopped_is_said_to_be() -> None:
    early, whole = web_run("pi"), web_run("rem")
    early.summary["stopped_early"] = True
    rows = tables.summary(compared(early, whole)).blocks[0].rows
    assert [(row.name, row.repeats, row.stopped_early) for row in rows] == [
        ("PI", 1, True),
        ("REM", 1, False),
    ]


def test_cells_without_a_number_are_empty_in_the_csv() -> None:
    runs = [web_run("pi"), web_run("rem")]
    runs[1].summary["links"][0]["loss"] = None
    table = tables.summary(compared(*runs))
    assert cells(table, "bottleneck.loss")[1] == ("–", "")
    head, _, last = table.csv().splitlines()
    (row,) = csv.DictReader([head, last])
    assert row["Loss [%] mean"] == row["Loss [%] min..max"] == ""
    assert (row["case"], row["repeats"]) == ("REM", "1")
    assert Spread.of([None]) is None


def test_differences_are_written_with_sign_unit_and_interval() -> None:
    runs = []
    for seed, level in enumerate((0.2, 0.5, 0.9, 1.4), 1):
        for kind, gain in (("droptail", 0.0), ("pi", 0.2 + seed * 1e-3)):
            run = web_run(kind, seed=seed, queues=False)
            run.summary["groups"][0]["response_time_s"]["p50"] = level + gain
            run.summary["links"][0]["loss"] = 0.05 - gain / 10
            run.varied = {"bottleneck.qdisc": kind}
            runs.append(run)
    found = differences(compared(*runs))
    assert found is not None and found.table is not None
    assert cells(found.table, "response_p50_s") == [("+202 *", "+198 to +211")]
    ((loss, _),) = cells(found.table, "loss")
    assert loss == "−2.0 *"
    heads = {column.key: column.unit for column in found.table.columns}
    assert heads["loss"] == "points"
    assert [row.repeats for row in found.table.blocks[0].rows] == [4]
    assert "over 4 pairs" in found.note and "Difference from drop-tail" in found.note
    back = differences(compared(*runs), "pi")
    assert back is not None and back.table is not None
    assert cells(back.table, "response_p50_s") == [("−202 *", "−211 to −198")]


def test_a_difference_of_a_group_is_headed_by_it() -> None:
    runs = []
    for seed in (1, 2, 3):
        for kind, jain in (("droptail", 0.9), ("pi", 0.5)):
            run = long_run(kind, seed)
            run.summary["groups"] = [{**run.summary["groups"][0], "jain": jain}]
            run.varied = {"bottleneck.qdisc": kind}
            runs.append(run)
    found = differences(compared(*runs))
    assert found is not None and found.table is not None
    heads = {column.key: column.group for column in found.table.columns}
    assert heads["near.jain"] == "Traffic near"


def test_a_difference_has_an_asterisk_only_where_it_is_sure() -> None:
    runs = []
    for seed, gain in enumerate((0.3, -0.1, 0.2, 0.0), 1):
        for kind, there in (("droptail", 0.0), ("pi", 1.0)):
            run = web_run(kind, seed=seed, queues=False)
            run.summary["groups"][0]["response_time_s"]["p50"] = 1 + gain * there
            # Lost was something in one pair alone, which has no interval.
            run.summary["links"][0]["loss"] = 0.05 - 0.02 * there if seed == 1 else None
            run.varied = {"bottleneck.qdisc": kind}
            runs.append(run)
    found = differences(compared(*runs))
    assert found is not None and found.table is not None
    assert cells(found.table, "response_p50_s") == [("+100", "−194 to +395")]
    assert cells(found.table, "loss") == [("−2.0", "")]


def test_runs_that_do_not_say_what_was_varied_are_compared_by_their_curves() -> None:
    runs = [web_run(kind, seed=seed, queues=False) for kind in ("pi", "rem") for seed in (1, 2)]
    found = differences(compared(*runs, web_run("droptail", uncongested=True)), "REM")
    assert found is not None and found.verdict.baseline == "REM"
    assert {each.case for each in found.verdict.differences} == {"PI"}
    # No two share a seed.
    assert differences(compared(web_run("pi", seed=1), web_run("rem", seed=2))) is None
    assert differences(compared(web_run("pi"))) is None
    # Two engines on one scenario lie over each other, and neither is better.
    fluid = web_run("pi", queues=False)
    fluid.summary["engine"] = "fluid"
    assert differences(compared(web_run("pi", queues=False), fluid)) is None
