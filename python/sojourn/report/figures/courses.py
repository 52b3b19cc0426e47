"""What happens over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt
import polars as pl

from sojourn import style
from sojourn.report.figures.parts import (
    WIDTH,
    Chart,
    chart,
    data,
    finish,
    identity,
    row,
    time_axis,
    to_zero,
)
from sojourn.report.layout import Series


@dataclass(frozen=True, eq=False)
class Course:
    """A panel's series over time."""

    table: pl.DataFrame
    series: Sequence[Series]
    title: str
    window: tuple[float, float]
    """What is measured: a rule stands at its beginning."""
    own_scales: bool
    """Whether each row has a vertical scale of its own."""
    whole: pl.DataFrame
    """The tables of all panels, so that those side by side have the same axes."""

    def begins_late(self) -> bool:
        """Whether something is shown of the time before the window."""
        return self.window[0] > float(self.table["time_s"].min() or 0.0)  # type: ignore[arg-type]


def rows(course: Course, y_title: str, detail: str | None = None) -> Chart:
    """A quantity over time, a row for each series: the mean, over a band from least to most.

    A column ``model`` is drawn over it, dashed. ``detail`` names the column that tells several
    lines of a series apart.
    """
    course, tops = _topped(course, "high")
    colour = identity(course.series, course.table, legend=False)["color"]
    base = alt.Chart()  # its data are the row's
    axis = alt.Axis(tickCount=3)

    def y(column: str) -> Any:
        return alt.Y(f"{column}:Q", title=y_title, axis=axis)

    line = {"color": colour, "tooltip": ["series:N"]}
    layers = _banded(base, y, line, detail, opacity=0.3, width=1.1)
    if "model" in course.table.columns:
        dashed = base.mark_line(strokeWidth=2, strokeDash=list(style.DASHED), clip=True)
        layers.append(dashed.encode(x=time_axis(), y=y("model"), **line))
    if tops:
        top = alt.Y("top:Q", title=y_title)
        layers.append(base.mark_point(opacity=0).encode(x=time_axis(), y=top))
    return _faceted(layers, course)


def overlay(course: Course, y_title: str, detail: str | None = None) -> Chart:
    """The same with all series in the same axes: engines on the same scenario."""
    base = chart(course.table, course.title)
    scale = alt.Scale(**to_zero(float(course.table["high"].max())))  # type: ignore[arg-type]

    def y(column: str) -> Any:
        return alt.Y(f"{column}:Q", title=y_title, scale=scale)

    line = identity(course.series, course.table)
    layers = _banded(base, y, line, detail, opacity=0.2, width=1.4)
    if course.begins_late():
        layers.append(_beginning(base, course))
    return finish(alt.layer(*layers))


def _banded(
    base: Any,
    y: Callable[[str], Any],
    line: Mapping[str, Any],
    detail: str | None,
    *,
    opacity: float,
    width: float,
) -> list[Any]:
    """The mean, with the encodings of ``line``, over a band from least to most."""
    more = {} if detail is None else {"detail": detail}
    tooltip = [*line["tooltip"], *more.values()]
    band = base.mark_area(opacity=opacity, line=False).encode(
        x=time_axis(), y=y("low"), y2="high:Q", color=line["color"], **more
    )
    mean = base.mark_line(strokeWidth=width).encode(
        x=time_axis(), y=y("mean"), **{**line, "tooltip": tooltip}, **more
    )
    return [band, mean]


def _beginning(base: Any, course: Course) -> Any:
    mark = base.mark_rule(strokeDash=[3, 3], strokeWidth=1)
    return mark.encode(x=alt.datum(course.window[0]))


def events(course: Course) -> Chart:
    """Drops (filled) and marks (line) per second over time, a row for each series."""
    colour = identity(course.series, course.table, legend=False)["color"]
    x = time_axis()
    y = alt.Y("per_s:Q", title="Packets/s", axis=alt.Axis(tickCount=3), stack=None)
    base = alt.Chart()  # its data are the row's
    plain = {"x": x, "y": y, "color": colour, "tooltip": ["series:N", "event:N"]}
    layers = []
    for event, mark in (
        ("drops", {"type": "area", "opacity": 0.45}),
        ("marks", {"type": "line", "strokeWidth": 1.2}),
    ):
        if event in set(course.table["event"]):
            only = base.transform_filter(f"datum.event == '{event}'")
            layers.append(only.properties(mark=mark).encode(**plain))
    course, tops = _topped(course, "per_s")
    layers += [base.mark_point(opacity=0).encode(x=x, y=alt.Y("top:Q", stack=None))] if tops else []
    return _faceted(layers, course)


def _topped(course: Course, column: str) -> tuple[Course, bool]:
    """Its table with the greatest value of all panels in a column ``top``, once in each series.

    Drawn without ink it makes panels side by side have the same vertical scale, and one of nothing
    but 0 end above it.
    """
    table, whole = course.table, course.whole
    tops = whole.group_by("series").agg(pl.col(column).max().alias("top"))
    if whole.height == table.height and (tops["top"] > 0).all():
        return course, False
    tops = tops.with_columns(pl.when(pl.col("top") > 0).then("top").otherwise(1.0).alias("top"))
    most = tops["top"].max()
    if not course.own_scales:
        tops = tops.with_columns(pl.lit(most).alias("top"))
    first = pl.int_range(pl.len()).over("series") == 0
    joined = table.join(tops, on="series", how="left", maintain_order="left")
    table = joined.with_columns(pl.when(first).then(pl.col("top")).alias("top"))
    return replace(course, table=table), True


def _faceted(layers: Sequence[Any], course: Course) -> Chart:
    """Rows that share the time axis, and the vertical one unless they have their own scales."""
    if course.begins_late():
        layers = [*layers, _beginning(alt.Chart(), course)]
    there = set(course.table["series"])
    order = [s.name for s in course.series if s.name in there]
    made = (
        alt.layer(*layers, data=data(course.table))
        .properties(width=WIDTH, height=78)
        .facet(row=row("series", order), spacing=24, title=course.title)
    )
    if course.own_scales:
        made = made.resolve_scale(y="independent")
    return finish(made)


def apart(table: pl.DataFrame) -> bool:
    """Whether the rows' values lie so far apart that one scale would flatten some of them."""
    value = next((name for name in ("high", "per_s") if name in table.columns), None)
    if value is None:
        return False
    tops = table.group_by("series").agg(pl.col(value).max())[value]
    tops = tops.filter(tops > 0)
    return tops.len() > 1 and float(tops.max()) > 5 * float(tops.min())  # type: ignore[arg-type]
