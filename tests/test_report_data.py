"""What the report computes before it draws: checks, names, pooling, thinning, tables."""

from __future__ import annotations

import math

import polars as pl
import pytest

from browser.samples import Sample, long_run, web_comparison, web_run
from sojourn import formatting
from sojourn.errors import Error, InputError
from sojourn.measures import BY_NAME, pooling
from sojourn.report import ReportError, frames, tables
from sojourn.report.differences import differences
from sojourn.report.layout import Layout, arrange
from sojourn.report.runs import check


def compared(*runs: Sample) -> Layout:
    return arrange(check(runs))


def names(layout: Layout) -> list[str]:
    return [one.name for one in layout.series]


def test_no_runs_are_an_error() -> None:
    with pytest.raises(ReportError, match="no runs were given"):
        check([])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda s: {}, "run 2 .*summary is missing or empty"),
        (lambda s: {**s, "links": 3}, "run 2 .*links is missing or not a list"),
        (lambda s: {k: v for k, v in s.items() if k != "groups"}, "groups is missing"),
        (lambda s: {**s, "links": [{"rate_bps": 1}]}, r"links\[0\] has no name"),
        (lambda s: {**s, "window_s": [5.0, 4.0]}, r"window_s = \[5.0, 4.0\]"),
        (lambda s: {**s, "window_s": [5.0, 5.0]}, r"ended at 5 s, before its warm-up was over"),
        (lambda s: {**s, "window_s": None}, "window_s = None"),
    ],
)
def test_a_damaged_summary_is_one_clear_error(damage, message) -> None:
    whole, broken = web_run(), web_run(seed=2)
    broken.summary = damage(broken.summary)
    with pytest.raises(ReportError, match=message):
        check([whole, broken])


def test_a_cdf_that_falls_is_an_error() -> None:
    run = web_run()
    run.summary["groups"][0]["response_time_s"]["cdf"][7] = [0.0, 0.5]
    with pytest.raises(ReportError, match=r"groups\[0\].response_time_s.cdf\[7\]"):
        check([run])


@pytest.mark.parametrize("toml", ["", "load = = 3"])
def test_a_damaged_scenario_is_an_error(toml: str) -> None:
    run = web_run()
    run.scenario_toml = toml
    with pytest.raises(ReportError, match="scenario is"):
        check([run])


def test_a_table_without_its_columns_is_an_error() -> None:
    run = web_run()
    run.queues = pl.DataFrame({"time_s": [1.0]})
    with pytest.raises(ReportError, match="table queues lacks the column link, packets"):
        check([run])


def test_missing_optional_table_is_no_error() -> None:
    class Stored(Sample):
        @property
        def queues(self) -> pl.DataFrame:
            raise Error("no table 'queues'")

        @queues.setter
        def queues(self, _: object) -> None: ...

    whole = web_run()
    stored = Stored(whole.summary, whole.scenario_toml, whole.label, whole.seed)
    assert check([stored])[0].queues is None


def test_labels_are_shortest_distinct_names() -> None:
    runs = [
        web_run("droptail"),
        web_run("pi", qref=24),
        web_run("pi", qref=240),
        web_run("pi", ecn=True, qref=24),
        web_run("pi", ecn="ect0", qref=24),
        web_run("rem"),
    ]
    assert names(compared(*runs)) == [
        "drop-tail",
        "PI qref 24",
        "PI qref 240",
        "PI qref 24 ECN",
        "PI qref 24 ECN for ECT(0)",
        "REM",
    ]
    assert names(compared(web_run("droptail"), web_run("pi", qref=24))) == ["drop-tail", "PI"]


def test_what_goes_along_with_a_discipline_is_named() -> None:
    def on(kind: str, rate: str, *more: tuple[str, str]) -> Sample:
        run = web_run(kind)
        for old, new in (('rate = "100mbit"', f'rate = "{rate}"'), *more):
            assert run.scenario_toml.count(old) == 1
            run.scenario_toml = run.scenario_toml.replace(old, new)
        return run

    slow, fast = on("droptail", "20mbit"), on("pi", "100mbit")
    told = ["drop-tail (bottleneck.rate = 20mbit)", "PI (bottleneck.rate = 100mbit)"]
    assert names(compared(slow, fast)) == told
    # One more run, and the rate is not the discipline's: a panel each.
    layout = compared(slow, fast, on("droptail", "100mbit"))
    assert names(layout) == ["drop-tail", "PI"]
    assert sorted(panel.name for panel in layout.panels) == [
        "98\u00a0% load, bottleneck.rate = 100mbit",
        "98\u00a0% load, bottleneck.rate = 20mbit",
    ]
    # Of many fields the first.
    other = on(
        "pi",
        "100mbit",
        ('duration = "60s"', 'duration = "80s"'),
        ('warmup = "10s"', 'warmup = "20s"'),
        ('delay = "5ms"', 'delay = "9ms"'),
        ('rtt = "10ms..150ms"', 'rtt = "90ms"'),
    )
    (name,) = [name for name in names(compared(slow, other)) if name.startswith("PI")]
    assert name.startswith("PI (duration = 80s, warmup = 20s, ")
    assert name.endswith(", 2 more)")


def test_ecn_is_the_same_colour_dashed() -> None:
    series = {one.name: one for one in compared(web_run("pi"), web_run("pi", ecn=True)).series}
    assert series["PI"].light == series["PI ECN"].light
    assert not series["PI"].dash
    assert series["PI ECN"].dash


def test_discipline_colour_is_constant() -> None:
    alone = compared(web_run("pi")).series[0]
    among = {one.name: one for one in compared(*web_comparison(seeds=1)).series}
    assert among["PI"].light == alone.light


def test_loads_are_panels_and_seeds_are_repeats() -> None:
    layout = compared(*web_comparison(loads=(0.98, 0.9), seeds=2))
    assert [panel.load for panel in layout.panels] == [0.9, 0.98]
    assert len(layout.curves) == 16
    assert all([run.seed for run in case.runs] == [1, 2] for case in layout.curves)


def test_load_label_comes_from_varied_field() -> None:
    runs = []
    for load, users in ((0.9, 900), (0.98, 980)):
        for kind in ("droptail", "pi"):
            run = web_run(kind, load=load)
            run.scenario_toml = (
                run.scenario_toml.replace(f"load = {load}\n", "") + f"users = {users}\n"
            )
            run.varied = {"bottleneck.qdisc": kind, "load": load}
            runs.append(run)
    layout = compared(*runs)
    assert [panel.name for panel in layout.panels] == ["90\u00a0% load", "98\u00a0% load"]
    assert names(layout) == ["drop-tail", "PI"]


def test_single_discipline_curves_are_other_variations() -> None:
    runs = [web_run("pi", seed=s) for s in (1, 2)]
    for run, rtt in zip(runs, ("20ms", "80ms"), strict=True):
        run.scenario_toml = run.scenario_toml.replace("10ms..150ms", rtt)
    layout = compared(*runs)
    assert layout.series_are == "Variant"
    assert names(layout) == ["traffic.users.rtt = 20ms", "traffic.users.rtt = 80ms"]
    loads = compared(web_run("pi", load=0.9), web_run("pi", load=0.8))
    assert names(loads) == ["80\u00a0% load", "90\u00a0% load"]


def test_variation_beside_disciplines_makes_panels() -> None:
    runs = []
    for kind in ("droptail", "pi"):
        for rtt in ("20ms", "80ms"):
            run = web_run(kind)
            run.scenario_toml = run.scenario_toml.replace("10ms..150ms", rtt)
            runs.append(run)
    panels = [panel.name for panel in compared(*runs).panels]
    assert panels == [f"98\u00a0% load, traffic.users.rtt = {rtt}" for rtt in ("20ms", "80ms")]


def test_the_same_run_twice_is_one_run() -> None:
    once = [web_run("pi"), web_run("droptail", uncongested=True)]
    # Made again, it took another time.
    again = [web_run("pi"), web_run("droptail", uncongested=True)]
    for run in again:
        run.summary |= {"wall_s": 99.0, "engine_seconds": 98.0}
    for runs in ([*once, *once], [*once, *again]):
        layout = compared(*runs)
        assert [len(case.runs) for case in layout.curves] == [1, 1]
        assert len(layout.runs) == 2
    assert len(compared(*once, *again, web_run("pi", seed=2)).runs) == 3


def test_realised_load_falls_back_to_uncongested_twin() -> None:
    managed, twin = web_run("pi", seed=3), web_run("droptail", seed=3, uncongested=True)
    twin.summary["links"][0]["throughput_bps"] = 97.1e6
    layout = compared(twin, managed)
    case = next(case for case in layout.curves if not case.series.reference)
    assert layout.realised_load(case) == [pytest.approx(0.971)]
    managed.realised_load = 0.964
    layout = compared(twin, managed)
    case = next(case for case in layout.curves if not case.series.reference)
    assert layout.realised_load(case) == [0.964]


def test_realised_load_is_taken_from_the_way_of_the_data() -> None:
    managed, twin = web_run("pi"), web_run("droptail", uncongested=True)
    for run in (managed, twin):
        run.scenario_toml += 'direction = "reverse"\n'
    twin.summary["links"][0]["throughput_bps"] = 1e6
    twin.summary["links"][1]["throughput_bps"] = 96e6
    layout = compared(twin, managed)
    case = next(case for case in layout.curves if not case.series.reference)
    assert layout.realised_load(case) == [pytest.approx(0.96)]


def test_runs_without_a_common_link_are_an_error() -> None:
    other = web_run("pi")
    other.summary["links"] = [{**other.summary["links"][0], "name": "hop1"}]
    with pytest.raises(ReportError, match="no link in common"):
        compared(web_run("pi"), other)


def test_a_mixture_weighs_its_parts() -> None:
    a = [(0.0, 0.0), (1.0, 1.0)]
    b = [(1.0, 0.0), (3.0, 1.0)]
    mixed = dict(pooling.mix([a, b], [3.0, 1.0]))
    assert mixed[1.0] == pytest.approx(0.75)
    assert mixed[3.0] == pytest.approx(1.0)
    assert pooling.mix([a], [7.0]) == a


def test_groups_are_pooled_and_pings_left_out() -> None:
    run = web_run("pi")
    user = run.summary["groups"][0]
    ping = {**user, "name": "probe", "kind": "ping"}
    quick = {"count": 4000, "cdf": [[0.0, 0.0], [0.001, 1.0]], "p50": 0.0005, "p90": 0.0009}
    ping["response_time_s"] = {**quick, "p99": 0.00099}
    run.summary["groups"] = [user, ping]
    p50, p90 = BY_NAME["response_p50_s"], BY_NAME["response_p90_s"]
    assert p50.of(run.summary) == user["response_time_s"]["p50"]
    assert BY_NAME["finished"].of(run.summary) == user["finished"]
    assert BY_NAME["ping_p50_s"].of(run.summary) == 0.0005
    ping["kind"] = "web"
    assert p50.of(run.summary) <= user["response_time_s"]["cdf"][0][0]
    expected = user["response_time_s"]["cdf"][160][0]
    assert p90.of(run.summary) == pytest.approx(expected, rel=0.02)
    assert BY_NAME["finished"].of(run.summary) == 2 * user["finished"]


def test_thinning_a_series_keeps_every_extreme() -> None:
    values = [float((7919 * i) % 1000) for i in range(50_000)]
    values[31_234], values[777] = 9999.0, -5.0
    samples = pl.DataFrame({"time_s": [i / 100 for i in range(50_000)], "packets": values})
    thin = frames.envelope(samples, "packets")
    assert thin.height == frames.BUCKETS
    assert thin["high"].max() == 9999.0
    assert thin["low"].min() == -5.0
    assert thin["mean"].mean() == pytest.approx(samples["packets"].mean(), rel=1e-3)
    assert thin["time_s"].is_sorted()


def test_a_short_series_is_kept_as_it_is() -> None:
    samples = pl.DataFrame({"time_s": [0.0, 1.0, 2.0], "packets": [3, 1, 2]})
    assert frames.envelope(samples, "packets")["high"].to_list() == [3.0, 1.0, 2.0]


def test_thinning_a_curve_keeps_ends_and_steps() -> None:
    curve = [(i / 1000, min(i / 2000, 0.5)) for i in range(3000)]
    curve += [(3.0, 0.5), (3.0001, 0.9)] + [(3.0 + i, 0.9 + i / 1000) for i in range(1, 101)]
    thin = frames.thin(curve, 200)
    assert thin[0] == curve[0]
    assert thin[-1] == curve[-1]
    assert len(thin) <= 210
    worst = max(abs(pooling.height(thin, x) - y) for x, y in curve if not 2.9 < x < 3.3)
    assert worst < 0.02


def test_thinning_takes_points_evenly_from_the_first_to_the_last() -> None:
    curve = [(0.0, i / 1000) for i in range(1001)]
    kept = [1000 * y for _, y in frames.thin(curve, 11)]
    assert kept == pytest.approx(range(0, 1001, 100), abs=10)


def test_thinning_counts_length_from_the_first_point_or_a_ten_thousandth_of_the_last() -> None:
    def below(curve: list[tuple[float, float]], limit: float) -> float:
        thin = frames.thin(curve, 300)
        return sum(x < limit for x, _ in thin) / len(thin)

    # A third of the length each: the logarithm, the fraction, the number of points.
    line = [(10 + 0.033 * i, i / 30_000) for i in range(30_001)]
    assert below(line, 100.0) == pytest.approx((1 / 2 + 0.091 + 0.091) / 3, abs=0.01)
    decades = [(0.0, 0.0)] + [(10 ** (i / 500 - 4), i / 3000) for i in range(1, 3001)]
    assert below(decades, 1e-2) == pytest.approx((0 + 1 / 3 + 1 / 3) / 3, abs=0.01)
    # Two of three decades without a point are two ninths of the length.
    gap = [(1.0, 0.0)] + [(10 ** (2 + i / 30_000), i / 30_000) for i in range(30_001)]
    assert len(frames.thin(gap, 300)) == pytest.approx(300 * 7 / 9, abs=3)
    # Here one of four is before the points, and two are behind them.
    decade = [(10 ** (i / 30_000), i / 30_001) for i in range(1, 30_001)]
    gaps = [(0.0, 0.0), *decade, (1000.0, 1.0)]
    assert len(frames.thin(gaps, 300)) == pytest.approx(300 * 3 / 4, abs=3)


def test_drops_per_second_add_up_to_the_drops() -> None:
    layout = compared(web_run("droptail", duration=60.0))
    table = frames.queue_events(layout, layout.panels[0], buckets=120)
    queues = layout.runs[0].queues.filter(pl.col("link") == "bottleneck")
    width = (queues["time_s"].max() - queues["time_s"].min()) / 120
    assert table["per_s"].sum() * width == pytest.approx(queues["dropped"].sum())
    assert set(table["event"]) == {"drops"}


def sampled(**columns: list[float]) -> Layout:
    """A run whose queue was sampled so."""
    run = web_run("pi")
    count = len(columns["time_s"])
    run.queues = pl.DataFrame({"link": ["bottleneck"] * count, "packets": [0] * count} | columns)
    return compared(run)


def test_events_stand_in_the_middle_of_their_bucket_per_second() -> None:
    layout = sampled(time_s=[10.0, 10.9, 11.2, 12.0], dropped=[1, 2, 0, 4], marked=[0, 0, 5, 0])
    table = frames.queue_events(layout, layout.panels[0], buckets=2)
    assert table.sort("event", "time_s").rows() == [
        ("PI", "drops", 10.5, 3.0),
        ("PI", "drops", 11.5, 4.0),
        ("PI", "marks", 10.5, 0.0),
        ("PI", "marks", 11.5, 5.0),
    ]
    halves = frames.queue_events(layout, layout.panels[0], buckets=4)
    assert halves.filter(pl.col("event") == "drops")["per_s"].to_list() == [2.0, 4.0, 0.0, 8.0]


def test_an_instant_has_no_rate_of_events() -> None:
    layout = sampled(time_s=[10.0], dropped=[3], marked=[0])
    assert frames.queue_events(layout, layout.panels[0]).is_empty()
    layout = sampled(time_s=[10.0, 11.0])
    assert frames.queue_events(layout, layout.panels[0]).is_empty()


def test_the_delay_of_a_queue_is_its_bytes_at_the_rate_of_that_moment() -> None:
    layout = sampled(time_s=[10.0, 11.0, 12.0], bytes=[2500, 5000, 99], rate_bps=[1e6, 4e6, 0.0])
    table = frames.queue_series(layout, layout.panels[0], "delay_ms")
    assert table["mean"].to_list() == [20.0, 10.0]
    assert table["time_s"].to_list() == [10.0, 11.0]


def test_the_queue_distribution_covers_the_measured_window_only() -> None:
    run = web_run("pi")
    run.queues = pl.DataFrame(
        {"time_s": [1.0, 11.0, 12.0, 13.0], "link": ["bottleneck"] * 4, "packets": [500, 2, 2, 5]}
    )
    layout = compared(run)
    table = frames.queue_cdf(layout, layout.panels[0])
    assert table["packets"].to_list() == [2, 2, 5]
    assert table["fraction"].to_list() == pytest.approx([0, 2 / 3, 1])


def test_the_summary_averages_repeats_and_gives_their_range() -> None:
    runs = [web_run("pi", seed=s) for s in (1, 2, 3)]
    for run, loss in zip(runs, (0.01, 0.02, 0.06), strict=True):
        run.summary["links"][0]["loss"] = loss
    table = tables.summary(compared(*runs))
    place = [column.heading for column in table.columns].index("Loss")
    cell = table.blocks[0].rows[0].cells[place]
    assert (cell.text, cell.range) == ("3.00", "1.00–6.00")
    assert cell.value == pytest.approx(3.0)


def test_columns_with_nothing_to_show_are_left_out() -> None:
    keys = {column.key for column in tables.summary(compared(long_run("pi"))).columns}
    assert "bottleneck.loss" in keys
    assert not keys & {"finished", "failed", "response_p50_s", "ping_p50_s"}


def test_the_csv_has_every_case_and_survives_commas() -> None:
    layout = compared(*web_comparison(seeds=1))
    lines = tables.summary(layout).csv().splitlines()
    assert len(lines) == 1 + len(layout.curves)
    assert lines[0].startswith('panel,case,repeats,"Delay, ms mean mean","Delay, ms mean min..max"')


def test_differences_are_paired_by_seed() -> None:
    runs = []
    # The seeds differ far more than the disciplines do: only pairs can show it.
    for seed, level in ((1, 0.2), (2, 0.5), (3, 0.9), (4, 1.4)):
        for kind, gain in (("droptail", 0.0), ("pi", 0.030 + seed * 1e-4)):
            run = web_run(kind, seed=seed, queues=False)
            run.summary["groups"][0]["response_time_s"]["p50"] = level - gain
            runs.append(run)
    found = differences(compared(*runs))
    assert found is not None
    assert found.verdict.baseline == "drop-tail"
    place = [column.key for column in found.table.columns].index("response_p50_s")
    cell = found.table.blocks[0].rows[0].cells[place]
    assert cell.value == pytest.approx(-30.25)
    assert cell.text.endswith("*")
    alone = differences(compared(*web_comparison(seeds=1)))
    assert alone is not None
    assert alone.table is None
    assert alone.verdict.sentences[-1].startswith("One seed tells nothing of chance")


def test_loads_alone_are_not_compared() -> None:
    runs = []
    for load in (0.9, 0.98):
        for seed in (1, 2):
            run = web_run("pi", load=load, seed=seed, queues=False)
            run.varied = {"load": load}
            runs.append(run)
    layout = compared(*runs)
    assert differences(layout) is None
    with pytest.raises(InputError, match="nothing but load is varied"):
        differences(layout, "0.9")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (0.01234, "0.0123"),
        (9.996, "10.0"),
        (99.96, "100"),
        (123456.7, "123\u202f457"),
        (-2.5, "−2.50"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "–"),
    ],
)
def test_numbers_are_written_for_people(value: float | None, text: str) -> None:
    assert formatting.text(value) == text


def test_charts_may_have_more_rows_than_a_notebook_wants() -> None:
    import altair as alt

    from sojourn.parts import Figure
    from sojourn.report.vega_lite import vega_lite

    rows = pl.DataFrame({"x": range(6000)})
    figure = Figure("many", "Many", alt.Chart(rows).mark_point().encode(x="x:Q"), "Many points.")
    (spec,) = vega_lite([figure]).values()
    assert [len(each) for each in spec["datasets"].values()] == [6000]
