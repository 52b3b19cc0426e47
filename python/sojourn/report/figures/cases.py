"""Cases beside each other: what each gives, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import altair as alt
import polars as pl

from sojourn.report.figures.parts import (
    HEIGHT,
    WIDTH,
    Chart,
    chart,
    data,
    finish,
    identity,
    row,
    to_zero,
)
from sojourn.report.layout import Series

SHAPES = (
    ("circle", "circle"),
    ("square", "square"),
    ("triangle-up", "triangle"),
    ("diamond", "diamond"),
    ("cross", "cross"),
    ("triangle-down", "inverted triangle"),
)
"""Of the panels in one chart: Vega's name, and a word for people."""


def plane(table: pl.DataFrame, series: Sequence[Series], panels: Sequence[str]) -> Chart:
    """Utilisation against time in the queue: a point for each case, joined in order of load."""
    order = {name: i for i, name in enumerate(panels)}
    steps = table.with_columns(
        pl.col("panel").replace_strict(order, return_dtype=pl.Int64).alias("step"),
        (pl.col("panel") == panels[-1]).alias("last"),
    )
    # Each point of a single panel has its name beside it.
    of = identity(series, table, legend=len(panels) > 1)
    colour, dash = of["color"], of["strokeDash"]
    positive = steps.filter(pl.col("delay_low") > 0)["delay_low"]
    wide = positive.len() == steps.height and _ratio(steps) > 8
    x = alt.X(
        "delay_ms:Q",
        title="Mean time in the queue (ms" + (", logarithmic)" if wide else ")"),
        scale=alt.Scale(type="log", nice=False, padding=16)
        if wide
        else alt.Scale(domainMin=0, nice=True, **to_zero(_most(table, "delay_high"))),
        axis=alt.Axis(grid=True, tickCount=8, format=".3~r", labelOverlap=True),
    )
    near = _most(table, "utilisation_high") > 95
    percent = alt.Scale(zero=False, domainMax=100) if near else alt.Scale(zero=False)
    y = alt.Y("utilisation:Q", title="Utilisation (%)", scale=percent)
    names = _named(steps, logarithmic=wide)
    base = chart(names, None)
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
            base.mark_text(
                align=alt.expr("datum.aside < 0 ? 'right' : 'left'"),
                dx=alt.expr("datum.aside"),
                dy=alt.expr("datum.below"),
                limit=alt.expr("width / 2"),
            ).encode(x=x, y=y, text="series:N", color=colour)
        )
    return finish(alt.layer(*layers).properties(width=WIDTH + 180, height=HEIGHT + 40))


def _ratio(table: pl.DataFrame) -> float:
    return _most(table, "delay_ms") / float(table["delay_ms"].min())  # type: ignore[arg-type]


def _most(table: pl.DataFrame, column: str) -> float:
    return float(table[column].max())  # type: ignore[arg-type]


# In pixels: where names lie free of each other in a figure as narrow as on a phone, they do in a
# wider one.
_NARROW, _LINE, _LETTER, _ASIDE = 300, 13, 6, 9


def _named(table: pl.DataFrame, logarithmic: bool) -> pl.DataFrame:
    """With where the name of each point goes: ``aside`` and ``below`` it, in pixels.

    A name stands to the right of its point, towards the end of the axis to the left, on the first
    line that no other name has there: points at the same place have a list of names beside them.
    """
    delays = [math.log(each) if logarithmic else each for each in table["delay_ms"]]
    first, last = min(delays) if logarithmic else 0.0, max(delays)
    lowest, highest = float(table["utilisation_low"].min()), _most(table, "utilisation_high")  # type: ignore[arg-type]
    across = _NARROW / ((last - first) or 1.0)
    down = (HEIGHT + 40) / ((highest - lowest) or 1.0)
    boxes: list[tuple[float, float, float]] = []
    places = []
    for name, delay, used in zip(table["series"], delays, table["utilisation"], strict=True):
        x, y = (delay - first) * across, (highest - used) * down
        aside = -_ASIDE if x > 0.6 * _NARROW else _ASIDE
        wide = min(_LETTER * len(name), _NARROW / 2)
        left = x + aside - (wide if aside < 0 else 0)
        lines = sorted(range(-table.height, table.height + 1), key=lambda line: (abs(line), -line))
        below = next(
            dy
            for dy in (_LINE * line - 6 for line in lines)
            if all(
                abs(y + dy - at) >= _LINE or left > end or left + wide < begin
                for begin, end, at in boxes
            )
        )
        boxes.append((left, left + wide, y + below))
        places.append((aside, below))
    return table.with_columns(
        pl.Series("aside", [aside for aside, _ in places], pl.Int64),
        pl.Series("below", [below for _, below in places], pl.Int64),
    )


def goodput(table: pl.DataFrame, series: Sequence[Series], title: str) -> Chart:
    """Goodput of each group of long flows with the range over the repeats.

    A row of the figure for each group, or a line for each if there is a single case.
    """
    colour = identity(series, table, legend=False)["color"]
    there = set(table["series"])
    order = [s.name for s in series if s.name in there]
    groups = table["group"].unique(maintain_order=True).to_list()
    lines, names = ("series", order) if len(order) > 1 else ("group", groups)
    base = alt.Chart()  # its data are the row's
    scale = alt.Scale(zero=True, **to_zero(_most(table, "high")))
    x = alt.X("mbps:Q", title="Goodput (Mb/s)", scale=scale, axis=alt.Axis(tickCount=6))
    y = alt.Y(f"{lines}:N", sort=names, title=None)
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
    made = alt.layer(points, ranges, data=data(table)).properties(
        width=WIDTH, height=24 * len(names)
    )
    if lines == "group":
        return finish(made.properties(title=title))
    return finish(made.facet(row=row("group", groups), title=title))
