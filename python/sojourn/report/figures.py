"""The figures: tables in, Altair charts out. Nothing is computed here and nothing is written.

A chart carries no theme: `style.theme` is added for a file, and the page adds its own for a
light or a dark screen. Each has a parameter ``hidden``, the list of series not to draw.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from sojourn import style
from sojourn.report.layout import Series

WIDTH, HEIGHT = 520, 300
SHAPES = (
    ("circle", "circle"),
    ("square", "square"),
    ("triangle-up", "triangle"),
    ("diamond", "diamond"),
    ("cross", "cross"),
    ("triangle-down", "inverted triangle"),
)
"""Of the panels in one chart: Vega's name, and a word for people."""
Chart = Any
"""Altair's charts have no common public type that its own methods return."""


def times_cdf(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    whole: pl.DataFrame,
    x_title: str = "Response time (ms)",
    y_title: str = "Fraction of exchanges",
) -> Chart:
    """Fraction done within a time, up to where nearly all of the slowest case are.

    The axis is that of ``whole``, all panels together, and logarithmic if medians lie far apart.
    """
    wide, least, most = _reach(whole)
    ms = table.select("series", (pl.col("seconds") * 1e3).alias("ms"), "fraction")
    # Up to the first point beyond the axis: a long hidden tail costs time to draw.
    ms = ms.filter(pl.col("ms").shift(1, fill_value=0).over("series") < most)
    if wide:
        ms = ms.filter(pl.col("ms").shift(-1, fill_value=most).over("series") > least)
        scale = alt.Scale(type="log", domain=[least, most], nice=False)
        axis = alt.Axis(values=_ONE_TWO_FIVE, format=",~r", grid=True, labelOverlap=True)
        x_title = x_title.replace("(ms)", "(ms, logarithmic)")
    else:
        scale, axis = alt.Scale(domain=[0, most]), alt.Axis(format=",~r", tickCount=6)
    return _finish(
        _chart(ms, title)
        .mark_line(clip=True, interpolate="linear")
        .encode(
            x=alt.X("ms:Q", title=x_title, scale=scale, axis=axis),
            y=alt.Y(
                "fraction:Q",
                title=y_title,
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(tickCount=5),
            ),
            **_identity(series, table),
        )
    )


_ONE_TWO_FIVE = [step * 10.0**power for power in range(-2, 6) for step in (1, 2, 5)]


def _reach(table: pl.DataFrame) -> tuple[bool, float, float]:
    """Whether an axis of times is to be logarithmic, where it begins, and where it ends, in ms."""

    def reached(fraction: float) -> list[float]:
        done = table.filter(pl.col("fraction") >= fraction)
        return done.group_by("series").agg(pl.col("seconds").min() * 1e3)["seconds"].to_list()

    medians = reached(0.5)
    if medians and min(medians) > 0 and max(medians) > 8 * min(medians):
        least = max(min(reached(0.01)), min(medians) / 30)
        return True, least, max(reached(0.99) or medians)
    ends = reached(0.95) or (table["seconds"] * 1e3).to_list()
    return False, 0.0, _round_up(max(ends))


def _round_up(value: float) -> float:
    """The next number that an axis may end at."""
    power = 10.0 ** math.floor(math.log10(value)) if value > 0 else 1.0
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next(step * power for step in steps if step * power >= value * 0.999)


def response_tail(table: pl.DataFrame, series: Sequence[Series], title: str) -> Chart:
    """Fraction of exchanges that take longer, both axes logarithmic: the tails."""
    rest = table.select("series", "seconds", (1 - pl.col("fraction")).alias("longer")).filter(
        (pl.col("longer") > 5e-6) & (pl.col("seconds") > 0)
    )
    rest = rest.filter(pl.col("longer") < 0.999)  # what is below the quickest says nothing
    least = rest["longer"].min() if rest.height else 1e-4
    floor = 10.0 ** -min(5, max(2, _digits(least)))
    return _finish(
        _chart(rest.filter(pl.col("longer") >= floor / 1.5), title)
        .mark_line(clip=True)
        .encode(
            x=alt.X(
                "seconds:Q",
                title="Response time (s)",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=_ONE_TWO_FIVE, format=",~r", grid=True, labelOverlap=True),
            ),
            y=alt.Y(
                "longer:Q",
                title="Fraction taking longer",
                scale=alt.Scale(type="log", domain=[floor, 1]),
                axis=_log_axis(),
            ),
            **_identity(series, table),
        )
    )


def queue_series(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    window: tuple[float, float],
    own_scales: bool = False,
    y_title: str = "Queue (packets)",
    whole: pl.DataFrame | None = None,
) -> Chart:
    """Queue over time, a row for each series: the mean, over a band from least to most.

    A column ``model`` is drawn over it, dashed.
    """
    return _rows(
        table,
        series=series,
        title=title,
        window=window,
        own_scales=own_scales,
        y_title=y_title,
        whole=whole,
    )


def congestion_windows(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    window: tuple[float, float],
    own_scales: bool = False,
    whole: pl.DataFrame | None = None,
) -> Chart:
    """Congestion windows of traced flows over time, a row for each series."""
    return _rows(
        table,
        series=series,
        title=title,
        window=window,
        own_scales=own_scales,
        y_title="Window (bytes)",
        detail="flow:N",
        whole=whole,
    )


def overlay(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    window: tuple[float, float],
    *,
    y_title: str,
    detail: str | None = None,
) -> Chart:
    """A quantity over time, all series in the same axes: engines on the same scenario."""
    identity = _identity(series, table)
    more = {} if detail is None else {"detail": detail}
    if detail is not None:
        identity["tooltip"] = [*identity["tooltip"], detail]
    base = _chart(table, title)
    band = base.mark_area(opacity=0.2, line=False).encode(
        x=_time_axis(),
        y=alt.Y("low:Q", title=y_title),
        y2="high:Q",
        color=identity["color"],
        **more,
    )
    line = base.mark_line(strokeWidth=1.4).encode(
        x=_time_axis(), y=alt.Y("mean:Q", title=y_title), **identity, **more
    )
    layers = [band, line]
    if window[0] > float(table["time_s"].min() or 0.0):  # type: ignore[arg-type]
        rule = base.mark_rule(strokeDash=[3, 3], strokeWidth=1).encode(x=alt.datum(window[0]))
        layers.append(rule)
    return _finish(alt.layer(*layers))


def queue_events(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    window: tuple[float, float],
    own_scales: bool = False,
    whole: pl.DataFrame | None = None,
) -> Chart:
    """Drops (filled) and marks (line) per second over time, a row for each series."""
    colour = _identity(series, table, legend=False)["color"]
    x = _time_axis()
    y = alt.Y("per_s:Q", title="Packets/s", axis=alt.Axis(tickCount=3), stack=None)
    base = alt.Chart()  # its data are the row's
    plain = {"x": x, "y": y, "color": colour, "tooltip": ["series:N", "event:N"]}
    layers = []
    for event, mark in (
        ("drops", {"type": "area", "opacity": 0.45}),
        ("marks", {"type": "line", "strokeWidth": 1.2}),
    ):
        if event in set(table["event"]):
            only = base.transform_filter(f"datum.event == '{event}'")
            layers.append(only.properties(mark=mark).encode(**plain))
    table, tops = _topped(table, whole, own_scales, "per_s")
    layers += [base.mark_point(opacity=0).encode(x=x, y=alt.Y("top:Q", stack=None))] if tops else []
    return _faceted(
        layers, table=table, series=series, title=title, window=window, own_scales=own_scales
    )


def queue_cdf(
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    whole: pl.DataFrame,
    column: str = "packets",
    x_title: str = "Queue length (packets)",
) -> Chart:
    """Fraction of the time that a queue is no longer; the axis is that of all panels together."""
    most = float(whole[column].max() or 1)  # type: ignore[arg-type]
    ticks = [t for t in (0, 1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000) if t <= most * 1.5]
    return _finish(
        _chart(table, title)
        .mark_line(clip=True)
        .encode(
            x=alt.X(
                f"{column}:Q",
                title=x_title,
                scale=alt.Scale(type="symlog", constant=3, domain=[0, most], nice=False),
                axis=alt.Axis(values=ticks, format=",d", grid=True),
            ),
            y=alt.Y(
                "fraction:Q",
                title="Fraction of time",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(tickCount=5),
            ),
            **_identity(series, table),
        )
    )


def plane(table: pl.DataFrame, series: Sequence[Series], panels: Sequence[str]) -> Chart:
    """Utilisation against time in the queue: a point for each case, joined in order of load."""
    order = {name: i for i, name in enumerate(panels)}
    data = table.with_columns(
        pl.col("panel").replace_strict(order, return_dtype=pl.Int64).alias("step"),
        (pl.col("panel") == panels[-1]).alias("last"),
    )
    identity = _identity(series, table)
    colour, dash = identity["color"], identity["strokeDash"]
    positive = data.filter(pl.col("delay_low") > 0)["delay_low"]
    wide = positive.len() == data.height and _ratio(data) > 8
    x = alt.X(
        "delay_ms:Q",
        title="Mean time in the queue (ms" + (", logarithmic)" if wide else ")"),
        scale=alt.Scale(type="log", nice=False, padding=16)
        if wide
        else alt.Scale(domainMin=0, nice=True),
        axis=alt.Axis(grid=True, tickCount=8, format=".3~r", labelOverlap=True),
    )
    top = float(data["utilisation_high"].max())  # type: ignore[arg-type]
    percent = alt.Scale(zero=False, domainMax=100) if top > 95 else alt.Scale(zero=False)
    y = alt.Y("utilisation:Q", title="Utilisation (%)", scale=percent)
    base = _chart(data, None)
    tips = [
        alt.Tooltip("series:N", title="case"),
        alt.Tooltip("panel:N", title="at"),
        alt.Tooltip("delay_ms:Q", title="delay (ms)", format=".3~s"),
        alt.Tooltip("utilisation:Q", title="utilisation (%)", format=".1f"),
    ]
    layers = [
        base.mark_rule(strokeWidth=1, opacity=0.6).encode(
            x=x, y=alt.Y("utilisation_low:Q"), y2="utilisation_high:Q", color=colour
        ),
        base.mark_rule(strokeWidth=1, opacity=0.6).encode(
            x=alt.X("delay_low:Q"), x2="delay_high:Q", y=y, color=colour
        ),
        base.mark_point(filled=True, opacity=1).encode(
            x=x,
            y=y,
            color=colour,
            shape=alt.Shape(
                "panel:N",
                sort=list(panels),
                legend=alt.Legend(title=None, orient="bottom", columns=4, symbolSize=70)
                if len(panels) > 1
                else None,
                scale=alt.Scale(
                    domain=list(panels),
                    range=[shape for shape, _ in SHAPES],
                ),
            ),
            size=alt.value(70),
            tooltip=tips,
        ),
    ]
    if len(panels) > 1:
        joined = base.mark_line(strokeWidth=1.4, opacity=0.8).encode(
            x=x, y=y, color=colour, strokeDash=dash, order="step:Q", tooltip=["series:N"]
        )
        layers.insert(0, joined)
    else:
        layers.append(
            base.mark_text(align="left", dx=9, dy=-6).encode(
                x=x, y=y, text="series:N", color=colour
            )
        )
    return _finish(alt.layer(*layers).properties(width=WIDTH + 180, height=HEIGHT + 40))


def goodput(table: pl.DataFrame, series: Sequence[Series], title: str) -> Chart:
    """Goodput of each group of long flows with the range over the repeats.

    A row of the figure for each group, or a line for each if there is a single case.
    """
    colour = _identity(series, table, legend=False)["color"]
    there = set(table["series"])
    order = [s.name for s in series if s.name in there]
    groups = table["group"].unique(maintain_order=True).to_list()
    lines, names = ("series", order) if len(order) > 1 else ("group", groups)
    base = alt.Chart()  # its data are the row's
    x = alt.X(
        "mbps:Q", title="Goodput (Mb/s)", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=6)
    )
    y = alt.Y(f"{lines}:N", sort=names, title=None, axis=alt.Axis(labelLimit=200))
    ranges = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q"), x2="high:Q", y=y, color=colour
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        x=x,
        y=y,
        color=colour,
        tooltip=[
            alt.Tooltip("series:N", title="case"),
            alt.Tooltip("group:N", title="traffic"),
            alt.Tooltip("mbps:Q", title="goodput (Mb/s)", format=".4~r"),
            alt.Tooltip("jain:Q", title="Jain's index", format=".3f"),
        ],
    )
    chart = alt.layer(points, ranges, data=_data(table)).properties(
        width=WIDTH, height=24 * len(names)
    )
    if lines == "group":
        return _finish(chart.properties(title=title))
    return _finish(chart.facet(row=_row("group", groups), title=title))


def _rows(
    table: pl.DataFrame,
    *,
    series: Sequence[Series],
    title: str,
    window: tuple[float, float],
    own_scales: bool,
    y_title: str,
    detail: str | None = None,
    whole: pl.DataFrame | None = None,
) -> Chart:
    table, tops = _topped(table, whole, own_scales, "high")
    colour = _identity(series, table, legend=False)["color"]
    more = {} if detail is None else {"detail": detail}
    base = alt.Chart()  # its data are the row's
    axis = alt.Axis(tickCount=3)
    band = base.mark_area(opacity=0.3, line=False).encode(
        x=_time_axis(),
        y=alt.Y("low:Q", title=y_title, axis=axis),
        y2="high:Q",
        color=colour,
        **more,
    )
    line = base.mark_line(strokeWidth=1.1).encode(
        x=_time_axis(),
        y=alt.Y("mean:Q", title=y_title, axis=axis),
        color=colour,
        tooltip=["series:N"] if detail is None else ["series:N", detail],
        **more,
    )
    layers = [band, line]
    if "model" in table.columns:
        dashed = base.mark_line(strokeWidth=2, strokeDash=list(style.DASHED), clip=True)
        y = alt.Y("model:Q", title=y_title, axis=axis)
        layers.append(dashed.encode(x=_time_axis(), y=y, color=colour, tooltip=["series:N"]))
    if tops:
        layers.append(
            base.mark_point(opacity=0).encode(x=_time_axis(), y=alt.Y("top:Q", title=y_title))
        )
    return _faceted(
        layers, table=table, series=series, title=title, window=window, own_scales=own_scales
    )


def _topped(
    table: pl.DataFrame, whole: pl.DataFrame | None, own_scales: bool, column: str
) -> tuple[pl.DataFrame, bool]:
    """A table with the greatest value of all panels in a column ``top``, once in each series.

    Drawn without ink it makes panels side by side have the same vertical scale.
    """
    if whole is None or whole.height == table.height:
        return table, False
    most = whole[column].max()
    tops = whole.group_by("series").agg(pl.col(column).max().alias("top"))
    if not own_scales:
        tops = tops.with_columns(pl.lit(most).alias("top"))
    first = pl.int_range(pl.len()).over("series") == 0
    joined = table.join(tops, on="series", how="left", maintain_order="left")
    return joined.with_columns(pl.when(first).then(pl.col("top")).alias("top")), True


def _faceted(
    layers: Sequence[Any],
    *,
    table: pl.DataFrame,
    series: Sequence[Series],
    title: str,
    window: tuple[float, float],
    own_scales: bool,
) -> Chart:
    """Rows that share the time axis, and the vertical one unless they have their own scales."""
    start, _ = window
    if start > float(table["time_s"].min() or 0.0):  # type: ignore[arg-type]
        rule = alt.Chart().mark_rule(strokeDash=[3, 3], strokeWidth=1).encode(x=alt.datum(start))
        layers = [*layers, rule]
    order = [s.name for s in series if s.name in set(table["series"])]
    chart = (
        alt.layer(*layers, data=_data(table))
        .properties(width=WIDTH, height=78)
        .facet(
            row=_row("series", order),
            spacing=24,
            title=title,
        )
    )
    if own_scales:
        chart = chart.resolve_scale(y="independent")
    return _finish(chart)


def _row(field: str, order: Sequence[str]) -> Any:
    header = alt.Header(
        labelOrient="top", labelAnchor="start", labelAngle=0, labelBaseline="bottom"
    )
    return alt.Row(f"{field}:N", sort=list(order), title=None, header=header)


def apart(table: pl.DataFrame) -> bool:
    """Whether the rows' values lie so far apart that one scale would flatten some of them."""
    value = next((name for name in ("high", "per_s") if name in table.columns), None)
    if value is None:
        return False
    tops = table.group_by("series").agg(pl.col(value).max())[value]
    tops = tops.filter(tops > 0)
    return tops.len() > 1 and float(tops.max()) > 5 * float(tops.min())  # type: ignore[arg-type]


def _identity(series: Sequence[Series], table: pl.DataFrame, legend: bool = True) -> dict[str, Any]:
    """Colour and dash of the series that are in the table, always the same for each."""
    there = set(table["series"])
    shown = [s for s in series if s.name in there]
    names = [s.name for s in shown]
    strokes = alt.Legend(title=None, orient="bottom", columns=4, symbolType="stroke")
    shown_legend = strokes if legend else None
    return {
        "color": alt.Color(
            "series:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[s.light for s in shown]),
            legend=shown_legend,
        ),
        "strokeDash": alt.StrokeDash(
            "series:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[list(s.dash) or [1, 0] for s in shown]),
            legend=shown_legend,
        ),
        "tooltip": [alt.Tooltip("series:N", title="case")],
    }


def _chart(table: pl.DataFrame, title: str | None) -> Any:
    chart = alt.Chart(_data(table)).properties(width=WIDTH, height=HEIGHT)
    return chart if title is None else chart.properties(title=title)


def _data(table: pl.DataFrame) -> Any:
    """The table as text with commas: a third of the size of a list of records."""
    rounded = table.with_columns(
        pl.col(c).round_sig_figs(5) for c, t in table.schema.items() if t.is_float()
    )
    out = io.BytesIO()
    rounded.write_csv(out)
    parse = {
        name: "number" if kind.is_numeric() else "boolean" if kind == pl.Boolean else "string"
        for name, kind in table.schema.items()
    }
    return alt.InlineData(
        values=out.getvalue().decode(), format=alt.CsvDataFormat(type="csv", parse=parse)
    )


def _finish(chart: Any) -> Chart:
    """Lets the page hide series, by name."""
    hidden = alt.param(name="hidden", value=[])
    return chart.add_params(hidden).transform_filter("indexof(hidden, datum.series) < 0")


def _time_axis() -> Any:
    return alt.X("time_s:Q", title="Time (s)", scale=alt.Scale(nice=False, zero=False))


def _log_axis(**more: Any) -> Any:
    """Ticks at the powers of ten."""
    powers = [10.0**n for n in range(-6, 5)]
    label = "datum.value < 0.001 ? format(datum.value, '.0e') : format(datum.value, '~g')"
    return alt.Axis(values=powers, labelExpr=label, **more)


def _ratio(data: pl.DataFrame) -> float:
    return float(data["delay_ms"].max()) / float(data["delay_ms"].min())  # type: ignore[arg-type]


def _digits(value: Any) -> int:
    """How many digits after the point a fraction below 1 needs."""
    count, power = 0, 1.0
    while count < 6 and power > float(value):
        power /= 10
        count += 1
    return count
